//! Arguments as headers (2026-07-28, over HTTP): a parameter whose schema says `x-mcp-header: N` is mirrored as
//! `Mcp-Param-N`. A tool that says it wrongly must not be called over HTTP; why is told.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderName, HeaderValue};

use loupe_core::json::{Doc, Kind, Node};

/// More than servers take as a rule, all headers together.
const MOST: usize = 100;

/// One parameter to mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParamHeader {
    pub name: HeaderName,
    /// The members that lead to it within the arguments.
    pub path: Vec<String>,
}

/// The parameters that a tool's input schema wants mirrored; `Err` says why the tool must not be called.
pub(super) fn declared(schema: &Bytes) -> Result<Vec<ParamHeader>, String> {
    let doc = Doc::parse(schema.clone());
    let mut found: Vec<ParamHeader> = Vec::new();
    let mut names = HashSet::new();
    let mut open: Vec<Node<'_>> = doc.root().into_iter().collect();
    while let Some(schema) = open.pop() {
        if let Some(header) = schema.get("x-mcp-header") {
            let path = path(schema);
            let place = path.join(".");
            let wrong = |why: &str| format!("`x-mcp-header` of `{place}` {why}");
            let Some(text) = header.as_str() else {
                return Err(wrong("is not a string"));
            };
            if text.is_empty() {
                return Err(wrong("is empty"));
            }
            if path.is_empty() || !is_primitive(schema.get("type")) {
                return Err(wrong(
                    "stands on a type other than string, integer and boolean",
                ));
            }
            let name = text
                .is_ascii()
                .then(|| HeaderName::from_bytes(format!("mcp-param-{text}").as_bytes()).ok())
                .flatten();
            let Some(name) = name else {
                return Err(wrong("holds characters that a header's name may not have"));
            };
            if !names.insert(name.clone()) {
                return Err(wrong("is used twice (upper and lower case do not count)"));
            }
            if found.len() == MOST {
                return Err(format!(
                    "more than {MOST} of its arguments say `x-mcp-header`"
                ));
            }
            found.push(ParamHeader { name, path });
        }
        let properties = schema
            .get("properties")
            .filter(|node| node.kind() == Kind::Object);
        open.extend(properties.into_iter().flat_map(Node::children));
    }
    Ok(found)
}

/// The members of the arguments that lead to what this schema describes. Found from below: few have a header, and each
/// level keeping its own would cost the square of the depth.
fn path(schema: Node<'_>) -> Vec<String> {
    let mut path = Vec::new();
    let mut schema = schema;
    while let (Some(name), Some(above)) = (schema.key(), schema.parent().and_then(Node::parent)) {
        path.push(name.into_owned());
        schema = above;
    }
    path.reverse();
    path
}

fn is_primitive(kind: Option<Node<'_>>) -> bool {
    let names = |node: Node<'_>| {
        node.as_str()
            .is_some_and(|name| matches!(&*name, "string" | "integer" | "boolean"))
    };
    match kind {
        Some(node) if node.kind() == Kind::Array => {
            let is_null = |node: Node<'_>| node.as_str().is_some_and(|name| name == "null");
            node.children().any(names) && node.children().all(|node| names(node) || is_null(node))
        }
        Some(node) => names(node),
        None => false,
    }
}

/// The headers for these arguments. What is absent or null has none.
pub(super) fn mirrored(
    declared: &[ParamHeader],
    arguments: Node<'_>,
) -> Vec<(HeaderName, HeaderValue)> {
    let value = |header: &ParamHeader| {
        let node = header
            .path
            .iter()
            .try_fold(arguments, |node, name| node.get(name))?;
        match node.kind() {
            Kind::String => value(&node.as_str()?),
            Kind::Number => value(&decimal(&node.raw_text())),
            Kind::Bool => value(&node.raw_text()),
            _ => None,
        }
    };
    declared
        .iter()
        .filter_map(|header| Some((header.name.clone(), value(header)?)))
        .collect()
}

/// An integer without exponent or fraction, which the body may well have.
fn decimal(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number)
            if text.contains(['e', 'E', '.']) && number.fract() == 0.0 && number.abs() < 9e15 =>
        {
            format!("{number:.0}")
        }
        _ => text.to_owned(),
    }
}

/// The text as a header's value; what a header cannot hold is written as `=?base64?…?=`.
pub(super) fn value(text: &str) -> Option<HeaderValue> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let encoded = if is_plain {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(text))
    };
    HeaderValue::from_str(&encoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(properties: &str) -> Bytes {
        Bytes::from(format!(
            r#"{{"type":"object","properties":{{{properties}}}}}"#
        ))
    }

    #[test]
    fn schemas_may_be_deep_and_want_only_so_many_headers() {
        let deep = r#"{"properties":{"a":"#.repeat(50_000)
            + r#"{"type":"string","x-mcp-header":"A"}"#
            + &"}}".repeat(50_000);
        let found = declared(&Bytes::from(deep)).unwrap();
        assert_eq!(
            found
                .iter()
                .map(|header| header.path.len())
                .collect::<Vec<_>>(),
            [50_000]
        );
        let many = |count| {
            (0..count)
                .map(|at| format!(r#""p{at}":{{"type":"string","x-mcp-header":"H{at}"}}"#))
                .collect::<Vec<_>>()
                .join(",")
        };
        assert_eq!(
            declared(&schema(&many(MOST))).map(|found| found.len()),
            Ok(MOST)
        );
        assert!(
            declared(&schema(&many(MOST + 1)))
                .unwrap_err()
                .contains("more than 100")
        );
    }

    #[test]
    fn values_are_mirrored_as_they_are() {
        let schema = schema(
            r#""a":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"z":{"type":["boolean","null"],"x-mcp-header":"Z"},
               "o":{"type":"object","properties":{"in":{"type":"string","x-mcp-header":"In"}}},"no":{"type":"string"}"#,
        );
        let declared = declared(&schema).unwrap();
        let headers = |arguments: &'static str| {
            let doc = Doc::parse(Bytes::from_static(arguments.as_bytes()));
            let mut found: Vec<_> = mirrored(&declared, doc.root().unwrap())
                .into_iter()
                .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
                .collect();
            found.sort();
            found.join("; ")
        };
        assert_eq!(
            headers(r#"{"a":"us west","n":4.2e1,"z":false,"o":{"in":"x"},"no":"y"}"#),
            "mcp-param-in: x; mcp-param-n: 42; mcp-param-region: us west; mcp-param-z: false"
        );
        assert_eq!(headers(r#"{"a":"","z":null}"#), "mcp-param-region: ");
        for (text, encoded) in [
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(value(text).unwrap(), encoded);
        }
    }

    #[test]
    fn what_is_declared_wrongly_is_refused_with_the_reason() {
        for (properties, why) in [
            (r#""a":{"type":"string","x-mcp-header":""}"#, "is empty"),
            (r#""a":{"type":"string","x-mcp-header":7}"#, "not a string"),
            (
                r#""a":{"type":"object","x-mcp-header":"A"}"#,
                "other than string",
            ),
            (
                r#""a":{"type":"number","x-mcp-header":"A"}"#,
                "other than string",
            ),
            (
                r#""a":{"type":"string","x-mcp-header":"My Region"}"#,
                "characters",
            ),
            (
                r#""a":{"type":"string","x-mcp-header":"Région"}"#,
                "characters",
            ),
            (
                r#""a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}"#,
                "used twice",
            ),
        ] {
            let refused = declared(&schema(properties)).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
