//! Whether arguments fit a tool's input schema: the check of the command line and of the form.
//!
//! The schema is the server's, so it is never trusted: no reference is fetched, from a network or a file. What
//! cannot be checked is said apart from what does not fit: it keeps nobody from calling, and must not look like "fine".
//! The arguments themselves are never rewritten.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use crate::json::{Doc, Kind};
use crate::problem::{Problem, ProblemKind as Failure};

/// More problems than this help nobody.
const LIMIT: usize = 50;
/// A value longer than this is not repeated in a message.
const VALUE_CHARS: usize = 60;

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
        self.unchecked.map(|why| (String::new(), why)).into_iter().chain(self.problems).collect()
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
pub fn check(schema: Option<&Bytes>, arguments: &str) -> Result<ArgumentCheck, (String, usize, usize)> {
    object(arguments)?;
    let Some(schema) = schema else { return Ok(ArgumentCheck::default()) };
    let unchecked = |why: String| Ok(ArgumentCheck { unchecked: Some(why), ..ArgumentCheck::default() });
    let validator = compiled(schema);
    let validator = match &*validator {
        Ok(validator) => validator,
        Err(why) => return unchecked(why.clone()),
    };
    let value: Value = match serde_json::from_str(arguments) {
        Ok(value) => value,
        Err(error) => return unchecked(format!("the JSON is beyond the check: {error}")),
    };
    let mut problems: Vec<(String, String)> = Vec::new();
    for error in validator.iter_errors(&value) {
        explain(&error, &mut problems);
        if problems.len() >= LIMIT {
            problems.truncate(LIMIT);
            break;
        }
    }
    Ok(ArgumentCheck { problems, unchecked: None })
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
            Err((format!("arguments are a JSON object, not {}", named(root.kind())), line, column))
        }
        Some(_) => Ok(()),
    }
}

/// Whether the arguments may go out; why they could not be checked, if so. What is not JSON never may: the request around
/// it would not be JSON either.
///
/// # Errors
/// What is in the way, with its place.
pub fn refused_by(schema: Option<&Bytes>, arguments: &str, send_anyway: bool) -> Result<Option<String>, Problem> {
    let refuse = |what: String| Problem::new(Failure::Arguments, what);
    match check(schema, arguments) {
        Err((why, line, column)) => {
            let is_json = Doc::parse(Bytes::copy_from_slice(arguments.as_bytes())).is_json();
            if send_anyway && is_json {
                return Ok(None);
            }
            let place = format!("line {line}, column {column}");
            if is_json {
                return Err(refuse(why).at(place).hint("`--send-anyway` sends them all the same"));
            }
            Err(refuse(format!("arguments are not JSON: {why}"))
                .at(place)
                .hint("a JSON object, @FILE or -; in a shell, put it in single quotes"))
        }
        Ok(ArgumentCheck { problems, unchecked }) => match problems.split_first() {
            Some(((pointer, message), rest)) if !send_anyway => {
                let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
                let place = if pointer.is_empty() { "the arguments as a whole" } else { pointer };
                Err(refuse(format!("arguments do not fit the schema: {message}{more}")).at(place).hint(
                    "`--args JSON` gives them, `tools --json` shows the schema, and `--send-anyway` sends them all the same",
                ))
            }
            _ => Ok(unchecked),
        },
    }
}

/// A schema that can be checked against, or why it cannot.
type Compiled = Result<Validator, String>;

/// The schema compiled. The last one is remembered: a form is checked at every keystroke, and a sweep call by call.
fn compiled(schema: &Bytes) -> Arc<Compiled> {
    static LAST: Mutex<Option<(Bytes, Arc<Compiled>)>> = Mutex::new(None);
    let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, compiled)) = &*last()
        && known == schema
    {
        return Arc::clone(compiled);
    }
    let compile = || {
        let read = Doc::parse(schema.clone());
        if let Some(root) = read.root().filter(|root| root.kind() != Kind::Object) {
            return Err(format!("the schema is {}, not an object", named(root.kind())));
        }
        let schema: Value = serde_json::from_slice(schema).map_err(|error| format!("the schema cannot be read: {error}"))?;
        let validator = jsonschema::options().offline().build(&schema);
        validator.map_err(|error| format!("the schema cannot be used: {}", error.masked()))
    };
    let compiled = Arc::new(compile());
    *last() = Some((schema.clone(), Arc::clone(&compiled)));
    compiled
}

