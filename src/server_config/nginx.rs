//! nginx: one file for `/etc/nginx/conf.d/`, with the maps that belong to the `http` block and a `server`.
//!
//! What it rests on, as tried with 1.22: `try_files` changes `$uri` without a second look for a location, `add_header`
//! leaves out an empty value, `map` keeps its first match among patterns, a variable of `map` is computed once unless it
//! is volatile.

use std::fmt::Write as _;

use super::{Context, Written};
use crate::deployed::rules::{Dialect, escape};
use crate::deployed::{Coded, ERROR_PAGE, PRIVATE};

pub(super) fn write(context: &Context<'_>) -> Vec<Written> {
    let id = &context.id;
    let mount = context.mount();
    let mut out = context.preface(
        "#",
        &[
            "nginx for a site that fewer built. Put it into /etc/nginx/conf.d/ and run `nginx -t`.",
            "",
            "nginx 1.22 takes br before gzip, whatever the q-values above 0 say; q=0 refuses a coding.",
        ],
    );
    maps(&mut out, context);

    let listen = match (&context.address, context.port) {
        (Some(address), Some(port)) => format!("{address}:{port}"),
        (_, port) => port.unwrap_or(80).to_string(),
    };
    let host = context.wishes.host.as_deref().unwrap_or("_");
    let _ = write!(
        out,
        r#"
server {{
    listen {listen};
    server_name {host};
    root "{}";

    # Redirects keep the scheme, host and port that the visitor used, behind a proxy too.
    absolute_redirect off;
    server_tokens off;
    # A tag is the time and size of the file that is sent, so each coding has its own.
    etag on;
    # Charsets stand in the types below: a header wins over the page, so only those stand there that change nothing.
    charset off;
"#,
        context.root
    );
    types(&mut out, context);
    codings(&mut out, context);
    let file = if mount.is_empty() {
        "$uri".to_string()
    } else {
        format!("$fewer_{id}_file")
    };
    let _ = write!(
        out,
        r#"
    # The address as it was asked for, decoded: below, $uri becomes the name of the file.
    set $fewer_{id}_path $uri;
    # On every answer, a 404 as well: that one must not stay in a cache.
    add_header Cache-Control $fewer_{id}_cache always;
"#
    );
    for (at, extra) in context.extras().iter().enumerate() {
        let _ = writeln!(out, "    add_header \"{}\" $fewer_{id}_h{at} always;", extra.name);
    }
    if !context.links(Dialect::Bytes, "/", "").is_empty() {
        let _ = writeln!(out, "    add_header Link $fewer_{id}_link always;");
    }
    if context.deployed.error_page {
        let _ = writeln!(out, "    error_page 404 {mount}/{ERROR_PAGE};");
    }
    if !mount.is_empty() {
        let _ = write!(
            out,
            "\n    location = {mount} {{\n        rewrite ^ {mount}/ permanent;\n    }}\n    location / {{\n        return 404;\n    }}\n"
        );
    }
    let indexes: Vec<String> = context
        .deployed
        .indexes
        .iter()
        .map(|name| format!("        if (-f $document_root{file}/{name}) {{\n            rewrite \"^([^\\x0a\\x0d]*[^/])$\" $1/ permanent;\n        }}\n"))
        .collect();
    let folder: Vec<String> = context
        .deployed
        .indexes
        .iter()
        .map(|name| format!("{}{name}", braced(&file)))
        .collect();
    let private: Vec<String> = PRIVATE.iter().map(|name| escape(name, Dialect::Bytes)).collect();
    let modifier = if mount.is_empty() { "" } else { "^~ " };
    let _ = write!(
        out,
        r#"
    location {modifier}{mount}/ {{
        # A folder is redirected to its address with the slash, so that its page's relative references hold.
{}        # Then clean addresses: /about is about.html.
        try_files {file} {file}.html =404;

        location ~ "/$" {{
            # No listing: a folder without a page is a 404.
            try_files {} =404;
        }}
        # Dot files are not for visitors, but for /.well-known/ (RFC 8615).
        location ~ "(?s)^{mount}(?:/\.well-known(?=/))?+(?:/.*)?/\." {{
            return 404;
        }}
        # What static hosts read themselves.
        location ~ "^{mount}/(?:{})\z" {{
            return 404;
        }}
{}    }}
}}
"#,
        indexes.concat(),
        if folder.is_empty() {
            "/ ".trim().to_string()
        } else {
            folder.join(" ")
        },
        private.join("|"),
        foreign(context, &file),
    );
    vec![Written {
        name: "nginx.conf",
        text: out,
    }]
}

