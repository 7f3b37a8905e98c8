//! An entry as a hosts file holds it: the rules found, under a name to be changed.

use std::fmt::Write as _;

use crate::host::BUILT_IN;
use crate::host::rules::{Delivery, Host, HostId, KeepRule, RuleStep, Select};
use crate::host::rules::{JSON_MODES, SELECTS};

/// What whoever keeps the entry writes over.
const ID: &str = "new-host";
const NAME: &str = "New host";
const VERSION: &str = "unknown";

/// A string of TOML on one line: as JSON writes it, which leaves only DEL bare.
fn quote(text: &str) -> String {
    crate::json::write::string(text).replace('\u{7f}', "\\u007f")
}

fn select_word(select: Select) -> String {
    quote(
        SELECTS
            .iter()
            .find(|(known, _)| *known == select)
            .map_or("", |(_, word)| *word),
    )
}

fn keep_word(keep: KeepRule) -> &'static str {
    match keep {
        KeepRule::None => "none",
        KeepRule::Head => "head",
        KeepRule::HeadLines => "head-lines",
        KeepRule::HeadTail => "head-tail",
    }
}

/// The entry of a built-in host under another name, as a whole hosts file; `None` where it is not built in.
pub(super) fn copy(of: HostId, today: &str) -> Option<String> {
    let mark = format!("id = {}\n", quote(of.as_str()));
    let entry = BUILT_IN
        .split("[[host]]\n")
        .skip(1)
        .find(|entry| entry.contains(&mark))?;
    let mut out = format!(
        "# Found by the probe: the rules of `{of}`, which give the texts pasted.\nschema = \"loupe.hosts/1\"\n\n[[host]]\n"
    );
    let mut is_head = true;
    for line in entry
        .trim_end()
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        is_head &= !line.starts_with('[');
        let value = match line
            .split_once(" = ")
            .map(|(key, _)| key)
            .filter(|_| is_head)
        {
            Some("id") => Some(ID),
            Some("name") => Some(NAME),
            Some("version") => Some(VERSION),
            Some("checked") => Some(today),
            _ => None,
        };
        match value {
            Some(value) => writeln!(
                out,
                "{} = {}",
                line.split(" = ").next().unwrap_or_default(),
                quote(value)
            )
            .ok(),
            None => writeln!(out, "{line}").ok(),
        };
    }
    Some(out)
}

/// The entry as a whole hosts file; `notes` are comments at its head.
pub(super) fn write(host: &Host, today: &str, notes: &[String]) -> String {
    let json = JSON_MODES
        .iter()
        .find(|(known, _)| *known == host.json)
        .map_or("", |(_, word)| *word);
    let delivery = if host.delivery == Delivery::String {
        "string"
    } else {
        "parts"
    };
    let mut out = String::from("# Found by the probe.\n");
    for line in notes.iter().flat_map(|note| note.lines()) {
        // Writing into a String cannot fail.
        writeln!(out, "# {line}").ok();
    }
    out.push_str("schema = \"loupe.hosts/1\"\n\n[[host]]\n");
    let mut line = |key: &str, value: String| {
        writeln!(out, "{key} = {value}").ok();
    };
    line("id", quote(ID));
    line("name", quote(NAME));
    line("kind", quote(host.kind.name()));
    line("version", quote(VERSION));
    line("checked", quote(today));
    line("evidence", quote(host.evidence.name()));
    line("select", select_word(host.select));
    line("json", quote(json));
    line("delivery", quote(delivery));
    line("join", quote(&host.join));
    if host.select == Select::Both {
        line("structured_join", quote(&host.structured_join));
    }
    for (key, template) in [("wrap", &host.wrap), ("empty", &host.empty)] {
        if let Some(template) = template {
            line(key, quote(template.source()));
        }
    }
    out.push_str("\n[host.block]\n");
    let block = &host.block;
    for (kind, steps) in [
        ("text", &block.text),
        ("image", &block.image),
        ("audio", &block.audio),
        ("resource_text", &block.resource_text),
        ("resource_blob", &block.resource_blob),
        ("resource_link", &block.resource_link),
        ("unknown", &block.unknown),
    ] {
        let words: Vec<String> = steps
            .iter()
            .map(|step| match step {
                RuleStep::Text(template) => quote(template.source()),
                _ => quote("@drop"),
            })
            .collect();
        if !words.is_empty() {
            writeln!(out, "{kind} = [{}]", words.join(", ")).ok();
        }
    }
    out.push_str("\n[host.error]\nnative_flag = false\n");
    if let Some(chosen) = host.error.select {
        writeln!(out, "select = {}", select_word(chosen)).ok();
    }
    if let Some(template) = &host.error.template {
        writeln!(out, "template = {}", quote(template.source())).ok();
    }
    for limit in &host.limit {
        writeln!(
            out,
            "\n[[host.limit]]\nunit = {}\nmax = {}\nkeep = {}",
            quote(limit.unit.name()),
            limit.max,
            quote(keep_word(limit.keep))
        )
        .ok();
        if let Some(note) = &limit.max_note {
            writeln!(out, "max_note = {}", quote(note)).ok();
        }
        for (key, value) in [("head", limit.head), ("tail", limit.tail)] {
            if let Some(value) = value {
                writeln!(out, "{key} = {value}").ok();
            }
        }
        writeln!(
            out,
            "applies = \"total\"\nnotice = {}\ncertainty = {}",
            quote(limit.notice.source()),
            quote(&limit.certainty)
        )
        .ok();
    }
    out
}
