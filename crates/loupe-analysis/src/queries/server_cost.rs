//! What a server costs before its first call: each tool definition by part, the instructions, and what cutting saves.
//!
//! Counted on the exact bytes of the definitions.

use std::borrow::Borrow;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::queries::query::{Ctx, Definitions, Query, Stop, Weigh};
use loupe_core::capture::{Server, Tool};
use loupe_core::json::{Doc, Kind, write};
use loupe_core::token::{self, Encoding, Tokens};

/// A longer description is cut to this many characters in "descriptions of at most …".
const DESCRIPTION_CHARS: usize = 200;

/// A part of a tool definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefinitionPart {
    Name,
    Title,
    Description,
    InputSchema,
    OutputSchema,
    Annotations,
    /// Brackets around the members, and members the specification does not name.
    Rest,
}

impl DefinitionPart {
    pub const ALL: &'static [DefinitionPart] = &[
        DefinitionPart::Name,
        DefinitionPart::Title,
        DefinitionPart::Description,
        DefinitionPart::InputSchema,
        DefinitionPart::OutputSchema,
        DefinitionPart::Annotations,
        DefinitionPart::Rest,
    ];

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            DefinitionPart::Name => "name",
            DefinitionPart::Title => "title",
            DefinitionPart::Description => "description",
            DefinitionPart::InputSchema => "input schema",
            DefinitionPart::OutputSchema => "output schema",
            DefinitionPart::Annotations => "annotations",
            DefinitionPart::Rest => "rest",
        }
    }

    fn new(key: &str) -> Self {
        match key {
            "name" => DefinitionPart::Name,
            "title" => DefinitionPart::Title,
            "description" => DefinitionPart::Description,
            "inputSchema" => DefinitionPart::InputSchema,
            "outputSchema" => DefinitionPart::OutputSchema,
            "annotations" => DefinitionPart::Annotations,
            _ => DefinitionPart::Rest,
        }
    }
}

/// One tool definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCost {
    pub name: String,
    /// Of the definition as sent; the sum of the parts.
    pub tokens: u64,
    pub bytes: u64,
    parts: [u64; 7],
}

impl ToolCost {
    /// Tokens of one part, its key and the comma before it included.
    pub fn part(&self, part: DefinitionPart) -> u64 {
        self.parts[part as usize]
    }
}

/// Something that could be left out of every definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// For people: "without output schemas".
    pub what: String,
    /// Tokens of all definitions together that it saves.
    pub saves: u64,
    /// How many definitions it changes.
    pub tools: usize,
}

/// What a model pays before its first call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerCost {
    pub encoding: Encoding,
    /// In the server's order.
    pub tools: Vec<ToolCost>,
    /// Tokens of the server's `instructions`.
    pub instructions: u64,
    /// The most saving first.
    pub cuts: Vec<Cut>,
}

impl ServerCost {
    /// Counts a server's tools and instructions.
    pub fn new(server: &Server, tools: &[impl Borrow<Tool>], encoding: Encoding) -> Self {
        let count = |text: &str| token::count(text).get(encoding);
        let definitions: Vec<Definition> = tools
            .iter()
            .map(|tool| Definition::of(&tool.borrow().raw))
            .collect();
        let mut listed = Vec::with_capacity(tools.len());
        for (tool, definition) in tools.iter().zip(&definitions) {
            listed.push(definition.cost(&tool.borrow().name, encoding));
        }
        let kinds: [(String, Change); 3] = [
            (
                "without output schemas".into(),
                Change::OmitKeys(DefinitionPart::OutputSchema),
            ),
            (
                "without annotations".into(),
                Change::OmitKeys(DefinitionPart::Annotations),
            ),
            (
                format!("with descriptions of at most {DESCRIPTION_CHARS} characters"),
                Change::ShortDescription,
            ),
        ];
        let mut cuts = Vec::new();
        for (what, change) in kinds {
            let mut cut = Cut {
                what,
                saves: 0,
                tools: 0,
            };
            for (definition, cost) in definitions.iter().zip(&listed) {
                let Some(text) = definition.changed(change) else {
                    continue;
                };
                cut.tools += 1;
                cut.saves += cost.tokens.saturating_sub(count(&text));
            }
            cuts.push(cut);
        }
        cuts.sort_by_key(|cut| std::cmp::Reverse(cut.saves));
        let instructions = count(server.instructions.as_deref().unwrap_or_default());
        Self {
            encoding,
            tools: listed,
            instructions,
            cuts,
        }
    }

    /// Tokens of all definitions.
    pub fn definitions(&self) -> u64 {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }

    /// The sum a model pays before its first call.
    pub fn before_first_call(&self) -> u64 {
        self.definitions() + self.instructions
    }
}

#[derive(Clone, Copy)]
enum Change {
    OmitKeys(DefinitionPart),
    ShortDescription,
}

/// A definition's text and where its members are in it.
struct Definition {
    text: String,
    /// A member with the comma before it, in order.
    members: Vec<(DefinitionPart, Range<usize>)>,
    /// The description, decoded, where it is longer than wanted.
    long_description: Option<String>,
}

