//! Facts against texts as servers write them.

use bytes::Bytes;

use super::*;
use crate::json::Doc;

fn matched(payload: &str, text: &str) -> (Payload, FactMatches) {
    let payload = Payload::of_doc(Doc::parse(Bytes::copy_from_slice(payload.as_bytes()))).unwrap();
    let found = locate_facts(&payload, text);
    (payload, found)
}

#[test]
fn every_fact_of_the_value_itself_is_kept() {
    let text = r#"{"items":[{"id":1,"count":1,"name":"a \"b\" c","tags":["a","b","\\","-"],"x":{"y":true,"z":"true"}},{"id":2,"count":1,"name":"Line\nbreak"}],"total":2,"id":1}"#;
    let (_, found) = matched(text, text);
    assert_eq!(found.count.kept, found.count.total, "{:?}", found.facts);
}

#[test]
fn items_with_their_index_stand_under_their_list() {
    let payload = r#"{"name":"Ann","tags":["green tea","blue sky","red hat"]}"#;
    for text in [
        "tags[0]: green tea\ntags[1]: blue sky\ntags[2]: red hat\nname: Ann\n",
        "name: Ann\ntags[0] = green tea\ntags[1] = blue sky\ntags[2] = red hat",
    ] {
        let (_, found) = matched(payload, text);
        assert_eq!((found.count.kept, found.count.total), (4, 4), "{text}");
    }
    let (_, found) = matched(payload, "tags[0]: green tea\ntags[1]: black sky\nname: Ann");
    assert_eq!(found.count.kept, 2);
}

#[test]
fn a_choice_in_another_spelling_is_reworded() {
    let (_, found) =
        matched(r#"{"status":"in_progress","kind":"active","note":"x-ray"}"#, "Status: In progress\nKind: ACTIVE\nNote: other\n");
    let states: Vec<FactState> = found.facts.iter().map(|fact| fact.state).collect();
    assert_eq!(states, [FactState::Reworded, FactState::Reworded, FactState::Differs]);
}
