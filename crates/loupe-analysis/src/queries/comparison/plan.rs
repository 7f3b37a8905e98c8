//! Which argument of a tool a comparison goes over, and with which values.
//!
//! The schema is the server's: what it lists is read leniently, and nothing it refers to is fetched. Arguments are
//! never rewritten: a value is put into the text of the others.

use std::borrow::Cow;

use bytes::Bytes;

use crate::queries::arguments::validate;
use loupe_core::capture::Tool;
use loupe_core::json::write::string;
use loupe_core::json::{Doc, Kind, Node};
use loupe_core::number::number_of;
use loupe_core::problem::{Problem, ProblemKind as Failure};
use loupe_core::suggest;

/// More listed values than this are no choice of formats.
const MAX_CHOICES: usize = 12;
/// Places of a schema that are looked at for one argument.
const MAX_PLACES: usize = 64;

/// Names of arguments that choose how a result is written, best first, in lower case and without `_` and `-`.
const FORMAT_NAMES: &[&str] = &[
    "responseformat",
    "outputformat",
    "resultformat",
    "returnformat",
    "format",
    "contentformat",
    "responsetype",
    "outputtype",
    "output",
    "detail",
    "detaillevel",
    "responsedetail",
    "verbosity",
    "verbositylevel",
    "responsemode",
    "outputmode",
    "outputstyle",
    "style",
    "mode",
    "view",
    "representation",
    "rendering",
];
/// The same for arguments that are true or false.
const SWITCH_NAMES: &[&str] = &[
    "markdown",
    "asmarkdown",
    "json",
    "asjson",
    "verbose",
    "concise",
    "compact",
    "brief",
    "detailed",
    "includedetails",
    "raw",
    "structured",
    "pretty",
];
/// Values that say that an argument chooses how a result is written, whatever its name.
const FORMAT_VALUES: &[&str] = &[
    "json",
    "markdown",
    "md",
    "text",
    "plain",
    "html",
    "csv",
    "yaml",
    "xml",
    "toon",
    "table",
    "concise",
    "detailed",
    "full",
    "summary",
    "brief",
    "minimal",
    "compact",
    "verbose",
    "raw",
    "structured",
];
/// Names of arguments that say how many records are asked for, best first, spelled as above.
const SIZE_NAMES: &[&str] = &[
    "pagesize",
    "limit",
    "perpage",
    "maxresults",
    "count",
    "first",
    "top",
    "size",
    "maxitems",
    "maxcount",
    "numresults",
    "n",
    "take",
    "rows",
];

/// An argument with values to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonChoice {
    pub name: String,
    /// JSON texts, in the schema's order; `false` before `true`.
    pub values: Vec<String>,
    /// Whether its name or its values say that it chooses how the result is written; 0 is the plainest.
    pub(crate) format_rank: Option<usize>,
}

impl ComparisonChoice {
    /// What a button that compares says: "Compare json / markdown · 1 more call", given how many of the calls are made.
    pub fn label(&self, made: usize) -> String {
        let values: Vec<String> = self.values.iter().map(|value| shown(value)).collect();
        let left = self.values.len().saturating_sub(made);
        if left == 0 {
            return format!("Compare {} · called already", values.join(" / "));
        }
        let units = if made > 0 { "more calls" } else { "calls" };
        format!(
            "Compare {} · {}",
            values.join(" / "),
            number_of(left as u64, units)
        )
    }
}

/// An argument that says how many records are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSize {
    pub name: String,
    pub minimum: Option<u64>,
    pub maximum: Option<u64>,
}

impl PageSize {
    /// The sizes to measure: 5, 50 and 200, as far as the schema allows them.
    pub fn sizes(&self) -> Vec<u64> {
        let (least, most) = (self.minimum.unwrap_or(1), self.maximum.unwrap_or(u64::MAX));
        let mut sizes: Vec<u64> = [5, 50, 200]
            .into_iter()
            .map(|size: u64| size.max(least).min(most))
            .collect();
        sizes.dedup();
        sizes
    }
}

