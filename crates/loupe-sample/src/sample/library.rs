//! The sample's resources and prompts: its records as they are now, a page about itself, a picture, three prompts.
//!
//! `sample://SET/KIND` holds all records of a kind, `sample://SET/KIND/{key}` one of them.

use serde_json::{Value, json};

use super::Sample;
use super::data::{NOW, iso};
use super::kit::ShelfCard;
use super::media::PNG;
use crate::rpc::{INVALID_PARAMS, LibraryService, RESOURCE_NOT_FOUND, Reference, Refusal};
use loupe_core::json::Node;

const ABOUT: &str = "sample://about";
const LOGO: &str = "sample://logo.png";

/// The lengths that `summarize` takes.
const LENGTHS: &[&str] = &["one sentence", "one paragraph", "one page"];

fn uri(shelf: &ShelfCard) -> String {
    format!("sample://{}/{}", shelf.set, shelf.name)
}

fn template(shelf: &ShelfCard) -> String {
    format!("{}/{{{}}}", uri(shelf), shelf.key)
}

/// The value that tells a record from others, as it is in a URI.
fn key_of(record: &Value, key: &str) -> String {
    record[key]
        .as_str()
        .map_or_else(|| record[key].to_string(), str::to_owned)
}

impl Sample {
    fn shelves(&self) -> impl Iterator<Item = ShelfCard> {
        self.groups.iter().flat_map(|group| group.shelves())
    }

    fn records(&self, shelf: &ShelfCard) -> Option<Value> {
        let group = self
            .groups
            .iter()
            .find(|group| group.shelves().iter().any(|known| known.set == shelf.set))?;
        group.records(shelf.name)
    }

    fn about(&self) -> String {
        let shelves: Vec<_> = self
            .shelves()
            .map(|shelf| format!("- `{}`: {}", uri(&shelf), shelf.about))
            .collect();
        format!(
            "# Loupe's sample server\n\nRe-creates the answers of real MCP servers, faults included. Nothing here is real: the records are made from \
             word lists, the clock stands at {}, and two runs are equal byte for byte.\n\nRuns as `--sample={}`, with {} tools.\n\n## Records\n\n{}\n",
            iso(NOW),
            self.spec,
            self.index.len(),
            shelves.join("\n")
        )
    }

    /// The contents behind a URI, as one entry of `contents`.
    fn contents(&self, asked: &str) -> Option<Value> {
        match asked {
            ABOUT => {
                return Some(
                    json!({"uri": asked, "mimeType": "text/markdown", "text": self.about()}),
                );
            }
            LOGO => return Some(json!({"uri": asked, "mimeType": "image/png", "blob": PNG})),
            _ => {}
        }
        let data = self.shelves().find_map(|shelf| {
            let rest = asked.strip_prefix(&uri(&shelf))?;
            if rest.is_empty() {
                return self.records(&shelf);
            }
            let wanted = rest.strip_prefix('/').filter(|_| !shelf.key.is_empty())?;
            self.records(&shelf)?
                .as_array()?
                .iter()
                .find(|record| key_of(record, shelf.key) == wanted)
                .cloned()
        })?;
        Some(json!({"uri": asked, "mimeType": "application/json", "text": data.to_string()}))
    }

    fn summarize(&self, argument: impl Fn(&str) -> Option<String>) -> Result<Value, Refusal> {
        let asked =
            argument("uri").ok_or_else(|| Refusal::new(INVALID_PARAMS, "Missing argument: uri"))?;
        let contents = self.contents(&asked).ok_or_else(|| not_found(&asked))?;
        let length = argument("length").unwrap_or_else(|| LENGTHS[0].into());
        Ok(json!([
            {"role": "user", "content": {"type": "text", "text": format!("Summarize this in {length}. Name every ID.")}},
            {"role": "user", "content": {"type": "resource", "resource": contents}},
        ]))
    }

    fn which_format(&self, argument: impl Fn(&str) -> Option<String>) -> Result<Value, Refusal> {
        let tool = argument("tool")
            .ok_or_else(|| Refusal::new(INVALID_PARAMS, "Missing argument: tool"))?;
        if !self.index.contains_key(&tool) {
            return Err(Refusal::new(
                INVALID_PARAMS,
                format!("Unknown tool: {tool}"),
            ));
        }
        let text = format!(
            "Call `{tool}` once. Then list which facts of its answer you would need to act on it, and say in which format you would \
             rather have had them."
        );
        Ok(json!([{"role": "user", "content": {"type": "text", "text": text}}]))
    }
}

