//! Facts against texts as servers write them.

use bytes::Bytes;

use super::*;
use crate::json::Doc;

fn matched(payload: &str, text: &str) -> (Payload, Matched) {
    let payload = Payload::of_doc(Doc::parse(Bytes::copy_from_slice(payload.as_bytes()))).unwrap();
    let found = match_facts(&payload, text, &Cancel::new()).unwrap();
    (payload, found)
}

#[test]
fn every_fact_of_the_value_itself_is_kept() {
    let text = r#"{"items":[{"id":1,"count":1,"name":"a \"b\" c","tags":["a","b","\\","-"],"x":{"y":true,"z":"true"}},{"id":2,"count":1,"name":"Line\nbreak"}],"total":2,"id":1}"#;
    let (_, found) = matched(text, text);
    assert_eq!(found.count.kept, found.count.total, "{:?}", found.facts);
}

#[test]
fn a_cancelled_match_ends() {
    let payload = Payload::of_doc(Doc::parse(Bytes::from_static(b"[1]"))).unwrap();
    let cancel = Cancel::new();
    cancel.cancel();
    assert_eq!(match_facts(&payload, "1", &cancel), Err(Cancelled));
}

#[test]
fn scratch() {
    let mut items = String::new();
    let mut v1 = String::from("## Search Results: 3 companies found\n\n");
    let mut v2 = String::from("## Company Search Results\n**Query**: All companies\n**Results**: 3 companies found\n\n---\n");
    let mut v3 = String::from("## Companies\n\n| ID | Company | Status | Type | Last Modified |\n|---|---|---|---|---|\n");
    for (n, name) in ["Acme Corp", "Acme", "Zen | Co"].iter().enumerate() {
        let active = n != 1;
        let id = 12345 + n;
        items.push_str(&format!("{}{{\"id\":{id},\"companyName\":\"{name}\",\"isActive\":{active},\"companyType\":1,\"phone\":\"(555) 123-45{n}0\",\"address1\":\"{n} Main St\",\"city\":\"Boston\",\"state\":\"MA\",\"postalCode\":\"02108\",\"lastModifiedDate\":\"2025-01-1{n}T14:30:00Z\"}}", if n > 0 { "," } else { "" }));
        let (icon, word) = if active { ("✅", "Active") } else { ("❌", "Inactive") };
        let esc = name.replace('|', "\\|");
        v1.push_str(&format!("### {name} (ID: {id})\n\n- **Status**: {word}\n- **Type**: Customer\n- **Phone**: 555-123-45{n}0\n- **Address**: {n} Main St, Boston, MA 02108\n- **Last Modified**: Jan 1{n}, 2025 at 2:30 PM\n\n"));
        v2.push_str(&format!("### {esc} (ID: {id})\n\n| Field | Value |\n|---|---|\n| **Status** | {icon} {word} |\n| **Type** | Customer |\n| **Phone** | (555) 123-45{n}0 |\n| **Address** | {n} Main St, Boston, MA 02108 |\n| **Last Modified** | Jan 1{n}, 2025 at 2:30 PM |\n\n---\n"));
        v3.push_str(&format!("| {id} | {esc} | {icon} {word} | Customer | Jan 1{n}, 2025 |\n"));
    }
    v1.push_str("---\n\n*Showing 3 of 3 results. Use `pageSize: -1` to see all results.*");
    let payload = format!("{{\"items\":[{items}],\"totalCount\":3,\"pageSize\":50,\"hasMore\":false}}");
    let wire = format!(
        "{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"structuredContent\":{payload}}}",
        crate::json::write::string(&v2)
    );
    for text in [&v1, &v2, &v3, &payload, &format!("{v2}\n{payload}"), &wire] {
        let (p, found) = matched(&payload, text);
        println!("=====\n{text}\n----- {:?}", found.count);
        for fact in &found.facts {
            let node = p.doc.node(fact.node).unwrap();
            let state = match &fact.state {
                FactState::Differs(r) => format!("differs {:?}", &text[r.clone()]),
                s => format!("{s:?}"),
            };
            if fact.state != FactState::Kept {
                println!("{} {} {state} {:?}", node.pointer(), node.raw_text(), fact.place.clone().map(|r| &text[r]));
            }
        }
        for record in &found.records {
            println!("{:?}", record.places.iter().map(|r| &text[r.clone()]).collect::<Vec<_>>());
        }
    }
}
