//! `fewer.toml`, `fewer config`, `fewer explain` and `--traffic`: what wins, what is refused, what is said.

use std::fs;
use std::process::Output;

use crate::command::{Place, command, differences, tree};

impl Place {
    /// Runs a line in the folder and expects the code; `@` stands for the folder's own path.
    fn run(&self, line: &str, code: i32) -> (String, String) {
        let Output {
            status,
            stdout,
            stderr,
        } = command(self.args(line))
            .current_dir(self.folder.path())
            .output()
            .expect("the binary was built with this test");
        let (stdout, stderr) = (
            String::from_utf8(stdout).unwrap(),
            String::from_utf8(stderr).unwrap(),
        );
        assert_eq!(status.code(), Some(code), "{line}\n{stdout}\n{stderr}");
        assert!(!stderr.contains("panicked"), "{line}: {stderr}");
        (stdout, stderr)
    }

    /// The stylesheet of OUT after a build with these flags.
    fn sheet(&self, flags: &str) -> String {
        self.run(&format!("build site --out out --force -q {flags}"), 0);
        fs::read_to_string(self.at("out/site.css")).unwrap()
    }
}

#[test]
fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
    let place = Place::new();
    let original = fs::read_to_string(place.at("site/site.css")).unwrap();
    assert!(place.sheet("--skip embed").contains("data:"));
    place.put("fewer.toml", b"skip = ['all']\nno-gzip = true\n");
    assert_eq!(place.sheet(""), original);
    assert!(!place.at("out/site.css.gz").exists());
    let printed = place.sheet("--skip inline --no-gzip=false");
    assert!(!printed.contains("data:") && !printed.contains("/*"), "{printed}");
    place.put("other.toml", b"inline-limit = 0\n");
    let printed = place.sheet("--config other.toml");
    assert!(!printed.contains("data:") && !printed.contains("/*"), "{printed}");
    assert!(
        place
            .sheet("--config other.toml --inline-limit 5000 --skip embed")
            .contains("data:")
    );
}

#[test]
fn a_budget_and_a_report_may_stand_in_the_file() {
    let place = Place::new();
    place.put("conf/fewer.toml", b"max-requests = 1\nreport = 'report.json'\n");
    let (_, stderr) = place.run("report site --config conf/fewer.toml", 1);
    assert!(stderr.contains("index.html"), "{stderr}");
    // Paths of a file are meant from its folder.
    assert!(place.at("conf/report.json").exists());
    place.run("report site --config conf/fewer.toml --max-requests 5 -q", 0);
    place.put("fewer.toml", b"\nreport = 'site/report.json'\n");
    place.refuses(
        "report site",
        "fewer.toml:2: report site/report.json lies inside SITE",
    );
    place.refuses(
        "report site --report site/r.json",
        "--report site/r.json lies inside SITE",
    );
}

#[test]
fn what_is_wrong_in_the_file_is_said_with_its_place() {
    let place = Place::new();
    for (text, said) in [
        (
            "\ninlin-limit = 1",
            "error: fewer.toml:2:1: unknown key `inlin-limit`, did you mean `inline-limit`?\n",
        ),
        (
            "threads = 999",
            "error: fewer.toml:1:11: threads: expected a whole number from 0 to 256\n",
        ),
        (
            "skip = ['inline', 'mini']",
            "error: fewer.toml:1:19: skip: unknown value `mini`",
        ),
        ("exclude = ['a[']", "error: fewer.toml:1:12: exclude: "),
        (
            "base-url = 'nonsense'",
            "error: fewer.toml:1:12: base-url: cannot read base URL",
        ),
        (
            "charset = 'klingon'",
            "error: fewer.toml:1:11: charset: no such encoding",
        ),
        (
            "targets = 'last 2 years'",
            "error: fewer.toml:1:11: targets: the answer would change with the date",
        ),
        (
            "quiet = true",
            "error: fewer.toml:1:1: `quiet` can only be said on the command line\n",
        ),
        ("traffic = 'gone.txt'", "error: cannot read gone.txt"),
    ] {
        place.put("fewer.toml", text.as_bytes());
        place.refuses("build site --out out", said);
        place.refuses("report site", said);
        place.refuses("explain site index.html", said);
        place.refuses("config", said);
    }
    place.put("fewer.toml", b"");
    place.refuses("config --config gone.toml", "gone.toml");
    fs::create_dir(place.at("folder")).unwrap();
    place.refuses("report site --config folder", "folder: not a file");
}

