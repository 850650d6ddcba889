//! What the markup of a page requests, element by element, as tried in Chromium 156.

use html5ever::ns;

use super::document::{Data, Document, ElementData, NONE, is_space};
use super::image::is_image_type;
use super::media::MediaList;
use super::srcset::{Sizes, select};
use super::{From, Request, Window};
use crate::html::Kind;

/// Scripting types of the MIME Sniffing standard.
const SCRIPT_TYPES: [&str; 16] = [
    "application/ecmascript",
    "application/javascript",
    "application/x-ecmascript",
    "application/x-javascript",
    "text/ecmascript",
    "text/javascript",
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

/// Whether the browser gets anything from the network for this.
pub(super) fn is_fetched(raw: &str) -> bool {
    let raw = raw.trim_matches(|c: char| c <= ' ');
    let scheme = raw.split(':').next().unwrap_or("").to_ascii_lowercase();
    !raw.is_empty()
        && (scheme.len() == raw.len()
            || !matches!(
                scheme.as_str(),
                "data" | "blob" | "about" | "javascript" | "mailto"
            ))
}

pub(super) struct Markup<'a> {
    pub(super) document: &'a Document,
    pub(super) window: Window,
    pub(super) requests: Vec<Request>,
}

impl Markup<'_> {
    fn push(&mut self, kind: Kind, e: &ElementData, attribute: &str, raw: &str, lazy: bool) {
        if is_fetched(raw) {
            let from = From::Markup {
                element: e.name.local.to_string(),
                attribute: attribute.to_owned(),
            };
            self.requests.push(Request {
                kind,
                raw: raw.to_owned(),
                from,
                base: None,
                lazy,
            });
        }
    }

    fn push_attribute(&mut self, kind: Kind, e: &ElementData, attribute: &str) {
        if let Some(raw) = e.get(attribute) {
            self.push(kind, e, attribute, raw, false);
        }
    }

    /// `rendered` tells whether an element has a box (is not in `display: none`).
    pub(super) fn element(&mut self, id: u32, rendered: &mut dyn FnMut(u32) -> bool) {
        let document = self.document;
        let Some(e) = document.element(id) else { return };
        if e.name.ns == ns!(svg) {
            return self.svg(e);
        }
        if !e.is_html() {
            return;
        }
        match &*e.name.local {
            "link" => self.link(e),
            "script" => self.script(e),
            "img" => self.img(id, e, rendered),
            "input"
                if e.get("type")
                    .is_some_and(|t| t.trim_matches(is_space).eq_ignore_ascii_case("image")) =>
            {
                self.push_attribute(Kind::Image, e, "src");
            }
            "video" | "audio" => self.media(id, e),
            "track" if e.has("default") && self.parent_is(id, &["video", "audio"]) => {
                self.push_attribute(Kind::Media, e, "src");
            }
            "iframe" | "frame" => {
                if let Some(text) = e.get("srcdoc").filter(|_| &*e.name.local == "iframe") {
                    self.srcdoc(text);
                } else {
                    let lazy = e.get("loading").is_some_and(|l| l.eq_ignore_ascii_case("lazy"));
                    if let Some(raw) = e.get("src")
                        && (!lazy || rendered(id))
                    {
                        self.push(Kind::Document, e, "src", raw, lazy);
                    }
                }
            }
            "object" => self.embedded(id, e, "data", rendered),
            "embed" => self.embedded(id, e, "src", rendered),
            _ => {}
        }
    }

    fn parent_is(&self, id: u32, names: &[&str]) -> bool {
        let parent = self
            .document
            .parent_element(id)
            .and_then(|p| self.document.element(p));
        parent.is_some_and(|p| p.is_html() && names.contains(&&*p.name.local))
    }

    /// Fetched whatever `media` says: style sheets (alternate ones too, with or without a title). Not fetched:
    /// disabled ones, and other types; `manifest` is fetched by a browser with a window only.
    fn link(&mut self, e: &ElementData) {
        let href = e.get("href").unwrap_or("");
        let rel = e.get("rel").unwrap_or("").to_ascii_lowercase();
        let is = |word: &str| rel.split(is_space).any(|r| r == word);
        let kind = e.get("type").unwrap_or("").trim_matches(is_space);
        let window = self.window;
        let media = || MediaList::parse(e.get("media").unwrap_or("")).matches(window);
        if is_stylesheet_link(e) {
            self.push(Kind::Stylesheet, e, "href", href, false);
        }
        if is("preload") && media() {
            let r#as = e.get("as").unwrap_or("").to_ascii_lowercase();
            let known = kind.is_empty()
                || match r#as.as_str() {
                    "image" => is_image_type(kind),
                    "style" => is_css(kind),
                    "script" => SCRIPT_TYPES.contains(&kind.to_ascii_lowercase().as_str()),
                    "font" => is_font_type(kind),
                    _ => true,
                };
            if known
                && matches!(
                    r#as.as_str(),
                    "style" | "script" | "image" | "font" | "fetch" | "track"
                )
            {
                match e.get("imagesrcset").filter(|_| r#as == "image") {
                    Some(srcset) => {
                        let sizes = Sizes {
                            sizes: e.get("imagesizes"),
                            auto: None,
                            window: self.window,
                        };
                        if let Some(url) = select(srcset, e.get("href"), sizes) {
                            self.push(Kind::Preload, e, "imagesrcset", url, false);
                        }
                    }
                    None => self.push(Kind::Preload, e, "href", href, false),
                }
            }
        } else if is("modulepreload") && media() {
            self.push(Kind::Preload, e, "href", href, false);
        }
        if is("prefetch") || is("compression-dictionary") {
            self.push(Kind::Prefetch, e, "href", href, false);
        }
        if is("manifest") {
            self.push(Kind::Manifest, e, "href", href, false);
        }
        if is("icon") {
            self.push(Kind::Icon, e, "href", href, false);
        }
    }

    /// `nomodule` is not fetched by a browser that knows modules. `for`/`event` keep a script from running, but
    /// Chromium's preload scanner has fetched it by then.
    fn script(&mut self, e: &ElementData) {
        let javascript = |t: &str| SCRIPT_TYPES.contains(&t.to_ascii_lowercase().as_str());
        let runs = match (e.get("type"), e.get("language")) {
            (Some(""), _) | (None, None | Some("")) => true,
            (Some(kind), _) => {
                let kind = kind.trim_matches(is_space);
                javascript(kind) || kind.eq_ignore_ascii_case("module")
            }
            (None, Some(language)) => javascript(&format!("text/{language}")),
        };
        let module = e
            .get("type")
            .is_some_and(|t| t.trim_matches(is_space).eq_ignore_ascii_case("module"));
        if runs && (module || !e.has("nomodule")) {
            self.push_attribute(Kind::Script, e, "src");
        }
    }

    fn img(&mut self, id: u32, e: &ElementData, rendered: &mut dyn FnMut(u32) -> bool) {
        let lazy = e.get("loading").is_some_and(|l| l.eq_ignore_ascii_case("lazy"));
        if lazy && !rendered(id) {
            return;
        }
        let width = |e: &ElementData| {
            e.get("width")
                .and_then(|w| w.trim().trim_end_matches("px").parse().ok())
        };
        let sizes = |source: &ElementData| -> Option<f64> {
            let _ = source;
            lazy.then(|| width(e)).flatten()
        };
        if self.parent_is(id, &["picture"]) {
            let mut at = self.document.nodes[id as usize].parent;
            at = self.document.nodes[at as usize].first;
            while at != NONE && at != id {
                if let Data::Element(source) = &self.document.nodes[at as usize].data
                    && source.is_html()
                    && &*source.name.local == "source"
                    && let Some(srcset) = source.get("srcset")
                    && MediaList::parse(source.get("media").unwrap_or("")).matches(self.window)
                    && source
                        .get("type")
                        .is_none_or(|t| t.is_empty() || is_image_type(t))
                {
                    let sizes = Sizes {
                        sizes: source.get("sizes"),
                        auto: sizes(source),
                        window: self.window,
                    };
                    if let Some(url) = select(srcset, None, sizes) {
                        return self.push(Kind::Image, source, "srcset", url, lazy);
                    }
                }
                at = self.document.nodes[at as usize].next;
            }
        }
        let src = e.get("src");
        let chosen = match e.get("srcset") {
            Some(srcset) => select(
                srcset,
                src,
                Sizes {
                    sizes: e.get("sizes"),
                    auto: sizes(e),
                    window: self.window,
                },
            ),
            None => src,
        };
        if let Some(url) = chosen {
            let attribute = if chosen == src && !e.get("srcset").is_some_and(|s| s.contains(url)) {
                "src"
            } else {
                "srcset"
            };
            self.push(Kind::Image, e, attribute, url, lazy);
        }
    }

    /// Chromium asks for the beginning of each video and audio unless `preload=none` without `autoplay` forbids.
    fn media(&mut self, id: u32, e: &ElementData) {
        if &*e.name.local == "video" {
            self.push_attribute(Kind::Image, e, "poster");
        }
        if e.get("preload").is_some_and(|p| p.eq_ignore_ascii_case("none")) && !e.has("autoplay") {
            return;
        }
        if e.has("src") {
            return self.push_attribute(Kind::Media, e, "src");
        }
        let document = self.document;
        for child in document.children(id) {
            if let Some(source) = document.element(child)
                && source.is_html()
                && &*source.name.local == "source"
                && source.get("type").is_none_or(is_media_type)
                && MediaList::parse(source.get("media").unwrap_or("")).matches(self.window)
                && source.has("src")
            {
                return self.push_attribute(Kind::Media, source, "src");
            }
        }
    }

    /// An `object` or `embed` without a box is not loaded; inside an `object` that shows something, neither.
    /// `hidden` does not hide an `embed` (HTML standard, section 15.3.1).
    fn embedded(&mut self, id: u32, e: &ElementData, attribute: &str, rendered: &mut dyn FnMut(u32) -> bool) {
        let Some(raw) = e.get(attribute) else { return };
        let Some(kind) = embedded_kind(e, raw) else { return };
        if !rendered(id) {
            return;
        }
        let mut parent = self.document.parent_element(id);
        while let Some(above) = parent {
            if let Some(outer) = self.document.element(above)
                && &*outer.name.local == "object"
                && outer
                    .get("data")
                    .is_some_and(|data| embedded_kind(outer, data).is_some())
            {
                return;
            }
            parent = self.document.parent_element(above);
        }
        self.push(kind, e, attribute, raw, false);
    }

    /// The document of `srcdoc` has the page's base; its style is left out.
    fn srcdoc(&mut self, text: &str) {
        if text.len() > 1 << 20 {
            return;
        }
        let inner = super::document::parse_text(text, true);
        let mut markup = Markup {
            document: &inner,
            window: self.window,
            requests: Vec::new(),
        };
        for id in &inner.elements {
            if inner.element(*id).is_some_and(|e| !e.has("srcdoc")) {
                markup.element(*id, &mut |_| true);
            }
        }
        let icon = |r: &Request| matches!(r.kind, Kind::Icon | Kind::Manifest);
        self.requests
            .extend(markup.requests.into_iter().filter(|r| !icon(r)));
    }

    /// `href` before `xlink:href` (SVG 2, section 2.3). Pictures in `defs`, `symbol` or without display count too.
    fn svg(&mut self, e: &ElementData) {
        let kind = match &*e.name.local {
            "image" | "feImage" => Kind::SvgImage,
            "use" => Kind::SvgUse,
            "script" => Kind::Script,
            _ => return,
        };
        let href = e
            .attributes
            .iter()
            .find(|a| a.name.ns == ns!() && &*a.name.local == "href");
        let xlink = || {
            e.attributes
                .iter()
                .find(|a| a.name.ns == ns!(xlink) && &*a.name.local == "href")
        };
        let Some(a) = href.or_else(xlink) else { return };
        let name = if a.name.ns == ns!() { "href" } else { "xlink:href" };
        if !a.value.trim_matches(is_space).starts_with('#') {
            self.push(kind, e, name, &a.value, false);
        }
    }
}

