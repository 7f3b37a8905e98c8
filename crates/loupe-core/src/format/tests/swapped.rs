//! In a result of any layout, values that changed places or became others are no longer told; those that did not, are.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{of_data, write};
use crate::capture::{FactState, locate_facts};
use crate::format::FORMATS;

const KEYS: [&str; 8] = [
    "name", "city", "state", "owner", "priority", "score", "from", "to",
];
const WORDS: [&str; 8] = [
    "Ann",
    "Oslo",
    "open",
    "New York",
    "Rome",
    "bob",
    "Lyon",
    "blue green",
];

/// Records of equal fields, and how they are in the result.
#[derive(Clone, Debug)]
struct Answer {
    shape: usize,
    has_names: bool,
    records: Vec<BTreeMap<&'static str, Value>>,
}

impl Answer {
    fn id(&self, record: usize) -> Value {
        if self.has_names {
            json!(format!("k-{}", record + 1))
        } else {
            json!(record + 1)
        }
    }

    fn list(&self) -> Value {
        let record = |(at, fields): (usize, &BTreeMap<&'static str, Value>)| {
            let mut record = json!({"id": self.id(at)});
            fields
                .iter()
                .for_each(|(key, value)| record[key] = value.clone());
            record
        };
        self.records.iter().enumerate().map(record).collect()
    }

    fn data(&self) -> Value {
        match self.shape {
            0 => self.list(),
            1 => json!({"items": self.list(), "total": 4711}),
            2 => json!({"data": {"people": self.list()}}),
            3 => {
                json!({"users": self.list(), "groups": [{"id": 91, "label": "Alpha"}, {"id": 92, "label": "Beta"}]})
            }
            4 => self
                .records
                .iter()
                .enumerate()
                .map(|(at, fields)| (format!("node{}", letter(at)), json!(fields)))
                .collect(),
            5 => {
                json!({"teams": [{"title": "First team", "people": self.list()}, {"title": "Second team", "people": []}]})
            }
            _ => json!(self.records[0]),
        }
    }

    fn pointer(&self, record: usize, key: &str) -> String {
        match self.shape {
            0 => format!("/{record}/{key}"),
            1 => format!("/items/{record}/{key}"),
            2 => format!("/data/people/{record}/{key}"),
            3 => format!("/users/{record}/{key}"),
            4 => format!("/node{}/{key}", letter(record)),
            5 => format!("/teams/0/people/{record}/{key}"),
            _ => format!("/{key}"),
        }
    }
}

fn letter(at: usize) -> char {
    ['A', 'B', 'C', 'D', 'E'][at]
}

fn value(kind: u8) -> BoxedStrategy<Value> {
    match kind {
        0 => prop::sample::select(WORDS.to_vec())
            .prop_map(|word| json!(word))
            .boxed(),
        1 => (1..40).prop_map(|number| json!(number)).boxed(),
        2 => (1..9999)
            .prop_map(|number| json!(f64::from(number) / 8.0))
            .boxed(),
        _ => any::<bool>().prop_map(|is| json!(is)).boxed(),
    }
}

fn answer() -> impl Strategy<Value = Answer> {
    let fields = prop::sample::subsequence(KEYS.to_vec(), 2..5).prop_flat_map(|keys| {
        let kinds = prop::collection::vec(0..4_u8, keys.len());
        kinds.prop_map(move |kinds| keys.iter().copied().zip(kinds).collect::<Vec<_>>())
    });
    let records = fields.prop_flat_map(|fields| {
        let (keys, kinds): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
        let record = kinds.into_iter().map(value).collect::<Vec<_>>();
        let record = record
            .prop_map(move |values| keys.iter().copied().zip(values).collect::<BTreeMap<_, _>>());
        prop::collection::vec(record, 2..5)
    });
    (0..7_usize, any::<bool>(), records).prop_map(|(shape, has_names, records)| Answer {
        shape,
        has_names,
        records,
    })
}

