//! The interpreter: a result and the rules of a host become what its model is shown.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::deliver::{self, Delivered, Pieces};
use super::limit::{self, LimitOutcome};
use super::rules::{Dedupe, Delivery, ErrorBlocks, Host, HostId, ResultMeta, Select, Step, StructuredWhen};
use super::template::{Piece, Template, Var};
use super::traced::{Origin, Span, Traced};
use super::write::{self, Stop, Writer};
use crate::cancel::{Cancel, Cancelled};
use crate::capture::{Block, BlockKind, Capture};
use crate::format::Subject;
use crate::json::{Doc, Kind, Node};

/// What the rules need beside the result.
#[derive(Clone, Debug)]
pub struct ViewContext<'a> {
    /// The server's name; in a host it is the name that its configuration gives.
    pub server: Cow<'a, str>,
    pub tool: Cow<'a, str>,
    /// The arguments of the call, as JSON.
    pub arguments: Cow<'a, [u8]>,
    /// How long the call took.
    pub wall: Duration,
    /// What stands where a host names a file of its own.
    pub path: Cow<'a, str>,
}

impl<'a> ViewContext<'a> {
    pub fn of(capture: &'a Capture) -> Self {
        let named = |name: &'a str, other: &'static str| Cow::Borrowed(if name.is_empty() { other } else { name });
        Self {
            server: named(&capture.server.name, "server"),
            tool: named(&capture.tool.name, "tool"),
            arguments: Cow::Borrowed(if capture.arguments.is_empty() { b"{}" } else { &capture.arguments }),
            wall: capture.timings.total(),
            path: Cow::Borrowed("<path>"),
        }
    }
}

/// One part of what the model is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A range of the view's text.
    Text(Range<usize>),
    /// The medium of a block is passed on as such.
    Media { mime: String, block: usize },
}

/// Something of the answer that the model is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A block of `content`, by its position.
    Block(usize),
    Structured,
    /// That the call failed.
    IsError,
}

/// What is left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    pub what: What,
    /// A sentence fragment.
    pub why: String,
}

/// What the model of one host is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub host: HostId,
    /// Why no text can be computed; the text is empty then.
    pub not_computable: Option<String>,
    /// The text parts with one LF between two.
    pub text: Arc<str>,
    pub parts: Vec<Part>,
    /// The origin of every range of `text`, in order; an LF between two parts has none.
    pub spans: Vec<Span>,
    /// The text before any limit; the same `Arc` where nothing was cut.
    pub full: Arc<str>,
    /// The origins in `full`.
    pub full_spans: Vec<Span>,
    /// The ranges of `full` that are left, in order.
    pub kept: Vec<Range<usize>>,
    pub dropped: Vec<Dropped>,
    pub limit: LimitOutcome,
    /// The error is flagged to the model outside the text.
    pub flags_error: bool,
}

impl View {
    /// The texts of the parts, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(range) => Some(&self.text[range.clone()]),
            Part::Media { .. } => None,
        })
    }

    pub fn is_computable(&self) -> bool {
        self.not_computable.is_none()
    }

    /// The parts as worked examples write them: a medium is `@media TYPE`.
    pub fn listing(&self) -> Vec<String> {
        let show = |part: &Part| match part {
            Part::Text(range) => self.text[range.clone()].to_owned(),
            Part::Media { mime, .. } => format!("@media {mime}"),
        };
        self.parts.iter().map(show).collect()
    }

    fn none(host: &Host, why: String, limit: LimitOutcome, dropped: Vec<Dropped>) -> Self {
        let empty: Arc<str> = Arc::from("");
        Self {
            host: host.id,
            not_computable: Some(why),
            text: Arc::clone(&empty),
            parts: Vec::new(),
            spans: Vec::new(),
            full: empty,
            full_spans: Vec::new(),
            kept: Vec::new(),
            dropped,
            limit,
            flags_error: false,
        }
    }
}

