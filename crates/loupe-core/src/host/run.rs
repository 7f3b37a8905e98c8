//! The interpreter: which blocks and parts of a result a host's rules take, and what each of them becomes.

use std::borrow::Cow;

use super::parts::{Pieces, Raw, join_parts, texts};
use super::rules::{
    Dedupe, Delivery, ErrorBlocks, Host, ResultMeta, RuleStep, Select, StructuredWhen,
};
use super::source_map::{SourceMapped, TextOrigin};
use super::template::Var;
use super::view::{Omission, OmittedPart, ViewContext};
use super::write::{Writer, first, only};
use crate::capture::{Block, BlockKind};
use crate::format::ParsedCapture;
use crate::json::{Kind, Node};

/// Whether a block is among those of an error that are used.
fn is_in_error(blocks: ErrorBlocks, block: &Block) -> bool {
    match (blocks, &block.kind) {
        (ErrorBlocks::First, BlockKind::Text) => block.index == 0,
        (ErrorBlocks::TextAndLinks, BlockKind::ResourceLink) | (_, BlockKind::Text) => true,
        _ => false,
    }
}

/// Under this name `key_order` has the members of a whole result.
const RESULT: &str = "result";

/// One view being computed.
pub(super) struct Run<'a> {
    pub host: &'a Host,
    pub subject: &'a ParsedCapture,
    pub context: &'a ViewContext<'a>,
    pub is_error: bool,
    pub select: Select,
    structured: Option<Node<'a>>,
    /// Bytes after which a text, or a value as JSON, need not be written to its end.
    pub room: usize,
    pub dropped: Vec<Omission>,
}

impl<'a> Run<'a> {
    pub fn new(host: &'a Host, subject: &'a ParsedCapture, context: &'a ViewContext<'a>) -> Self {
        let is_error = subject.response.is_error == Some(true);
        let select = host
            .error
            .select
            .filter(|_| is_error)
            .unwrap_or(host.select);
        let structured = subject
            .response
            .structured()
            .filter(|node| counts(*node, host.structured_when));
        Self {
            host,
            subject,
            context,
            is_error,
            select,
            structured,
            room: usize::MAX,
            dropped: Vec::new(),
        }
    }

    pub fn drop(&mut self, what: OmittedPart, why: impl Into<Cow<'static, str>>) {
        self.dropped.push(Omission {
            what,
            why: why.into(),
        });
    }

    /// Steps 1 to 5 of the rules: the texts and media, in order.
    pub fn parts(&mut self) -> Result<Pieces, String> {
        let refuse = |why: &str| Err(why.to_owned());
        let reading = &self.subject.response;
        let Some(result) = reading.result() else {
            return refuse(if reading.rpc_error.is_some() {
                "the server answered with a JSON-RPC error; how the host words one is not known"
            } else {
                "there is no result to show"
            });
        };
        if reading
            .doc
            .faults()
            .iter()
            .any(|fault| fault.kind.is_fatal())
        {
            return refuse("the answer is not JSON as a whole");
        }
        let holds = |name: &str| result.get("content").is_none() && result.get(name).is_some();
        if holds("contents") || holds("messages") {
            return refuse(
                "what hosts make of a resource or a prompt is not known; their rules are about answers of tools",
            );
        }
        if self.is_error && self.host.error.computable == Some(false) {
            return refuse("what the host makes of an error is not known");
        }
        if self.host.result_meta == Some(ResultMeta::Shown) && result.get("_meta").is_some() {
            return refuse("the host also shows the result's `_meta`, in a form that is not known");
        }
        match self.select {
            Select::Repr => refuse(
                "the host shows its language's own printing of the result object, which is not reproduced",
            ),
            Select::NotComputed => refuse(
                "the rule of this host is not known, or cannot be applied here; its notes say what is known",
            ),
            Select::WireResult | Select::WireContent => self.wire(result),
            Select::StructuredOrResult if self.structured.is_none() && !self.has_media() => {
                self.wire(result)
            }
            _ => self.selected(),
        }
    }

    fn has_media(&self) -> bool {
        let mut blocks = self.subject.response.blocks.iter();
        blocks.any(|block| matches!(block.kind, BlockKind::Image | BlockKind::Audio))
    }

    fn wire(&mut self, result: Node<'a>) -> Result<Pieces, String> {
        let root = if self.select == Select::WireContent {
            result.get("content")
        } else {
            Some(result)
        };
        if self.select == Select::WireContent && self.subject.response.structured().is_some() {
            self.drop(OmittedPart::Structured, "only the content array is shown");
        }
        if self.is_error && self.select == Select::WireContent {
            self.drop(OmittedPart::IsError, "nothing says that the call failed");
        }
        let Some(root) = root else {
            return Ok(Pieces {
                parts: Vec::new(),
                structured: None,
            });
        };
        let text = self.write_with_origins(root)?;
        Ok(Pieces {
            parts: vec![Raw::Text(text)],
            structured: None,
        })
    }

