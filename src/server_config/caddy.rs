//! Caddy 2: a Caddyfile.
//!
//! What it rests on, as tried with 2.6.2: `route` keeps the order of its lines; `file_server` leaves a type alone that is set
//! already, weighs codings by their q-values and redirects a folder to its address with the slash; headers that were set
//! before an error are still there when it is handled. Its expressions are RE2: no look-ahead, text as characters.

use std::fmt::Write as _;

use super::{Context, Written};
use crate::deployed::rules::{Dialect, escape};
use crate::deployed::{ERROR_PAGE, PRIVATE};
use crate::site::SitePath;

/// Since this version an ETag can be read from a file beside the one that is sent.
const ETAG_FILES: (u32, u32) = (2, 9);

pub(super) fn write(context: &Context<'_>) -> Vec<Written> {
    let version = context.wishes.version.unwrap_or((2, 6));
    let mut out = context.preface(
        "#",
        &[
            "Caddy 2 for a site that fewer built: put it into /etc/caddy/Caddyfile and run `caddy validate`.",
            &format!(
                "Written for Caddy {}.{} (--server-version).",
                version.0, version.1
            ),
        ],
    );
    let mount = context.mount();
    let site = match (&context.wishes.host, context.port) {
        (Some(host), None) => host.clone(),
        (Some(host), Some(port)) => format!("http://{host}:{port}"),
        (None, port) => format!("http://:{}", port.unwrap_or(80)),
    };
    let _ = writeln!(out, "{site} {{");
    if let Some(address) = &context.address {
        let _ = writeln!(out, "\tbind {address}");
    }
    let _ = writeln!(out, "\troot * `{}`", context.root);
    if mount.is_empty() {
        out.push_str("\troute {\n");
        route(&mut out, context, version);
        out.push_str("\t}\n");
    } else {
        let _ = write!(
            out,
            "\t@fewer_mount path {mount}\n\tredir @fewer_mount {mount}/ 301\n\t# The rules below see paths without {mount}.\n\thandle_path {mount}/* {{\n\t\troute {{\n"
        );
        route(&mut out, context, version);
        out.push_str("\t\t}\n\t}\n\thandle {\n\t\terror 404\n\t}\n");
    }
    let error = match context.deployed.error_page {
        true => {
            let content_type = &context.deployed.types["html"];
            let precompressed = precompressed(context);
            let link = context.link_of(&SitePath::new(ERROR_PAGE));
            let link = match value(&link).filter(|_| !link.is_empty()) {
                Some(value) => format!("\t\t\theader +Link {value}\n"),
                None => String::new(),
            };
            format!(
                "\t\t@fewer_missing expression `{{http.error.status_code}} == 404`\n\t\thandle @fewer_missing {{\n\t\t\trewrite * /{ERROR_PAGE}\n\t\t\theader Content-Type `{content_type}`\n{link}\t\t\tfile_server{precompressed}\n\t\t}}\n"
            )
        }
        false => String::new(),
    };
    let _ = write!(
        out,
        "\thandle_errors {{\n\t\t# What was set for the file that is missing; a 404 must not stay in a cache.\n\t\theader Cache-Control no-cache\n\t\theader -Content-Type\n{error}\t}}\n}}\n"
    );
    vec![Written {
        name: "Caddyfile",
        text: out,
    }]
}

fn precompressed(context: &Context<'_>) -> String {
    if context.codings.is_empty() {
        return String::new();
    }
    let tokens: Vec<&str> = context.codings.iter().map(|coding| coding.token()).collect();
    format!(" {{\n\t\t\tprecompressed {}\n\t\t}}", tokens.join(" "))
}

