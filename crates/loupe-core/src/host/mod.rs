//! What the model of each host is shown for a result, by rules that are data.
//!
//! `hosts.toml` holds the rules (`rules` reads them), one small interpreter (`run`, `fill`, `deliver`) applies
//! them with no code for any single host and makes a `view`, `limit` cuts, `definition` tells what the model sees of the
//! tool, `probe` goes the other way: from what a host showed to its rules. Every range of a view knows its origin (`source_map`).

mod cache;
pub mod client;
pub mod definition;
mod deliver;
mod fill;
mod limit;
pub mod losses;
mod most_read;
mod number;
mod parts;
pub mod probe;

mod read;
mod render;
pub mod rules;
mod run;
mod schema;
mod source_map;
mod template;
mod view;
mod write;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use cache::RenderCache;
pub use limit::{LimitOutcome, LimitState, Truncation};
pub use most_read::{MostRead, ReadChoice, ResultPart, ResultShape};
pub use rules::{Evidence, Host, HostId, HostKind};
pub use source_map::{Span, TextOrigin};
pub use template::{Template, TemplatePiece, Var};
pub use view::{HOLE, HostView, Omission, OmittedPart, Part, ViewContext};

use crate::problem::Problem;

/// The rules that come with Loupe.
const BUILT_IN: &str = include_str!("hosts.toml");

/// Every host that is known, in the order of the files: a user's own first.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    hosts: Vec<Arc<Host>>,
    /// What is wrong with a file; its hosts are not in the list.
    pub problems: Vec<Problem>,
    /// The day of the newest check, `YYYY-MM-DD`.
    pub checked: String,
    read_counts: most_read::ReadCounts,
}

impl Hosts {
    /// The hosts that come with Loupe, read once per process.
    pub fn built_in() -> Arc<Hosts> {
        static HOSTS: OnceLock<Arc<Hosts>> = OnceLock::new();
        let read = || match read::file(BUILT_IN, "the built-in hosts") {
            Ok((hosts, checked)) => Arc::new(Hosts {
                hosts: hosts.into_iter().map(Arc::new).collect(),
                checked,
                ..Hosts::default()
            }),
            Err(problem) => Arc::new(Hosts {
                problems: vec![problem],
                ..Hosts::default()
            }),
        };
        Arc::clone(HOSTS.get_or_init(read))
    }

    /// The entry of a built-in host as `hosts.toml` has it, its comments and the line `[[host]]` left out.
    pub fn built_in_entry(id: &str) -> Option<String> {
        let mark = format!("id = {}", crate::json::write::string(id));
        let entry = BUILT_IN
            .split("[[host]]\n")
            .skip(1)
            .find(|entry| entry.lines().next() == Some(&mark))?;
        let lines = entry.trim_end().lines();
        Some(
            lines
                .filter(|line| !line.starts_with('#'))
                .map(|line| format!("{line}\n"))
                .collect(),
        )
    }

    /// These hosts and those of a user's own file, which come first and take the place of one with the same id. A file
    /// that cannot be read as a whole changes nothing but `problems`. `place` names the file in them.
    #[must_use]
    pub fn with_file(&self, text: &str, place: &str) -> Hosts {
        let mut all = self.clone();
        match read::file(text, place) {
            Ok((own, _)) => {
                all.hosts
                    .retain(|host| own.iter().all(|new| new.id != host.id));
                let own = own.into_iter().map(|host| {
                    Arc::new(Host {
                        is_own: true,
                        ..host
                    })
                });
                all.hosts.splice(0..0, own);
                all.read_counts = Default::default();
            }
            Err(problem) => all.problems.push(problem),
        }
        all
    }

    /// These hosts, and a problem to show.
    #[must_use]
    pub fn with_problem(&self, problem: Problem) -> Hosts {
        let mut all = self.clone();
        all.problems.push(problem);
        all
    }

    /// Those of these ids.
    #[must_use]
    pub fn only(&self, ids: &[HostId]) -> Hosts {
        let mut some = self.clone();
        some.hosts.retain(|host| ids.contains(&host.id));
        some.read_counts = Default::default();
        some
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Host>> {
        self.hosts.iter()
    }

    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// The host with this id.
    pub fn get(&self, id: &str) -> Option<&Arc<Host>> {
        self.hosts.iter().find(|host| host.id.as_str() == id)
    }
}

/// Ids are few and live as long as the process, so that questions about hosts stay `Copy`.
fn intern(text: &str) -> &'static str {
    static IDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut ids = IDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(id) = ids.get(text) {
        return id;
    }
    let id: &'static str = Box::leak(text.to_owned().into_boxed_str());
    ids.insert(id);
    id
}

#[cfg(test)]
pub(crate) mod tests;