#[test]
fn a_file_of_the_site_is_never_read() {
    let place = Place::new();
    place.put("site/fewer.toml", b"skip = ['all']\n");
    place.refuses(
        "build site --out out --config site/fewer.toml",
        "--config site/fewer.toml lies inside SITE",
    );
    assert!(place.sheet("--skip embed").contains("data:"));
    // Nor where the current folder is SITE.
    place.put("nested/site/index.html", b"<p>");
    place.put("fewer.toml", b"skip = 1\n");
    let (_, stderr) = place.run("report @", 0);
    assert!(
        stderr.contains("note: fewer.toml is part of SITE and not read"),
        "{stderr}"
    );
    assert_eq!(place.run("report @ -q", 0).1, "");
}

#[test]
fn config_prints_what_is_in_effect_and_where_it_comes_from() {
    let place = Place::new();
    let (bare, _) = place.run("config", 0);
    for line in [
        "prefer = \"balanced\"  # default",
        "pages-per-visit = 3  # default",
        "effort = \"default\"  # default",
        "# inline-limit is not set  # default",
        "viewport = \"1280x900\"  # default",
    ] {
        assert!(bare.lines().any(|l| l == line), "{line}\n{bare}");
    }
    place.put(
        "conf/my.toml",
        b"# mine\nnetwork = 'h1'\nexclude = ['a \"b\"', '*.x']\nthreads = 2\ntraffic = 'views.txt'\n\n\
          [[rule]]\nskip = ['share']\npaths = ['manual/**']\nkeep = true\n",
    );
    place.put("conf/views.txt", b"/ 1\n");
    let (printed, _) = place.run(
        "config --config conf/my.toml --threads 1 --skip minify --csp img-src",
        0,
    );
    for line in [
        "network = \"h1\"  # conf/my.toml:2",
        "exclude = ['a \"b\"', \"*.x\"]  # conf/my.toml:3",
        "threads = 1  # --threads",
        "traffic = \"conf/views.txt\"  # conf/my.toml:5",
        "skip = [\"minify\"]  # --skip",
        "csp = [\"img-src\"]  # --csp",
        "[[rule]]  # conf/my.toml:7",
        "paths = [\"manual/**\"]",
        "keep = true",
        "prefer = \"balanced\"  # default",
    ] {
        assert!(printed.lines().any(|l| l == line), "{line}\n{printed}");
    }
    // What is printed can be used, and means the same.
    let without_sources = |text: &str| -> Vec<String> {
        let bare = |line: &str| line.split("  #").next().unwrap_or_default().to_owned();
        text.lines().map(bare).collect()
    };
    place.put("fewer.toml", printed.as_bytes());
    let (again, _) = place.run("config", 0);
    assert_eq!(without_sources(&printed), without_sources(&again));
    assert!(again.contains("network = \"h1\"  # fewer.toml:"), "{again}");
}

#[test]
fn a_report_takes_no_flags_about_changes() {
    let place = Place::new();
    place.refuses(
        "report site --inline-limit 5",
        "--inline-limit is about changes, and a report changes nothing",
    );
    place.refuses("report site --traffic x", "--traffic is about changes");
    // In a file they are for the builds that read it too.
    place.put("fewer.toml", b"inline-limit = 5\nprefer = 'bytes'\n");
    place.run("report site --min-size 5", 0);
    let (help, _) = place.run("report --help", 0);
    assert!(
        !help.contains("--inline-limit") && help.contains("--max-requests"),
        "{help}"
    );
}

#[test]
fn help_is_grouped_and_names_the_defaults() {
    let place = Place::new();
    for line in ["build --help", "explain --help", "config --help"] {
        let (help, _) = place.run(line, 0);
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in [
            "What is changed: --inline-limit",
            "What pays: --prefer",
            "Variants (.gz, .br and .zst): --effort",
            "About the site: --include",
            "Counting: --viewport",
            "Budgets and output: --max-requests",
            "[default: balanced]",
            "[default: 1280x900]",
            "[default: what pays, up to 16384]",
            "[possible values: same, flatten, combine, share, embed, scripts, inline, minify, all]",
        ] {
            assert!(help.contains(words), "{line}: {words}");
        }
    }
}

#[test]
fn traffic_is_read_strictly() {
    let place = Place::new();
    place.put("views.txt", b"/ 12\n/about.html\n");
    let line = "build site --out out --traffic views.txt";
    place.refuses(
        line,
        "error: views.txt:2: expected `path count`, found `/about.html`",
    );
    place.put("views.txt", b"");
    place.refuses(line, "error: views.txt: is empty");
    place.put(
        "views.txt",
        b"192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a.png HTTP/1.1\" 200 1\n",
    );
    place.refuses(line, "error: views.txt: no line is a GET of a page");
    place.put(
        "views.txt",
        b"192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 1\n",
    );
    place.run(line, 0);
    place.put("views.txt", b"/sub/ 12\n");
    place.run(
        "build site --out out2 --traffic views.txt --base-url https://example.org/sub/",
        0,
    );
    place.refuses(
        "build site --out out3 --traffic views.txt --base-url https://example.org/other/",
        "no line names a page below /other/",
    );
}

