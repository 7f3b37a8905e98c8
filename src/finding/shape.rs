//! How the data is laid out, and what that costs.

use std::collections::{BTreeMap, BTreeSet};

use pulldown_cmark::{Event, HeadingLevel, Tag, TagEnd};
use regex::Regex;
use serde_json::Value;

use super::answer::{RulePattern, clip, leaves, nodes, saved, tokens, wild};
use super::rule::Profile::{
    AutoreplyCompact, AutotaskDual, AutotaskStrict, Cost, DelegatorJsonFirst, DialCodeblock, HostCompat, MarkdownSafety, Spec,
};
use super::rule::Severity::{Cost as Costs, Error, Info, Warning};
use super::rule::{Hits, Rule, RuleCheck};
use super::{CheckedAnswer, CheckedTool, FoundIn};
use crate::analysis::Parts;
use crate::capture::{FactState, Payload};
use crate::format::ledger::Row;
use crate::format::{self, FORMATS};
use crate::json::{Kind, Node};
use crate::number::{grouped, number_of};

pub static RULES: &[Rule] = &[
    Rule::new("shape/pretty-json", &[(Cost, Costs), (DelegatorJsonFirst, Info)], RuleCheck::Answer(pretty_json))
        .means("JSON with line ends and indents, which no model needs.")
        .fix("Write it without white space.")
        .source("measured: 21–44 % of pretty JSON"),
    Rule::new("shape/repeated-keys", &[(Cost, Costs)], RuleCheck::Answer(repeated_keys))
        .means("A list of like records repeats every key in each of them.")
        .fix("Columns and rows, or a table, where the reader can take it.")
        .source("measured: 27–39 % on flat lists")
        .limit(5, "records"),
    Rule::new("shape/format-not-cheapest", &[(Cost, Info)], RuleCheck::Answer(not_cheapest))
        .means("Another format says the same in fewer tokens. Silent under 5 %.")
        .fix("Consider it; the ledger has all of them.")
        .source("the ledger, formats whose round trip is lossless")
        .limit(5, "percent"),
    Rule::new("shape/nested-in-table", &[(Cost, Warning)], RuleCheck::Answer(nested_in_table))
        .means("Deep records in a format for flat ones cost more than compact JSON.")
        .fix("JSON for what is nested.")
        .source("measured: TOON +10 % on a nested feed"),
    Rule::new("shape/json-first", &[(DelegatorJsonFirst, Warning)], RuleCheck::Answer(json_first))
        .means("A tool that reads answers with neither JSON as text nor `structuredContent`.")
        .fix("JSON first; Markdown on request.")
        .source("delegator"),
    Rule::new("shape/json-in-fence", &[(DelegatorJsonFirst, Info), (HostCompat, Warning)], RuleCheck::Answer(json_in_fence))
        .means("The data is JSON in a fence only: the text as a whole parses as nothing.")
        .fix("Bare JSON, or `structuredContent`.")
        .source("delegator; clients that parse the text, such as those that read JSON text again (hosts)"),
    Rule::new("shape/raw-json-text", &[(DialCodeblock, Warning), (AutoreplyCompact, Warning)], RuleCheck::Answer(raw_json))
        .means("The text is JSON, which dial wants as blocks and autoreply as lines.")
        .fix("`Field: Value` lines; the ledger shows what they cost.")
        .source("dial, autoreply"),
    Rule::new("shape/no-code-block", &[(DialCodeblock, Warning)], RuleCheck::Answer(no_code_block))
        .means("Records as `Field: Value` lines without a fence around each.")
        .fix("A fence for each record, an empty line between.")
        .source("dial"),
    Rule::new("shape/invented-value", &[(HostCompat, Error)], RuleCheck::Answer(invented))
        .means("The text shows a value for what the data does not have: a missing salary as `$0.00`.")
        .fix("`N/A`, or leave the line out.")
        .source("dial, a missing salary")
        .heuristic(),
    Rule::new("shape/absence-mark-mixed", &[(Spec, Info)], RuleCheck::Answer(absence))
        .means("What is missing is marked in several ways, or by what a program prints by mistake (`undefined`, `[object Object]`, `NaN`).")
        .fix("One mark throughout.")
        .source("dial, `N/A` throughout"),
    Rule::new("shape/summary-last", &[(DelegatorJsonFirst, Warning)], RuleCheck::Answer(summary_last))
        .means("The totals stand after the lists: what is cut off is the end, and models weigh the beginning.")
        .fix("The summary first.")
        .source("delegator"),
    Rule::new("shape/empty-section", &[(Cost, Costs), (DelegatorJsonFirst, Warning), (AutoreplyCompact, Warning)], RuleCheck::Answer(empty_section))
        .means("Empty lists and objects say nothing that their absence does not. Fields that the `outputSchema` requires are exempt.")
        .fix("Leave them out.")
        .source("delegator, autoreply"),
    Rule::new("shape/emoji-heading", &[(Cost, Costs), (DelegatorJsonFirst, Warning)], RuleCheck::Answer(emoji_heading))
        .means("Emoji in headings cost one to three tokens each.")
        .fix("Plain headings.")
        .source("delegator"),
    Rule::new("shape/emoji-only-status", &[(HostCompat, Warning)], RuleCheck::Answer(emoji_only))
        .means("A status by an emoji alone: a person who does not see colours and a model that does not know the code cannot tell.")
        .fix("A word beside it: `🔴 Critical`.")
        .source("autotask-dual, icon and word"),
    Rule::new("shape/no-status-icon", &[(AutotaskDual, Info)], RuleCheck::Answer(no_icon))
        .means("A status without its icon.")
        .fix("`✅ Active`.")
        .source("autotask-dual"),
    Rule::new("shape/verbose-metrics", &[(AutoreplyCompact, Costs)], RuleCheck::Answer(verbose_metrics))
        .means("Metrics on a line each.")
        .fix("One line: `👍 14  ♻️ 7`.")
        .source("autoreply; `14 likes` costs 2 tokens, `👍 14` 3"),
    Rule::new("shape/iso-time", &[(AutoreplyCompact, Warning), (AutotaskDual, Info)], RuleCheck::Answer(iso_time))
        .means("A time in ISO form where people read it.")
        .fix("`1h ago`.")
        .source("autoreply; autotask-dual for recent times"),
    Rule::new("shape/relative-time-only", &[(HostCompat, Warning), (AutotaskStrict, Warning)], RuleCheck::Answer(relative_only))
        .means("“2 hours ago” with no date in the text or the data: wrong as soon as the answer is read again.")
        .fix("The time itself beside it, or in the data.")
        .source("transcripts that hosts keep; autotask-strict, ISO dates")
        .heuristic(),
    Rule::new("shape/time-no-zone", &[(HostCompat, Warning)], RuleCheck::Answer(no_zone))
        .means("The data has a time in UTC, the text a time of day without its zone.")
        .fix("Name the zone.")
        .source("autotask-dual, `toLocaleString`")
        .heuristic(),
    Rule::new("shape/epoch", &[(HostCompat, Info)], RuleCheck::Answer(epoch))
        .means("A time as a bare number of seconds or milliseconds, which models convert badly.")
        .fix("ISO 8601.")
        .source("models, which do not calculate reliably")
        .heuristic(),
    Rule::new("shape/heading-levels", &[(AutoreplyCompact, Warning)], RuleCheck::Answer(heading_levels))
        .means("No heading of the first level, or one that skips a level.")
        .fix("H1 the result, H2 each item, H3 and H4 replies.")
        .source("autoreply"),
    Rule::new("shape/heading-overhead", &[(Cost, Costs)], RuleCheck::Answer(heading_overhead))
        .means("A large share of the tokens are marks: headings, rules, bold.")
        .fix("Fewer of them.")
        .source("delegator's complaint")
        .limit(15, "percent"),
    Rule::new("shape/opaque-ids", &[(Cost, Costs)], RuleCheck::Answer(opaque))
        .means("UUIDs, DIDs, CIDs and hashes take a large share of the tokens, and no tool takes them.")
        .fix("Leave them out, or return them on request.")
        .source("autoreply, technical data in a block of its own")
        .limit(15, "percent"),
    Rule::new("shape/escaped-unicode", &[(Cost, Costs)], RuleCheck::Answer(escaped_unicode))
        .means("`\\uNNNN` for characters that can stand as they are.")
        .fix("Write UTF-8 (in Python `ensure_ascii=False`).")
        .source("measured: +17 % on posts"),
    Rule::new("shape/json-in-json", &[(Cost, Warning)], RuleCheck::Answer(json_in_json))
        .means("A text of the data is JSON itself, so that every quote is escaped.")
        .fix("The value in its place.")
        .source("measured: escapes are tokens of their own"),
    Rule::new("shape/inconsistent-values", &[(Spec, Info)], RuleCheck::Answer(inconsistent))
        .means("Values that contradict each other: `50% (0/2 steps)`.")
        .fix("Work one out from the other.")
        .source("delegator, `50% (0/2 steps)`")
        .heuristic(),
    Rule::new("shape/dual-overhead", &[(AutotaskDual, Costs)], RuleCheck::Answer(dual_overhead))
        .means("What the text adds to `structuredContent`, for hosts that show both.")
        .fix("Weigh it against hosts that show the text alone.")
        .source("autotask-dual claims +15–30 % and +75 %; measured +29 % to +117 %"),
    Rule::new("shape/field-format-drift", &[(DialCodeblock, Warning)], RuleCheck::Answer(format_drift))
        .means("The records of one answer are not written alike: a field has another label, stands elsewhere, or is left out where another record marks it as missing.")
        .fix("The same labels in the same order in every record, and one mark for what is missing.")
        .source("dial, `Field: Value` with consistent labels")
        .heuristic(),
    Rule::new("shape/details-block", &[(MarkdownSafety, Warning)], RuleCheck::Answer(details))
        .means("A string stands within `<details>`, where HTML and Markdown mix.")
        .fix("Data that is the server's own alone goes in there.")
        .source("autoreply, technical data"),
];

