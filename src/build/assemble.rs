//! Puts what the stages found into a report.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Compared, Draft};
use crate::compare::{self, Views};
use crate::diagnostic::Diagnostic;
use crate::encode::{self, Coding};
use crate::graph::{Address, AddressId, Destination, Graph, Initiator, Request};
use crate::html::Kind;
use crate::measure::{self, Sizes};
use crate::media::{self, Media};
use crate::names::Names;
use crate::options::Options;
use crate::output::Written;
use crate::plan::{Action, Decision, Shape};
use crate::report::{self, Bytes, Content, Report, Sides, State, Weight};
use crate::site::{Site, SitePath};

pub(super) fn report(
    site: &Site,
    graph: &Graph,
    draft: &Draft<'_>,
    names: &Names,
    compared: &Compared<'_>,
    mut diagnostics: Vec<Diagnostic>,
    options: &Options,
) -> Report {
    let overhead = options.request_overhead;
    let mut texts = Texts::new(site, compared, overhead);
    let cached = Cached::new(compared);
    let mut pages = Vec::with_capacity(graph.pages.len());
    for (index, facts) in graph.pages.iter().enumerate() {
        let later = compared.after.as_ref();
        pages.push(report::Page {
            path: site.file(facts.file).path.clone(),
            before: views(&compared.before.views[index], overhead),
            after: later.map(|side| views(&side.views[index], overhead)),
            document: report::Weight {
                content: Content::Html,
                revalidated: true,
                bytes: Sides {
                    before: Some(bytes(compared.before.documents[index], 1, overhead)),
                    after: later.map(|side| bytes(side.documents[index], 1, overhead)),
                },
            },
            scripts: facts.scripted,
            requests: requests(
                site,
                graph,
                later.map(|side| (side.graph, compared)),
                index as u32,
                draft.shape,
                &cached,
                &mut texts,
            ),
        });
    }
    diagnostics.sort();
    diagnostics.dedup();
    let mut totals = report::Totals::of(&pages, site.files.len() as u64);
    totals.policy = policy_needs(graph, draft, options);
    totals.policy.extend(names.policy_needs(draft.site, options));
    totals.asked_for = compared.whole.as_ref().map(|whole| {
        let sum = |views: &[Views]| views.iter().map(|v| views_sum(v, overhead)).fold([0; 6], add);
        let after = compared.after.as_ref().map_or(&[][..], |side| &side.views);
        asked_for(sum(whole), sum(after), options)
    });
    Report {
        entry: graph
            .entry
            .map(|entry| site.file(graph.pages[entry as usize].file).path.clone()),
        measured: measured(options),
        pages,
        totals,
        decisions: decisions(draft, names),
        diagnostics,
        is_check: false,
        home: graph.mount.home(),
        verdict: report::Verdict::default(),
        journey: None,
    }
}

/// How a run with these options takes its numbers.
pub fn measured(options: &Options) -> report::Measured {
    let levels = measure::levels(options);
    report::Measured {
        gzip: encode::level_name(Coding::Gzip, levels.gzip),
        brotli: encode::level_name(Coding::Brotli, levels.brotli),
        viewport: report::Viewport {
            width: options.viewport.0,
            height: options.viewport.1,
        },
        request_overhead: options.request_overhead,
    }
}

fn views(views: &Views, overhead: u64) -> report::Views {
    let view = |count: &compare::Count| report::View {
        requests: count.requests,
        bytes: bytes(count.bytes, count.requests, overhead),
    };
    report::Views {
        first: view(&views.first),
        follow_up: view(&views.follow_up),
    }
}

/// Bodies with what the requests for them cost.
fn bytes(sizes: Sizes, requests: u64, overhead: u64) -> Bytes {
    let sum = |bytes: u64| bytes + requests * overhead;
    Bytes {
        identity: sum(sizes.identity),
        gzip: sum(sizes.gzip),
        br: sum(sizes.br),
    }
}

