//! The two passes over a capture: collecting what is secret, and hiding it wherever it stands.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::find::{Finder, Wanted};
use super::shapes::{Shape, Shapes, is_placeholder};
use super::walk::{REMEMBERED, Walk};
use super::{FoundSecret, RedactOptions};
use crate::cancel::{Cancel, Cancelled};
use crate::capture::{Capture, Message, Redaction, Tool};
use crate::json::write::string;
use crate::json::{Doc, Node, decode_string};

/// Strings of JSON within strings of JSON that are looked into.
const MAX_NESTED: u8 = 3;
/// Shorter values are hidden under their name alone, not looked for elsewhere.
const LEAST_COLLECTED: usize = 6;
/// Nodes between two looks at the asker.
const STRIDE: usize = 1 << 12;

/// What replaces a secret.
pub(super) fn mark(kind: &str) -> String {
    format!("[hidden:{kind}]")
}

pub(super) struct Masker<'a> {
    options: &'a RedactOptions,
    cancel: &'a Cancel,
    shapes: &'static Shapes,
    /// Values found under secret names, or by their looks, to hide wherever they stand, with their kind.
    collected: BTreeMap<String, String>,
    /// Those, and what was given.
    finder: Option<Arc<Finder>>,
    /// Nothing is hidden but what is known: no names, no looks.
    is_known_only: bool,
    found: Vec<FoundSecret>,
    /// Where the pass is: the part, and the pointer within it.
    part: String,
}

impl<'a> Masker<'a> {
    pub(super) fn new(options: &'a RedactOptions, cancel: &'a Cancel) -> Self {
        Self {
            options,
            cancel,
            shapes: Shapes::known(),
            collected: BTreeMap::new(),
            finder: None,
            is_known_only: false,
            found: Vec::new(),
            part: String::new(),
        }
    }

    /// One that hides what `finder` finds, and nothing else.
    pub(super) fn of_known(
        options: &'a RedactOptions,
        cancel: &'a Cancel,
        finder: Arc<Finder>,
    ) -> Self {
        Self {
            finder: Some(finder),
            is_known_only: true,
            ..Self::new(options, cancel)
        }
    }

    /// A message that belongs to no capture.
    pub(super) fn message(&mut self, bytes: &Bytes) -> Bytes {
        match self.bytes(bytes) {
            Ok(masked) => masked.map_or_else(|| bytes.clone(), Bytes::from),
            // Nobody looks away from it.
            Err(Cancelled) => mark("all").into(),
        }
    }

    /// What was found. A name may be secret as well, and is in the path of what is below it.
    pub(super) fn into_found(mut self) -> Vec<FoundSecret> {
        let mut found = std::mem::take(&mut self.found);
        for found in &mut found {
            if let Cow::Owned(masked) = self.text(&found.redaction.path, "") {
                found.redaction.path = masked;
            }
        }
        found
    }

    /// The first pass: every value that is secret somewhere.
    pub(super) fn collect(&mut self, capture: &Capture) -> Result<(), Cancelled> {
        self.collect_bytes(&capture.request)?;
        self.collect_bytes(&capture.arguments)?;
        if let Some(response) = &capture.response {
            self.collect_bytes(response)?;
        }
        for message in &capture.messages {
            self.collect_bytes(&message.bytes)?;
        }
        self.collect_bytes(&capture.tool.raw)?;
        for (_, key, value) in &capture.carried.members {
            self.collect_bytes(&member(key, value))?;
        }
        for text in [
            &capture.server.source,
            capture
                .server
                .instructions
                .as_ref()
                .unwrap_or(&String::new()),
        ] {
            self.collect_text(text);
        }
        Ok(())
    }

    fn collect_bytes(&mut self, bytes: &Bytes) -> Result<(), Cancelled> {
        let doc = Doc::parse(bytes.clone());
        if doc.is_json() {
            return self.collect_values(&doc, 0);
        }
        let text = String::from_utf8_lossy(bytes);
        for (range, is_text) in self.shapes.named_values(&text) {
            let value = &text[range];
            if is_text {
                self.add(&decode_string(value.as_bytes()), "member");
            } else {
                self.add(value, "member");
            }
        }
        self.collect_text(&text);
        Ok(())
    }

    fn collect_values(&mut self, doc: &Doc, nested: u8) -> Result<(), Cancelled> {
        let mut walk = Walk::new(self.shapes);
        for index in 0..doc.len() {
            if index.is_multiple_of(STRIDE) {
                self.cancel.check()?;
            }
            let Some(node) = doc.node(index) else { break };
            let is_secret = walk.is_secret(node);
            let Some(text) = node.as_str() else {
                if let Some(number) = node.as_number().filter(|_| is_secret) {
                    self.add(number, "member");
                }
                continue;
            };
            if is_secret {
                self.add(&text, "member");
                continue;
            }
            match nested_in(text, nested) {
                Ok(inner) => self.collect_values(&inner, nested + 1)?,
                Err(text) => self.collect_text(&text),
            }
        }
        Ok(())
    }