/// Answers above this are not written anew by single rules.
const REWRITE_BYTES: usize = 1 << 20;

fn is_markdown(answer: &CheckedAnswer<'_>) -> bool {
    answer.json_text().is_none() && !answer.text.is_empty()
}

fn pretty_json(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let Some(doc) = answer.json_text() else { return };
    let Some(root) = doc.root().filter(|root| root.is_container() && answer.text.contains('\n')) else { return };
    let compact = compacted(root);
    if compact.len() < answer.text.len() {
        hits.say(format!(
            "{} bytes of JSON, {} without white space",
            grouped(answer.text.len() as u64),
            grouped(compact.len() as u64)
        ))
        .at(answer.text_at(0..answer.text.len()))
        .mends(answer, Parts { text: Some(compact), ..answer.parts() });
    }
}

/// A value without white space, all else as it stands.
fn compacted(root: Node<'_>) -> String {
    let mut out = String::with_capacity(root.raw().len());
    let (mut is_string, mut is_escaped) = (false, false);
    for char in root.raw_text().chars() {
        if is_string {
            out.push(char);
            match char {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => is_string = false,
                _ => {}
            }
        } else if !char.is_ascii_whitespace() {
            is_string = char == '"';
            out.push(char);
        }
    }
    out
}

fn is_sent_as_json(answer: &CheckedAnswer<'_>) -> bool {
    answer.structured_payload().is_some() || answer.json_text().is_some()
}