/// A part before it has its place in the text.
#[derive(Clone, Debug)]
pub(super) enum Raw {
    Text(Traced),
    Media { mime: String, block: usize },
}

impl Host {
    /// What this host's model is shown for an answer.
    ///
    /// # Errors
    /// [`Cancelled`] when the asker looked away.
    pub fn view(&self, subject: &Subject, context: &ViewContext<'_>, cancel: &Cancel) -> Result<View, Cancelled> {
        let mut run = Run::new(self, subject, context, cancel);
        let parts = match run.parts() {
            Ok(parts) => parts,
            Err(Stop::Cancelled) => return Err(Cancelled),
            Err(Stop::Refused(why)) => {
                return Ok(View::none(self, why, LimitOutcome::unreached(self), std::mem::take(&mut run.dropped)));
            }
        };
        cancel.check()?;
        let delivered = deliver::deliver(&run, parts);
        Ok(run.finish(delivered))
    }
}

/// One view being computed.
pub(super) struct Run<'a> {
    pub host: &'a Host,
    subject: &'a Subject,
    pub context: &'a ViewContext<'a>,
    cancel: &'a Cancel,
    pub is_error: bool,
    select: Select,
    structured: Option<Node<'a>>,
    dropped: Vec<Dropped>,
}

impl<'a> Run<'a> {
    fn new(host: &'a Host, subject: &'a Subject, context: &'a ViewContext<'a>, cancel: &'a Cancel) -> Self {
        let is_error = subject.reading.is_error == Some(true);
        let select = host.error.select.filter(|_| is_error).unwrap_or(host.select);
        let structured = subject.reading.structured().filter(|node| counts(*node, host.structured_when));
        Self { host, subject, context, cancel, is_error, select, structured, dropped: Vec::new() }
    }

    fn drop(&mut self, what: What, why: impl Into<String>) {
        self.dropped.push(Dropped { what, why: why.into() });
    }

    /// Steps 1 to 5 of the rules: the texts and media, in order.
    fn parts(&mut self) -> Result<Pieces, Stop> {
        let refuse = |why: &str| Err(Stop::Refused(why.to_owned()));
        let reading = &self.subject.reading;
        let Some(result) = reading.result() else {
            return refuse(if reading.rpc_error.is_some() {
                "the server answered with a JSON-RPC error; how the host words one is not known"
            } else {
                "there is no result to show"
            });
        };
        if reading.doc.faults().iter().any(|fault| fault.kind.is_fatal()) {
            return refuse("the answer is not JSON as a whole");
        }
        let holds = |name: &str| result.get("content").is_none() && result.get(name).is_some();
        if holds("contents") || holds("messages") {
            return refuse("what hosts make of a resource or a prompt is not known; their rules are about answers of tools");
        }
        if self.is_error && self.host.error.computable == Some(false) {
            return refuse("what the host makes of an error is not known");
        }
        if self.host.result_meta == Some(ResultMeta::Shown) && result.get("_meta").is_some() {
            return refuse("the host also shows the result's `_meta`, in a form that is not known");
        }
        match self.select {
            Select::Repr => refuse("the host shows its language's own printing of the result object, which is not reproduced"),
            Select::WireResult | Select::WireContent => self.wire(result),
            _ => self.selected(),
        }
    }