/// The addresses that a follow-up view finds in the cache.
struct Cached {
    before: HashSet<AddressId>,
    /// By the names of SITE.
    after: HashSet<String>,
}

impl Cached {
    fn new(compared: &Compared<'_>) -> Cached {
        let after = compared.after.iter().flat_map(|side| {
            compare::cached(side.graph).into_iter().map(|address| {
                let url = &side.graph.addresses[address as usize].url;
                compared.old(url).into_owned()
            })
        });
        Cached {
            before: compare::cached(compared.before.graph),
            after: after.collect(),
        }
    }
}

/// What the report shares: most pages name the same few files.
struct Texts<'a> {
    urls: Vec<Arc<str>>,
    /// Of SITE, by address, as first asked for.
    weights: Vec<Option<Arc<Weight>>>,
    initiators: HashMap<String, Arc<str>>,
    /// What only OUT asks for, by URL.
    added: HashMap<String, Arc<Weight>>,
    sizes: &'a [Sizes],
    /// Of SITE, by address: asked for again on every view.
    revalidated: Vec<bool>,
    /// Of OUT, by URL; the second part as above.
    later: HashMap<Cow<'a, str>, (Sizes, bool)>,
    media: Vec<Media>,
    overhead: u64,
    /// Of what is not requested from this site.
    nothing: Arc<Weight>,
}

impl<'a> Texts<'a> {
    fn new(site: &Site, compared: &'a Compared<'_>, overhead: u64) -> Texts<'a> {
        let addresses = &compared.before.graph.addresses;
        let media = |a: &Address| match a.to {
            Destination::File(file) => site.file(file).media,
            Destination::Redirect | Destination::Missing => named(&a.url),
        };
        let later = compared.after.iter().flat_map(|side| {
            let addresses = side.graph.addresses.iter().zip(&side.sizes).enumerate();
            addresses.map(|(i, (a, sizes))| {
                let revalidated = side.graph.is_revalidated(i as AddressId);
                (compared.old(&a.url), (*sizes, revalidated))
            })
        });
        let ids = 0..addresses.len() as AddressId;
        Texts {
            urls: addresses.iter().map(|a| Arc::from(a.url.as_str())).collect(),
            weights: vec![None; addresses.len()],
            initiators: HashMap::new(),
            added: HashMap::new(),
            sizes: &compared.before.sizes,
            later: later.collect(),
            revalidated: ids.map(|id| compared.before.graph.is_revalidated(id)).collect(),
            media: addresses.iter().map(media).collect(),
            overhead,
            nothing: Arc::new(Weight {
                content: Content::Other,
                revalidated: false,
                bytes: Sides::default(),
            }),
        }
    }

    fn weight(&mut self, address: AddressId, kind: Kind) -> Arc<Weight> {
        let index = address as usize;
        let later = self.later(&self.urls[index]);
        let weight = || {
            Arc::new(Weight {
                content: Content::of(kind, self.media[index]),
                revalidated: self.revalidated[index],
                bytes: Sides {
                    before: Some(bytes(self.sizes[index], 1, self.overhead)),
                    after: later,
                },
            })
        };
        self.weights[index].get_or_insert_with(weight).clone()
    }

    fn later(&self, url: &str) -> Option<Bytes> {
        let (sizes, _) = self.later.get(url)?;
        Some(bytes(*sizes, 1, self.overhead))
    }

    fn added_weight(&mut self, url: &str, kind: Kind) -> Arc<Weight> {
        if let Some(known) = self.added.get(url) {
            return known.clone();
        }
        let weight = Arc::new(Weight {
            content: Content::of(kind, named(url)),
            revalidated: self.later.get(url).is_some_and(|(_, again)| *again),
            bytes: Sides {
                before: None,
                after: self.later(url),
            },
        });
        self.added.insert(url.to_owned(), weight.clone());
        weight
    }

    fn shared(&mut self, text: &str) -> Arc<str> {
        let shared = self.initiators.entry(text.to_owned());
        shared.or_insert_with_key(|text| Arc::from(text.as_str())).clone()
    }

    fn initiator(&mut self, site: &Site, graph: &Graph, request: &Request) -> Arc<str> {
        let name = match request.initiator {
            Initiator::Markup => "markup".to_owned(),
            Initiator::Sheet(key) => site.file(graph.sheets[key as usize].file).path.to_string(),
            Initiator::StyleElement => "style element".to_owned(),
            Initiator::StyleAttribute => "style attribute".to_owned(),
        };
        self.shared(&name)
    }
}

