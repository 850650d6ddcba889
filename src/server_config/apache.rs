//! Apache 2.4: a virtual host, or the same rules as a `.htaccess`.
//!
//! What it rests on, as tried with 2.4.71: in a folder's context a rewritten address is looked up anew and its variables
//! come back as `REDIRECT_…`; a type given by `T` holds only in a round that rewrites nothing else; an address with `%` or `?`
//! in a name would be decoded twice, so such files are sent as they are.

use std::fmt::Write as _;

use super::{Context, Written};
use crate::deployed::rules::{Dialect, escape};
use crate::deployed::{Coded, ERROR_PAGE, PRIVATE};

/// What may stand behind the name of a file that is sent in a coding.
const TAIL: &str = r"(?:\.(?:br|zst|gz))?";

pub(super) fn write(context: &Context<'_>) -> Vec<Written> {
    let rules = rules(context);
    if context.wishes.htaccess {
        let mut out = context.preface(
            "#",
            &[
                "Apache 2.4, .htaccess for a site that fewer built: put it into the site's folder as `.htaccess`.",
                "It needs the modules rewrite, headers, mime and deflate, and `AllowOverride FileInfo Indexes Options=FollowSymLinks`.",
                "",
                "Of several codings br comes first, whatever the q-values above 0 say; q=0 refuses a coding.",
            ],
        );
        out.push_str("Options FollowSymLinks\n");
        out.push_str(&rules);
        return vec![Written {
            name: ".htaccess",
            text: out,
        }];
    }
    let mut out = context.preface(
        "#",
        &[
            "Apache 2.4, virtual host for a site that fewer built. `a2enmod rewrite headers deflate`, put this into",
            "/etc/apache2/sites-available/, `a2ensite` it and run `apachectl configtest`.",
            "",
            "Of several codings br comes first, whatever the q-values above 0 say; q=0 refuses a coding.",
        ],
    );
    let address = context.address.as_deref().unwrap_or("*");
    let port = context.port.unwrap_or(80);
    if context.port.is_some_and(|port| port != 80 && port != 443) {
        let listen = context
            .address
            .as_ref()
            .map_or_else(|| port.to_string(), |a| format!("{a}:{port}"));
        let _ = writeln!(out, "Listen {listen}");
    }
    let _ = writeln!(out, "<VirtualHost {address}:{port}>");
    let _ = writeln!(
        out,
        "    ServerName {}",
        context.wishes.host.as_deref().unwrap_or("localhost")
    );
    let root = &context.root;
    let mount = context.mount();
    if mount.is_empty() {
        let _ = writeln!(out, "    DocumentRoot \"{root}\"");
    } else {
        let _ = write!(
            out,
            "    # Below its path alone.\n    RedirectMatch 404 \"^(?!{}(?:/|$))\"\n    Alias \"{mount}\" \"{root}\"\n",
            escape(mount, Dialect::Bytes)
        );
    }
    let _ = write!(
        out,
        "    <Directory \"{root}\">\n        Options FollowSymLinks\n        AllowOverride None\n        Require all granted\n{}    </Directory>\n</VirtualHost>\n",
        indented(&rules)
    );
    vec![Written {
        name: "apache.conf",
        text: out,
    }]
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| {
            if line.is_empty() {
                "\n".to_string()
            } else {
                format!("        {line}\n")
            }
        })
        .collect()
}

/// Where a file stands, for a condition of mod_rewrite: `$1` is its path below the folder.
fn place(context: &Context<'_>) -> String {
    if context.wishes.htaccess && context.wishes.root.is_none() {
        format!("%{{DOCUMENT_ROOT}}{}", context.mount())
    } else {
        context.root.clone()
    }
}

