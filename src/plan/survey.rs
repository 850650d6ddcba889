//! What of a page's markup could be written in another way: its stylesheet links, images and scripts, by byte spans.
//!
//! A thing is listed whatever is wrong with it; `free` says that its tag has only the attributes that the passes know
//! how to carry over. Two stylesheet links are `joined` when nothing stands between them that could see the order.

mod handlers;

use std::ops::Range;

use memchr::memmem;

use crate::css;
use crate::graph::{self, Address, AddressId, Destination, Graph};
use crate::html::{self, Kind, Scan, Tag};
use crate::site::Site;
use crate::url::{self, Base};

/// One page as the passes see it.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) links: Vec<Link>,
    /// Sorted by address, then by place.
    pub(super) images: Vec<Image>,
    pub(super) scripts: Vec<Script>,
    pub(super) hints: Vec<Hint>,
    /// Addresses that something else of the markup asks for, sorted.
    pub(super) others: Vec<AddressId>,
    /// Where a new stylesheet link may stand, on a page without one.
    pub(super) anchor: Option<u32>,
    /// An event handler attribute speaks of images or of `src`.
    pub(super) swaps_images: bool,
    /// A `style` attribute may give an address to a custom property.
    pub(super) custom_urls: bool,
    /// A `base` element moved what references resolve against.
    pub(super) moved: bool,
}

/// A `link rel=stylesheet`.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) tag: Range<u32>,
    pub(super) href: Range<u32>,
    pub(super) quote: Option<u8>,
    pub(super) address: AddressId,
    /// `None` without one, and for `all`.
    pub(super) media: Option<Box<str>>,
    pub(super) free: bool,
    /// Directly behind the link before it in the list.
    pub(super) joined: bool,
}

/// An attribute that names a picture: `src` of `img` and of `input`, or `background` of `body` and of table parts.
#[derive(Debug, Clone)]
pub(super) struct Image {
    /// Of an `img`: a class can show the picture as well.
    pub(super) is_img: bool,
    pub(super) src: Range<u32>,
    pub(super) quote: Option<u8>,
    pub(super) address: AddressId,
    pub(super) class: Option<(Range<u32>, Option<u8>, Box<str>)>,
    /// The address as written.
    pub(super) written: Box<str>,
    /// Nothing about the tag speaks against another address.
    pub(super) free: bool,
    /// A script may know it by this name.
    pub(super) id: Option<Box<str>>,
}

/// A classic script that blocks the parser.
#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(super) tag: Range<u32>,
    /// Up to the end tag.
    pub(super) content: Range<u32>,
    pub(super) src: Range<u32>,
    pub(super) quote: Option<u8>,
    pub(super) address: AddressId,
    pub(super) free: bool,
    /// From the start tag to behind the end tag, where nothing but white space stands between them.
    pub(super) element: Option<Range<u32>>,
    /// Directly behind the script before it in the list: only white space and plain comments between.
    pub(super) joined: bool,
}

/// A `link` that has something loaded before it is needed.
#[derive(Debug, Clone)]
pub(super) struct Hint {
    pub(super) tag: Range<u32>,
    pub(super) address: AddressId,
    /// For another page.
    pub(super) prefetch: bool,
}

/// A survey, and the inline scripts that were met.
pub(super) struct Found {
    pub(super) survey: Survey,
    pub(super) inline: Vec<String>,
    /// Where each of them stands.
    pub(super) inline_at: Vec<u32>,
    /// The texts of its `style` elements.
    pub(super) styles: Vec<String>,
}

