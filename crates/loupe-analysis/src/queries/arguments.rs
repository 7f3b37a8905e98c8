//! Whether arguments fit a tool's input schema: the check of the command line and of the form.
//!
//! What cannot be checked is said apart from what does not fit: it keeps nobody from calling, and must not look like
//! "fine". The arguments themselves are never rewritten.

use bytes::Bytes;
use serde_json::Value;

use super::schema::{Dates, compiled, with_article};
use loupe_core::json::{Doc, Kind};
use loupe_core::layout::line_start;
use loupe_core::problem::{Problem, ProblemKind as Failure};

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgumentCheck {
    /// What does not fit: JSON Pointer and message.
    pub problems: Vec<(String, String)>,
    /// Why it could not be checked. Then there are no problems, and nothing is known to fit.
    pub unchecked: Option<String>,
}

impl ArgumentCheck {
    /// All that speaks against it, for whom "not checked" is reason enough.
    pub fn objections(self) -> Vec<(String, String)> {
        self.unchecked
            .map(|why| (String::new(), why))
            .into_iter()
            .chain(self.problems)
            .collect()
    }
}

/// For people, where the arguments of a tool go out unchecked.
pub fn unchecked(tool: &str, why: &str) -> String {
    format!("the arguments of `{tool}` could not be checked: {why}")
}