    fn wire(&mut self, result: Node<'a>) -> Result<Pieces, Stop> {
        let root = if self.select == Select::WireResult { Some(result) } else { result.get("content") };
        if self.select == Select::WireContent && self.subject.reading.structured().is_some() {
            self.drop(What::Structured, "only the content array is shown");
        }
        if self.is_error && self.select == Select::WireContent {
            self.drop(What::IsError, "nothing says that the call failed");
        }
        let Some(root) = root else { return Ok(Pieces { parts: Vec::new(), structured: None }) };
        let blocks = &self.subject.reading.blocks;
        let structured = self.subject.reading.structured().map(Node::index);
        let origin = |node: Node<'_>| {
            let block = blocks.binary_search_by_key(&node.index(), |block| block.node).ok();
            block.map(Origin::Block).or_else(|| (Some(node.index()) == structured).then_some(Origin::Structured))
        };
        let members = |node: Node<'_>| {
            let block = blocks.binary_search_by_key(&node.index(), |block| block.node).ok();
            block.and_then(|block| self.host.wire_keys.get(&blocks[block].type_name))
        };
        let text = Writer {
            mode: self.host.json,
            origin: &origin,
            members: &|node, all| match members(node) {
                Some(keys) => only(&all, keys),
                None => all,
            },
            cancel: self.cancel,
        }
        .write(root, Origin::Envelope)?;
        Ok(Pieces { parts: vec![Raw::Text(text)], structured: None })
    }

    fn selected(&mut self) -> Result<Pieces, Stop> {
        let subject = self.subject;
        let mut shown: Vec<&Block> = Vec::new();
        for block in &subject.reading.blocks {
            let is_for_others = !block.audience.is_empty() && !block.audience.iter().any(|who| who == "assistant");
            if self.host.audience.is_some() && is_for_others {
                self.drop(What::Block(block.index), "it is not for the assistant, and the host leaves it out");
            } else if self.is_error && self.host.error.blocks == Some(ErrorBlocks::Text) && block.kind != BlockKind::Text {
                self.drop(What::Block(block.index), "of an error only texts are shown");
            } else {
                shown.push(block);
            }
        }
        let is_text = |block: &&Block| block.kind == BlockKind::Text;
        let takes_structured = match self.select {
            Select::Structured | Select::StructuredForText | Select::Both => true,
            Select::StructuredIfAllText => shown.iter().all(is_text),
            Select::ContentUnlessEmpty => subject.reading.blocks.is_empty(),
            _ => false,
        };
        let structured = self.structured.filter(|_| takes_structured);
        if let Some(sent) = subject.reading.structured()
            && structured.is_none()
        {
            self.drop(What::Structured, self.why_no_structured(sent));
        }
        if structured.is_some() {
            let (stays, why): (fn(&&Block) -> bool, &str) = match self.select {
                Select::StructuredForText => {
                    (|block| block.kind != BlockKind::Text, "structuredContent takes the place of the texts")
                }
                Select::Structured | Select::StructuredIfAllText => {
                    (|_| false, "structuredContent takes the place of the blocks")
                }
                _ => (|_| true, ""),
            };
            for block in shown.iter().filter(|block| !stays(block)) {
                self.drop(What::Block(block.index), why);
            }
            shown.retain(stays);
        }
        let mut parts = Vec::new();
        let mut first = Vec::new();
        for block in shown {
            self.cancel.check()?;
            self.block(block, &mut parts, &mut first)?;
        }
        first.append(&mut parts);
        let mut parts = first;
        if self.is_error
            && let Some(join) = &self.host.error.join
            && self.host.delivery == Delivery::Parts
        {
            parts = deliver::joined(parts, join);
        }
        let written = structured.map(|node| self.write_structured(node)).transpose()?;
        let mut apart = None;
        if let Some(text) = written {
            let is_repeated =
                self.host.dedupe == Dedupe::Exact && Traced::join(&deliver::texts(&parts), &self.host.join).text() == text.text();
            if is_repeated {
                self.drop(What::Structured, "the text is the same JSON, so it is shown once");
            } else if self.select == Select::Both && self.host.delivery == Delivery::String {
                apart = Some(text);
            } else {
                parts.push(Raw::Text(text));
            }
        }
        Ok(Pieces { parts, structured: apart })
    }

    fn why_no_structured(&self, sent: Node<'_>) -> String {
        match self.select {
            Select::Content if self.is_error && self.host.select != Select::Content => "of an error it is left out".to_owned(),
            Select::Content
                if self.is_error && self.host.error.template.as_ref().is_some_and(|text| text.has(Var::ResultJson)) =>
            {
                "of an error it is shown inside the JSON of the whole result alone".to_owned()
            }
            Select::Content => "the host never shows structuredContent".to_owned(),
            Select::ContentUnlessEmpty if !self.subject.reading.blocks.is_empty() => {
                "structuredContent is shown only where there is no block".to_owned()
            }
            Select::StructuredIfAllText if self.structured.is_some() => {
                "structuredContent is shown only where every block is text".to_owned()
            }
            _ => format!("a structuredContent that is {} does not count", sent.raw_text().chars().take(20).collect::<String>()),
        }
    }

    fn block(&mut self, block: &Block, parts: &mut Vec<Raw>, first: &mut Vec<Raw>) -> Result<(), Stop> {
        let rules = &self.host.block;
        let steps = match block.kind {
            BlockKind::Text if block.text.is_some() => &rules.text,
            BlockKind::Image => &rules.image,
            BlockKind::Audio => &rules.audio,
            BlockKind::ResourceLink => &rules.resource_link,
            BlockKind::Resource if block.text.is_some() => &rules.resource_text,
            BlockKind::Resource => {
                let is_image = block.mime_type.as_deref().is_some_and(|mime| mime.starts_with("image/"));
                rules.resource_image.as_ref().filter(|_| is_image).unwrap_or(&rules.resource_blob)
            }
            BlockKind::Text | BlockKind::Unknown => &rules.unknown,
        };
        if steps.iter().all(|step| *step == Step::Drop) {
            self.drop(What::Block(block.index), format!("{} are left out", kind_name(block)));
            return Ok(());
        }
        let refuse = |what: &str| Err(Stop::Refused(format!("block {} ({}): {what}", block.index, kind_name(block))));
        for step in steps {
            match step {
                Step::Text(template) => {
                    let text = self.fill(template, block)?;
                    let is_left_out = (self.host.drop_empty_text && text.is_empty())
                        || (self.is_error && self.host.error.drop_blank && text.text().trim().is_empty());
                    if is_left_out {
                        self.drop(What::Block(block.index), "empty texts are left out");
                    } else {
                        parts.push(Raw::Text(text));
                    }
                }
                Step::First(template) => first.push(Raw::Text(self.fill(template, block)?)),
                Step::Media => {
                    let mime = block.mime_type.clone().unwrap_or_else(|| "application/octet-stream".to_owned());
                    parts.push(Raw::Media { mime, block: block.index });
                }
                Step::Drop => {}
                Step::Fail => return refuse("the host answers with an error of its own instead"),
                Step::Fetch => return refuse("the host reads the resource itself, so its text is not known"),
                Step::Repr => return refuse("the host shows its language's own printing of the object, which is not reproduced"),
                Step::File => return refuse("the host names a file that it wrote, in words that are not known"),
            }
        }
        Ok(())
    }

    fn fill(&self, template: &Template, block: &Block) -> Result<Traced, Stop> {
        let origin = Origin::Block(block.index);
        let mut out = Traced::default();
        for piece in template.pieces() {
            match piece {
                Piece::Literal(literal) => out.push_host(literal),
                Piece::Var(Var::Text) => {
                    let text = Traced::of(block.text.as_deref().unwrap_or_default(), origin, Some(0));
                    out.append(&text.replace(&self.host.replace));
                }
                Piece::Var(Var::Json) => out.append(&self.write_block(block, origin)?),
                Piece::Var(Var::ResourceJson) => out.append(&self.write_resource(block, origin)?),
                Piece::Var(var) => match block_value(*var, block, self.subject, &self.host.mime_line) {
                    Some(value) => out.push(&value, origin, None),
                    None => out.push_host(&self.value(*var)),
                },
            }
        }
        Ok(out)
    }

    /// A value that does not belong to a block.
    pub fn value(&self, var: Var) -> String {
        let seconds = self.context.wall.as_secs_f64();
        match var {
            Var::Server => self.context.server.to_string(),
            Var::Tool => self.context.tool.to_string(),
            Var::Path => self.context.path.to_string(),
            Var::WallS => format!("{seconds:.4}"),
            Var::WallS3 => format!("{seconds:.3}"),
            Var::ToolJson => write::string(&self.context.tool, self.host.json),
            Var::CallJson => {
                let doc = Doc::parse(Bytes::copy_from_slice(&self.context.arguments));
                let arguments = doc.root().and_then(|root| self.plain(root).ok());
                let arguments = arguments.map_or_else(|| "{}".to_owned(), |text| text.text().to_owned());
                format!("{{\"name\":{},\"args\":{arguments}}}", write::string(&self.context.tool, self.host.json))
            }
            Var::ResultJson => {
                let text = self.subject.reading.result().and_then(|result| self.plain(result).ok());
                text.map_or_else(String::new, |text| text.text().to_owned())
            }
            _ => String::new(),
        }
    }

    fn plain(&self, node: Node<'_>) -> Result<Traced, Stop> {
        Writer { mode: self.host.json, origin: &|_| None, members: &|_, all| all, cancel: self.cancel }
            .write(node, Origin::Envelope)
    }

    /// A value written as the host writes JSON; `None` where it cannot.
    pub fn rewritten(&self, node: Node<'_>, origin: Origin) -> Option<Traced> {
        let mut text = self.plain(node).ok()?;
        text.set_origin(origin);
        Some(text)
    }

    fn write_block(&self, block: &Block, origin: Origin) -> Result<Traced, Stop> {
        let Some(node) = self.subject.reading.doc.node(block.node) else { return Ok(Traced::default()) };
        let order = self.host.key_order.get(&block.type_name);
        Writer {
            mode: self.host.json,
            origin: &|_| None,
            members: &|member, all| match order {
                Some(keys) if member.index() == block.node => first(all, keys),
                _ => all,
            },
            cancel: self.cancel,
        }
        .write(node, origin)
    }

    fn write_resource(&self, block: &Block, origin: Origin) -> Result<Traced, Stop> {
        let node = self.subject.reading.doc.node(block.node).and_then(|node| node.get("resource"));
        let Some(resource) = node else { return Ok(Traced::default()) };
        Writer {
            mode: self.host.json,
            origin: &|_| None,
            members: &|member, mut all| {
                if member.index() == resource.index() {
                    all.retain(|child| child.key().as_deref() != Some("blob"));
                }
                all
            },
            cancel: self.cancel,
        }
        .write(resource, origin)
    }

    fn write_structured(&self, node: Node<'a>) -> Result<Traced, Stop> {
        let inner = node.get("result").filter(|_| self.host.unwrap_result && node.len() == 1);
        let node = inner.unwrap_or(node);
        let json = match node.as_str() {
            Some(text) if self.host.unwrap_result => Traced::of(&text, Origin::Structured, None),
            _ => Writer { mode: self.host.json, origin: &|_| None, members: &|_, all| all, cancel: self.cancel }
                .write(node, Origin::Structured)?,
        };
        let json = json.replace(&self.host.structured_replace);
        let Some(wrap) = &self.host.structured_wrap else { return Ok(json) };
        Ok(deliver::around(wrap, Var::Json, &json, |var| self.value(var)))
    }

    /// Step 8, and everything in its place.
    fn finish(mut self, delivered: Delivered) -> View {
        let Delivered { mut parts, texts, not_computable } = delivered;
        if let Some(why) = not_computable {
            return View::none(self.host, why, LimitOutcome::unreached(self.host), self.dropped);
        }
        if self.is_error {
            let rules = &self.host.error;
            let says = rules.native_flag || rules.template.is_some() || rules.prefix_part.is_some();
            let is_wire = self.select == Select::WireResult;
            if !says && !is_wire && !self.dropped.iter().any(|dropped| dropped.what == What::IsError) {
                self.drop(What::IsError, "nothing says that the call failed");
            }
        }
        let mut start = 0;
        for part in &mut parts {
            if let Raw::Text(text) = part {
                text.set_full(start);
                start += text.len() + 1;
            }
        }
        let (full, full_spans) = lay_out(&parts).0.into_parts();
        let full: Arc<str> = Arc::from(full);
        let (parts, limit) = limit::apply(self.host, parts, texts, &|var| self.value(var));
        let (text, parts) = lay_out(&parts);
        let (text, spans) = text.into_parts();
        let is_whole = limit.bites.is_empty();
        let text = if is_whole { Arc::clone(&full) } else { Arc::from(text) };
        let kept = if is_whole { std::iter::once(0..full.len()).collect() } else { kept(&spans) };
        View {
            host: self.host.id,
            not_computable: None,
            text,
            parts,
            spans,
            full,
            full_spans,
            kept,
            dropped: self.dropped,
            limit,
            flags_error: self.is_error && self.host.error.native_flag,
        }
    }
}