/// Reads one page that may be edited.
pub(super) fn read(site: &Site, graph: &Graph, page: u32) -> anyhow::Result<Found> {
    let facts = &graph.pages[page as usize];
    let bytes = site.read(facts.file)?;
    anyhow::ensure!(
        graph::hash(&bytes) == facts.hash,
        "{} changed during the build",
        site.file(facts.file).path
    );
    let encoding = facts.encoding.unwrap_or(encoding_rs::UTF_8);
    let (scan, base) = graph.rescan(site, page, &bytes);
    let mut surveyor = Surveyor {
        site,
        graph,
        base,
        bytes: &bytes,
        survey: Survey::default(),
        inline: Vec::new(),
        inline_at: Vec::new(),
        encoding,
    };
    surveyor.survey.moved = surveyor.base.is_moved();
    surveyor.survey.swaps_images = handlers::swap_images(&bytes);
    surveyor.run(&scan, facts.head_links);
    Ok(Found {
        survey: surveyor.survey,
        inline: surveyor.inline,
        inline_at: surveyor.inline_at,
        styles: graph::style_tags(&scan)
            .filter_map(|tag| tag.content.clone())
            .map(|content| {
                encoding
                    .decode_without_bom_handling(&bytes[content])
                    .0
                    .into_owned()
            })
            .collect(),
    })
}

struct Surveyor<'a> {
    site: &'a Site,
    graph: &'a Graph,
    base: Base,
    bytes: &'a [u8],
    encoding: &'static encoding_rs::Encoding,
    survey: Survey,
    inline: Vec<String>,
    inline_at: Vec<u32>,
}

