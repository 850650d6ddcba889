//! Budgets, the baseline and journeys: which limit is broken, by how much, and what is said about it.

use super::baseline::Allowance;
use super::budget::{Budget, Coding, Limit, Metric, Part, Per, Scope, Unit, Which};
use super::tests::*;
use super::*;

fn limit(view: Which, part: Part, unit: Unit, most: u64) -> Limit {
    Limit {
        metric: Metric { view, part, unit },
        most,
    }
}

fn messages(report: &Report, budgets: &Budgets) -> Vec<String> {
    let mut report = report.clone();
    report.judge(budgets);
    report
        .verdict
        .violations
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn table(limits: &[Limit], per: Per, scope: Scope) -> Budgets {
    Budgets {
        tables: vec![Budget {
            source: "fewer.toml:3".into(),
            scope,
            per,
            coding: Coding::Br,
            limits: limits.to_vec(),
        }],
        ..Budgets::default()
    }
}

#[test]
fn budgets_by_type_view_and_coding() {
    let report = sample();
    let check = |limit: Limit, expected: &[&str]| {
        let found = messages(&report, &table(&[limit], Per::Page, Scope::All));
        assert_eq!(found, expected, "{limit:?}");
    };
    use Unit::{Bytes, Requests};
    use Which::{First, FollowUp};
    check(
        limit(First, Part::One(Content::Css), Requests, 0),
        &["docs/a.html: 1 css request on the first view, 1 over the limit of 0 (fewer.toml:3): /img/x.png"],
    );
    // Four kinds of requests are for images, five more are answered with one; the page itself is html.
    check(limit(First, Part::One(Content::Image), Requests, 9), &[]);
    check(
        limit(First, Part::One(Content::Html), Bytes(Coding::Br), 7_999),
        &[
            "docs/a.html: 8.0 kB of html (br) on the first view, 1 B over the limit of 8.0 kB (fewer.toml:3): \
             /img/x.png, /img/x.png",
        ],
    );
    // Media and what has no type of its own.
    check(
        limit(First, Part::Rest, Requests, 0),
        &["docs/a.html: 1 other request on the first view, 1 over the limit of 0 (fewer.toml:3): /img/x.png"],
    );
    check(
        limit(First, Part::ThirdParty, Requests, 0),
        &[
            "docs/b.html: 1 third-party request on the first view, 1 over the limit of 0 (fewer.toml:3): /img/y.png",
        ],
    );
    check(
        limit(First, Part::All, Bytes(Coding::Gzip), 120_000),
        &[
            "docs/a.html: 121.0 kB (gzip) on the first view, 1.0 kB over the limit of 120.0 kB (fewer.toml:3): the \
             page itself, /img/x.png, /img/x.png, /img/x.png, /img/x.png, /img/x.png and 10 more",
        ],
    );
    check(limit(First, Part::All, Bytes(Coding::Identity), 440_000), &[]);
    check(limit(FollowUp, Part::All, Requests, 4), &[]);
    let found = messages(
        &report,
        &table(&[limit(FollowUp, Part::All, Requests, 2)], Per::Page, Scope::All),
    );
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("docs/a.html: 4 requests on the follow-up view, 2 over the limit of 2"));
}

#[test]
fn parts_of_a_view_add_up_to_it() {
    // Of real numbers: what each type takes, and the page itself.
    let report = sample();
    let page = &report.pages[1];
    let loads = page.loads(Side::Before, &report.measured);
    let (mut requests, mut bytes) = (0, 0);
    for (_, view) in loads {
        requests += view.requests;
        bytes += view.bytes.br;
    }
    // Eight states count before, one of them twice, with the overhead alone.
    assert_eq!((requests, bytes), (9, 8 * 2_000 + 200));
}

