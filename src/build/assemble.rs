//! Puts what the stages found into a report.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Compared, Draft};
use crate::compare::{self, Views};
use crate::diagnostic::Diagnostic;
use crate::encode::{self, Coding};
use crate::graph::{Destination, Graph, Initiator, Request};
use crate::html::Kind;
use crate::measure;
use crate::names::Names;
use crate::options::Options;
use crate::output::Written;
use crate::plan::{Action, Decision, Shape};
use crate::report::{self, Report, State};
use crate::site::{Site, SitePath};

pub(super) fn report(
    site: &Site,
    graph: &Graph,
    draft: &Draft<'_>,
    names: &Names,
    written: Option<&[Written]>,
    compared: &Compared<'_>,
    mut diagnostics: Vec<Diagnostic>,
    options: &Options,
) -> Report {
    let overhead = options.request_overhead;
    let mut texts = Texts::new(graph);
    let mut pages = Vec::with_capacity(graph.pages.len());
    for (index, facts) in graph.pages.iter().enumerate() {
        let later = compared
            .after
            .as_ref()
            .map(|(views, graph)| (views[index], *graph));
        pages.push(report::Page {
            path: site.file(facts.file).path.clone(),
            before: views(&compared.before[index], overhead),
            after: later.map(|(v, _)| views(&v, overhead)),
            requests: requests(
                site,
                graph,
                later.map(|(_, graph)| (graph, compared)),
                index as u32,
                draft.shape,
                &mut texts,
            ),
        });
    }
    diagnostics.sort();
    diagnostics.dedup();
    let levels = measure::levels(options);
    let mut totals = report::Totals::of(&pages, site.files.len() as u64);
    totals.policy = policy_needs(graph, draft, options);
    totals.policy.extend(names.policy_needs(draft.site, options));
    totals.asked_for = compared.whole.as_ref().map(|whole| {
        let sum = |views: &[Views]| views.iter().map(|v| views_sum(v, overhead)).fold([0; 6], add);
        let after = compared.after.as_ref().map_or(&[][..], |(views, _)| views);
        asked_for(sum(whole), sum(after), options)
    });
    totals.written = written.map(|written| summed(draft.site, written));
    Report {
        entry: graph
            .entry
            .map(|entry| site.file(graph.pages[entry as usize].file).path.clone()),
        measured: report::Measured {
            gzip: encode::level_name(Coding::Gzip, levels.gzip),
            brotli: encode::level_name(Coding::Brotli, levels.brotli),
            viewport: report::Viewport {
                width: options.viewport.0,
                height: options.viewport.1,
            },
            request_overhead: overhead,
        },
        pages,
        totals,
        decisions: decisions(draft, names),
        diagnostics,
        max_requests: None,
        is_check: false,
    }
}

fn views(views: &Views, overhead: u64) -> report::Views {
    let view = |count: &compare::Count| {
        let sum = |bytes: u64| bytes + count.requests * overhead;
        report::View {
            requests: count.requests,
            bytes: report::Bytes {
                identity: sum(count.bytes.identity),
                gzip: sum(count.bytes.gzip),
                br: sum(count.bytes.br),
            },
        }
    };
    report::Views {
        first: view(&views.first),
        follow_up: view(&views.follow_up),
    }
}

/// Shared strings of the report: most pages name the same few files.
struct Texts {
    urls: Vec<Arc<str>>,
    initiators: HashMap<String, Arc<str>>,
}

impl Texts {
    fn new(graph: &Graph) -> Texts {
        let urls = graph
            .addresses
            .iter()
            .map(|a| Arc::from(a.url.as_str()))
            .collect();
        Texts {
            urls,
            initiators: HashMap::new(),
        }
    }

    fn added(&mut self, url: &str) -> Arc<str> {
        let shared = self.initiators.entry(url.to_owned());
        shared.or_insert_with_key(|url| Arc::from(url.as_str())).clone()
    }

    fn initiator(&mut self, site: &Site, graph: &Graph, request: &Request) -> Arc<str> {
        let name = match request.initiator {
            Initiator::Markup => "markup".to_owned(),
            Initiator::Sheet(key) => site.file(graph.sheets[key as usize].file).path.to_string(),
            Initiator::StyleElement => "style element".to_owned(),
            Initiator::StyleAttribute => "style attribute".to_owned(),
        };
        self.initiators
            .entry(name)
            .or_insert_with_key(|name| Arc::from(name.as_str()))
            .clone()
    }
}

fn requests(
    site: &Site,
    graph: &Graph,
    after: Option<(&Graph, &Compared<'_>)>,
    page: u32,
    shape: Option<&Shape>,
    names: &mut Texts,
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
        });
    }
    let markup: Arc<str> = Arc::from("markup");
    let other = |url: Arc<str>, kind: Kind, state: State| report::Request {
        url,
        kind,
        initiator: markup.clone(),
        state,
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
        if !known.contains(&*compared.old(url)) && added.insert(url) {
            list.push(other(names.added(url), request.kind, State::Added));
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
            .map(|url| other(Arc::from(url.as_str()), Kind::Meta, State::External)),
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

fn summed(site: &Site, written: &[Written]) -> report::Written {
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
