//! What the attributes of a tag refer to: a table of element, attribute and meaning.

use super::srcset::srcset;
use super::tokens::is_space;
use super::{Kind, Reference, Tag};

/// All references of one tag: a table of element, attribute and meaning.
///
/// An empty address is no reference where nothing is requested for it (all but links and forms). Where `url` is
/// only a part of the attribute's value (`srcset`, `refresh`, `url()` in SVG), it differs from that value.
pub fn references(tag: &Tag) -> Vec<Reference> {
    let mut found = Found {
        tag,
        references: Vec::new(),
    };
    if tag.within.foreign {
        foreign(&mut found);
    } else {
        html(&mut found);
    }
    found.references
}

struct Found<'t> {
    tag: &'t Tag,
    references: Vec<Reference>,
}

impl Found<'_> {
    fn add(&mut self, name: &str, kind: Kind) {
        let Some(attribute) = self.tag.attributes.iter().position(|a| a.name == name) else {
            return;
        };
        let attribute_value = &self.tag.attributes[attribute];
        let empty = attribute_value.value.bytes().all(is_space);
        if empty && (kind != Kind::Link || self.has_no_value(attribute)) {
            return;
        }
        self.push(attribute, kind, attribute_value.value.clone());
    }

    fn has_no_value(&self, attribute: usize) -> bool {
        // Inside `srcdoc` no attribute has a span; an empty link there is as good as none.
        self.tag.attributes[attribute].span.is_none()
    }

    fn add_srcset(&mut self, name: &str, kind: Kind) {
        let Some(attribute) = self.tag.attributes.iter().position(|a| a.name == name) else {
            return;
        };
        for candidate in srcset(&self.tag.attributes[attribute].value) {
            self.push(attribute, kind, candidate.url);
        }
    }

    fn push(&mut self, attribute: usize, kind: Kind, url: String) {
        self.references.push(Reference { kind, attribute, url });
    }
}

fn html(found: &mut Found) {
    let tag = found.tag;
    match tag.name.as_str() {
        "link" => link(found),
        "script" => {
            if let Some(kind) = script_kind(tag) {
                found.add("src", kind);
            }
        }
        // The parser turns `image` into `img` (13.2.6.4.7).
        "img" | "image" => {
            found.add("src", Kind::Image);
            found.add_srcset("srcset", Kind::Image);
        }
        // `srcset` counts in `picture`, `src` in `video` and `audio`.
        "source" => {
            found.add("src", Kind::Media);
            found.add_srcset("srcset", Kind::Image);
        }
        "video" => {
            found.add("src", Kind::Media);
            found.add("poster", Kind::Image);
        }
        "audio" | "track" => found.add("src", Kind::Media),
        // With `srcdoc` a browser ignores `src`; only others read it.
        "iframe" if tag.get("srcdoc").is_some() => found.add("src", Kind::Meta),
        "iframe" | "frame" | "embed" => found.add("src", Kind::Document),
        "object" => found.add("data", Kind::Document),
        "input" => {
            if tag
                .get("type")
                .is_some_and(|kind| kind.eq_ignore_ascii_case("image"))
            {
                found.add("src", Kind::Image);
            }
            found.add("formaction", Kind::Link);
        }
        "button" => found.add("formaction", Kind::Link),
        "body" | "table" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" => {
            found.add("background", Kind::Image)
        }
        "a" | "area" => found.add("href", Kind::Link),
        "form" => found.add("action", Kind::Link),
        "meta" => meta(found),
        _ => {}
    }
}