#[test]
fn budgets_of_some_pages_and_of_all_together() {
    let report = sample();
    let globs = |text: &str| {
        let glob = globset::Glob::new(text).unwrap();
        Scope::Globs(globset::GlobSet::builder().add(glob).build().unwrap())
    };
    let requests = |most| [limit(Which::First, Part::All, Unit::Requests, most)];
    let found = messages(&report, &table(&requests(5), Per::Page, globs("docs/b*")));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("docs/b.html: 6 requests"));
    // 9 + 6 + 5.
    assert_eq!(
        messages(&report, &table(&requests(20), Per::Site, Scope::All)),
        [""; 0]
    );
    assert_eq!(
        messages(&report, &table(&requests(19), Per::Site, Scope::All)),
        ["all 3 pages together: 20 requests on the first view, 1 over the limit of 19 (fewer.toml:3)"]
    );
    assert_eq!(
        messages(&report, &table(&requests(7), Per::Average, Scope::All)),
        [""; 0]
    );
    assert_eq!(
        messages(&report, &table(&requests(6), Per::Average, Scope::All)),
        ["the average of 3 pages: 7 requests on the first view, 1 over the limit of 6 (fewer.toml:3)"]
    );
    assert_eq!(
        messages(&report, &table(&requests(0), Per::Average, globs("nothing"))),
        [""; 0]
    );
}

fn baseline_of(report: &Report) -> baseline::Baseline {
    let mut json = Vec::new();
    write_json(report, &mut json).unwrap();
    baseline::parse(&json).unwrap()
}

fn against(report: &Report, baseline: baseline::Baseline, growth: u64) -> Budgets {
    baseline.ensure_comparable(&report.measured).unwrap();
    Budgets {
        baseline: Some(Allowance {
            baseline,
            growth,
            coding: Coding::Br,
        }),
        ..Budgets::default()
    }
}

#[test]
fn a_page_may_not_get_worse_than_the_baseline() {
    let was = sample();
    assert_eq!(messages(&was, &against(&was, baseline_of(&was), 0)), [""; 0]);
    let mut now = sample();
    // One more request, 4 % more bytes.
    now.pages[2].after = Some(views((6, 60_320), (1, 4_000)));
    now.pages[2].requests = vec![request("/new.js", Kind::Script, State::Kept)];
    let worse = "index.html: 6 requests on the first view, 1 more than the 5 of the baseline; new: /new.js";
    assert_eq!(messages(&now, &against(&now, baseline_of(&was), 4)), [worse]);
    assert_eq!(
        messages(&now, &against(&now, baseline_of(&was), 3)),
        [
            worse,
            "index.html: 60.3 kB (br) on the first view, 2.3 kB more than the 58.0 kB of the baseline, 3 % more are \
             allowed; new: /new.js"
        ]
    );
    // A budget that breaks says what is new as well.
    let mut both = against(&now, baseline_of(&was), 100);
    both.max_requests = Some(5);
    assert!(
        messages(&now, &both)
            .iter()
            .any(|m| m == "index.html: 6 requests on the first view, 1 over the limit of 5; new: /new.js")
    );
    // Fewer is never worse, whatever else is there.
    now.pages[2].after = Some(views((1, 1_000), (1, 900)));
    assert_eq!(messages(&now, &against(&now, baseline_of(&was), 0)), [""; 0]);
}

#[test]
fn pages_that_came_and_went_are_listed() {
    let was = sample();
    let mut now = sample();
    now.pages[0].path = site_path("docs/c.html");
    now.pages.sort_by(|a, b| a.path.cmp(&b.path));
    now.judge(&against(&now, baseline_of(&was), 0));
    assert_eq!(now.verdict.violations, []);
    assert_eq!(now.verdict.judged, [true, false, true]);
    let comparison = now.verdict.comparison.as_ref().unwrap();
    assert_eq!(comparison.new, [site_path("docs/c.html")]);
    assert_eq!(comparison.vanished, ["docs/a.html"]);
    assert_eq!(comparison.common, 2);
    let line = "baseline        0 pages with more requests, 0 with fewer\n                1 new (docs/c.html), 1 gone (docs/a.html)\n";
    assert!(
        summary(&now, 80, false).contains(line),
        "{}",
        summary(&now, 80, false)
    );
    // Another entry: follow-up views mean something else.
    let mut moved = sample();
    moved.entry = Some(site_path("docs/b.html"));
    moved.pages[0].after = Some(views((9, 110_000), (40, 90_000)));
    assert_eq!(messages(&moved, &against(&moved, baseline_of(&was), 0)), [""; 0]);
}

