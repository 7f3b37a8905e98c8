//! The sample server: five real systems re-created with their templates, errors, limits and faults.
//!
//! The faults are the point and are kept exactly; comments call them by that name. Nothing is random and the clock
//! stands still, so two runs are equal byte for byte. State belongs to one `Sample` and goes with it.

mod autoreply;
mod companies;
mod data;
mod delegator;
mod dial;
mod dual;
mod elicitation;
mod hostile;
mod kit;
mod library;
mod media;
mod output;
mod page;
mod posts;
mod probe;
mod records;
mod schema;
mod strict;
mod tasks;
mod text;
mod words;

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value;

pub use self::probe::Probe;

use self::kit::{Group, SampleOptions, Set};
use super::Backend;
use super::rpc::{self, INVALID_PARAMS, LibraryService, Refusal, Service};
use loupe_core::json::Node;
use loupe_core::problem::Problem;
use loupe_core::source::SampleSpec;

/// The built-in sample server.
pub struct Sample {
    /// What was asked for, as `--sample=` takes it.
    spec: String,
    groups: Vec<Box<dyn Group>>,
    /// The full name of every tool, with its group and its place there.
    index: BTreeMap<String, (usize, usize)>,
    definitions: String,
    asking: elicitation::Asking,
}

impl Sample {
    /// Makes the records of the chosen set.
    ///
    /// # Errors
    /// An unknown set, key or value.
    pub fn new(spec: &SampleSpec) -> Result<Self, Problem> {
        let options = SampleOptions::read(spec)?;
        let all = spec.set == "all";
        let wanted = |set: &str| all || spec.set == set;
        let (size, hostile) = (options.size, options.hostile);
        let asking = elicitation::Asking::new(options.shape == "input-text");
        let mut groups = Vec::new();
        if wanted("autotask-dual") {
            groups.push(Set::boxed(
                &dual::KIT,
                all,
                &options,
                data::Desk::new(size, hostile),
            ));
        }
        if wanted("autotask-strict") {
            groups.push(Set::boxed(
                &strict::KIT,
                all,
                &options,
                data::Desk::new(size, hostile),
            ));
        }
        if wanted("dial") {
            groups.push(Set::boxed(
                &dial::KIT,
                all,
                &options,
                data::Directory::new(size, hostile),
            ));
        }
        if wanted("delegator") {
            groups.push(Set::boxed(
                delegator::kit(&options),
                all,
                &options,
                tasks::TasksByOutcome::new(size, hostile),
            ));
        }
        if wanted("autoreply") {
            groups.push(Set::boxed(
                &autoreply::KIT,
                all,
                &options,
                posts::Network::new(size, hostile),
            ));
        }
        let mut index = BTreeMap::new();
        let mut definitions = Vec::new();
        for (place, group) in groups.iter().enumerate() {
            for (position, definition) in group.definitions().into_iter().enumerate() {
                if let Some(name) = definition["name"].as_str() {
                    index.insert(name.to_owned(), (place, position));
                }
                definitions.push(definition);
            }
        }
        Ok(Self {
            spec: spec.to_string(),
            groups,
            index,
            definitions: Value::Array(definitions).to_string(),
            asking,
        })
    }
}

impl Backend for Sample {
    fn handle(&self, message: &[u8]) -> Vec<Bytes> {
        self.handle_of("", message)
    }

    fn handle_of(&self, session: &str, message: &[u8]) -> Vec<Bytes> {
        self.asking
            .handle(self, session, message)
            .unwrap_or_else(|| rpc::answer(self, message))
    }
}

impl Service for Sample {
    fn name(&self) -> &str {
        "loupe-sample"
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn round(
        &self,
        params: Option<Node<'_>>,
        can_be_asked: bool,
    ) -> Option<Result<String, Refusal>> {
        self.asking.round(self, params?, can_be_asked)
    }

    fn instructions(&self) -> &str {
        "Loupe's sample server: re-creates the response formats of real MCP servers, faults included, over made-up records. \
         Each tool's description says which system and variant it is."
    }

    fn tools(&self) -> &str {
        &self.definitions
    }

    fn call(&self, tool: &str, arguments: Option<Node<'_>>) -> Result<String, Refusal> {
        let Some(&(group, position)) = self.index.get(tool) else {
            let known: Vec<_> = self.index.keys().map(String::as_str).collect();
            return Err(Refusal::new(
                INVALID_PARAMS,
                format!("Unknown tool: {tool}. Known tools: {}", known.join(", ")),
            ));
        };
        Ok(self.groups[group].call(position, arguments).to_string())
    }

    fn library(&self) -> Option<&dyn LibraryService> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
