//! What a host's model does not get of a server's definitions: tools that never arrive, and texts and schemas that arrive
//! changed. By the host's rules; where a rule that would matter is not known, that is said.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::definition::{description, full_name, kept_bytes, name_room, whole_description};
use super::rules::{DefinitionRules, Evidence, Handling, Host, InstructionsRule, KeptTool, Pages};
use super::schema;
pub use super::schema::dangling;
use crate::capture::Tool;
use crate::number::{grouped, number_of};

/// Keywords that are named of those a host takes out, and the characters of one: a server may write anything there.
const MAX_KEYWORDS: usize = 6;
const MAX_KEYWORD: usize = 30;

/// What a server lists, as a host that connects to it gets it.
#[derive(Clone, Copy, Debug)]
pub struct ListedServer<'a> {
    /// The name that the host's configuration gives the server.
    pub server: &'a str,
    pub tools: &'a [Arc<Tool>],
    pub instructions: Option<&'a str>,
}

/// One way in which something is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum LossKind {
    /// Tools after the first page of `tools/list`.
    Pages,
    TooManyTools,
    /// Characters of a name that are refused.
    NameCharacters,
    NameLength,
    SameName,
    /// A tool without a description.
    NoDescription,
    InputReference,
    OutputReference,
    BooleanSchema,
    Description,
    Instructions,
    Keywords,
    SchemaSize,
}

impl LossKind {
    /// The word in files and reports.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it is about tools that do not arrive or are called otherwise; else about what is in a definition.
    pub fn is_of_tools(self) -> bool {
        self <= Self::BooleanSchema
    }

    /// What a server can do about it, in one sentence.
    pub const fn fix(self) -> &'static str {
        match self {
            Self::Pages => "List all tools on one page, or those that matter first.",
            Self::TooManyTools => "Offer fewer tools, or those that matter first.",
            Self::NameCharacters => "Use only letters, digits, `_` and `-` in tool names.",
            Self::NameLength => {
                "Shorten the tool's name, or the server's name in the configuration."
            }
            Self::SameName => {
                "Give tools names that differ in more than characters that hosts replace."
            }
            Self::NoDescription => "Describe the tool.",
            Self::InputReference | Self::OutputReference => {
                "Put what `$ref` names under `$defs` of the same schema, or in its place."
            }
            Self::BooleanSchema => "Write `{}` for a property that may be anything.",
            Self::Description => "Shorten the description, or say first what must not be lost.",
            Self::Instructions => {
                "Say in the tools' descriptions what a model must know; not every host passes on `instructions`."
            }
            Self::Keywords => "Say in the parameter's description what the keyword says.",
            Self::SchemaSize => {
                "Make the input schema smaller, or say what matters in the tool's description."
            }
        }
    }
}

/// How much is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum LossEffect {
    /// No tool of the server arrives, or no request does.
    EveryTool,
    /// The tools named do not arrive.
    Tools,
    /// They arrive changed, or a text is lost.
    Changed,
    /// The host's rule is not known.
    NotKnown,
}

impl LossEffect {
    /// The word in files and reports.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One thing that a host's model does not get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLoss {
    pub kind: LossKind,
    pub effect: LossEffect,
    /// Positions of the tools that it is about; none where it is about the server.
    pub tools: Vec<usize>,
    /// For people, a few words: "6 of 56: after page 1".
    pub text: String,
    pub evidence: LossEvidence,
}

/// How a rule is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LossEvidence {
    pub evidence: Evidence,
    /// The day on which it was checked, `YYYY-MM-DD`.
    pub checked: String,
    /// Where it is from; the host's own sources where absent.
    pub source: Option<String>,
}

/// What a host makes of the server's `instructions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownInstructions {
    /// The text that the model gets; `None` where it gets none.
    pub text: Option<String>,
    /// Bytes of the text that was sent, which are kept.
    pub kept: usize,
}

impl Host {
    /// What its model does not get of these definitions: what is worst first.
    pub fn losses(&self, listing: &ListedServer<'_>) -> Vec<HostLoss> {
        let mut found = Losses::new(self, listing);
        found.pages();
        found.limit();
        found.names();
        found.missing_descriptions();
        found.references();
        found.boolean_schemas();
        found.descriptions();
        found.instructions();
        found.schemas();
        let mut all = found.all;
        all.sort_by_key(|loss| (loss.effect, loss.kind));
        all
    }

