//! What the text and `structuredContent` say of each other.

mod counts;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::RandomState;
use std::ops::Range;

use super::profile::Profile::{Cost, HostCompat, Spec};
use super::result::{FactFields, MORE, clip, is_limit_name};
use super::rounding::is_rounded;
use super::rule::Severity::{Cost as Costs, Error, Info, Warning};
use super::rule::{Hits, PLACES, Rule, RuleCheck};
use super::tool::is_id_name;
use super::{CheckedResult, LocationPart};
use crate::queries::Parts;
use loupe_core::capture::{Fact, FactState, ResultData, is_wrapped};
use loupe_core::diff::digest;
use loupe_core::host::{ResultPart, ResultShape};
use loupe_core::json::{Doc, Node};
use loupe_core::number::number_of;

/// What these two say, others need not say in detail.
const SUMMARY: &str = "parity/only-summary-in-text";
const SHADOWS: &str = "parity/structured-shadows-text";

const HOSTS: &str = "the rules of hosts that show their models one part alone (hosts)";

pub(crate) static RULES: &[Rule] = &[
    Rule::new("parity/value-missing-in-text", &[(HostCompat, Warning)], RuleCheck::Answer(missing_in_text))
        .explanation("A value of `structuredContent` is in no text: the models of hosts that show the text alone do not learn it.")
        .fix("Add it to the text, or leave it out of the data if no model needs it.")
        .source("hosts that show the text alone (hosts)")
        .heuristic(),
    Rule::new("parity/value-missing-in-structured", &[(HostCompat, Warning)], RuleCheck::Answer(missing_in_structured))
        .explanation("The text says what `structuredContent` does not hold: the models of hosts that prefer the data do not learn it.")
        .fix("Add a field for it; advice on what to do next can be one too.")
        .source(HOSTS)
        .limit(4, "tokens of extra text at least")
        .heuristic(),
    Rule::new(SHADOWS, &[(HostCompat, Error)], RuleCheck::Answer(shadows))
        .explanation("`structuredContent` holds less than a fifth of what the text says: every host that prefers it loses nearly the whole answer.")
        .fix("Put the records into `structuredContent`, or leave it out.")
        .source("agno 9764")
        .limit(20, "percent of the text's bytes")
        .heuristic(),
    Rule::new("parity/counts-disagree", &[(HostCompat, Error)], RuleCheck::Answer(counts::counts_disagree))
        .explanation("Numbers that count the same thing differ: in the text, in the data, and the length of the list. A text that shows a part, and says so, may name the whole.")
        .fix("Take all of them from one place; `totalCount` is what matches, `count` what is returned.")
        .source("models, which believe a total")
        .heuristic(),
    Rule::new("parity/has-more-disagrees", &[(HostCompat, Warning)], RuleCheck::Answer(counts::has_more))
        .explanation("The data says that there is more, or that there is not, against its own counts or the words of the text.")
        .fix("Work it out from the total and what was returned.")
        .source("models, which stop or go on by it")
        .heuristic(),
    Rule::new("parity/value-differs", &[(HostCompat, Error)], RuleCheck::Answer(value_differs))
        .explanation("The text has the field's label with another value. An error where a reader decodes the text at the same record; else a warning.")
        .fix("Generate text and data from the same record.")
        .source(HOSTS)
        .heuristic(),
    Rule::new("parity/value-reformatted", &[(HostCompat, Info)], RuleCheck::Answer(reformatted))
        .explanation("The text has the value in another form, such as a date in words, a phone number in other punctuation, or a number that is rounded.")
        .fix("None needed where a model can read both.")
        .source(HOSTS)
        .heuristic(),
    Rule::new("parity/text-duplicates-json", &[(Cost, Costs)], RuleCheck::Answer(text_duplicates))
        .explanation("The text is the JSON of `structuredContent` once more. The specification asks for it for old hosts; those that show both parts pay twice.")
        .fix("Send compact JSON, or a one-sentence summary.")
        .source("MCP specification, tools, structured content (SHOULD); kimi-code 3234"),
    Rule::new("parity/text-not-json", &[(Spec, Info)], RuleCheck::Answer(text_not_json))
        .explanation("`structuredContent` is there, and no text block holds its JSON, as the specification says it SHOULD.")
        .fix("Accept it knowingly where the text says the same in words, or add the JSON.")
        .source("MCP specification, tools, structured content"),
    Rule::new("parity/text-empty", &[(HostCompat, Error)], RuleCheck::Answer(text_empty))
        .explanation("`structuredContent` without any text: hosts that show the text alone show nothing.")
        .fix("Add a summary, or the JSON.")
        .source("action_mcp 181; Open WebUI"),
    Rule::new(SUMMARY, &[(HostCompat, Warning)], RuleCheck::Answer(only_summary))
        .explanation("The text is a sentence, and less than a fifth of the data is in it: hosts that show the text alone lose the data.")
        .fix("List what matters in the text.")
        .source("opencode 38923")
        .limit(20, "percent of the facts"),
    Rule::new("parity/structured-missing", &[], RuleCheck::Answer(structured_missing))
        .explanation("A reading tool answers without `structuredContent`: hosts and programs that read data have none.")
        .fix("Return the data as `structuredContent` too; the ledger shows what it costs.")
        .source("MCP specification, tools, structured content"),
    Rule::new("parity/structured-unwanted", &[], RuleCheck::Answer(structured_unwanted))
        .explanation("There is `structuredContent` where the text alone was to be sent: hosts that pass on both pay twice.")
        .fix("Return the text alone; the ledger shows what is saved.")
        .source(HOSTS),
    Rule::new("parity/record-order", &[(HostCompat, Warning)], RuleCheck::Answer(record_order))
        .explanation("The text has the records in another order than the data: “the second one” means two things.")
        .fix("Write both from one list.")
        .source(HOSTS)
        .heuristic(),
    Rule::new("parity/id-missing", &[(HostCompat, Warning)], RuleCheck::Answer(id_missing))
        .explanation("The text shows records without the id that other tools take: the model cannot go on from it.")
        .fix("`Name (ID: n)`.")
        .source("models, which call the next tool by the id")
        .heuristic(),
    Rule::new("parity/field-never-in-text", &[(HostCompat, Warning)], RuleCheck::Answers(never_in_text))
        .explanation("In several answers of the tool no value of this field ever reached the text.")
        .fix("Add the field to the text, or leave it out of the data if no model needs it.")
        .source(HOSTS)
        .heuristic(),
    Rule::new("parity/wrapped-duplicate", &[(Cost, Costs)], RuleCheck::Answer(check_wrapper))
        .explanation("`structuredContent` is the text once more as one string: no structure, and twice the tokens where both are shown.")
        .fix("Fields, or no `structuredContent` (in FastMCP `output_schema=None`).")
        .source("fastmcp 4637; canvas-mcp 271"),
    Rule::new("parity/text-in-data", &[(Cost, Costs)], RuleCheck::Answer(text_in_data))
        .explanation("A member of `structuredContent` is the text once more, beside data: `message`, `text`, `summary`. Hosts that show both parts show it twice; those that show `structuredContent` alone read it there only.")
        .fix("Leave the member out where your hosts show the text; keep it for those that show `structuredContent` alone.")
        .source(HOSTS),
];