    fn collect_text(&mut self, text: &str) {
        for (range, shape) in self.shapes.find(text) {
            if !shape.offered {
                self.add(&text[range], &shape.id);
            }
        }
    }

    fn add(&mut self, value: &str, kind: &str) {
        if value.chars().count() >= LEAST_COLLECTED
            && !is_placeholder(value)
            && !self.options.keep.contains(kind)
        {
            self.collected
                .entry(value.to_owned())
                .or_insert_with(|| kind.to_owned());
        }
    }

    /// The same of one document.
    pub(super) fn document(mut self, bytes: &Bytes) -> Result<Bytes, Cancelled> {
        self.collect_bytes(bytes)?;
        self.prepare()?;
        Ok(self
            .bytes(bytes)?
            .map_or_else(|| bytes.clone(), Bytes::from))
    }

    /// Between the passes: one search for all values, longest first.
    ///
    /// # Errors
    /// More than can be searched for (gigabytes of values): then nothing may be written.
    pub(super) fn prepare(&mut self) -> Result<(), Cancelled> {
        // What was given is called so wherever it stands.
        for (value, _) in self.options.secrets.values() {
            self.collected.remove(value);
        }
        let collected = self.collected.iter();
        let collected = collected.map(|(text, kind)| Wanted {
            text: text.clone(),
            kind: kind.clone(),
            is_middle: false,
        });
        self.finder = Some(Arc::new(Finder::new(
            self.options.secrets.wanted().chain(collected),
        )?));
        Ok(())
    }

    /// The second pass.
    pub(super) fn mask(&mut self, capture: &Capture) -> Result<Capture, Cancelled> {
        let mut out = capture.clone();
        out.request = self.part("request.json", &capture.request)?;
        if let Some(response) = &capture.response {
            out.response = Some(self.part("response.json", response)?);
        }
        for (number, message) in (1..).zip(&mut out.messages) {
            let bytes = self.part(&format!("messages.jsonl:{number}"), &message.bytes.clone())?;
            *message = Message {
                bytes,
                ..message.clone()
            };
        }
        out.arguments = self.part("arguments", &capture.arguments)?;
        let raw = self.part("tool.definition", &capture.tool.raw)?;
        if raw != capture.tool.raw {
            out.tool = Tool {
                name: capture.tool.name.clone(),
                faults: capture.tool.faults.clone(),
                ..Tool::read(raw)
            };
        }
        for fault in &mut out.tool.faults {
            self.text_part("tool.faults", fault);
        }
        for redaction in &mut out.carried.redactions {
            self.text_part("capture.json", &mut redaction.path);
        }
        for (_, key, value) in &mut out.carried.members {
            let masked = Doc::parse(self.part("capture.json", &member(key, value))?);
            if let Some(only) = masked.root().and_then(|root| root.children().next()) {
                *key = only.key().unwrap_or_default().into_owned();
                *value = only.raw_bytes();
            }
        }
        self.text_part("server.source", &mut out.server.source);
        self.text_part("server.name", &mut out.server.name);
        if let Some(name) = &mut out.server.given_name {
            self.text_part("server.givenName", name);
        }
        self.text_part("server.version", &mut out.server.version);
        if let Some(instructions) = &mut out.server.instructions {
            self.text_part("server.instructions", instructions);
        }
        for note in &mut out.notes {
            self.text_part("notes", note);
        }
        for (name, value) in out.http.iter_mut().flat_map(|http| &mut http.headers) {
            if self.shapes.is_secret_name(name)
                && !is_placeholder(value)
                && !self.options.keep.contains("header")
            {
                self.note("http.headers", "header", value, true);
                *value = mark("header");
            }
            self.text_part("http.headers", value);
        }
        if let Some(problem) = &mut out.problem {
            self.text_part("problem", &mut problem.what);
            self.text_part("problem", &mut problem.place);
            problem
                .hint
                .iter_mut()
                .for_each(|hint| self.text_part("problem", hint));
        }
        Ok(out)
    }

    fn text_part(&mut self, part: &str, text: &mut String) {
        part.clone_into(&mut self.part);
        if let Cow::Owned(masked) = self.text(text, "") {
            *text = masked;
        }
    }

