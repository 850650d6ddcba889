//! What the passes of the shape start from, the same in all of their rounds: every page surveyed, every script and
//! selector read, every size measured.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::code::Codes;
use super::printed::{Known, Prints, print_all};
use super::shape::bytes_of;
use super::survey::{self, Image, Link, Script, Survey};
use super::{Context, local};
use crate::css::{self, AttributeTest, SelectorFacts, Subject};
use crate::graph::{AddressId, Destination, Graph};
use crate::html::Kind;
use crate::measure::{self, Sizes};
use crate::options::Pass;
use crate::site::FileId;
use crate::{parallel, variants};

/// A page that may be edited, with what decides which of its tags may change.
#[derive(Debug)]
pub(super) struct Doc {
    pub(super) survey: Survey,
    /// Why its stylesheet links stay where they are, under whatever name.
    pub(super) fixed_sheets: Option<&'static str>,
    /// Why they keep their names.
    pub(super) fixed_names: Option<&'static str>,
    /// Why the addresses of its images stay as they are.
    pub(super) fixed_images: Option<&'static str>,
    /// Of its `style` elements: attribute selectors, and what they set `content` for.
    pub(super) tests: Vec<AttributeTest>,
    pub(super) replaced: Vec<Subject>,
    pub(super) is_utf_8: bool,
    /// A script of the page looks up script elements.
    pub(super) looks_up_scripts: bool,
    /// A rule could see that a script stands in the page.
    pub(super) sees_scripts: bool,
    /// It is shown in no frame and has none.
    pub(super) alone: bool,
    /// Names that its scripts, wherever they are, declare by `let`, `const` and `class`.
    pub(super) lexical: BTreeSet<String>,
    /// The names of some script are not known.
    pub(super) unread: bool,
    /// With `--combine-scripts`: names that its inline scripts take from outside, with the place of each script.
    pub(super) outer: Vec<(u32, HashSet<u64>)>,
    has_custom_urls: bool,
}

/// What stays the same in all rounds.
pub(super) struct Ground<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) prints: Prints,
    /// By page; `None` where nothing may change.
    pub(super) docs: Vec<Option<Doc>>,
    /// By address: the documents that request it.
    pub(super) requested_by: Vec<Vec<u32>>,
    /// By key of the stylesheet.
    pub(super) selectors: Vec<SelectorFacts>,
    /// By key: those of its attribute selectors that pictures could be asked by.
    pub(super) tests: Vec<Vec<AttributeTest>>,
    pub(super) codes: Codes,
    pub(super) sizes: Vec<(Sizes, bool)>,
    /// By page: what printing its own CSS will save.
    pub(super) gains: Vec<[i64; 2]>,
    /// Printed `style` elements that many pages have.
    pub(super) styles: Known,
    /// Some custom property holds a relative address, which is resolved where `var()` stands.
    pub(super) has_custom_urls: bool,
    /// Some script registers a service worker: no file gets a new name.
    pub(super) has_worker: bool,
}

