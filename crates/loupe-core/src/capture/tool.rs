//! A tool definition as the server sent it, read leniently entry by entry.

use std::collections::{HashMap, HashSet};

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
    /// Whether `_meta.ui.visibility` names others than `model`: hosts of MCP Apps hide such a tool from the model.
    pub is_for_app_alone: bool,
    /// Whether it came after the first page of `tools/list`, which is all that some hosts read.
    pub is_after_first_page: bool,
    /// Whether its hints contradict each other: one is there twice, or another entry of its name has others.
    pub is_contrary: bool,
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

impl Annotations {
    /// Whether the server declares any hint.
    pub fn is_declared(&self) -> bool {
        [
            self.read_only,
            self.destructive,
            self.idempotent,
            self.open_world,
        ]
        .iter()
        .any(|hint| hint.declared)
    }
}

impl Default for Annotations {
    fn default() -> Self {
        let default = |value| Hint {
            value,
            declared: false,
        };
        Self {
            read_only: default(false),
            destructive: default(true),
            idempotent: default(false),
            open_world: default(true),
        }
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
            is_for_app_alone: false,
            is_after_first_page: false,
            is_contrary: false,
            raw: Bytes::new(),
            faults: vec!["not in the server's list of tools".into()],
        }
    }

    /// Reads one definition; anything odd becomes a fault, never a missing tool.
    pub fn read(raw: Bytes) -> Self {
        let doc = Doc::parse(raw);
        let mut faults: Vec<String> = doc
            .faults()
            .iter()
            .map(|fault| format!("{} at byte {}", fault.kind.message(), fault.at))
            .collect();
        let member = |name: &str| doc.root().and_then(|root| root.get(name));
        let mut text = |name: &str| {
            let node = member(name)?;
            if node.kind() != Kind::String {
                faults.push(format!(
                    "`{name}` is {}, not a string",
                    with_article(node.kind())
                ));
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
                faults.push(format!(
                    "`inputSchema` is {}, not an object",
                    with_article(node.kind())
                ));
            }
            Some(_) => {}
        }
        let meta = member("_meta");
        let page = meta
            .and_then(|meta| meta.get("ui")?.get("resourceUri"))
            .or_else(|| meta?.get("ui/resourceUri"));
        let ui_resource = page.and_then(|uri| Some(uri.as_str()?.into_owned()));
        let visibility = meta
            .and_then(|meta| meta.get("ui")?.get("visibility"))
            .filter(|list| list.kind() == Kind::Array && !list.is_empty());
        let is_for_app_alone = visibility.is_some_and(|list| {
            list.children()
                .all(|one| one.as_str().as_deref() != Some("model"))
        });
        let hints = member("annotations");
        let annotations = Annotations::read(hints, &mut faults);
        let hint_twice = twice(doc.root(), &["annotations"]).or_else(|| twice(hints, &HINTS));
        faults.extend(
            hint_twice
                .map(|name| format!("`{name}` stands there twice: taken for a tool that writes")),
        );
        let title = title.or_else(|| hints?.get("title")?.as_str().map(|text| text.into_owned()));
        Self {
            name: name.unwrap_or_default(),
            title,
            description,
            annotations,
            input_schema: input_schema.map(Node::raw_bytes),
            output_schema: member("outputSchema").map(Node::raw_bytes),
            ui_resource,
            is_for_app_alone,
            is_after_first_page: false,
            is_contrary: hint_twice.is_some(),
            raw: doc.bytes().clone(),
            faults,
        }
    }

    /// Marks the tools that are listed more than once with hints that contradict each other: none of them is read-only.
    pub fn mark_contrary(tools: &mut [Self]) {
        let mut known: HashMap<&str, Annotations> = HashMap::new();
        let mut contrary = HashSet::new();
        for tool in tools.iter() {
            if *known.entry(&tool.name).or_insert(tool.annotations) != tool.annotations {
                contrary.insert(tool.name.clone());
            }
        }
        for tool in tools
            .iter_mut()
            .filter(|tool| contrary.contains(&tool.name))
        {
            tool.is_contrary = true;
            tool.faults.push(
                "listed more than once, with different hints: taken for a tool that writes".into(),
            );
        }
    }

    /// Whether the server *declares* that calling changes nothing, and nowhere the contrary.
    pub fn is_declared_read_only(&self) -> bool {
        let yes = Hint {
            value: true,
            declared: true,
        };
        self.annotations.read_only == yes
            && self.annotations.destructive != yes
            && !self.is_contrary
    }

    /// Whether the input schema requires an argument at its top.
    pub fn requires_arguments(&self) -> bool {
        let Some(schema) = self.input_schema.clone().map(Doc::parse) else {
            return false;
        };
        let required = schema.at("/required");
        required.is_some_and(|required| required.children().next().is_some())
    }

    /// Whether the server *declares* that calling may destroy something.
    pub fn is_declared_destructive(&self) -> bool {
        !self.is_declared_read_only()
            && self.annotations.destructive
                == Hint {
                    value: true,
                    declared: true,
                }
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
        let all = [
            &mut hints.read_only,
            &mut hints.destructive,
            &mut hints.idempotent,
            &mut hints.open_world,
        ];
        for (name, hint) in HINTS.into_iter().zip(all) {
            let Some(member) = node.get(name) else {
                continue;
            };
            match member.as_bool() {
                Some(value) => {
                    *hint = Hint {
                        value,
                        declared: true,
                    }
                }
                None => faults.push(format!(
                    "`{name}` is {}, not a boolean",
                    with_article(member.kind())
                )),
            }
        }
        hints
    }
}

