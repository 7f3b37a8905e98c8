//! A claim is a proof: results in every layout are changed in one place, and no change may be called the same data.
//!
//! 2,000 mutants by default; `LOUPE_MUTANTS` says how many. The seed is fixed, so that a failure comes again.

use std::sync::Arc;

use bytes::Bytes;
use loupe_core::capture::{Capture, CaptureId, Server, Tool};
use loupe_core::format::claim::Claim;
use loupe_core::format::ledger::Row;
use loupe_core::format::{FORMATS, Format, ParsedCapture, by_id};
use serde_json::{Map, Value, json};

/// A generator of numbers, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

const NAMES: [&str; 10] = [
    "Northbeam Dental",
    "Acme",
    "Ann Lee",
    "Blue Harbour",
    "Vega",
    "Old Mill",
    "Quartz Labs",
    "Rosa Diaz",
    "Tern",
    "Umber & Co",
];
const CITIES: [&str; 6] = ["Oslo", "Rome", "Lyon", "New York", "Ulm", "Kyoto"];
const STATES: [&str; 4] = ["open", "closed", "in_progress", "waiting"];
/// What no original holds.
const ADDED: &str = "zq7713";

fn record(random: &mut Random, at: usize) -> Value {
    let mut record = Map::new();
    record.insert("id".into(), json!(100 + at * 7 + random.below(5)));
    record.insert(
        "companyName".into(),
        json!(format!("{} {}", random.pick(&NAMES), at + 1)),
    );
    record.insert("city".into(), json!(*random.pick(&CITIES)));
    record.insert(
        "price".into(),
        json!(f64::from(random.below(90_000) as u32) / 8.0 + 0.125),
    );
    record.insert("active".into(), json!(random.below(2) == 0));
    record.insert("status".into(), json!(*random.pick(&STATES)));
    let (day, hour, minute) = (1 + random.below(28), random.below(24), random.below(60));
    record.insert(
        "updatedAt".into(),
        json!(format!(
            "2025-{:02}-{day:02}T{hour:02}:{minute:02}:00Z",
            1 + random.below(12)
        )),
    );
    record.insert("visits".into(), json!(random.below(5_000_000)));
    // Not every server has all of them.
    let keys: Vec<String> = record.keys().skip(2).cloned().collect();
    for key in keys {
        if at == 0 && random.below(4) == 0 {
            record.insert(
                format!("{key}Note"),
                json!(format!("note {}", random.below(900))),
            );
        }
    }
    Value::Object(record)
}

/// Data of one of the shapes that servers return.
fn data(random: &mut Random) -> Value {
    let count = 2 + random.below(4);
    let mut records: Vec<Value> = (0..count).map(|at| record(random, at)).collect();
    let keys: Vec<String> = records[1].as_object().unwrap().keys().cloned().collect();
    let kept = 3 + random.below(keys.len() - 3);
    for record in &mut records {
        let members = record.as_object().unwrap();
        *record = keys
            .iter()
            .take(kept)
            .map(|key| (key.clone(), members[key].clone()))
            .collect::<Map<_, _>>()
            .into();
    }
    match random.below(3) {
        0 => Value::Array(records),
        1 => json!({"totalCount": 4711, "items": records}),
        _ => records.swap_remove(0),
    }
}

fn subject(result: &Value) -> ParsedCapture {
    let message = json!({"jsonrpc": "2.0", "id": 1, "result": result});
    ParsedCapture::new(Arc::new(Capture {
        tool: Tool::unlisted("mutant"),
        arguments: Bytes::from_static(b"{}"),
        response: Some(Bytes::from(message.to_string())),
        ..Capture::empty(CaptureId("mutant".into()), Server::default())
    }))
}

fn written(format: &dyn Format, data: &Value) -> Option<String> {
    let subject = subject(&json!({"content": [], "structuredContent": data}));
    format.applies(&subject).ok()?;
    let mut gather = Vec::new();
    format.write(&subject, &mut gather).ok()?;
    String::from_utf8(gather).ok()
}

