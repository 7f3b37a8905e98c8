//! What if keys were left out, and which fields a model needs. The capture is never touched: the payload is filtered
//! before the formats are written.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use bytes::Bytes;

use crate::analysis::columns::{Columns, compact_without, escape};
use crate::analysis::format_bytes;
use crate::analysis::query::{Ctx, Query, Stop, Weigh, format_of};
use crate::capture::{Capture, Payload, locate_facts};
use crate::digest::sha256;
use crate::format::{Format, ParsedCapture};
use crate::host::ResultPart;
use crate::json::{Doc, Node};
use crate::number::grouped;

/// The same answer with a payload that lacks these keys in every record. Ask it anything a subject can be asked; what
/// the server sent (`content`, `structured`, `both`, `wire`) stays as it was. `paths` are those of
/// [`Columns::path`]; one that is not there changes nothing.
pub fn without(subject: &ParsedCapture, paths: &BTreeSet<String>) -> ParsedCapture {
    let mut changed = subject.clone();
    let Some(payload) = &subject.payload else { return changed };
    // What texts tell of this payload says nothing about another.
    changed.known = Arc::default();
    let root = payload.root();
    let columns = Columns::of(root);
    let struck: HashSet<usize> = paths.iter().filter_map(|path| columns.find(path)).collect();
    let text = compact_without(root, |node| struck.contains(&columns.of_node[node.index() - root.index()]));
    changed.payload = Some(Payload::new(payload.origin.clone(), Arc::new(Doc::parse(Bytes::from(text))), 0));
    changed
}

/// The same, made once for several queries.
pub(super) fn without_shared(subject: &ParsedCapture, paths: &Arc<BTreeSet<String>>) -> Arc<ParsedCapture> {
    subject.known.omitted(paths, || Arc::new(without(subject, paths)))
}

/// The path of a node's column, as [`Columns::path`] writes it, without sorting the whole payload into columns.
pub fn path_of(node: Node<'_>, root: usize) -> String {
    let mut parts = Vec::new();
    let mut at = Some(node);
    while let Some(node) = at.filter(|node| node.index() > root) {
        parts.push(node.key().map_or_else(|| "*".to_owned(), |key| escape(&key)));
        at = node.parent();
    }
    parts.iter().rev().fold(String::new(), |path, part| path + "/" + part)
}

/// Whether a path is one of these, or inside one.
pub fn is_struck(path: &str, struck: &BTreeSet<String>) -> bool {
    struck.iter().any(|outer| path.strip_prefix(outer.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// The name of the key at the end of a path, for people: `city`; of the elements of a list `each of items`.
pub fn key_of(path: &str) -> String {
    let decode = |part: &str| part.replace("~1", "/").replace("~2", "*").replace("~0", "~");
    match path.rsplit('/').find(|part| *part != "*").filter(|part| !part.is_empty()) {
        Some(key) if path.ends_with("/*") => format!("each of {}", decode(key)),
        Some(key) => decode(key),
        None => "each of the list".to_owned(),
    }
}

/// The fields of a payload: the paths of the columns that hold values, in the order in which they stand.
pub fn fields(payload: &Payload) -> Vec<String> {
    let columns = Columns::of(payload.root());
    let leaves = (0..columns.columns.len()).filter(|&column| columns.columns[column].has_leaves);
    leaves.map(|column| columns.path(column)).collect()
}

/// A needed field that a format does not carry for every record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldLoss {
    /// As [`Columns::path`] writes it.
    pub path: String,
    /// In how many records its value is missing.
    pub missing: u64,
    /// In how many records it has a value that a text can carry.
    pub of: u64,
}

/// What a format does to the fields that a model needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededFields {
    /// How many are needed and stand in the payload.
    pub needed: u64,
    pub lost: Vec<FieldLoss>,
}

impl NeededFields {
    /// The sentence of the verdict, such as "CSV loses 1 of 3 needed fields: city (in 2 of 9 records)".
    pub fn sentence(&self, title: &str) -> String {
        let fields = if self.needed == 1 { "field" } else { "fields" };
        if self.lost.is_empty() {
            return format!("{title} keeps all {} needed {fields}", grouped(self.needed));
        }
        let name = |lost: &FieldLoss| {
            let key = lost.path.rsplit('/').find(|part| *part != "*").unwrap_or("").replace("~1", "/").replace("~0", "~");
            format!("{key} (in {} of {} records)", grouped(lost.missing), grouped(lost.of))
        };
        let mut names: Vec<String> = self.lost.iter().take(3).map(name).collect();
        if self.lost.len() > 3 {
            names.push(format!("{} more", self.lost.len() - 3));
        }
        let lost = grouped(self.lost.len() as u64);
        format!("{title} loses {lost} of {} needed {fields}: {}", grouped(self.needed), names.join(", "))
    }
}

/// Which of the needed fields a format loses; `None` where there is no payload. A value is lost where the text of the
/// format does not say it, by the same matching as everywhere.
///
/// # Errors
/// [`Stop`] when cancelled, or where the format does not apply.
pub fn needed_fields(
    subject: &ParsedCapture,
    format: &'static dyn Format,
    needed: &BTreeSet<String>,
) -> Result<Option<NeededFields>, Stop> {
    let Some(payload) = &subject.payload else { return Ok(None) };
    let bytes = format_bytes(format, subject)?;
    let root = payload.root();
    let columns = Columns::of(root);
    let mut wanted: Vec<(usize, FieldLoss)> = needed
        .iter()
        .filter_map(|path| Some((columns.find(path)?, FieldLoss { path: path.clone(), missing: 0, of: 0 })))
        .collect();
    wanted.sort_by_key(|(column, _)| *column);
    for fact in locate_facts(payload, &String::from_utf8_lossy(&bytes)).facts {
        let column = columns.of_node[fact.node() - root.index()];
        if let Ok(at) = wanted.binary_search_by_key(&column, |(column, _)| *column) {
            let field = &mut wanted[at].1;
            field.of += 1;
            field.missing += u64::from(fact.state().is_missing());
        }
    }
    let needed = wanted.len() as u64;
    let lost = wanted.into_iter().map(|(_, field)| field).filter(|field| field.missing > 0).collect();
    Ok(Some(NeededFields { needed, lost }))
}

/// Which of these fields a format, by its id, loses; `None` where the answer has no payload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NeededQuery {
    pub format: &'static str,
    pub fields: Arc<[String]>,
}