    fn part(&mut self, part: &str, bytes: &Bytes) -> Result<Bytes, Cancelled> {
        part.clone_into(&mut self.part);
        Ok(self
            .bytes(bytes)?
            .map_or_else(|| bytes.clone(), Bytes::from))
    }

    /// The bytes without what is secret; `None` where they stay.
    fn bytes(&mut self, bytes: &Bytes) -> Result<Option<Vec<u8>>, Cancelled> {
        let doc = Doc::parse(bytes.clone());
        if doc.is_json() {
            self.values(&doc, "", 0)
        } else {
            Ok(self.no_json(bytes))
        }
    }

    /// The same of a document whose root has this path.
    fn values(&mut self, doc: &Doc, path: &str, nested: u8) -> Result<Option<Vec<u8>>, Cancelled> {
        let bytes = doc.bytes();
        let mut out: Vec<u8> = Vec::new();
        let mut done = 0;
        let mut replace = |range: Range<usize>, new: &str| {
            out.extend_from_slice(&bytes[done..range.start]);
            out.extend_from_slice(new.as_bytes());
            done = range.end;
        };
        let mut walk = (!self.is_known_only && !self.options.keep.contains("member"))
            .then(|| Walk::new(self.shapes));
        // Names in which nothing is found.
        let mut plain_keys = HashSet::new();
        for index in 0..doc.len() {
            if index.is_multiple_of(STRIDE) {
                self.cancel.check()?;
            }
            let Some(node) = doc.node(index) else { break };
            if let Some(key) = node.raw_key().filter(|key| !plain_keys.contains(key)) {
                let decoded = decode_string(key);
                let before = self.found.len();
                if let Cow::Owned(masked) = self.text(&decoded, path) {
                    let start = key.as_ptr() as usize - bytes.as_ptr() as usize;
                    let quoted = string(&masked);
                    replace(start..start + key.len(), &quoted[1..quoted.len() - 1]);
                } else if self.found.len() == before && plain_keys.len() < REMEMBERED {
                    plain_keys.insert(key);
                }
            }
            let place = || format!("{path}{}", node.pointer());
            let is_secret = walk.as_mut().is_some_and(|walk| walk.is_secret(node));
            let Some(text) = node.as_str() else {
                if let Some(number) = node.as_number() {
                    let known = || {
                        self.finder
                            .as_ref()
                            .and_then(|finder| finder.whole(number))
                            .map(str::to_owned)
                    };
                    let kind = if is_secret {
                        Some("member".to_owned())
                    } else {
                        known()
                    };
                    if let Some(kind) = kind {
                        self.note(&place(), &kind, number, true);
                        // Still a number, so that readers of its kind go on reading.
                        replace(node.range(), "0");
                    }
                }
                continue;
            };
            if is_secret && !is_placeholder(&text) {
                self.note(&place(), "member", &text, true);
                replace(node.range(), &string(&mark("member")));
                continue;
            }
            let masked = match nested_in(text, nested) {
                Ok(inner) => self.values(&inner, &format!("{}#", place()), nested + 1)?,
                Err(text) => {
                    // The pointer is made only where something is found: there may be millions of texts.
                    let before = self.found.len();
                    let masked = match self.text(&text, "") {
                        Cow::Owned(masked) => Some(masked.into_bytes()),
                        Cow::Borrowed(_) => None,
                    };
                    if self.found.len() > before {
                        let place = place();
                        self.found[before..]
                            .iter_mut()
                            .for_each(|found| found.redaction.path.clone_from(&place));
                    }
                    masked
                }
            };
            if let Some(masked) = masked {
                replace(node.range(), &string(&String::from_utf8_lossy(&masked)));
            }
        }
        if done == 0 {
            return Ok(None);
        }
        out.extend_from_slice(&bytes[done..]);
        Ok(Some(out))
    }

    /// What is no JSON is a text, in which members with a secret name are looked for; what is no UTF-8 in it stays.
    fn no_json(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut is_masked = false;
        for chunk in bytes.utf8_chunks() {
            let named = self.named(chunk.valid());
            is_masked |= matches!(named, Cow::Owned(_));
            let masked = self.text(&named, "");
            is_masked |= matches!(masked, Cow::Owned(_));
            out.extend_from_slice(masked.as_bytes());
            out.extend_from_slice(chunk.invalid());
        }
        is_masked.then_some(out)
    }

