//! How the data is laid out as JSON, and what other layouts save.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::{REWRITE_BYTES, label};
use crate::finding::result::{leaves, nodes, tokens, wild};
use crate::finding::rule::Hits;
use crate::finding::tool::words;
use crate::finding::{CheckedResult, CheckedTool, LocationPart};
use crate::queries::Parts;
use loupe_core::capture::ResultData;
use loupe_core::format::ledger::Row;
use loupe_core::format::{self, FORMATS};
use loupe_core::json::{Kind, Node};
use loupe_core::number::{grouped, number_of};

pub(crate) fn pretty_json(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(doc) = answer.json_text() else {
        return;
    };
    let Some(root) = doc
        .root()
        .filter(|root| root.is_container() && answer.text.contains('\n'))
    else {
        return;
    };
    let compact = strip_white_space(root);
    if compact.len() < answer.text.len() {
        hits.report(format!(
            "{} bytes of JSON, {} without white space",
            grouped(answer.text.len() as u64),
            grouped(compact.len() as u64)
        ))
        .at(answer.text_at(0..answer.text.len()))
        .set_fix(
            answer,
            Parts {
                text: Some(compact),
                ..answer.parts().clone()
            },
        );
    }
}

/// A value without white space, all else as it is.
fn strip_white_space(root: Node<'_>) -> String {
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

fn is_sent_as_json(answer: &CheckedResult<'_>) -> bool {
    answer.structured_data().is_some() || answer.json_text().is_some()
}

pub(crate) fn repeated_keys(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(list) = answer
        .records()
        .filter(|list| list.len() as u64 >= hits.limit && is_sent_as_json(answer))
    else {
        return;
    };
    // In the order in which they are met.
    let mut keys: Vec<(Node<'_>, usize)> = Vec::new();
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    for member in list.children().take(1_000).flat_map(Node::children) {
        let Some(key) = member.raw_key() else {
            continue;
        };
        let at = *known.entry(key).or_insert_with(|| {
            keys.push((member, 0));
            keys.len() - 1
        });
        keys[at].1 += 1;
    }
    let records = list.len().min(1_000);
    let shared: Vec<_> = keys
        .iter()
        .filter(|(_, count)| count * 10 >= records * 8)
        .filter_map(|(member, _)| member.key())
        .collect();
    if keys.is_empty() || shared.len() * 10 < keys.len() * 8 {
        return;
    }
    let (Some(json), Some(table)) = (answer.format_text("json"), answer.format_text("json-table"))
    else {
        return;
    };
    let (now, mut then) = (answer.count(&json), answer.count(&table));
    let (mut table, mut title) = (table, "JSON, columns and rows");
    // `structuredContent` is JSON; a text may be what it likes, and can tell what some records lack.
    if answer.structured().is_none() && json.len() < REWRITE_BYTES {
        for format in ["toon", "csv"].into_iter().filter_map(format::by_id) {
            let row = Row::measure(format, answer.subject);
            let is_better = row.claim().is_same_data() && row.tokens.o200k_base < then.o200k_base;
            if let Some(written) = answer.format_text(format.id()).filter(|_| is_better) {
                (table, title, then) = (written, format.title(), row.tokens);
            }
        }
    }
    let saves = now.less(then);
    // Under one token in twenty nobody rewrites a server.
    if saves.o200k_base * 20 > now.o200k_base {
        let message = format!(
            "{} records with the same {} keys: {} tokens of compact JSON, {} as {title}",
            grouped(list.len() as u64),
            shared.len(),
            grouped(now.o200k_base),
            grouped(then.o200k_base)
        );
        let shared = shared.into_iter().map(|key| key.into_owned()).collect();
        hits.report(message)
            .at(answer.data_at(list))
            .of_keys(shared)
            .set_fix(answer, answer.parts_with(&table));
    }
}

pub(crate) fn not_cheapest(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let is_small = answer.subject.capture.wire_len() < REWRITE_BYTES;
    if !is_small || !answer.subject.is_data_alone() || !answer.is_success() {
        return;
    }
    // Compact JSON where that is less than what one model reads: another rule says what it saves.
    let read = answer
        .subject
        .cache
        .counts_of(&answer.parts().read(answer.read_part()))
        .tokens;
    let compact = answer
        .format_text("json")
        .filter(|_| is_sent_as_json(answer))
        .map(|json| answer.count(&json));
    let compact = compact.filter(|compact| compact.o200k_base < read.o200k_base);
    let (sent, than) = compact.map_or((read, "what one model reads"), |compact| {
        (compact, "compact JSON")
    });
    let rows = FORMATS
        .iter()
        .filter(|format| !format.is_as_sent())
        .map(|format| Row::measure(*format, answer.subject));
    let best = rows
        .filter(|row| row.is_available() && row.loses_nothing())
        .min_by_key(|row| row.tokens.o200k_base);
    let Some(best) = best else { return };
    let saves = sent.less(best.tokens);
    if saves.o200k_base * 100 > sent.o200k_base * hits.limit && saves.o200k_base >= 10 {
        let title = format::by_id(best.format).map_or(best.format, |format| format.title());
        let percent = (saves.o200k_base * 200 + sent.o200k_base) / (2 * sent.o200k_base.max(1));
        hits.report(format!(
            "{title} says the same in {} tokens, {percent}% less than {than}",
            grouped(best.tokens.o200k_base)
        ))
        .at_path(LocationPart::Result, "")
        .set_fix(
            answer,
            Parts {
                text: answer.format_text(best.format),
                structured: None,
            },
        );
    }
}

pub(crate) fn nested_in_table(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let reader = answer.subject.data.as_ref().and_then(ResultData::reader);
    let is_flat = reader
        .is_some_and(|reader| reader.is_table() || matches!(reader.id, "csv" | "tsv" | "toon"));
    let Some(data) = answer.subject.data.as_ref().filter(|_| is_flat) else {
        return;
    };
    let is_deep = nodes(data.root()).any(|node| node.depth() > 3);
    let Some(json) = answer.format_text("json").filter(|_| is_deep) else {
        return;
    };
    let (now, then) = (answer.count(&answer.text), answer.count(&json));
    if now.o200k_base > then.o200k_base {
        hits.report(format!(
            "{} tokens, compact JSON has {}",
            grouped(now.o200k_base),
            grouped(then.o200k_base)
        ))
        .at(answer.text_at(0..0))
        .set_fix(
            answer,
            Parts {
                text: Some(json),
                ..answer.parts().clone()
            },
        );
    }
}

pub(crate) fn json_first(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if answer.is_success()
        && answer.is_read()
        && answer.structured().is_none()
        && answer.json_text().is_none()
    {
        hits.report("reads, and answers with no JSON")
            .at(answer.text_at(0..0));
    }
}

pub(crate) fn json_in_fence(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let is_fenced = answer
        .subject
        .data
        .as_ref()
        .and_then(ResultData::text_source)
        .is_some_and(|source| source.reader.id == "fences" && source.data.is_verbatim());
    if is_fenced && answer.structured().is_none() && answer.text.contains("```json") {
        hits.report("the data is JSON in a fence")
            .at(answer.text_at(0..0));
    }
}

pub(crate) fn raw_json(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if answer.is_success()
        && answer
            .json_text()
            .and_then(|doc| doc.root())
            .is_some_and(Node::is_container)
    {
        hits.report("the text is JSON").at(answer.text_at(0..0));
    }
}

fn is_total(key: &str) -> bool {
    let lower = key.to_lowercase();
    lower.starts_with("summary") || lower.starts_with("total") || lower == "count"
}

pub(crate) fn summary_last(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(root) = answer.exact_data().map(ResultData::root) else {
        return;
    };
    let mut after_list = false;
    for member in root.children() {
        if after_list && member.key().is_some_and(|key| is_total(&key)) {
            hits.report(format!(
                "`{}` stands after the list",
                member.key().unwrap_or_default()
            ))
            .at(answer.data_at(member));
        }
        after_list |= member.kind() == Kind::Array && !member.is_empty();
    }
}

/// The data as a value of its own, to be changed and written anew.
fn value(answer: &CheckedResult<'_>) -> Option<Value> {
    let data = answer
        .exact_data()
        .filter(|data| data.root().raw().len() < REWRITE_BYTES)?;
    serde_json::from_str(&data.root().raw_text()).ok()
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

/// The result with changed data, laid out as it is sent; `None` where the data is too large.
pub fn changed(
    answer: &CheckedResult<'_>,
    mut keep: impl FnMut(Option<&str>, &mut Value) -> bool,
) -> Option<Parts> {
    let mut data = value(answer)?;
    change(&mut data, &mut keep);
    let is_pretty = |text: &str| text.trim().contains('\n');
    let mut parts = answer.parts_with(&data.to_string());
    if let Some(text) = parts
        .text
        .as_mut()
        .filter(|_| answer.json_text().is_some() && is_pretty(&answer.text))
    {
        *text = format!("{data:#}");
    }
    Some(parts)
}

pub(crate) fn empty_section(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let tool = CheckedTool::new(&answer.subject.capture.tool);
    let required: BTreeSet<_> = tool
        .output()
        .into_iter()
        .flat_map(nodes)
        .filter(|node| {
            node.parent()
                .is_some_and(|parent| parent.key().is_some_and(|key| key == "required"))
        })
        .filter_map(|node| Some(node.as_str()?.into_owned()))
        .collect();
    let Some(data) = answer.exact_data().filter(|_| is_sent_as_json(answer)) else {
        return;
    };
    let is_empty = |node: &Node<'_>| {
        node.is_container()
            && node.is_empty()
            && node.key().is_some_and(|key| !required.contains(&*key))
    };
    let mut first = None;
    let mut count = 0;
    for node in nodes(data.root()).filter(is_empty) {
        first.get_or_insert(node);
        count += 1;
    }
    // One empty list where nothing was found is the result.
    let Some(first) = first.filter(|_| count > 1) else {
        return;
    };
    let mended = changed(answer, |key, value| {
        let is_empty = value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(serde_json::Map::is_empty);
        !(is_empty && key.is_some_and(|key| !required.contains(key)))
    });
    let hit = hits.report(format!(
        "{} empty lists and objects say nothing, such as `{}`",
        grouped(count),
        wild(&first.pointer_from(data.root().index()))
    ));
    hit.at(answer.data_at(first));
    mended.map(|parts| hit.set_fix(answer, parts));
}

pub(crate) fn epoch(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(data) = answer.exact_data() else {
        return;
    };
    for leaf in leaves(data.root()).filter(|leaf| leaf.kind() == Kind::Number) {
        let is_time = leaf.as_i64().is_some_and(|number| {
            (1_000_000_000..2_200_000_000).contains(&number)
                || (1_000_000_000_000..2_200_000_000_000).contains(&number)
        });
        if !is_time {
            continue;
        }
        let words = words(&leaf.key().unwrap_or_default());
        let says = [
            "time",
            "timestamp",
            "date",
            "at",
            "created",
            "updated",
            "modified",
            "expires",
            "mtime",
            "ctime",
            "ts",
        ];
        if words.iter().any(|word| says.contains(&word.as_str())) {
            hits.report(format!(
                "`{}` is a time as a bare number",
                wild(&leaf.pointer_from(data.root().index()))
            ))
            .at(answer.data_at(leaf));
        }
    }
}

fn is_opaque(text: &str) -> bool {
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_uuid = text.len() == 36
        && text.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && hex(&text.replace('-', ""));
    is_uuid
        || text.starts_with("did:")
        || text.starts_with("bafy")
        || text.starts_with("at://did:")
        || text.len() >= 32 && hex(text)
}

pub fn opaque(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let taken: BTreeSet<String> = answer
        .arguments_of_tools()
        .iter()
        .flat_map(|(_, names)| names.iter().map(|name| label(name)))
        .collect();
    let is_taken = |key: &str| {
        taken.contains(&label(key))
            || key.eq_ignore_ascii_case("id")
                && taken
                    .iter()
                    .any(|name| name == "id" || name.ends_with(" id"))
    };
    let Some(data) = answer.exact_data().filter(|_| is_sent_as_json(answer)) else {
        return;
    };
    let found = leaves(data.root()).filter(|leaf| {
        leaf.as_str().is_some_and(|text| is_opaque(&text))
            && leaf.key().is_some_and(|key| !is_taken(&key))
    });
    let mut fields: BTreeMap<String, Node<'_>> = BTreeMap::new();
    for leaf in found {
        fields
            .entry(wild(&leaf.pointer_from(data.root().index())))
            .or_insert(leaf);
    }
    let Some((path, first)) = fields.first_key_value() else {
        return;
    };
    let is_kept = |key: Option<&str>, value: &mut Value| {
        !(value.as_str().is_some_and(is_opaque) && key.is_some_and(|key| !is_taken(key)))
    };
    let Some(mended) = changed(answer, is_kept) else {
        return;
    };
    let (all, saves) = (
        answer.token_counts(),
        answer.token_counts().less(tokens(&mended.sent())),
    );
    if saves.o200k_base * 100 > all.o200k_base * hits.limit {
        let more = if fields.len() > 1 {
            format!(" and {}", number_of(fields.len() as u64 - 1, "more fields"))
        } else {
            String::new()
        };
        let percent = saves.o200k_base * 100 / all.o200k_base.max(1);
        hits.report(format!(
            "`{path}`{more}: {percent}% of the tokens, and no tool has an argument of that name"
        ))
        .at(answer.data_at(*first))
        .set_fix(answer, mended);
    }
}

pub(crate) fn escaped_unicode(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(doc) = answer
        .json_text()
        .filter(|_| answer.text.contains("\\u") && answer.text.len() < REWRITE_BYTES)
    else {
        return;
    };
    let Some(root) = doc.root() else { return };
    let Ok(value) = serde_json::from_str::<Value>(&root.raw_text()) else {
        return;
    };
    // The same layout for both, so that only the escapes count.
    let plain = value.to_string();
    let is_compact = strip_white_space(root).len() == answer.text.len();
    let saves = tokens(&strip_white_space(root)).less(tokens(&plain));
    if saves.o200k_base > 0 {
        let at = answer.text.find("\\u").unwrap_or(0);
        let hit = hits
            .report("characters as `\\uNNNN`")
            .at(answer.text_at(at..at + 6))
            .saves(saves);
        if is_compact {
            hit.set_fix(
                answer,
                Parts {
                    text: Some(plain),
                    ..answer.parts().clone()
                },
            );
        }
    }
}

pub(crate) fn json_in_json(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(data) = answer.exact_data().filter(|_| is_sent_as_json(answer)) else {
        return;
    };
    let is_json = |text: &str| {
        let trimmed = text.trim();
        trimmed.len() > 8
            && trimmed.starts_with(['{', '['])
            && trimmed.ends_with(['}', ']'])
            && serde_json::from_str::<Value>(trimmed).is_ok_and(|value| {
                value.is_object() || value.as_array().is_some_and(|list| !list.is_empty())
            })
    };
    let mut paths: BTreeMap<String, Node<'_>> = BTreeMap::new();
    for leaf in leaves(data.root())
        .filter(|leaf| leaf.kind() == Kind::String && leaf.raw().len() < REWRITE_BYTES)
    {
        if leaf.as_str().is_some_and(|text| is_json(&text)) {
            paths
                .entry(wild(&leaf.pointer_from(data.root().index())))
                .or_insert(leaf);
        }
    }
    let Some((path, first)) = paths.first_key_value() else {
        return;
    };
    let mended = changed(answer, |_, value| {
        if let Some(inner) = value
            .as_str()
            .filter(|text| is_json(text))
            .and_then(|text| serde_json::from_str(text).ok())
        {
            *value = inner;
        }
        true
    });
    let hit = hits.report(format!("`{path}` is a text that holds JSON"));
    hit.at(answer.data_at(*first));
    mended.map(|parts| hit.set_fix(answer, parts));
}

pub(crate) fn data_uri(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(data) = answer.exact_data() else {
        return;
    };
    for leaf in leaves(data.root())
        .filter(|leaf| leaf.kind() == Kind::String && leaf.raw().starts_with(b"\"data:"))
    {
        let Some(text) = leaf.as_str() else { continue };
        let Some(media) = text
            .strip_prefix("data:")
            .and_then(|rest| rest.split([';', ',']).next())
        else {
            continue;
        };
        if !media.contains('/') || media.len() > 100 {
            continue;
        }
        let cost = answer.count(&text);
        if cost.o200k_base >= hits.limit {
            let path = wild(&leaf.pointer_from(data.root().index()));
            hits.report(format!(
                "`{path}` is {media} as a data URI, {}",
                number_of(cost.o200k_base, "tokens")
            ))
            .at(answer.data_at(leaf))
            .saves(cost);
        }
    }
}

pub(crate) fn result_in_result(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(root) = answer.exact_data().map(ResultData::root) else {
        return;
    };
    let is_wrapper = root.kind() == Kind::Object && root.len() == 1;
    let inner = if is_wrapper {
        root.children().find(|inner| is_result(*inner))
    } else {
        None
    };
    let Some(inner) = inner.or_else(|| is_result(root).then_some(root)) else {
        return;
    };
    let blocks = inner.get("content").into_iter().flat_map(Node::children);
    let texts: Vec<_> = blocks
        .filter_map(|block| Some(block.get("text")?.as_str()?.into_owned()))
        .collect();
    let shell = answer
        .count(&root.raw_text())
        .less(answer.count(&texts.join("\n")));
    let place = match inner.pointer_from(root.index()) {
        path if path.is_empty() => "the data".to_owned(),
        path => format!("`{path}`"),
    };
    hits.report(format!(
        "{place} is a result inside the result; its shell is {}",
        number_of(shell.o200k_base, "tokens")
    ))
    .at(answer.data_at(inner))
    .saves(shell);
}

/// Whether a value is a result of a tool: `content` with blocks of known types, and nothing that a result does not have.
fn is_result(value: Node<'_>) -> bool {
    let is_block = |block: Node<'_>| {
        let kinds = ["text", "image", "audio", "resource", "resource_link"];
        block
            .get("type")
            .and_then(Node::as_str)
            .is_some_and(|kind| kinds.contains(&&*kind))
    };
    let known = [
        "content",
        "isError",
        "structuredContent",
        "_meta",
        "resultType",
    ];
    let content = value
        .get("content")
        .filter(|content| content.kind() == Kind::Array && !content.is_empty());
    content.is_some_and(|content| content.children().all(is_block))
        && value
            .children()
            .all(|member| member.key().is_some_and(|key| known.contains(&&*key)))
}

pub(crate) fn dual_overhead(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(value) = answer.structured().filter(|_| !answer.text.is_empty()) else {
        return;
    };
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
    hits.report(message).at(answer.text_at(0..0)).set_fix(
        answer,
        Parts {
            text: None,
            ..answer.parts().clone()
        },
    );
}