const HINTS: [&str; 4] = [
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
];

/// The first of these members that an object has more than once.
fn twice(object: Option<Node<'_>>, names: &[&'static str]) -> Option<&'static str> {
    let count = |name: &str| {
        object
            .into_iter()
            .flat_map(Node::children)
            .filter(|child| child.key().is_some_and(|key| key == name))
            .count()
    };
    names.iter().copied().find(|name| count(name) > 1)
}

/// "a string", "an object".
pub(super) fn with_article(kind: Kind) -> String {
    let article = if matches!(kind, Kind::Array | Kind::Object) {
        "an"
    } else {
        "a"
    };
    if kind == Kind::Null {
        "null".into()
    } else {
        format!("{article} {}", kind.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_an_app_is_found_where_either_writing_puts_it() {
        for (meta, expected) in [
            (
                r#"{"ui":{"resourceUri":"ui://a"},"ui/resourceUri":"ui://b"}"#,
                Some("ui://a"),
            ),
            (r#"{"ui":{},"ui/resourceUri":"ui://b"}"#, Some("ui://b")),
            (r#"{"ui/resourceUri":7}"#, None),
            (r#""ui""#, None),
        ] {
            let tool =
                Tool::read(format!(r#"{{"name":"t","inputSchema":{{}},"_meta":{meta}}}"#).into());
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
        assert_eq!(
            tool.annotations.destructive,
            Hint {
                value: true,
                declared: false
            }
        );
        assert_eq!(
            tool.faults,
            ["`destructiveHint` is a string, not a boolean"]
        );
    }

    #[test]
    fn contrary_hints_are_no_promise() {
        let tool = |annotations: &str| {
            Tool::read(format!(r#"{{"name":"t","inputSchema":{{}},{annotations}}}"#).into())
        };
        for annotations in [
            r#""annotations":{"readOnlyHint":true,"readOnlyHint":true}"#,
            r#""annotations":{"readOnlyHint":false,"readOnlyHint":true}"#,
            r#""annotations":{"readOnlyHint":true,"read\u004fnlyHint":true}"#,
            r#""annotations":{"readOnlyHint":true,"destructiveHint":true,"destructiveHint":false}"#,
            r#""annotations":{"readOnlyHint":false},"annotations":{"readOnlyHint":true}"#,
            r#""annotations":{"readOnlyHint":true,"destructiveHint":true}"#,
        ] {
            assert!(!tool(annotations).is_declared_read_only(), "{annotations}");
        }
        assert!(
            tool(r#""annotations":{"readOnlyHint":true,"destructiveHint":true}"#)
                .is_declared_destructive()
        );
        let (reads, writes) = (
            tool(r#""annotations":{"readOnlyHint":true}"#),
            tool(r#""annotations":{"readOnlyHint":false}"#),
        );
        let other = Tool {
            name: "other".into(),
            ..reads.clone()
        };
        let mut twice = [reads.clone(), other.clone(), writes];
        Tool::mark_contrary(&mut twice);
        assert_eq!(
            twice.each_ref().map(Tool::is_declared_read_only),
            [false, true, false]
        );
        assert!(
            twice[0]
                .faults
                .iter()
                .any(|fault| fault.contains("more than once"))
        );
        let mut alike = [reads.clone(), other, reads];
        Tool::mark_contrary(&mut alike);
        assert!(alike.iter().all(Tool::is_declared_read_only));
    }

    #[test]
    fn a_bad_definition_is_still_a_tool() {
        let tool = Tool::read(Bytes::from_static(br#"{"name":"t","description":5}"#));
        assert_eq!(tool.name, "t");
        assert_eq!(
            tool.faults,
            [
                "`description` is a number, not a string",
                "no `inputSchema`"
            ]
        );
        assert_eq!(
            Tool::read(Bytes::from_static(b"7")).faults,
            ["no `name`", "no `inputSchema`"]
        );
    }
}