fn repeated_keys(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let Some(list) = answer.records().filter(|list| list.len() as u64 >= hits.limit && is_sent_as_json(answer)) else { return };
    let mut keys: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for key in list.children().take(1_000).flat_map(Node::children).filter_map(Node::raw_key) {
        *keys.entry(key.to_vec()).or_default() += 1;
    }
    let records = list.len().min(1_000);
    let shared = keys.values().filter(|count| **count * 10 >= records * 8).count();
    if keys.is_empty() || shared * 10 < keys.len() * 8 {
        return;
    }
    let (Some(json), Some(table)) = (answer.written("json"), answer.written("json-table")) else { return };
    let (now, mut then) = (answer.count(&json), answer.count(&table));
    let (mut table, mut title) = (table, "JSON, columns and rows");
    // `structuredContent` is JSON; a text may be what it likes, and can tell what some records lack.
    if answer.structured().is_none() && json.len() < REWRITE_BYTES {
        for format in ["toon", "csv"].into_iter().filter_map(format::by_id) {
            let row = Row::measure(format, answer.subject);
            let is_better = row.comes_back() && row.tokens.o200k_base < then.o200k_base;
            if let Some(written) = answer.written(format.id()).filter(|_| is_better) {
                (table, title, then) = (written, format.title(), row.tokens);
            }
        }
    }
    let saves = saved(now, then);
    // Under one token in twenty nobody rewrites a server.
    if saves.o200k_base * 20 > now.o200k_base {
        let message = format!(
            "{} records with the same {} keys: {} tokens of compact JSON, {} as {title}",
            list.len(),
            shared,
            grouped(now.o200k_base),
            grouped(then.o200k_base)
        );
        hits.say(message).at(answer.data_at(list)).mends(answer, answer.parts_with(&table));
    }
}

fn not_cheapest(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let is_whole = answer.subject.is_data_alone() && answer.subject.capture.wire_len() < REWRITE_BYTES;
    if !is_whole || !answer.is_success() {
        return;
    }
    let sent = answer.sent();
    let rows = FORMATS.iter().filter(|format| !format.is_as_sent()).map(|format| Row::measure(*format, answer.subject));
    let best = rows.filter(|row| row.is_available() && row.loses_nothing()).min_by_key(|row| row.tokens.o200k_base);
    let Some(best) = best else { return };
    let saves = saved(sent, best.tokens);
    if saves.o200k_base * 100 > sent.o200k_base * hits.limit && saves.o200k_base >= 10 {
        let title = format::by_id(best.format).map_or(best.format, |format| format.title());
        let percent = (saves.o200k_base * 200 + sent.o200k_base) / (2 * sent.o200k_base.max(1));
        hits.say(format!(
            "{title} says the same in {} tokens, {percent}% less than what is sent",
            grouped(best.tokens.o200k_base)
        ))
        .at_path(FoundIn::Result, "")
        .mends(answer, Parts { text: answer.written(best.format), structured: None });
    }
}

fn nested_in_table(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let reader = answer.subject.payload.as_ref().and_then(Payload::reader).map(|reader| reader.id);
    let is_flat = matches!(reader, Some("csv" | "tsv" | "toon" | "markdown-table"));
    let Some(payload) = answer.subject.payload.as_ref().filter(|_| is_flat) else { return };
    let is_deep = nodes(payload.root()).any(|node| node.depth() > 3);
    let Some(json) = answer.written("json").filter(|_| is_deep) else { return };
    let (now, then) = (answer.count(&answer.text), answer.count(&json));
    if now.o200k_base > then.o200k_base {
        hits.say(format!("{} tokens, compact JSON has {}", now.o200k_base, then.o200k_base))
            .at(answer.text_at(0..0))
            .mends(answer, Parts { text: Some(json), ..answer.parts() });
    }
}

fn json_first(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    if answer.is_success() && answer.is_read() && answer.structured().is_none() && answer.json_text().is_none() {
        hits.say("reads, and answers with no JSON").at(answer.text_at(0..0));
    }
}

