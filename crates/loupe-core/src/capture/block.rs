//! One block of `content`, read leniently.

use std::sync::Arc;

use super::tool::with_article;
use crate::json::{FaultKind, Kind, Node};

/// The content types of the specification (2025-11-25), and whatever else a server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    Text,
    Image,
    Audio,
    ResourceLink,
    Resource,
    Unknown,
}

/// One block of `content`.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Position in `content`.
    pub index: usize,
    pub kind: BlockKind,
    /// The `type` as sent; empty where there is none.
    pub type_name: String,
    /// Tape index of the block in the reading's document.
    pub node: usize,
    /// The text of a text block, decoded; lone surrogates are U+FFFD and listed in `faults`.
    pub text: Option<Arc<str>>,
    pub uri: Option<String>,
    pub name: Option<String>,
    pub mime_type: Option<String>,
    /// Decoded size of `data` or `blob` in bytes, where the block carries one.
    pub data_bytes: Option<usize>,
    /// `annotations.audience` as sent; empty where undeclared.
    pub audience: Vec<String>,
    /// `annotations.priority`, from 0 (least) to 1.
    pub priority: Option<f64>,
    /// What is odd, for people.
    pub faults: Vec<String>,
}

impl Block {
    fn new(index: usize, node: Node<'_>) -> Self {
        Self {
            index,
            kind: BlockKind::Unknown,
            type_name: String::new(),
            node: node.index(),
            text: None,
            uri: None,
            name: None,
            mime_type: None,
            data_bytes: None,
            audience: Vec::new(),
            priority: None,
            faults: Vec::new(),
        }
    }

    /// One entry of the `contents` of `resources/read`: a text is shown as one, anything else by its size.
    pub(super) fn of_contents(index: usize, node: Node<'_>) -> Self {
        let mut block = Self::new(index, node);
        block.type_name = "resource".into();
        block.read_resource(node);
        block.kind = if block.text.is_some() {
            BlockKind::Text
        } else {
            BlockKind::Resource
        };
        block
    }

    /// One message of `prompts/get`; its role is in `name`.
    pub(super) fn of_message(index: usize, node: Node<'_>) -> Self {
        let role = node
            .get("role")
            .and_then(|role| role.as_str().map(|role| role.into_owned()));
        let Some(content) = node.get("content") else {
            let mut block = Self::new(index, node);
            block.faults.push("the message has no `content`".into());
            return block;
        };
        let mut block = Self::read(index, content);
        block.name = role.or(block.name);
        block
    }

    fn read_resource(&mut self, resource: Node<'_>) {
        self.uri = self.string(resource, "uri", true);
        self.mime_type = self.string(resource, "mimeType", false);
        self.text = self.string(resource, "text", false).map(Arc::from);
        self.data_bytes = self
            .string(resource, "blob", false)
            .map(|data| decoded_len(&data));
        if self.text.is_none() && self.data_bytes.is_none() {
            self.faults
                .push("the resource has neither `text` nor `blob`".into());
        }
    }

    pub(super) fn read(index: usize, node: Node<'_>) -> Self {
        let mut block = Self::new(index, node);
        if node.kind() != Kind::Object {
            block.faults.push(format!(
                "the block is {}, not an object",
                with_article(node.kind())
            ));
            return block;
        }
        block.type_name = block.string(node, "type", true).unwrap_or_default();
        block.kind = match block.type_name.as_str() {
            "text" => BlockKind::Text,
            "image" => BlockKind::Image,
            "audio" => BlockKind::Audio,
            "resource_link" => BlockKind::ResourceLink,
            "resource" => BlockKind::Resource,
            _ => BlockKind::Unknown,
        };
        match block.kind {
            BlockKind::Text => block.text = block.string(node, "text", true).map(Arc::from),
            BlockKind::Image | BlockKind::Audio => {
                block.mime_type = block.string(node, "mimeType", true);
                block.data_bytes = block
                    .string(node, "data", true)
                    .map(|data| decoded_len(&data));
            }
            BlockKind::ResourceLink => {
                block.uri = block.string(node, "uri", true);
                block.name = block.string(node, "name", true);
                block.mime_type = block.string(node, "mimeType", false);
            }
            BlockKind::Resource => match node.get("resource") {
                Some(resource) => block.read_resource(resource),
                None => block.faults.push("no `resource`".into()),
            },
            BlockKind::Unknown if !block.type_name.is_empty() => {
                block
                    .faults
                    .push(format!("unknown block type `{}`", block.type_name));
            }
            BlockKind::Unknown => {}
        }
        // The specification's own examples also put them inside the resource.
        let annotations = node
            .get("annotations")
            .or_else(|| node.get("resource")?.get("annotations"));
        if let Some(annotations) = annotations {
            block.read_annotations(annotations);
        }
        for fault in node.doc().faults() {
            if fault.kind == FaultKind::LoneSurrogate && node.range().contains(&fault.at) {
                block.faults.push(format!(
                    "half of a surrogate pair at byte {}, shown as U+FFFD",
                    fault.at
                ));
            }
        }
        block
    }

    /// Whether the specification knows this type.
    pub fn is_known(&self) -> bool {
        self.kind != BlockKind::Unknown
    }

    fn string(&mut self, node: Node<'_>, name: &str, required: bool) -> Option<String> {
        match node.get(name) {
            None if required => self.faults.push(format!("no `{name}`")),
            None => {}
            Some(member) => match member.as_str() {
                Some(text) => return Some(text.into_owned()),
                None => self.faults.push(format!(
                    "`{name}` is {}, not a string",
                    with_article(member.kind())
                )),
            },
        }
        None
    }

    fn read_annotations(&mut self, node: Node<'_>) {
        if let Some(audience) = node.get("audience") {
            if audience.kind() != Kind::Array {
                self.faults.push(format!(
                    "`audience` is {}, not an array",
                    with_article(audience.kind())
                ));
            }
            for role in audience.children() {
                let role = role
                    .as_str()
                    .unwrap_or_else(|| role.raw_text())
                    .into_owned();
                if role != "user" && role != "assistant" {
                    self.faults.push(format!("unknown audience `{role}`"));
                }
                self.audience.push(role);
            }
        }
        if let Some(priority) = node.get("priority") {
            self.priority = priority.as_f64();
            match self.priority {
                None => self.faults.push(format!(
                    "`priority` is {}, not a number",
                    with_article(priority.kind())
                )),
                Some(value) if !(0.0..=1.0).contains(&value) => {
                    self.faults
                        .push(format!("`priority` {value} is not between 0 and 1"));
                }
                Some(_) => {}
            }
        }
    }
}

/// Bytes that base64 text stands for, counted without decoding it.
fn decoded_len(data: &str) -> usize {
    let digits = data
        .bytes()
        .filter(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte))
        .count();
    digits * 3 / 4
}
