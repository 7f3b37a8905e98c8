//! Names and descriptions of tools, and what they cost before the first call.

use std::collections::{BTreeMap, BTreeSet};

use super::profile::Profile::{Cost, HostCompat, MarkdownSafety};
use super::result::tokens;
use super::rule::Severity::{Cost as Costs, Error, Info, Warning};
use super::rule::{Hits, Rule, RuleCheck, RulePattern};
use super::tool::{text, words};
use super::{CheckedServer, CheckedTool};
use loupe_core::host::Hosts;
use loupe_core::number::{grouped, number_of};
use loupe_core::token::Tokens;

pub(crate) static RULES: &[Rule] = &[
    Rule::new("definition/no-description", &[(HostCompat, Warning)], RuleCheck::Tool(no_description))
        .explanation("The tool has no description: a model chooses by its name alone, and hosts that search tools search descriptions.")
        .fix("Say what it does and when to use it.")
        .source("MCP specification, Tool; hosts that load tools on demand (hosts)"),
    Rule::new("definition/short-description", &[(HostCompat, Info)], RuleCheck::Tool(short_description))
        .explanation("The description says too little for a model to choose by.")
        .fix("Say what it does and when to use it.")
        .source("hosts that load tools on demand (hosts)")
        .limit(20, "characters at least"),
    Rule::new("definition/description-is-name", &[(HostCompat, Warning)], RuleCheck::Tool(description_is_name))
        .explanation("The description is the name in other letters.")
        .fix("Say what it does and when to use it.")
        .source("hosts that load tools on demand (hosts)"),
    Rule::new("definition/invisible-characters", &[(MarkdownSafety, Error)], RuleCheck::Tool(invisible))
        .explanation("Characters that nobody sees and models read stand in the definition.")
        .fix("Remove the invisible characters.")
        .source("tool poisoning with Unicode tags, reported for MCP since 2025"),
    Rule::new("definition/speaks-to-the-model", &[(MarkdownSafety, Warning)], RuleCheck::Tool(speaks))
        .explanation("The description gives orders to the model that have nothing to do with the tool.")
        .fix("Say what the tool does; leave the rest to the host.")
        .source("tool poisoning, Invariant Labs 2025-04")
        .heuristic(),
    Rule::new("definition/near-duplicate", &[(HostCompat, Info)], RuleCheck::Server(near_duplicate))
        .explanation("Two tools have nearly the same description: a model cannot tell them apart.")
        .fix("Say what the one does and the other does not.")
        .source("models, which choose by descriptions")
        .limit(90, "percent of the same words")
        .heuristic(),
    Rule::new("definition/repeated-description", &[(Cost, Costs)], RuleCheck::Tool(repeated))
        .explanation("The tool's description and that of an argument say the same word for word: a model reads it twice before every call.")
        .fix("Say it once: of the argument in its own description, of the tool in the tool's.")
        .source("measured on the definition itself")
        .limit(4, "words at least"),
    Rule::new("definition/unseen-by-models", &[(Cost, Costs)], RuleCheck::Server(unseen))
        .explanation("Parts of the definitions that few hosts pass on to their models: output schemas, icons, `_meta`. `annotations` and titles do not count: hosts read them to decide whether to ask, and to show the tool.")
        .fix("Keep an `outputSchema` that clients validate by, without descriptions that only a model would read; leave out what no client of yours reads.")
        .source("what each host passes on (hosts)")
        .limit(25, "percent of the definitions"),
    Rule::new("definition/instructions-cost", &[(Cost, Costs)], RuleCheck::Server(instructions))
        .explanation("Long instructions: every session in which a host passes them on pays for them. What is saved is what is beyond the limit.")
        .fix("What concerns all tools, in short.")
        .source("what each host passes on (hosts)")
        .limit(2_048, "characters"),
];

fn description<'a>(tool: &'a CheckedTool<'_>) -> &'a str {
    tool.tool.description.as_deref().unwrap_or_default().trim()
}

fn no_description(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    if description(tool).is_empty() && !tool.tool.raw.is_empty() {
        hits.report("has no description").in_definition("");
    }
}

fn short_description(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let length = description(tool).chars().count() as u64;
    if length > 0 && length < hits.limit {
        hits.report(format!("the description is “{}”", description(tool)))
            .in_definition("/description");
    }
}

fn description_is_name(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    if !description(tool).is_empty() && words(description(tool)) == words(&tool.tool.name) {
        hits.report("the description is the name")
            .in_definition("/description");
    }
}

fn invisible(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let is_hidden = |char: char| matches!(char, '\u{200b}' | '\u{2060}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}');
    for text in super::result::leaves_of(&tool.doc) {
        if text.as_str().is_some_and(|text| text.contains(is_hidden)) {
            hits.report(format!("invisible characters at `{}`", text.pointer()))
                .in_definition(text.pointer());
        }
    }
}