/// Another value of the same kind: negated, shortened, lengthened.
fn changed(value: &Value, how: usize) -> Option<Value> {
    Some(match (value, how) {
        (Value::Bool(is), _) => json!(!is),
        (Value::Number(number), 0) => serde_json::from_str(&format!("-{number}")).ok()?,
        (Value::Number(number), 1) => serde_json::from_str(&format!("{number}5")).ok()?,
        (Value::Number(number), _) => json!(number.as_i64().filter(|number| *number > 9)? / 10),
        (Value::String(text), 0) => json!(format!("not {text}")),
        (Value::String(text), 1) => json!(format!("{text}x")),
        (Value::String(text), _) => json!(text[..text.len() - 1]),
        _ => return None,
    })
}

/// What the text of `told` in a layout says of the facts of `answer`, by pointer.
fn message(
    answer: &Answer,
    told: &Answer,
    layout: &str,
) -> Option<(String, BTreeMap<String, FactState>)> {
    let subject = of_data(&answer.data().to_string());
    let text = write(layout, &of_data(&told.data().to_string())).ok()?;
    let data = subject.data.as_ref().unwrap();
    let facts = locate_facts(data, &text).facts.into_iter();
    let of = |node| {
        data.doc
            .node(node)
            .unwrap()
            .pointer_from(data.root)
            .to_string()
    };
    Some((
        text,
        facts.map(|fact| (of(fact.node()), fact.state())).collect(),
    ))
}

fn is_told(state: &FactState) -> bool {
    !state.is_missing()
}

proptest! {
    #[test]
    fn facts_fall_where_values_change_places(answer in answer(), picks in any::<[prop::sample::Index; 4]>(), across in any::<bool>()) {
        let keys: Vec<&str> = answer.records[0].keys().copied().collect();
        let count = if answer.shape < 6 { answer.records.len() } else { 1 };
        let (a, b) = if across {
            let key = keys[picks[2].index(keys.len())];
            ((picks[0].index(count), key), (picks[1].index(count), key))
        } else {
            let record = picks[0].index(count);
            ((record, keys[picks[1].index(keys.len())]), (record, keys[picks[2].index(keys.len())]))
        };
        let (old, new) = (answer.records[a.0][a.1].clone(), answer.records[b.0][b.1].clone());
        prop_assume!(old != new);
        let mut told = answer.clone();
        told.records[a.0].insert(a.1, new);
        told.records[b.0].insert(b.1, old);
        for layout in FORMATS.iter().filter(|format| !format.is_as_sent()) {
            let Some((text, facts)) = message(&answer, &told, layout.id()) else { continue };
            for pointer in [answer.pointer(a.0, a.1), answer.pointer(b.0, b.1)] {
                prop_assert!(!is_told(&facts[&pointer]), "{pointer} {:?} of {} in {text}", facts[&pointer], answer.data());
            }
        }
    }

    #[test]
    fn facts_fall_where_a_value_becomes_another(answer in answer(), picks in any::<[prop::sample::Index; 2]>(), how in 0..3_usize) {
        let count = if answer.shape < 6 { answer.records.len() } else { 1 };
        let record = picks[0].index(count);
        let keys: Vec<&str> = answer.records[0].keys().copied().collect();
        let key = keys[picks[1].index(keys.len())];
        let other = changed(&answer.records[record][key], how);
        prop_assume!(other.is_some());
        let mut told = answer.clone();
        told.records[record].insert(key, other.unwrap());
        for layout in FORMATS.iter().filter(|format| !format.is_as_sent()) {
            let Some((text, facts)) = message(&answer, &told, layout.id()) else { continue };
            let pointer = answer.pointer(record, key);
            prop_assert!(!is_told(&facts[&pointer]), "{pointer} {:?} of {} in {text}", facts[&pointer], answer.data());
        }
    }

    #[test]
    fn facts_stand_where_nothing_changed(answer in answer()) {
        for layout in FORMATS.iter().filter(|format| !format.is_as_sent()) {
            let Some((text, facts)) = message(&answer, &answer, layout.id()) else { continue };
            for (pointer, state) in facts {
                prop_assert!(is_told(&state), "{pointer} {state:?} of {} in {text}", answer.data());
            }
        }
    }
}
