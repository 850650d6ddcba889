//! What a scan reports, on small pages.

use encoding_rs::{BIG5, EUC_KR, GBK, ISO_2022_JP, SHIFT_JIS, UTF_8, UTF_16LE, WINDOWS_1252};

use super::*;

/// One line a tag: flags, name, attributes with a value, content.
fn lines(page: &str) -> Vec<String> {
    let scan = scan(page.as_bytes(), UTF_8);
    scan.tags
        .iter()
        .filter(|tag| !matches!(tag.name.as_str(), "html" | "head" | "title"))
        .map(|tag| line(page, tag))
        .collect()
}

fn line(page: &str, tag: &Tag) -> String {
    let mut out = String::new();
    let within = tag.within;
    for (set, flag) in [
        (within.noscript, "noscript:"),
        (within.template, "template:"),
        (within.foreign, "foreign:"),
        (within.srcdoc, "srcdoc:"),
    ] {
        out.push_str(if set { flag } else { "" });
    }
    out.push_str(&tag.name);
    for attribute in &tag.attributes {
        out.push_str(&format!(" {}={}", attribute.name, attribute.value));
    }
    if let Some(content) = &tag.content {
        out.push_str(&format!(" [{}]", &page[content.clone()]));
    }
    out
}

fn check(page: &str, expected: &[&str]) {
    assert_eq!(lines(page), expected, "{page}");
    assert_eq!(scan(page.as_bytes(), UTF_8).opaque, None, "{page}");
    check_spans(page.as_bytes(), UTF_8);
}

/// Every span decodes to its value, every tag runs from `<` to `>`.
fn check_spans(page: &[u8], encoding: &'static Encoding) {
    let scan = scan(page, encoding);
    let mut last = 0;
    for tag in scan.tags.iter().filter(|tag| !tag.within.srcdoc) {
        assert!(page[tag.span.clone()].starts_with(b"<") && page[tag.span.clone()].ends_with(b">"));
        assert!(last <= tag.span.start, "out of order");
        last = tag.span.end;
        for attribute in &tag.attributes {
            let Some(span) = &attribute.span else {
                assert_eq!(attribute.value, "");
                continue;
            };
            assert!(tag.span.start < span.start && span.end < tag.span.end);
            assert_eq!(attribute::decode(&page[span.clone()], encoding), attribute.value);
            if let Some(quote) = attribute.quote {
                assert_eq!((page[span.start - 1], page[span.end]), (quote, quote));
            }
        }
    }
}

fn check_opaque(page: &str, expected: &[&str]) {
    assert_eq!(lines(page), expected, "{page}");
    assert!(scan(page.as_bytes(), UTF_8).opaque.is_some(), "{page}");
}

#[test]
fn attributes_in_every_spelling() {
    check(
        "<IMG SRC=a.png Src=b.png alt='x \"y\"' hidden>",
        &["img src=a.png alt=x \"y\" hidden="],
    );
    check(
        "<img src=g.png/><img src=g.png />",
        &["img src=g.png/", "img src=g.png"],
    );
    check(
        "<img src = 'a&amp;b.png' alt=\"&quot;A\r\nB&quot;\"/>",
        &["img src=a&b.png alt=\"A\nB\""],
    );
    check(
        "<img src><img src=><img src=''>",
        &["img src=", "img src=", "img src="],
    );
    check(
        "<html \u{26a1} lang=en><img a\u{e9}=1 =x=2>",
        &["img a\u{e9}=1 =x=2"],
    );
    check("<p style='color:red'>a<p title=x>b", &["p style=color:red"]);
    check("<img\nsrc=a\n>", &["img src=a"]);
    check("<img src=a", &[]);
    check("\u{feff}<!doctype html><img src=a>", &["img src=a"]);
    check("<img src=\"a\0b\">", &["img src=a\u{fffd}b"]);
}

