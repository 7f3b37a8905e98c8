//! What the user pastes: the text that the model was given for each tool, under headings.

use serde_json::Value;

use crate::problem::{Problem, ProblemKind};
use crate::source::PROBE_TOOLS;

const HINT: &str = "a line `=== probe_one_text`, below it the text that the model was given for this tool, and so on; \
                    or a JSON object of the tools' names and texts";

/// The tool that a line is the heading of.
fn parse_name(line: &str) -> Option<&str> {
    Some(
        line.strip_prefix("===")?
            .trim()
            .trim_end_matches('=')
            .trim(),
    )
    .filter(|name| !name.is_empty() && !name.contains(char::is_whitespace))
}

/// The texts by tool, in their order. An empty text means that the model was given nothing; a tool that is absent was
/// not tried. The line end before a heading belongs to the heading.
///
/// # Errors
/// No heading, a tool that the probe does not have, a tool twice, with the line.
pub fn sections(text: &str) -> Result<Vec<(&'static str, String)>, Problem> {
    let wrong = |what: String, line: usize| {
        Err(Problem::new(ProblemKind::Usage, what)
            .at(format!("line {line}"))
            .hint(HINT))
    };
    let mut found: Vec<(&'static str, String)> = Vec::new();
    if let Ok(Value::Object(members)) = serde_json::from_str(text) {
        for (name, value) in members {
            let Some(tool) = PROBE_TOOLS.iter().find(|tool| tool.name == name) else {
                return wrong(format!("the probe has no tool `{name}`"), 1);
            };
            let Value::String(value) = value else {
                return wrong(format!("the value of `{name}` is not a string"), 1);
            };
            found.push((tool.name, value));
        }
    } else {
        for (number, line) in text.split_inclusive('\n').enumerate() {
            if let Some(name) = parse_name(line.trim_end()) {
                let Some(tool) = PROBE_TOOLS.iter().find(|tool| tool.name == name) else {
                    return wrong(format!("the probe has no tool `{name}`"), number + 1);
                };
                if found.iter().any(|(known, _)| *known == tool.name) {
                    return wrong(format!("`{name}` is there twice"), number + 1);
                }
                found.push((tool.name, String::new()));
            } else if let Some((_, shown)) = found.last_mut() {
                shown.push_str(line);
            } else if !line.trim().is_empty() {
                return wrong("text before the first heading".into(), number + 1);
            }
        }
        for (_, shown) in &mut found {
            shown.truncate(shown.strip_suffix('\n').map_or(shown.len(), |rest| {
                rest.strip_suffix('\r').unwrap_or(rest).len()
            }));
        }
    }
    if found.is_empty() {
        return Err(
            Problem::new(ProblemKind::Usage, "nothing that the probe could judge").hint(HINT),
        );
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_under_headings_or_in_an_object() {
        let found =
            sections("\n=== probe_one_text\nLoupeProbe01a\n\n=== probe_nothing ===\r\n=== probe_error\nError: x\n=====\ny")
                .unwrap();
        let wanted = [
            ("probe_one_text", "LoupeProbe01a\n"),
            ("probe_nothing", ""),
            ("probe_error", "Error: x\n=====\ny"),
        ];
        assert_eq!(found, wanted.map(|(tool, text)| (tool, text.to_owned())));
        let found = sections(r#"{"probe_one_text": "a\nb", "probe_nothing": ""}"#).unwrap();
        assert_eq!(
            found,
            [
                ("probe_one_text", "a\nb".to_owned()),
                ("probe_nothing", String::new())
            ]
        );
    }

    #[test]
    fn what_cannot_be_read_is_said_with_its_line() {
        for (text, what, line) in [
            ("", "nothing that the probe", ""),
            ("{}", "nothing that the probe", ""),
            ("hello", "before the first heading", "line 1"),
            (
                "=== probe_one_text\na\n=== probe_two",
                "no tool `probe_two`",
                "line 3",
            ),
            ("=== probe_error\n=== probe_error", "twice", "line 2"),
            (r#"{"x": ""}"#, "no tool `x`", "line 1"),
            (r#"{"probe_error": 1}"#, "not a string", "line 1"),
        ] {
            let problem = sections(text).unwrap_err();
            assert!(problem.message().contains(what), "{problem:?}");
            assert_eq!(problem.place, line);
        }
    }
}
