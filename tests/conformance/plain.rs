//! The plainest arguments that fit a tool's schema.

use loupe_core::capture::Tool;
use serde_json::{Map, Value, json};

pub fn plain(tool: &Tool) -> String {
    let schema: Value = tool
        .input_schema
        .as_ref()
        .and_then(|raw| serde_json::from_slice(raw).ok())
        .unwrap_or_default();
    let mut arguments = Map::new();
    for name in schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        let kind = schema
            .pointer(&format!("/properties/{name}/type"))
            .and_then(Value::as_str)
            .unwrap_or("string");
        let value = match kind {
            "number" | "integer" => json!(2),
            "boolean" => json!(true),
            "array" => json!([]),
            "object" => json!({}),
            "null" => Value::Null,
            _ => json!("loupe"),
        };
        arguments.insert(name.to_owned(), value);
    }
    Value::Object(arguments).to_string()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use loupe_analysis::queries::arguments::validate;

    use super::*;

    #[test]
    fn plain_arguments_fit_the_schema() {
        let raw = br#"{"name":"t","inputSchema":{"properties":{"a":{"type":"number"},"b":{"type":"string"},"c":{}},"required":["a","b"]}}"#;
        let tool = Tool::read(Bytes::from_static(raw));
        assert_eq!(plain(&tool), r#"{"a":2,"b":"loupe"}"#);
        assert!(validate(tool.input_schema.as_ref(), &plain(&tool), false).is_ok());
    }
}