#[test]
fn explain_says_what_is_decided_about_a_file() {
    let place = Place::new();
    let before = tree(&place.at("site"), false);
    let (image, stderr) = place.run("explain site disc.png --skip embed", 0);
    assert_eq!(stderr, "");
    assert!(image.starts_with("disc.png: image/png, "), "{image}");
    assert!(
        image.contains("requested by 1 page, after a build by none\n  inline   "),
        "{image}"
    );
    assert!(image.contains("saves 1 request"), "{image}");
    assert!(image.lines().all(|line| line.chars().count() <= 80), "{image}");
    // All names of one file mean the same.
    for path in [
        "site/disc.png",
        "./disc.png",
        "/disc.png",
        "@site/disc.png",
        "/disc%2Epng?v=1",
    ] {
        assert_eq!(
            place.run(&format!("explain site {path} --skip embed"), 0).0,
            image,
            "{path}"
        );
    }
    let sub = "explain site /sub/disc.png --base-url https://example.org/sub/ --skip embed";
    assert_eq!(place.run(sub, 0).0, image);
    let (sheet, _) = place.run("explain site site.css", 0);
    assert!(sheet.contains("\n  minify   "), "{sheet}");
    let (page, _) = place.run("explain site /", 0);
    assert!(page.starts_with("index.html: text/html, "), "{page}");
    // The numbers are those of the report.
    place.run("build site --out never --dry-run --report report.json", 0);
    let report: serde_json::Value = {
        let bytes = fs::read(place.at("report.json")).expect("it was written");
        serde_json::from_slice(&bytes).expect("it is JSON")
    };
    let view = |side: &str, key: &str| report["pages"][0][side]["first"].pointer(key).cloned();
    let row = page.lines().find(|line| line.starts_with("  first view "));
    let told: Vec<&str> = row.into_iter().flat_map(str::split_whitespace).skip(2).collect();
    for (at, key) in ["/requests", "/bytes/gzip", "/bytes/br"].into_iter().enumerate() {
        let both = ["before", "after"].map(|side| view(side, key).expect("it is there").to_string());
        let said = [told[3 * at], told[3 * at + 2]].map(|number| number.replace(',', ""));
        assert_eq!(said, both, "{key}: {page}");
    }
    let list = page.split_once("\nwhat it requests:\n").map(|(_, list)| list);
    let list = list.unwrap_or_else(|| panic!("{page}"));
    assert!(
        list.contains("  embed    site.css: ") && list.contains("  inline   disc.png: "),
        "{page}"
    );
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    // The options of a build count.
    let (skipped, _) = place.run("explain site site.css --skip all", 0);
    assert!(skipped.contains("\n  keep     --skip minify"), "{skipped}");
    let (left_out, _) = place.run("explain site disc.png --exclude disc.png", 0);
    assert!(
        left_out.contains("keep     left out by --include or --exclude"),
        "{left_out}"
    );
    assert_eq!(
        differences(&before, &tree(&place.at("site"), false)),
        Vec::<String>::new()
    );
    assert!(!place.at("out").exists());
    place.put("site/wide.html", b"\xff\xfe<\0p\0>\0");
    let (wide, _) = place.run("explain site wide.html", 0);
    assert!(
        wide.contains("keep     in UTF-16, which is not edited") && wide.contains("note     utf16-page: "),
        "{wide}"
    );
}

#[test]
fn explain_helps_with_names() {
    let place = Place::new();
    place.put("site/img/deep.png", b"x");
    for (path, said) in [
        (
            "disk.png",
            "disk.png: SITE has no such file; did you mean disc.png?",
        ),
        ("site/disk.png", "did you mean disc.png?"),
        ("/deep.png", "did you mean img/deep.png?"),
        ("zebra", "zebra: SITE has no such file\n"),
        ("img", "img is a folder without index.html: name a file in it"),
        ("/img/", "/img/ is a folder without index.html"),
        ("../site", "../site: SITE has no such file"),
        ("%1b[31m", "SITE has no such file"),
    ] {
        place.refuses(&format!("explain site {path} --skip embed"), said);
    }
    place.refuses("explain nowhere index.html", "nowhere");
    place.refuses("explain site", "<PATH>");
}