fn json_in_fence(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let is_fenced = answer
        .subject
        .payload
        .as_ref()
        .and_then(Payload::text_source)
        .is_some_and(|source| source.reader.id == "fences" && source.data.is_verbatim());
    if is_fenced && answer.structured().is_none() && answer.text.contains("```json") {
        hits.say("the data is JSON in a fence").at(answer.text_at(0..0));
    }
}

fn raw_json(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    if answer.is_success() && answer.json_text().and_then(|doc| doc.root()).is_some_and(Node::is_container) {
        hits.say("the text is JSON").at(answer.text_at(0..0));
    }
}

fn no_code_block(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let reader = answer.subject.payload.as_ref().and_then(Payload::reader).map(|reader| reader.id);
    if answer.is_success() && reader == Some("key-value") && !answer.text.contains("```") {
        hits.say("records without a fence").at(answer.text_at(0..0));
    }
}

/// The fences that hold `Label: value` lines, each with its labels in order.
fn fenced_records(answer: &CheckedAnswer<'_>) -> Vec<(std::ops::Range<usize>, Vec<String>)> {
    let text = answer.markdown_text();
    let is_fence = |event: &Event<'_>| matches!(event, Event::Start(Tag::CodeBlock(_)));
    let labels = |range: &std::ops::Range<usize>| {
        let lines = text[range.clone()].lines().filter_map(|line| line.split_once(": "));
        lines.map(|(label, _)| label.trim().to_owned()).filter(|label| !label.is_empty() && label.len() <= 40).collect::<Vec<_>>()
    };
    let fences = answer.markdown().filter(|(event, _)| is_fence(event)).map(|(_, range)| range);
    fences.map(|range| (range.clone(), labels(&range))).filter(|(_, labels)| labels.len() > 1).collect()
}

fn format_drift(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let records = fenced_records(answer);
    let Some((_, first)) = records.first() else { return };
    for (range, labels) in &records[1..] {
        let at = |label: &String| first.iter().position(|other| other == label);
        let shared: Vec<usize> = labels.iter().filter_map(at).collect();
        // Records of another kind have other fields.
        if shared.len() * 2 < first.len() {
            continue;
        }
        let what = if let Some(label) = labels.iter().find(|label| at(label).is_none()) {
            format!("a record has `{label}`, the first has not")
        } else if let Some(label) = first.iter().find(|label| !labels.contains(label)) {
            format!("a record has no `{label}`, the first has")
        } else if !shared.is_sorted() {
            "a record has its fields in another order than the first".to_owned()
        } else {
            continue;
        };
        hits.say(what).at(answer.text_at(range.clone()));
    }
}

/// `companyType` as `company type`.
fn label(key: &str) -> String {
    super::tool::words(key).join(" ")
}

/// The values beside labels: `Label: value`, `- **Label**: value`, `| **Label** | value |`.
fn labelled(answer: &CheckedAnswer<'_>) -> Vec<(String, std::ops::Range<usize>)> {
    let text = answer.markdown_text();
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end();
        let at = start;
        start += line.len();
        let marks: &[char] = &['-', '*', '•', '|', ' ', '>'];
        let Some((head, value)) =
            body.split_once(':').or_else(|| body.trim_end_matches('|').trim_start_matches('|').split_once('|'))
        else {
            continue;
        };
        let name = head.trim_matches(marks);
        let value_text = value.trim_matches(marks);
        if name.is_empty() || name.len() > 40 || value_text.is_empty() {
            continue;
        }
        let from = at + (value_text.as_ptr() as usize - line.as_ptr() as usize);
        found.push((name.to_lowercase(), from..from + value_text.len()));
    }
    found
}

const INVENTED: [&str; 6] = ["$0.00", "0", "0.00", "false", "1970-01-01", "Jan 1, 1970"];

fn invented(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    if !is_markdown(answer) {
        return;
    }
    let values = labelled(answer);
    if let Some(payload) = answer.structured_payload() {
        // Keys that are null somewhere and a zero nowhere.
        let mut empty: BTreeSet<String> = BTreeSet::new();
        let mut given: BTreeSet<String> = BTreeSet::new();
        for leaf in leaves(payload.root()) {
            let key = label(&leaf.key().unwrap_or_default());
            let is_zero = leaf.as_f64() == Some(0.0) || leaf.as_bool() == Some(false);
            if leaf.is_null() {
                empty.insert(key);
            } else if is_zero {
                given.insert(key);
            }
        }
        for (name, place) in &values {
            let said = &answer.text[place.clone()];
            if empty.contains(name) && !given.contains(name) && INVENTED.contains(&said) {
                hits.say(format!("`{name}` is missing in the data, and the text says {said}")).at(answer.text_at(place.clone()));
            }
        }
        return;
    }
    let marks = values.iter().any(|(_, place)| &answer.text[place.clone()] == "N/A");
    for (name, place) in values.iter().filter(|(_, place)| marks && &answer.text[place.clone()] == "$0.00") {
        hits.say(format!("`{name}` is $0.00 where others are N/A: a missing value?"))
            .at(answer.text_at(place.clone()))
            .as_severity(Warning);
    }
}