/// The facts in some state of one field.
struct FieldFacts<'a> {
    path: String,
    count: u64,
    /// How many facts the field has in any state.
    total: u64,
    /// The first of them, at least one.
    nodes: Vec<Node<'a>>,
    /// Where the text tells the first, or another value in its place.
    place: Option<Range<usize>>,
    /// Whether a reader decoded what the text says of the first.
    is_decoded: bool,
}

/// The facts in some state by field.
fn fields<'a>(
    answer: &'a CheckedResult<'_>,
    data: &'a ResultData,
    is_it: impl Fn(&Fact, Node<'a>) -> bool,
) -> Vec<FieldFacts<'a>> {
    let FactFields { paths, of_fact } = answer.fact_fields();
    let field = |path: &String| FieldFacts {
        path: path.clone(),
        count: 0,
        total: 0,
        nodes: Vec::new(),
        place: None,
        is_decoded: false,
    };
    let mut order: Vec<FieldFacts<'a>> = paths.iter().map(field).collect();
    for (fact, at) in answer.fact_matches().facts.iter().zip(of_fact) {
        let (Some(node), Some(field)) = (data.doc.node(fact.node()), order.get_mut(*at as usize))
        else {
            continue;
        };
        field.total += 1;
        if is_it(fact, node) {
            field.count += 1;
            if field.nodes.is_empty() {
                (field.place, field.is_decoded) = (fact.place(), fact.is_decoded());
            }
            if field.nodes.len() < PLACES {
                field.nodes.push(node);
            }
        }
    }
    order.retain(|field| field.count > 0);
    order
}