impl Query for NeededQuery {
    type Out = Option<Arc<NeededFields>>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let fields = self.fields.iter().cloned().collect();
        Ok(needed_fields(cx.subject()?, format_of(self.format)?, &fields)?.map(Arc::new))
    }
}

/// What a query would be answered if these keys, as [`Columns::path`] writes them, were left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OmitKeys<Q>(pub Arc<BTreeSet<String>>, pub Q);

impl<Q: Query> Query for OmitKeys<Q> {
    type Out = Q::Out;
    const IS_COUNT: bool = true;
    const IS_PASSING: bool = true;

    fn is_held(&self) -> bool {
        self.1.is_held()
    }

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let changed = without_shared(cx.subject()?, &self.0);
        self.1.run(&Ctx { subjects: &[changed], ..*cx })
    }
}

impl Weigh for NeededFields {}

/// The two parts of an answer, each whole; a part that is not there is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The texts of all text blocks in order, one LF between two.
    pub text: Option<String>,
    /// JSON.
    pub structured: Option<String>,
}

impl Parts {
    /// What [`Parts::sent`] puts together.
    pub fn pieces(&self) -> Vec<&str> {
        match (self.text.as_deref(), self.structured.as_deref()) {
            (Some(text), Some(structured)) => vec![text, "\n", structured],
            (text, structured) => text.or(structured).into_iter().collect(),
        }
    }

    /// What one model reads of them: this part, or the other where it is not there.
    pub fn read(&self, part: ResultPart) -> Vec<&str> {
        match (part, &self.text, &self.structured) {
            (ResultPart::Text, Some(one), _) | (ResultPart::Data, _, Some(one)) => vec![one],
            _ => self.pieces(),
        }
    }

    /// Both parts as the format `both` writes them, or the one there is.
    pub fn sent(&self) -> Cow<'_, str> {
        match (&self.text, &self.structured) {
            (Some(text), Some(structured)) => Cow::Owned(format!("{text}\n{structured}")),
            (Some(one), None) | (None, Some(one)) => Cow::Borrowed(one),
            (None, None) => Cow::Borrowed(""),
        }
    }
}

/// An answer with other parts, such as a fix of a finding makes it. Equal are those of equal text.
#[derive(Clone, Debug)]
pub struct Mended {
    digest: String,
    pub parts: Parts,
    is_text_changed: bool,
    subject: Arc<ParsedCapture>,
}

impl Mended {
    /// What is longer is not kept.
    pub const MOST_BYTES: usize = 1 << 20;

