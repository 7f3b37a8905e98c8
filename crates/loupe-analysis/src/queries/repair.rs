//! What the data would have to say too, so that a format of it says all that the text says.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::queries::fixed_result::{FixedResult, Parts};
use crate::queries::query::{Ctx, Query, Stop, Weigh};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::{ReadText, Record, ResultData};
use loupe_core::format::ledger::Row;
use loupe_core::format::{FORMATS, ParsedCapture};
use loupe_core::json;
use loupe_core::layout::{Line, lines, strip_marks};

/// Text and data that are longer together get no repair: it costs as much as the ledger.
const MOST_BYTES: usize = 256 << 10;
/// A longer label is a sentence.
const LABEL_WORDS: usize = 4;
/// The member that takes texts which belong to no record, and that which takes a list, since `structuredContent` is an
/// object.
const NOTICES: &str = "notices";
const ITEMS: &str = "items";

/// A member that the data gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedMember {
    pub key: String,
    /// How many objects get it.
    pub objects: usize,
    /// JSON of its first value.
    pub first: String,
}

/// The data with what the text says besides, and what it costs in each format.
#[derive(Clone, Debug)]
pub struct Repair {
    pub added: Vec<AddedMember>,
    pub fixed: Arc<FixedResult>,
    /// Of the formats that are written from data.
    pub rows: Vec<Row>,
}

impl Weigh for Repair {
    fn weight(&self) -> usize {
        self.fixed.weight() + self.rows.len() * size_of::<Row>()
    }
}

/// The repair of a result; `None` where its text says nothing more than its data, or the data cannot take it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RepairQuery;

impl Query for RepairQuery {
    type Out = Option<Arc<Repair>>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Repair::new(cx.subject()?, cx.cancel)?.map(Arc::new))
    }
}

impl Repair {
    /// The repair of a result; `None` where its text says nothing more than its data, or the data cannot take it.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn new(subject: &ParsedCapture, cancel: &Cancel) -> Result<Option<Self>, Cancelled> {
        let text = subject.response.content_text().unwrap_or_default();
        let Some(data) = subject.compared_data() else {
            return Ok(None);
        };
        let is_small = text.len() + data.root().range().len() <= MOST_BYTES;
        let is_plain = subject.capture.read_text == ReadText::Auto && data.doc.is_json();
        if !is_small || !is_plain {
            return Ok(None);
        }
        let extra: Vec<_> = subject
            .extra()
            .pieces
            .iter()
            .map(|piece| piece.range.clone())
            .collect();
        // A block that is no text is dropped by every format, whatever the data says.
        if extra.is_empty() || subject.extra().blocks > 0 {
            return Ok(None);
        }
        let records = if data.text_source().is_some() {
            data.records_in_text(&subject.response, &text)
        } else {
            subject.facts_in_text().records.clone()
        };
        let members = Members::collect(data, &text, &extra, &records);
        let Some(structured) = members.write(data) else {
            return Ok(None);
        };
        let parts = Parts {
            text: Some(text),
            structured: Some(structured),
        };
        let fixed = FixedResult::new(subject, parts);
        let derived = FORMATS.iter().filter(|format| !format.is_as_sent());
        let mut rows = Vec::new();
        for format in derived {
            cancel.check()?;
            rows.push(Row::measure(*format, fixed.subject()));
        }
        Ok(Some(Self {
            added: members.added(),
            fixed: Arc::new(fixed),
            rows,
        }))
    }

    /// "type, notices".
    pub fn names(&self) -> String {
        let names: Vec<_> = self
            .added
            .iter()
            .map(|member| member.key.as_str())
            .collect();
        names.join(", ")
    }
}

/// What is added, by the object that gets it.
#[derive(Default)]
struct Members {
    /// In the order of the text: tape index of the object, key, and the text.
    of_objects: Vec<(usize, String, String)>,
    notices: Vec<String>,
    /// Whether a line says another text than the data under the same label: that is a contradiction to mend first.
    contradicts: bool,
}