impl<'a> Ground<'a> {
    pub(super) fn new(context: &'a Context<'a>) -> anyhow::Result<Ground<'a>> {
        let graph = context.graph;
        let prints = print_all(context)?;
        let keys: Vec<usize> = (0..graph.sheets.len()).collect();
        let selectors = parallel::map(&keys, |&key| match &graph.sheets[key].text {
            Some(text) => css::selector_facts(&text.text),
            None => SelectorFacts {
                unreadable: true,
                ..SelectorFacts::default()
            },
        });
        let codes = Codes::read(context)?;
        let mut requested_by = vec![Vec::new(); graph.addresses.len()];
        for (page, facts) in graph.pages.iter().enumerate() {
            for request in &*facts.requests {
                requested_by[request.address as usize].push(page as u32);
            }
        }
        let mut ground = Ground {
            context,
            prints,
            docs: Vec::new(),
            requested_by,
            tests: selectors.iter().map(tests_of_pictures).collect(),
            selectors,
            codes,
            sizes: Vec::new(),
            gains: Vec::new(),
            styles: Known::new(),
            has_custom_urls: false,
            has_worker: graph.has_worker,
        };
        ground.sizes = ground.measure_all()?;
        let pages: Vec<u32> = (0..graph.pages.len() as u32).collect();
        let docs: Vec<anyhow::Result<Option<Doc>>> = parallel::map(&pages, |&page| ground.doc(page));
        ground.docs = docs.into_iter().collect::<anyhow::Result<_>>()?;
        let in_sheets = graph.sheets.iter().any(|sheet| has_custom_urls(&sheet.scan));
        ground.has_custom_urls = in_sheets || ground.docs.iter().flatten().any(|doc| doc.has_custom_urls);
        if context.runs(Pass::Minify) {
            ground.styles = local::styles(context, &pages)?;
        }
        let gains = parallel::map(&pages, |&page| local::gain(context, &ground.styles, page));
        ground.gains = gains.into_iter().collect::<anyhow::Result<_>>()?;
        Ok(ground)
    }

    /// The size of every address, and whether rendering waits for it.
    fn measure_all(&self) -> anyhow::Result<Vec<(Sizes, bool)>> {
        let (site, graph, options) = (self.context.site, self.context.graph, self.context.options);
        let mut blocks = vec![false; graph.addresses.len()];
        for request in graph.pages.iter().flat_map(|page| &*page.requests) {
            blocks[request.address as usize] |= matches!(request.kind, Kind::Stylesheet | Kind::Script);
        }
        let ids: Vec<usize> = (0..graph.addresses.len()).collect();
        let sizes = parallel::map(&ids, |&id| {
            let Destination::File(file) = graph.addresses[id].to else {
                return Ok(Sizes::default());
            };
            if let Some(key) = graph.sheet_of(file)
                && let Ok(printed) = &self.prints[key as usize]
            {
                return Ok(printed.sizes);
            }
            let entry = site.file(file);
            // Documents count by what they grow.
            if graph.page_of(file).is_some() || !variants::wanted(entry, options) {
                return Ok(Sizes::plain(entry.size));
            }
            anyhow::Ok(measure::sizes(
                &site.read(file)?,
                true,
                measure::levels(options),
                options,
            ))
        });
        sizes
            .into_iter()
            .zip(blocks)
            .map(|(sizes, blocks)| Ok((sizes?, blocks)))
            .collect()
    }

    fn doc(&self, page: u32) -> anyhow::Result<Option<Doc>> {
        let context = self.context;
        let facts = &context.graph.pages[page as usize];
        if facts.opaque.is_some() || facts.encoding.is_none() || !context.site.file(facts.file).editable {
            return Ok(None);
        }
        let mut found = survey::read(context.site, context.graph, page)?;
        // What CSS asks for is asked for by something else as well.
        let others = &mut found.survey.others;
        others.extend(facts.uses.iter().map(|used| used.address));
        others.sort_unstable();
        others.dedup();
        let mut tests = Vec::new();
        let mut replaced = Vec::new();
        let (mut sees_links, mut sees_scripts, mut unreadable) = (false, false, !facts.aligned);
        let mut add = |selectors: &SelectorFacts| {
            sees_links |= selectors.sees_links;
            sees_scripts |= selectors.sees_scripts || selectors.unreadable;
            unreadable |= selectors.unreadable;
        };
        for &key in &*facts.sheets {
            add(&self.selectors[key as usize]);
        }
        for text in &found.styles {
            let selectors = css::selector_facts(text);
            add(&selectors);
            tests.extend(tests_of_pictures(&selectors));
            replaced.extend(selectors.replaced);
        }
        let scripts = self.codes.of_page(context, page, &found);
        let known: Vec<bool> = found
            .survey
            .images
            .iter()
            .map(|image| image.id.as_ref().is_some_and(|id| scripts.know(id, &found)))
            .collect();
        for (image, known) in found.survey.images.iter_mut().zip(known) {
            image.free &= !known;
        }
        let is_named = found.survey.links.iter().any(|link| {
            let file = self
                .file_of(link.address)
                .map(|file| &context.site.file(file).path);
            file.is_some_and(|path| {
                let name = String::from_utf8_lossy(path.name());
                scripts.sheet_names.contains("") || scripts.sheet_names.contains(&*name)
            })
        });
        let fixed_names = match () {
            () if is_named => Some("a script of the page names a stylesheet of it"),
            () if !facts.allows_own_names => Some("a policy names the files that the page may load"),
            () => None,
        };
        let fixed_sheets = match () {
            () if fixed_names.is_some() => fixed_names,
            () if scripts.looks.sheets => Some("a script of the page may look up stylesheets"),
            () if sees_links => Some("a selector of the page could see that a link is gone"),
            () => None,
        };
        let fixed_images = match () {
            () if !facts.allows_data => Some("the page's policy forbids data: images"),
            () if scripts.looks.images || found.survey.swaps_images => {
                Some("a script of the page may look up images or set their src")
            }
            () if unreadable => Some("a selector of the page could not be read"),
            () => None,
        };
        let has_custom_urls = found.survey.custom_urls
            || scripts.sets_urls
            || found
                .styles
                .iter()
                .any(|text| text.contains("--") && has_custom_urls(&css::scan(text, false)));
        Ok(Some(Doc {
            survey: found.survey,
            fixed_sheets,
            fixed_names,
            fixed_images,
            replaced,
            tests,
            looks_up_scripts: scripts.looks.scripts,
            sees_scripts,
            lexical: scripts.lexical,
            unread: scripts.unread,
            outer: scripts.outer,
            has_custom_urls,
            is_utf_8: facts.encoding == Some(encoding_rs::UTF_8),
            alone: self.context.relations.views_of[page as usize].len() == 1
                && context.relations.documents[page as usize].len() == 1,
        }))
    }

    pub(super) fn graph(&self) -> &'a Graph {
        self.context.graph
    }

    pub(super) fn file_of(&self, address: AddressId) -> Option<FileId> {
        match self.graph().addresses[address as usize].to {
            Destination::File(file) => Some(file),
            _ => None,
        }
    }

    /// The one link of a page to this address, if it can be written in another way.
    pub(super) fn link(&self, page: u32, address: AddressId) -> Option<&Link> {
        let doc = self.docs[page as usize].as_ref()?;
        let mut links = doc.survey.links.iter().filter(|link| link.address == address);
        let link = links.next().filter(|link| link.free)?;
        let apart = links.next().is_none()
            && doc.fixed_names.is_none()
            && doc.survey.others.binary_search(&address).is_err();
        apart.then_some(link)
    }

    /// All places of a page that name this picture, if nothing else asks for it and all can be written in another way.
    pub(super) fn images(&self, page: u32, address: AddressId) -> &[Image] {
        let Some(doc) = &self.docs[page as usize] else {
            return &[];
        };
        let images = &doc.survey.images;
        let start = images.partition_point(|image| image.address < address);
        let count = images[start..].partition_point(|image| image.address == address);
        let images = &images[start..start + count];
        let apart = images.iter().all(|image| image.free)
            && doc.fixed_images.is_none()
            && doc.survey.others.binary_search(&address).is_err();
        if apart { images } else { &[] }
    }

    /// Why a picture that the page's markup names stays a file of its own there; `None` where nothing speaks for it, and
    /// where the markup does not name it.
    pub(super) fn fixed_image(&self, page: u32, address: AddressId) -> Option<&'static str> {
        let doc = self.docs[page as usize].as_ref()?;
        let mut places = doc.survey.images.iter().filter(|image| image.address == address);
        let first = places.next()?;
        match () {
            () if doc.fixed_images.is_some() => doc.fixed_images,
            () if !doc.alone => Some("the page has to do with frames"),
            () if doc.survey.others.binary_search(&address).is_ok() => {
                Some("something else of the page asks for it as well")
            }
            () if !first.free || places.any(|image| !image.free) => {
                Some("an attribute or a script of the page speaks against another address")
            }
            () => None,
        }
    }

    /// Further elements of a page for this image: with the one before in the window of gzip (32 KiB, RFC 1951,
    /// section 2), and out of it.
    pub(super) fn copies(&self, page: u32, address: AddressId) -> (i64, i64) {
        const WINDOW: u32 = 32 << 10;
        let images = self.images(page, address);
        let gaps = images
            .windows(2)
            .map(|pair| pair[1].src.start - pair[0].src.start);
        let (near, far): (Vec<u32>, Vec<u32>) = gaps.partition(|&gap| gap < WINDOW);
        (near.len() as i64, far.len() as i64)
    }

    /// The one script element of a page with this address, if it can be written in another way.
    pub(super) fn script(&self, page: u32, address: AddressId) -> Option<&Script> {
        let doc = self.docs[page as usize].as_ref()?;
        let mut scripts = doc
            .survey
            .scripts
            .iter()
            .filter(|script| script.address == address);
        let script = scripts.next().filter(|script| script.free)?;
        let apart = scripts.next().is_none() && doc.survey.others.binary_search(&address).is_err();
        apart.then_some(script)
    }

    /// Pages that stop requesting the address when these documents no longer ask for it.
    pub(super) fn stops(&self, address: AddressId, docs: &[u32]) -> Vec<u32> {
        let relations = &self.context.relations;
        if relations.framed.is_empty() {
            return docs.to_vec();
        }
        let asks = |document: u32| {
            self.requested_by[address as usize]
                .binary_search(&document)
                .is_ok()
        };
        let all = |view: &u32| {
            relations.documents[*view as usize]
                .iter()
                .all(|&d| !asks(d) || docs.binary_search(&d).is_ok())
        };
        relations.requests[address as usize]
            .iter()
            .copied()
            .filter(all)
            .collect()
    }

    /// Pages whose view holds one of these documents.
    pub(super) fn views(&self, docs: &[u32]) -> Vec<u32> {
        let views: BTreeSet<u32> = docs
            .iter()
            .flat_map(|&d| self.context.relations.views_of[d as usize].iter().copied())
            .collect();
        views.into_iter().collect()
    }

    pub(super) fn measure(&self, text: &[u8]) -> Sizes {
        let options = self.context.options;
        let coded = options.gzip_level.is_some() || options.brotli_quality.is_some();
        measure::sizes(text, coded, measure::levels(options), options)
    }

    /// The size of a sheet that was made of others, in terms of theirs at the fast levels. Where the final levels see
    /// less of a gain, theirs counts: brotli 11 has packed the parts better than brotli 5 promised of the whole.
    pub(super) fn measure_joined(&self, whole: &str, parts: &[&str]) -> Sizes {
        let fast = self.measure(&bytes_of(whole));
        let options = self.context.options;
        let levels = measure::final_levels(options);
        if levels == measure::levels(options)
            || (options.gzip_level.is_none() && options.brotli_quality.is_none())
        {
            return fast;
        }
        let texts: Vec<&str> = std::iter::once(whole).chain(parts.iter().copied()).collect();
        let both = parallel::map(&texts, |text| {
            let bytes = bytes_of(text);
            (
                self.measure(&bytes),
                measure::sizes(&bytes, true, levels, options),
            )
        });
        let sum = |of: &dyn Fn(&(Sizes, Sizes)) -> u64| both[1..].iter().map(of).sum::<u64>();
        let adjusted = |fast: u64, fast_parts: u64, full: u64, full_parts: u64| {
            fast.max((fast_parts + full).saturating_sub(full_parts))
        };
        Sizes {
            identity: fast.identity,
            gzip: adjusted(fast.gzip, sum(&|s| s.0.gzip), both[0].1.gzip, sum(&|s| s.1.gzip)),
            br: adjusted(fast.br, sum(&|s| s.0.br), both[0].1.br, sum(&|s| s.1.br)),
        }
    }

    pub(super) fn name(&self, page: u32) -> String {
        let file = self.graph().pages[page as usize].file;
        self.context.site.file(file).path.to_string()
    }
}