fn absence(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    if !is_markdown(answer) {
        return;
    }
    let mut marks: BTreeSet<&str> = BTreeSet::new();
    for (_, place) in labelled(answer) {
        let said = &answer.text[place.clone()];
        if matches!(said, "undefined" | "[object Object]" | "NaN" | "Invalid Date") {
            hits.say(format!("`{said}` as a value")).at(answer.text_at(place)).as_severity(Error);
        } else if matches!(said, "N/A" | "null" | "None" | "—" | "n/a") {
            marks.insert(said);
        }
    }
    if marks.len() > 1 {
        let all = marks.into_iter().collect::<Vec<_>>().join(", ");
        hits.say(format!("what is missing is marked as {all}")).at(answer.text_at(0..0));
    }
}

fn is_total(key: &str) -> bool {
    let lower = key.to_lowercase();
    lower.starts_with("summary") || lower.starts_with("total") || lower == "count"
}

fn summary_last(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let Some(root) = answer.exact_payload().map(Payload::root) else { return };
    let mut after_list = false;
    for member in root.children() {
        if after_list && member.key().is_some_and(|key| is_total(&key)) {
            hits.say(format!("`{}` stands after the list", member.key().unwrap_or_default())).at(answer.data_at(member));
        }
        after_list |= member.kind() == Kind::Array && !member.is_empty();
    }
}

/// The data as a value of its own, to be changed and written anew.
fn value(answer: &CheckedAnswer<'_>) -> Option<Value> {
    let payload = answer.exact_payload().filter(|payload| payload.root().raw().len() < REWRITE_BYTES)?;
    serde_json::from_str(&payload.root().raw_text()).ok()
}

/// Changes every value of a tree, the inner ones first; a member for which it says no goes.
fn change(value: &mut Value, keep: &mut impl FnMut(Option<&str>, &mut Value) -> bool) {
    match value {
        Value::Array(list) => list.retain_mut(|item| {
            change(item, keep);
            keep(None, item)
        }),
        Value::Object(members) => members.retain(|key, member| {
            change(member, keep);
            keep(Some(key), member)
        }),
        _ => {}
    }
}

/// The answer with changed data, laid out as it is sent; `None` where the data is too large.
pub fn changed(answer: &CheckedAnswer<'_>, mut keep: impl FnMut(Option<&str>, &mut Value) -> bool) -> Option<Parts> {
    let mut data = value(answer)?;
    change(&mut data, &mut keep);
    let is_pretty = |text: &String| text.trim().contains('\n');
    let mut parts = answer.parts_with(&data.to_string());
    if let Some(text) = parts.text.as_mut().filter(|_| answer.json_text().is_some() && is_pretty(&answer.text)) {
        *text = format!("{data:#}");
    }
    Some(parts)
}

fn empty_section(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let tool = CheckedTool::of(&answer.subject.capture.tool, &answer.server);
    let required: BTreeSet<_> = tool
        .output()
        .into_iter()
        .flat_map(nodes)
        .filter(|node| node.parent().is_some_and(|parent| parent.key().is_some_and(|key| key == "required")))
        .filter_map(|node| Some(node.as_str()?.into_owned()))
        .collect();
    let Some(payload) = answer.exact_payload().filter(|_| is_sent_as_json(answer)) else { return };
    let is_empty =
        |node: &Node<'_>| node.is_container() && node.is_empty() && node.key().is_some_and(|key| !required.contains(&*key));
    let mut first = None;
    let mut count = 0;
    for node in nodes(payload.root()).filter(is_empty) {
        first.get_or_insert(node);
        count += 1;
    }
    // One empty list where nothing was found is the answer.
    let Some(first) = first.filter(|first| count > 1 || first.parent().is_some_and(|parent| parent.len() > 3)) else { return };
    let mended = changed(answer, |key, value| {
        let is_empty = value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(serde_json::Map::is_empty);
        !(is_empty && key.is_some_and(|key| !required.contains(key)))
    });
    let hit = hits.say(format!(
        "{} say nothing, such as `{}`",
        number_of(count, "empty lists and objects"),
        wild(&first.pointer_from(payload.root().index()))
    ));
    hit.at(answer.data_at(first));
    mended.map(|parts| hit.mends(answer, parts));
}

pub fn is_emoji(char: char) -> bool {
    matches!(u32::from(char), 0x2600..=0x27bf | 0x1f000..=0x1faff | 0x2b00..=0x2bff | 0x2139)
}

fn emoji_heading(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let text = answer.markdown_text();
    let mut mended = answer.text.clone();
    let mut places = Vec::new();
    for (event, range) in answer.markdown() {
        if let Event::Start(Tag::Heading { .. }) = event {
            let heading = text[range.clone()].trim_end();
            if heading.contains(is_emoji) {
                let plain: String = heading.chars().filter(|char| !is_emoji(*char) && *char != '\u{fe0f}').collect();
                let plain = plain.replace("  ", " ");
                places.push((range.start..range.start + heading.len(), plain));
            }
        }
    }
    for (place, plain) in places.iter().rev() {
        mended.replace_range(place.clone(), plain);
    }
    let many = places.len();
    for (at, (place, _)) in places.into_iter().enumerate() {
        let hit = hits.say("emoji in a heading");
        hit.at(answer.text_at(place));
        if at + 1 == many {
            hit.mends(answer, Parts { text: Some(std::mem::take(&mut mended)), ..answer.parts() });
        }
    }
}