    /// The answer of this capture with these parts.
    pub fn of(subject: &ParsedCapture, parts: Parts) -> Self {
        let mut result = serde_json::Map::new();
        let blocks: Vec<_> = parts.text.iter().map(|text| serde_json::json!({"type": "text", "text": text})).collect();
        result.insert("content".to_owned(), blocks.into());
        let data = parts.structured.as_ref().map(|data| format!(",\"structuredContent\":{data}")).unwrap_or_default();
        let head = serde_json::Value::Object(result).to_string();
        let message = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}{data}}}}}", head.trim_end_matches('}'));
        let capture = Capture { response: Some(Bytes::from(message)), ..Capture::clone(&subject.capture) };
        let was = crate::analysis::text_of(subject, "content").ok();
        let is_text_changed = was != parts.text;
        Self {
            digest: sha256(parts.sent().as_bytes()),
            parts,
            is_text_changed,
            subject: crate::analysis::subject(Arc::new(capture)),
        }
    }

    /// The part that is not as it was; of both the text. `None` where all that changed is that a part is gone.
    pub fn changed_part(&self) -> Option<&str> {
        if self.is_text_changed { self.parts.text.as_deref() } else { self.parts.structured.as_deref() }
    }

    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        self.subject.footprint() + self.parts.sent().len()
    }
}

impl PartialEq for Mended {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Mended {}

impl Hash for Mended {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

/// What a query would be answered about the mended answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AsMended<Q>(pub Arc<Mended>, pub Q);

impl<Q: Query> Query for AsMended<Q> {
    type Out = Q::Out;
    const IS_COUNT: bool = true;
    const IS_PASSING: bool = true;

    fn is_held(&self) -> bool {
        self.1.is_held()
    }

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        self.1.run(&Ctx { subjects: std::slice::from_ref(&self.0.subject), ..*cx })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::subject_of;
    use crate::format::by_id;

    const RESULT: &str = r###"{"content":[{"type":"text","text":"## Acme\n- **City**: Ulm\n\n## Beta\n"}],"structuredContent":{"items":[{"name":"Acme","city":"Ulm","n":1.50},{"name":"Beta","city":"Bonn","n":2}]}}"###;

    fn set(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn a_key_is_left_out_of_every_record() {
        let subject = subject_of(RESULT);
        let json =
            |subject: &ParsedCapture| String::from_utf8(format_bytes(by_id("json").unwrap(), subject).unwrap().to_vec()).unwrap();
        let less = without(&subject, &set(&["/items/*/city", "/no/such"]));
        assert_eq!(json(&less), r#"{"items":[{"name":"Acme","n":1.50},{"name":"Beta","n":2}]}"#);
        assert_eq!(json(&without(&subject, &set(&["/items"]))), "{}");
        assert_eq!(json(&without(&subject, &set(&["/items/*"]))), r#"{"items":[]}"#);
        assert_eq!(json(&without(&subject, &set(&[]))), json(&subject));
        // What the server sent is what it sent.
        let sent = |subject: &ParsedCapture| format_bytes(by_id("both").unwrap(), subject).unwrap();
        assert_eq!(sent(&less), sent(&subject));
    }

    #[test]
    fn a_node_knows_its_column() {
        let subject = subject_of(r#"{"structuredContent":{"items":[{"a/b":1,"c":[{"*":2}]},{"c":[3]}]}}"#);
        let payload = subject.payload.as_ref().unwrap();
        let columns = Columns::of(payload.root());
        for (at, &column) in columns.of_node.iter().enumerate() {
            let node = payload.doc.node(payload.root + at).unwrap();
            assert_eq!(path_of(node, payload.root), columns.path(column));
        }
        let struck = set(&["/items/*/c"]);
        assert!(is_struck("/items/*/c", &struck) && is_struck("/items/*/c/*", &struck) && !is_struck("/items/*/city", &struck));
        assert_eq!(["/items/*/a~1b", "/items/*", "/*", "/~2"].map(key_of), ["a/b", "each of items", "each of the list", "*"]);
    }

    #[test]
    fn needed_fields_are_judged_by_format() {
        let subject = subject_of(RESULT);
        let payload = subject.payload.as_ref().unwrap();
        assert_eq!(fields(payload), ["/items/*/name", "/items/*/city", "/items/*/n"]);
        let judge = |id: &str, paths: &[&str]| {
            let format = by_id(id).unwrap();
            let found = needed_fields(&subject, format, &set(paths)).unwrap().unwrap();
            found.sentence(format.title())
        };
        assert_eq!(judge("content", &["/items/*/name"]), "Text keeps all 1 needed field");
        assert_eq!(
            judge("content", &["/items/*/name", "/items/*/city", "/gone"]),
            "Text loses 1 of 2 needed fields: city (in 1 of 2 records)"
        );
        assert_eq!(judge("csv", &["/items/*/name", "/items/*/city"]), "CSV keeps all 2 needed fields");
    }
}