/// The type that a URL's path says.
fn named(url: &str) -> Media {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    media::by_name(&SitePath::new(path))
}

fn requests(
    site: &Site,
    graph: &Graph,
    after: Option<(&Graph, &Compared<'_>)>,
    page: u32,
    shape: Option<&Shape>,
    cached: &Cached,
    names: &mut Texts<'_>,
) -> Vec<report::Request> {
    let later: Option<HashSet<Cow<'_, str>>> = after.map(|(out, compared)| {
        compare::requests(out, page)
            .map(|r| compared.old(&out.addresses[r.address as usize].url))
            .collect()
    });
    let facts = &graph.pages[page as usize];
    let mut seen = HashSet::new();
    let mut list = Vec::new();
    let mut redirected = HashSet::new();
    for request in compare::requests(graph, page) {
        let address = &graph.addresses[request.address as usize];
        if address.to == Destination::File(facts.file) || !seen.insert(request.address) {
            continue;
        }
        if address.to == Destination::Redirect {
            redirected.insert(format!("{}/", address.url));
            continue;
        }
        let stays = later
            .as_ref()
            .is_none_or(|later| later.contains(address.url.as_str()));
        let state = match address.to {
            _ if !stays => match shape.and_then(|shape| shape.moved.get(&address.url)) {
                Some(Action::Combine) => State::Combined,
                Some(Action::Share) => State::Shared,
                Some(Action::Same) => State::Same,
                _ => State::Inlined,
            },
            Destination::Missing => State::Missing,
            _ if redirected.contains(&address.url) => State::Redirect,
            _ if request.lazy => State::Lazy,
            _ => State::Kept,
        };
        list.push(report::Request {
            url: names.urls[request.address as usize].clone(),
            kind: request.kind,
            initiator: names.initiator(site, graph, request),
            state,
            weight: names.weight(request.address, request.kind),
            follow_up: Sides {
                before: !cached.before.contains(&request.address),
                after: state.counts_after()
                    && later.is_some()
                    && !cached.after.contains(address.url.as_str()),
            },
        });
    }
    let markup = names.shared("markup");
    let nothing = names.nothing.clone();
    let other = |url: Arc<str>, kind: Kind, state: State| report::Request {
        url,
        kind,
        initiator: markup.clone(),
        state,
        weight: nothing.clone(),
        follow_up: Sides::default(),
    };
    // What only OUT asks for: sheets that were made of others.
    let known: HashSet<&str> = compare::requests(graph, page)
        .map(|r| graph.addresses[r.address as usize].url.as_str())
        .collect();
    let mut added = HashSet::new();
    for request in after
        .iter()
        .flat_map(|(out, compared)| compare::requests(out, page).map(move |r| (out, compared, r)))
    {
        let (out, compared, request) = request;
        let url = out.addresses[request.address as usize].url.as_str();
        let old = compared.old(url);
        if !known.contains(&*old) && added.insert(url) {
            list.push(report::Request {
                weight: names.added_weight(url, request.kind),
                follow_up: Sides {
                    before: false,
                    after: !cached.after.contains(&*old),
                },
                ..other(names.shared(url), request.kind, State::Added)
            });
        }
    }
    list.extend(
        facts
            .icons
            .iter()
            .map(|&a| other(names.urls[a as usize].clone(), Kind::Icon, State::Icon)),
    );
    list.extend(
        facts
            .external
            .iter()
            .map(|url| other(names.shared(url), Kind::Meta, State::External)),
    );
    list
}