impl Surveyor<'_> {
    fn run(&mut self, scan: &Scan, head_links: u32) {
        // Behind the last thing that must not move between two stylesheets.
        let mut barrier = true;
        let mut last_end = 0;
        let mut met = 0;
        let mut in_head = true;
        let mut in_picture = false;
        for tag in &scan.tags {
            if !graph::is_live(tag) {
                if tag.within.srcdoc {
                    self.others(tag, None);
                }
                continue;
            }
            let sets = |style: &str| style.contains("--") && style.to_ascii_lowercase().contains("url(");
            self.survey.custom_urls |= tag.get("style").is_some_and(sets);
            let listed = (
                self.survey.links.len(),
                self.survey.images.len(),
                self.survey.scripts.len(),
            );
            let name = tag.name.as_str();
            if !matches!(
                name,
                "html" | "head" | "meta" | "link" | "script" | "style" | "base" | "noscript" | "template"
            ) {
                in_head = false;
            }
            match name {
                "style" => barrier = true,
                "script" => {
                    barrier |= self.script(tag);
                }
                "picture" => in_picture = true,
                "link" if graph::names_stylesheet(tag) => {
                    met += 1;
                    let comments = &self.bytes[last_end..tag.span.start];
                    barrier |= has_condition(comments) || met > head_links;
                    if self.survey.anchor.is_none() && met <= head_links {
                        self.survey.anchor = Some(tag.span.start as u32);
                    }
                    let free = self.link(tag, !barrier);
                    barrier = !free || met > head_links;
                    last_end = tag.span.end;
                }
                "link" => self.hint(tag),
                "img" if !tag.within.foreign => {
                    self.img(tag, in_picture);
                    in_picture = false;
                }
                _ => self.legacy(tag),
            }
            let now = (
                self.survey.links.len(),
                self.survey.images.len(),
                self.survey.scripts.len(),
            );
            let attribute = match name {
                _ if now == listed => None,
                "link" => Some("href"),
                "img" | "input" | "script" => Some("src"),
                _ => Some("background"),
            };
            self.others(tag, attribute);
            if in_head && name == "style" && self.survey.anchor.is_none() {
                self.survey.anchor = Some(tag.span.start as u32);
            }
        }
        if self.survey.anchor.is_none() {
            self.survey.anchor = self.title_end();
        }
        self.survey.others.sort_unstable();
        self.survey.others.dedup();
        self.survey
            .images
            .sort_by_key(|image| (image.address, image.src.start));
    }

    /// Notes what the tag asks for by other attributes than the one that is listed.
    fn others(&mut self, tag: &Tag, listed: Option<&str>) {
        for reference in html::references(tag) {
            let is_request = !matches!(
                reference.kind,
                Kind::Link
                    | Kind::Meta
                    | Kind::Refresh
                    | Kind::Preload
                    | Kind::Prefetch
                    | Kind::Manifest
                    | Kind::Icon
            );
            if !is_request || listed == Some(tag.attributes[reference.attribute].name.as_str()) {
                continue;
            }
            if let url::Target::File { file, address, .. } =
                url::resolve(self.site, &self.graph.mount, &self.base, &reference.url)
                && let Some(id) = self.graph.address(&Address {
                    url: address,
                    to: Destination::File(file),
                })
            {
                self.survey.others.push(id);
            }
        }
    }

    fn address(&self, raw: &str) -> Option<AddressId> {
        let (file, url) = match url::resolve(self.site, &self.graph.mount, &self.base, raw) {
            url::Target::File {
                file,
                address,
                fragment,
            } if fragment.is_none() => (file, address),
            _ => return None,
        };
        if !url::is_unambiguous(&url) {
            return None;
        }
        self.graph.address(&Address {
            url,
            to: Destination::File(file),
        })
    }

    /// Lists the link; whether others may be joined to it.
    fn link(&mut self, tag: &Tag, joined: bool) -> bool {
        let plain = tag.attributes.iter().all(|a| match a.name.as_str() {
            "rel" => a.value.trim().eq_ignore_ascii_case("stylesheet"),
            "type" => a.value.is_empty() || a.value.trim().eq_ignore_ascii_case("text/css"),
            "href" | "media" => true,
            _ => false,
        });
        let unique = |name: &str| tag.attributes.iter().filter(|a| a.name == name).count() == 1;
        let Some(href) = tag.attributes.iter().find(|a| a.name == "href") else {
            return false;
        };
        let (Some(span), Some(address)) = (href.span.clone(), self.address(&href.value)) else {
            return false;
        };
        let media = tag
            .get("media")
            .map(|m| m.trim().to_ascii_lowercase())
            .filter(|m| !m.is_empty() && m != "all");
        let free = plain && unique("href") && unique("rel");
        self.survey.links.push(Link {
            tag: narrow(&tag.span),
            href: narrow(&span),
            quote: href.quote,
            address,
            media: media.map(String::into_boxed_str),
            free,
            joined: joined && free,
        });
        free
    }

    fn hint(&mut self, tag: &Tag) {
        let references = html::references(tag);
        let is_hint = |kind: Kind| matches!(kind, Kind::Preload | Kind::Prefetch);
        let Some(reference) = references.iter().find(|r| is_hint(r.kind)) else {
            return;
        };
        if tag.get("imagesrcset").is_none()
            && let Some(address) = self.address(&reference.url)
        {
            self.survey.hints.push(Hint {
                tag: narrow(&tag.span),
                address,
                prefetch: reference.kind == Kind::Prefetch,
            });
        }
    }

    fn img(&mut self, tag: &Tag, in_picture: bool) {
        let class = tag.attributes.iter().find(|a| a.name == "class");
        let known = tag.attributes.iter().all(|a| {
            matches!(
                a.name.as_str(),
                "src"
                    | "class"
                    | "id"
                    | "alt"
                    | "title"
                    | "width"
                    | "height"
                    | "border"
                    | "align"
                    | "hspace"
                    | "vspace"
                    | "style"
                    | "longdesc"
                    | "lang"
                    | "dir"
                    | "role"
                    | "aria-hidden"
                    | "aria-label"
                    | "decoding"
                    | "loading"
                    | "fetchpriority"
                    | "/"
            )
        });
        let lazy = tag
            .get("loading")
            .is_some_and(|l| l.trim().eq_ignore_ascii_case("lazy"));
        let class_known = class.is_none_or(|c| c.span.is_some());
        let replaced = tag.get("style").is_some_and(replaces);
        let twice = |name: &str| tag.attributes.iter().filter(|a| a.name == name).count() > 1;
        let free = known && !replaced && !lazy && class_known && !in_picture && !twice("class");
        let class =
            class.and_then(|c| Some((narrow(&c.span.clone()?), c.quote, Box::from(c.value.as_str()))));
        self.image(tag, "src", free, class, true);
    }

    /// Attributes whose picture can only be written in their place.
    fn legacy(&mut self, tag: &Tag) {
        let references = html::references(tag);
        let picture = references.iter().find(|r| {
            let name = tag.attributes[r.attribute].name.as_str();
            r.kind == Kind::Image && (name == "background" || (tag.name == "input" && name == "src"))
        });
        if let Some(reference) = picture {
            let name = tag.attributes[reference.attribute].name.clone();
            let free = tag.get("data-fewer").is_none();
            self.image(tag, &name, free, None, false);
        }
    }

    /// Lists the attribute `name`.
    fn image(
        &mut self,
        tag: &Tag,
        name: &str,
        free: bool,
        class: Option<(Range<u32>, Option<u8>, Box<str>)>,
        is_img: bool,
    ) {
        let mut attributes = tag.attributes.iter().filter(|a| a.name == name);
        let Some(attribute) = attributes.next() else {
            return;
        };
        let (Some(span), Some(address)) = (attribute.span.clone(), self.address(&attribute.value)) else {
            return;
        };
        self.survey.images.push(Image {
            is_img,
            src: narrow(&span),
            quote: attribute.quote,
            address,
            class,
            written: attribute.value.clone().into_boxed_str(),
            free: free && attributes.next().is_none(),
            id: tag.get("id").map(Box::from),
        });
    }

    /// Lists an external script; whether the script could see the order of stylesheets around it.
    fn script(&mut self, tag: &Tag) -> bool {
        let is_module = tag
            .get("type")
            .is_some_and(|t| t.trim().eq_ignore_ascii_case("module"));
        let runs = html::script_kind(tag) == Some(Kind::Script);
        let is_classic = runs && !is_module;
        let Some(source) = tag.attributes.iter().find(|a| a.name == "src") else {
            if runs && let Some(content) = tag.content.clone() {
                let text = self.encoding.decode_without_bom_handling(&self.bytes[content]).0;
                self.inline.push(text.into_owned());
                self.inline_at.push(tag.span.start as u32);
            }
            // A module runs when the document is there.
            return is_classic;
        };
        let waits = tag.get("async").is_some() || tag.get("defer").is_some() || is_module;
        if is_classic
            && let (Some(content), Some(address)) = (tag.content.clone(), self.address(&source.value))
        {
            let known = tag
                .attributes
                .iter()
                .all(|a| matches!(a.name.as_str(), "src" | "type" | "language"));
            let language = tag.get("language").is_none_or(|l| {
                let l = l.trim().to_ascii_lowercase();
                l.is_empty() || l.starts_with("javascript")
            });
            let unique = tag.attributes.iter().filter(|a| a.name == "src").count() == 1;
            let src = source.span.clone().filter(|_| unique);
            let element = self.element(tag, &content).filter(|_| src.is_some());
            let before = self.survey.scripts.last().and_then(|last| last.element.clone());
            let joined = element.is_some()
                && before.is_some_and(|before| {
                    let between = self.bytes.get(before.end as usize..tag.span.start);
                    between.is_some_and(is_nothing)
                });
            self.survey.scripts.push(Script {
                tag: narrow(&tag.span),
                content: narrow(&content),
                src: narrow(&src.unwrap_or_default()),
                quote: source.quote,
                address,
                free: known && !waits && language && !tag.within.foreign,
                element: element.map(|element| narrow(&element)),
                joined,
            });
        }
        is_classic && !waits
    }

    /// The whole element of a script without text of its own.
    fn element(&self, tag: &Tag, content: &Range<usize>) -> Option<Range<usize>> {
        const END: &[u8] = b"</script";
        let text = self.bytes.get(content.clone())?;
        let rest = self.bytes.get(content.end..)?;
        let name = rest.get(..END.len())?;
        let space = rest[END.len()..]
            .iter()
            .take_while(|b| b.is_ascii_whitespace())
            .count();
        let end = END.len() + space;
        let is_whole = content.start == tag.span.end
            && text.iter().all(u8::is_ascii_whitespace)
            && name.eq_ignore_ascii_case(END)
            && rest.get(end) == Some(&b'>');
        is_whole.then_some(tag.span.start..content.end + end + 1)
    }

    /// Behind `</title>`, where the first one stands before anything that could hold another.
    fn title_end(&self) -> Option<u32> {
        let head = &self.bytes[..self.bytes.len().min(4096)];
        let lower = head.to_ascii_lowercase();
        let find = |what: &[u8]| memmem::find(&lower, what);
        let start = find(b"<title")?;
        let end = find(b"</title>")? + b"</title>".len();
        let before = |what: &[u8]| find(what).is_some_and(|at| at < end);
        let doubtful = [
            b"<!--".as_slice(),
            b"<script",
            b"<style",
            b"<svg",
            b"<body",
            b"<noscript",
        ];
        (start < end && !doubtful.into_iter().any(before)).then_some(end as u32)
    }
}