#[test]
fn text_is_no_markup() {
    check("<title><img src=a></title><img src=b>", &["img src=b"]);
    check("<textarea><img src=a></textarea><img src=b>", &["img src=b"]);
    check(
        "<!--[if lt IE 9]><link href=a><![endif]--><img src=b>",
        &["img src=b"],
    );
    check(
        "<!--[if !IE]><!--><link href=a><!--<![endif]-->",
        &["link href=a"],
    );
    check(
        "<xmp><img src=a></xmp><noembed><img src=a></noembed><noframes><img></noframes>",
        &[],
    );
    check("<plaintext><img src=a></plaintext>", &[]);
    check(
        "<iframe src=x><img src=a></iframe><img src=b>",
        &["iframe src=x", "img src=b"],
    );
    check("a < b <3 </ <img src=x> <img src=b>", &["img src=b"]);
    check("<![CDATA[<img src=a>]]><img src=b>", &["img src=b"]);
}

#[test]
fn style_and_script_give_their_content() {
    check("<style media=><img></style>", &["style media= [<img>]"]);
    check("<style>a{}</style><b>", &["style [a{}]"]);
    check(
        "<style><![CDATA[\n.y{}\n]]></style>",
        &["style [<![CDATA[\n.y{}\n]]>]"],
    );
    check("<style media=print>a{}", &["style media=print [a{}]"]);
    check(
        "<style>a{content:'<img src=x>'}</style  >",
        &["style [a{content:'<img src=x>'}]"],
    );
    check(
        "<script>'<style>'; <!-- \n--></script>",
        &["script ['<style>'; <!-- \n-->]"],
    );
    check(
        "<script><!--<script></script>--></script><img src=a>",
        &["script [<!--<script></script>-->]", "img src=a"],
    );
    check("<script src=a></script>", &["script src=a []"]);
    check("<script/><img></script>", &["script [<img>]"]);
}

#[test]
fn surroundings_are_flagged() {
    check(
        "<noscript><link href=a><style>b{}</style></noscript><img>",
        &["noscript", "noscript:link href=a", "noscript:style [b{}]", "img"],
    );
    check(
        "<template><img src=a><template></template><img></template><img src=b>",
        &[
            "template",
            "template:img src=a",
            "template:template",
            "template:img",
            "img src=b",
        ],
    );
    check(
        "<template><noscript><img src=a></noscript></template>",
        &["template", "template:noscript", "noscript:template:img src=a"],
    );
    check(
        "<svg><style>a{}</style><a xlink:href=b></a><use href='#c'/></svg><a href=d>",
        &[
            "foreign:svg",
            "foreign:style [a{}]",
            "foreign:a xlink:href=b",
            "foreign:use href=#c",
            "a href=d",
        ],
    );
    check(
        "<svg><style><![CDATA[a{}</style>]]></style><image href=a /></svg>",
        &[
            "foreign:svg",
            "foreign:style [<![CDATA[a{}</style>]]>]",
            "foreign:image href=a",
        ],
    );
    check(
        "<svg><foreignObject><img src=a><style>b{}</style></foreignObject><rect fill='url(x.svg#a)'/></svg>",
        &[
            "foreign:svg",
            "img src=a",
            "style [b{}]",
            "foreign:rect fill=url(x.svg#a)",
        ],
    );
    check(
        "<svg><title><b></b></title><desc><img src=a></desc><style/><path/></svg><style>a{}</style>",
        &["foreign:svg", "img src=a", "foreign:style", "style [a{}]"],
    );
    check("<svg><path d=''><p><img src=a>", &["foreign:svg", "img src=a"]);
    check(
        "<math><mi><img src=a></mi><mrow href=b></mrow></math>",
        &["img src=a", "foreign:mrow href=b"],
    );
    check(
        "<svg viewBox=a /><a href=b>",
        &["foreign:svg viewbox=a", "a href=b"],
    );
}

