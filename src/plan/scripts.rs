//! Small classic scripts that the parser waits for go into the page, byte for byte.

use std::collections::BTreeSet;

use super::account::Change;
use super::shape::Work;
use super::{Action, number_of_pages};
use crate::graph::AddressId;
use crate::integrity;
use crate::options::Pass;
use crate::site::FileId;

pub(super) fn decide(work: &mut Work<'_>) {
    let ground = work.ground;
    for address in 0..ground.graph().addresses.len() as AddressId {
        let Some(file) = ground.file_of(address) else {
            continue;
        };
        if work.joint_of.contains_key(&address) {
            continue;
        }
        if ground.codes.get(file).is_none() || !work.runs_on(Pass::Scripts, file) {
            continue;
        }
        if let Err(reason) = attempt(work, address, file) {
            work.keep(address, format!("not in the pages: {reason}"));
        }
    }
}

fn attempt(work: &mut Work<'_>, address: AddressId, file: FileId) -> Result<(), String> {
    let ground = work.ground;
    let code = ground.codes.get(file).ok_or("it is no script by its name")?;
    let text = code.text.clone().ok_or("its bytes are no UTF-8")?;
    code.facts.inline.map_err(str::to_owned)?;
    if !ground.context.site.file(file).editable {
        return Err("left out by --include or --exclude".into());
    }
    if text.len() as u64 > work.inline_cap() {
        return Err(format!("{} bytes are too many to be in every page", text.len()));
    }
    if integrity::is_sealed(text.as_bytes(), &ground.graph().seals) {
        return Err("a script holds the hash of its bytes".into());
    }
    let docs = ground.requested_by[address as usize].clone();
    for &page in &docs {
        let facts = &ground.graph().pages[page as usize];
        let doc = ground.docs[page as usize].as_ref();
        let refuses = match doc {
            None => Some("cannot be edited"),
            Some(doc) if !doc.alone => Some("has to do with frames"),
            Some(_) if ground.script(page, address).is_none() => {
                Some("asks for it by an element that cannot change")
            }
            Some(_) if !facts.allows_inline_scripts => Some("has a policy against inline scripts"),
            Some(doc) if doc.looks_up_scripts => Some("has a script that looks up script elements"),
            Some(doc) if doc.sees_scripts => Some("has a selector that could see that a script has no src"),
            Some(doc) if !text.is_ascii() && !doc.is_utf_8 => Some("has another encoding"),
            Some(_) if work.bans.pages.contains(&page) => Some("would get larger"),
            Some(_) => None,
        };
        if let Some(why) = refuses {
            return Err(format!("{} {why}", ground.name(page)));
        }
    }
    let alone = ground.measure(text.as_bytes());
    let change = Change {
        stops: vec![(address, ground.stops(address, &docs))],
        starts: Vec::new(),
        resizes: Vec::new(),
        grows: docs
            .iter()
            .map(|&page| (page, [alone.gzip as i64, alone.br as i64]))
            .collect(),
        blocks: true,
    };
    let cost = work.take(&change)?;
    let reason = format!("stands in the markup of {}", number_of_pages(docs.len()));
    work.decide(file, Action::Embed, reason, cost);
    let docs: BTreeSet<u32> = docs.into_iter().collect();
    work.scripts.insert(address, (text, docs));
    Ok(())
}