/// A `style` attribute that may set `content`, alone or with everything else. After a stray `}` a rule ends, a list of
/// declarations does not.
fn replaces(style: &str) -> bool {
    let facts = css::selector_facts(&format!("img{{{style}}}"));
    !facts.replaced.is_empty() || facts.unreadable || style.contains('}')
}

/// White space and comments without conditions. A comment with a mark that could end it in another place than `-->`
/// (HTML standard, 13.2.5.43 on) is something.
fn is_nothing(bytes: &[u8]) -> bool {
    let mut rest = bytes.trim_ascii_start();
    while !rest.is_empty() {
        let Some(text) = rest.strip_prefix(b"<!--") else {
            return false;
        };
        let Some(end) = memmem::find(text, b"-->") else {
            return false;
        };
        let (text, behind) = (&text[..end], &text[end + 3..]);
        let holds = |mark: &[u8]| memmem::find(text, mark).is_some();
        let odd = text.starts_with(b">") || text.starts_with(b"->") || holds(b"--!>") || holds(b"<!");
        if odd || text.trim_ascii_start().starts_with(b"[") || text.trim_ascii_end().ends_with(b"]") {
            return false;
        }
        rest = behind.trim_ascii_start();
    }
    true
}

/// A conditional comment, or the end of one, stands in the bytes.
fn has_condition(bytes: &[u8]) -> bool {
    let marks: [&[u8]; 3] = [b"<!--[", b"<![", b"]-->"];
    marks.iter().any(|mark| memmem::find(bytes, mark).is_some())
}