/// Values under a label `Status`, and cells of a column of that name.
fn statuses(answer: &CheckedAnswer<'_>) -> Vec<std::ops::Range<usize>> {
    if !is_markdown(answer) {
        return Vec::new();
    }
    let text = answer.markdown_text();
    let mut found: Vec<_> =
        labelled(answer).into_iter().filter(|(name, _)| name == "status" || name == "state").map(|(_, place)| place).collect();
    let (mut head, mut column, mut at) = (true, None, 0);
    for (event, range) in answer.markdown() {
        match event {
            Event::Start(Tag::Table(_)) => (head, column) = (true, None),
            Event::Start(Tag::TableRow | Tag::TableHead) => at = 0,
            Event::End(TagEnd::TableHead) => head = false,
            Event::Start(Tag::TableCell) => {
                let cell = text[range.clone()].trim_matches(['|', ' ']);
                if head && matches!(&*cell.to_lowercase(), "status" | "state") {
                    column = Some(at);
                } else if !head && column == Some(at) && !cell.is_empty() {
                    let start = range.start + text[range.clone()].find(cell).unwrap_or(0);
                    found.push(start..start + cell.len());
                }
                at += 1;
            }
            _ => {}
        }
    }
    found
}

fn emoji_only(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    for place in statuses(answer) {
        let said = &answer.text[place.clone()];
        if said.contains(is_emoji) && !said.chars().any(char::is_alphanumeric) {
            hits.say(format!("the status is {said} alone")).at(answer.text_at(place));
        }
    }
}

fn no_icon(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    for place in statuses(answer) {
        if !answer.text[place.clone()].contains(is_emoji) {
            hits.say("a status without an icon").at(answer.text_at(place));
        }
    }
}

fn verbose_metrics(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    static METRIC: RulePattern = RulePattern::new(|| {
        Regex::new(r"(?im)^\s*[-*]?\s*\**(likes|reposts|replies|quotes|views|comments|shares)\**:\s*(\d+)\s*$").ok()
    });
    let Some(metric) = &*METRIC else { return };
    let found: Vec<_> = metric.captures_iter(answer.markdown_text()).take(10_000).collect();
    if found.len() < 2 {
        return;
    }
    // The lines that follow one another become one.
    let mut mended = String::new();
    let mut from = 0;
    for said in &found {
        let Some(all) = said.get(0) else { continue };
        let between = &answer.text[from..all.start()];
        if from == 0 || !between.trim().is_empty() {
            mended.push_str(between);
        }
        from = all.end();
        let icon = match &*said[1].to_lowercase() {
            "likes" => "👍",
            "reposts" | "shares" => "♻️",
            _ => "💬",
        };
        mended.push_str(&format!("{icon} {}  ", &said[2]));
    }
    mended.push_str(&answer.text[from..]);
    let place = found[0].get(0).map_or(0..0, |all| all.range());
    hits.say("metrics on a line each").at(answer.text_at(place)).mends(answer, Parts { text: Some(mended), ..answer.parts() });
}