#[test]
fn baselines_of_earlier_versions_and_what_is_none() {
    // Only what the first version of the format had.
    let old = br#"{"schema":1,"entry":null,
        "measured":{"gzip":"6","brotli":"5","viewport":{"width":1280,"height":900},"request_overhead":200},
        "pages":[{"path":"index.html",
          "before":{"first":{"requests":2,"bytes":{"identity":9,"gzip":9,"br":9}},
                    "follow_up":{"requests":1,"bytes":{"identity":5,"gzip":5,"br":5}}},
          "after":null,
          "requests":[{"url":"/a.css","kind":"stylesheet","initiator":"markup","state":"kept"}]}],
        "totals":{},"decisions":[],"diagnostics":[]}"#;
    let baseline = baseline::parse(old).unwrap();
    assert_eq!(
        baseline
            .page(&site_path("index.html"))
            .unwrap()
            .views
            .first
            .requests,
        2
    );
    let refused = |text: &str, said: &str| {
        let error = format!("{:#}", baseline::parse(text.as_bytes()).unwrap_err());
        assert!(error.contains(said), "{error}");
    };
    refused("", "no report of fewer");
    refused("[]", "no report of fewer");
    refused("{\"schema\":1}", "missing field");
    refused(
        &String::from_utf8_lossy(old).replace("\"schema\":1", "\"schema\":9"),
        "format 9",
    );
    refused(&"[".repeat(100_000), "no report of fewer");
    let mut other = sample().measured;
    other.brotli = "11".into();
    let error = baseline.ensure_comparable(&other).unwrap_err().to_string();
    assert!(
        error.contains("brotli quality 5, this run measures with 11"),
        "{error}"
    );
}

#[test]
fn budgets_of_lighthouse() {
    let text = br#"[
        {"path": "/*", "resourceSizes": [{"resourceType": "total", "budget": 100},
                                          {"resourceType": "third-party", "budget": 0}],
         "resourceCounts": [{"resourceType": "third-party", "budget": 0}],
         "timings": [{"metric": "interactive", "budget": 3000}]},
        {"path": "/docs/b", "options": {"firstPartyHostnames": ["example.org"]},
         "resourceCounts": [{"resourceType": "total", "budget": 5.9}]}
    ]"#;
    let (tables, notes) = lighthouse::parse(text, "budget.json", Coding::Br).unwrap();
    assert_eq!(
        notes,
        [
            "budget.json: timings are not checked, nothing is loaded",
            "budget.json: sizes of third parties are not known and not checked"
        ]
    );
    let budgets = Budgets {
        tables,
        ..Budgets::default()
    };
    let found = messages(&sample(), &budgets);
    // KiB; the last budget that matches is the only one: docs/b.html may ask third parties.
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with(
        "docs/a.html: 110.0 kB (br) on the first view, 7.6 kB over the limit of 102.4 kB (budget.json)"
    ));
    assert!(
        found[1]
            .starts_with("docs/b.html: 6 requests on the first view, 1 over the limit of 5 (budget.json)")
    );
    let refused = |text: &str, said: &str| {
        let error = lighthouse::parse(text.as_bytes(), "b", Coding::Br).unwrap_err();
        assert!(format!("{error:#}").contains(said), "{error:#}");
    };
    refused("{}", "an array of budgets");
    refused("[{\"paths\": \"/\"}]", "unknown field `paths`");
    refused("[{\"path\": \"docs\"}]", "must begin with /");
    refused("[{\"path\": \"/*a*\"}]", "may have one *");
    refused("[{\"path\": \"/$a\"}]", "its $ must be the end");
    refused(
        "[{\"resourceCounts\": [{\"resourceType\": \"javascript\", \"budget\": 1}]}]",
        "unknown variant `javascript`",
    );
    refused(
        "[{\"resourceCounts\": [{\"resourceType\": \"font\", \"budget\": \"1\"}]}]",
        "invalid type",
    );
    let twice = "{\"resourceType\": \"font\", \"budget\": 1}";
    refused(
        &format!("[{{\"resourceSizes\": [{twice}, {twice}]}}]"),
        "resourceSizes of the first budget has two entries",
    );
}