/// Where the text has a number that is missing in it, rounded.
fn rounded(answer: &CheckedResult<'_>, fact: &Fact, node: Node<'_>) -> Option<Range<usize>> {
    match fact.place() {
        Some(place) => is_rounded(node.as_f64()?, &answer.text[place.clone()]).then_some(place),
        None => answer.rounded_numbers().find(node.as_f64()?),
    }
}

/// The share of the data's facts that the text tells, in percent.
fn coverage(answer: &CheckedResult<'_>) -> Option<u64> {
    let count = answer.fact_matches().count;
    (count.total > 0).then(|| count.told() * 100 / count.total)
}

fn is_summary(answer: &CheckedResult<'_>, percent: u64) -> bool {
    answer.text.chars().count() < 200
        && answer.fact_matches().count.total >= 4
        && coverage(answer).is_some_and(|share| share < percent)
}

fn missing_in_text(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(data) = answer
        .structured_data()
        .filter(|_| !answer.text.trim().is_empty() && answer.is_success())
    else {
        return;
    };
    if is_summary(answer, hits.limit_of(SUMMARY)) {
        return;
    }
    let is_envelope = |path: &str| {
        path.rsplit('/').next().is_some_and(|key| {
            MORE.contains(&key) || counts::TOTALS.contains(&key) || is_limit_name(key)
        })
    };
    let is_missing = |fact: &Fact, node: Node<'_>| {
        fact.state() == FactState::Missing && rounded(answer, fact, node).is_none()
    };
    for FieldFacts {
        path,
        count: missing,
        total,
        nodes,
        ..
    } in fields(answer, data, is_missing)
    {
        // What is about the page is said in words, if at all.
        if is_envelope(&path) {
            continue;
        }
        let often = if total == 1 {
            String::new()
        } else {
            format!(" in {missing} of {total}")
        };
        let hit = hits.report(format!("`{path}` missing from the text{often}"));
        for node in nodes {
            hit.at(answer.data_at(node));
        }
        hit.count = missing;
    }
}