/// The argument that chooses how the result is written.
pub fn format_argument(tool: &Tool) -> Option<ComparisonChoice> {
    choices(tool)
        .into_iter()
        .next()
        .filter(|choice| choice.format_rank.is_some())
}

/// Whether an argument says how many records are asked for.
pub(crate) fn is_about_size(tool: &Tool, name: &str) -> bool {
    page_size_argument(tool).is_some_and(|size| size.name == name)
        || SIZE_NAMES.contains(&plain(name).as_str())
}

/// Whether an argument chooses the form of the result or how many records it has; where the tool's schema is not known,
/// by its name.
pub(crate) fn is_about_form(tool: &Tool, name: &str) -> bool {
    if is_about_size(tool, name) {
        return true;
    }
    let doc = schema(tool);
    let listed = doc.as_ref().and_then(|doc| {
        properties(doc)
            .find(|(known, _)| known == name)
            .map(|(_, node)| Listed::of(doc, node))
    });
    format_rank(name, &listed.unwrap_or_default()).is_some()
}

/// Every argument whose values the schema lists, those that choose a format first, the plainest of them leading.
pub fn choices(tool: &Tool) -> Vec<ComparisonChoice> {
    let Some(doc) = schema(tool) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (name, node) in properties(&doc) {
        let listed = Listed::of(&doc, node);
        if (2..=MAX_CHOICES).contains(&listed.values.len()) {
            let format_rank = format_rank(&name, &listed);
            found.push(ComparisonChoice {
                name: name.into_owned(),
                values: listed.values,
                format_rank,
            });
        }
    }
    found.sort_by_key(|choice| choice.format_rank.unwrap_or(usize::MAX));
    found
}

/// The names of all arguments, in the schema's order.
pub fn argument_names(tool: &Tool) -> Vec<String> {
    schema(tool)
        .map(|doc| {
            properties(&doc)
                .map(|(name, _)| name.into_owned())
                .collect()
        })
        .unwrap_or_default()
}

/// The argument that says how many records are asked for.
pub fn page_size_argument(tool: &Tool) -> Option<PageSize> {
    let doc = schema(tool)?;
    let mut best: Option<(usize, PageSize)> = None;
    for (name, node) in properties(&doc) {
        let plain = plain(&name);
        let Some(rank) = SIZE_NAMES.iter().position(|known| *known == plain) else {
            continue;
        };
        let listed = Listed::of(&doc, node);
        let is_number = listed.types.is_empty()
            || listed
                .types
                .iter()
                .any(|kind| kind == "integer" || kind == "number");
        if is_number && best.as_ref().is_none_or(|(known, _)| rank < *known) {
            let size = PageSize {
                name: name.into_owned(),
                minimum: listed.minimum,
                maximum: listed.maximum,
            };
            best = Some((rank, size));
        }
    }
    best.map(|(_, size)| size)
}

/// The values to go over, as JSON texts. `given` is what the user wrote: values with commas between them, or a JSON
/// array; `None` takes what the schema lists. Each is typed by the schema; one it does not know goes out as a JSON
/// scalar if it is one, else as a string.
///
/// # Errors
/// Where no values are given, and the schema lists none.
pub fn values(tool: &Tool, name: &str, given: Option<&str>) -> Result<Vec<String>, Problem> {
    let doc = schema(tool);
    let node = doc.as_ref().and_then(|doc| {
        properties(doc)
            .find(|(known, _)| known == name)
            .map(|(_, node)| node)
    });
    let listed = match (&doc, node) {
        (Some(doc), Some(node)) => Listed::of(doc, node),
        _ => Listed::default(),
    };
    let mut values: Vec<String> = match given.map(str::trim).filter(|given| !given.is_empty()) {
        None => listed.values,
        Some(given) => match array(given) {
            Some(values) => values,
            None => given
                .split(',')
                .map(|word| listed.typed(word.trim()))
                .collect(),
        },
    };
    let mut seen = std::collections::HashSet::new();
    values.retain(|value| seen.insert(value.clone()));
    if values.is_empty() {
        return Err(Problem::new(
            Failure::Usage,
            "the tool's schema lists no values for this argument",
        )
        .at(name)
        .hint(format!("name them: `{name}=a,b`")));
    }
    Ok(values)
}