/// Makes what every check needs: the schema of schemas, some 3 ms of work. For another thread, while a server starts.
pub fn warm_up() {
    check(Some(&Bytes::from_static(br#"{"type":"object"}"#)), "{}").ok();
}

/// Checks the text of the arguments.
///
/// A missing property is reported at its own pointer, such as `/name`, as is one the schema does not allow.
///
/// # Errors
/// Message, line and column (both from 1) where the text is no JSON object.
pub fn check(
    schema: Option<&Bytes>,
    arguments: &str,
) -> Result<ArgumentCheck, (String, usize, usize)> {
    object(arguments)?;
    Ok(schema
        .map(|schema| against(schema, arguments, Dates::Count))
        .unwrap_or_default())
}

/// Checks the text of a value, JSON, that a server sent for a schema of its own. What it says is a date need not be one
/// unless the schema's dialect asks for that.
pub(crate) fn check_answer(schema: &Bytes, value: &str) -> ArgumentCheck {
    against(schema, value, Dates::AsTheDialect)
}

fn against(schema: &Bytes, value: &str, dates: Dates) -> ArgumentCheck {
    let checked = || match &*compiled(schema, dates) {
        Ok(schema) => {
            let value: Value = serde_json::from_str(value)
                .map_err(|error| format!("the JSON is beyond the check: {error}"))?;
            schema.mismatches(&value)
        }
        Err(why) => Err(why.clone()),
    };
    match checked() {
        Ok(problems) => ArgumentCheck {
            problems,
            unchecked: None,
        },
        Err(why) => ArgumentCheck {
            unchecked: Some(why),
            ..ArgumentCheck::default()
        },
    }
}

/// Looks whether a text is a JSON object.
///
/// # Errors
/// As [`check`].
pub fn object(arguments: &str) -> Result<(), (String, usize, usize)> {
    let doc = Doc::parse(Bytes::copy_from_slice(arguments.as_bytes()));
    if let Some(fault) = doc.faults().iter().find(|fault| fault.kind.is_fatal()) {
        let (line, column) = place(arguments, fault.at);
        return Err((fault.kind.message().to_owned(), line, column));
    }
    match doc.root() {
        None => Err(("empty; `{}` means no arguments".to_owned(), 1, 1)),
        Some(root) if root.kind() != Kind::Object => {
            let (line, column) = place(arguments, root.range().start);
            Err((
                format!(
                    "arguments are a JSON object, not {}",
                    with_article(root.kind())
                ),
                line,
                column,
            ))
        }
        Some(_) => Ok(()),
    }
}

/// Whether the arguments may go out; why they could not be checked, if so. What is not JSON never may: the request around
/// it would not be JSON either.
///
/// # Errors
/// What is in the way, with its place.
pub fn validate(
    schema: Option<&Bytes>,
    arguments: &str,
    send_anyway: bool,
) -> Result<Option<String>, Problem> {
    let refuse = |what: String| Problem::new(Failure::Arguments, what);
    match check(schema, arguments) {
        Err((why, line, column)) => {
            let is_json = Doc::parse(Bytes::copy_from_slice(arguments.as_bytes())).is_json();
            if send_anyway && is_json {
                return Ok(None);
            }
            let place = format!("line {line}, column {column}");
            if is_json {
                return Err(refuse(why)
                    .at(place)
                    .hint("`--send-anyway` sends them all the same"));
            }
            Err(refuse(format!("arguments are not JSON: {why}"))
                .at(place)
                .hint("a JSON object, @FILE or -; in a shell, put it in single quotes"))
        }
        Ok(ArgumentCheck {
            problems,
            unchecked,
        }) => match problems.split_first() {
            Some(((pointer, message), rest)) if !send_anyway => {
                let more = if rest.is_empty() {
                    String::new()
                } else {
                    format!(", and {} more", rest.len())
                };
                let place = if pointer.is_empty() {
                    "the arguments as a whole"
                } else {
                    pointer
                };
                Err(refuse(format!("arguments do not fit the schema: {message}{more}")).at(place).hint(
                    "`--args JSON` gives them, `tools --json` shows the schema, and `--send-anyway` sends them all the same",
                ))
            }
            _ => Ok(unchecked),
        },
    }
}

/// Line and column from 1, the column in characters.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    (
        before.matches('\n').count() + 1,
        before[line_start(before, before.len())..].chars().count() + 1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &[u8] = br#"{"type":"object","additionalProperties":false,"required":["name"],"properties":{
        "name":{"type":"string","minLength":1},"pageSize":{"type":"integer","minimum":-1,"maximum":500},
        "format":{"enum":["json","markdown"]},"deep":{"type":"object","required":["a/b"]}}}"#;

    #[track_caller]
    fn refused(arguments: &str, send_anyway: bool) -> String {
        let schema = Bytes::from_static(br#"{"properties":{"n":{"maximum":5}},"required":["m"]}"#);
        validate(Some(&schema), arguments, send_anyway)
            .map_or_else(|problem| problem.message(), |_| "sent".to_owned())
    }

    #[test]
    fn arguments_are_refused_with_their_place() {
        assert_eq!(refused(r#"{"m":1,"n":5}"#, false), "sent");
        assert_eq!(
            refused(r#"{"m":1,"n":6}"#, false),
            "arguments do not fit the schema: 6 is greater than the maximum of 5 (/n)"
        );
        assert_eq!(
            refused(r#"{"n":6}"#, false),
            "arguments do not fit the schema: required, and 1 more (/m)"
        );
        assert_eq!(refused(r#"{"n":6}"#, true), "sent");
        assert_eq!(
            refused("[]", false),
            "arguments are a JSON object, not an array (line 1, column 1)"
        );
        assert_eq!(refused("[]", true), "sent");
        assert!(refused("{n:1}", true).starts_with("arguments are not JSON: "));
    }

    #[track_caller]
    fn fits(arguments: &str, expect: &[(&str, &str)]) {
        let ArgumentCheck {
            problems: found,
            unchecked,
        } = check(Some(&Bytes::from_static(SCHEMA)), arguments).unwrap();
        assert_eq!(unchecked, None);
        let found: Vec<_> = found
            .iter()
            .map(|(pointer, message)| (pointer.as_str(), message.as_str()))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn problems_point_at_their_place() {
        fits(r#"{"name":"a","pageSize":50}"#, &[]);
        fits(r#"{"name":"a","pageSize":5e1}"#, &[]);
        fits("{}", &[("/name", "required")]);
        fits(
            r#"{"name":"a","pageSize":600}"#,
            &[("/pageSize", "600 is greater than the maximum of 500")],
        );
        fits(
            r#"{"name":"a","size":1}"#,
            &[("/size", "not a known argument")],
        );
        fits(
            r#"{"name":"a","format":"xml"}"#,
            &[("/format", r#""xml" is not one of "json" or "markdown""#)],
        );
        fits(r#"{"name":"a","deep":{}}"#, &[("/deep/a~1b", "required")]);
    }

    #[test]
    fn of_several_branches_the_closest_tells_what_is_wrong() {
        let schema = Bytes::from_static(
            br#"{"properties":{"items":{"items":{"oneOf":[
                {"type":"object","properties":{"kind":{"const":"card"},"price":{"type":"number"}},"required":["kind"]},
                {"type":"object","properties":{"kind":{"const":"cash"},"given":{"type":"number"}},"required":["kind","given"]},
                {"type":"string"}]}},"limit":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}"#,
        );
        for (arguments, pointer, message) in [
            (
                r#"{"items":[{"kind":"card","price":"x"}]}"#,
                "/items/0/price",
                "expected a number",
            ),
            (
                r#"{"items":["a",{"kind":"cash"}]}"#,
                "/items/1/given",
                "required",
            ),
            (
                r#"{"items":[5]}"#,
                "/items/0",
                "expected an object or a string",
            ),
            (r#"{"limit":"x"}"#, "/limit", "expected an integer or null"),
        ] {
            let problems = check(Some(&schema), arguments).unwrap().problems;
            assert_eq!(
                problems,
                [(pointer.to_owned(), message.to_owned())],
                "{arguments}"
            );
        }
    }

    #[test]
    fn long_values_are_not_repeated() {
        let arguments = format!(r#"{{"name":"a","pageSize":"{}"}}"#, "x".repeat(200));
        fits(&arguments, &[("/pageSize", "expected an integer")]);
    }

    #[test]
    fn text_that_is_no_object_is_refused_with_its_place() {
        let refused = |text| check(None, text).unwrap_err();
        assert_eq!(
            refused("[1]"),
            ("arguments are a JSON object, not an array".to_owned(), 1, 1)
        );
        let (_, line, column) = refused("{\n  \"é\": x}");
        assert_eq!((line, column), (2, 8));
        assert_eq!(refused("").1, 1);
        assert_eq!(
            check(None, "{\"a\":1e400,\"b\":12345678901234567890}"),
            Ok(ArgumentCheck::default())
        );
    }

    #[test]
    fn a_schema_that_cannot_be_used_is_said_and_refuses_nothing() {
        for (schema, arguments, why) in [
            (
                "{\"$ref\":\"https://example.com/x.json\"}",
                "{}",
                "cannot be used",
            ),
            (
                "{\"$ref\":\"file:///etc/hostname\"}",
                "{}",
                "cannot be used",
            ),
            ("{\"type\":7}", "{}", "cannot be used"),
            ("{", "{}", "cannot be read"),
            ("null", "{}", "the schema is null, not an object"),
            ("[]", "{}", "the schema is an array, not an object"),
            ("\"object\"", "{}", "the schema is a string, not an object"),
            ("{}", "{\"a\":1e400}", "beyond the check"),
        ] {
            let checked = check(Some(&Bytes::from_static(schema.as_bytes())), arguments).unwrap();
            assert_eq!(checked.problems, [], "{schema}");
            assert!(
                checked
                    .unchecked
                    .as_ref()
                    .is_some_and(|words| words.contains(why)),
                "{schema}: {checked:?}"
            );
            assert_eq!(checked.objections().len(), 1, "{schema}");
        }
    }
}