/// `link` by its keywords. Several may ask for the same address (`preload stylesheet`).
fn link(found: &mut Found) {
    let tag = found.tag;
    let rel = tag.get("rel").unwrap_or_default().to_ascii_lowercase();
    let mut kinds = Vec::new();
    for keyword in rel.split_ascii_whitespace() {
        let kind = match keyword {
            "stylesheet" if is_css(tag.get("type")) => Kind::Stylesheet,
            "icon"
            | "apple-touch-icon"
            | "apple-touch-icon-precomposed"
            | "apple-touch-startup-image"
            | "mask-icon"
            | "fluid-icon" => Kind::Icon,
            "preload" | "modulepreload" => Kind::Preload,
            "prefetch" | "prerender" => Kind::Prefetch,
            "manifest" => Kind::Manifest,
            _ => continue,
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if kinds.is_empty() {
        kinds.push(Kind::Meta);
    }
    for kind in kinds {
        found.add("href", kind);
        if kind == Kind::Preload {
            found.add_srcset("imagesrcset", kind);
        }
    }
}

/// Whether a `type` leaves a link or style element as CSS. Parameters do not count.
fn is_css(kind: Option<&str>) -> bool {
    let essence = kind
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim_matches(|c: char| c.is_ascii_whitespace());
    kind.is_none_or(str::is_empty) || essence.eq_ignore_ascii_case("text/css")
}

/// "Prepare the script element" (4.12.1.1): what its `src` is for, if anything fetches it.
pub fn script_kind(tag: &Tag) -> Option<Kind> {
    let kind = match (tag.get("type"), tag.get("language")) {
        (Some(""), _) | (None, None | Some("")) => "text/javascript".to_owned(),
        (Some(kind), _) => kind
            .trim_matches(|c: char| c.is_ascii() && is_space(c as u8))
            .to_ascii_lowercase(),
        (None, Some(language)) => format!("text/{}", language.to_ascii_lowercase()),
    };
    if kind == "module" {
        return Some(Kind::Script);
    }
    if !JAVASCRIPT.contains(&kind.as_str()) {
        return None;
    }
    // Only browsers without modules fetch it.
    Some(if tag.get("nomodule").is_some() {
        Kind::Meta
    } else {
        Kind::Script
    })
}

/// JavaScript MIME type essences (MIME Sniffing standard, section 4.6).
const JAVASCRIPT: [&str; 16] = [
    "text/javascript",
    "application/javascript",
    "application/ecmascript",
    "application/x-ecmascript",
    "application/x-javascript",
    "text/ecmascript",
    "text/javascript1.0",
    "text/javascript1.1",
    "text/javascript1.2",
    "text/javascript1.3",
    "text/javascript1.4",
    "text/javascript1.5",
    "text/jscript",
    "text/livescript",
    "text/x-ecmascript",
    "text/x-javascript",
];

fn meta(found: &mut Found) {
    let tag = found.tag;
    let Some(content) = tag.attributes.iter().position(|a| a.name == "content") else {
        return;
    };
    if tag
        .get("http-equiv")
        .is_some_and(|name| name.eq_ignore_ascii_case("refresh"))
    {
        if let Some(url) = refresh(&tag.attributes[content].value) {
            found.push(content, Kind::Refresh, url.to_owned());
        }
        return;
    }
    let is_url = ["property", "name", "itemprop"]
        .iter()
        .filter_map(|name| tag.get(name))
        .flat_map(|names| names.split_ascii_whitespace())
        .any(|name| META.contains(&name.to_ascii_lowercase().as_str()));
    if is_url {
        found.add("content", Kind::Meta);
    }
}

/// Names of `meta` whose content is an address, in lower case.
const META: [&str; 33] = [
    "og:image",
    "og:image:url",
    "og:image:secure_url",
    "og:url",
    "og:see_also",
    "og:video",
    "og:video:url",
    "og:video:secure_url",
    "og:audio",
    "og:audio:url",
    "og:audio:secure_url",
    "twitter:image",
    "twitter:image:src",
    "twitter:player",
    "twitter:player:stream",
    "twitter:url",
    "msapplication-tileimage",
    "msapplication-config",
    "msapplication-starturl",
    "msapplication-square70x70logo",
    "msapplication-square150x150logo",
    "msapplication-square310x310logo",
    "msapplication-wide310x150logo",
    "thumbnail",
    "image",
    "url",
    "logo",
    "thumbnailurl",
    "contenturl",
    "embedurl",
    "sameas",
    "screenshot",
    "image_src",
];

/// The address in the content of a refresh (shared declarative refresh steps, 4.2.5.3); `None` reloads the page.
fn refresh(content: &str) -> Option<&str> {
    let skip = |text: &'_ str| {
        text.len()
            - text
                .trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8))
                .len()
    };
    let mut rest = &content[skip(content)..];
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() == rest.len() && !rest.starts_with('.') {
        return None;
    }
    rest = digits.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let gap = skip(rest);
    if gap == 0 && !rest.starts_with([';', ',']) {
        return None;
    }
    rest = &rest[gap..];
    rest = rest.strip_prefix([';', ',']).unwrap_or(rest);
    rest = &rest[skip(rest)..];
    if rest.is_empty() {
        return None;
    }
    let url = (|| {
        if !rest.get(..3)?.eq_ignore_ascii_case("url") {
            return None;
        }
        let equals = &rest[3..];
        let value = equals[skip(equals)..].strip_prefix('=')?;
        Some(&value[skip(value)..])
    })();
    // "uri=x" is an address of its own.
    let url = url.unwrap_or(rest);
    match url.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.split(&url[..1]).next(),
        None => Some(url),
    }
}