/// A link that a sheet is fetched for.
pub(super) fn is_stylesheet_link(e: &ElementData) -> bool {
    let rel = e.get("rel").unwrap_or("");
    rel.split(is_space).any(|r| r.eq_ignore_ascii_case("stylesheet"))
        && is_css(e.get("type").unwrap_or("").trim_matches(is_space))
        && !e.has("disabled")
}

/// The type of a style sheet, without parameters; none is one too.
fn is_css(kind: &str) -> bool {
    let essence = kind.split(';').next().unwrap_or("").trim_matches(is_space);
    kind.is_empty() || essence.eq_ignore_ascii_case("text/css")
}

fn is_font_type(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    kind.starts_with("font/") || kind.contains("font") || kind == "application/vnd.ms-opentype"
}

fn is_media_type(kind: &str) -> bool {
    let essence = kind
        .split(';')
        .next()
        .unwrap_or("")
        .trim_matches(is_space)
        .to_ascii_lowercase();
    matches!(
        essence.as_str(),
        "" | "video/mp4"
            | "video/webm"
            | "video/ogg"
            | "video/x-m4v"
            | "video/x-matroska"
            | "video/mp2t"
            | "audio/mp4"
            | "audio/mpeg"
            | "audio/mp3"
            | "audio/ogg"
            | "audio/wav"
            | "audio/x-wav"
            | "audio/webm"
            | "audio/aac"
            | "audio/flac"
            | "audio/x-m4a"
            | "application/ogg"
            | "audio/x-mp3"
            | "audio/wave"
            | "audio/x-flac"
            | "application/vnd.apple.mpegurl"
            | "application/x-mpegurl"
            | "audio/mpegurl"
    )
}

