//! A sample report in each of its formats.

use serde_json::Value;

use super::*;
use crate::diagnostic::Code;

pub(super) fn site_path(text: &str) -> SitePath {
    SitePath::new(text.as_bytes())
}

pub(super) fn view(requests: u64, br: u64) -> View {
    View {
        requests,
        bytes: Bytes {
            identity: br * 4,
            gzip: br + br / 10,
            br,
        },
    }
}

pub(super) fn views(first: (u64, u64), follow_up: (u64, u64)) -> Views {
    Views {
        first: view(first.0, first.1),
        follow_up: view(follow_up.0, follow_up.1),
    }
}

pub(super) fn request(url: &str, kind: Kind, state: State) -> Request {
    Request {
        url: url.into(),
        kind,
        initiator: "css/site.css".into(),
        state,
        weight: Arc::new(Weight {
            content: Content::of(kind, Media::Png),
            revalidated: state == State::Missing,
            bytes: both(2_000),
        }),
        follow_up: Sides {
            before: true,
            after: state.counts_after(),
        },
    }
}

fn both(br: u64) -> Sides<Option<Bytes>> {
    let bytes = Some(view(1, br).bytes);
    Sides {
        before: bytes,
        after: bytes,
    }
}

pub(super) fn document(br: u64) -> Weight {
    Weight {
        content: Content::Html,
        revalidated: true,
        bytes: both(br),
    }
}

fn measured() -> Measured {
    Measured {
        gzip: "6".into(),
        brotli: "5".into(),
        viewport: Viewport {
            width: 1280,
            height: 900,
        },
        request_overhead: 200,
    }
}

pub(super) fn finding(file: &str, at: usize, code: Code, message: &str) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(&site_path(file), Some(at), code, message);
    diagnostic.position = Some((1, at as u32 + 1));
    diagnostic
}

const KINDS: [Kind; 15] = [
    Kind::Stylesheet,
    Kind::Script,
    Kind::Image,
    Kind::Icon,
    Kind::Font,
    Kind::Media,
    Kind::Document,
    Kind::Manifest,
    Kind::Preload,
    Kind::Prefetch,
    Kind::Meta,
    Kind::Link,
    Kind::Refresh,
    Kind::SvgImage,
    Kind::SvgUse,
];

/// Three pages of a built site with a bit of everything.
pub(super) fn sample() -> Report {
    let pages = vec![
        Page {
            path: site_path("docs/a.html"),
            before: views((14, 120_400), (5, 20_000)),
            after: Some(views((9, 110_000), (4, 19_900))),
            document: document(4_000),
            scripts: true,
            requests: KINDS
                .iter()
                .map(|kind| request("/img/x.png", *kind, State::Kept))
                .collect(),
        },
        Page {
            path: site_path("docs/b.html"),
            before: views((6, 40_000), (2, 8_000)),
            after: Some(views((6, 39_000), (2, 8_000))),
            document: document(4_000),
            scripts: false,
            requests: State::ALL
                .iter()
                .map(|state| request("/img/y.png", Kind::Image, *state))
                .collect(),
        },
        Page {
            path: site_path("index.html"),
            before: views((8, 60_000), (1, 4_000)),
            after: Some(views((5, 58_000), (1, 4_000))),
            document: document(4_000),
            scripts: false,
            requests: Vec::new(),
        },
    ];
    let mut totals = Totals::of(&pages, 512);
    totals.written = Some(Written {
        copied: 1420,
        edited: 90,
        excluded: 2,
        gzip: 1_234_567,
        br: 1_000_000,
        zstd: 0,
    });
    totals.policy = vec!["img-src data:".into()];
    Report {
        entry: Some(site_path("index.html")),
        measured: measured(),
        pages,
        totals,
        decisions: vec![Decision {
            file: SitePath::new(b"img/caf\xE9.png".to_vec()),
            action: "inline",
            reason: "saves a request on 3 pages".into(),
            cost: Cost {
                requests_first: -3,
                requests_follow_up: 0,
                bytes_gzip: -210,
                bytes_br: 12,
            },
        }],
        diagnostics: vec![
            finding("index.html", 7, Code::MissingFile, "no file at /gone.png"),
            finding("css/site.css", 99, Code::CssSyntax, "unclosed string"),
            finding(
                "css/site.css",
                12,
                Code::CssOpaque,
                "blocks nested deeper than 64",
            ),
            Diagnostic::new(
                &site_path("a\u{1b}[31m.txt"),
                None,
                Code::MissingFile,
                "\u{202e}evil\u{7}",
            ),
        ],
        is_check: false,
        home: "http://fewer.invalid/".into(),
        verdict: Verdict::default(),
        journey: None,
    }
}

