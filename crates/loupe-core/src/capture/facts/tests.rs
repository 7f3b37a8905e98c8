//! Facts against texts as servers write them.

use std::time::Instant;

use bytes::Bytes;

use super::*;
use crate::json::Doc;

fn matched(data: &str, text: &str) -> (ResultData, FactMatches) {
    let data = ResultData::of_doc(Doc::parse(Bytes::copy_from_slice(data.as_bytes()))).unwrap();
    let found = locate_facts(&data, text);
    (data, found)
}

#[test]
fn every_fact_of_the_value_itself_is_kept() {
    let text = r#"{"items":[{"id":1,"count":1,"name":"a \"b\" c","tags":["a","b","\\","-"],"x":{"y":true,"z":"true"}},{"id":2,"count":1,"name":"Line\nbreak"}],"total":2,"id":1}"#;
    let (_, found) = matched(text, text);
    assert_eq!(found.count.told(), found.count.total, "{:?}", found.facts);
}

#[test]
fn a_leaf_is_found_by_its_place_and_its_place_by_the_leaf() {
    let text = "**Ada** is 36, from London";
    let (data, found) = matched(r#"{"name":"Ada","age":36,"city":"Oslo"}"#, text);
    let node = |key: &str| data.root().get(key).unwrap().index();
    assert_eq!(found.place_of(node("age")), Some(11..13));
    assert_eq!(found.place_of(node("city")), None);
    assert_eq!(found.place_of(data.root().index()), None);
    assert_eq!(
        [2, 11, 13].map(|at| found.node_at(at)),
        [Some(node("name")), Some(node("age")), None]
    );
}

const NOTES: &str = "# A\n\n## One\n\n- **Name:** Ann\n- **Note:** pear\n\n## Two\n\n- **Name:** Bob\n- **Total:** 5\n- **Note:** red\napple\n\n_Use it_\n";

#[test]
fn a_value_goes_on_in_the_next_line() {
    let data = r#"[{"title":"One","Name":"Ann","Note":"pear"},{"title":"Two","Name":"Bob","Total":5,"Note":"red\napple"}]"#;
    let quoted = crate::json::write::string(NOTES);
    for text in [
        NOTES,
        &NOTES.replace("# A", "# All notes"),
        &quoted,
        &NOTES.replace("_Use it_", "## Three\n\nNo data."),
    ] {
        let (_, found) = matched(data, text);
        assert_eq!((found.count.told(), found.count.total), (7, 7), "{text}");
    }
    // The second line of a value opens nothing, also where it is the name of another member.
    let people = r#"{"Ann":{"Note":"like\nBob","Age":31},"Bob":{"Note":"red","Age":42}}"#;
    let text = "## Ann\n\n- **Note:** like\nBob\n- **Age:** 31\n\n## Bob\n\n- **Note:** red\n- **Age:** 42\n";
    assert_eq!(matched(people, text).1.count.told(), 4);
    // A line of its own after a label's is still a title.
    let people = r#"{"Ann":{"Note":"red","Age":31},"Bob":{"Note":"red","Age":42}}"#;
    let text = "Ann\n- Note: red\n- Age: 31\nBob\n- Note: red\n- Age: 42\n";
    assert_eq!(matched(people, text).1.count.told(), 4);
    assert_eq!(
        matched(people, &text.replace("31", "42").replacen("42", "31", 2))
            .1
            .count
            .told(),
        3
    );
    let cities = r#"{"Oslo":{"temp":4,"wind":"N"},"Rome":{"temp":9,"wind":"S"}}"#;
    let text = "Unit: C\nOslo\ntemp: 4\nwind: N\nRome\ntemp: 9\nwind: S\n";
    let (_, found) = matched(cities, text);
    assert_eq!(found.count.told(), 4);
}

#[test]
fn what_was_read_from_a_text_is_kept_wherever_that_text_stands_whole() {
    // `a b` is not found by its words where a line end is in it twice.
    for text in [NOTES, "Kind: a\nSize: 4 to\n  5\n\nKind: b\nSize: 1\n"] {
        let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}});
        let data = ResultData::of(&crate::capture::ParsedResponse::read(Bytes::from(
            message.to_string(),
        )))
        .unwrap();
        let block = serde_json::json!([{"type": "text", "text": text}]).to_string();
        for shown in [
            text.to_owned(),
            format!("Result of the tool:\n{text}"),
            block.clone(),
            text.trim().to_owned(),
        ] {
            for found in [locate_facts(&data, &shown), count_facts(&data, &shown)] {
                assert_eq!(found.count, FactCount::all_proved(&data), "{shown}");
            }
        }
        assert!(
            count_facts(&data, &block.replace("Bob", "Rob").replace("b\\n", "c\\n"))
                .count
                .missing
                > 0
        );
    }
}

#[test]
fn items_with_their_index_stand_under_their_list() {
    let data = r#"{"name":"Ann","tags":["green tea","blue sky","red hat"]}"#;
    for text in [
        "tags[0]: green tea\ntags[1]: blue sky\ntags[2]: red hat\nname: Ann\n",
        "name: Ann\ntags[0] = green tea\ntags[1] = blue sky\ntags[2] = red hat",
    ] {
        let (_, found) = matched(data, text);
        assert_eq!((found.count.told(), found.count.total), (4, 4), "{text}");
    }
    let (_, found) = matched(data, "tags[0]: green tea\ntags[1]: black sky\nname: Ann");
    assert_eq!(found.count.told(), 2);
}

#[test]
fn a_choice_in_another_spelling_is_reworded() {
    let (_, found) = matched(
        r#"{"status":"in_progress","kind":"active","note":"x-ray"}"#,
        "Status: In progress\nKind: ACTIVE\nNote: other\n",
    );
    let states: Vec<FactState> = found.facts.iter().map(|fact| fact.state()).collect();
    assert_eq!(
        states,
        [FactState::Found, FactState::Found, FactState::Differs]
    );
    assert!(found.facts[..2].iter().all(Fact::is_reworded));
}

#[test]
fn a_table_of_html_is_read_by_its_head() {
    let data = r#"[{"n":"Ann","age":31,"h":180},{"n":"Bob","age":32,"h":181}]"#;
    let table = |a: [u32; 2], b: [u32; 2]| {
        format!(
            "<table><tr><th>n</th><th>age</th><th>h</th></tr><tr><td>Ann</td><td>{}</td><td>{}</td></tr><tr><td>Bob</td><td>{}</td><td>{}</td></tr></table>",
            a[0], a[1], b[0], b[1]
        )
    };
    assert!(
        matched(data, &table([31, 180], [32, 181]))
            .1
            .count
            .is_proved()
    );
    let swapped = matched(data, &table([180, 31], [181, 32])).1.count;
    assert_eq!((swapped.proved, swapped.missing), (2, 4));
}

#[test]
fn one_long_line_takes_no_more_than_its_length() {
    let time = |records: usize| {
        let record = |at: usize| {
            format!(r#"{{"id":{at},"open":true,"log":[{{"at":"a{at}"}},{{"at":"b{at}"}}]}}"#)
        };
        let list: Vec<String> = (0..records).map(record).collect();
        let data = format!("[{}]", list.join(","));
        // Cut behind other words, as hosts do, so that it is no JSON nor the beginning of it.
        let text = format!("Result: {}", &data[..data.len() - 10]);
        let began = Instant::now();
        assert!(matched(&data, &text).1.count.told() > 0);
        began.elapsed()
    };
    // What takes the square of the length does so each time; other work on the machine does not.
    let is_linear = || time(12_000) < time(1_500) * 13;
    assert!((0..3).any(|_| is_linear()));
}