/// SVG and MathML: `href` wins over `xlink:href`.
fn foreign(found: &mut Found) {
    let tag = found.tag;
    for (at, attribute) in tag.attributes.iter().enumerate() {
        if PAINT.contains(&attribute.name.as_str())
            && let Some(url) = paint_url(&attribute.value)
        {
            found.push(at, Kind::SvgUse, url.to_owned());
        }
    }
    let kind = match tag.name.as_str() {
        "image" | "feimage" => Kind::SvgImage,
        "script" => Kind::Script,
        "a" => Kind::Link,
        name if MATH.contains(&name) => Kind::Link,
        name if USE.contains(&name) => Kind::SvgUse,
        // `link`, `img` and others inside SVG only look like those of HTML.
        _ => return,
    };
    if kind != Kind::Script || script_kind(tag).is_some() {
        found.add(
            if tag.get("href").is_some() {
                "href"
            } else {
                "xlink:href"
            },
            kind,
        );
    }
}

const MATH: [&str; 12] = [
    "math",
    "mi",
    "mo",
    "mn",
    "ms",
    "mtext",
    "mrow",
    "mfrac",
    "msup",
    "msub",
    "mstyle",
    "semantics",
];

/// Elements of SVG that take a part of another document by `href`.
const USE: [&str; 16] = [
    "use",
    "lineargradient",
    "radialgradient",
    "pattern",
    "filter",
    "textpath",
    "tref",
    "mpath",
    "animate",
    "animatemotion",
    "animatetransform",
    "animatecolor",
    "set",
    "discard",
    "cursor",
    "font-face-uri",
];

/// Presentation attributes of SVG that may name another file.
pub(super) const PAINT: [&str; 10] = [
    "fill",
    "stroke",
    "filter",
    "mask",
    "clip-path",
    "marker",
    "marker-start",
    "marker-mid",
    "marker-end",
    "cursor",
];