/// With `--max-requests`.
pub(super) fn judged(mut report: Report, max_requests: u32) -> Report {
    report.judge(&Budgets {
        max_requests: Some(max_requests),
        ..Budgets::default()
    });
    report
}

fn over_budget(report: &Report, max_requests: u32) -> Vec<Violation> {
    judged(report.clone(), max_requests).verdict.violations
}

/// The same site, only measured.
pub(super) fn only_measured() -> Report {
    let mut report = sample();
    for page in &mut report.pages {
        page.after = None;
    }
    report.totals = Totals::of(&report.pages, 512);
    report.entry = None;
    report.decisions.clear();
    report.diagnostics.clear();
    report
}

fn json(report: &Report) -> Value {
    let mut out = Vec::new();
    write_json(report, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn json_follows_its_schema() {
    let schema: Value = serde_json::from_str(JSON_SCHEMA).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let empty = Report {
        pages: Vec::new(),
        totals: Totals::of(&[], 0),
        ..only_measured()
    };
    for report in [sample(), only_measured(), empty] {
        let value = json(&report);
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert_eq!(errors, [""; 0]);
    }
    // The schema is closed and complete: one property more or less, anywhere, and it refuses.
    let value = json(&sample());
    let mut objects = Vec::new();
    collect_objects(&value, String::new(), &mut objects);
    assert!(objects.len() > 30);
    for pointer in objects {
        let mut more = value.clone();
        more.pointer_mut(&pointer).unwrap()["surprise"] = Value::Null;
        assert!(!validator.is_valid(&more), "{pointer:?} is open");
        let keys: Vec<String> = value
            .pointer(&pointer)
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        for key in keys {
            let mut less = value.clone();
            less.pointer_mut(&pointer)
                .unwrap()
                .as_object_mut()
                .unwrap()
                .remove(&key);
            assert!(!validator.is_valid(&less), "{key} of {pointer:?} is optional");
        }
    }
}

fn collect_objects(value: &Value, pointer: String, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            map.iter()
                .for_each(|(key, inner)| collect_objects(inner, format!("{pointer}/{key}"), out));
            out.push(pointer);
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, inner)| collect_objects(inner, format!("{pointer}/{i}"), out));
        }
        _ => {}
    }
}

#[test]
fn json_says_what_the_report_holds() {
    let value = json(&sample());
    assert_eq!(value["schema"], 1);
    assert_eq!(value["entry"], "index.html");
    assert_eq!(value["measured"]["viewport"]["width"], 1280);
    assert_eq!(value["pages"][0]["path"], "docs/a.html");
    assert_eq!(value["pages"][0]["before"]["first"]["requests"], 14);
    assert_eq!(value["pages"][0]["before"]["first"]["bytes"]["identity"], 481_600);
    assert_eq!(value["pages"][0]["requests"][13]["kind"], "svg-image");
    assert_eq!(value["pages"][1]["requests"][6]["state"], "lazy");
    assert_eq!(value["pages"][0]["document"]["after"]["br"], 4_000);
    assert_eq!(
        value["pages"][1]["requests"][1]["follow_up"],
        serde_json::json!({"before": true, "after": false})
    );
    assert_eq!(value["resources"].as_array().unwrap().len(), 2);
    assert_eq!(value["resources"][1]["url"], "/img/y.png");
    assert_eq!(value["resources"][1]["type"], "image");
    assert_eq!(value["resources"][1]["before"]["identity"], 8_000);
    assert_eq!(value["totals"]["before"]["first"]["requests"], 28);
    assert_eq!(value["totals"]["after"]["follow_up"]["bytes"]["br"], 31_900);
    assert_eq!(value["decisions"][0]["file"], "img/caf\\xE9.png");
    assert_eq!(value["decisions"][0]["cost"]["requests_first"], -3);
    assert_eq!(value["diagnostics"][1]["code"], "css-opaque");
    assert_eq!(value["diagnostics"][2]["column"], 100);
    assert_eq!(value["diagnostics"][0]["line"], Value::Null);
    let value = json(&only_measured());
    assert_eq!(value["entry"], Value::Null);
    assert_eq!(value["pages"][0]["after"], Value::Null);
    assert_eq!(value["totals"]["written"], Value::Null);
}

