//! Each format, read back by the rules of that format.

use serde_json::Value;

use super::tests::*;
use super::*;
use crate::diagnostic::Code;

fn text(report: &Report, format: Format) -> String {
    let mut out = Vec::new();
    write(report, format, "public/", &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Names that mean something to each of the formats.
fn hostile() -> Report {
    let mut report = sample();
    let names = [
        "=cmd|' /C calc'!A0.html",
        "a\"b,c;\u{202e}\u{1b}[31m</script><!--.html",
        "x|y`z``<img src=x onerror=alert(1)>\u{fffe}@user\n::error::.html",
    ];
    for (page, name) in report.pages.iter_mut().zip(names) {
        page.path = site_path(name);
    }
    report.pages.sort_by(|a, b| a.path.cmp(&b.path));
    report.diagnostics.push(finding(
        "a:b\n,c%.html",
        3,
        Code::MissingFile,
        "no <file>\n::error::%0A",
    ));
    report.decisions[0].reason = "</script><script>alert(1)</script>".into();
    judged(report, 1)
}

/// Only measured, built, with everything that a run can add, and hostile.
fn reports() -> Vec<Report> {
    let mut full = judged(sample(), 5);
    full.journey = Some(walk(&full, &["index.html".into(), "docs/a".into()]).unwrap());
    let empty = Report {
        pages: Vec::new(),
        totals: Totals::of(&[], 0),
        ..only_measured()
    };
    vec![only_measured(), sample(), full, hostile(), empty]
}

#[test]
fn csv_is_read_back() {
    for report in reports() {
        let text = text(&report, Format::Csv);
        let mut records = csv_records(&text).into_iter();
        let headers = records.next().unwrap();
        let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
        let mut rows = 0;
        for (row, page) in records.zip(&report.pages) {
            rows += 1;
            assert_eq!(row.len(), 18);
            assert_eq!(row[column("runs_scripts")], u8::from(page.scripts).to_string());
            assert!(!row[0].starts_with(['=', '+', '-', '@']), "{row:?}");
            assert_eq!(
                row[column("first_requests_before")],
                page.before.first.requests.to_string()
            );
            let after = page
                .after
                .map_or(String::new(), |views| views.follow_up.bytes.br.to_string());
            assert_eq!(row[column("follow_up_bytes_br_after")], after);
        }
        assert_eq!(rows, report.pages.len());
    }
}

/// Fields by line, as RFC 4180 has them.
fn csv_records(text: &str) -> Vec<Vec<String>> {
    let mut records = Vec::new();
    let (mut record, mut field) = (Vec::new(), String::new());
    let mut rest = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = rest.next() {
        match (c, quoted) {
            ('"', true) if rest.next_if_eq(&'"').is_some() => field.push('"'),
            ('"', true) => quoted = false,
            ('"', false) => {
                assert!(field.is_empty(), "a quote inside of a field: {text}");
                quoted = true;
            }
            (',', false) => record.push(std::mem::take(&mut field)),
            ('\r', false) => {
                assert_eq!(rest.next(), Some('\n'));
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            _ => field.push(c),
        }
    }
    assert!(
        !quoted && field.is_empty() && record.is_empty(),
        "no end of a line: {text}"
    );
    records
}

/// Name, attributes, and the text behind it.
type Tag = (String, Vec<(String, String)>, String);

/// The start tags and the text of well-formed XML, entities decoded; whatever is not well-formed panics.
fn xml(text: &str) -> Vec<Tag> {
    let decoded = |text: &str| {
        assert!(!text.contains('<'), "{text}");
        assert!(
            text.chars()
                .all(|c| c == '\n' || c == '\t' || c >= ' ' && c != '\u{fffe}'),
            "{text:?}"
        );
        let parts: Vec<&str> = text.split('&').collect();
        for part in &parts[1..] {
            assert!(
                ["amp;", "lt;", "gt;", "quot;"]
                    .iter()
                    .any(|e| part.starts_with(e)),
                "&{part}"
            );
        }
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&amp;", "&")
    };
    let mut open: Vec<String> = Vec::new();
    let mut found: Vec<Tag> = Vec::new();
    let body = text
        .strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        .unwrap();
    for piece in body.split('<').skip(1) {
        let (tag, after) = piece.split_once('>').unwrap();
        let after = decoded(after);
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut attributes = Vec::new();
        while let Some((key, value)) = rest.split_once("=\"") {
            let (value, more) = value.split_once('"').unwrap();
            attributes.push((key.trim().to_owned(), decoded(value)));
            rest = more;
        }
        assert_eq!(rest.trim(), "", "{tag}");
        if !empty {
            open.push(name.to_owned());
        }
        found.push((name.to_owned(), attributes, after));
    }
    assert_eq!(open, [""; 0]);
    found
}

#[test]
fn junit_is_read_back() {
    let attribute = |tag: &Tag, name: &str| {
        tag.1
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.clone())
            .unwrap()
    };
    for report in reports() {
        let tags = xml(&text(&report, Format::Junit));
        let count = |name: &str| tags.iter().filter(|tag| tag.0 == name).count();
        assert_eq!(count("testcase"), report.pages.len());
        assert_eq!(count("failure"), report.verdict.violations.len());
        assert_eq!(attribute(&tags[0], "tests"), report.pages.len().to_string());
        assert_eq!(attribute(&tags[1], "failures"), count("failure").to_string());
        assert_eq!(attribute(&tags[1], "skipped"), count("skipped").to_string());
        let skips = if report.verdict.judged.is_empty() {
            report.pages.len()
        } else {
            0
        };
        assert_eq!(count("skipped"), skips);
    }
    let tags = xml(&text(&judged(sample(), 8), Format::Junit));
    assert_eq!(
        (&*tags[2].0, &*attribute(&tags[2], "name")),
        ("testcase", "docs/a.html")
    );
    assert_eq!(
        (&*tags[3].0, &*attribute(&tags[3], "type")),
        ("failure", "budget")
    );
    assert_eq!(
        attribute(&tags[3], "message"),
        "9 requests on the first view, 1 over the limit of 8"
    );
    assert!(tags[3].2.starts_with("docs/a.html: 9 requests"));
}

/// What every entry, page and log of HAR 1.2 has (http://www.softwareishard.com/blog/har-12-spec/).
fn har_schema() -> Value {
    let object = |keys: &[&str]| serde_json::json!({"type": "object", "required": keys});
    let mut request = object(&["cookies", "headers", "headersSize", "bodySize"]);
    request["properties"] = serde_json::json!({
        "method": {"type": "string"},
        "url": {"type": "string", "pattern": "^https?://[^ <>]+$"},
        "httpVersion": {"type": "string"},
        "queryString": {"type": "array", "items": object(&["name", "value"])},
        "headers": {"type": "array", "items": object(&["name", "value"])},
        "headersSize": {"type": "integer", "minimum": -1},
        "bodySize": {"type": "integer", "minimum": -1},
    });
    let mut response = object(&[
        "status",
        "statusText",
        "httpVersion",
        "cookies",
        "headers",
        "content",
        "redirectURL",
        "headersSize",
        "bodySize",
    ]);
    response["properties"] = serde_json::json!({
        "status": {"type": "integer"},
        "content": object(&["size", "mimeType"]),
        "bodySize": {"type": "integer", "minimum": -1},
    });
    let moment =
        serde_json::json!({"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"});
    let mut entry = object(&[
        "startedDateTime",
        "time",
        "request",
        "response",
        "cache",
        "timings",
        "pageref",
    ]);
    entry["properties"] = serde_json::json!({
        "startedDateTime": moment,
        "time": {"type": "number", "minimum": 0},
        "request": request,
        "response": response,
        "timings": object(&["send", "wait", "receive"]),
    });
    let mut page = object(&["startedDateTime", "id", "title", "pageTimings"]);
    page["properties"] = serde_json::json!({"startedDateTime": moment});
    let mut log = object(&["version", "creator", "entries"]);
    log["properties"] = serde_json::json!({
        "version": {"const": "1.2"},
        "creator": object(&["name", "version"]),
        "pages": {"type": "array", "items": page},
        "entries": {"type": "array", "items": entry},
    });
    let mut har = object(&["log"]);
    har["properties"] = serde_json::json!({"log": log});
    har
}

#[test]
fn har_is_read_back() {
    let schema = jsonschema::validator_for(&har_schema()).unwrap();
    for report in reports() {
        let text = text(&report, Format::Har);
        let value: Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> = schema
            .iter_errors(&value)
            .map(|e| format!("{e} at {}", e.instance_path()))
            .collect();
        assert_eq!(errors, [""; 0]);
        let pages = value["log"]["pages"].as_array().unwrap();
        match &report.journey {
            Some(journey) => assert_eq!(pages.len(), journey.steps.len()),
            None => assert_eq!(pages.len(), 2 * report.pages.len()),
        }
        // What a reader adds up is what the report says.
        for (i, page) in pages.iter().enumerate().filter(|_| report.journey.is_none()) {
            let entries = value["log"]["entries"].as_array().unwrap();
            let own: Vec<&Value> = entries.iter().filter(|e| e["pageref"] == page["id"]).collect();
            let made = |r: &&Request| {
                let side = report.pages[i / 2].latest_side();
                r.counts(side) && (i % 2 == 0 || r.follow_up.of(side))
            };
            let requests = report.pages[i / 2].requests.iter().filter(made);
            let twice = requests.clone().filter(|r| r.state == State::Redirect).count();
            assert_eq!(own.len(), 1 + requests.count() + twice, "{page}");
            assert!(own.iter().all(|e| {
                e["request"]["url"]
                    .as_str()
                    .unwrap()
                    .starts_with("http://fewer.invalid/")
            }));
        }
    }
    let value: Value = serde_json::from_str(&text(&sample(), Format::Har)).unwrap();
    let entry = &value["log"]["entries"][1];
    assert_eq!(entry["request"]["url"], "http://fewer.invalid/img/x.png");
    assert_eq!(entry["response"]["bodySize"], 1_800);
    assert_eq!(entry["response"]["content"]["size"], 7_800);
    assert_eq!(entry["response"]["content"]["compression"], 6_000);
    let missing = |e: &&Value| e["response"]["status"] == 404;
    assert!(
        value["log"]["entries"]
            .as_array()
            .unwrap()
            .iter()
            .any(|e| missing(&e))
    );
}

#[test]
fn sarif_is_read_back() {
    for report in reports() {
        let text = text(&report, Format::Sarif);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["version"], "2.1.0");
        let run = &value["runs"][0];
        let driver = &run["tool"]["driver"];
        assert_eq!(driver["name"], "fewer");
        let results = run["results"].as_array().unwrap();
        assert_eq!(
            results.len(),
            report.diagnostics.len() + report.verdict.violations.len()
        );
        for result in results {
            let rule = &driver["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
            assert_eq!(rule["id"], result["ruleId"]);
            assert!(["note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
            assert!(result["message"]["text"].is_string());
        }
    }
    let value: Value = serde_json::from_str(&text(&hostile(), Format::Sarif)).unwrap();
    let results = value["runs"][0]["results"].as_array().unwrap();
    let uri = |result: &Value| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone();
    assert!(
        results
            .iter()
            .all(|r| !uri(r).as_str().unwrap().contains(['<', '"', ' ', '\n']))
    );
    let value: Value = serde_json::from_str(&text(&sample(), Format::Sarif)).unwrap();
    let last = value["runs"][0]["results"].as_array().unwrap().last().unwrap();
    assert_eq!(uri(last), "public/index.html");
    assert_eq!(last["level"], "warning");
    assert_eq!(last["ruleId"], "missing-file");
    let region = &last["locations"][0]["physicalLocation"]["region"];
    assert_eq!(
        (&region["startLine"], &region["startColumn"]),
        (&1.into(), &8.into())
    );
}

#[test]
fn gitlab_has_what_it_asks_for() {
    for report in reports() {
        let value: Value = serde_json::from_str(&text(&report, Format::Gitlab)).unwrap();
        let items = value.as_array().unwrap();
        let mut prints: Vec<&str> = Vec::new();
        for item in items {
            assert!(
                ["description", "check_name"]
                    .iter()
                    .all(|key| item[key].is_string()),
                "{item}"
            );
            assert!(["info", "minor", "major"].contains(&item["severity"].as_str().unwrap()));
            assert!(item["location"]["path"].as_str().unwrap().starts_with("public/"));
            assert!(item["location"]["lines"]["begin"].as_u64().unwrap() > 0);
            prints.push(item["fingerprint"].as_str().unwrap());
        }
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), items.len(), "two findings have one fingerprint");
    }
    // A finding that moves to another line stays the same one.
    let mut moved = sample();
    for diagnostic in &mut moved.diagnostics {
        diagnostic.position = Some((77, 1));
    }
    let prints = |report: &Report| {
        let value: Value = serde_json::from_str(&text(report, Format::Gitlab)).unwrap();
        let items = value.as_array().unwrap().clone();
        items
            .iter()
            .map(|item| item["fingerprint"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(prints(&sample()), prints(&moved));
}

#[test]
fn annotations_are_one_line_each() {
    let lines = github(&judged(sample(), 8), "./public/");
    assert_eq!(
        lines,
        "::error file=public/docs/a.html,title=budget::docs/a.html: 9 requests on the first view, 1 over the limit \
         of 8: the page itself, /img/x.png, /img/x.png, /img/x.png, /img/x.png, /img/x.png and 10 more\n\
         ::warning file=public/a\\u{1b}[31m.txt,title=missing-file::\\u{202e}evil\\u{7}\n\
         ::notice file=public/css/site.css,line=1,col=13,title=css-opaque::blocks nested deeper than 64\n\
         ::warning file=public/css/site.css,line=1,col=100,title=css-syntax::unclosed string\n\
         ::warning file=public/index.html,line=1,col=8,title=missing-file::no file at /gone.png\n"
    );
    let hostile = github(&hostile(), ".");
    assert!(hostile.lines().all(|line| line.starts_with("::error file=")
        || line.starts_with("::warning file=")
        || line.starts_with("::notice file=")));
    assert!(
        hostile.contains(
            "file=a%3Ab\\n%2Cc%25.html,line=1,col=4,title=missing-file::no <file>\\n::error::%250A"
        )
    );
    // As many as are shown.
    let mut many = sample();
    many.diagnostics = (0..40)
        .map(|i| finding("a.css", i, Code::CssSyntax, "bad"))
        .collect();
    let lines = github(&many, "public");
    assert_eq!(lines.lines().count(), 11);
    assert!(lines.ends_with("30 more of the level warning are not annotated\n"));
}

#[test]
fn markdown_keeps_names_in_code_and_stays_short() {
    let page = text(&hostile(), Format::Markdown);
    // Outside of code spans and of what we write ourselves there is no markup.
    let outside: String = page
        .lines()
        .filter(|line| !line.starts_with("<details") && !line.starts_with("</details"))
        .map(|line| without_code(line) + "\n")
        .collect();
    assert!(!outside.contains(['<', '`', '@']), "{outside}");
    let cells = |line: &str| without_code(line).matches('|').count();
    let rows: Vec<usize> = page.lines().filter(|l| l.starts_with("| `")).map(cells).collect();
    assert_eq!(rows, [6, 6, 6], "{page}");
    let summary = text(&judged(sample(), 8), Format::Markdown);
    assert!(summary.starts_with("### fewer: 9.3 \u{2192} 6.7 requests a page, 73.5 kB \u{2192} 69.0 kB\n"));
    assert!(summary.contains("**1 limit broken**"), "{summary}");
    // GitHub takes 65,536 characters.
    let mut big = sample();
    let page = big.pages[0].clone();
    big.pages = (0..2_000)
        .map(|i| {
            let mut page = page.clone();
            page.path = site_path(&format!("{}/{i:04}.html", "deep/".repeat(700)));
            page.requests
                .iter_mut()
                .for_each(|r| r.url = format!("/{}", "u".repeat(3_000)).into());
            page
        })
        .collect();
    assert!(text(&judged(big, 1), Format::Markdown).chars().count() < 60_000);
}

/// A line without its code spans (CommonMark, section 6.1).
fn without_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        out.push_str(&rest[..start]);
        let run = rest[start..].chars().take_while(|c| *c == '`').count();
        let inner = &rest[start + run..];
        let mut at = 0;
        let end = loop {
            let found = inner[at..].find('`').expect("a code span that is not closed") + at;
            let length = inner[found..].chars().take_while(|c| *c == '`').count();
            if length == run {
                break found;
            }
            at = found + length;
        };
        // A bar ends a cell even in code, unless it is escaped.
        assert!(!inner[..end].replace("\\|", "").contains('|'), "{line}");
        rest = &inner[end + run..];
    }
    out + rest
}

#[test]
fn html_holds_its_data_and_nothing_of_the_site_as_markup() {
    for report in reports() {
        let page = text(&report, Format::Html);
        let (markup, rest) = page
            .split_once("<script type=\"application/json\" id=\"data\">")
            .unwrap();
        let (data, _) = rest.split_once("</script>").unwrap();
        let value: Value = serde_json::from_str(data).unwrap();
        assert_eq!(value["pages"].as_array().unwrap().len(), report.pages.len());
        assert_eq!(value["requests"].as_object().unwrap().len(), report.pages.len());
        assert_eq!(
            value["decisions"].as_array().unwrap().len(),
            report.decisions.len()
        );
        assert_eq!(
            value["diagnostics"].as_array().unwrap().len(),
            report.diagnostics.len()
        );
        assert_eq!(value["built"], report.totals.after.is_some());
        assert!(!data.contains('<') && !markup.contains("<img") && !page.contains("<script>alert"));
        assert_eq!(page.matches("<script").count(), 2);
        for remote in ["http:", "https:", "src=\"", "@import", "url("] {
            assert!(!markup.contains(remote), "{remote}");
        }
    }
    let value: Value = {
        let page = text(&sample(), Format::Html);
        let (_, rest) = page.split_once("id=\"data\">").unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    };
    // Path by what differs, numbers of SITE, then what OUT saves, then that scripts run.
    assert_eq!(
        value["pages"][0],
        serde_json::json!([0, "docs/a.html", 14, 120_400, 5, 20_000, 5, 10_400, 1, 100, 1])
    );
    assert_eq!(
        value["pages"][1],
        serde_json::json!([5, "b.html", 6, 40_000, 2, 8_000, 0, 1_000, 0, 0])
    );
    assert_eq!(
        value["resources"][0],
        serde_json::json!(["/img/x.png", 1, 2_000, 2_000])
    );
}

#[test]
fn html_stays_small_whatever_the_site() {
    let mut report = sample();
    let page = report.pages[1].clone();
    report.pages = (0..12_000)
        .map(|i| {
            let mut page = page.clone();
            // Nothing in common with the page before, and six bytes for each character.
            page.path = site_path(&format!("{:05}/{}.html", i * 7919 % 12_000, "<".repeat(120)));
            page.requests
                .iter_mut()
                .for_each(|r| r.url = format!("/{i}/{}", "<".repeat(400)).into());
            page
        })
        .collect();
    report.pages.sort_by(|a, b| a.path.cmp(&b.path));
    report.decisions = (0..10_000)
        .map(|i| Decision {
            reason: format!("{i} {}", "<".repeat(100)),
            ..report.decisions[0].clone()
        })
        .collect();
    report.diagnostics = (0..10_000)
        .map(|i| finding("<<<<.css", i, Code::CssSyntax, &"<".repeat(100)))
        .collect();
    let page = text(&judged(report, 1), Format::Html);
    assert!(page.len() < 10_000_000, "{}", page.len());
    assert!(page.contains(" of 12,000 pages, those with the greatest changes"));
    assert!(page.contains("<h3>Folders</h3>"));
}
