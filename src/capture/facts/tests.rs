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
