//! Runs the real binary, and looks at folders.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use serde_json::Value;

/// `fewer` with its arguments, not yet run.
pub(crate) fn command<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fewer"));
    command.args(args).env_remove("NO_COLOR");
    // Without a home there is no cache that tests would fill.
    command.env_remove("HOME").env_remove("XDG_CACHE_HOME");
    command
}

/// Runs `fewer` and expects this exit code.
pub(crate) fn run<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>, code: i32) -> Output {
    let mut command = command(args);
    let output = command.output().expect("the binary was built with this test");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command:?}\n{stderr}");
    output
}

/// A successful build of `site` to `out`; returns what was printed and the report.
pub(crate) fn build(site: &Path, out: &Path, args: &[&str]) -> (Output, Value) {
    let folder = tempfile::tempdir().expect("a place for the report");
    let report = folder.path().join("report.json");
    let mut all: Vec<&OsStr> = vec![
        OsStr::new("build"),
        site.as_os_str(),
        OsStr::new("--out"),
        out.as_os_str(),
    ];
    all.extend([OsStr::new("--report"), report.as_os_str()]);
    all.extend(args.iter().map(OsStr::new));
    let output = run(all, 0);
    let report = fs::read(&report).expect("a build with --report writes it");
    (
        output,
        serde_json::from_slice(&report).expect("the report is JSON"),
    )
}

/// A small site in a folder of its own, which also holds what a test writes.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let place = Place {
            folder: tempfile::tempdir().expect("a place for the test"),
        };
        for (path, file) in tree(&fixture("css-images/site"), false) {
            place.put(&format!("site/{path}"), &file.bytes);
        }
        place
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        let at = self.at(path);
        fs::create_dir_all(at.parent().expect("it lies in the place")).expect("a folder of the place");
        fs::write(at, bytes).expect("a file of the place");
    }

    /// Arguments with `@` standing for the place.
    pub(crate) fn args(&self, line: &str) -> Vec<OsString> {
        let whole = |word: &str| match word.strip_prefix('@') {
            Some(path) => self.at(path).into_os_string(),
            None => word.into(),
        };
        line.split_whitespace().map(whole).collect()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("the place");
        let name = |entry: std::io::Result<fs::DirEntry>| {
            let name = entry.expect("an entry").file_name();
            name.into_string().expect("a name that a test gave")
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    /// Runs a line in the place, expects exit status 2 and this on standard error, and that nothing at all was written.
    #[track_caller]
    pub(crate) fn refuses(&self, line: &str, said: &str) {
        let before = (self.names(), tree(self.folder.path(), false));
        let output = command(self.args(line))
            .current_dir(self.folder.path())
            .output()
            .expect("the binary was built with this test");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{line}");
        assert!(stderr.contains(said), "{line}: {stderr:?} does not say {said:?}");
        assert!(!stderr.contains("panicked"), "{line}: {stderr}");
        assert_eq!(self.names(), before.0, "{line}");
        let after = tree(self.folder.path(), false);
        assert_eq!(differences(&before.1, &after), Vec::<String>::new(), "{line}");
    }
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// One file of a folder, as a web server or a later copy would see it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    pub(crate) modified: SystemTime,
    pub(crate) readonly: bool,
}

pub(crate) type Tree = BTreeMap<String, File>;

/// All files below a folder by their path in it. Links to files are followed; with `links`, those to folders too,
/// except into a folder that is being walked.
pub(crate) fn tree(root: &Path, links: bool) -> Tree {
    fn walk(folder: &Path, prefix: &str, links: bool, above: &mut Vec<PathBuf>, tree: &mut Tree) {
        let real = fs::canonicalize(folder).expect("a folder that was just listed");
        if above.contains(&real) {
            return;
        }
        above.push(real);
        for entry in fs::read_dir(folder).expect("a folder that was just listed") {
            let entry = entry.expect("an entry");
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let is_link = entry.file_type().expect("a type").is_symlink();
            let Ok(metadata) = fs::metadata(entry.path()) else {
                continue;
            };
            if metadata.is_dir() {
                if links || !is_link {
                    walk(&entry.path(), &format!("{path}/"), links, above, tree);
                }
                continue;
            }
            let file = File {
                bytes: fs::read(entry.path()).expect("a readable file"),
                modified: metadata.modified().expect("a system with modification times"),
                readonly: metadata.permissions().readonly(),
            };
            tree.insert(path, file);
        }
        above.pop();
    }
    let mut tree = Tree::new();
    walk(root, "", links, &mut Vec::new(), &mut tree);
    tree
}

/// Says where two trees differ, by path; the bytes would drown the message.
pub(crate) fn differences(left: &Tree, right: &Tree) -> Vec<String> {
    let mut paths: Vec<&String> = left.keys().chain(right.keys()).collect();
    paths.sort();
    paths.dedup();
    let differ = |path: &&String| -> Option<String> {
        match (left.get(*path), right.get(*path)) {
            (Some(a), Some(b)) if a == b => None,
            (Some(a), Some(b)) if a.bytes == b.bytes => Some(format!("{path}: time or mode")),
            (Some(_), Some(_)) => Some(format!("{path}: bytes")),
            (Some(_), None) => Some(format!("{path}: only left")),
            (None, _) => Some(format!("{path}: only right")),
        }
    };
    paths.iter().filter_map(differ).collect()
}