    /// The text without the values of members with a secret name.
    fn named<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let (mut out, mut done) = (String::new(), 0);
        if self.is_known_only || self.options.keep.contains("member") {
            return Cow::Borrowed(text);
        }
        for (range, is_text) in self.shapes.named_values(text) {
            let value = &text[range.clone()];
            if is_placeholder(value) {
                continue;
            }
            self.note("", "member", value, true);
            out.push_str(&text[done..range.start]);
            out.push_str(&if is_text {
                mark("member")
            } else {
                "0".to_owned()
            });
            done = range.end;
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// The text without what is secret.
    fn text<'t>(&mut self, text: &'t str, path: &str) -> Cow<'t, str> {
        let mut ranges: Vec<(Range<usize>, String, bool)> = Vec::new();
        if let Some(finder) = &self.finder {
            ranges.extend(
                finder
                    .find(text)
                    .into_iter()
                    .map(|(range, kind)| (range, kind.to_owned(), true)),
            );
        }
        if !self.is_known_only {
            let shapes = self.shapes.find(text).into_iter();
            ranges.extend(
                shapes.map(|(range, shape)| (range, shape.id.clone(), self.is_hidden(shape))),
            );
        }
        if ranges.is_empty() {
            return Cow::Borrowed(text);
        }
        // What is hidden comes before what is not, the longer before the shorter.
        ranges.sort_by_key(|(range, _, is_hidden)| {
            (range.start, !is_hidden, std::cmp::Reverse(range.end))
        });
        let mut hidden = Vec::new();
        let mut done = 0;
        for (range, kind, is_hidden) in ranges {
            if range.start >= done {
                self.note(path, &kind, &text[range.clone()], is_hidden);
            }
            if is_hidden {
                done = done.max(range.end);
                hidden.push((range, mark(&kind)));
            }
        }
        replace(text, hidden)
    }

    fn is_hidden(&self, shape: &Shape) -> bool {
        if shape.offered {
            self.options.also.contains(&shape.id)
        } else {
            !self.options.keep.contains(&shape.id)
        }
    }

    fn note(&mut self, path: &str, kind: &str, value: &str, is_hidden: bool) {
        let last = self.found.iter_mut().rev().take(8).find(|found| {
            found.redaction.part == self.part
                && found.redaction.path == path
                && found.redaction.kind == kind
                && found.is_hidden == is_hidden
        });
        if let Some(last) = last {
            last.redaction.count += 1;
            return;
        }
        let length = value.chars().count();
        let shown: String = value
            .chars()
            .take(if length >= 16 { 4 } else { 0 })
            .filter(|char| !char.is_control())
            .collect();
        self.found.push(FoundSecret {
            redaction: Redaction {
                part: self.part.clone(),
                path: path.to_owned(),
                kind: kind.to_owned(),
                count: 1,
            },
            is_hidden,
            sample: format!("{shown}… ({length} characters)"),
        });
    }
}

/// A member by itself, as a document.
fn member(key: &str, value: &[u8]) -> Bytes {
    [b"{", string(key).as_bytes(), b":", value, b"}"]
        .concat()
        .into()
}

/// The texts and numbers that are under secret names in a JSON document, with the nearest name.
pub(super) fn named_secrets(text: &str) -> Vec<(String, String)> {
    let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
    let mut walk = Walk::new(Shapes::known());
    let nodes = (0..doc.len())
        .filter_map(|index| doc.node(index))
        .filter(|node| walk.is_secret(*node));
    let value = |node: Node<'_>| {
        node.as_str()
            .map(Cow::into_owned)
            .or_else(|| Some(node.as_number()?.to_owned()))
    };
    let named = nodes.filter_map(|node| {
        Some((
            node.key()
                .map_or_else(|| "member".to_owned(), Cow::into_owned),
            value(node)?,
        ))
    });
    named
        .filter(|(_, value)| value.chars().count() >= LEAST_COLLECTED && !is_placeholder(value))
        .collect()
}

/// The text with each range replaced by what comes with it. Of ranges that overlap, what comes with the first stands for all
/// that they cover.
pub(super) fn replace<T: AsRef<str>>(
    text: &str,
    ranges: impl IntoIterator<Item = (Range<usize>, T)>,
) -> Cow<'_, str> {
    let mut ranges: Vec<(Range<usize>, T)> = ranges.into_iter().collect();
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    ranges.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let (mut out, mut done) = (String::new(), 0);
    for (range, with) in ranges {
        if range.start >= done {
            out.push_str(&text[done..range.start]);
            out.push_str(with.as_ref());
        }
        done = done.max(range.end);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// A text within so many others, if it is itself JSON with members; else the text again.
fn nested_in(text: Cow<'_, str>, nested: u8) -> Result<Doc, Cow<'_, str>> {
    if nested >= MAX_NESTED || !text.trim_start().starts_with(['{', '[']) {
        return Err(text);
    }
    let doc = Doc::parse(text.into_owned().into());
    if doc.is_json() {
        Ok(doc)
    } else {
        Err(String::from_utf8_lossy(doc.bytes()).into_owned().into())
    }
}