#[test]
fn srcdoc_is_scanned_without_places() {
    let page = "<iframe srcdoc='<img src=&quot;a&amp;amp;b&quot;><style>c{}</style><p srcdoc=x>' src=d>e</iframe><img src=f>";
    check(
        page,
        &[
            "iframe srcdoc=<img src=\"a&amp;b\"><style>c{}</style><p srcdoc=x> src=d",
            "srcdoc:img src=a&b",
            "srcdoc:style",
            "img src=f",
        ],
    );
    let scan = scan(page.as_bytes(), UTF_8);
    assert_eq!(scan.tags[1].span, scan.tags[0].span);
    assert_eq!(scan.tags[1].attributes[0].span, None);
}

#[test]
fn doubtful_pages_are_opaque_and_still_reported() {
    check_opaque(
        "<select><option>a<style>b{}</style><img src=c>",
        &["style [b{}]", "img src=c"],
    );
    check_opaque(
        "<frameset><frame src=a><script>b</script></frameset>",
        &["frame src=a", "script [b]"],
    );
    check_opaque("<svg/><style>a{}<b></style>", &["foreign:svg", "style [a{}<b>]"]);
    check_opaque("<svg><g>", &["foreign:svg"]);
    check_opaque("<div><svg><g></div><img src=a>", &["foreign:svg", "img src=a"]);
    check_opaque(
        "<div><template shadowrootmode=open><img src=a></template></div>",
        &["template shadowrootmode=open", "template:img src=a"],
    );
}

#[test]
fn encodings() {
    let check = |page: &[u8], encoding: &'static Encoding, value: &str, opaque: bool| {
        let found = scan(page, encoding);
        assert_eq!(
            found.tags.last().and_then(|tag| tag.get("src")),
            Some(value),
            "{}",
            encoding.name()
        );
        assert_eq!(found.opaque.is_some(), opaque, "{}", encoding.name());
        if !opaque {
            check_spans(page, encoding);
        }
    };
    check(b"<img src='\xe9.png'>", WINDOWS_1252, "\u{e9}.png", false);
    check(
        b"\xef\xbb\xbf<img src='\xc3\xa9.png'>",
        UTF_8,
        "\u{e9}.png",
        false,
    );
    check(
        b"<p>\xb0\xa1</p><img src='\xb0\xa1.png'>",
        EUC_KR,
        "\u{ac00}.png",
        false,
    );
    // The second byte looks like a backslash.
    check(
        b"<p>\x95\x5c</p><img src='\x95\x5c'>",
        SHIFT_JIS,
        "\u{8868}",
        false,
    );
    check(b"<p>\xa5\x5c</p><img src='\xa5\x5c'>", BIG5, "\u{529f}", false);
    check(b"<p>\x81\x5c</p><img src='\x81\x5c'>", GBK, "\u{4e57}", false);
    // A first byte without its second does not eat the quote.
    check(b"<p>\x95<b></b><img src='\x95'>", SHIFT_JIS, "\u{fffd}", false);
    check(b"<img src='a.png'>", ISO_2022_JP, "a.png", false);
    // In the two-byte state of ISO-2022-JP the bytes 3C 3E are a character.
    check(
        b"<p>\x1b$B<>\x1b(B</p><img src='\x1b$B0!\x1b(B'>",
        ISO_2022_JP,
        "\u{4e9c}",
        true,
    );
    check(b"\xff\xfe<\0i\0m\0g\0 \0s\0r\0c\0=\0a\0>\0", UTF_8, "a", true);
    check(b"<\0i\0m\0g\0 \0s\0r\0c\0=\0a\0>\0", UTF_16LE, "a", true);
}