fn explain(error: &ValidationError<'_>, problems: &mut Vec<(String, String)>) {
    let pointer = error.instance_path().as_str();
    let mut say = |message: String| problems.push((pointer.to_owned(), message));
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().map_or_else(|| property.to_string(), str::to_owned);
            problems.push((member(pointer, &name), "required".to_owned()));
        }
        ValidationErrorKind::AdditionalProperties { unexpected } | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                problems.push((member(pointer, name), "not a known argument".to_owned()));
            }
        }
        ValidationErrorKind::Type { kind } => say(format!("expected {}", expected(kind))),
        // The branch that comes closest tells what to change.
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let is_other = |error: &ValidationError<'_>| {
                let is_kind = matches!(
                    error.kind(),
                    ValidationErrorKind::Type { .. } | ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. }
                );
                is_kind && error.instance_path().as_str().len() <= pointer.len()
            };
            let is_told_apart = |error: &ValidationError<'_>| matches!(error.kind(), ValidationErrorKind::Constant { .. });
            let same_kind = context.iter().filter(|errors| !errors.iter().any(is_other));
            match same_kind.min_by_key(|errors| (errors.iter().filter(|error| is_told_apart(error)).count(), errors.len())) {
                Some(errors) => errors.iter().for_each(|error| explain(error, problems)),
                None => {
                    let kinds = context.iter().flatten().filter_map(|error| match error.kind() {
                        ValidationErrorKind::Type { kind } if is_other(error) => Some(expected(kind)),
                        _ => None,
                    });
                    let mut kinds: Vec<String> = kinds.collect();
                    kinds.dedup();
                    let message =
                        if kinds.is_empty() { error.masked().to_string() } else { format!("expected {}", kinds.join(" or ")) };
                    say(message);
                }
            }
        }
        _ => {
            let is_long = error.instance().to_string().chars().count() > VALUE_CHARS;
            say(if is_long { error.masked().to_string() } else { error.to_string() });
        }
    }
}

/// What a value should be: "a string or null".
fn expected(kind: &TypeKind) -> String {
    let article = |name: &str| match name {
        "null" => "null".to_owned(),
        "integer" | "array" | "object" => format!("an {name}"),
        name => format!("a {name}"),
    };
    match kind {
        TypeKind::Single(kind) => article(kind.as_str()),
        TypeKind::Multiple(kinds) => kinds.iter().map(|kind| article(kind.as_str())).collect::<Vec<_>>().join(" or "),
    }
}