fn speaks(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    static PATTERN: RulePattern = RulePattern::new(
        r"(?i)<(?:important|system|secret|instructions?)>|\bdo not (?:tell|mention|inform|reveal)\b.{0,40}\buser\b|\b(?:ignore|disregard) (?:all |any )?(?:previous|prior|other) instructions\b|\bwithout (?:telling|informing|notifying) the user\b",
    );
    if let Some(found) = PATTERN.find(description(tool)) {
        hits.report(format!(
            "speaks to the model: “{}”",
            super::result::clip(found.as_str())
        ))
        .in_definition("/description");
    }
}

/// Tools beyond this are not compared with one another.
const COMPARED: usize = 300;

fn near_duplicate(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    let sets: Vec<(&str, BTreeSet<String>)> = server
        .tools
        .iter()
        .take(COMPARED)
        .map(|tool| {
            (
                tool.name.as_str(),
                words(tool.description.as_deref().unwrap_or_default())
                    .into_iter()
                    .collect(),
            )
        })
        .collect();
    for (at, (name, own)) in sets
        .iter()
        .enumerate()
        .filter(|(_, (_, own))| own.len() >= 6)
    {
        for (other, theirs) in &sets[..at] {
            let shared = own.intersection(theirs).count() as u64;
            let all = own.union(theirs).count() as u64;
            if shared * 100 >= all * hits.limit && other != name {
                hits.report_for(name, format!("the description is nearly that of `{other}`"))
                    .in_definition("/description");
            }
        }
    }
}

fn repeated(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let least = hits.limit;
    let is_long = |said: &str| said.split_whitespace().count() as u64 >= least;
    let plain = |said: &str| said.trim().trim_end_matches('.').to_owned();
    let own = plain(description(tool));
    let (mut rest, mut saves, mut repeating) = (own.clone(), Tokens::default(), Vec::new());
    for argument in tool.arguments() {
        let Some(said) = text(argument, "description").filter(|said| is_long(said)) else {
            continue;
        };
        let said = plain(&said);
        if is_long(&own)
            && let Some(shorter) = without(&said, &own)
        {
            saves = saves.plus(tokens(&said).less(tokens(&shorter)));
        } else if let Some(shorter) = without(&rest, &said) {
            rest = shorter;
        } else {
            continue;
        }
        repeating.push(argument);
    }
    let arguments = match repeating[..] {
        [] => return,
        [one] => format!("`{}`", one.key().unwrap_or_default()),
        _ => number_of(repeating.len() as u64, "arguments"),
    };
    let saves = saves.plus(tokens(&own).less(tokens(&rest)));
    let hit = hits.report(format!(
        "the descriptions of the tool and of {arguments} repeat each other"
    ));
    hit.in_definition("/description").saves(saves);
    for argument in repeating {
        hit.in_definition(format!("{}/description", argument.pointer()));
    }
}

/// A text without these words of it; `None` where they are not in it as whole words.
fn without(text: &str, words: &str) -> Option<String> {
    let at = text.match_indices(words).map(|(at, _)| at).find(|at| {
        let is_apart = |char: Option<char>| !char.is_some_and(char::is_alphanumeric);
        let (before, after) = (&text[..*at], &text[at + words.len()..]);
        is_apart(before.chars().next_back()) && is_apart(after.chars().next())
    })?;
    Some([&text[..at], &text[at + words.len()..]].concat())
}

fn unseen(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    let (mut listed, mut seen) = (Tokens::default(), Tokens::default());
    let mut parts: BTreeMap<String, u64> = BTreeMap::new();
    for tool in server.tools {
        let raw = String::from_utf8_lossy(&tool.raw);
        let doc = loupe_core::json::Doc::parse(tool.raw.clone());
        let mut kept = Vec::new();
        for member in doc.root().into_iter().flat_map(|root| root.children()) {
            let key = member.key().unwrap_or_default().into_owned();
            if matches!(
                &*key,
                "name" | "title" | "description" | "inputSchema" | "annotations"
            ) {
                kept.push(format!("\"{key}\":{}", member.raw_text()));
            } else {
                *parts.entry(key).or_default() += 1;
            }
        }
        listed = listed.plus(tokens(&raw));
        seen = seen.plus(tokens(&format!("{{{}}}", kept.join(","))));
    }
    let unseen = listed.less(seen).o200k_base;
    if unseen * 100 > listed.o200k_base * hits.limit && unseen > 200 {
        let parts: Vec<_> = parts.keys().map(|key| format!("`{key}`")).collect();
        let message = format!(
            "{} of {} tokens of the definitions reach few models: {}",
            grouped(unseen),
            grouped(listed.o200k_base),
            parts.join(", ")
        );
        hits.report(message);
    }
}

fn instructions(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    let text = server
        .server
        .and_then(|server| server.instructions.as_deref())
        .unwrap_or_default();
    let length = text.chars().count() as u64;
    if length > hits.limit {
        let short: String = text
            .chars()
            .take(usize::try_from(hits.limit).unwrap_or(usize::MAX))
            .collect();
        let all = tokens(text);
        hits.report(format!(
            "the instructions have {}, {}",
            number_of(length, "characters"),
            number_of(all.o200k_base, "tokens")
        ))
        .saves(all.less(tokens(&short)));
    }
}