    /// Of those the ones of one kind that are known.
    pub fn known_losses(&self, listing: &ListedServer<'_>, kind: LossKind) -> Vec<HostLoss> {
        let mut found = Losses {
            with_unknown: false,
            ..Losses::new(self, listing)
        };
        match kind {
            LossKind::Pages => found.pages(),
            LossKind::TooManyTools => found.limit(),
            LossKind::NameCharacters | LossKind::NameLength | LossKind::SameName => found.names(),
            LossKind::InputReference | LossKind::OutputReference => found.references(),
            LossKind::NoDescription => found.missing_descriptions(),
            LossKind::BooleanSchema => found.boolean_schemas(),
            LossKind::Description => found.descriptions(),
            LossKind::Instructions => found.instructions(),
            LossKind::SchemaSize if self.definition.input_schema_max.is_none() => {}
            LossKind::Keywords | LossKind::SchemaSize => found.schemas(),
        }
        found
            .all
            .retain(|loss| loss.kind == kind && loss.effect != LossEffect::NotKnown);
        found.all
    }

    /// The server's `instructions` as its model gets them; `None` where that is not known.
    pub fn instructions(&self, sent: &str) -> Option<ShownInstructions> {
        let rules = &self.definition;
        if rules.instructions_passed? != InstructionsRule::Passed {
            return Some(ShownInstructions {
                text: None,
                kept: 0,
            });
        }
        let kept = rules.instructions_max.map_or(sent.len(), |max| {
            kept_bytes(sent, max, rules.instructions_unit)
        });
        let notice = rules.instructions_notice.as_deref();
        let notice = notice.filter(|_| kept < sent.len()).unwrap_or_default();
        Some(ShownInstructions {
            text: Some(format!("{}{notice}", &sent[..kept])),
            kept,
        })
    }

    /// The description that its model gets, the host's notice with it, and what is removed from its end; `None` where it
    /// is whole.
    pub fn description_cut(&self, tool: &Tool, server: &str) -> Option<(String, String)> {
        let (shown, is_cut) = description(&self.definition, tool, server);
        let shown = shown.filter(|_| is_cut)?;
        let notice = self.definition.description_notice.as_deref();
        let kept = shown.len() - notice.map_or(0, str::len);
        let whole = whole_description(&self.definition, tool, server)?;
        Some((shown, whole.get(kept..)?.to_owned()))
    }

    /// An input schema as its model gets it; `None` where the rule cannot be applied.
    pub fn input_schema(&self, sent: &str) -> Option<String> {
        let shown = self.shown_schema(sent);
        shown.is_known.then_some(shown.text)
    }

    /// How the rule of this key is known, and the versions that it is known for, where those are not all.
    fn rule_evidence(&self, key: &str) -> (LossEvidence, Option<&str>) {
        match self.definition.evidence.get(key) {
            Some(own) => (
                LossEvidence {
                    evidence: own.evidence,
                    checked: own.checked.clone(),
                    source: Some(own.source.clone()),
                },
                own.versions.as_deref(),
            ),
            None => (
                LossEvidence {
                    evidence: self.evidence,
                    checked: self.checked.clone(),
                    source: None,
                },
                None,
            ),
        }
    }
}

struct Losses<'a> {
    host: &'a Host,
    listing: &'a ListedServer<'a>,
    /// Whether schemas are looked at of which a host's rule is not known.
    with_unknown: bool,
    all: Vec<HostLoss>,
}

impl<'a> Losses<'a> {
    fn new(host: &'a Host, listing: &'a ListedServer<'a>) -> Self {
        Self {
            host,
            listing,
            with_unknown: true,
            all: Vec::new(),
        }
    }

    fn rules(&self) -> &DefinitionRules {
        &self.host.definition
    }

