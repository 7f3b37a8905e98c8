//! How much arrives, what is cut, and whether anybody is told.

use std::collections::BTreeSet;

use super::fences::{FenceEnd, fence_end};
use super::profile::Profile::{Cost, HostCompat};
use super::result::{is_page_name, leaves, near, tokens, wild};
use super::rule::Severity::{Cost as Costs, Error, Info, Warning};
use super::rule::{Hits, Rule, RuleCheck, RulePattern};
use super::shape::STYLE;
use super::{CheckedResult, CheckedServer, CheckedTool, LocationPart};
use loupe_core::host::{Hosts, LimitState, ResultPart, ResultShape};
use loupe_core::json::{Doc, FaultKind, Kind, Node};
use loupe_core::number::{grouped, number_of};

pub(crate) static RULES: &[Rule] = &[
    Rule::new("size/char-limit", &[], RuleCheck::Answer(char_limit))
        .explanation("The answer is longer than the limit that its authors set themselves.")
        .fix("Ask for fewer records; the message says how many fit.")
        .source("hosts that cut long results (hosts)")
        .limit(25_000, "UTF-16 code units"),
    Rule::new("size/limit-overrun-by-notice", &[], RuleCheck::Answer(overrun))
        .explanation("The text was cut at the limit and the notice added after it, so that the whole is over the limit.")
        .fix("Cut to the limit less the notice.")
        .source("measured on the sample server: 25,000 + 126 characters")
        .limit(25_000, "UTF-16 code units")
        .heuristic(),
    Rule::new("size/host-limit", &[(HostCompat, Warning)], RuleCheck::Answer(host_limit))
        .explanation("A known host cuts this answer, or puts a notice or an error in its place.")
        .fix("Send less: a page, fewer fields, a shorter text.")
        .source("the limits of each host with version and evidence (hosts)"),
    Rule::new("size/limit-in-one-part", &[(HostCompat, Warning)], RuleCheck::Answer(limit_in_one_part))
        .explanation("One part of the result is cut at a limit and the other carries everything: hosts that show the other part get all of it, so the limit does not hold.")
        .fix("Cut the records before you write both parts from them.")
        .source("what each host shows (hosts)")
        .heuristic(),
    Rule::new("size/broken-json", &[(HostCompat, Error)], RuleCheck::Answer(broken_json))
        .explanation("The text begins as JSON and does not parse to its end: it was cut.")
        .fix("Drop whole records and keep it valid; say that there are more.")
        .source("RFC 8259"),
    Rule::new("size/cut-mid-record", &[(HostCompat, Warning)], RuleCheck::Answer(cut_mid_record))
        .explanation("The Markdown ends in the middle: a table's row without its end, a fence that is not closed.")
        .fix("Cut between records.")
        .source("GFM, tables; CommonMark 0.31, fenced code blocks")
        .heuristic(),
    Rule::new("size/no-guidance", &[(HostCompat, Warning)], RuleCheck::Answer(no_guidance))
        .explanation("The answer says that there is more, and not how to get it.")
        .fix("Name the argument: “Use `pageSize: 100`”, or return a cursor.")
        .source("models, which go on only where they are told how")
        .heuristic(),
    Rule::new("size/guidance-unknown-param", &[(HostCompat, Error)], RuleCheck::Answer(unknown_param))
        .explanation("The text suggests an argument that the tool does not have.")
        .fix("Name one that it has.")
        .source("the tool's own input schema")
        .heuristic(),
    Rule::new("size/silent-truncation", &[(HostCompat, Error)], RuleCheck::Answer(silent))
        .explanation("Exactly as many records as were asked for, and nothing says whether there are more: a model takes them for all.")
        .fix("Return `hasMore`, a total or a cursor.")
        .source("models, which take a page for the whole")
        .heuristic(),
    Rule::new("size/limit-exceeded-by-request", &[(HostCompat, Info)], RuleCheck::Answer(exceeded))
        .explanation("More records than were asked for.")
        .fix("Return no more records than requested.")
        .source("the tool's own input schema")
        .heuristic(),
    Rule::new("size/many-records", &[(Cost, Costs)], RuleCheck::Answer(many_records))
        .explanation("Many records in one answer. What is saved is what the records above the limit cost.")
        .fix("Lower the default page size.")
        .source("measured on the answer itself")
        .limit(50, "records"),
    Rule::new("size/long-value", &[(Cost, Info)], RuleCheck::Answer(long_value))
        .explanation("One value is very long, in a list of records.")
        .fix("A preview, and the whole by a tool of its own or as a `resource_link`.")
        .source("hosts cut from 20,480 bytes on (hosts)")
        .limit(2_000, "characters"),
    Rule::new("size/table-cell-long", &[], RuleCheck::Answer(long_cell))
        .explanation("A cell of a table is longer than one reads in a table.")
        .fix("A list in place of the table.")
        .source(STYLE)
        .limit(50, "characters"),
    Rule::new("size/tools-list", &[(Cost, Costs)], RuleCheck::Server(long_description))
        .explanation("A description is longer than 2 KB. Every session pays for it before the first call; what is saved is what is beyond the limit.")
        .fix("Say what the tool is for and when to use it; the rest into the arguments' descriptions or a resource.")
        .source("Claude Code cut descriptions at 2,048 characters before it raised that; host/description has what hosts cut now")
        .limit(2_048, "characters"),
];

