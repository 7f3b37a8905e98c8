//! The change that a saving asks for as code, for the SDK of the server: `fixes/RULE/SDK.EXT.diff`, each a whole small server
//! with and without the change. `tests/peers` runs both.

use loupe_core::capture::{Server, Tool};

/// An SDK that servers are written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sdk {
    FastMcp,
    Python,
    TypeScript,
    Rust,
}

impl Sdk {
    /// The name with the version that the changes were run with.
    pub fn title(self) -> &'static str {
        match self {
            Self::FastMcp => "FastMCP 4.2",
            Self::Python => "Python SDK 2.3",
            Self::TypeScript => "TypeScript SDK 1.32",
            Self::Rust => "rmcp 3.11",
        }
    }

    /// The SDK of a server, by what it lists, by the name that it has where its author gave none, and by the command it is
    /// started with; `None` where none of them tells.
    pub fn of(tool: &Tool, server: &Server) -> Option<Self> {
        let raw = String::from_utf8_lossy(&tool.raw);
        if raw.contains("x-fastmcp") || raw.contains("\"_fastmcp\"") || raw.contains("\"fastmcp\"")
        {
            return Some(Self::FastMcp);
        }
        if server.name == "rmcp" {
            return Some(Self::Rust);
        }
        let command = server.source.rsplit("-- ").next().unwrap_or_default();
        let program = command.split_whitespace().next().unwrap_or_default();
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
        match name {
            "node" | "npx" | "bun" | "bunx" | "deno" | "tsx" => Some(Self::TypeScript),
            "cargo" => Some(Self::Rust),
            _ => None,
        }
    }
}

/// One line of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeLine<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

impl<'a> CodeLine<'a> {
    /// The line without its mark.
    pub fn text(self) -> &'a str {
        match self {
            Self::Same(text) | Self::Removed(text) | Self::Added(text) => text,
        }
    }

    /// The mark that a difference has before it.
    pub fn mark(self) -> char {
        match self {
            Self::Same(_) => ' ',
            Self::Removed(_) => '-',
            Self::Added(_) => '+',
        }
    }
}

/// A change for one SDK.
#[derive(Clone, Copy, Debug)]
pub struct CodeFix {
    pub sdk: Sdk,
    /// What else the change does, for those who read the result by program; empty where nothing.
    pub note: &'static str,
    diff: &'static str,
}

impl CodeFix {
    /// The whole server, line by line.
    pub fn lines(&self) -> impl Iterator<Item = CodeLine<'static>> {
        self.diff.lines().map(|line| {
            let mut chars = line.chars();
            match chars.next() {
                Some('-') => CodeLine::Removed(chars.as_str()),
                Some('+') => CodeLine::Added(chars.as_str()),
                _ => CodeLine::Same(chars.as_str()),
            }
        })
    }

    /// What changes, with one line around it.
    pub fn change(&self) -> Vec<CodeLine<'static>> {
        let lines: Vec<_> = self.lines().collect();
        let is_same = |at: usize| {
            lines
                .get(at)
                .is_none_or(|line| matches!(line, CodeLine::Same(_)))
        };
        (0..lines.len())
            .filter(|at| !is_same(*at) || !is_same(at + 1) || !is_same(at.wrapping_sub(1)))
            .map(|at| lines[at])
            .collect()
    }

    /// The server with the change, or without it.
    pub fn server(&self, is_changed: bool) -> String {
        let lines = self.lines().filter(|line| match line {
            CodeLine::Same(_) => true,
            CodeLine::Removed(_) => !is_changed,
            CodeLine::Added(_) => is_changed,
        });
        lines.map(|line| format!("{}\n", line.text())).collect()
    }
}

macro_rules! fixes {
    ($($rule:literal: $folder:literal $note:literal [$($sdk:ident $file:literal),+];)+) => {
        &[$(($rule, &[$(CodeFix {
            sdk: Sdk::$sdk,
            note: $note,
            diff: include_str!(concat!("fixes/", $folder, "/", $file, ".diff")),
        }),+])),+]
    };
}

/// By rule.
static FIXES: &[(&str, &[CodeFix])] = fixes! {
    "shape/pretty-json": "pretty-json" "" [FastMcp "fastmcp.py", Python "python-sdk.py", TypeScript "typescript-sdk.mjs", Rust "rmcp.rs"];
    "parity/text-duplicates-json": "text-duplicates-json" "It leaves out structuredContent and outputSchema, which programs may read." [FastMcp "fastmcp.py", Python "python-sdk.py", TypeScript "typescript-sdk.mjs", Rust "rmcp.rs"];
    "parity/wrapped-duplicate": "wrapped-duplicate" "It leaves out structuredContent and outputSchema, which programs may read." [FastMcp "fastmcp.py", Python "python-sdk.py", TypeScript "typescript-sdk.mjs"];
    "shape/escaped-unicode": "escaped-unicode" "" [FastMcp "fastmcp.py", Python "python-sdk.py"];
    "shape/repeated-keys": "repeated-keys" "The text has another shape: a program that parses it has to follow." [FastMcp "fastmcp.py", Python "python-sdk.py", TypeScript "typescript-sdk.mjs", Rust "rmcp.rs"];
    "shape/empty-section": "empty-section" "A member that is missing then means null or empty." [FastMcp "fastmcp.py", Python "python-sdk.py", TypeScript "typescript-sdk.mjs", Rust "rmcp.rs"];
};

/// Every rule that has its change as code.
pub fn rules_with_code() -> impl Iterator<Item = (&'static str, &'static [CodeFix])> {
    FIXES.iter().copied()
}

/// The change of a rule for each SDK; none where there is none.
pub fn code_fixes(rule: &str) -> &'static [CodeFix] {
    FIXES
        .iter()
        .find(|(own, _)| *own == rule)
        .map_or(&[], |(_, fixes)| fixes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::rule;

    #[test]
    fn changes_are_of_rules_and_change_something() {
        for (id, fixes) in rules_with_code() {
            assert!(rule(id).is_some(), "{id}");
            for fix in fixes {
                assert_ne!(fix.server(true), fix.server(false), "{id} {:?}", fix.sdk);
                let change = fix.change();
                assert!(
                    (2..=20).contains(&change.len()),
                    "{id} {:?}: {change:?}",
                    fix.sdk
                );
            }
        }
        assert!(code_fixes("shape/epoch").is_empty());
    }

    #[test]
    fn the_sdk_is_told_by_what_it_leaves_behind() {
        let named = |raw: &str, name: &str, source: &str| {
            let server = Server {
                name: name.to_owned(),
                source: source.to_owned(),
                ..Server::default()
            };
            Sdk::of(&Tool::read(raw.to_owned().into()), &server)
        };
        let of = |raw: &str, source: &str| named(raw, "orders", source);
        let wrapped = r#"{"name":"a","outputSchema":{"x-fastmcp-wrap-result":true}}"#;
        assert_eq!(of(wrapped, "-- python server.py"), Some(Sdk::FastMcp));
        assert_eq!(
            of("{}", "-- /usr/bin/node dist/index.js"),
            Some(Sdk::TypeScript)
        );
        assert_eq!(of("{}", "-- cargo run -q"), Some(Sdk::Rust));
        assert_eq!(named("{}", "rmcp", "-- ./orders"), Some(Sdk::Rust));
        assert_eq!(of("{}", "-- ./orders"), None);
        assert_eq!(of("{}", "-- python server.py"), None);
        assert_eq!(of("{}", "https://example.com/mcp"), None);
    }
}
