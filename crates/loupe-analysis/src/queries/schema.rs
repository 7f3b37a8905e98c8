//! Schemas of servers: compiled within bounds, and what of a value does not fit one, in words.
//!
//! A schema is never trusted: no reference is fetched, from a network or a file, and what would take long is not begun.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Value, json};

use super::schema_cost::{BACKTRACKS, CheckAim, SchemaCost};
use loupe_core::json::{Doc, Kind};

/// Why a schema is not compiled, or a value not checked.
pub(crate) const TOO_COSTLY: &str = "the schema is too costly to check";

/// What begins the words about a schema that is of no dialect of JSON Schema that is known.
pub(crate) const UNKNOWN_DIALECT: &str = "the schema is of a dialect that is not known here";

/// More problems than this help nobody.
const LIMIT: usize = 50;
/// More faults of a schema than this are counted.
const FAULTS: usize = 3;
/// A schema of more values is not searched for all its faults.
const SEARCHED: usize = 2_000;
/// A value longer than this is not repeated in a message, in bytes.
const VALUE_BYTES: usize = 60;
/// Of a longer message the beginning is kept, in characters.
const MESSAGE_CHARS: usize = 300;

/// Whether a wrong date or time counts where the dialect leaves that open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dates {
    Count,
    AsTheDialect,
}

/// The formats that are no date or time, which nobody types as the standard has it.
const OTHER_FORMATS: [&str; 16] = [
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// JSON Pointer and message.
pub(crate) type Mismatch = (String, String);

/// A schema that values can be checked against.
#[derive(Debug)]
pub struct CompiledSchema {
    schema: Value,
    validator: Validator,
}

/// A schema, or why nothing can be checked against it.
pub(crate) type Compiled = Result<CompiledSchema, String>;

impl CompiledSchema {
    /// What of the value does not fit: the first of it, where all would take long.
    ///
    /// # Errors
    /// [`TOO_COSTLY`] of a value that would take long.
    pub(crate) fn mismatches(&self, value: &Value) -> Result<Vec<Mismatch>, String> {
        let too_costly = |_| TOO_COSTLY.to_owned();
        let cost = SchemaCost::of(&self.schema).map_err(too_costly)?;
        cost.allows(value, CheckAim::Fits).map_err(too_costly)?;
        if self.validator.is_valid(value) {
            return Ok(Vec::new());
        }
        let errors: Vec<_> = if cost.allows(value, CheckAim::All).is_ok() {
            self.validator.iter_errors(value).collect()
        } else if cost.allows(value, CheckAim::First).is_ok() {
            self.validator.validate(value).err().into_iter().collect()
        } else {
            return Ok(vec![(
                String::new(),
                "does not fit, and is too large to say where".to_owned(),
            )]);
        };
        // A pattern that is tried for too long.
        if errors.iter().any(|error| {
            matches!(
                error.kind(),
                ValidationErrorKind::BacktrackLimitExceeded { .. }
            )
        }) {
            return Err(TOO_COSTLY.to_owned());
        }
        let mut found = Vec::new();
        errors
            .iter()
            .take_while(|error| explain(error, &mut found))
            .for_each(drop);
        found.truncate(LIMIT);
        Ok(found)
    }
}

/// The schema compiled. The last two are remembered: a form is checked at every keystroke, and a comparison call by call.
pub fn compiled(schema: &Bytes, dates: Dates) -> Arc<Compiled> {
    type Known = Option<(Bytes, Arc<Compiled>)>;
    static LAST: Mutex<[Known; 2]> = Mutex::new([None, None]);
    let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let at = usize::from(dates == Dates::Count);
    if let Some((known, compiled)) = &last()[at]
        && known == schema
    {
        return Arc::clone(compiled);
    }
    let compiled = Arc::new(compile(schema, dates));
    last()[at] = Some((schema.clone(), Arc::clone(&compiled)));
    compiled
}

fn compile(schema: &Bytes, dates: Dates) -> Compiled {
    let read = Doc::parse(schema.clone());
    if let Some(root) = read.root().filter(|root| root.kind() != Kind::Object) {
        return Err(format!(
            "the schema is {}, not an object",
            with_article(root.kind())
        ));
    }
    let schema: Value = serde_json::from_slice(schema)
        .map_err(|error| format!("the schema cannot be read: {error}"))?;
    let draft = Draft::default().detect(&schema);
    if let (Draft::Unknown, Some(dialect)) = (draft, schema.get("$schema").and_then(Value::as_str))
    {
        return Err(format!("{UNKNOWN_DIALECT}, {}", cut(dialect.to_owned())));
    }
    let cost = SchemaCost::of(&schema).map_err(|_| TOO_COSTLY.to_owned())?;
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACKS)
        .size_limit(cost.pattern_bytes());
    let mut options = jsonschema::options()
        .offline()
        .with_pattern_options(patterns);
    if dates == Dates::Count && !matches!(draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7) {
        options = OTHER_FORMATS
            .into_iter()
            .fold(options.should_validate_formats(true), |options, name| {
                options.with_format(name, |_: &str| true)
            });
    }
    match options.build(&schema) {
        Ok(validator) => Ok(CompiledSchema { schema, validator }),
        Err(error) => Err(unusable(&schema, &error, cost.values() <= SEARCHED)),
    }
}