fn never_in_text(answers: &[CheckedResult<'_>], hits: &mut Hits<'_>) {
    // By field: in how many results, how many values, and the place in the last answer.
    let mut never: BTreeMap<String, (u64, u64, super::Location)> = BTreeMap::new();
    let mut shown_paths = BTreeSet::new();
    for answer in answers
        .iter()
        .filter(|answer| answer.is_success() && !answer.text.trim().is_empty())
    {
        let Some(data) = answer.structured_data() else {
            continue;
        };
        shown_paths.extend(
            fields(answer, data, |fact, _| !fact.state().is_missing())
                .into_iter()
                .map(|field| field.path),
        );
        for FieldFacts {
            path,
            count: missing,
            nodes,
            ..
        } in fields(answer, data, |fact, _| fact.state().is_missing())
        {
            let node = nodes[0];
            let place = answer.data_at(node);
            let (often, values) = never
                .get(&path)
                .map_or((0, 0), |(often, values, _)| (*often, *values));
            never.insert(path, (often + 1, values + missing, place));
        }
    }
    for (path, (often, values, place)) in never
        .into_iter()
        .filter(|(path, (often, ..))| *often > 1 && !shown_paths.contains(path))
    {
        let hit = hits.report(format!(
            "`{path}` is in the text of none of {often} answers"
        ));
        hit.at(place);
        hit.count = values;
    }
}

fn value_differs(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(data) = answer.structured_data().filter(|_| answer.is_success()) else {
        return;
    };
    let differs = |fact: &Fact, node: Node<'_>| {
        fact.state() == FactState::Differs && rounded(answer, fact, node).is_none()
    };
    for FieldFacts {
        path,
        count: differs,
        nodes,
        place,
        is_decoded,
        ..
    } in fields(answer, data, differs)
    {
        let node = nodes[0];
        // Texts label many things with "ID".
        if path.ends_with("/id") {
            continue;
        }
        let stated = place
            .clone()
            .map(|place| clip(&answer.text[place]))
            .unwrap_or_default();
        let hit = hits.report(format!(
            "`{path}` is {}, the text says {stated}",
            clip(&node.raw_text())
        ));
        hit.at(answer.data_at(node));
        hit.count = differs;
        if !is_decoded {
            hit.as_severity(Warning);
        }
        if let Some(place) = place {
            hit.at(answer.text_at(place));
        }
    }
}

fn reformatted(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(data) = answer.structured_data().filter(|_| answer.is_success()) else {
        return;
    };
    for FieldFacts {
        path,
        count: reworded,
        nodes,
        ..
    } in fields(answer, data, |fact, _| fact.is_reworded())
    {
        let hit = hits.report(format!("`{path}` reformatted in the text"));
        for node in nodes {
            hit.at(answer.data_at(node));
        }
        hit.count = reworded;
    }
    let is_rounded = |fact: &Fact, node: Node<'_>| {
        fact.state().is_missing() && rounded(answer, fact, node).is_some()
    };
    for FieldFacts {
        path, count, nodes, ..
    } in fields(answer, data, is_rounded)
    {
        let hit = hits.report(format!("`{path}` stands in the text rounded"));
        for node in nodes {
            hit.at(answer.data_at(node));
        }
        hit.count = count;
    }
}

fn missing_in_structured(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let extra = answer.extra();
    if answer.structured_data().is_none()
        || !answer.is_success()
        || extra.pieces.is_empty()
        || answer.shadowed(hits.limit_of(SHADOWS)).is_some()
    {
        return;
    }
    // A word or two are a heading.
    if extra.tokens.o200k_base < hits.limit {
        return;
    }
    let hit = hits.report(format!(
        "{} of text are in no data",
        loupe_core::number::number_of(extra.tokens.o200k_base, "tokens")
    ));
    hit.count = extra.pieces.len() as u64;
    for piece in &extra.pieces {
        hit.at(answer.text_at(piece.range.clone()));
    }
}

fn shadows(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if let Some(share) = answer.shadowed(hits.limit).filter(|_| answer.is_success()) {
        hits.report(format!(
            "`structuredContent` holds {share}% of what the text says"
        ))
        .at_path(LocationPart::Structured, "");
    }
}

/// Whether a text block is the JSON of `structuredContent`, or the string that it is.
fn has_json_twin(answer: &CheckedResult<'_>) -> bool {
    let Some(value) = answer.structured() else {
        return false;
    };
    let seed = RandomState::new();
    let own = LazyCell::new(|| digest(value, &seed));
    let is_own = |root: Node<'_>| digest(root, &seed) == *own;
    if let Some(root) = answer.json_text().and_then(Doc::root) {
        return is_own(root);
    }
    let mut blocks = answer
        .subject
        .response
        .text_blocks()
        .filter_map(|block| block.text.as_deref());
    blocks.any(|text| {
        value.as_str().is_some_and(|own| own == text)
            || json_of(text, value).is_some_and(|doc| doc.root().is_some_and(is_own))
    })
}

