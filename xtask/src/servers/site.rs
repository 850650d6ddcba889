//! A site with every kind of file that servers treat differently, built by `fewer`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

/// A name that the manifest calls immutable.
pub(super) const IMMUTABLE: &str = "css/site.0123456789abcdef.css";

/// Builds the site below `work`.
pub(super) fn build(program: &Path, work: &Path) -> anyhow::Result<PathBuf> {
    let (site, out) = (work.join("site"), work.join("out"));
    let page = |name: &str| {
        let text = "words that a coding shortens ".repeat(100);
        format!("<!doctype html><meta charset=utf-8><title>{name}</title><p>{text}")
    };
    let text = |path: &str, text: &str| -> anyhow::Result<()> {
        let path = site.join(path);
        fs::create_dir_all(path.parent().unwrap_or(work))?;
        Ok(fs::write(path, text)?)
    };
    for name in [
        "index.html",
        "about.html",
        "docs/index.html",
        "docs.html",
        "posts.html",
        "posts/a.html",
        "a b.html",
        "\u{e9}.html",
        "it's \"$uri\".html",
        "404.html",
    ] {
        text(name, &page(name))?;
    }
    text("css/a.css", &"p { color: #123456 }\n".repeat(100))?;
    text(IMMUTABLE, &"p { color: #654321 }\n".repeat(100))?;
    text(
        "js/a.mjs",
        &"console.log('words that a coding shortens')\n".repeat(50),
    )?;
    text(
        "feed.xml",
        &format!("<?xml version=\"1.0\"?><a>{}</a>", "words ".repeat(500)),
    )?;
    text("notes.txt", &"plain words\n".repeat(200))?;
    text("img/logo.png", "0123456789")?;
    text("x.avif", "avif")?;
    text(".git/config", "secret")?;
    text(".well-known/security.txt", "Contact: mailto:a@example.org\n")?;
    text("data.tar", &"tar".repeat(1000))?;
    text("data.tar.gz", "a file of its own")?;
    text(
        "_headers",
        "/*\n  X-Frame-Options: DENY\n/img/*\n  Cache-Control: max-age=5\n  Access-Control-Allow-Origin: *\n/docs/\n  X-Quoted: say \"$x\" %y ' \\\n",
    )?;
    let built = Command::new(program)
        .arg("build")
        .arg(&site)
        .arg("--out")
        .arg(&out)
        .args(["-q", "--skip", "all", "--zstd"])
        .status()?;
    if !built.success() {
        bail!("the site does not build");
    }
    let manifest = format!(r#"{{"schema":1,"files":{{}},"immutable":["{IMMUTABLE}"]}}"#);
    fs::write(out.join("fewer-manifest.json"), manifest)?;
    Ok(out)
}