/// `$uri` as `${uri}`, so that letters may follow.
fn braced(variable: &str) -> String {
    format!("${{{}}}", variable.trim_start_matches('$'))
}

fn maps(out: &mut String, context: &Context<'_>) {
    let id = &context.id;
    let mount = context.mount();
    let links = context.links(Dialect::Bytes, "/", "");
    if links.has('$')
        || context.extras().iter().any(|extra| extra.value.contains('$'))
        || context.caches().iter().any(|(_, value)| value.contains('$'))
    {
        let _ = writeln!(
            out,
            "\n# nginx has no other way to write this sign in a value.\ngeo $fewer_{id}_dollar {{\n    default \"$\";\n}}"
        );
    }
    if !mount.is_empty() {
        let _ = writeln!(
            out,
            "\n# The path of the file below the root.\nmap $uri $fewer_{id}_file {{\n    volatile;\n    default $uri;\n    \"~(?s)^{}(?<fewer_{id}_rest>/.*)\\z\" $fewer_{id}_rest;\n}}",
            escape(mount, Dialect::Bytes)
        );
    }
    let rule = |at: usize| context.deployed.rules.0[at].regex(&context.wishes.prefix, "", Dialect::Bytes);
    for (at, extra) in context.extras().iter().enumerate() {
        let _ = writeln!(
            out,
            "\n# {}: {}\nmap $fewer_{id}_path $fewer_{id}_h{at} {{\n    default \"\";",
            super::printable(&context.deployed.rules.0[extra.rule].shown),
            extra.name
        );
        for &later in &extra.detached {
            let _ = writeln!(out, "    \"~{}\" \"\";", rule(later));
        }
        let _ = writeln!(
            out,
            "    \"~{}\" \"{}\";\n}}",
            rule(extra.rule),
            value(extra.value, id)
        );
    }
    if !links.is_empty() {
        let _ = writeln!(
            out,
            "\n# The stylesheets that a page waits for: browsers ask for them before they have read it.\nmap $uri $fewer_{id}_link {{\n    default \"\";"
        );
        for (pattern, text) in &links.some {
            let _ = writeln!(out, "    \"~{pattern}\" \"{}\";", value(text, id));
        }
        if let Some(text) = &links.most {
            let _ = writeln!(
                out,
                "    \"~*\\.(?:{})\\z\" \"{}\";",
                context.pages(),
                value(text, id)
            );
        }
        out.push_str("}\n");
    }
    let _ = writeln!(
        out,
        "\n# Plain files are fresh for a while, pages are asked for on every view (a 304 if they are the same).\nmap $uri $fewer_{id}_plain {{\n    default \"{}\";\n    \"~*\\.(?:{})\\z\" \"no-cache\";\n}}",
        context.fresh(),
        context.pages()
    );
    let mut last = "plain";
    let caches = context.caches();
    if !caches.is_empty() {
        let _ = writeln!(
            out,
            "\n# What the site's own _headers say; the last rule counts.\nmap $fewer_{id}_path $fewer_{id}_own {{\n    default $fewer_{id}_plain;"
        );
        for (at, text) in caches.iter().rev() {
            let _ = writeln!(out, "    \"~{}\" \"{}\";", rule(*at), value(text, id));
        }
        out.push_str("}\n");
        last = "own";
    }
    if let Some(pattern) = context.immutable(Dialect::Bytes, "") {
        let _ = writeln!(
            out,
            "\n# A name that stands for its content never means anything else.\nmap $uri $fewer_{id}_fresh {{\n    default $fewer_{id}_{last};\n    \"~{pattern}\" \"{}\";\n}}",
            context.for_ever()
        );
        if !caches.is_empty() {
            let _ = writeln!(
                out,
                "\n# Unless the site wants it kept out of caches.\nmap $fewer_{id}_own $fewer_{id}_kept {{\n    default $fewer_{id}_fresh;\n    \"~*no-store|private\" $fewer_{id}_own;\n}}"
            );
            last = "kept";
        } else {
            last = "fresh";
        }
    }
    let _ = writeln!(
        out,
        "\nmap $status $fewer_{id}_cache {{\n    default $fewer_{id}_{last};\n    \"~^[45]\" \"no-cache\";\n}}"
    );
}