impl Members {
    fn collect(data: &ResultData, text: &str, extra: &[Range<usize>], records: &[Record]) -> Self {
        let mut members = Self::default();
        let record_of = |at: usize| {
            records
                .iter()
                .filter(|record| record.places.iter().any(|place| place.contains(&at)))
                .max_by_key(|record| record.node)
                .map(|record| record.node)
        };
        let is_extra = |line: &Line<'_>| {
            let at = extra.partition_point(|piece| piece.end <= line.at);
            extra
                .get(at)
                .is_some_and(|piece| piece.start < line.range().end)
        };
        // Records get the same members, also where the data has the value of one of them already.
        let mut labels: Vec<&str> = Vec::new();
        for line in lines(text).filter(is_extra) {
            if let Some((label, _)) = labelled(&line)
                && record_of(line.at).is_some()
                && !labels.contains(&label)
            {
                labels.push(label);
            }
        }
        let is_root_object = data.root().kind() == json::Kind::Object;
        for line in lines(text) {
            let pair = labelled(&line);
            let record = record_of(line.at);
            match (pair, record) {
                (Some((label, value)), Some(record)) if labels.contains(&label) => {
                    members.add(data, record, label, value);
                }
                _ if !is_extra(&line) => {}
                (Some((label, value)), None) if is_root_object => {
                    members.add(data, data.root().index(), label, value);
                }
                _ => members.notices.push(plain(&line)),
            }
        }
        members
    }

    fn add(&mut self, data: &ResultData, object: usize, label: &str, value: &str) {
        let Some(node) = data.doc.node(object) else {
            return;
        };
        let is_snake = node
            .children()
            .filter_map(|child| child.key())
            .any(|key| key.contains('_'));
        let mut key = key_of(label, is_snake);
        let same = node.get(&key);
        self.contradicts |= same.is_some_and(|same| same.kind() == json::Kind::String);
        if same.is_some() {
            key.push_str(if is_snake { "_text" } else { "Text" });
        }
        let is_taken = node.get(&key).is_some()
            || self
                .of_objects
                .iter()
                .any(|(known, own, _)| (*known, own) == (object, &key));
        if node.kind() != json::Kind::Object || key.is_empty() || is_taken {
            self.notices.push(format!("{label}: {value}"));
        } else {
            self.of_objects.push((object, key, value.to_owned()));
        }
    }

    /// The data with all of it; `None` where it cannot take it.
    fn write(&self, data: &ResultData) -> Option<String> {
        if self.contradicts {
            return None;
        }
        let root = data.root();
        let mut inserts: BTreeMap<usize, String> = BTreeMap::new();
        let mut insert = |object: usize, key: &str, value: &str| {
            let node = data.doc.node(object)?;
            let end = node.range().end.checked_sub(1)?;
            let members = inserts.entry(end).or_default();
            if !node.is_empty() || !members.is_empty() {
                members.push(',');
            }
            json::write::push_string(members, key);
            members.push(':');
            members.push_str(value);
            Some(())
        };
        for (object, key, value) in &self.of_objects {
            insert(*object, key, &json::write::string(value))?;
        }
        let is_object = root.kind() == json::Kind::Object;
        if is_object && !self.notices.is_empty() {
            if root.get(NOTICES).is_some() {
                return None;
            }
            insert(root.index(), NOTICES, &self.notices_json())?;
        }
        let mut out = String::new();
        let mut at = root.range().start;
        for (end, members) in &inserts {
            out.push_str(std::str::from_utf8(data.doc.bytes().get(at..*end)?).ok()?);
            out.push_str(members);
            at = *end;
        }
        out.push_str(std::str::from_utf8(data.doc.bytes().get(at..root.range().end)?).ok()?);
        if is_object {
            return Some(out);
        }
        let notices = match self.notices.is_empty() {
            true => String::new(),
            false => format!(",\"{NOTICES}\":{}", self.notices_json()),
        };
        Some(format!("{{\"{ITEMS}\":{out}{notices}}}"))
    }

    fn notices_json(&self) -> String {
        let texts: Vec<_> = self
            .notices
            .iter()
            .map(|text| json::write::string(text))
            .collect();
        format!("[{}]", texts.join(","))
    }

    fn added(&self) -> Vec<AddedMember> {
        let mut added: Vec<AddedMember> = Vec::new();
        for (_, key, value) in &self.of_objects {
            match added.iter_mut().find(|member| member.key == *key) {
                Some(member) => member.objects += 1,
                None => added.push(AddedMember {
                    key: key.clone(),
                    objects: 1,
                    first: json::write::string(value),
                }),
            }
        }
        if !self.notices.is_empty() {
            added.push(AddedMember {
                key: NOTICES.to_owned(),
                objects: 1,
                first: self.notices_json(),
            });
        }
        added
    }
}

/// The label and the value of a line that is one pair: a row of two cells, or `Label: value`.
fn labelled<'a>(line: &Line<'a>) -> Option<(&'a str, &'a str)> {
    let body = line.item().unwrap_or(line.body());
    let (label, value) = if body.starts_with('|') {
        let cells: Vec<_> = line.cells().map(str::trim).collect();
        match cells.as_slice() {
            [label, value] => (*label, *value),
            _ => return None,
        }
    } else {
        let (label, value) = body.split_once(':')?;
        // The colon may stand within the marks: `**Type:** Dead`.
        (label, value.strip_prefix("**").unwrap_or(value))
    };
    let label = strip_marks(label.trim()).trim_start_matches("**").trim();
    let value = strip_marks(value.trim());
    let is_label = label.starts_with(char::is_alphabetic)
        && label.split_whitespace().count() <= LABEL_WORDS
        && label
            .chars()
            .all(|char| char.is_alphanumeric() || matches!(char, ' ' | '_' | '-'));
    (is_label && value.chars().any(char::is_alphanumeric) && !value.contains("**"))
        .then_some((label, value))
}