/// The texts with one LF between two, and the parts with their places.
fn lay_out(parts: &[Raw]) -> (Traced, Vec<Part>) {
    let mut text = Traced::default();
    let mut placed = Vec::with_capacity(parts.len());
    let mut is_first = true;
    for part in parts {
        match part {
            Raw::Text(part) => {
                if !is_first {
                    text.push_unowned("\n");
                }
                is_first = false;
                let start = text.len();
                text.append(part);
                placed.push(Part::Text(start..text.len()));
            }
            Raw::Media { mime, block } => placed.push(Part::Media { mime: mime.clone(), block: *block }),
        }
    }
    (text, placed)
}

/// The ranges of the text before any limit that are still there.
fn kept(spans: &[Span]) -> Vec<Range<usize>> {
    let mut kept: Vec<Range<usize>> = Vec::new();
    for span in spans {
        let Some(start) = span.full else { continue };
        let end = start + span.range.len();
        match kept.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => kept.push(start..end),
        }
    }
    kept.sort_by_key(|range| range.start);
    kept
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

/// A value that belongs to a block; `None` for any other placeholder.
fn block_value(var: Var, block: &Block, subject: &Subject, mime_line: &str) -> Option<String> {
    let node = subject.reading.doc.node(block.node);
    let member = |name: &str| Some(node?.get(name)?.as_str()?.into_owned());
    let name = || block.name.clone().or_else(|| member("name")).unwrap_or_default();
    Some(match var {
        Var::Uri => block.uri.clone().unwrap_or_default(),
        Var::Name => name(),
        Var::Title => member("title").unwrap_or_default(),
        Var::TitleOrName => member("title").unwrap_or_else(name),
        Var::Description => member("description").unwrap_or_default(),
        Var::DescriptionParen => member("description").map(|text| format!(" ({text})")).unwrap_or_default(),
        Var::Mime => block.mime_type.clone().unwrap_or_default(),
        Var::MimeOrOctet => block.mime_type.clone().unwrap_or_else(|| "application/octet-stream".to_owned()),
        Var::Type => block.type_name.clone(),
        Var::Size => block.data_bytes.unwrap_or(0).to_string(),
        Var::ResourceMimeLine => block.mime_type.as_ref().map(|mime| format!("\n{mime_line}{mime}")).unwrap_or_default(),
        _ => return None,
    })
}

/// The members with these keys alone, in the order of the keys.
fn only<'n>(members: &[Node<'n>], keys: &[String]) -> Vec<Node<'n>> {
    keys.iter().filter_map(|key| members.iter().find(|node| node.key().as_deref() == Some(key)).copied()).collect()
}

/// The members with these keys first, then the others as they stood.
fn first<'n>(members: Vec<Node<'n>>, keys: &[String]) -> Vec<Node<'n>> {
    let mut ordered = only(&members, keys);
    ordered.extend(members.into_iter().filter(|node| !node.key().is_some_and(|key| keys.iter().any(|first| *first == key))));
    ordered
}