/// A value in double quotes.
fn value(text: &str, id: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '$' => out.push_str(&format!("${{fewer_{id}_dollar}}")),
            _ => out.push(c),
        }
    }
    out
}

fn types(out: &mut String, context: &Context<'_>) {
    out.push_str("\n    types {\n");
    for (content_type, extensions) in context.types() {
        let _ = writeln!(out, "        \"{content_type}\" {};", extensions.join(" "));
    }
    out.push_str("    }\n    default_type application/octet-stream;\n");
}

fn codings(out: &mut String, context: &Context<'_>) {
    let _ = write!(
        out,
        "\n    # Caches between must keep codings apart; Varnish and other proxies get codings as well (they send Via).\n    gzip_vary on;\n    gzip_proxied any;\n    gzip_http_version 1.0;\n"
    );
    if context.sends(Coded::Brotli) {
        out.push_str("    # Needs the module brotli_static (Debian: libnginx-mod-http-brotli-static); else write this with --codings gzip.\n    brotli_static on;\n");
    }
    if context.sends(Coded::Zstd) {
        out.push_str(
            "    # Needs the module zstd-nginx-module, which Debian 12 does not have.\n    zstd_static on;\n",
        );
    } else if context.deployed.codings.contains(&Coded::Zstd) {
        out.push_str("    # There are .zst files: where zstd-nginx-module is loaded, write this with --codings br,zstd,gzip.\n");
    }
    if context.sends(Coded::Gzip) {
        out.push_str("    gzip_static on;\n");
    }
    let mut types: Vec<String> = Vec::new();
    for (content_type, extensions) in context.types() {
        let compressible = extensions
            .iter()
            .any(|extension| context.deployed.compressible.contains(extension));
        // nginx has this one without being told.
        if compressible && content_type != "text/html" {
            types.push(format!("\"{content_type}\""));
        }
    }
    let _ = write!(
        out,
        "    # What has no variant, as it was left out of the build or its coding is missing, is packed on the way.\n    gzip on;\n    gzip_comp_level 6;\n    gzip_min_length 1000;\n    gzip_types\n        {};\n",
        types.join("\n        ")
    );
}

/// Files with a neighbour that looks like a variant and was not made as one: sent as they are.
fn foreign(context: &Context<'_>, file: &str) -> String {
    if context.deployed.foreign.is_empty() || context.codings.is_empty() {
        return String::new();
    }
    let names: Vec<String> = context
        .deployed
        .foreign
        .iter()
        .map(|path| escape(&String::from_utf8_lossy(path.as_bytes()), Dialect::Bytes))
        .collect();
    let mut off = String::new();
    for (coding, directive) in [
        (Coded::Brotli, "brotli_static"),
        (Coded::Zstd, "zstd_static"),
        (Coded::Gzip, "gzip_static"),
    ] {
        if context.sends(coding) {
            off.push_str(&format!("            {directive} off;\n"));
        }
    }
    format!(
        "        # A file beside these has the name of a variant, but is a file of its own.\n        location ~ \"^{}/(?:{})\\z\" {{\n{off}            try_files {file} =404;\n        }}\n",
        escape(context.mount(), Dialect::Bytes),
        names.join("|")
    )
}