/// The text as JSON, if it may be that of such a value.
fn json_of(text: &str, value: Node<'_>) -> Option<Doc> {
    let may_be = !value.is_container() || text.trim_start().starts_with(['{', '[']);
    may_be
        .then(|| Doc::parse(text.to_owned().into()))
        .filter(Doc::is_json)
}

fn text_duplicates(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if answer.structured_data().is_none() || !has_json_twin(answer) {
        return;
    }
    let tokens = answer.count(&answer.text).o200k_base;
    hits.report(format!(
        "the text is `structuredContent` once more{}",
        read_twice(answer, tokens)
    ))
    .at(answer.text_at(0..answer.text.len()))
    .set_fix(
        answer,
        Parts {
            text: None,
            ..answer.parts().clone()
        },
    );
}

/// What is sent twice costs twice where a host shows both parts: ": 14 tokens twice in the 4 hosts that show both".
fn read_twice(answer: &CheckedResult<'_>, tokens: u64) -> String {
    let both = answer
        .hosts
        .most_read(ResultShape::new(answer.subject))
        .both;
    if both == 0 {
        return String::new();
    }
    format!(
        ": {} twice in the {} that show both",
        number_of(tokens, "tokens"),
        number_of(both as u64, "hosts")
    )
}

fn text_not_json(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let is_told = !answer.text.trim().is_empty();
    let Some(value) = answer.structured() else {
        return;
    };
    // JSON that says something else is told as what differs in it.
    let is_json = |block: &str| {
        value.as_str().is_some_and(|own| own == block) || json_of(block, value).is_some()
    };
    let holds_json = || {
        answer.json_text().is_some()
            || answer
                .subject
                .response
                .text_blocks()
                .filter_map(|block| block.text.as_deref())
                .any(is_json)
    };
    if answer.is_success() && answer.structured_data().is_some() && is_told && !holds_json() {
        hits.report("no text block holds the JSON of `structuredContent`")
            .at(answer.text_at(0..0));
    }
}

fn text_empty(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if answer.structured().is_some()
        && answer.is_success()
        && answer.text.trim().is_empty()
        && answer.subject.capture.has_result()
    {
        hits.report("`structuredContent` without any text")
            .at_path(LocationPart::Structured, "");
    }
}

fn only_summary(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let is_told = answer.structured_data().is_some() && !answer.text.trim().is_empty();
    if answer.is_success() && is_told && is_summary(answer, hits.limit) {
        let share = coverage(answer).unwrap_or_default();
        hits.report(format!(
            "the text is “{}”, with {share}% of the data",
            clip(&answer.text)
        ))
        .at(answer.text_at(0..answer.text.len()));
    }
}

fn structured_missing(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if answer.is_success() && answer.is_read() && answer.structured().is_none() {
        hits.report("reads, and returns no `structuredContent`")
            .at_path(LocationPart::Result, "");
    }
}

fn structured_unwanted(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if answer.is_success() && answer.structured().is_some() {
        hits.report("returns `structuredContent`")
            .at_path(LocationPart::Structured, "");
    }
}

fn record_order(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if answer.structured_data().is_none() {
        return;
    }
    // By list: the records of two lists may alternate.
    let mut lists: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for record in &answer.fact_matches().records {
        let parent = answer
            .subject
            .data
            .as_ref()
            .and_then(|data| data.doc.node(record.node)?.parent());
        if let ([place], Some(parent)) = (&record.places[..], parent) {
            lists
                .entry(parent.index())
                .or_default()
                .push((record.node, place.start));
        }
    }
    for places in lists.values_mut() {
        places.sort_unstable();
        let turns = places
            .windows(2)
            .filter(|pair| pair[1].1 < pair[0].1)
            .count();
        if turns > 0 && places.len() >= 2 {
            let start = places[0].1;
            hits.report("the text has the records in another order than the data")
                .at(answer.text_at(start..start));
        }
    }
}

