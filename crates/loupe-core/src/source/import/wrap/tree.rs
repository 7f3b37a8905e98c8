//! A configuration as a tree of byte ranges, so that an edit touches nothing else.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::jsonc;

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    /// Of a table that a header of TOML opens: the header.
    pub span: Range<usize>,
    pub kind: NodeKind,
}

#[derive(Debug)]
pub(super) enum NodeKind {
    Object(Vec<Member>),
    List(Vec<Node>),
    Text(String),
    Other,
}

/// One member of an object.
#[derive(Debug)]
pub(super) struct Member {
    pub name: String,
    /// Of a dotted key the last part.
    pub key: Range<usize>,
    pub node: Node,
}

impl Node {
    /// The member of this name that clients read: the last.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members().iter().rfind(|member| member.name == name)
    }

    pub fn get(&self, name: &str) -> Option<&Node> {
        self.member(name).map(|member| &member.node)
    }

    pub fn members(&self) -> &[Member] {
        match &self.kind {
            NodeKind::Object(members) => members,
            _ => &[],
        }
    }

    pub fn list(&self) -> Option<&[Node]> {
        match &self.kind {
            NodeKind::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Reads a text that is known to be right; `None` where it is not after all.
pub(super) fn parse(is_toml: bool, text: &str) -> Option<Node> {
    let bare = text.trim_start_matches('\u{feff}');
    let base = text.len() - bare.len();
    if is_toml {
        let table = DeTable::parse(bare).ok()?;
        return Some(Node {
            span: table.span(),
            kind: table_node(table.get_ref(), base),
        });
    }
    let stripped = jsonc::strip(bare);
    let mut scan = Scan {
        text: &stripped,
        at: 0,
        base,
    };
    scan.node()
}

fn table_node(table: &DeTable<'_>, base: usize) -> NodeKind {
    let mut members: Vec<_> = table
        .iter()
        .map(|(key, value)| Member {
            name: key.get_ref().to_string(),
            key: shift(key.span(), base),
            node: toml_node(value, base),
        })
        .collect();
    members.sort_by_key(|member| member.key.start);
    NodeKind::Object(members)
}

fn toml_node(value: &Spanned<DeValue<'_>>, base: usize) -> Node {
    let kind = match value.get_ref() {
        DeValue::String(text) => NodeKind::Text(text.to_string()),
        DeValue::Array(items) => {
            NodeKind::List(items.iter().map(|item| toml_node(item, base)).collect())
        }
        DeValue::Table(table) => table_node(table, base),
        _ => NodeKind::Other,
    };
    Node {
        span: shift(value.span(), base),
        kind,
    }
}

fn shift(span: Range<usize>, by: usize) -> Range<usize> {
    span.start + by..span.end + by
}

/// Goes through JSON without comments, which `serde_json` has read before: nothing is checked again.
struct Scan<'t> {
    text: &'t str,
    at: usize,
    base: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, is_skipped: fn(u8) -> bool) {
        while self.peek().is_some_and(is_skipped) {
            self.at += 1;
        }
    }

    /// Whether another value follows; steps over the end of the list where none does.
    fn has_more(&mut self, end: u8) -> Option<bool> {
        self.skip(|byte| byte.is_ascii_whitespace() || byte == b',');
        let has_more = self.peek()? != end;
        self.at += usize::from(!has_more);
        Some(has_more)
    }

    fn string(&mut self) -> Option<(String, Range<usize>)> {
        let start = self.at;
        self.at += 1;
        while self.peek()? != b'"' {
            self.at += if self.peek()? == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        let text = serde_json::from_str(self.text.get(start..self.at)?).ok()?;
        Some((text, shift(start..self.at, self.base)))
    }

    fn node(&mut self) -> Option<Node> {
        self.skip(|byte| byte.is_ascii_whitespace());
        let start = self.at;
        let kind = match self.peek()? {
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                while self.has_more(b'}')? {
                    let (name, key) = self.string()?;
                    self.skip(|byte| byte.is_ascii_whitespace() || byte == b':');
                    let node = self.node()?;
                    members.push(Member { name, key, node });
                }
                NodeKind::Object(members)
            }
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while self.has_more(b']')? {
                    items.push(self.node()?);
                }
                NodeKind::List(items)
            }
            b'"' => NodeKind::Text(self.string()?.0),
            _ => {
                self.skip(|byte| !byte.is_ascii_whitespace() && !b",]}".contains(&byte));
                NodeKind::Other
            }
        };
        Some(Node {
            span: shift(start..self.at, self.base),
            kind,
        })
    }
}
