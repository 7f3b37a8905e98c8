//! Captures of resources that were read and of prompts that were filled in: their lists, from what was recorded.

use super::Replay;
use loupe_core::json::{Node, write};
use loupe_sample::{LibraryService, Reference, Refusal};

/// The methods besides `tools/call` whose answers are captures; such a capture has the method as its tool's name.
const METHODS: &[&str] = &["resources/read", "prompts/get"];

/// The method with this name, if it is one of them.
pub(super) fn method(name: &str) -> Option<&'static str> {
    METHODS.iter().copied().find(|method| *method == name)
}

impl Replay {
    /// What was asked for by this method, by the member that names it, each once.
    fn list_names(&self, method: &'static str, member: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for group in self.of_tool(method, "") {
            let Some(name) = group
                .arguments
                .root()
                .and_then(|root| root.get(member))
                .and_then(Node::as_str)
            else {
                continue;
            };
            if !names.iter().any(|known| *known == name) {
                names.push(name.into_owned());
            }
        }
        names
    }
}

fn entries(names: &[String], entry: impl Fn(&str) -> String) -> String {
    let entries: Vec<String> = names
        .iter()
        .map(|name| entry(&write::string(name)))
        .collect();
    format!("[{}]", entries.join(","))
}

impl LibraryService for Replay {
    fn resources(&self) -> String {
        entries(&self.list_names("resources/read", "uri"), |uri| {
            format!("{{\"uri\":{uri},\"name\":{uri}}}")
        })
    }

    fn templates(&self) -> String {
        "[]".to_owned()
    }

    /// Only asked for what was not recorded.
    fn read(&self, _uri: &str) -> Result<String, Refusal> {
        Err(self.miss("resources/read", ""))
    }

    fn prompts(&self) -> String {
        entries(&self.list_names("prompts/get", "name"), |name| {
            format!("{{\"name\":{name}}}")
        })
    }

    /// Only asked for what was not recorded.
    fn prompt(&self, _name: &str, _arguments: Option<Node<'_>>) -> Result<String, Refusal> {
        Err(self.miss("prompts/get", ""))
    }

    fn complete(
        &self,
        _of: Reference<'_>,
        _argument: &str,
        _typed: &str,
    ) -> Result<Vec<String>, Refusal> {
        Ok(Vec::new())
    }
}