fn member(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn named(kind: Kind) -> String {
    match kind {
        Kind::Null => "null".to_owned(),
        Kind::Array | Kind::Object => format!("an {}", kind.name()),
        _ => format!("a {}", kind.name()),
    }
}

/// Line and column from 1, the column in characters.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
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
        refused_by(Some(&schema), arguments, send_anyway).map_or_else(|problem| problem.message(), |_| "sent".to_owned())
    }

    #[test]
    fn arguments_are_refused_with_their_place() {
        assert_eq!(refused(r#"{"m":1,"n":5}"#, false), "sent");
        assert_eq!(
            refused(r#"{"m":1,"n":6}"#, false),
            "arguments do not fit the schema: 6 is greater than the maximum of 5 (/n)"
        );
        assert_eq!(refused(r#"{"n":6}"#, false), "arguments do not fit the schema: required, and 1 more (/m)");
        assert_eq!(refused(r#"{"n":6}"#, true), "sent");
        assert_eq!(refused("[]", false), "arguments are a JSON object, not an array (line 1, column 1)");
        assert_eq!(refused("[]", true), "sent");
        assert!(refused("{n:1}", true).starts_with("arguments are not JSON: "));
    }

    #[test]
    fn a_schema_is_compiled_once_however_often_it_is_checked_against() {
        // Of its own, since the other tests have theirs compiled meanwhile.
        let schema = Bytes::from_static(br#"{"properties":{"once":{"type":"string"}}}"#);
        let again = Bytes::copy_from_slice(&schema);
        assert!((0..20).any(|_| Arc::ptr_eq(&compiled(&schema), &compiled(&again))));
        let other = Bytes::from_static(br#"{"properties":{"once":{"type":"number"}}}"#);
        assert_eq!(check(Some(&schema), r#"{"once":"a"}"#), Ok(ArgumentCheck::default()));
        assert_eq!(check(Some(&other), r#"{"once":"a"}"#).unwrap().problems.len(), 1);
    }

    #[track_caller]
    fn fits(arguments: &str, expect: &[(&str, &str)]) {
        let ArgumentCheck { problems: found, unchecked } = check(Some(&Bytes::from_static(SCHEMA)), arguments).unwrap();
        assert_eq!(unchecked, None);
        let found: Vec<_> = found.iter().map(|(pointer, message)| (pointer.as_str(), message.as_str())).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn problems_point_at_their_place() {
        fits(r#"{"name":"a","pageSize":50}"#, &[]);
        fits(r#"{"name":"a","pageSize":5e1}"#, &[]);
        fits("{}", &[("/name", "required")]);
        fits(r#"{"name":"a","pageSize":600}"#, &[("/pageSize", "600 is greater than the maximum of 500")]);
        fits(r#"{"name":"a","size":1}"#, &[("/size", "not a known argument")]);
        fits(r#"{"name":"a","format":"xml"}"#, &[("/format", r#""xml" is not one of "json" or "markdown""#)]);
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
            (r#"{"items":[{"kind":"card","price":"x"}]}"#, "/items/0/price", "expected a number"),
            (r#"{"items":["a",{"kind":"cash"}]}"#, "/items/1/given", "required"),
            (r#"{"items":[5]}"#, "/items/0", "expected an object or a string"),
            (r#"{"limit":"x"}"#, "/limit", "expected an integer or null"),
        ] {
            let problems = check(Some(&schema), arguments).unwrap().problems;
            assert_eq!(problems, [(pointer.to_owned(), message.to_owned())], "{arguments}");
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
        assert_eq!(refused("[1]"), ("arguments are a JSON object, not an array".to_owned(), 1, 1));
        let (_, line, column) = refused("{\n  \"é\": x}");
        assert_eq!((line, column), (2, 8));
        assert_eq!(refused("").1, 1);
        assert_eq!(check(None, "{\"a\":1e400,\"b\":12345678901234567890}"), Ok(ArgumentCheck::default()));
    }

    #[test]
    fn a_schema_that_cannot_be_used_is_said_and_refuses_nothing() {
        for (schema, arguments, why) in [
            ("{\"$ref\":\"https://example.com/x.json\"}", "{}", "cannot be used"),
            ("{\"$ref\":\"file:///etc/hostname\"}", "{}", "cannot be used"),
            ("{\"type\":7}", "{}", "cannot be used"),
            ("{", "{}", "cannot be read"),
            ("null", "{}", "the schema is null, not an object"),
            ("[]", "{}", "the schema is an array, not an object"),
            ("\"object\"", "{}", "the schema is a string, not an object"),
            ("{}", "{\"a\":1e400}", "beyond the check"),
        ] {
            let checked = check(Some(&Bytes::from_static(schema.as_bytes())), arguments).unwrap();
            assert_eq!(checked.problems, [], "{schema}");
            assert!(checked.unchecked.as_ref().is_some_and(|words| words.contains(why)), "{schema}: {checked:?}");
            assert_eq!(checked.objections().len(), 1, "{schema}");
        }
    }
}
