//! Varnish: VCL 4.1 for a cache in front of any of the other servers.
//!
//! What it rests on, as tried with 7.1: between `vcl_recv` and the hash Varnish makes of `Accept-Encoding`
//! gzip or nothing (its parameter `http_gzip_support`), so the choice travels in a header of our own, and
//! answers vary by that one: it must still stand in the request to the server behind, where Varnish reads
//! what a copy varies by. A purge then meets every coding of an address at once.

use std::fmt::Write as _;

use super::{Context, Written};
use crate::deployed::Coded;

pub(super) fn write(context: &Context<'_>) -> Vec<Written> {
    let mut out = String::from("vcl 4.1;\n\n");
    out.push_str(&context.preface(
        "#",
        &[
            "Varnish 6 and later in front of the server of a site that fewer built: /etc/varnish/default.vcl,",
            "checked with `varnishd -C -f`. After a deploy purge what changed, or wait for a minute.",
        ],
    ));
    let (host, port) = context
        .wishes
        .upstream
        .rsplit_once(':')
        .unwrap_or((&context.wishes.upstream, "80"));
    let mut normalise = String::new();
    for (at, coding) in context.codings.iter().enumerate() {
        let _ = write!(
            normalise,
            "{} ({}) {{\n        set req.http.X-Fewer-Coding = \"{}\";\n    }}",
            if at == 0 { "    if" } else { " else if" },
            accepts(*coding),
            coding.token()
        );
    }
    let otherwise = "set req.http.X-Fewer-Coding = \"identity\";";
    let normalise = match normalise.is_empty() {
        true => format!("    {otherwise}"),
        false => format!("{normalise} else {{\n        {otherwise}\n    }}"),
    };
    let or_gzip = if context.codings.len() > 1 && context.codings.contains(&Coded::Gzip) {
        format!(
            "\n    # The server behind may lack a module: gzip is better than nothing.\n    if (req.http.X-Fewer-Coding !~ \"gzip|identity\" && {}) {{\n        set req.http.X-Fewer-Coding = req.http.X-Fewer-Coding + \", gzip\";\n    }}",
            accepts(Coded::Gzip)
        )
    } else {
        String::new()
    };
    let _ = write!(
        out,
        r##"
backend default {{
    .host = "{host}";
    .port = "{port}";
    # A server on the same machine answers at once or not at all.
    .connect_timeout = 2s;
    .first_byte_timeout = 15s;
    .between_bytes_timeout = 10s;
}}

# Who may purge: this machine.
acl fewer_purgers {{
    "localhost";
    "127.0.0.1";
    "::1";
}}

sub vcl_recv {{
    # Only Varnish itself says these.
    unset req.http.X-Fewer-Coding;
    if (req.method == "PURGE") {{
        # Behind a proxy on this machine everybody comes from this machine: it says for whom it asks, and
        # Varnish adds the proxy's address behind a comma.
        if (client.ip !~ fewer_purgers || req.http.X-Forwarded-For ~ "," || req.http.Forwarded) {{
            return (synth(405, "Not allowed"));
        }}
        return (purge);
    }}
    if (req.method != "GET" && req.method != "HEAD") {{
        return (synth(405, "Not allowed"));
    }}
    # Files are the same for everybody: cookies would only keep them out of the cache.
    unset req.http.Cookie;
    unset req.http.Authorization;
    # Fragments and the marks of campaigns name no other file.
    set req.url = regsub(req.url, "#.*$", "");
    if (req.url ~ "[?&](?:utm_[a-z]+|fbclid|gclid|msclkid)=") {{
        set req.url = regsuball(req.url, "(?<=[?&])(?:utm_[a-z]+|fbclid|gclid|msclkid)=[^&]*&?", "");
        set req.url = regsub(req.url, "[?&]+$", "");
    }}
    # One copy for each coding, not for each spelling of the header; br is not lost.
{normalise}{or_gzip}
    return (hash);
}}

sub vcl_backend_fetch {{
    # Varnish has put gzip or nothing here.
    if (bereq.http.X-Fewer-Coding == "identity") {{
        unset bereq.http.Accept-Encoding;
    }} else {{
        set bereq.http.Accept-Encoding = bereq.http.X-Fewer-Coding;
    }}
    # X-Fewer-Coding stays: Varnish notes from here which coding a copy is for. No server knows the name.
}}

sub vcl_backend_response {{
    unset beresp.http.Set-Cookie;
    # Varnish passes over Accept-Encoding in Vary, as it packs and unpacks gzip itself.
    # A 304 comes with the headers of the old copy.
    if (beresp.http.Vary ~ "(?i)accept-encoding" && beresp.http.Vary !~ "X-Fewer-Coding") {{
        set beresp.http.Vary = beresp.http.Vary + ", X-Fewer-Coding";
    }}
    # An old answer is better than none: while the server is asked again, and while it does not answer.
    set beresp.grace = 24h;
    # Time for the server to say that nothing changed.
    set beresp.keep = 1h;
    if (beresp.http.Cache-Control ~ "(?i)no-store|private") {{
        set beresp.ttl = 0s;
        set beresp.uncacheable = true;
    }} else if (beresp.status >= 500) {{
        # Not kept in place of a good answer.
        if (bereq.is_bgfetch) {{
            return (abandon);
        }}
        set beresp.ttl = 1s;
        set beresp.grace = 0s;
    }} else if (beresp.status >= 400) {{
        set beresp.ttl = 10s;
        set beresp.grace = 10s;
    }} else if (beresp.http.Cache-Control ~ "(?i)no-cache") {{
        # A page: browsers ask on every view, and are answered from here for a minute.
        set beresp.ttl = 60s;
    }}
    return (deliver);
}}

sub vcl_deliver {{
    # What is known here only is nobody's concern outside.
    set resp.http.Vary = regsub(resp.http.Vary, ",? *X-Fewer-Coding", "");
    if (resp.http.Vary == "") {{
        unset resp.http.Vary;
    }}
    unset resp.http.X-Varnish;
    unset resp.http.Via;
    # Age would make browsers take a page for old that was just confirmed.
    if (resp.http.Cache-Control ~ "(?i)no-cache") {{
        unset resp.http.Age;
    }}
}}
"##
    );
    vec![Written {
        name: "default.vcl",
        text: out,
    }]
}

/// The condition that a client takes this coding: named, and not with a weight of 0 (RFC 9110, section 12.4.2).
fn accepts(coding: Coded) -> String {
    let token = if coding == Coded::Gzip {
        "(?:x-)?gzip"
    } else {
        coding.token()
    };
    format!(
        "req.http.Accept-Encoding ~ \"(?i)(?:^|,)\\s*{token}\\s*(?:;\\s*q=(?!0(?:\\.0*)?\\s*(?:,|$))[0-9.]+\\s*)?(?:,|$)\""
    )
}