/// Records, and what stands around them.
type Parts<'a> = (Vec<&'a Map<String, Value>>, Vec<(&'a str, &'a Value)>);

/// The records of the data, and what stands around them.
fn parts(data: &Value) -> Parts<'_> {
    match data {
        Value::Array(records) => (
            records.iter().filter_map(Value::as_object).collect(),
            Vec::new(),
        ),
        Value::Object(members) => match members.get("items").and_then(Value::as_array) {
            Some(records) => {
                let around = members
                    .iter()
                    .filter(|(key, _)| *key != "items")
                    .map(|(key, value)| (key.as_str(), value));
                (
                    records.iter().filter_map(Value::as_object).collect(),
                    around.collect(),
                )
            }
            None => (vec![members], Vec::new()),
        },
        _ => (Vec::new(), Vec::new()),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `companyName` as `Company Name`.
fn title(key: &str) -> String {
    let mut out = String::new();
    for (at, char) in key.chars().enumerate() {
        if at == 0 {
            out.extend(char.to_uppercase());
        } else {
            if char.is_uppercase() {
                out.push(' ');
            }
            out.push(char);
        }
    }
    out
}

/// How people lay records out.
fn laid_out(layout: &str, data: &Value) -> Option<String> {
    let (records, around) = parts(data);
    let is_one = data.get("id").is_some();
    let mut out = String::new();
    if layout != "csv-titles" {
        for (key, value) in &around {
            out.push_str(&format!("{}: {}\n\n", title(key), shown(value)));
        }
    }
    match layout {
        "labels" => {
            for record in &records {
                record.iter().for_each(|(key, value)| {
                    out.push_str(&format!("{}: {}\n", title(key), shown(value)))
                });
                out.push('\n');
            }
        }
        "bold-labels" => {
            for record in &records {
                record.iter().for_each(|(key, value)| {
                    out.push_str(&format!("- **{}**: {}\n", title(key), shown(value)))
                });
                out.push('\n');
            }
        }
        "table" if !is_one => {
            let keys: Vec<&String> = records[0].keys().collect();
            let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
            out.push_str(&row(keys.iter().map(|key| title(key)).collect()));
            out.push_str(&row(keys.iter().map(|_| "---".to_owned()).collect()));
            records.iter().for_each(|record| {
                out.push_str(&row(keys
                    .iter()
                    .map(|key| record.get(*key).map(shown).unwrap_or_default())
                    .collect()))
            });
        }
        "field-table" if is_one => {
            out.push_str("| Field | Value |\n|---|---|\n");
            records[0].iter().for_each(|(key, value)| {
                out.push_str(&format!("| {} | {} |\n", title(key), shown(value)))
            });
        }
        "csv-titles" if !is_one && around.is_empty() => {
            let keys: Vec<&String> = records[0].keys().collect();
            let row = |cells: Vec<String>| format!("{}\n", cells.join(","));
            out.push_str(&row(keys.iter().map(|key| title(key)).collect()));
            records.iter().for_each(|record| {
                out.push_str(&row(keys
                    .iter()
                    .map(|key| record.get(*key).map(shown).unwrap_or_default())
                    .collect()))
            });
        }
        _ => return None,
    }
    Some(out.trim_end().to_owned())
}

const LAYOUTS: [&str; 5] = [
    "labels",
    "bold-labels",
    "table",
    "field-table",
    "csv-titles",
];

/// Every layout of some data, by name.
fn layouts(data: &Value) -> Vec<(&'static str, String)> {
    let formats = FORMATS.iter().filter(|format| !format.is_as_sent());
    let formats = formats.filter_map(|format| Some((format.id(), written(*format, data)?)));
    formats
        .chain(
            LAYOUTS
                .into_iter()
                .filter_map(|layout| Some((layout, laid_out(layout, data)?))),
        )
        .collect()
}

/// A value that says something else.
fn changed(value: &Value, random: &mut Random) -> Value {
    match value {
        Value::Bool(is) => json!(!is),
        Value::Number(number) => match random.below(3) {
            0 => json!(-number.as_f64().unwrap() - 1.0),
            1 => serde_json::from_str(&format!("{}7", number.to_string().trim_end_matches(".0")))
                .unwrap(),
            _ => json!(number.as_f64().unwrap() + 3.5),
        },
        Value::String(text) if text.ends_with('Z') && text.contains("T") => match random.below(2) {
            0 => json!(text.replace('Z', "+05:00")),
            _ => json!(format!(
                "{}{}",
                &text[..11],
                if &text[11..13] == "09" {
                    "21:17:00Z"
                } else {
                    "09:17:00Z"
                }
            )),
        },
        Value::String(text) => match random.below(3) {
            0 => json!(format!("not {text}")),
            1 => json!(
                text.chars()
                    .take(text.chars().count() - 1)
                    .collect::<String>()
            ),
            _ => json!(if STATES.contains(&text.as_str()) {
                "cancelled".to_owned()
            } else {
                format!("{text} II")
            }),
        },
        other => other.clone(),
    }
}

/// The records of the data, to be changed.
fn records_mut(data: &mut Value) -> Vec<&mut Map<String, Value>> {
    if data.get("items").is_some() {
        return data["items"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .collect();
    }
    match data {
        Value::Array(records) => records
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .collect(),
        Value::Object(members) => vec![members],
        _ => Vec::new(),
    }
}

/// The data with one thing changed, and what it was; `None` where there is nothing to change so.
fn mutated(data: &Value, random: &mut Random) -> Option<(&'static str, Value)> {
    let mut other = data.clone();
    let kind = random.below(6);
    let name = [
        "change",
        "swap within a record",
        "swap between records",
        "reorder records",
        "drop",
        "negate a label",
    ][kind];
    let mut records = records_mut(&mut other);
    let count = records.len();
    match kind {
        0 => {
            let record = &mut records[random.below(count)];
            let key = record.keys().nth(random.below(record.len()))?.clone();
            let value = changed(&record[&key], random);
            record.insert(key, value);
        }
        1 => {
            let record = &mut records[random.below(count)];
            let (a, b) = (random.below(record.len()), random.below(record.len()));
            let keys: Vec<String> = record.keys().cloned().collect();
            let (left, right) = (record[&keys[a]].clone(), record[&keys[b]].clone());
            record.insert(keys[a].clone(), right);
            record.insert(keys[b].clone(), left);
        }
        2 => {
            let (a, b) = (random.below(count), random.below(count));
            let key = records[0]
                .keys()
                .nth(random.below(records[0].len()))?
                .clone();
            let (left, right) = (records[a][&key].clone(), records[b][&key].clone());
            records[a].insert(key.clone(), right);
            records[b].insert(key, left);
        }
        4 => {
            let record = &mut records[random.below(count)];
            let key = record.keys().nth(random.below(record.len()))?.clone();
            record.remove(&key);
        }
        5 => {
            let key = records[0]
                .keys()
                .nth(random.below(records[0].len()))?
                .clone();
            let sign = *random.pick(&["!", "-", "not ", "~~", "<", "≠"]);
            for record in &mut records {
                let renamed = |(own, value)| {
                    if own == key {
                        (format!("{sign}{own}"), value)
                    } else {
                        (own, value)
                    }
                };
                **record = std::mem::take(*record).into_iter().map(renamed).collect();
            }
        }
        _ => {
            let (a, b) = (random.below(count), random.below(count));
            let (left, right) = (records[a].clone(), records[b].clone());
            *records[a] = right;
            *records[b] = left;
        }
    }
    (other != *data).then_some((name, other))
}

/// A text with something added that the data does not hold.
fn with_addition(text: &str, random: &mut Random) -> (&'static str, String) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = random.below(lines.len() + 1);
    match random.below(5) {
        0 => {
            lines.push(format!("# {ADDED} more"));
            ("a comment at the end", lines.join("\n"))
        }
        1 => {
            lines.insert(at, format!("<!-- {ADDED} -->"));
            ("a comment", lines.join("\n"))
        }
        2 => {
            let line = lines.len() - 1;
            lines[line] = format!("{} {ADDED} |", lines[line]);
            ("a cell", lines.join("\n"))
        }
        3 => {
            lines.insert(0, format!("## Region {ADDED}\n"));
            ("a section", lines.join("\n"))
        }
        _ => (
            ("a sentence"),
            format!("{text}\n\nThese are all but {ADDED} of them."),
        ),
    }
}

fn claim_of(row: &str, subject: &ParsedCapture) -> Claim {
    Row::measure(by_id(row).unwrap(), subject).claim()
}

fn extra(subject: &ParsedCapture) -> String {
    let text = subject.response.content_text().unwrap_or_default();
    subject
        .extra()
        .pieces
        .iter()
        .map(|piece| &text[piece.range.clone()])
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn no_mutant_is_called_the_same_data() {
    let most: usize = std::env::var("LOUPE_MUTANTS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(2_000);
    let mut random = Random(0x5eed_cafe);
    let mut mutants = 0;
    let mut failures: Vec<String> = Vec::new();
    let mut unproved: std::collections::BTreeMap<&str, (u32, u32)> =
        std::collections::BTreeMap::new();
    while mutants < most {
        let data = data(&mut random);
        for (layout, text) in layouts(&data) {
            let of = |text: &str| {
                subject(
                    &json!({"content": [{"type": "text", "text": text}], "structuredContent": data}),
                )
            };
            let is_proved = claim_of("content", &of(&text)).is_same_data();
            // CSV has no place for what stands around the records.
            if layout != "csv" || parts(&data).1.is_empty() {
                let counts = unproved.entry(layout).or_default();
                *counts = (counts.0 + u32::from(!is_proved), counts.1 + 1);
            }
            // What the text says is changed; the data next to it is not.
            if let Some((kind, other)) = mutated(&data, &mut random) {
                let told = match by_id(layout) {
                    Some(format) => written(format, &other),
                    None => laid_out(layout, &other),
                };
                if let Some(told) = told.filter(|told| *told != text) {
                    mutants += 1;
                    if claim_of("content", &of(&told)).is_same_data() {
                        failures.push(format!("{layout}, {kind}: {data}\n{told}"));
                    }
                }
            }
            // A comment says nothing.
            mutants += 1;
            let commented = format!("<!--\n{text}\n-->");
            if claim_of("content", &of(&commented)).is_same_data() {
                failures.push(format!("{layout}, in a comment: {commented}"));
            }
            // Something is added to the text: next to the data, and where the data is read from it.
            let (kind, told) = with_addition(&text, &mut random);
            mutants += 1;
            let beside = of(&told);
            let is_proved = |row| claim_of(row, &beside) == Claim::Proved;
            if !extra(&beside).contains(ADDED) || is_proved("json") || is_proved("content") {
                failures.push(format!(
                    "{layout}, {kind} beside the data, not in the extra text: {:?}\n{told}",
                    extra(&beside)
                ));
            }
            let alone = subject(&json!({"content": [{"type": "text", "text": told}]}));
            if let Some(payload) = &alone.data {
                let holds = payload.root().raw_text().contains(ADDED);
                if !holds
                    && (!extra(&alone).contains(ADDED) || claim_of("json", &alone) == Claim::Proved)
                {
                    failures.push(format!(
                        "{layout}, {kind}, not in the extra text: {:?}\n{told}",
                        extra(&alone)
                    ));
                }
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {mutants}:\n\n{}",
        failures.len(),
        failures[..failures.len().min(8)].join("\n\n")
    );
    for (layout, (not_proved, all)) in &unproved {
        assert!(
            not_proved * 20 <= *all,
            "{layout}: {not_proved} of {all} originals are not proved: {unproved:?}"
        );
    }
}