fn rules(context: &Context<'_>) -> String {
    let mut out = String::new();
    let prefix = &context.wishes.prefix;
    let place = place(context);
    let indexes = context.deployed.indexes.join(" ");
    let _ = write!(
        out,
        "\n# No listing: a folder without a page is a 404.\nDirectoryIndex {}\nDirectorySlash Off\nFileETag MTime Size\n",
        if indexes.is_empty() { "disabled" } else { &indexes }
    );
    let mount = context.mount();
    if !mount.is_empty() {
        let _ = writeln!(
            out,
            "RedirectMatch 301 \"^{}$\" \"{mount}/\"",
            escape(mount, Dialect::Bytes)
        );
    }
    if context.deployed.error_page {
        let _ = writeln!(out, "ErrorDocument 404 {prefix}{ERROR_PAGE}");
    }
    let _ = write!(
        out,
        "\n# A charset wins over the page, so it is told only where it changes nothing.\nAddDefaultCharset Off\nRemoveEncoding .gz .br .zst .tgz\nRemoveLanguage .br\n"
    );
    for (content_type, extensions) in context.types() {
        let dotted: Vec<String> = extensions
            .iter()
            .map(|extension| format!(".{extension}"))
            .collect();
        let _ = writeln!(out, "AddType \"{content_type}\" {}", dotted.join(" "));
    }
    out.push_str("AddType application/octet-stream .br .zst\n");
    out.push_str("# A browser must not guess what a file without a known type is.\nHeader set Content-Type application/octet-stream \"expr=-z %{CONTENT_TYPE}\"\n");

    out.push_str("\nRewriteEngine On\n");
    let codings = &context.codings;
    let typed: Vec<(String, String)> = context
        .types()
        .into_iter()
        .filter_map(|(content_type, extensions)| {
            let compressible = |extension: &&String| context.deployed.compressible.contains(extension);
            let listed: Vec<&str> = extensions
                .iter()
                .filter(compressible)
                .map(String::as_str)
                .collect();
            (!listed.is_empty()).then(|| (content_type, listed.join("|")))
        })
        .collect();
    if !codings.is_empty() {
        let suffixes: Vec<&str> = codings.iter().map(|coding| &coding.suffix()[1..]).collect();
        let suffixes = suffixes.join("|");
        let _ = write!(
            out,
            "# Second round: the file in its coding has the type of what it unpacks to.\nRewriteCond %{{ENV:REDIRECT_FEWER_CODING}} ^$\nRewriteRule ^ - [S={}]\n",
            typed.len() + 1
        );
        for (content_type, extensions) in &typed {
            let _ = writeln!(
                out,
                "RewriteRule \"\\.(?i:{extensions})\\.(?:{suffixes})$\" - \"[T={content_type},E=no-gzip:1,E=no-brotli:1,END]\""
            );
        }
        out.push_str("RewriteRule ^ - [END]\n");
    }
    let private: Vec<String> = PRIVATE.iter().map(|name| escape(name, Dialect::Bytes)).collect();
    let _ = write!(
        out,
        "# Dot files are not for visitors, but for /.well-known/ (RFC 8615); nor what hosts read themselves.\nRewriteRule \"^(?:\\.well-known/)?+(?:.*/)?\\.\" - [R=404,END]\nRewriteRule \"^(?:{})$\" - [R=404,END]\n",
        private.join("|")
    );
    out.push_str(
        "# A folder with a page is redirected to its address with the slash; one without is nothing.\n",
    );
    for index in &context.deployed.indexes {
        let _ = write!(
            out,
            "RewriteCond \"{place}/$1/{index}\" -f\nRewriteRule \"^(.*[^/])$\" \"%{{REQUEST_URI}}/\" [R=301,L]\n"
        );
    }
    for index in &context.deployed.indexes {
        let _ = write!(
            out,
            "RewriteCond %{{REQUEST_URI}} \"![?%]\"\nRewriteCond \"{place}/$1{index}\" -f\nRewriteRule \"^((?:.*/)?)$\" \"%{{REQUEST_URI}}{index}\" [L]\n"
        );
    }
    let _ = write!(
        out,
        "# Clean addresses: /about is about.html, where neither a file nor a folder with a page has that name.\nRewriteCond %{{REQUEST_URI}} \"![?%]\"\nRewriteCond \"{place}/$1\" !-f\n"
    );
    for index in &context.deployed.indexes {
        let _ = writeln!(out, "RewriteCond \"{place}/$1/{index}\" !-f");
    }
    let _ = write!(
        out,
        "RewriteCond \"{place}/$1.html\" -f\nRewriteRule \"^(.*[^/])$\" \"%{{REQUEST_URI}}.html\" [L]\n"
    );
    for coding in codings {
        let (token, suffix) = (coding.token(), coding.suffix());
        let _ = write!(
            out,
            "RewriteCond %{{HTTP:Accept-Encoding}} \"(?i)(?:^|,)\\s*{}\\s*(?:;\\s*q=(?!0(?:\\.0*)?\\s*(?:,|$))[0-9.]+\\s*)?(?:,|$)\"\nRewriteCond %{{REQUEST_URI}} \"![?%]\"\nRewriteCond \"{place}/$1{suffix}\" -f\nRewriteRule \"^(.*\\.(?i:{}))$\" \"%{{REQUEST_URI}}{suffix}\" [E=FEWER_CODING:{token},L]\n",
            if *coding == Coded::Gzip {
                "(?:x-)?gzip"
            } else {
                token
            },
            context.compressible(),
        );
    }
    if !codings.is_empty() {
        let _ = write!(
            out,
            "\nHeader set Content-Encoding \"%{{REDIRECT_FEWER_CODING}}e\" env=REDIRECT_FEWER_CODING\n# Caches between must keep codings apart.\nHeader merge Vary Accept-Encoding \"expr=%{{REQUEST_URI}} =~ m#\\.(?i:{}){TAIL}$#\"\n",
            context.compressible()
        );
    }
    cache(&mut out, context);
    if context.wishes.htaccess && context.sends(Coded::Gzip) {
        // A .htaccess may not ask for the size of a file, and small ones would grow.
        return out;
    }
    let small = match context.wishes.htaccess {
        true => "",
        false => "    SetEnvIfExpr \"filesize(%{REQUEST_FILENAME}) -lt 1000\" no-gzip\n",
    };
    let filtered: Vec<String> = typed
        .iter()
        .map(|(content_type, _)| content_type.split(';').next().unwrap_or_default().to_string())
        .collect();
    let _ = write!(
        out,
        "\n# What has no variant, as it was left out of the build or its coding is missing, is packed on the way.\n<IfModule mod_deflate.c>\n{small}    AddOutputFilterByType DEFLATE {}\n    # It puts -gzip into the tag of what it packs, and does not know that tag when it is asked again.\n    RequestHeader edit* If-None-Match \"-gzip\\\"\" \"\\\"\"\n</IfModule>\n",
        filtered.join(" ")
    );
    out
}

