//! Loupe's own reports: what `call --json`, `show --json` and `compare --json` print, with the results in them exactly as
//! they came.

use bytes::Bytes;

use super::ReadAs;
use super::pair::result_capture;
use super::{Importer, Input};
use crate::capture::{Capture, Outcome};
use crate::json::Node;
use crate::problem::Problem;

pub(super) const IMPORTER: Importer =
    Importer { kind: ReadAs::Report, title: "a report of Loupe", detect: |input| !reports(input).is_empty(), read };

fn reports<'a>(input: &'a Input<'_>) -> Vec<Node<'a>> {
    let text = |node: Option<Node<'_>>| node.and_then(|node| Some(node.as_str()?.into_owned()));
    let Some(root) = input.doc.root() else { return Vec::new() };
    match text(root.get("schema")).as_deref() {
        Some("loupe.report/1") => vec![root],
        Some("loupe.sweep/1") => {
            let columns = root.get("columns").into_iter().flat_map(Node::children);
            columns.filter_map(|column| column.get("report")).collect()
        }
        _ => Vec::new(),
    }
}

fn read(input: &Input<'_>) -> Result<Vec<Capture>, Problem> {
    let captures: Vec<Capture> = (1..).zip(reports(input)).filter_map(|(number, report)| one(input, number, report)).collect();
    if captures.is_empty() { Err(input.nothing("a report of Loupe")) } else { Ok(captures) }
}

fn one(input: &Input<'_>, number: usize, report: Node<'_>) -> Option<Capture> {
    let capture = report.get("capture")?;
    let result = capture.get("result").filter(|result| !result.is_null())?;
    let name = capture.at("/tool/name").and_then(|name| Some(name.as_str()?.into_owned())).unwrap_or_default();
    let arguments = capture.get("arguments").map_or_else(Bytes::new, Node::raw_bytes);
    let is_error = capture.get("outcome").and_then(Node::as_str).is_some_and(|outcome| outcome == Outcome::ToolError.name());
    Some(result_capture(input, number, &name, arguments, result.raw(), is_error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_a_report_is_the_answer() {
        let text = br#"{"schema":"loupe.report/1","capture":{"tool":{"name":"t"},"arguments":{"n":1.50},"outcome":"tool-error",
            "result":{"content":[{"type":"text","text":"no"}],  "isError":true}},"ledger":{}}"#;
        let bytes = Bytes::from_static(text);
        assert_eq!(ReadAs::detect(&bytes), ReadAs::Report);
        let captures = read(&Input::of(&bytes, "a.json")).unwrap();
        let [capture] = captures.as_slice() else { panic!("one answer") };
        assert_eq!((&*capture.tool.name, &capture.arguments[..]), ("t", &br#"{"n":1.50}"#[..]));
        assert_eq!(capture.outcome, Outcome::ToolError);
        let response = std::str::from_utf8(capture.response.as_ref().unwrap()).unwrap();
        assert!(response.contains(r#""text":"no"}],  "isError":true}"#), "{response}");
    }

    #[test]
    fn a_sweep_holds_an_answer_for_each_value_that_was_answered() {
        let text = br#"{"schema":"loupe.sweep/1","columns":[{"report":{"capture":{"result":{"content":[]}}}},
            {"report":{"capture":{"result":null}}}]}"#;
        assert_eq!(read(&Input::of(&Bytes::from_static(text), "s.json")).unwrap().len(), 1);
        let none = Bytes::from_static(br#"{"schema":"loupe.report/1","capture":{"result":null}}"#);
        assert!(read(&Input::of(&none, "n.json")).is_err());
    }
}