#[test]
fn the_order_of_properties_is_fixed() {
    let mut out = Vec::new();
    write_json(&sample(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let start: String = text.lines().take(4).map(|line| format!("{line}\n")).collect();
    assert_eq!(
        start,
        "{\"schema\":1,\n\"entry\":\"index.html\",\n\"measured\":{\"gzip\":\"6\",\"brotli\":\"5\",\
         \"viewport\":{\"width\":1280,\"height\":900},\"request_overhead\":200},\n\"pages\":[\n"
    );
    assert!(text.ends_with(",\n\"violations\":[],\n\"baseline\":null,\n\"journey\":null}\n"));
}

#[test]
fn every_page_is_a_line_of_its_own() {
    let mut report = sample();
    report.pages = vec![report.pages[0].clone(); 1_000];
    let mut json = Vec::new();
    write_json(&report, &mut json).unwrap();
    let path = format!("\"path\":\"{}\"", report.pages[0].path);
    let lines = json
        .split(|&b| b == b'\n')
        .filter(|line| String::from_utf8_lossy(line).contains(&path));
    assert_eq!(lines.count(), 1_000);
}

#[test]
fn the_summary_of_a_build() {
    assert_eq!(
        summary(&judged(sample(), 8), 80, false),
        "\
3 pages, 512 files: 1,420 copied, 90 edited, 2 excluded
average page    requests              bytes (brotli 5)
first view      9.3 -> 6.7  -28.6 %   73.5 kB -> 69.0 kB  -6.1 %
follow-up view  2.7 -> 2.3  -12.5 %   10.7 kB -> 10.6 kB  -0.3 %
most requests   docs/a.html 14 -> 9, docs/b.html 6, index.html 8 -> 5
unknown         what the scripts of 1 page ask for is not counted
variants        1.2 MB gzip, 1.0 MB brotli
policy          OUT needs img-src data: where a server sends a policy
warnings        2 missing-file, 1 css-syntax
notes           1 css-opaque
over budget     1 page makes more than 8 requests: docs/a.html 9
"
    );
}

#[test]
fn the_summary_of_a_report() {
    assert_eq!(
        summary(&only_measured(), 80, false),
        "\
3 pages, 512 files
average page    requests   bytes (brotli 5)
first view      9.3        73.5 kB
follow-up view  2.7        10.7 kB
most requests   docs/a.html 14, index.html 8, docs/b.html 6
unknown         what the scripts of 1 page ask for is not counted
"
    );
}

#[test]
fn the_summary_fits_its_columns() {
    let mut report = judged(sample(), 8);
    let long = format!("{}/\u{1b}[2J/{}.html", "deep".repeat(30), "name".repeat(30));
    for page in &mut report.pages {
        page.path = site_path(&long);
    }
    report.diagnostics = [
        Code::MissingFile,
        Code::CssSyntax,
        Code::UnclosedElement,
        Code::IntegrityMismatch,
    ]
    .iter()
    .map(|code| finding("a", 1, *code, "x"))
    .collect();
    for width in [60, 72, 80, 120] {
        let text = summary(&report, width, false);
        assert!(text.lines().count() <= 10);
        for line in text
            .lines()
            .filter(|line| !line.starts_with("over budget") && !line.starts_with("policy"))
        {
            assert!(line.chars().count() <= width.max(66), "{line}");
        }
        assert!(!text.contains('\u{1b}'));
    }
    let narrow = summary(&report, 60, false);
    assert!(
        narrow
            .lines()
            .find(|line| line.starts_with("most"))
            .is_some_and(|line| line.chars().count() <= 60)
    );
    assert!(narrow.contains("1 css-syntax, 1 integrity-mismatch, 2 more"));
}

#[test]
fn colours_change_nothing_else() {
    let report = sample();
    let mut plain = summary(&report, 80, true);
    assert!(plain.contains("\u{1b}[32m-28.6 %\u{1b}[0m"));
    for code in ["0", "1", "31", "32", "33", "36"] {
        plain = plain.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(plain, summary(&report, 80, false));
}

#[test]
fn a_site_without_pages() {
    let report = Report {
        pages: Vec::new(),
        totals: Totals::of(&[], 1),
        ..only_measured()
    };
    assert_eq!(summary(&report, 80, false), "0 pages, 1 file\n");
}

#[test]
fn diagnostics_in_the_order_of_files() {
    assert_eq!(
        diagnostics_text(&sample().diagnostics, true, false),
        "\
a\\u{1b}[31m.txt: warning[missing-file]: \\u{202e}evil\\u{7}
  help: add the file or correct the reference; each view pays a request for the error page
css/site.css:1:13: note[css-opaque]: blocks nested deeper than 64
  help: the stylesheet was copied as it is; simplify its nesting to have it improved
css/site.css:1:100: warning[css-syntax]: unclosed string
  help: browsers drop the rule or declaration; correct it
index.html:1:8: warning[missing-file]: no file at /gone.png
"
    );
    assert_eq!(diagnostics_text(&[], false, true), "");
}

#[test]
fn frequent_diagnostics_are_folded() {
    let mut many: Vec<Diagnostic> = (0..1_250)
        .map(|i| finding("z.html", i, Code::MissingFile, "no file"))
        .collect();
    many.extend((0..5).map(|i| finding("a.css", i, Code::CssSyntax, "bad")));
    let text = diagnostics_text(&many, false, false);
    assert_eq!(text.lines().count(), 5 + 5 + 2 + 1);
    assert_eq!(
        text.lines().last(),
        Some("warning[missing-file]: 1,245 more like these")
    );
    many.reverse();
    assert_eq!(diagnostics_text(&many, false, false), text);
}

#[test]
fn budgets() {
    let report = sample();
    assert_eq!(over_budget(&report, 9), []);
    let over = over_budget(&report, 5);
    let messages: Vec<String> = over.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "docs/a.html: 9 requests on the first view, 4 over the limit of 5: the page itself, /img/x.png, \
             /img/x.png, /img/x.png, /img/x.png, /img/x.png and 10 more",
            "docs/b.html: 6 requests on the first view, 1 over the limit of 5: the page itself, /img/y.png, \
             /img/y.png, /img/y.png, /img/y.png, /img/y.png",
        ]
    );
    // Before a build what SITE requests counts.
    let over = over_budget(&only_measured(), 13);
    assert_eq!(over.len(), 1);
    assert_eq!((over[0].value, over[0].limit, over[0].urls.len()), (14, 13, 15));
    // Inlined, external and icon requests are not made by OUT.
    let pages = over_budget(&report, 0);
    assert_eq!(
        pages
            .iter()
            .map(|violation| violation.urls.len())
            .collect::<Vec<_>>(),
        [15, 5, 0]
    );
}

#[test]
fn numbers_and_words() {
    use super::text::*;
    for (bytes, expected) in [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (1_049, "1.0 kB"),
        (1_050, "1.1 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (999_949_999, "999.9 MB"),
        (1_234_567_890_123, "1,234.6 GB"),
    ] {
        assert_eq!(size(bytes), expected);
    }
    for (before, after, expected) in [
        (10, 10, "same"),
        (0, 0, "same"),
        (0, 5, "new"),
        (10, 0, "-100.0 %"),
        (8, 9, "+12.5 %"),
        (3, 2, "-33.3 %"),
    ] {
        assert_eq!(change(before, after), expected);
    }
    assert_eq!(average(1_999, 2), "999.5");
    assert_eq!(average(29_999, 10), "2,999.9");
    assert_eq!(average(7, 1), "7");
    assert_eq!(shorten("abcdefghij", 10), "abcdefghij");
    assert_eq!(shorten("abcdefghijk", 10), "abc...hijk");
    assert_eq!(
        shorten("\u{e9}".repeat(20).as_str(), 7),
        "\u{e9}\u{e9}...\u{e9}\u{e9}"
    );
    assert_eq!(clean("a\tb\u{2066}\u{e9}"), "a\\tb\\u{2066}\u{e9}");
}