fn id_missing(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(data) = answer
        .structured_data()
        .filter(|_| !answer.text.trim().is_empty())
    else {
        return;
    };
    let own = &answer.subject.capture.tool.name;
    let mut taken: HashMap<String, &str> = HashMap::new();
    for (tool, names) in answer
        .arguments_of_tools()
        .iter()
        .filter(|(tool, _)| tool != own)
    {
        let ids = names.iter().filter(|name| is_id_name(name));
        taken.extend(ids.map(|name| (name.to_lowercase().replace('_', ""), *tool)));
    }
    if taken.is_empty() || is_summary(answer, hits.limit_of(SUMMARY)) {
        return;
    }
    for FieldFacts {
        path,
        count: missing,
        total,
        nodes,
        ..
    } in fields(answer, data, |fact, _| fact.state().is_missing())
    {
        let node = nodes[0];
        let key = node
            .key()
            .unwrap_or_default()
            .to_lowercase()
            .replace('_', "");
        let taker = match taken.get(&key) {
            Some(tool) => Some(*tool),
            // `id` of a company is `companyID` elsewhere.
            None if key == "id" => {
                let entity = entity(node, own);
                taken
                    .iter()
                    .filter(|(name, _)| entity.iter().any(|word| **name == format!("{word}id")))
                    .map(|(_, tool)| *tool)
                    .min()
            }
            None => None,
        };
        // It may stand within a longer word: `T-1001`.
        let is_shown = node
            .as_number()
            .is_some_and(|number| number.len() > 2 && answer.text.contains(number));
        if let Some(taker) = taker.filter(|_| !is_shown) {
            let hit = hits.report(format!("`{path}` is not in the text in {missing} of {total}, and `{taker}` takes such an id"));
            for node in nodes {
                hit.at(answer.data_at(node));
            }
        }
    }
}

/// What a record may be: the words of the members above it and of its tool's name, without their plural.
fn entity(node: Node<'_>, tool: &str) -> Vec<String> {
    let above = std::iter::successors(node.parent(), |node| node.parent())
        .filter_map(|node| node.key())
        .take(2);
    let words = above
        .flat_map(|key| super::tool::words(&key))
        .chain(super::tool::words(tool));
    words.map(|word| super::tool::singular(&word)).collect()
}

fn check_wrapper(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if is_wrapped(&answer.subject.response) {
        let tokens = answer.count(&answer.text).o200k_base;
        hits.report(format!(
            "`structuredContent` repeats the text as one string{}",
            read_twice(answer, tokens)
        ))
        .at_path(LocationPart::Structured, "")
        .set_fix(
            answer,
            Parts {
                structured: None,
                ..answer.parts().clone()
            },
        );
    }
}

/// A shorter text is repeated by chance.
const MIN_COPY: usize = 20;

fn text_in_data(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let text = answer.text.trim();
    let Some(root) = answer.structured().filter(|root| root.len() > 1) else {
        return;
    };
    if text.len() < MIN_COPY {
        return;
    }
    let is_copy = |node: &Node<'_>| node.as_str().is_some_and(|own| own.trim() == text);
    let Some(member) = root.children().find(is_copy) else {
        return;
    };
    let key = member.key().unwrap_or_default();
    let tokens = answer.count(text).o200k_base;
    let shape = ResultShape::new(answer.subject);
    let alone = answer.hosts.read_by(shape, ResultPart::Data).hosts;
    let needed = match alone {
        0 => String::new(),
        some => format!(
            "; the {} that show `structuredContent` alone read it there only",
            number_of(some as u64, "hosts")
        ),
    };
    let twice = read_twice(answer, tokens);
    hits.report(format!("`{key}` is the text once more{twice}{needed}"))
        .at(answer.data_at(member));
}