    /// The whole result as JSON; empty without one.
    pub(crate) fn write_result(&self) -> SourceMapped {
        let result = self.subject.response.result();
        result
            .and_then(|result| self.write_with_origins(result).ok())
            .unwrap_or_default()
    }

    /// The result, or its content, as JSON in which blocks and `structuredContent` are distinguished.
    fn write_with_origins(&self, root: Node<'_>) -> Result<SourceMapped, String> {
        let blocks = &self.subject.response.blocks;
        let structured = self.subject.response.structured().map(Node::index);
        let origin = |node: Node<'_>| {
            let block = blocks
                .binary_search_by_key(&node.index(), |block| block.node)
                .ok();
            block
                .map(TextOrigin::block)
                .or_else(|| (Some(node.index()) == structured).then_some(TextOrigin::Structured))
        };
        let members = |node: Node<'_>| {
            let block = blocks
                .binary_search_by_key(&node.index(), |block| block.node)
                .ok();
            block.and_then(|block| self.host.wire_keys.get(&blocks[block].type_name))
        };
        Writer {
            mode: self.host.json,
            room: self.room,
            origin: &origin,
            members: Some(&|node, all| match members(node) {
                Some(keys) => only(&all, keys),
                None if node.index() == root.index() => match self.host.key_order.get(RESULT) {
                    Some(keys) => first(all, keys),
                    None => all,
                },
                None => all,
            }),
        }
        .write(root, TextOrigin::Envelope)
    }

    /// Whether the host shows an error as the JSON of the whole result, with every block and `structuredContent`.
    pub(crate) fn is_result_in_error(&self) -> bool {
        self.is_error
            && self
                .host
                .error
                .template
                .as_ref()
                .is_some_and(|template| template.has(Var::ResultJson))
    }

    fn selected(&mut self) -> Result<Pieces, String> {
        let subject = self.subject;
        let mut shown: Vec<&Block> = Vec::new();
        for block in &subject.response.blocks {
            let is_for_others =
                !block.audience.is_empty() && !block.audience.iter().any(|who| who == "assistant");
            if self.host.audience.is_some() && is_for_others {
                self.drop(
                    OmittedPart::Block(block.index),
                    "it is not for the assistant, and the host leaves it out",
                );
            } else if let Some(blocks) = self.host.error.blocks.filter(|_| self.is_error)
                && !is_in_error(blocks, block)
            {
                let why = match blocks {
                    ErrorBlocks::Text => "of an error only texts are shown",
                    ErrorBlocks::TextAndLinks => "of an error only texts and links are shown",
                    ErrorBlocks::First => {
                        "of an error only the first block is shown, if it is a text"
                    }
                };
                self.drop(OmittedPart::Block(block.index), why);
            } else {
                shown.push(block);
            }
        }
        let is_text = |block: &&Block| block.kind == BlockKind::Text;
        let takes_structured = match self.select {
            Select::Structured
            | Select::StructuredForText
            | Select::StructuredOrResult
            | Select::Both => true,
            Select::StructuredIfAllText => shown.iter().all(is_text),
            Select::ContentUnlessEmpty => subject.response.blocks.is_empty(),
            _ => false,
        };
        let structured = self.structured.filter(|_| takes_structured);
        if let Some(sent) = subject.response.structured()
            && structured.is_none()
        {
            self.drop(OmittedPart::Structured, self.why_no_structured(sent));
        }
        if structured.is_some() {
            let (stays, why): (fn(&&Block) -> bool, &str) = match self.select {
                Select::StructuredForText => (
                    |block| block.kind != BlockKind::Text,
                    "structuredContent takes the place of the texts",
                ),
                Select::Structured | Select::StructuredIfAllText | Select::StructuredOrResult => {
                    (|_| false, "structuredContent takes the place of the blocks")
                }
                _ => (|_| true, ""),
            };
            for block in shown.iter().filter(|block| !stays(block)) {
                self.drop(OmittedPart::Block(block.index), why);
            }
            shown.retain(stays);
        }
        let mut parts = Vec::new();
        let mut first = Vec::new();
        for block in shown {
            self.block(block, &mut parts, &mut first)?;
        }
        first.append(&mut parts);
        let mut parts = first;
        if self.is_error
            && let Some(join) = &self.host.error.join
            && self.host.delivery == Delivery::Parts
        {
            parts = join_parts(parts, join);
        }
        let written = structured
            .map(|node| self.write_structured(node))
            .transpose()?;
        let mut apart = None;
        if let Some(text) = written {
            let is_repeated = match self.host.dedupe {
                Dedupe::None => false,
                Dedupe::Exact => {
                    SourceMapped::join(texts(&parts), &self.host.join).text() == text.text()
                }
                Dedupe::Part => texts(&parts).any(|part| part.text() == text.text()),
                Dedupe::Equal => texts(&parts).any(|part| is_same_value(part.text(), structured)),
            };
            if is_repeated {
                self.drop(
                    OmittedPart::Structured,
                    "the text is the same JSON, so it is shown once",
                );
            } else if self.select == Select::Both && self.host.delivery == Delivery::String {
                apart = Some(text);
            } else if self.host.structured_first {
                parts.insert(0, Raw::Text(text));
            } else {
                parts.push(Raw::Text(text));
            }
        }
        Ok(Pieces {
            parts,
            structured: apart,
        })
    }

    fn why_no_structured(&self, sent: Node<'_>) -> Cow<'static, str> {
        match self.select {
            Select::Content if self.is_error && self.host.select != Select::Content => {
                "of an error it is left out".into()
            }
            Select::Content => "the host never shows structuredContent".into(),
            Select::ContentUnlessEmpty if !self.subject.response.blocks.is_empty() => {
                "structuredContent is shown only where there is no block".into()
            }
            Select::StructuredIfAllText if self.structured.is_some() => {
                "structuredContent is shown only where every block is text".into()
            }
            _ => {
                let begins: String = sent.raw_text().chars().take(20).collect();
                format!("a structuredContent that is {begins} does not count").into()
            }
        }
    }

    fn block(
        &mut self,
        block: &Block,
        parts: &mut Vec<Raw>,
        first: &mut Vec<Raw>,
    ) -> Result<(), String> {
        let rules = &self.host.block;
        let steps = match block.kind {
            BlockKind::Text if block.text.is_some() => &rules.text,
            BlockKind::Image => &rules.image,
            BlockKind::Audio => &rules.audio,
            BlockKind::ResourceLink => &rules.resource_link,
            BlockKind::Resource if block.text.is_some() => &rules.resource_text,
            BlockKind::Resource => {
                let is_image = block
                    .mime_type
                    .as_deref()
                    .is_some_and(|mime| mime.starts_with("image/"));
                rules
                    .resource_image
                    .as_ref()
                    .filter(|_| is_image)
                    .unwrap_or(&rules.resource_blob)
            }
            BlockKind::Text | BlockKind::Unknown => &rules.unknown,
        };
        if steps.iter().all(|step| *step == RuleStep::Drop) {
            self.drop(
                OmittedPart::Block(block.index),
                format!("{} are left out", kind_name(block)),
            );
            return Ok(());
        }
        let refuse = |what: &str| {
            Err(format!(
                "block {} ({}): {what}",
                block.index,
                kind_name(block)
            ))
        };
        for step in steps {
            match step {
                RuleStep::Text(template) => {
                    let text = self.fill(template, block)?;
                    let is_left_out = (self.host.drop_empty_text && text.is_empty())
                        || (self.is_error
                            && self.host.error.drop_blank
                            && text.text().trim().is_empty());
                    if is_left_out {
                        self.drop(OmittedPart::Block(block.index), "empty texts are left out");
                    } else {
                        parts.push(Raw::Text(text));
                    }
                }
                RuleStep::First(template) => first.push(Raw::Text(self.fill(template, block)?)),
                RuleStep::Media => {
                    let mime = block
                        .mime_type
                        .clone()
                        .unwrap_or_else(|| "application/octet-stream".to_owned());
                    parts.push(Raw::Media {
                        mime,
                        block: block.index,
                    });
                }
                RuleStep::Drop => {}
                RuleStep::Fail => {
                    return refuse("the host answers with an error of its own instead");
                }
                RuleStep::Fetch => {
                    return refuse("the host reads the resource itself, so its text is not known");
                }
                RuleStep::Repr => {
                    return refuse(
                        "the host shows its language's own printing of the object, which is not reproduced",
                    );
                }
                RuleStep::File => {
                    return refuse(
                        "the host names a file that it wrote, in words that are not known",
                    );
                }
            }
        }
        Ok(())
    }
}