fn utf16(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

fn char_limit(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let (text, data) = (
        utf16(&answer.text),
        answer
            .structured()
            .map_or(0, |value| utf16(&value.raw_text())),
    );
    let size = text + data;
    if size <= hits.limit || !answer.is_success() {
        return;
    }
    let records = answer.records().map_or(0, Node::len) as u64;
    let fit = if records > 1 {
        format!(
            "; about {} of {} records fit",
            grouped(hits.limit * records / size),
            grouped(records)
        )
    } else {
        String::new()
    };
    let what = if data == 0 {
        "the text"
    } else {
        "text and data"
    };
    let message = format!(
        "{what}: {} characters, the limit is {}{fit}",
        grouped(size),
        grouped(hits.limit)
    );
    hits.report(message).at(answer.text_at(0..0));
}

fn overrun(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    // Whole JSON was not cut.
    if answer.json_text().is_some() {
        return;
    }
    let tail: String = answer
        .text
        .chars()
        .rev()
        .take(400)
        .collect::<String>()
        .chars()
        .rev()
        .collect();
    let size = utf16(&answer.text);
    if size > hits.limit && size < hits.limit + 600 && tail.to_lowercase().contains("truncated") {
        let end = answer.text.len();
        hits.report(format!(
            "{} characters with notice, over the limit of {}",
            grouped(size),
            grouped(hits.limit)
        ))
        .at(answer.text_at(end..end));
    }
}

fn host_limit(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    // Few answers are long, and no limit is below this.
    if answer.subject.capture.wire_len() < 4_096 {
        return;
    }
    let mut cut: Vec<(String, usize, String)> = Vec::new();
    for (host, state) in answer.limits() {
        let what = match state {
            LimitState::Cut => "cut it",
            LimitState::Replaced => "put a notice in its place",
            LimitState::Error => "put an error in its place",
            LimitState::None | LimitState::Unknown | LimitState::Fits | LimitState::MayCut => {
                continue;
            }
        };
        match cut.iter_mut().find(|(known, ..)| known == what) {
            Some((_, hosts, names)) => {
                *hosts += 1;
                if *hosts <= 4 {
                    names.push_str(", ");
                    names.push_str(host);
                }
            }
            None => cut.push((what.to_owned(), 1, (*host).to_owned())),
        }
    }
    for (what, hosts, names) in cut {
        let more = if hosts > 4 {
            format!(" and {} more", hosts - 4)
        } else {
            String::new()
        };
        hits.report(format!(
            "{} {what}: {names}{more}",
            number_of(hosts as u64, "hosts")
        ))
        .at(answer.text_at(0..0));
    }
}

/// By how much the part that is not cut has to be larger, in tenths.
const LARGER: u64 = 12;

/// Words at the end of a text that say that it is cut.
const CUT_WORDS: [&str; 5] = ["truncated", "cut off", "cut at", "omitted", "output limit"];

fn limit_in_one_part(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(data) = answer.structured() else {
        return;
    };
    let (text_size, data_size) = (utf16(&answer.text), utf16(&data.raw_text()));
    let from = answer
        .text
        .char_indices()
        .rev()
        .nth(300)
        .map_or(0, |(at, _)| at);
    let end = answer.text[from..].to_lowercase();
    let says_cut = CUT_WORDS.iter().any(|word| end.contains(word)) || end.trim_end().ends_with('…');
    let is_marked = |node: loupe_core::json::Node<'_>| {
        node.key()
            .is_some_and(|key| key.to_lowercase().replace('_', "").ends_with("truncated"))
            && node.as_bool() == Some(true)
    };
    let data_says_cut = data.children().any(is_marked);
    let shape = ResultShape::new(answer.subject);
    let hosts = |part| answer.hosts.read_by(shape, part);
    let both = hosts(ResultPart::Text).both;
    let (cut, whole, cut_size, whole_size, part) = match (says_cut, data_says_cut) {
        (true, false) if data_size * 10 > text_size * LARGER => (
            "the text",
            "`structuredContent`",
            text_size,
            data_size,
            ResultPart::Data,
        ),
        (false, true) if text_size * 10 > data_size * LARGER => (
            "`structuredContent`",
            "the text",
            data_size,
            text_size,
            ResultPart::Text,
        ),
        _ => return,
    };
    hits.report(format!(
        "{cut} is cut at {} characters, {whole} carries {}: {} show that",
        grouped(cut_size),
        grouped(whole_size),
        number_of((hosts(part).hosts + both) as u64, "hosts")
    ))
    .at(answer.text_at(answer.text.len()..answer.text.len()));
}