/// The arguments with one of them set. All others stay as they were written.
///
/// # Errors
/// Where the arguments are not a JSON object.
pub fn with_value(arguments: &str, name: &str, value: &str) -> Result<String, Problem> {
    let doc = Doc::parse(Bytes::copy_from_slice(arguments.as_bytes()));
    let root = doc
        .root()
        .filter(|root| doc.is_json() && root.kind() == Kind::Object);
    let Some(root) = root else {
        return Err(Problem::new(
            Failure::Arguments,
            "arguments are a JSON object",
        ));
    };
    let (range, put) = match root.get(name) {
        Some(member) => (member.range(), value.to_owned()),
        None => {
            let at = root
                .children()
                .last()
                .map_or(root.range().start + 1, |last| last.range().end);
            let comma = if root.is_empty() { "" } else { "," };
            (at..at, format!("{comma}{}:{value}", string(name)))
        }
    };
    Ok(format!(
        "{}{put}{}",
        &arguments[..range.start],
        &arguments[range.end..]
    ))
}

/// The arguments of one call of a comparison, and why they could not be checked, if so.
///
/// # Errors
/// Why they may not go out.
pub fn plan_calls(
    tool: &Tool,
    name: &str,
    value: &str,
    arguments: &str,
) -> Result<(String, Option<String>), Problem> {
    let arguments = with_value(arguments, name, value)?;
    let unchecked =
        validate(tool.input_schema.as_ref(), &arguments, false).map_err(|problem| Problem {
            what: format!("with {name}={} the {}", shown(value), problem.what),
            hint: Some("nothing was called; leave that value out, or fix the arguments".to_owned()),
            ..problem
        })?;
    Ok((arguments, unchecked))
}

/// The calls of a comparison, all checked before the first is made.
#[derive(Clone, Debug)]
pub struct ComparisonPlan {
    pub tool: Tool,
    /// The argument that differs.
    pub vary: String,
    /// Its values, as JSON texts.
    pub values: Vec<String>,
    /// The arguments of each call.
    pub arguments: Vec<String>,
    /// Why arguments could not be checked, if so.
    pub unchecked: Option<String>,
}

impl ComparisonPlan {
    /// `given` are the values as [`values()`] takes them.
    ///
    /// # Errors
    /// The tool has no such argument, the schema lists no values, or a call does not fit it.
    pub fn new(
        tool: &Tool,
        vary: &str,
        given: Option<&str>,
        arguments: &str,
    ) -> Result<Self, Problem> {
        let known = argument_names(tool);
        if !known.is_empty() && !known.iter().any(|name| name == vary) {
            let hint = suggest::hint(vary, known.iter().map(String::as_str))
                .unwrap_or_else(|| format!("its arguments are {}", known.join(", ")));
            return Err(
                Problem::new(Failure::Arguments, "the tool has no such argument")
                    .at(vary)
                    .hint(hint),
            );
        }
        let values = values(tool, vary, given)?;
        let mut plan = Self {
            tool: tool.clone(),
            vary: vary.to_owned(),
            values,
            arguments: Vec::new(),
            unchecked: None,
        };
        for value in &plan.values {
            let (arguments, unchecked) = plan_calls(tool, vary, value, arguments)?;
            plan.arguments.push(arguments);
            plan.unchecked = plan.unchecked.take().or(unchecked);
        }
        Ok(plan)
    }
}

/// What an argument is in these arguments, as a JSON text: as given, else what the schema says it is by default.
pub fn value_in(tool: &Tool, name: &str, arguments: &str) -> Option<String> {
    let given = Doc::parse(Bytes::copy_from_slice(arguments.as_bytes()));
    if let Some(node) = given.root().and_then(|root| root.get(name)) {
        return Some(node.raw_text().into_owned());
    }
    let doc = schema(tool)?;
    let (_, node) = properties(&doc).find(|(known, _)| known == name)?;
    node.get("default")
        .filter(|value| !value.is_null())
        .map(|value| value.raw_text().into_owned())
}