fn counts(node: Node<'_>, when: StructuredWhen) -> bool {
    let is_falsy = |node: Node<'_>| match node.kind() {
        Kind::Null => true,
        Kind::Bool => node.as_bool() == Some(false),
        Kind::Number => node.as_f64() == Some(0.0),
        Kind::String => node.raw() == b"\"\"",
        Kind::Array | Kind::Object => false,
    };
    match when {
        StructuredWhen::Present => !node.is_null(),
        StructuredWhen::Object => node.is_container(),
        StructuredWhen::TruthyJs => !is_falsy(node),
        StructuredWhen::TruthyPy => !(is_falsy(node) || node.is_container() && node.is_empty()),
    }
}

fn kind_name(block: &Block) -> &'static str {
    match block.kind {
        BlockKind::Text if block.text.is_some() => "texts",
        BlockKind::Image => "images",
        BlockKind::Audio => "audio",
        BlockKind::ResourceLink => "resource links",
        BlockKind::Resource if block.text.is_some() => "embedded texts",
        BlockKind::Resource => "embedded binary resources",
        BlockKind::Text | BlockKind::Unknown => "unknown blocks",
    }
}

/// Whether a text is JSON of the value of this node, however it is written.
fn is_same_value(text: &str, node: Option<Node<'_>>) -> bool {
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text.trim()).ok();
    node.and_then(|node| value(&node.raw_text()))
        .is_some_and(|own| value(text) == Some(own))
}
