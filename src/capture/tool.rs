//! A tool definition as the server sent it, read leniently entry by entry.

use bytes::Bytes;

use crate::json::{Doc, Kind, Node};

/// One entry of `tools/list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    pub name: String,
    /// `title`, else `annotations.title`.
    pub title: Option<String>,
    pub description: Option<String>,
    pub annotations: Annotations,
    /// The exact bytes of the members; `None` where absent.
    pub input_schema: Option<Bytes>,
    pub output_schema: Option<Bytes>,
    /// The page of an MCP App: `_meta.ui.resourceUri`, or `ui/resourceUri` of its drafts. Listed, never executed.
    pub ui_resource: Option<String>,
    /// The whole definition exactly as sent; empty for a tool that was never listed.
    pub raw: Bytes,
    /// What is wrong with the definition, for people.
    pub faults: Vec<String>,
}

/// One hint: what the server declared, else what the specification defaults to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    pub value: bool,
    pub declared: bool,
}

/// The four tool hints (MCP 2025-03-26 and later). Untrusted, by the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotations {
    pub read_only: Hint,
    pub destructive: Hint,
    pub idempotent: Hint,
    pub open_world: Hint,
}

impl Default for Annotations {
    fn default() -> Self {
        let default = |value| Hint { value, declared: false };
        Self { read_only: default(false), destructive: default(true), idempotent: default(false), open_world: default(true) }
    }
}

impl Tool {
    /// A tool that was called without being listed.
    pub fn unlisted(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: None,
            description: None,
            annotations: Annotations::default(),
            input_schema: None,
            output_schema: None,
            ui_resource: None,
            raw: Bytes::new(),
            faults: vec!["not in the server's list of tools".into()],
        }
    }

    /// Reads one definition; anything odd becomes a fault, never a missing tool.
    pub fn read(raw: Bytes) -> Self {
        let doc = Doc::parse(raw);
        let mut faults: Vec<String> =
            doc.faults().iter().map(|fault| format!("{} at byte {}", fault.kind.message(), fault.at)).collect();
        let member = |name: &str| doc.root().and_then(|root| root.get(name));
        let mut text = |name: &str| {
            let node = member(name)?;
            if node.kind() != Kind::String {
                faults.push(format!("`{name}` is {}, not a string", with_article(node.kind())));
            }
            node.as_str().map(|text| text.into_owned())
        };
        let name = text("name");
        let title = text("title");
        let description = text("description");
        if name.is_none() {
            faults.push("no `name`".into());
        }
        let input_schema = member("inputSchema");
        match input_schema {
            None => faults.push("no `inputSchema`".into()),
            Some(node) if node.kind() != Kind::Object => {
                faults.push(format!("`inputSchema` is {}, not an object", with_article(node.kind())));
            }
            Some(_) => {}
        }
        let meta = member("_meta");
        let page = meta.and_then(|meta| meta.get("ui")?.get("resourceUri")).or_else(|| meta?.get("ui/resourceUri"));
        let ui_resource = page.and_then(|uri| Some(uri.as_str()?.into_owned()));
        let hints = member("annotations");
        let annotations = Annotations::read(hints, &mut faults);
        let title = title.or_else(|| hints?.get("title")?.as_str().map(|text| text.into_owned()));
        Self {
            name: name.unwrap_or_default(),
            title,
            description,
            annotations,
            input_schema: input_schema.map(Node::raw_bytes),
            output_schema: member("outputSchema").map(Node::raw_bytes),
            ui_resource,
            raw: doc.bytes().clone(),
            faults,
        }
    }

    /// Whether the server *declares* that calling changes nothing.
    pub fn is_declared_read_only(&self) -> bool {
        self.annotations.read_only == Hint { value: true, declared: true }
    }

    /// Whether the server *declares* that calling may destroy something.
    pub fn is_declared_destructive(&self) -> bool {
        !self.is_declared_read_only() && self.annotations.destructive == Hint { value: true, declared: true }
    }

    /// The first sentence of the description.
    pub fn summary(&self) -> &str {
        let text = self.description.as_deref().unwrap_or("").trim();
        let line = text.lines().next().unwrap_or("");
        line.find(". ").map_or(line, |end| &line[..=end])
    }
}

impl Annotations {
    fn read(node: Option<Node<'_>>, faults: &mut Vec<String>) -> Self {
        let mut hints = Self::default();
        let Some(node) = node else { return hints };
        for (name, hint) in [
            ("readOnlyHint", &mut hints.read_only),
            ("destructiveHint", &mut hints.destructive),
            ("idempotentHint", &mut hints.idempotent),
            ("openWorldHint", &mut hints.open_world),
        ] {
            let Some(member) = node.get(name) else { continue };
            match member.as_bool() {
                Some(value) => *hint = Hint { value, declared: true },
                None => faults.push(format!("`{name}` is {}, not a boolean", with_article(member.kind()))),
            }
        }
        hints
    }
}

/// "a string", "an object".
pub(super) fn with_article(kind: Kind) -> String {
    let article = if matches!(kind, Kind::Array | Kind::Object) { "an" } else { "a" };
    if kind == Kind::Null { "null".into() } else { format!("{article} {}", kind.name()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_an_app_is_found_where_either_writing_puts_it() {
        for (meta, expected) in [
            (r#"{"ui":{"resourceUri":"ui://a"},"ui/resourceUri":"ui://b"}"#, Some("ui://a")),
            (r#"{"ui":{},"ui/resourceUri":"ui://b"}"#, Some("ui://b")),
            (r#"{"ui/resourceUri":7}"#, None),
            (r#""ui""#, None),
        ] {
            let tool = Tool::read(format!(r#"{{"name":"t","inputSchema":{{}},"_meta":{meta}}}"#).into());
            assert_eq!(tool.ui_resource.as_deref(), expected, "{meta}");
        }
    }

    #[test]
    fn reads_declared_and_default_hints_apart() {
        let tool = Tool::read(Bytes::from_static(
            br#"{"name":"t","inputSchema":{},"annotations":{"title":"T","readOnlyHint":true,"destructiveHint":"no"}}"#,
        ));
        assert_eq!(tool.title.as_deref(), Some("T"));
        assert!(tool.is_declared_read_only());
        assert_eq!(tool.annotations.destructive, Hint { value: true, declared: false });
        assert_eq!(tool.faults, ["`destructiveHint` is a string, not a boolean"]);
    }

    #[test]
    fn a_bad_definition_is_still_a_tool() {
        let tool = Tool::read(Bytes::from_static(br#"{"name":"t","description":5}"#));
        assert_eq!(tool.name, "t");
        assert_eq!(tool.faults, ["`description` is a number, not a string", "no `inputSchema`"]);
        assert_eq!(Tool::read(Bytes::from_static(b"7")).faults, ["no `name`", "no `inputSchema`"]);
    }
}