/// Why the validator does not take a schema: where it is none, and what should be there.
fn unusable(schema: &Value, error: &ValidationError<'_>, is_searched: bool) -> String {
    let mut faults = Vec::new();
    if is_searched && let Ok(of_schemas) = jsonschema::meta::validator_for(schema) {
        of_schemas
            .iter_errors(schema)
            .take_while(|error| explain(error, &mut faults))
            .for_each(drop);
    }
    if faults.is_empty() {
        // The schema of draft 7 asks for the syntax of patterns alone: what has it and counts is too large.
        if let (ValidationErrorKind::Format { .. }, Some(pattern)) =
            (error.kind(), error.instance().as_str())
            && pattern.contains('{')
            && jsonschema::draft7::meta::is_valid(&json!({ "pattern": pattern }))
        {
            return TOO_COSTLY.to_owned();
        }
        explain(error, &mut faults);
    }
    let mut known = std::collections::HashSet::new();
    faults.retain(|fault| known.insert(fault.clone()));
    let more = faults.len().saturating_sub(FAULTS);
    let said = faults
        .iter()
        .take(FAULTS)
        .map(|(pointer, what)| match pointer.as_str() {
            "" => what.clone(),
            pointer => format!("{what} at {pointer}"),
        });
    let more = if more == 0 {
        String::new()
    } else {
        format!("; and {more} more")
    };
    format!(
        "the schema cannot be used: {}{more}",
        said.collect::<Vec<_>>().join("; ")
    )
}

/// Adds what an error says, and whether more is wanted.
fn explain(error: &ValidationError<'_>, found: &mut Vec<Mismatch>) -> bool {
    let pointer = error.instance_path().as_str();
    let mut say = |message: String| found.push((pointer.to_owned(), cut(message)));
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property
                .as_str()
                .map_or_else(|| property.to_string(), str::to_owned);
            found.push((member(pointer, &name), "required".to_owned()));
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let unknown = unexpected.iter().take(LIMIT);
            found.extend(
                unknown.map(|name| (member(pointer, name), "not a known argument".to_owned())),
            );
        }
        ValidationErrorKind::Type { kind } => say(format!("expected {}", expected(kind))),
        ValidationErrorKind::Format { format } => match format.as_str() {
            "date" => say("not a date, such as 2026-01-31".to_owned()),
            "date-time" => {
                say("not a date and time with its zone, such as 2026-01-31T18:30:00Z".to_owned())
            }
            "time" => say("not a time with its zone, such as 18:30:00Z".to_owned()),
            "regex" => say(format!(
                "{} is not a regular expression of this dialect",
                error.instance()
            )),
            _ => say(error.to_string()),
        },
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            explain_alternatives(error, context, found);
        }
        _ => say(if is_long(error.instance()) {
            error.masked().to_string()
        } else {
            error.to_string()
        }),
    }
    found.len() < LIMIT
}