#[test]
fn paths_of_lighthouse() {
    // The cases of Lighthouse's own urlMatchesPattern.
    let check = |path: &str, pattern: &str, expected: bool| {
        assert_eq!(lighthouse::matches(path, pattern), expected, "{path} {pattern}");
    };
    check("/cat.html", "/cat", true);
    check("/dog.html", "/cat", false);
    check("/js", "/js$", true);
    check("/js/a.html", "/js$", false);
    check("/vendor-1-chunk.html", "/vendor*chunk", true);
    check("/a/vendor-chunk.html", "/vendor*chunk", false);
    check("/vendor-chunk.js", "/vendor*chunk.js$", true);
    check("/vendor-chunk.js.html", "/vendor*chunk.js$", false);
    check("/index.html", "/$", true);
    check("/a/index.html", "/a/$", true);
    check("/aindex.html", "/a$", false);
}

#[test]
fn a_visit_keeps_what_it_loaded() {
    let mut report = sample();
    let page = |path: &str, urls: &[(&str, State)]| {
        let mut page = sample().pages[0].clone();
        page.path = site_path(path);
        page.requests = urls
            .iter()
            .map(|(url, state)| request(url, Kind::Image, *state))
            .collect();
        page
    };
    report.pages = vec![
        page(
            "a.html",
            &[
                ("/x", State::Kept),
                ("/y", State::Inlined),
                ("/gone", State::Missing),
            ],
        ),
        page(
            "b/index.html",
            &[
                ("/x", State::Kept),
                ("/z", State::Added),
                ("/gone", State::Missing),
            ],
        ),
        page(
            "c.html",
            &[
                ("/y", State::Kept),
                ("/z", State::Kept),
                ("/d/", State::Redirect),
                ("//e", State::External),
            ],
        ),
    ];
    let names = ["/a.html", "b/", "c", "./a.html"].map(str::to_owned);
    let journey = walk(&report, &names).unwrap();
    let requests = |side: Side| -> Vec<u64> {
        let of = |step: &Step| match side {
            Side::Before => step.before.requests,
            Side::After => step.after.unwrap().requests,
        };
        journey.steps.iter().map(of).collect()
    };
    // Before: the page, /x, /y and /gone; then the page and /gone again; then the page, /z and the two of /d.
    assert_eq!(requests(Side::Before), [4, 2, 4, 2]);
    // After: /y is inlined in a.html and asked for by c.html; /z came with b.
    assert_eq!(requests(Side::After), [3, 3, 4, 2]);
    assert_eq!(journey.before.requests, 12);
    assert_eq!(journey.after.unwrap().requests, 12);
    assert_eq!(journey.steps[1].made.after, [1, 2]);
    assert_eq!(journey.before.bytes.br, 4 * 4_000 + 7 * 2_000 + 200);
    for (name, said) in [
        ("a.htm", "did you mean a.html?"),
        ("nowhere/at/all", "separated by commas"),
    ] {
        let error = walk(&report, &[name.to_owned()]).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    assert_eq!(walk(&report, &[]).unwrap().before.requests, 0);
}

#[test]
fn tables_for_a_terminal() {
    let mut report = sample();
    let mut page = report.pages[0].clone();
    page.path = site_path(&format!("z/{}.html", "name".repeat(30)));
    page.after = Some(views((20, 130_000), (4, 19_900)));
    report.pages.push(page);
    report.journey = Some(walk(&report, &["index.html".into(), "docs/a".into()]).unwrap());
    let text = tables(&report, 80, false);
    assert_eq!(
        text.lines().take(6).collect::<Vec<_>>(),
        [
            "",
            "pages that changed most      requests               bytes",
            "z/namenamena...amename.html  14 -> 20 ████████████  120.4 kB -> 130.0 kB  +8.0 %",
            "docs/a.html                   14 -> 9 ██████░░░     120.4 kB -> 110.0 kB  -8.6 %",
            "index.html                     8 -> 5 ███░░           60.0 kB -> 58.0 kB  -3.3 %",
            "docs/b.html                    6 -> 6 ████            40.0 kB -> 39.0 kB  -2.5 %",
        ],
        "{text}"
    );
    assert!(text.contains("\na visit of 2 pages"), "{text}");
    for width in [60, 80, 120] {
        for line in tables(&report, width, false).lines() {
            assert!(line.chars().count() <= width.max(75), "{line}");
        }
    }
    let mut plain = tables(&report, 80, true);
    for code in ["0", "1", "31", "32"] {
        plain = plain.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(plain, text);
    // The summary names the pages of a small site.
    assert_eq!(tables(&sample(), 80, true), "");
}