fn cache(out: &mut String, context: &Context<'_>) {
    let rule = |at: usize| context.deployed.rules.0[at].regex(&context.wishes.prefix, TAIL, Dialect::Bytes);
    let _ = write!(
        out,
        "\n# Plain files are fresh for a while, pages are asked for on every view (a 304 if they are the same).\nHeader set Cache-Control \"{}\"\nHeader set Cache-Control \"no-cache\" \"expr=%{{REQUEST_URI}} =~ m#\\.(?i:{}){TAIL}$#\"\n",
        context.fresh(),
        context.pages()
    );
    let own: Vec<(String, String)> = context
        .caches()
        .iter()
        .map(|(at, text)| (rule(*at), value(text)))
        .collect();
    if !own.is_empty() {
        out.push_str("# What the site's own _headers say; the last rule counts.\n");
    }
    for (pattern, text) in &own {
        let _ = writeln!(
            out,
            "Header set Cache-Control \"{text}\" \"expr=%{{REQUEST_URI}} =~ m#{pattern}#\""
        );
    }
    if let Some(pattern) = context.immutable(Dialect::Bytes, TAIL) {
        let _ = write!(
            out,
            "# A name that stands for its content never means anything else; unless the site wants it kept out of caches.\nHeader set Cache-Control \"{}\" \"expr=%{{REQUEST_URI}} =~ m#{pattern}# && !(resp('Cache-Control') =~ m#no-store|private#i)\"\n",
            context.for_ever()
        );
    }
    let _ = write!(
        out,
        "# A 404 must not stay in a cache.\nHeader always unset Cache-Control\nHeader always set Cache-Control \"no-cache\" \"expr=%{{REQUEST_STATUS}} -ge 400\"\nHeader unset Cache-Control \"expr=%{{REQUEST_STATUS}} -ge 400\"\n"
    );
    for extra in context.extras() {
        let shown = super::printable(&context.deployed.rules.0[extra.rule].shown);
        let but: String = extra
            .detached
            .iter()
            .map(|&later| format!(" && !(%{{REQUEST_URI}} =~ m#{}#)", rule(later)))
            .collect();
        let _ = writeln!(
            out,
            "# {shown}\nHeader always add {} \"{}\" \"expr=%{{REQUEST_URI}} =~ m#{}#{but}\"",
            extra.name,
            value(extra.value),
            rule(extra.rule)
        );
    }
    links(out, context);
}

/// The stylesheets that a page waits for.
fn links(out: &mut String, context: &Context<'_>) {
    let before = escape(&context.wishes.prefix, Dialect::Bytes);
    let links = context.links(Dialect::Bytes, &before, TAIL);
    if links.is_empty() {
        return;
    }
    out.push_str(
        "# The stylesheets that a page waits for: browsers ask for them before they have read it.\n",
    );
    let mut but = String::new();
    for (pattern, text) in &links.some {
        let condition = format!("%{{REQUEST_URI}} =~ m#{pattern}#");
        if !text.is_empty() {
            let _ = writeln!(
                out,
                "Header always add Link \"{}\" \"expr={condition}\"",
                value(text)
            );
        }
        let _ = write!(but, " && !({condition})");
    }
    if let Some(text) = &links.most {
        let _ = writeln!(
            out,
            "Header always add Link \"{}\" \"expr=%{{REQUEST_URI}} =~ m#\\.(?i:{}){TAIL}\\z#{but}\"",
            value(text),
            context.pages()
        );
    }
}

/// A value in double quotes; `%` opens a format of mod_headers, `${` a variable of the configuration.
fn value(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%")
}