/// Of several alternatives what tells them apart, or what the one that comes closest lacks.
fn explain_alternatives(
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'_>>],
    found: &mut Vec<Mismatch>,
) {
    let pointer = error.instance_path().as_str();
    let is_other = |error: &ValidationError<'_>| {
        let is_kind = matches!(
            error.kind(),
            ValidationErrorKind::Type { .. }
                | ValidationErrorKind::Constant { .. }
                | ValidationErrorKind::Enum { .. }
        );
        is_kind && error.instance_path().as_str().len() <= pointer.len()
    };
    let same_kind: Vec<_> = context
        .iter()
        .filter(|errors| !errors.iter().any(is_other))
        .collect();
    if let Some((at, values)) = told_apart(&same_kind) {
        found.push((at.to_owned(), cut(format!("expected {}", one_of(values)))));
        return;
    }
    let told = |errors: &[ValidationError<'_>]| {
        errors
            .iter()
            .filter(|error| constant(error).is_some())
            .count()
    };
    match same_kind
        .iter()
        .min_by_key(|errors| (told(errors), errors.len()))
    {
        Some(errors) => drop(errors.iter().all(|error| explain(error, found))),
        None => {
            let mut kinds: Vec<_> = context
                .iter()
                .flatten()
                .filter(|error| is_other(error))
                .filter_map(describe_expected)
                .collect();
            kinds.dedup();
            let message = if kinds.is_empty() {
                error.masked().to_string()
            } else {
                format!("expected {}", one_of(kinds))
            };
            found.push((pointer.to_owned(), cut(message)));
        }
    }
}

/// The member that no alternative takes the value of, though each names one: its pointer, and those values.
fn told_apart<'a>(alternatives: &[&'a Vec<ValidationError<'_>>]) -> Option<(&'a str, Vec<String>)> {
    let (first, others) = alternatives
        .split_first()
        .filter(|(_, others)| !others.is_empty())?;
    first.iter().find_map(|error| {
        let at = error.instance_path().as_str();
        let of = |errors: &[ValidationError<'_>]| {
            errors
                .iter()
                .find(|error| error.instance_path().as_str() == at)
                .and_then(constant)
        };
        let values = std::iter::once(constant(error)).chain(others.iter().map(|errors| of(errors)));
        Some((at, values.collect::<Option<Vec<_>>>()?))
    })
}

fn constant(error: &ValidationError<'_>) -> Option<String> {
    match error.kind() {
        ValidationErrorKind::Constant { expected_value } => Some(expected_value.to_string()),
        _ => None,
    }
}

/// What an error says should be instead of the value.
fn describe_expected(error: &ValidationError<'_>) -> Option<String> {
    match error.kind() {
        ValidationErrorKind::Type { kind } => Some(expected(kind)),
        ValidationErrorKind::Enum { options } => Some(one_of(
            options.as_array()?.iter().map(Value::to_string).collect(),
        )),
        _ => constant(error),
    }
}

/// "a, b or c".
fn one_of(mut values: Vec<String>) -> String {
    match values.pop() {
        Some(last) if values.is_empty() => last,
        Some(last) => format!("{} or {last}", values.join(", ")),
        None => "nothing".to_owned(),
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
        TypeKind::Multiple(kinds) => kinds
            .iter()
            .map(|kind| article(kind.as_str()))
            .collect::<Vec<_>>()
            .join(" or "),
    }
}

/// Whether the JSON of a value is longer than what is repeated.
fn is_long(value: &Value) -> bool {
    struct Room(usize);
    impl Write for Room {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self
                .0
                .checked_sub(bytes.len())
                .ok_or(io::ErrorKind::WriteZero)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Room(VALUE_BYTES), value).is_err()
}

fn cut(message: String) -> String {
    match message.char_indices().nth(MESSAGE_CHARS) {
        Some((at, _)) => format!("{}…", &message[..at]),
        None => message,
    }
}

fn member(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A kind of JSON with its article.
pub fn with_article(kind: Kind) -> String {
    match kind {
        Kind::Null => "null".to_owned(),
        Kind::Array | Kind::Object => format!("an {}", kind.name()),
        _ => format!("a {}", kind.name()),
    }
}

#[cfg(test)]
mod tests;