/// A line without the marks that it begins with.
fn plain(line: &Line<'_>) -> String {
    let body = line.heading().or_else(|| line.item());
    body.unwrap_or(line.body()).trim().to_owned()
}

/// A label as a key in the style of the keys beside it.
fn key_of(label: &str, is_snake: bool) -> String {
    let words = label
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase);
    if is_snake {
        return words.collect::<Vec<_>>().join("_");
    }
    words
        .enumerate()
        .map(|(at, word)| match word.char_indices().nth(1) {
            _ if at == 0 => word,
            Some((rest, _)) => word[..rest].to_uppercase() + &word[rest..],
            None => word.to_uppercase(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repair(text: &str, data: Option<&str>) -> Option<Repair> {
        let text = json::write::string(text);
        let data = data.map_or_else(String::new, |data| {
            format!(r#","structuredContent":{data}"#)
        });
        let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}]{data}}}"#);
        Repair::new(&ParsedCapture::from_result(&result), &Cancel::new()).unwrap()
    }

    /// What the text says besides the data with the repair.
    fn rest(repair: &Repair) -> Vec<String> {
        let subject = repair.fixed.subject();
        let text = subject.response.content_text().unwrap();
        let pieces = subject.extra().pieces.iter();
        pieces
            .map(|piece| text[piece.range.clone()].to_owned())
            .collect()
    }

    const TABLES: &str = "## Companies\n\n**Query**: north\n\n### Acme (ID: 15305)\n\n| Field | Value |\n|---|---|\n| **Type** | Dead |\n| **City** | Oslo |\n\n### Birch (ID: 16785)\n\n| Field | Value |\n|---|---|\n| **Type** | Prospect |\n| **City** | Bergen |\n\nMore pages exist.";
    const DATA: &str = r#"{"items":[{"id":15305,"name":"Acme","companyType":4,"city":"Oslo"},{"id":16785,"name":"Birch","companyType":2,"city":"Bergen"}],"total":2}"#;

    #[test]
    fn labels_of_records_become_members_of_each_and_the_rest_notices() {
        let repair = repair(TABLES, Some(DATA)).unwrap();
        assert_eq!(repair.names(), "query, type, notices");
        assert_eq!(repair.added[1].objects, 2);
        assert_eq!(repair.added[1].first, r#""Dead""#);
        let data = repair.fixed.parts.structured.as_deref().unwrap();
        assert!(data.contains(r#""city":"Oslo","type":"Dead"}"#), "{data}");
        assert!(
            data.ends_with(
                r#""total":2,"query":"north","notices":["Companies","More pages exist."]}"#
            ),
            "{data}"
        );
        assert_eq!(rest(&repair), Vec::<String>::new());
    }

    #[test]
    fn a_list_that_was_read_from_the_text_goes_into_an_object() {
        let text = "Found these:\n\n| id | name |\n|---|---|\n| 1 | Ann |\n| 2 | Bo |\n";
        let repair = repair(text, None).unwrap();
        let data = repair.fixed.parts.structured.as_deref().unwrap();
        assert!(data.starts_with(r#"{"items":["#), "{data}");
        assert!(data.ends_with(r#"],"notices":["Found these:"]}"#), "{data}");
    }

    #[test]
    fn what_says_nothing_more_has_no_repair() {
        assert!(repair("| id | name |\n|---|---|\n| 1 | Ann |\n", None).is_none());
        assert!(repair("Only prose.", None).is_none());
        // Its key is taken.
        assert!(repair("Note.\n\nid: 1", Some(r#"{"id":1,"notices":[]}"#)).is_none());
    }

    #[test]
    fn an_image_is_in_no_data() {
        let result = r#"{"content":[{"type":"text","text":"Note.\nid: 1"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"structuredContent":{"id":1}}"#;
        let subject = ParsedCapture::from_result(result);
        assert!(!subject.extra().pieces.is_empty());
        assert!(Repair::new(&subject, &Cancel::new()).unwrap().is_none());
    }

    #[test]
    fn a_contradiction_is_no_more_than_that() {
        let data = r#"{"id":1,"name":"Acme","status":"active"}"#;
        assert!(repair("id: 1\nname: Acme\nstatus: closed\n", Some(data)).is_none());
    }

    #[test]
    fn a_key_that_is_taken_is_not_written_twice() {
        let repair = repair(
            "id: 1\nType: Dead\n",
            Some(r#"{"id":1,"type":4,"user_id":1}"#),
        )
        .unwrap();
        assert_eq!(repair.names(), "type_text");
    }
}