/// Whether two texts of arguments are the same but for one of them. The order of the arguments is no difference.
pub fn differs_only_in(name: &str, one: &str, other: &str) -> bool {
    let others = |text: &str| {
        let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
        let root = doc
            .root()
            .filter(|root| doc.is_json() && root.kind() == Kind::Object)?;
        let members = root
            .children()
            .filter_map(|node| Some((node.key()?.into_owned(), node.raw_text().into_owned())));
        let mut members: Vec<_> = members.filter(|(key, _)| key != name).collect();
        members.sort();
        Some(members)
    };
    others(one).is_some_and(|one| others(other) == Some(one))
}

/// A value as people read it: a string without its quotes.
pub fn shown(value: &str) -> String {
    let doc = Doc::parse(Bytes::copy_from_slice(value.as_bytes()));
    doc.root()
        .and_then(Node::as_str)
        .map_or_else(|| value.to_owned(), Cow::into_owned)
}

fn schema(tool: &Tool) -> Option<Doc> {
    tool.input_schema.clone().map(Doc::parse)
}

fn properties(doc: &Doc) -> impl Iterator<Item = (Cow<'_, str>, Node<'_>)> {
    let properties = doc.root().and_then(|root| root.get("properties"));
    properties
        .into_iter()
        .flat_map(Node::children)
        .filter_map(|node| Some((node.key()?, node)))
}

fn array(text: &str) -> Option<Vec<String>> {
    let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
    let root = doc
        .root()
        .filter(|root| doc.is_json() && root.kind() == Kind::Array)?;
    Some(
        root.children()
            .map(|node| node.raw_text().into_owned())
            .collect(),
    )
}