/// The address of a leading `url()` without escapes; anything else is left to those who read CSS.
fn paint_url(value: &str) -> Option<&str> {
    let value = value.trim_ascii_start();
    let inner = value
        .get(4..)
        .filter(|_| value.as_bytes()[..4].eq_ignore_ascii_case(b"url("))?;
    let inner = inner[..inner.find(')')?].trim_ascii();
    let url = match inner.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.strip_suffix(&inner[..1])?,
        None => inner,
    };
    (!url.is_empty() && !url.contains(['"', '\'', '\\', '('])).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;

    /// The references of the last tag of `markup`, as "attribute Kind url".
    fn check(markup: &str, expected: &[&str]) {
        let scan = scan(markup.as_bytes(), encoding_rs::UTF_8);
        let tag = scan.tags.last().expect("every example has a tag");
        let found: Vec<_> = references(tag)
            .iter()
            .map(|r| format!("{} {:?} {}", tag.attributes[r.attribute].name, r.kind, r.url))
            .collect();
        assert_eq!(found, expected, "{markup}");
    }

    #[test]
    fn links() {
        check("<link rel=stylesheet href=a>", &["href Stylesheet a"]);
        check(
            "<link rel='alternate StyleSheet' title=x href=a>",
            &["href Stylesheet a"],
        );
        check(
            "<link rel='preload stylesheet' as=style href=a>",
            &["href Preload a", "href Stylesheet a"],
        );
        check("<link rel=stylesheet type='' href=a>", &["href Stylesheet a"]);
        check(
            "<link rel=stylesheet type=' TEXT/css ; charset=x' href=a>",
            &["href Stylesheet a"],
        );
        check("<link rel=stylesheet type=text/x-odd href=a>", &["href Meta a"]);
        check("<link rel=stylesheets href=a>", &["href Meta a"]);
        check("<link rel=stylesheet/less href=a>", &["href Meta a"]);
        check("<link rel='shortcut icon' href=a>", &["href Icon a"]);
        check("<link rel='icon apple-touch-icon' href=a>", &["href Icon a"]);
        check("<link rel=mask-icon href=a>", &["href Icon a"]);
        check("<link rel=manifest href=a>", &["href Manifest a"]);
        check("<link rel=modulepreload href=a>", &["href Preload a"]);
        check("<link rel=dns-prefetch href=//x>", &["href Meta //x"]);
        check("<link rel=canonical href=a>", &["href Meta a"]);
        check(
            "<link rel=preload as=image href=a imagesrcset='b 1x, c 2x'>",
            &["href Preload a", "imagesrcset Preload b", "imagesrcset Preload c"],
        );
        check(
            "<link rel=preload as=image imagesrcset=b>",
            &["imagesrcset Preload b"],
        );
        check("<link rel=stylesheet href=''>", &[]);
        check("<link rel=stylesheet>", &[]);
    }

    #[test]
    fn scripts() {
        check("<script src=a>", &["src Script a"]);
        check("<script src=a type=module>", &["src Script a"]);
        check("<script src=a type=''>", &["src Script a"]);
        check("<script src=a type=' Text/JavaScript '>", &["src Script a"]);
        check("<script src=a language=JavaScript1.2>", &["src Script a"]);
        check("<script src=a language=vbscript>", &[]);
        check("<script src=a type=' '>", &[]);
        check("<script src=a type='text/javascript; charset=utf-8'>", &[]);
        check("<script src=a type=text/x-template>", &[]);
        check("<script src=a type=importmap>", &[]);
        check("<script src=a nomodule>", &["src Meta a"]);
        check("<svg><script href=a xlink:href=b />", &["href Script a"]);
    }

    #[test]
    fn images_and_media() {
        check(
            "<img src=' a ' srcset='b, c,d 2x'>",
            &["src Image  a ", "srcset Image b", "srcset Image c,d"],
        );
        check("<img src='' alt=x>", &[]);
        check("<img src=' '>", &[]);
        check("<image src=a>", &["src Image a"]);
        check("<source src=a>", &["src Media a"]);
        check("<source srcset='a 1w'>", &["srcset Image a"]);
        check("<video src=a poster=b>", &["src Media a", "poster Image b"]);
        check("<audio src=a>", &["src Media a"]);
        check("<track src=a>", &["src Media a"]);
        check(
            "<input type=IMAGE src=a formaction=b>",
            &["src Image a", "formaction Link b"],
        );
        check("<input src=a>", &[]);
        check("<body background=a>", &["background Image a"]);
        check("<td background=a>", &["background Image a"]);
        check("<div style='' background=a>", &[]);
    }

    #[test]
    fn documents_and_links() {
        check("<iframe src=a>", &["src Document a"]);
        check("<iframe src=a srcdoc=''>", &["src Meta a"]);
        check("<iframe src=''>", &[]);
        check("<frameset><frame src=a>", &["src Document a"]);
        check("<object data=a>", &["data Document a"]);
        check("<embed src=a>", &["src Document a"]);
        check("<a href=''>", &["href Link "]);
        check("<a href>", &[]);
        check("<area href=a>", &["href Link a"]);
        check("<form action=a>", &["action Link a"]);
    }

    #[test]
    fn svg() {
        check("<svg><image href=a xlink:href=b>", &["href SvgImage a"]);
        check("<svg><image xlink:href=b>", &["xlink:href SvgImage b"]);
        check("<svg><feImage href=a>", &["href SvgImage a"]);
        check("<svg><use xlink:href='a#b'>", &["xlink:href SvgUse a#b"]);
        check("<svg><a href=b>", &["href Link b"]);
        check("<svg><linearGradient href='#b'>", &["href SvgUse #b"]);
        check(
            "<svg><path fill='url(#a)' mask='URL( \"x.svg#b\" ) red'>",
            &["fill SvgUse #a", "mask SvgUse x.svg#b"],
        );
        check(
            "<svg><path fill=red mask='url(' filter='\u{e9}\u{e9}\u{e9}'>",
            &[],
        );
        check("<math><mi href=a>", &["href Link a"]);
        check("<svg><foreignObject><img src=a>", &["src Image a"]);
        // Only HTML's `link` is one.
        check("<svg><link rel=stylesheet href=a>", &[]);
    }

    #[test]
    fn metas() {
        check("<meta property=og:image content=a>", &["content Meta a"]);
        check("<meta name='Twitter:Image' content=a>", &["content Meta a"]);
        check(
            "<meta itemprop='image thumbnailUrl' content=a>",
            &["content Meta a"],
        );
        check(
            "<meta name=msapplication-TileImage content=a>",
            &["content Meta a"],
        );
        check("<meta name=description content=a>", &[]);
        check(
            "<meta http-equiv=Refresh content='0; url=a'>",
            &["content Refresh a"],
        );
        check("<meta http-equiv=refresh content='30'>", &[]);
    }

    #[test]
    fn refreshes() {
        let check = |content: &str, url: Option<&str>| assert_eq!(refresh(content), url, "{content}");
        check("0;url=a", Some("a"));
        check(" 5 , URL = 'a b' c", Some("a b"));
        check("5;url=\"a", Some("a"));
        check("5 a", Some("a"));
        check("5;a", Some("a"));
        check("5;uri=a", Some("uri=a"));
        check("5;url", Some("url"));
        check("5;url x", Some("url x"));
        check("5.5;url=a", Some("a"));
        check(".5;url=a", Some("a"));
        check("5;'a'b", Some("a"));
        check("5;\u{e9}\u{e9}", Some("\u{e9}\u{e9}"));
        check("5;url=", Some(""));
        check("5;", None);
        check("5", None);
        check("", None);
        check("x;url=a", None);
        check("5x;url=a", None);
        check("-1;url=a", None);
    }
}