    /// `key` names the rule, for its evidence.
    fn add(
        &mut self,
        key: &str,
        kind: LossKind,
        effect: LossEffect,
        tools: Vec<usize>,
        text: String,
    ) {
        let (evidence, versions) = self.host.rule_evidence(key);
        let (effect, text) = match versions {
            Some(versions) => (
                LossEffect::NotKnown,
                format!("{text} in {versions}; now not known"),
            ),
            None => (effect, text),
        };
        self.all.push(HostLoss {
            kind,
            effect,
            tools,
            text,
            evidence,
        });
    }

    /// What is lost by how the host handles these tools: the effect, and the words for it.
    fn lost_by(
        &self,
        handling: Option<Handling>,
        tools: usize,
        why: &str,
    ) -> Option<(LossEffect, String)> {
        let all = self.listing.tools.len();
        Some(match handling {
            Some(Handling::Refused) => (
                LossEffect::EveryTool,
                format!("all {}: {why}", grouped(all as u64)),
            ),
            Some(Handling::Omitted) => (
                LossEffect::Tools,
                format!(
                    "{} of {}: {why}",
                    grouped(tools as u64),
                    grouped(all as u64)
                ),
            ),
            None => (LossEffect::NotKnown, format!("not known: {why}")),
            Some(_) => return None,
        })
    }

    fn pages(&mut self) {
        let all = self.listing.tools.len();
        let tools = self.listing.tools.iter().enumerate();
        let hides = self.rules().visibility == Some(true);
        let later: Vec<usize> = tools
            .filter(|(_, tool)| tool.is_after_first_page && !(hides && tool.is_for_app_alone))
            .map(|(at, _)| at)
            .collect();
        if later.is_empty() {
            return;
        }
        let (effect, text) = match self.rules().pages {
            Some(Pages::All) => return,
            Some(Pages::First) => (
                LossEffect::Tools,
                format!(
                    "{} of {}: after page 1",
                    grouped(later.len() as u64),
                    grouped(all as u64)
                ),
            ),
            None => (LossEffect::NotKnown, "not known: after page 1".to_owned()),
        };
        self.add("pages", LossKind::Pages, effect, later, text);
    }

    fn limit(&mut self) {
        let all = self.listing.tools.len();
        let Some(max) = self.rules().tools_max.filter(|max| all > *max) else {
            return;
        };
        let why = format!("more than {} tools", grouped(max as u64));
        if let Some((effect, text)) = self.lost_by(self.rules().tools_over, all - max, &why) {
            self.add(
                "tools_max",
                LossKind::TooManyTools,
                effect,
                (max..all).collect(),
                text,
            );
        }
    }

    fn names(&mut self) {
        let rules = self.rules();
        if let (Some(charset), None) = (&rules.name_charset, &rules.name_replace) {
            let is_bad = |tool: &Arc<Tool>| tool.name.chars().find(|char| !charset.contains(*char));
            let tools = self.model_tools(|tool| is_bad(tool).is_some());
            if let Some(first) = tools
                .first()
                .and_then(|at| is_bad(&self.listing.tools[*at]))
            {
                let why = format!("a name has “{first}”");
                if let Some((effect, text)) = self.lost_by(rules.name_bad, tools.len(), &why) {
                    self.add("name_bad", LossKind::NameCharacters, effect, tools, text);
                }
            }
        }
        let rules = self.rules();
        let names: Vec<(usize, String)> = self
            .model_tools(|_| true)
            .into_iter()
            .filter_map(|at| {
                let tool = &self.listing.tools[at];
                Some((at, full_name(rules, tool, self.listing.server)?))
            })
            .collect();
        let room = name_room(rules, self.listing.server).unwrap_or(usize::MAX);
        let is_over = |(_, name): &&(usize, String)| name.chars().count() > room;
        let over: Vec<usize> = names.iter().filter(is_over).map(|(at, _)| *at).collect();
        let max = rules.name_max.unwrap_or_default() as u64;
        if !over.is_empty() {
            let count = number_of(over.len() as u64, "names");
            let found = match rules.name_over {
                Some(Handling::Cut) => Some((LossEffect::Changed, format!("{count} cut at {max}"))),
                Some(Handling::Hashed | Handling::Shortened) => {
                    Some((LossEffect::Changed, format!("{count} shortened to {max}")))
                }
                handling => self.lost_by(handling, over.len(), &format!("a name over {max}")),
            };
            if let Some((effect, text)) = found {
                self.add("name_max", LossKind::NameLength, effect, over, text);
            }
        }
        let rules = self.rules();
        let is_cut = rules.name_over == Some(Handling::Cut);
        let mut stays: HashMap<String, usize> = HashMap::new();
        let mut same = Vec::new();
        for (at, name) in names {
            let name = if is_cut {
                name.chars().take(room).collect()
            } else {
                name
            };
            // Twice the same name in the list is the server's own fault.
            let tools = self.listing.tools;
            match stays.get(&name).copied() {
                Some(first) if tools[first].name == tools[at].name => {}
                Some(first) => match rules.name_kept {
                    Some(KeptTool::First) => same.push(at),
                    Some(KeptTool::Last) => {
                        same.push(first);
                        stays.insert(name, at);
                    }
                    None => same.extend([first, at]),
                },
                None => drop(stays.insert(name, at)),
            }
        }
        if same.is_empty() {
            return;
        }
        same.sort_unstable();
        same.dedup();
        let why = "two names become equal";
        let found = match rules.name_same {
            Some(Handling::Sent) => Some((LossEffect::Changed, why.to_owned())),
            // Which of them is lost is not known.
            Some(Handling::Omitted) if rules.name_kept.is_none() => {
                Some((LossEffect::Changed, format!("{why}, one is lost")))
            }
            handling => self.lost_by(handling, same.len(), why),
        };
        if let Some((effect, text)) = found {
            self.add("name_same", LossKind::SameName, effect, same, text);
        }
    }