/// By `type`, else by the URL's extension: no plugin exists for what Chromium itself does not show.
fn embedded_kind(e: &ElementData, raw: &str) -> Option<Kind> {
    let kind = e
        .get("type")
        .unwrap_or("")
        .split(';')
        .next()
        .unwrap_or("")
        .trim_matches(is_space)
        .to_ascii_lowercase();
    let kind = if kind.is_empty() {
        let path = raw.split(['?', '#']).next().unwrap_or("");
        let name = path.rsplit('/').next().unwrap_or("");
        match name
            .rsplit_once('.')
            .map(|(_, extension)| extension.to_ascii_lowercase())
        {
            None => return Some(Kind::Document),
            Some(extension) => {
                return match extension.as_str() {
                    "png" | "jpg" | "jpeg" | "gif" | "webp" | "avif" | "bmp" | "ico" | "jxl" => {
                        Some(Kind::Image)
                    }
                    // Known types that nothing shows.
                    "swf" | "swl" | "zip" | "bin" | "exe" | "com" | "gz" | "tgz" | "jar" | "rar" | "7z"
                    | "doc" | "xls" | "ppt" | "woff" | "woff2" => None,
                    _ => Some(Kind::Document),
                };
            }
        }
    } else {
        kind
    };
    if kind != "image/svg+xml" && is_image_type(&kind) {
        return Some(Kind::Image);
    }
    let shown = matches!(
        kind.as_str(),
        "image/svg+xml"
            | "text/html"
            | "text/plain"
            | "text/xml"
            | "application/xml"
            | "application/xhtml+xml"
            | "application/pdf"
            | "text/pdf"
            | "text/css"
            | "text/javascript"
            | "application/javascript"
            | "application/json"
    ) || is_media_type(&kind);
    shown.then_some(Kind::Document)
}