fn not_found(uri: &str) -> Refusal {
    Refusal::new(RESOURCE_NOT_FOUND, format!("Resource not found: {uri}"))
}

impl LibraryService for Sample {
    fn resources(&self) -> String {
        let mut list = vec![
            json!({"uri": ABOUT, "name": "about", "title": "About the sample", "description": "What runs here, and which records there are",
                "mimeType": "text/markdown", "annotations": {"audience": ["user", "assistant"], "priority": 1.0}}),
            json!({"uri": LOGO, "name": "logo.png", "title": "A lens", "description": "A picture of 16 by 16 pixels",
                "mimeType": "image/png", "annotations": {"audience": ["user"], "priority": 0.1}}),
        ];
        list.extend(self.shelves().map(|shelf| {
            json!({"uri": uri(&shelf), "name": format!("{}-{}", shelf.set, shelf.name), "description": shelf.about, "mimeType": "application/json"})
        }));
        Value::Array(list).to_string()
    }

    fn templates(&self) -> String {
        let template = |shelf: ShelfCard| {
            json!({"uriTemplate": template(&shelf), "name": format!("{}-{}-one", shelf.set, shelf.name),
                "description": format!("One of: {}", shelf.about), "mimeType": "application/json"})
        };
        self.shelves()
            .filter(|shelf| !shelf.key.is_empty())
            .map(template)
            .collect::<Value>()
            .to_string()
    }

    fn read(&self, uri: &str) -> Result<String, Refusal> {
        let contents = self.contents(uri).ok_or_else(|| not_found(uri))?;
        Ok(json!({"contents": [contents]}).to_string())
    }

    fn prompts(&self) -> String {
        json!([
            {"name": "summarize", "title": "Summarize a record", "description": "A summary of anything that is a resource here", "arguments": [
                {"name": "uri", "description": "URI of the resource", "required": true},
                {"name": "length", "description": "How long it may be"},
            ]},
            {"name": "which_format", "title": "Which format?", "description": "Asks a model in which format it wants an answer", "arguments": [
                {"name": "tool", "description": "A tool of this server", "required": true},
            ]},
            {"name": "about", "description": "What this server is"},
        ])
        .to_string()
    }

    fn prompt(&self, name: &str, arguments: Option<Node<'_>>) -> Result<String, Refusal> {
        let argument = |name: &str| Some(arguments?.get(name)?.as_str()?.into_owned());
        let messages = match name {
            "summarize" => self.summarize(argument)?,
            "which_format" => self.which_format(argument)?,
            "about" => json!([
                {"role": "user", "content": {"type": "text", "text": "What is this server?"}},
                {"role": "assistant", "content": {"type": "text", "text": self.about()}},
            ]),
            _ => {
                return Err(Refusal::new(
                    INVALID_PARAMS,
                    format!("Unknown prompt: {name}"),
                ));
            }
        };
        Ok(json!({"messages": messages}).to_string())
    }

    fn complete(
        &self,
        of: Reference<'_>,
        argument: &str,
        typed: &str,
    ) -> Result<Vec<String>, Refusal> {
        let values: Vec<String> = match (of, argument) {
            (Reference::Prompt("summarize"), "uri") => [ABOUT, LOGO]
                .into_iter()
                .map(str::to_owned)
                .chain(self.shelves().map(|shelf| uri(&shelf)))
                .collect(),
            (Reference::Prompt("summarize"), "length") => {
                LENGTHS.iter().map(|&length| length.to_owned()).collect()
            }
            (Reference::Prompt("which_format"), "tool") => self.index.keys().cloned().collect(),
            (Reference::Template(asked), key) => {
                let shelf = self.shelves().find(|shelf| {
                    !shelf.key.is_empty() && template(shelf) == asked && shelf.key == key
                });
                let records = shelf
                    .as_ref()
                    .and_then(|shelf| self.records(shelf))
                    .unwrap_or_default();
                records
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|record| key_of(record, key))
                    .collect()
            }
            (of, argument) => {
                return Err(Refusal::new(
                    INVALID_PARAMS,
                    format!("Nothing to complete: {of:?} has no argument `{argument}`"),
                ));
            }
        };
        Ok(values
            .into_iter()
            .filter(|value| value.starts_with(typed))
            .collect())
    }
}