    /// The positions of tools that the host lists, and of which this is so.
    fn listed_tools(&self, is_one: impl Fn(&Arc<Tool>) -> bool) -> Vec<usize> {
        let reads_first = self.rules().pages == Some(Pages::First);
        let tools = self.listing.tools.iter().enumerate();
        tools
            .filter(|(_, tool)| !(reads_first && tool.is_after_first_page) && is_one(tool))
            .map(|(at, _)| at)
            .collect()
    }

    /// Of those, the ones that are for the model.
    fn model_tools(&self, is_one: impl Fn(&Arc<Tool>) -> bool) -> Vec<usize> {
        let hides = self.rules().visibility == Some(true);
        self.listed_tools(|tool| !(hides && tool.is_for_app_alone) && is_one(tool))
    }

    fn references(&mut self) {
        let is_dangling = |schema: &Option<bytes::Bytes>| {
            schema
                .as_ref()
                .is_some_and(|schema| dangling(&String::from_utf8_lossy(schema)).is_some())
        };
        let rules = self.rules();
        let of_output = (
            "output_ref",
            LossKind::OutputReference,
            rules.output_ref,
            "dangling $ref in an outputSchema",
        );
        let of_input = (
            "input_ref",
            LossKind::InputReference,
            rules.input_ref,
            "dangling $ref in an inputSchema",
        );
        for (key, kind, handling, why) in [of_input, of_output] {
            let tools = self.listed_tools(|tool| {
                is_dangling(match kind {
                    LossKind::InputReference => &tool.input_schema,
                    _ => &tool.output_schema,
                })
            });
            if tools.is_empty() {
                continue;
            }
            if let Some((effect, text)) = self.lost_by(handling, tools.len(), why) {
                self.add(key, kind, effect, tools, text);
            }
        }
    }

    fn missing_descriptions(&mut self) {
        let rules = self.rules();
        let is_bare = |tool: &Arc<Tool>| {
            let description = tool.description.as_deref().unwrap_or_default();
            description.trim().is_empty()
        };
        // A host that says nothing of it passes the tool on.
        let Some(handling) = rules.description_missing else {
            return;
        };
        let tools = self.model_tools(is_bare);
        if tools.is_empty() {
            return;
        }
        let found = self.lost_by(Some(handling), tools.len(), "no description");
        if let Some((effect, text)) = found {
            let key = "description_missing";
            self.add(key, LossKind::NoDescription, effect, tools, text);
        }
    }

