//! Resources, resource templates and prompts as a server lists them, read leniently entry by entry; and lists of tools
//! that were kept as files.

use std::sync::Arc;

use bytes::Bytes;

use super::Server;
use super::tool::{Tool, with_article};
use crate::json::{Doc, Kind, Node};

/// Everything that a server lists.
#[derive(Clone, Debug, Default)]
pub struct ServerLists {
    /// `None` of a list that was kept as a file.
    pub server: Option<Server>,
    pub tools: Vec<Arc<Tool>>,
    /// The tools once more, as a second request had them.
    pub again: Vec<Arc<Tool>>,
    /// Templates are among them.
    pub resources: Vec<Resource>,
    pub prompts: Vec<Prompt>,
}

/// The tools of what `tools --json` printed, or of a `tools/list` result or message; `None` where it is something else.
pub fn listed_tools(bytes: &Bytes) -> Option<Vec<Tool>> {
    let doc = Doc::parse(bytes.clone());
    let root = doc.root().filter(|_| doc.is_json())?;
    let is_ours = root
        .get("schema")
        .and_then(Node::as_str)
        .is_some_and(|schema| schema.starts_with("loupe.tools/"));
    let result = root.get("result").unwrap_or(root);
    let list = result
        .get("tools")
        .filter(|list| list.kind() == Kind::Array)?;
    // Any data may have a member of that name; a definition has a schema.
    let is_definition =
        |node: Node<'_>| node.get("inputSchema").is_some() && node.get("name").is_some();
    // An empty one is a list where nothing else is next to it.
    let is_bare = list.is_empty()
        && result
            .children()
            .all(|member| matches!(&*member.key().unwrap_or_default(), "tools" | "_meta"));
    let is_a_list = is_bare || !list.is_empty() && list.children().all(is_definition);
    if !is_ours && !is_a_list {
        return None;
    }
    let definition = |node: Node<'_>| {
        Tool::read(
            if is_ours {
                node.get("raw").unwrap_or(node)
            } else {
                node
            }
            .raw_bytes(),
        )
    };
    let mut tools: Vec<Tool> = list.children().map(definition).collect();
    Tool::mark_contrary(&mut tools);
    Some(tools)
}

/// One entry of `resources/list` or `resources/templates/list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// `uri`, or `uriTemplate` of a template (RFC 6570).
    pub uri: String,
    pub is_template: bool,
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub mime_type: Option<String>,
    /// Bytes, as the server says.
    pub size: Option<u64>,
    /// The whole entry exactly as sent.
    pub raw: Bytes,
    /// What is wrong with it, for people.
    pub faults: Vec<String>,
}

/// One entry of `prompts/list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub arguments: Vec<PromptArgument>,
    /// The whole entry exactly as sent.
    pub raw: Bytes,
    /// What is wrong with it, for people.
    pub faults: Vec<String>,
}

/// What a prompt is filled in with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptArgument {
    pub name: String,
    pub description: Option<String>,
    pub required: bool,
}

/// An entry on its way: its members as text, and what is odd about them.
struct Entry {
    doc: Doc,
    faults: Vec<String>,
}

impl Entry {
    fn new(raw: Bytes) -> Self {
        let doc = Doc::parse(raw);
        let faults = doc
            .faults()
            .iter()
            .map(|fault| format!("{} at byte {}", fault.kind.message(), fault.at))
            .collect();
        Self { doc, faults }
    }

    fn member(&self, name: &str) -> Option<Node<'_>> {
        self.doc.root().and_then(|root| root.get(name))
    }

    fn text(&mut self, name: &str, is_needed: bool) -> Option<String> {
        let (text, fault) = text_of(self.member(name), name, is_needed);
        self.faults.extend(fault);
        text
    }
}

fn text_of(
    node: Option<Node<'_>>,
    name: &str,
    is_needed: bool,
) -> (Option<String>, Option<String>) {
    match node {
        None => (None, is_needed.then(|| format!("no `{name}`"))),
        Some(node) if node.kind() != Kind::String => (
            None,
            Some(format!(
                "`{name}` is {}, not a string",
                with_article(node.kind())
            )),
        ),
        Some(node) => (node.as_str().map(|text| text.into_owned()), None),
    }
}

impl Resource {
    /// Reads one entry; anything odd becomes a fault, never a missing entry.
    pub fn read(raw: Bytes, is_template: bool) -> Self {
        let mut entry = Entry::new(raw);
        Self {
            uri: entry
                .text(if is_template { "uriTemplate" } else { "uri" }, true)
                .unwrap_or_default(),
            is_template,
            name: entry.text("name", true).unwrap_or_default(),
            title: entry.text("title", false),
            description: entry.text("description", false),
            mime_type: entry.text("mimeType", false),
            size: entry
                .member("size")
                .and_then(Node::as_i64)
                .and_then(|size| u64::try_from(size).ok()),
            raw: entry.doc.bytes().clone(),
            faults: entry.faults,
        }
    }
}

impl Prompt {
    /// Reads one entry; anything odd becomes a fault, never a missing entry.
    pub fn read(raw: Bytes) -> Self {
        let mut entry = Entry::new(raw);
        let mut arguments = Vec::new();
        let mut faults = Vec::new();
        match entry.member("arguments") {
            None => {}
            Some(list) if list.kind() != Kind::Array => {
                faults.push(format!(
                    "`arguments` is {}, not an array",
                    with_article(list.kind())
                ));
            }
            Some(list) => {
                for argument in list.children() {
                    let (name, fault) = text_of(argument.get("name"), "name", true);
                    faults.extend(fault.map(|fault| format!("an argument: {fault}")));
                    arguments.push(PromptArgument {
                        name: name.unwrap_or_default(),
                        description: text_of(argument.get("description"), "description", false).0,
                        required: argument
                            .get("required")
                            .and_then(Node::as_bool)
                            .unwrap_or(false),
                    });
                }
            }
        }
        entry.faults.extend(faults);
        Self {
            name: entry.text("name", true).unwrap_or_default(),
            title: entry.text("title", false),
            description: entry.text("description", false),
            arguments,
            raw: entry.doc.bytes().clone(),
            faults: entry.faults,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_with_their_faults() {
        let read = |text: &'static str| Resource::read(Bytes::from_static(text.as_bytes()), false);
        let good = read(r#"{"uri":"a://b","name":"b","mimeType":"text/plain","size":12}"#);
        assert_eq!(
            (good.uri.as_str(), good.size, good.faults.len()),
            ("a://b", Some(12), 0)
        );
        let odd = read(r#"{"uri":7,"title":null}"#);
        assert_eq!(
            odd.faults,
            [
                "`uri` is a number, not a string",
                "no `name`",
                "`title` is null, not a string"
            ]
        );
    }

    #[test]
    fn prompts_keep_what_their_arguments_say() {
        let prompt = Prompt::read(Bytes::from_static(
            br#"{"name":"p","arguments":[{"name":"a","required":true,"description":"x"},{"required":"yes"}]}"#,
        ));
        assert_eq!(
            prompt.arguments[0],
            PromptArgument {
                name: "a".into(),
                description: Some("x".into()),
                required: true
            }
        );
        assert_eq!(prompt.faults, ["an argument: no `name`"]);
        let odd = Prompt::read(Bytes::from_static(br#"{"name":"p","arguments":{}}"#));
        assert_eq!(odd.faults, ["`arguments` is an object, not an array"]);
    }
}