impl Ground<'_> {
    /// What the sheet says, printed, where every page reads its bytes as the same characters.
    pub(super) fn unicode(&self, key: u32) -> Option<Arc<str>> {
        let printed = self.prints[key as usize].as_ref().ok()?;
        let text = css::without_charset(&printed.text);
        if !text.is_ascii() {
            let source = &printed.source;
            let declares = source.has_mark() || css::declares_utf_8(&source.text);
            let read_as_utf_8 = || {
                self.context.relations.loads[key as usize].iter().all(|&page| {
                    self.context.relations.documents[page as usize]
                        .iter()
                        .all(|&d| self.graph().pages[d as usize].encoding == Some(encoding_rs::UTF_8))
                })
            };
            if !source.is_utf_8() || !(declares || read_as_utf_8()) {
                return None;
            }
        }
        Some(text.into())
    }
}

/// Attribute selectors that could see what is written in another way: the class or `src` of an `img`, and the
/// address in other elements.
fn tests_of_pictures(selectors: &SelectorFacts) -> Vec<AttributeTest> {
    let of_img = selectors
        .tests_of_images
        .iter()
        .filter(|test| test.name == "class");
    let of_all = selectors.attribute_tests.iter();
    let of_all = of_all.filter(|test| test.name == "src" || test.name == "background");
    of_img.chain(of_all).cloned().collect()
}

/// Some custom property holds an address that is not absolute.
fn has_custom_urls(scan: &css::Scan) -> bool {
    scan.urls.iter().any(|url| {
        let absolute = url.value.trim_start().split_once(':').is_some_and(|(scheme, _)| {
            !scheme.is_empty()
                && scheme
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
        });
        url.place == css::Place::Custom && !absolute
    })
}