#[test]
fn unclosed_elements_around_images() {
    let check = |page: &str, expected: &[(usize, &str)]| {
        let found = scan(page.as_bytes(), UTF_8).problems;
        let found: Vec<_> = found.iter().map(|p| (p.at, p.message.as_str())).collect();
        assert_eq!(found, expected, "{page}");
    };
    let link = "`<a>` around an image is not closed";
    check("<p><a href=/><img></a><p><a name=x><img><a href=y>z</a>", &[]);
    check(
        "<p><a href=/>Home<div><img></div><p>x",
        &[(3, &format!("{link} anywhere"))],
    );
    check(
        "<div><a href=/><img></div>",
        &[(5, &format!("{link} before `</div>`"))],
    );
    check(
        "<a href=/><img><a href=x>y</a>",
        &[(0, &format!("{link} before the next link begins"))],
    );
    check(
        "<a href=/><div><img></a></div>",
        &[(0, &format!("{link} in the order it was opened"))],
    );
    check("<a href=/><div><img></div></a>", &[]);
    check("<a href=/>no image", &[]);
    check(
        "<div><ul><li><a href=x><img></a><li>b</ul><table><tr><td><p><img></table></div>",
        &[],
    );
    check(
        "<div><img>",
        &[(0, "`<div>` around an image is not closed anywhere")],
    );
    check("<div><table><td></div><img></table></div>", &[]);
    check("<svg><a><g></svg><a href=x></a>", &[]);
    let swallows = "`<a` swallows the markup behind it, a quote or `>` is missing";
    check("<a href=x <img src=y>z</a>", &[(0, swallows)]);
    check("<a href=\"x><img src=\"y\">z</a>", &[(0, swallows)]);
    check("<a href=\"?a>b\">z</a>", &[]);
}

/// Sizes at which anything quadratic or recursive would show.
#[test]
fn hostile_pages_end() {
    let n = 100_000;
    for unit in [
        "<div>",
        "</div>",
        "<a href=x>",
        "<svg>",
        "<svg/>",
        "<noscript>",
        "<template>",
        "<!--",
        "<![CDATA[",
        "<",
        "</",
        "<iframe srcdoc='",
        "&amp;",
        "<style>",
        "<script><!--<script>",
        "<a <a ",
        "</a",
        "<math><mi>",
        "<select>",
        "<table><td></a>",
        "<title>",
        "-",
        "\0",
    ] {
        let page = unit.repeat(n);
        scan(page.as_bytes(), UTF_8);
    }
    let mut page = "<b><i>".repeat(n);
    page.push_str(&"</u>".repeat(n));
    scan(page.as_bytes(), UTF_8);
    let attributes: String = (0..n).map(|i| format!(" a{i}=x")).collect();
    let found = scan(format!("<img{attributes} a0=y>").as_bytes(), UTF_8);
    assert_eq!(found.tags[0].attributes.len(), n);
    let mut nested = "<img src=x>".to_owned();
    for _ in 0..10 {
        nested = format!("<iframe srcdoc=\"{}\">", escape_attribute(&nested, b'"'));
    }
    scan(nested.as_bytes(), UTF_8);
}

proptest::proptest! {
    #[test]
    fn any_page_is_read(page in "(<|</|>|'|\"|=| |\n|\0|a|img|svg|style|script|noscript|title|select|template|iframe|srcdoc|src|href|!--|--|\\[CDATA\\[|\\]\\]|/|&|\u{e9}|b){0,40}") {
        check_spans(page.as_bytes(), UTF_8);
    }
}

#[test]
fn ids_of_all_elements() {
    let markup = b"<p id=a><b ID='b&amp;c' id=no>x</b><svg><g id=d></g></svg>\
        <noscript><i id=e></i></noscript><template><i id=f></i></template><script id=g></script><p id><p class=x>";
    let found: Vec<(usize, String, bool)> = scan_ids(markup, encoding_rs::UTF_8)
        .ids
        .into_iter()
        .map(|id| (id.at, id.value, id.within.noscript || id.within.template))
        .collect();
    let at = |text: &str| std::str::from_utf8(markup).unwrap().find(text).unwrap();
    let expected = [
        (at("<p id=a"), "a", false),
        (at("<b ID"), "b&c", false),
        (at("<g id"), "d", false),
        (at("<i id=e"), "e", true),
        (at("<i id=f"), "f", true),
        (at("<script id"), "g", false),
    ];
    assert_eq!(found, expected.map(|(at, id, inert)| (at, id.to_owned(), inert)));
    assert!(scan(markup, encoding_rs::UTF_8).ids.is_empty());
}