fn broken_json(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if answer.json_text().is_some() {
        return;
    }
    for block in answer.subject.response.text_blocks() {
        let text = block.text.as_deref().unwrap_or_default();
        let start = text.len() - text.trim_start().len();
        let body = text[start..]
            .strip_prefix("```json\n")
            .map_or(&text[start..], |body| body);
        // A list of Markdown may begin with a bracket, too.
        if !(body.starts_with("{\"")
            || body.starts_with("{\n")
            || body.starts_with("[{")
            || body.starts_with("[\n"))
        {
            continue;
        }
        let doc = Doc::parse(body.to_owned().into());
        let is_value = doc.len() >= 3;
        let cut = doc
            .faults()
            .iter()
            .find(|fault| matches!(fault.kind, FaultKind::UnexpectedEnd | FaultKind::Syntax(_)));
        if let Some(fault) = cut.filter(|fault| is_value && fault.at * 10 >= body.len() * 9) {
            let at = text.len() - body.len() + fault.at.min(body.len());
            let part = LocationPart::Text(block.index);
            let place = super::Location {
                part,
                path: String::new(),
                range: Some(at.min(text.len())..text.len()),
            };
            hits.report(format!(
                "begins as JSON and ends at byte {at} of {} in the middle",
                text.len()
            ))
            .at(place);
        }
    }
}

fn cut_mid_record(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let text = answer.markdown_text();
    if answer.json_text().is_some()
        || text.len() < answer.text.len()
        || answer.subject.response.text_blocks().count() != 1
    {
        return;
    }
    let end = text.len();
    match fence_end(text) {
        FenceEnd::Closed => {}
        FenceEnd::Open => {
            hits.report("a fence is not closed at the end")
                .at(answer.text_at(end..end));
            return;
        }
        // `markdown/fence-broken` says it.
        FenceEnd::Nested { .. } => return,
    }
    let mut last = text.trim_end_matches('\n').lines().rev();
    let (row, above) = (
        last.next().unwrap_or_default().trim(),
        last.next().unwrap_or_default().trim(),
    );
    let is_row = |line: &str| line.starts_with('|') && line.ends_with('|');
    if row.starts_with('|') && !row.ends_with('|') && is_row(above) {
        hits.report("the last row of the table has no end")
            .at(answer.text_at(end - row.len()..end));
    }
}

const WAYS: [&str; 10] = [
    "cursor",
    "next",
    "offset",
    "page",
    "pagesize",
    "limit",
    "filter",
    "skip",
    "start_index",
    "more results",
];

fn no_guidance(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if !answer.is_success() || !answer.says_more().is_some_and(|(_, more)| more) {
        return;
    }
    // Keys such as `hasNextPage` are no way on.
    let has_cursor = answer.exact_data().is_some_and(|data| {
        leaves(data.root()).take(100_000).any(|leaf| {
            let key = leaf.key().unwrap_or_default().to_lowercase();
            !leaf.is_null()
                && leaf.as_bool().is_none()
                && (key.contains("cursor") || key.starts_with("next") || key == "offset")
        })
    });
    let says = || {
        let text = answer.lower_text();
        WAYS.iter().any(|word| {
            text.contains(&format!("`{word}"))
                || text.contains(&format!("use {word}"))
                || text.contains(&format!("{word}:"))
                || text.contains(&format!("{word} ="))
        })
    };
    if !has_cursor && (answer.json_text().is_some() || !says()) {
        hits.report("there is more, and nothing says how to get it")
            .at(answer.text_at(answer.text.len()..answer.text.len()));
    }
}

