//! lighttpd 1.4: a configuration and a script for its module magnet, as lighttpd itself sends no file in a coding that lies
//! beside it.
//!
//! The script is fixed text; what is known of the site stands in a table over it, every string of which is written with
//! decimal escapes wherever it is not a plain letter, digit or sign.

use std::fmt::Write as _;

use super::{Context, Written};
use crate::deployed::{ERROR_PAGE, PRIVATE};
use crate::policy::headers::Piece;

const SCRIPT: &str = include_str!("lighttpd.lua");

/// What the configuration calls the script; both go into one folder.
pub(super) const SCRIPT_NAME: &str = "fewer.lua";

pub(super) fn write(context: &Context<'_>) -> Vec<Written> {
    let mut out = context.preface(
        "#",
        &[
            "lighttpd 1.4.60 or later for a site that fewer built, with the module magnet (Debian: lighttpd-modules-lua).",
            "Put this and fewer.lua into /etc/lighttpd/ and run `lighttpd -tt -f /etc/lighttpd/lighttpd.conf`.",
            "",
            "The script chooses codings by their q-values, as lighttpd sends no prepared ones by itself. What has no variant is",
            "sent as it is: packing on the way would change the coding behind the script's back.",
        ],
    );
    let _ = write!(
        out,
        "server.modules += ( \"mod_magnet\" )\nserver.document-root = \"{}\"\n",
        context.root
    );
    if let Some(port) = context.port {
        let _ = writeln!(out, "server.port = {port}");
    }
    if let Some(address) = &context.address {
        let _ = writeln!(out, "server.bind = \"{address}\"");
    }
    out.push_str("# A tag is the time and size of the file that is sent, so each coding has its own.\netag.use-inode = \"disable\"\netag.use-mtime = \"enable\"\netag.use-size = \"enable\"\n");
    let script = format!(
        "magnet.attract-physical-path-to = ( \"{}/{SCRIPT_NAME}\" )",
        context.folder
    );
    match &context.wishes.host {
        Some(host) => {
            let _ = writeln!(out, "$HTTP[\"host\"] == \"{host}\" {{\n    {script}\n}}");
        }
        None => {
            let _ = writeln!(out, "{script}");
        }
    }
    out.push_str("mimetype.assign = (\n");
    for (content_type, extensions) in context.types() {
        for extension in extensions {
            let _ = writeln!(out, "    \".{extension}\" => \"{content_type}\",");
        }
    }
    out.push_str("    \"\" => \"application/octet-stream\"\n)\n");

    let mut lua = context.preface(
        "--",
        &["Part of the configuration of lighttpd for a site that fewer built."],
    );
    table(&mut lua, context);
    lua.push_str(SCRIPT);
    vec![
        Written {
            name: "lighttpd.conf",
            text: out,
        },
        Written {
            name: SCRIPT_NAME,
            text: lua,
        },
    ]
}

fn table(out: &mut String, context: &Context<'_>) {
    let deployed = context.deployed;
    let _ = writeln!(
        out,
        "\nlocal root = {}\nlocal prefix = {}",
        string(&context.root),
        string(&context.wishes.prefix)
    );
    let _ = writeln!(
        out,
        "local fresh = {}\nlocal for_ever = {}",
        string(&context.fresh()),
        string(&context.for_ever())
    );
    let _ = writeln!(
        out,
        "local error_page = {}",
        match deployed.error_page {
            true => string(ERROR_PAGE),
            false => "nil".to_string(),
        }
    );
    let list =
        |words: &mut dyn Iterator<Item = String>| format!("{{ {} }}", words.collect::<Vec<_>>().join(", "));
    let _ = writeln!(
        out,
        "local indexes = {}",
        list(&mut deployed.indexes.iter().map(|name| string(name)))
    );
    let set =
        |words: &mut dyn Iterator<Item = String>| list(&mut words.map(|word| format!("[{word}] = true")));
    let _ = writeln!(
        out,
        "local private = {}",
        set(&mut PRIVATE.iter().map(|name| string(name)))
    );
    let _ = writeln!(
        out,
        "local pages = {}",
        set(&mut context.pages().split('|').map(string))
    );
    let _ = writeln!(
        out,
        "local codings = {}",
        list(&mut context.codings.iter().map(|coding| format!(
            "{{ {}, {} }}",
            string(coding.token()),
            string(coding.suffix())
        )))
    );
    let bytes = |path: &crate::site::SitePath| bytes(path.as_bytes());
    let _ = writeln!(
        out,
        "local foreign = {}",
        set(&mut deployed.foreign.iter().map(bytes))
    );
    let types = context.types();
    let _ = writeln!(
        out,
        "local types = {}",
        list(&mut types.iter().flat_map(|(content_type, extensions)| {
            extensions
                .iter()
                .map(move |extension| format!("[{}] = {}", string(extension), string(content_type)))
        }))
    );
    let _ = writeln!(
        out,
        "-- Nil: every name of the form is immutable.\nlocal immutable = {}",
        match (deployed.immutable.is_empty(), deployed.lookalikes) {
            (false, false) => "nil".to_string(),
            _ => set(&mut deployed.immutable.iter().map(bytes)),
        }
    );
    let mut values: Vec<String> = Vec::new();
    let mut pages = Vec::new();
    for page in deployed.links.keys() {
        let value = context.link_of(page);
        if value.is_empty() {
            continue;
        }
        let known = values.iter().position(|known| *known == value);
        let at = known.unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        });
        pages.push(format!("[{}] = {}", bytes(page), at + 1));
    }
    let _ = writeln!(
        out,
        "-- The stylesheets that a page waits for: browsers ask for them before they have read it.\nlocal links = {}\nlocal link_of = {}",
        list(&mut values.iter().map(|value| string(value))),
        list(&mut pages.into_iter())
    );
    out.push_str("local rules = {\n");
    for rule in &deployed.rules.0 {
        let headers = rule
            .headers
            .iter()
            .map(|(name, value)| format!("{{ {}, {} }}", string(name), string(value)));
        let detached = rule
            .detached
            .iter()
            .map(|name| string(&name.to_ascii_lowercase()));
        let _ = writeln!(
            out,
            "    {{ {}, {}, {} }},",
            string(&pattern(&rule.pattern)),
            list(&mut { detached }),
            list(&mut { headers })
        );
    }
    out.push_str("}\n\n");
}

/// As a pattern of Lua.
fn pattern(pieces: &[Piece]) -> String {
    let mut out = String::from("^");
    for piece in pieces {
        match piece {
            Piece::Splat => out.push_str(".*"),
            Piece::Placeholder => out.push_str("[^/]+"),
            Piece::Text(text) => {
                for c in text.chars() {
                    // A sign before anything that is no letter or digit takes its meaning away.
                    if c.is_ascii() && !c.is_ascii_alphanumeric() {
                        out.push('%');
                    }
                    out.push(c);
                }
            }
        }
    }
    out.push('$');
    out
}

/// A string of Lua.
fn string(text: &str) -> String {
    bytes(text.as_bytes())
}

fn bytes(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in text {
        match byte {
            b' '..=b'~' if byte != b'"' && byte != b'\\' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:03}");
            }
        }
    }
    out.push('"');
    out
}