fn plain(name: &str) -> String {
    name.chars()
        .filter(|char| char.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fn format_rank(name: &str, listed: &Listed) -> Option<usize> {
    let plain = plain(name);
    let is_switch = listed.types == ["boolean"];
    let names = if is_switch {
        SWITCH_NAMES
    } else {
        FORMAT_NAMES
    };
    let offset = if is_switch { 200 } else { 0 };
    if let Some(at) = names.iter().position(|known| *known == plain) {
        return Some(offset + at);
    }
    if is_switch {
        return None;
    }
    let spoken = listed
        .values
        .iter()
        .filter(|value| FORMAT_VALUES.contains(&shown(value).to_lowercase().as_str()))
        .count();
    if spoken >= 2 {
        return Some(100);
    }
    ["format", "verbosity", "detail"]
        .iter()
        .any(|word| plain.contains(word))
        .then_some(101)
}

/// What a schema says about one argument.
#[derive(Default)]
struct Listed {
    /// JSON texts; null is left out, since it mostly means "not given".
    values: Vec<String>,
    types: Vec<String>,
    minimum: Option<u64>,
    maximum: Option<u64>,
}

impl Listed {
    fn of<'a>(doc: &'a Doc, node: Node<'a>) -> Self {
        let mut listed = Self::default();
        let mut open = vec![node];
        for _ in 0..MAX_PLACES {
            let Some(node) = open.pop() else { break };
            if let Some(reference) = node.get("$ref").and_then(Node::as_str)
                && let Some(target) = reference
                    .strip_prefix('#')
                    .and_then(|pointer| doc.at(pointer))
            {
                open.push(target);
            }
            for word in ["anyOf", "oneOf", "allOf"] {
                let parts: Vec<_> = node
                    .get(word)
                    .into_iter()
                    .flat_map(Node::children)
                    .collect();
                open.extend(parts.into_iter().rev());
            }
            listed.values.extend(
                node.get("enum")
                    .into_iter()
                    .flat_map(Node::children)
                    .chain(node.get("const"))
                    .filter(|value| !value.is_null())
                    .map(|value| value.raw_text().into_owned()),
            );
            let kinds = node.get("type").into_iter().flat_map(|kind| {
                let several: Vec<_> = kind.children().collect();
                if several.is_empty() {
                    vec![kind]
                } else {
                    several
                }
            });
            let kinds = kinds
                .filter_map(|kind| kind.as_str())
                .filter(|kind| kind != "null");
            listed.types.extend(kinds.map(Cow::into_owned));
            let bound = |name: &str| {
                node.get(name)
                    .and_then(Node::as_i64)
                    .and_then(|bound| u64::try_from(bound).ok())
            };
            listed.minimum = listed.minimum.or(bound("minimum"));
            listed.maximum = listed.maximum.or(bound("maximum"));
        }
        listed.types.dedup();
        if listed.values.is_empty() && listed.types == ["boolean"] {
            listed.values = vec!["false".into(), "true".into()];
        }
        listed
    }

    fn typed(&self, word: &str) -> String {
        if let Some(value) = self
            .values
            .iter()
            .find(|value| *value == word || shown(value) == word)
        {
            return value.clone();
        }
        let doc = Doc::parse(Bytes::copy_from_slice(word.as_bytes()));
        let kind = doc.root().filter(|_| doc.is_json()).map(|root| root.kind());
        let takes = |name: &str| self.types.iter().any(|kind| kind == name);
        let is_taken = match kind {
            Some(Kind::Number) => takes("integer") || takes("number") || self.types.is_empty(),
            Some(Kind::Bool) => takes("boolean") || self.types.is_empty(),
            Some(Kind::Null | Kind::Array | Kind::Object) => !takes("string"),
            Some(Kind::String) => true,
            None => false,
        };
        if is_taken {
            word.to_owned()
        } else {
            string(word)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(properties: &str) -> Tool {
        let raw = format!(
            r#"{{"name":"t","inputSchema":{{"properties":{properties},"$defs":{{"F":{{"enum":["md","json"]}}}}}}}}"#
        );
        Tool::read(Bytes::from(raw))
    }

    fn found(properties: &str) -> String {
        format_argument(&tool(properties)).map_or_else(
            || "none".into(),
            |choice| format!("{} {}", choice.name, choice.values.join(" ")),
        )
    }

    #[test]
    fn format_arguments_are_found() {
        for (properties, expected) in [
            (
                r#"{"q":{"type":"string"},"response_format":{"enum":["json","markdown"]}}"#,
                r#"response_format "json" "markdown""#,
            ),
            (
                r#"{"mode":{"enum":["a","b"]},"output-format":{"enum":["x","y"]}}"#,
                r#"output-format "x" "y""#,
            ),
            (
                r##"{"format":{"anyOf":[{"$ref":"#/$defs/F"},{"type":"null"}],"default":null}}"##,
                r#"format "md" "json""#,
            ),
            (
                r#"{"format":{"oneOf":[{"const":"a"},{"const":"b"}]}}"#,
                r#"format "a" "b""#,
            ),
            (
                r#"{"how":{"type":"string","enum":["concise","detailed"]}}"#,
                r#"how "concise" "detailed""#,
            ),
            (
                r#"{"markdown":{"type":"boolean"},"active":{"type":"boolean"}}"#,
                "markdown false true",
            ),
            (
                r#"{"level":{"enum":[1,2,3]},"verbosity":{"enum":[0,1,2]}}"#,
                "verbosity 0 1 2",
            ),
            (
                r#"{"active":{"type":"boolean"},"sort":{"enum":["asc","desc"]},"format":{"type":"string"}}"#,
                "none",
            ),
            (r#"{"format":{"enum":["only"]}}"#, "none"),
            ("7", "none"),
        ] {
            assert_eq!(found(properties), expected, "{properties}");
        }
        let choice = ComparisonChoice {
            name: "f".into(),
            values: vec!["\"json\"".into(), "\"md\"".into()],
            format_rank: Some(0),
        };
        assert_eq!(
            (choice.label(0), choice.label(1)),
            (
                "Compare json / md · 2 calls".into(),
                "Compare json / md · 1 more call".into()
            )
        );
        let around = r##"{"format":{"$ref":"#/properties/format"}}"##;
        assert_eq!(found(around), "none", "a schema that refers to itself");
        let names: Vec<_> = choices(&tool(
            r#"{"active":{"type":"boolean"},"view":{"enum":["a","b"]}}"#,
        ))
        .into_iter()
        .map(|choice| choice.name)
        .collect();
        assert_eq!(names, ["view", "active"]);
    }

    #[test]
    fn values_are_typed_by_the_schema() {
        let tool = tool(
            r#"{"n":{"type":"integer"},"s":{"type":"string"},"e":{"enum":["json",5,true]},"b":{"type":"boolean"},"m":{"type":["integer","string"]}}"#,
        );
        let values = |name: &str, given: &str| {
            values(&tool, name, Some(given))
                .map_or_else(|problem| problem.message(), |values| values.join(" "))
        };
        assert_eq!(values("n", "5, 50,200,5"), "5 50 200");
        assert_eq!(values("n", "five"), "\"five\"");
        assert_eq!(values("s", "5,true,a"), r#""5" "true" "a""#);
        assert_eq!(values("e", "json,5,true,x"), r#""json" 5 true "x""#);
        assert_eq!(values("e", ""), r#""json" 5 true"#);
        assert_eq!(values("m", "5,a"), r#"5 "a""#);
        assert_eq!(values("s", r#"["a,b",7]"#), r#""a,b" 7"#);
        assert_eq!(values("other", "5,a"), r#"5 "a""#);
        assert_eq!(
            values("s", ""),
            "the tool's schema lists no values for this argument (s)"
        );
    }

    #[test]
    fn a_value_is_put_into_the_arguments_as_they_were_written() {
        let put = |arguments: &str| with_value(arguments, "f", "\"x\"").unwrap();
        assert_eq!(put("{}"), r#"{"f":"x"}"#);
        assert_eq!(put("{ }"), r#"{"f":"x" }"#);
        assert_eq!(put(r#"{ "n": 1e1 }"#), r#"{ "n": 1e1,"f":"x" }"#);
        assert_eq!(put(r#"{"f" : [1, 2] ,"n":1.0}"#), r#"{"f" : "x" ,"n":1.0}"#);
        assert!(with_value("[1]", "f", "1").is_err());
    }

    #[test]
    fn a_call_that_was_made_is_found_again() {
        let tool = tool(r#"{"f":{"enum":["a","b"],"default":"a"},"n":{"type":"integer"}}"#);
        let value = |name: &str, arguments: &str| value_in(&tool, name, arguments);
        assert_eq!(value("f", r#"{"f":"b"}"#).as_deref(), Some("\"b\""));
        assert_eq!(value("f", "{}").as_deref(), Some("\"a\""));
        assert_eq!(
            (value("n", "{}"), value("other", "{}"), value("n", "{")),
            (None, None, None)
        );
        assert!(differs_only_in(
            "f",
            r#"{"n":1,"f":"a","m":2}"#,
            r#"{"m":2,"n":1}"#
        ));
        assert!(!differs_only_in("f", r#"{"n":1}"#, r#"{"n":2}"#));
        assert!(!differs_only_in("f", "[", "["));
    }

    #[test]
    fn page_sizes_are_found() {
        let size = |properties: &str| {
            page_size_argument(&tool(properties)).map(|size| (size.name.clone(), size.sizes()))
        };
        assert_eq!(
            size(r#"{"limit":{"type":"integer","maximum":100},"q":{"type":"string"}}"#),
            Some(("limit".into(), vec![5, 50, 100]))
        );
        assert_eq!(
            size(r#"{"count":{"type":"number"},"page_size":{"type":"integer","minimum":-1}}"#),
            Some(("page_size".into(), vec![5, 50, 200]))
        );
        assert_eq!(size(r#"{"limit":{"type":"string"}}"#), None);
    }
}