fn unknown_param(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if answer.json_text().is_some() || answer.subject.capture.tool.input_schema.is_none() {
        return;
    }
    // The tool's own, and those of others, which may be meant.
    let tool = CheckedTool::new(&answer.subject.capture.tool);
    let mut known: BTreeSet<String> = tool
        .arguments()
        .iter()
        .filter_map(|argument| Some(argument.key()?.into_owned()))
        .collect();
    for (tool, names) in answer.arguments_of_tools() {
        known.insert((*tool).to_owned());
        known.extend(names.iter().cloned());
    }
    static ADVICE: RulePattern =
        RulePattern::new(r"(?i)(?-u:\b)use (?:the )?`([A-Za-z_][A-Za-z0-9_]*)(?:`|\s*[:=])");
    for stated in ADVICE.captures_iter(&answer.text).take(50) {
        let (Some(all), Some(name)) = (stated.get(0), stated.get(1)) else {
            continue;
        };
        if !known.contains(name.as_str()) && is_page_name(name.as_str()) {
            hits.report(format!(
                "text suggests unknown argument `{}`",
                name.as_str()
            ))
            .at(answer.text_at(all.range()));
        }
    }
}

fn silent(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let (Some((name, asked)), Some(list)) = (answer.asked_for(), answer.records()) else {
        return;
    };
    if asked < 2 || list.len() as u64 != asked || !answer.is_success() {
        return;
    }
    let Some(data) = answer.exact_data() else {
        return;
    };
    let says = [
        "total",
        "more",
        "truncated",
        "cursor",
        "next",
        "remaining",
        "offset",
    ];
    let is_said = near(data.root())
        .filter_map(|node| node.key())
        .any(|key| says.iter().any(|word| key.to_lowercase().contains(word)));
    let is_told = || {
        says.iter()
            .chain(&[" of ", "showing"])
            .any(|word| answer.lower_text().contains(word))
    };
    if !is_said && (answer.json_text().is_some() || !is_told()) {
        hits.report(format!(
            "{}, as many as `{name}` asked for, and nothing says whether there are more",
            number_of(asked, "records")
        ))
        .at(answer.data_at(list));
    }
}

fn exceeded(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let (Some((name, asked)), Some(list)) = (answer.asked_for(), answer.records()) else {
        return;
    };
    if asked >= 1 && list.len() as u64 > asked {
        hits.report(format!(
            "{} records, `{name}` asked for {asked}",
            grouped(list.len() as u64)
        ))
        .at(answer.data_at(list));
    }
}

fn many_records(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(list) = answer
        .records()
        .filter(|list| list.len() as u64 > hits.limit)
    else {
        return;
    };
    let all = answer.count(&list.raw_text());
    let each = (all.o200k_base / list.len() as u64).max(1);
    let first: Vec<_> = list
        .children()
        .take(usize::try_from(hits.limit).unwrap_or(usize::MAX))
        .map(|record| record.raw_text().into_owned())
        .collect();
    let kept = tokens(&format!("[{}]", first.join(",")));
    let message = format!(
        "{} records of about {} tokens; {} fit in 10,000, {} in 25,000",
        grouped(list.len() as u64),
        grouped(each),
        grouped(10_000 / each),
        grouped(25_000 / each)
    );
    hits.report(message)
        .at(answer.data_at(list))
        .saves(all.less(kept));
}

fn long_value(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let (Some(list), Some(data)) = (answer.records(), answer.exact_data()) else {
        return;
    };
    let most = hits.limit;
    for leaf in
        leaves(list).filter(|leaf| leaf.kind() == Kind::String && leaf.raw().len() as u64 > most)
    {
        let length = leaf.as_str().map_or(0, |text| text.chars().count() as u64);
        if length > most {
            hits.report(format!(
                "`{}` is over {} characters",
                wild(&leaf.pointer_from(data.root().index())),
                grouped(most)
            ))
            .at(answer.data_at(leaf));
        }
    }
}

fn long_cell(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let text = answer.markdown_text();
    for (event, range) in answer.markdown() {
        if let pulldown_cmark::Event::End(pulldown_cmark::TagEnd::TableCell) = event {
            let length = text[range.clone()].trim().chars().count() as u64;
            if length > hits.limit {
                hits.report(format!("a cell is over {} characters", hits.limit))
                    .at(answer.text_at(range.clone()));
            }
        }
    }
}

fn long_description(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    for tool in server.tools {
        let description = tool.description.as_deref().unwrap_or_default();
        let length = description.chars().count() as u64;
        if length > hits.limit {
            let short: String = description
                .chars()
                .take(usize::try_from(hits.limit).unwrap_or(usize::MAX))
                .collect();
            hits.report_for(
                &tool.name,
                format!("the description has {} characters", grouped(length)),
            )
            .in_definition("/description")
            .saves(tokens(description).less(tokens(&short)));
        }
    }
}