impl Definition {
    fn of(raw: &Bytes) -> Self {
        let text = String::from_utf8_lossy(raw).into_owned();
        let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
        let mut definition = Self {
            text,
            members: Vec::new(),
            long_description: None,
        };
        let Some(root) = doc.root().filter(|root| root.kind() == Kind::Object) else {
            return definition;
        };
        let mut from = root.range().start + 1;
        for member in root.children() {
            let part = DefinitionPart::new(&member.key().unwrap_or_default());
            if let (DefinitionPart::Description, Some(description)) = (part, member.as_str())
                && description.chars().count() > DESCRIPTION_CHARS
            {
                definition.long_description = Some(description.into_owned());
            }
            definition.members.push((part, from..member.range().end));
            from = member.range().end;
        }
        definition
    }

    fn cost(&self, name: &str, encoding: Encoding) -> ToolCost {
        let mut cost = ToolCost {
            name: name.to_owned(),
            tokens: 0,
            bytes: self.text.len() as u64,
            parts: [0; 7],
        };
        let mut members = self.members.iter().peekable();
        token::each_start(&self.text, encoding, |at, _| {
            while members.peek().is_some_and(|(_, range)| range.end <= at) {
                members.next();
            }
            let part = members
                .peek()
                .filter(|(_, range)| range.contains(&at))
                .map_or(DefinitionPart::Rest, |(part, _)| *part);
            cost.parts[part as usize] += 1;
            cost.tokens += 1;
        });
        cost
    }

    /// The definition with the change; `None` where there is nothing to change.
    fn changed(&self, change: Change) -> Option<String> {
        let mut kept = Vec::with_capacity(self.members.len());
        let mut is_changed = false;
        for (part, range) in &self.members {
            let member = self
                .text
                .get(range.clone())?
                .trim_start_matches(|char: char| char == ',' || char.is_ascii_whitespace());
            match (change, &self.long_description) {
                (Change::OmitKeys(unwanted), _) if unwanted == *part => is_changed = true,
                (Change::ShortDescription, Some(long)) if *part == DefinitionPart::Description => {
                    let short: String = long.chars().take(DESCRIPTION_CHARS).collect();
                    kept.push(format!("\"description\":{}", write::string(&short)));
                    is_changed = true;
                }
                _ => kept.push(member.to_owned()),
            }
        }
        is_changed.then(|| format!("{{{}}}", kept.join(",")))
    }
}

/// What the definitions cost by part, in one of the encodings that are always counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerCostQuery(pub Encoding);

impl Query for ServerCostQuery {
    type Out = Arc<ServerCost>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let Definitions { server, tools } = &**cx.listing()?;
        Ok(Arc::new(ServerCost::new(server, tools, self.0)))
    }
}

/// The tokens of each definition as sent, in the server's order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolTokensQuery;

impl Query for ToolTokensQuery {
    type Out = Arc<[Tokens]>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let count = |tool: &Arc<Tool>| token::count(&String::from_utf8_lossy(&tool.raw));
        Ok(cx.listing()?.tools.iter().map(count).collect())
    }
}

impl Weigh for ServerCost {}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(instructions: Option<&str>) -> Server {
        Server {
            given_name: None,
            name: "s".into(),
            version: "1".into(),
            protocol_version: "2025-11-25".into(),
            transport: "in-process".into(),
            instructions: instructions.map(str::to_owned),
            source: String::new(),
            capabilities: None,
        }
    }

    #[test]
    fn parts_are_the_definition_and_cuts_are_counted_anew() {
        let raw = r#"{"name":"find","title":"Find it","description":"Looks.","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"number"}}},"annotations":{"readOnlyHint":true},"_meta":{"x":1}}"#;
        let bare = r#"{ "inputSchema" : {}, "name" : "b" }"#;
        let tools =
            [raw, bare, "not json"].map(|raw| Tool::read(Bytes::copy_from_slice(raw.as_bytes())));
        let cost = ServerCost::new(&server(Some("Ask first.")), &tools, Encoding::O200kBase);
        let whole = |text: &str| token::count(text).o200k_base;
        for (tool, raw) in cost.tools.iter().zip([raw, bare, "not json"]) {
            assert_eq!(tool.tokens, whole(raw));
            assert_eq!(
                DefinitionPart::ALL
                    .iter()
                    .map(|part| tool.part(*part))
                    .sum::<u64>(),
                tool.tokens
            );
        }
        assert!(
            DefinitionPart::ALL
                .iter()
                .all(|part| cost.tools[0].part(*part) > 0)
        );
        assert_eq!(cost.tools[1].part(DefinitionPart::Description), 0);
        assert_eq!(
            cost.before_first_call(),
            whole(raw) + whole(bare) + whole("not json") + whole("Ask first.")
        );
        let without = raw.replace(
            r#","outputSchema":{"type":"object","properties":{"n":{"type":"number"}}}"#,
            "",
        );
        assert_eq!(
            cost.cuts[0],
            Cut {
                what: "without output schemas".into(),
                saves: whole(raw) - whole(&without),
                tools: 1
            }
        );
        assert_eq!(cost.cuts.last().map(|cut| cut.tools), Some(0));
    }

    #[test]
    fn a_long_description_is_cut() {
        let raw = format!(
            r#"{{"description":"{}","name":"x"}}"#,
            "word é ".repeat(100)
        );
        let tools = [Tool::read(Bytes::from(raw))];
        let cost = ServerCost::new(&server(None), &tools, Encoding::Cl100kBase);
        assert!(
            cost.cuts[0].what.ends_with("200 characters") && cost.cuts[0].saves > 100,
            "{:?}",
            cost.cuts
        );
        assert_eq!(cost.instructions, 0);
    }
}