fn iso_time(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    static ISO: RulePattern = RulePattern::new(|| Regex::new(r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}").ok());
    let Some(iso) = &*ISO else { return };
    for found in iso.find_iter(answer.markdown_text()).take(1_000).filter(|_| is_markdown(answer)) {
        hits.say("a time in ISO form").at(answer.text_at(found.range()));
    }
}

fn relative_only(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    static RELATIVE: RulePattern =
        RulePattern::new(|| Regex::new(r"(?i)\b\d+ ?(?:minutes?|mins?|hours?|days?|weeks?|months?|[mhdw]) ago\b").ok());
    static DATE: RulePattern = RulePattern::new(|| {
        Regex::new(r"(?i)\b\d{4}-\d{2}-\d{2}|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2},? \d{4}\b").ok()
    });
    let (Some(relative), Some(date)) = (&*RELATIVE, &*DATE) else { return };
    let Some(first) = relative.find(answer.markdown_text()) else { return };
    let is_dated = date.is_match(&answer.text) || answer.structured().is_some_and(|value| date.is_match(&value.raw_text()));
    if !is_dated {
        hits.say(format!("“{}”, and no date anywhere", first.as_str())).at(answer.text_at(first.range()));
    }
}

fn no_zone(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let Some(payload) = answer.structured_payload() else { return };
    static UTC: RulePattern = RulePattern::new(|| Regex::new(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z$").ok());
    static TIME: RulePattern = RulePattern::new(|| Regex::new(r"\b\d{1,2}:\d{2}").ok());
    static ZONE: RulePattern = RulePattern::new(|| Regex::new(r"UTC|GMT|\bZ\b|\dZ|[+-]\d{2}:?\d{2}\b").ok());
    let (Some(iso), Some(time), Some(zone)) = (&*UTC, &*TIME, &*ZONE) else { return };
    for fact in answer.matched().facts.iter().filter(|fact| fact.state == FactState::Reworded) {
        let (Some(node), Some(place)) = (payload.doc.node(fact.node()), fact.place()) else { continue };
        let line = answer.text[place.start..].lines().next().unwrap_or_default();
        if node.as_str().is_some_and(|text| iso.is_match(&text)) && time.is_match(line) && !zone.is_match(line) {
            hits.say("a time of day without its zone; the data has it in UTC").at(answer.text_at(place)).at(answer.data_at(node));
        }
    }
}

fn epoch(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let Some(payload) = answer.exact_payload() else { return };
    for leaf in leaves(payload.root()).filter(|leaf| leaf.kind() == Kind::Number) {
        let is_time = leaf.as_i64().is_some_and(|number| {
            (1_000_000_000..2_200_000_000).contains(&number) || (1_000_000_000_000..2_200_000_000_000).contains(&number)
        });
        let words = super::tool::words(&leaf.key().unwrap_or_default());
        let says = ["time", "timestamp", "date", "at", "created", "updated", "modified", "expires", "mtime", "ctime", "ts"];
        if is_time && words.iter().any(|word| says.contains(&word.as_str())) {
            hits.say(format!("`{}` is a time as a bare number", wild(&leaf.pointer_from(payload.root().index()))))
                .at(answer.data_at(leaf));
        }
    }
}

fn heading_levels(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    if !is_markdown(answer) || !answer.is_success() {
        return;
    }
    let mut last: Option<HeadingLevel> = None;
    for (event, range) in answer.markdown() {
        let Event::Start(Tag::Heading { level, .. }) = event else { continue };
        let from = last.map_or(0, |level| level as usize);
        if last.is_none() && level != HeadingLevel::H1 {
            hits.say("the first heading is not of the first level").at(answer.text_at(range));
        } else if level as usize > from + 1 {
            hits.say("a heading skips a level").at(answer.text_at(range));
        }
        last = Some(level);
    }
}

fn heading_overhead(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    if !is_markdown(answer) || answer.text.len() > REWRITE_BYTES || !answer.subject.renders() {
        return;
    }
    let all = answer.count(&answer.text);
    let plain: Vec<_> = answer
        .text
        .lines()
        .filter(|line| !matches!(line.trim(), "---" | "***" | "___"))
        .map(|line| {
            let trimmed = line.trim_start();
            let body = if trimmed.starts_with('#') { trimmed.trim_start_matches('#').trim_start() } else { line };
            body.replace("**", "")
        })
        .collect();
    let plain = plain.join("\n");
    let saves = saved(all, tokens(&plain));
    if all.o200k_base >= 50 && saves.o200k_base * 100 > all.o200k_base * hits.limit {
        let percent = saves.o200k_base * 100 / all.o200k_base;
        hits.say(format!("{percent}% of the tokens are marks of headings, rules and bold"))
            .at(answer.text_at(0..0))
            .mends(answer, Parts { text: Some(plain), ..answer.parts() });
    }
}

fn is_opaque(text: &str) -> bool {
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_uuid = text.len() == 36 && text.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && hex(&text.replace('-', ""));
    is_uuid
        || text.starts_with("did:")
        || text.starts_with("bafy")
        || text.starts_with("at://did:")
        || text.len() >= 32 && hex(text)
}

fn opaque(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let taken: BTreeSet<String> =
        answer.arguments_of_tools().iter().flat_map(|(_, names)| names.iter().map(|name| label(name))).collect();
    let is_taken = |key: &str| {
        taken.contains(&label(key))
            || key.eq_ignore_ascii_case("id") && taken.iter().any(|name| name == "id" || name.ends_with(" id"))
    };
    let Some(payload) = answer.exact_payload().filter(|_| is_sent_as_json(answer)) else { return };
    let found = leaves(payload.root())
        .filter(|leaf| leaf.key().is_some_and(|key| !is_taken(&key)) && leaf.as_str().is_some_and(|text| is_opaque(&text)));
    let mut fields: BTreeMap<String, Node<'_>> = BTreeMap::new();
    for leaf in found {
        fields.entry(wild(&leaf.pointer_from(payload.root().index()))).or_insert(leaf);
    }
    let Some((path, first)) = fields.first_key_value() else { return };
    let is_kept =
        |key: Option<&str>, value: &mut Value| !(key.is_some_and(|key| !is_taken(key)) && value.as_str().is_some_and(is_opaque));
    let Some(mended) = changed(answer, is_kept) else { return };
    let (all, saves) = (answer.sent(), saved(answer.sent(), tokens(&mended.sent())));
    if saves.o200k_base * 100 > all.o200k_base * hits.limit {
        let more =
            if fields.len() > 1 { format!(" and {}", number_of(fields.len() as u64 - 1, "more fields")) } else { String::new() };
        let percent = saves.o200k_base * 100 / all.o200k_base.max(1);
        hits.say(format!("`{path}`{more}: {percent}% of the tokens, and no tool takes them"))
            .at(answer.data_at(*first))
            .mends(answer, mended);
    }
}

fn escaped_unicode(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let Some(doc) = answer.json_text().filter(|_| answer.text.contains("\\u") && answer.text.len() < REWRITE_BYTES) else {
        return;
    };
    let Some(root) = doc.root() else { return };
    let Ok(value) = serde_json::from_str::<Value>(&root.raw_text()) else { return };
    // The same layout for both, so that only the escapes count.
    let plain = value.to_string();
    let is_compact = compacted(root).len() == answer.text.len();
    let saves = saved(tokens(&compacted(root)), tokens(&plain));
    if saves.o200k_base > 0 {
        let at = answer.text.find("\\u").unwrap_or(0);
        let hit = hits.say("characters as `\\uNNNN`").at(answer.text_at(at..at + 6)).saves(saves);
        if is_compact {
            hit.mends(answer, Parts { text: Some(plain), ..answer.parts() });
        }
    }
}

fn json_in_json(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let Some(payload) = answer.exact_payload().filter(|_| is_sent_as_json(answer)) else { return };
    let is_json = |text: &str| {
        let trimmed = text.trim();
        trimmed.len() > 8
            && trimmed.starts_with(['{', '['])
            && trimmed.ends_with(['}', ']'])
            && serde_json::from_str::<Value>(trimmed)
                .is_ok_and(|value| value.is_object() || value.as_array().is_some_and(|list| !list.is_empty()))
    };
    let mut paths: BTreeMap<String, Node<'_>> = BTreeMap::new();
    for leaf in leaves(payload.root()).filter(|leaf| leaf.kind() == Kind::String && leaf.raw().len() < REWRITE_BYTES) {
        if leaf.as_str().is_some_and(|text| is_json(&text)) {
            paths.entry(wild(&leaf.pointer_from(payload.root().index()))).or_insert(leaf);
        }
    }
    let Some((path, first)) = paths.first_key_value() else { return };
    let mended = changed(answer, |_, value| {
        if let Some(inner) = value.as_str().filter(|text| is_json(text)).and_then(|text| serde_json::from_str(text).ok()) {
            *value = inner;
        }
        true
    });
    let hit = hits.say(format!("`{path}` is a text that holds JSON"));
    hit.at(answer.data_at(*first));
    mended.map(|parts| hit.mends(answer, parts));
}

fn inconsistent(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    static PROGRESS: RulePattern = RulePattern::new(|| Regex::new(r"\b(\d{1,3})% \((\d{1,9})/(\d{1,9})\b").ok());
    if let Some(progress) = &*PROGRESS {
        for said in progress.captures_iter(answer.markdown_text()).take(1_000) {
            let number = |at: usize| said[at].parse::<u64>().unwrap_or(0);
            disagree(number(1), number(2), number(3), |message| {
                let place = said.get(0).map_or(0..0, |all| all.range());
                hits.say(message).at(answer.text_at(place));
            });
        }
    }
    let Some(payload) = answer.exact_payload() else { return };
    for percent in
        leaves(payload.root()).filter(|leaf| leaf.key().is_some_and(|key| key == "percent" || key == "progress_percent"))
    {
        let of = |names: &[&str]| percent.parent().and_then(|parent| names.iter().find_map(|name| parent.get(name)?.as_i64()));
        let (done, total) = (of(&["completed_steps", "completed", "done"]), of(&["total_steps", "total"]));
        if let (Some(share), Some(done), Some(total)) = (percent.as_i64(), done, total) {
            let plain = |number: i64| u64::try_from(number).unwrap_or(0);
            disagree(plain(share), plain(done), plain(total), |message| {
                hits.say(message).at(answer.data_at(percent));
            });
        }
    }
}

/// Says so where a percentage is not done by total, give or take one.
fn disagree(percent: u64, done: u64, total: u64, say: impl FnOnce(String)) {
    if total > 0 && (done * 100 / total).abs_diff(percent) > 1 {
        say(format!("{percent}% and {done} of {total}"));
    }
}

fn dual_overhead(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let Some(value) = answer.structured().filter(|_| !answer.text.is_empty()) else { return };
    let data = value.raw_text();
    let (own, text) = (answer.count(&data), answer.count(&answer.text));
    let percent = |part: u64, whole: u64| part * 100 / whole.max(1);
    let message = format!(
        "the text adds {}% of bytes and {}% of tokens to the data ({} and {} tokens)",
        percent(answer.text.len() as u64, data.len() as u64),
        percent(text.o200k_base, own.o200k_base),
        grouped(text.o200k_base),
        grouped(own.o200k_base)
    );
    hits.say(message).at(answer.text_at(0..0)).mends(answer, Parts { text: None, ..answer.parts() });
}

fn details(answer: &CheckedAnswer<'_>, hits: &mut Hits<'_>) {
    let text = answer.markdown_text();
    let mut blocks = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("<details").map(|at| from + at) {
        let end = text[start..].find("</details>").map_or(text.len(), |at| start + at);
        blocks.push(start..end);
        from = end.max(start + 1);
    }
    if blocks.is_empty() {
        return;
    }
    for (node, place) in answer.strings_in_text() {
        let at = blocks.partition_point(|block| block.start <= place.start);
        let is_within = at.checked_sub(1).is_some_and(|at| place.start < blocks[at].end);
        let said = &answer.text[place.clone()];
        if is_within && said.contains(char::is_whitespace) {
            hits.say(format!("a string within `<details>`: {}", clip(said))).at(answer.text_at(place)).at(answer.data_at(node));
        }
    }
}