fn decisions(draft: &Draft<'_>, names: &Names) -> Vec<report::Decision> {
    let report = |(path, d): (&SitePath, &Decision)| report::Decision {
        file: names.shown(draft.site, path).clone(),
        action: d.action.name(),
        reason: d.reason.clone(),
        cost: report::Cost {
            requests_first: d.cost.requests_first,
            requests_follow_up: d.cost.requests_follow_up,
            bytes_gzip: d.cost.bytes_gzip,
            bytes_br: d.cost.bytes_br,
        },
    };
    let named = names.decisions.iter().map(|(path, decision)| (path, decision));
    let mut list: Vec<report::Decision> = draft.decisions().chain(named).map(report).collect();
    list.sort_by(|a, b| (&a.file, a.action, &a.reason).cmp(&(&b.file, b.action, &b.reason)));
    list
}

/// What OUT needs of a policy and SITE did not: pages under no policy today may get one from the server later.
fn policy_needs(graph: &Graph, draft: &Draft<'_>, options: &Options) -> Vec<String> {
    let is_data = |u: &crate::css::Url| {
        u.value
            .trim_start()
            .to_ascii_lowercase()
            .starts_with("data:image")
    };
    let had = graph
        .sheets
        .iter()
        .any(|sheet| sheet.scan.urls.iter().any(is_data));
    let mut uses = draft.shape.map(|shape| shape.uses).unwrap_or_default();
    uses.data_images = (uses.data_images || draft.plan.uses_data) && !had;
    uses.inline_styles &= !graph.pages.iter().any(|page| page.styled);
    uses.inline_scripts &= !graph.pages.iter().any(|page| page.runs_inline);
    let policies = [crate::policy::Policy::new(&options.csp)];
    crate::policy::needs(uses, &policies)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// First and follow-up view, each as it is, as gzip and as brotli.
fn views_sum(views: &Views, overhead: u64) -> [i64; 6] {
    let view = |count: &compare::Count| {
        let bytes = count.bytes;
        [bytes.identity, bytes.gzip, bytes.br].map(|b| (b + count.requests * overhead) as i64)
    };
    let (first, then) = (view(&views.first), view(&views.follow_up));
    [first[0], first[1], first[2], then[0], then[1], then[2]]
}

fn add(one: [i64; 6], other: [i64; 6]) -> [i64; 6] {
    std::array::from_fn(|i| one[i] + other[i])
}

/// What the options that were asked for by name add to all views.
fn asked_for(whole: [i64; 6], after: [i64; 6], options: &Options) -> report::AskedFor {
    let more: [i64; 6] = std::array::from_fn(|i| whole[i] - after[i]);
    let more = |at: usize| report::More {
        identity: more[at],
        gzip: more[at + 1],
        br: more[at + 2],
    };
    let named = [
        (options.fingerprint, "--fingerprint"),
        (options.cdn.is_some(), "--cdn"),
        (options.sri, "--sri"),
    ];
    report::AskedFor {
        options: named
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, name)| *name)
            .collect(),
        first: more(0),
        follow_up: more(3),
    }
}

/// What became of the files.
pub(super) fn summed(site: &Site, written: &[Written]) -> report::Written {
    let mut sum = report::Written::default();
    for (file, written) in site.files.iter().zip(written) {
        if file.variant_of.is_some() {
            continue;
        }
        match (file.editable, written.edited) {
            (false, _) => sum.excluded += 1,
            (true, true) => sum.edited += 1,
            (true, false) => sum.copied += 1,
        }
        sum.gzip += written.gzip_file;
        sum.br += written.br_file;
        sum.zstd += written.zstd_file;
    }
    sum
}
