//! `--report` in its formats, budgets, baselines and journeys as the command takes them.

use std::fs;

use serde_json::Value;

use crate::command::{Place, fixture, run};

fn json(place: &Place, name: &str) -> Value {
    serde_json::from_slice(&fs::read(place.at(name)).unwrap()).unwrap()
}

fn stderr(place: &Place, line: &str, code: i32) -> String {
    String::from_utf8(run(place.args(line), code).stderr).unwrap()
}

#[test]
fn every_format_is_written_beside_the_others() {
    let place = Place::new();
    let line = format!(
        "build @site --out @out -q --report @r.json --report @r.html --report @r.md --report @r.xml --report @r.sarif \
         --report @r.har --report @r.csv --report gitlab:{}",
        place.at("quality.json").display()
    );
    run(place.args(&line), 0);
    let starts = |name: &str, start: &str| {
        let text = fs::read_to_string(place.at(name)).unwrap();
        assert!(text.starts_with(start), "{name}: {text}");
    };
    starts("r.json", "{\"schema\":1,");
    starts("r.html", "<!doctype html>");
    starts("r.md", "### fewer: ");
    starts("r.xml", "<?xml");
    starts("r.sarif", "{\"$schema\":");
    starts("r.har", "{\"log\":{\"version\":\"1.2\"");
    starts("r.csv", "page,");
    starts("quality.json", "[\n");
    // The same, whatever the number of threads.
    let before = fs::read(place.at("r.html")).unwrap();
    run(place.args(&format!("{line} --force --threads 7")), 0);
    assert!(before == fs::read(place.at("r.html")).unwrap());
}