fn narrow(span: &Range<usize>) -> Range<u32> {
    span.start as u32..span.end as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_that_replace_content_are_seen() {
        for style in [
            "all:unset",
            "color:red;ALL : revert",
            "content:url(a.png)",
            "a\\6cl:unset",
            "/**/all:unset",
            "a}b;all:unset",
        ] {
            assert!(replaces(style), "{style}");
        }
        for style in [
            "color:all",
            "width:1px;height:2px",
            "align-content:center",
            "--all:x",
        ] {
            assert!(!replaces(style), "{style}");
        }
    }

    #[test]
    fn only_space_and_plain_comments_are_nothing() {
        let check = |text: &str, expected: bool| assert_eq!(is_nothing(text.as_bytes()), expected, "{text}");
        check("", true);
        check(" \r\n\t", true);
        check("<!-- a --> <!--b-->\n", true);
        check("<!---->", true);
        check("<!-- a -- b > c -->", true);
        check("a", false);
        check("&nbsp;", false);
        check("<!-- a", false);
        check("<!-- a --> b", false);
        check("<!--[if IE]>-->", false);
        check("<!--[if IE]><br><![endif]-->", false);
        check("<!-- [if IE]> -->", false);
        check("<!--<![endif]-->", false);
        check("<!--> --><br>", false);
        check("<!---> -->", false);
        check("<!-- --!> <br> -->", false);
        check("<!-- <!-- -->", false);
        check("<!a>", false);
        check("</p>", false);
    }
}