    fn boolean_schemas(&mut self) {
        let has_one = |tool: &Arc<Tool>| {
            tool.input_schema
                .as_ref()
                .is_some_and(|schema| schema::has_boolean(&String::from_utf8_lossy(schema)))
        };
        let tools = self.listed_tools(has_one);
        if tools.is_empty() {
            return;
        }
        let why = "true or false for a property's schema";
        if let Some((effect, text)) = self.lost_by(self.rules().boolean_schema, tools.len(), why) {
            self.add(
                "boolean_schema",
                LossKind::BooleanSchema,
                effect,
                tools,
                text,
            );
        }
    }

    fn descriptions(&mut self) {
        let Some(max) = self.rules().description_max else {
            return;
        };
        let (rules, server) = (self.rules(), self.listing.server);
        let cut = self.model_tools(|tool| description(rules, tool, server).1);
        if cut.is_empty() {
            return;
        }
        let text = format!(
            "{} cut at {}",
            number_of(cut.len() as u64, "descriptions"),
            grouped(max)
        );
        self.add(
            "description_max",
            LossKind::Description,
            LossEffect::Changed,
            cut,
            text,
        );
    }

    fn instructions(&mut self) {
        let Some(sent) = self.listing.instructions.filter(|text| !text.is_empty()) else {
            return;
        };
        let (effect, text) = match self.rules().instructions_passed {
            None => (LossEffect::NotKnown, "not known: instructions".to_owned()),
            Some(InstructionsRule::Dropped) => (LossEffect::Changed, "instructions".to_owned()),
            Some(InstructionsRule::Option) => (
                LossEffect::Changed,
                "instructions, unless turned on".to_owned(),
            ),
            Some(InstructionsRule::Passed) => {
                let kept = self
                    .host
                    .instructions(sent)
                    .map_or(sent.len(), |shown| shown.kept);
                if kept == sent.len() {
                    return;
                }
                let max = grouped(self.rules().instructions_max.unwrap_or_default());
                (LossEffect::Changed, format!("instructions cut at {max}"))
            }
        };
        let key = match self.rules().instructions_passed {
            Some(InstructionsRule::Passed) => "instructions_max",
            _ => "instructions_passed",
        };
        self.add(key, LossKind::Instructions, effect, Vec::new(), text);
    }

    fn schemas(&mut self) {
        let mut keywords = BTreeSet::new();
        let (mut changed, mut unknown, mut undescribed) = (Vec::new(), Vec::new(), Vec::new());
        for at in self.model_tools(|tool| tool.input_schema.is_some()) {
            let sent = self.listing.tools[at]
                .input_schema
                .as_deref()
                .unwrap_or_default();
            let sent = String::from_utf8_lossy(sent);
            let shown = self.host.shown_schema(&sent);
            if !shown.is_known && self.with_unknown && schema::has_more_than_basics(&sent) {
                unknown.push(at);
            }
            if shown.is_undescribed {
                undescribed.push(at);
            }
            if !shown.dropped.is_empty() {
                changed.push(at);
                keywords.extend(shown.dropped);
            }
        }
        if !unknown.is_empty() {
            let text = "not known: input schemas".to_owned();
            self.add(
                "input_schema",
                LossKind::Keywords,
                LossEffect::NotKnown,
                unknown,
                text,
            );
        }
        if !changed.is_empty() {
            let named: Vec<String> = keywords
                .iter()
                .take(MAX_KEYWORDS)
                .map(|keyword| keyword.chars().take(MAX_KEYWORD).collect())
                .collect();
            let more = match keywords.len() - named.len() {
                0 => String::new(),
                more => format!(" and {} more", grouped(more as u64)),
            };
            let tools = number_of(changed.len() as u64, "tools");
            let text = format!("{}{more}: {tools}", named.join(", "));
            self.add(
                "input_schema",
                LossKind::Keywords,
                LossEffect::Changed,
                changed,
                text,
            );
        }
        if !undescribed.is_empty() {
            let max = grouped(self.rules().input_schema_max.unwrap_or_default() as u64);
            let schemas = number_of(undescribed.len() as u64, "schemas");
            let text = format!("descriptions in {schemas} over {max} bytes");
            self.add(
                "input_schema_max",
                LossKind::SchemaSize,
                LossEffect::Changed,
                undescribed,
                text,
            );
        }
    }
}