#[test]
fn a_report_may_go_to_standard_output() {
    let place = Place::new();
    let output = run(place.args("report @site --report md:-"), 0);
    assert!(output.stdout.starts_with(b"### fewer: 5 requests a page\n"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 page, "));
    assert_eq!(place.names(), ["site"]);
    let quiet = run(place.args("report @site -q --report csv:-"), 0);
    assert!(quiet.stdout.starts_with(b"page,") && quiet.stderr.is_empty());
}

#[test]
fn places_that_no_report_has() {
    let place = Place::new();
    for (line, said) in [
        (
            "report @site --report @r.pdf",
            "expected a name that ends in .json, .html, .md",
        ),
        ("report @site --report sarfi:r", "did you mean sarif:FILE?"),
        ("report @site --report @r.csv --report @r.csv", "is there twice"),
        ("report @site --report @site/r.html", "lies inside SITE"),
        (
            "build @site --out @out --report @r.json --report @out/r.md",
            "lies inside OUT",
        ),
        (
            "report @site --journey index.html,indx.html",
            "did you mean index.html?",
        ),
        ("report @site --baseline @gone.json", "gone.json"),
        ("report @site --baseline @site/index.html", "no report of fewer"),
        ("report @site --budget @site/index.html", "cannot read the budget"),
        ("report @site --max-growth -1", "--max-growth"),
    ] {
        place.refuses(line, said);
    }
}

#[test]
fn a_baseline_stops_what_got_worse() {
    let place = Place::new();
    run(place.args("report @site -q --report @base.json"), 0);
    run(
        place.args("report @site -q --baseline @base.json --report @base.json"),
        0,
    );
    place.put("site/new.html", b"<!doctype html><title>new</title>");
    place.put("site/extra.css", b"p{color:red}");
    let page = fs::read_to_string(place.at("site/index.html")).unwrap();
    let changed = page.replace("<head>", "<head><link rel=stylesheet href=extra.css>");
    let changed = match changed == page {
        true => format!("<link rel=stylesheet href=extra.css>{page}"),
        false => changed,
    };
    place.put("site/index.html", changed.as_bytes());
    let said = stderr(
        &place,
        "report @site -q --baseline @base.json --max-growth 1000 --report @now.json",
        1,
    );
    assert_eq!(
        said,
        "error: index.html: 6 requests on the first view, 1 more than the 5 of the baseline; new: /extra.css\n"
    );
    let now = json(&place, "now.json");
    assert_eq!(now["baseline"]["new"], serde_json::json!(["new.html"]));
    assert_eq!(
        now["violations"][0]["new_requests"],
        serde_json::json!(["/extra.css"])
    );
    // OUT is left alone, and a build that saves the request is fine. (A reload takes what was inlined again.)
    run(
        place.args("build @site --out @out -q --skip all --baseline @base.json"),
        1,
    );
    assert!(!place.at("out").exists());
    run(
        place.args("build @site --out @out -q --baseline @base.json --max-growth 1000"),
        0,
    );
    // Numbers of another kind are no baseline.
    place.refuses(
        "report @site --baseline @base.json --request-overhead 300",
        "request overhead 200",
    );
}

#[test]
fn budgets_stand_in_the_file() {
    let place = Place::new();
    place.put(
        "fewer.toml",
        b"[budget]\nfirst = { requests = 4 }\nfollow-up.image.requests = 0\n",
    );
    let said = stderr(&place, "report @site -q --config @fewer.toml", 1);
    assert!(
        said.starts_with("error: index.html: 5 requests on the first view, 1 over the limit of 4 (")
            && said.contains("fewer.toml:1)")
            && said.lines().count() == 1,
        "{said}"
    );
    place.put(
        "fewer.toml",
        b"[[budget]]\npaths = ['other/**']\nfirst.requests = 0\n[[budget]]\nper = 'site'\nfirst.image.requests = 2\n",
    );
    let said = stderr(&place, "report @site -q --config @fewer.toml", 1);
    assert!(
        said.contains("all 1 page together: 3 image requests") && said.contains("fewer.toml:4)"),
        "{said}"
    );
    let printed = run(place.args("config --config @fewer.toml"), 0).stdout;
    let printed = String::from_utf8(printed).unwrap();
    place.put("again.toml", printed.as_bytes());
    assert_eq!(
        stderr(&place, "report @site -q --config @again.toml", 1)
            .lines()
            .count(),
        1
    );
    for (text, said) in [
        (
            "[budget]\nfirst.request = 1",
            "unknown key `request`, did you mean `requests`?",
        ),
        (
            "[budget]\npath = ['a']\nfirst.requests = 1",
            "unknown key `path`, did you mean `paths`?",
        ),
        (
            "[budget]\nfirst = { js = { size = 1 } }",
            "unknown key `size`, expected one of requests, bytes",
        ),
        (
            "[budget]\nfirst.requests = 'many'",
            "requests: expected a whole number",
        ),
        (
            "[[budget]]\nper = 'pages'\nfirst.requests = 1",
            "unknown value `pages`, did you mean `page`?",
        ),
        ("[budget]\npaths = ['a']", "this budget sets no limit"),
        ("budget = 3", "budget: expected"),
    ] {
        place.put("bad.toml", text.as_bytes());
        place.refuses("report @site --config @bad.toml", said);
    }
}

#[test]
fn budgets_of_lighthouse_are_read() {
    let place = Place::new();
    place.put(
        "budget.json",
        br#"[{"path": "/*", "resourceCounts": [{"resourceType": "image", "budget": 2}], "timings": []}]"#,
    );
    let said = stderr(&place, "report @site -q --budget @budget.json", 1);
    assert!(
        said.contains("index.html: 3 image requests on the first view, 1 over the limit of 2"),
        "{said}"
    );
    place.put(
        "budget.json",
        br#"[{"resourceSizes": [{"resourceType": "total", "budget": 1000}]}]"#,
    );
    run(place.args("report @site -q --budget @budget.json"), 0);
}

/// The second step of a visit that begins at the entry page is that page's follow-up view.
#[test]
fn a_journey_agrees_with_the_views() {
    let place = Place::new();
    let site = fixture("blog/site");
    let report = place.at("r.json");
    let mut args =
        place.args("report -q --report @r.json --journey index.html,posts/tide-tables.html,index.html");
    args.push(site.into());
    run(args, 0);
    let value: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let page = |path: &str| {
        let pages = value["pages"].as_array().unwrap();
        pages.iter().find(|page| page["path"] == path).unwrap().clone()
    };
    let steps = &value["journey"]["steps"];
    assert_eq!(steps[0]["before"], page("index.html")["before"]["first"]);
    assert_eq!(
        steps[1]["before"],
        page("posts/tide-tables.html")["before"]["follow_up"]
    );
    assert_eq!(steps[2]["before"], page("index.html")["before"]["follow_up"]);
    // Requests by size add up to the views, with the page's own.
    let size = |url: &Value| {
        let resources = value["resources"].as_array().unwrap();
        let found = resources.iter().find(|resource| resource["url"] == *url).unwrap();
        found["before"]["br"].as_u64().unwrap()
    };
    for page in value["pages"].as_array().unwrap() {
        let requests = page["requests"].as_array().unwrap().iter();
        let counts = |r: &&Value| !["external", "icon", "added"].contains(&r["state"].as_str().unwrap());
        let sum: u64 = requests.filter(counts).map(|r| size(&r["url"])).sum();
        let own = page["document"]["before"]["br"].as_u64().unwrap();
        assert_eq!(
            page["before"]["first"]["bytes"]["br"],
            sum + own,
            "{}",
            page["path"]
        );
    }
}

#[test]
fn annotations_name_the_files() {
    let place = Place::new();
    let said = stderr(&place, "report @site -q --max-requests 4 --annotations github", 1);
    let first = said.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("::error file=")
            && first.contains("site/index.html,title=budget::index.html: 5 requests"),
        "{said}"
    );
}