fn route(out: &mut String, context: &Context<'_>, version: (u32, u32)) {
    let private: Vec<String> = PRIVATE.iter().map(|name| format!("/{name}")).collect();
    let _ = write!(
        out,
        r"		# Dot files are not for visitors, but for /.well-known/ (RFC 8615); nor what hosts read themselves.
		@fewer_dot {{
			path_regexp ^/(?s:.*/)?\.
			not path /.well-known/*
		}}
		error @fewer_dot 404
		@fewer_known path_regexp ^/\.well-known/(?s:.*/)?\.
		error @fewer_known 404
		@fewer_private path {}
		error @fewer_private 404
",
        private.join(" ")
    );
    for (at, index) in context.deployed.indexes.iter().enumerate() {
        let _ = write!(
            out,
            "\t\t@fewer_index{at} {{\n\t\t\tpath */\n\t\t\tfile {{path}}{index}\n\t\t}}\n\t\trewrite @fewer_index{at} {{path}}{index}\n"
        );
    }
    let folders: Vec<String> = context
        .deployed
        .indexes
        .iter()
        .map(|index| format!(" {{path}}/{index}"))
        .collect();
    let _ = write!(
        out,
        "\t\t# Clean addresses: /about is about.html, where neither a file nor a folder with a page has that name.\n\t\t@fewer_clean {{\n\t\t\tnot path */\n\t\t\tnot file {{path}}{}\n\t\t\tfile {{path}}.html\n\t\t}}\n\t\trewrite @fewer_clean {{path}}.html\n",
        folders.concat()
    );
    out.push_str("\t\t# A browser must not guess what a file without a known type is.\n\t\t@fewer_file file {path}\n\t\theader @fewer_file Content-Type application/octet-stream\n");
    out.push_str("\t\t# Charsets win over the page, so only those are told that change nothing.\n");
    for (at, (content_type, extensions)) in context.types().iter().enumerate() {
        let globs: Vec<String> = extensions
            .iter()
            .map(|extension| format!("*.{extension}"))
            .collect();
        let _ = writeln!(
            out,
            "\t\t@fewer_type{at} path {}\n\t\theader @fewer_type{at} Content-Type `{content_type}`",
            globs.join(" ")
        );
    }
    let rule = |at: usize| context.deployed.rules.0[at].regex("/", "", Dialect::Characters);
    let _ = write!(
        out,
        "\t\t# Plain files are fresh for a while, pages are asked for on every view (a 304 if they are the same).\n\t\theader Cache-Control `{}`\n\t\t@fewer_page path_regexp \\.(?i:{})\\z\n\t\theader @fewer_page Cache-Control no-cache\n",
        context.fresh(),
        context.pages()
    );
    let mut kept = String::new();
    for (at, text) in context.caches() {
        let Some(value) = value(text) else {
            let _ = writeln!(
                out,
                "\t\t# Not carried over, as it holds a brace: the Cache-Control of rule {}",
                at + 1
            );
            continue;
        };
        let _ = writeln!(
            out,
            "\t\t@fewer_own{at} path_regexp {}\n\t\theader @fewer_own{at} Cache-Control {value}",
            rule(at)
        );
        if crate::deployed::keeps_away(text) {
            let _ = writeln!(kept, "\t\t\tnot path_regexp {}", rule(at));
        }
    }
    if let Some(pattern) = context.immutable(Dialect::Characters, "") {
        let _ = writeln!(
            out,
            "\t\t# A name that stands for its content never means anything else; unless the site wants it kept out of caches.\n\t\t@fewer_immutable {{\n\t\t\tpath_regexp {pattern}\n{kept}\t\t}}\n\t\theader @fewer_immutable Cache-Control `{}`",
            context.for_ever()
        );
    }
    for (at, extra) in context.extras().iter().enumerate() {
        let shown = super::printable(&context.deployed.rules.0[extra.rule].shown);
        let Some(value) = value(extra.value) else {
            let _ = writeln!(
                out,
                "\t\t# Not carried over, as its value holds a brace: {} of {shown}",
                extra.name
            );
            continue;
        };
        let but: String = extra
            .detached
            .iter()
            .map(|&later| format!("\t\t\tnot path_regexp {}\n", rule(later)))
            .collect();
        let _ = writeln!(
            out,
            "\t\t# {shown}\n\t\t@fewer_h{at} {{\n\t\t\tpath_regexp {}\n{but}\t\t}}\n\t\theader @fewer_h{at} +{} {value}",
            rule(extra.rule),
            extra.name
        );
    }
    links(out, context);
    if !context.deployed.foreign.is_empty() && !context.codings.is_empty() {
        let names: Vec<String> = context
            .deployed
            .foreign
            .iter()
            .map(|path| escape(&String::from_utf8_lossy(path.as_bytes()), Dialect::Characters))
            .collect();
        let _ = write!(
            out,
            "\t\t# A file beside these has the name of a variant, but is a file of its own.\n\t\t@fewer_foreign path_regexp ^/(?:{})\\z\n\t\tfile_server @fewer_foreign\n",
            names.join("|")
        );
    }
    if !context.codings.is_empty() {
        let _ = write!(
            out,
            "\t\t# Caddy says so only of what it sends in a coding; caches must know it of the file as it is, too.\n\t\t@fewer_coded path_regexp \\.(?i:{})\\z\n\t\theader @fewer_coded {{\n\t\t\tVary Accept-Encoding\n\t\t\tdefer\n\t\t}}\n",
            context.compressible()
        );
    }
    out.push_str("\t\t# What has no variant, as it was left out of the build or its coding is missing, is packed on the way.\n\t\tencode gzip\n");
    if version >= ETAG_FILES
        && context
            .deployed
            .files
            .iter()
            .any(|path| path.as_bytes().ends_with(b".etag"))
    {
        let server = precompressed(context).replace(
            " {\n",
            " {\n\t\t\t# Tags by content, from the files beside; a tag by time and size changes with every copy.\n\t\t\tetag_file_extensions .etag\n",
        );
        let _ = writeln!(out, "\t\tfile_server{server}");
    } else {
        let _ = writeln!(out, "\t\tfile_server{}", precompressed(context));
    }
}

/// The stylesheets that a page waits for.
fn links(out: &mut String, context: &Context<'_>) {
    let links = context.links(Dialect::Characters, "/", "");
    if links.is_empty() {
        return;
    }
    out.push_str(
        "\t\t# The stylesheets that a page waits for: browsers ask for them before they have read it.\n",
    );
    let mut but = String::new();
    for (at, (pattern, text)) in links.some.iter().enumerate() {
        let _ = writeln!(but, "\t\t\tnot path_regexp {pattern}");
        match value(text).filter(|_| !text.is_empty()) {
            Some(value) => {
                let _ = writeln!(
                    out,
                    "\t\t@fewer_link{at} {{\n\t\t\tfile {{path}}\n\t\t\tpath_regexp {pattern}\n\t\t}}\n\t\theader @fewer_link{at} +Link {value}"
                );
            }
            None if text.is_empty() => {}
            None => out.push_str("\t\t# Not carried over, as it holds a brace: the Link of some pages\n"),
        }
    }
    if let Some(value) = links.most.as_deref().and_then(value) {
        let _ = writeln!(
            out,
            "\t\t@fewer_link {{\n\t\t\tfile {{path}}\n\t\t\tpath_regexp \\.(?i:{})\\z\n{but}\t\t}}\n\t\theader @fewer_link +Link {value}",
            context.pages()
        );
    }
}

/// A value in backquotes, where nothing but braces has a meaning; `None` with one of those or a backquote.
fn value(text: &str) -> Option<String> {
    (!text.contains(['{', '}', '`'])).then(|| format!("`{text}`"))
}
