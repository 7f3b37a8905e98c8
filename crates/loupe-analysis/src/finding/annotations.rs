//! What a tool declares of its effects.

use super::profile::Profile::{HostCompat, Spec};
use super::result::{clip, wild};
use super::rule::Severity::{Error, Info, Warning};
use super::rule::{Hits, Rule, RuleCheck};
use super::tool::{reads_by_name, words, write_word};
use super::{CheckedResult, CheckedTool, LocationPart};
use loupe_core::capture::ResultData;
use loupe_core::diff::tree::{Op, TreeOptions, tree};

const SPEC: &str = "MCP specification, ToolAnnotations";
/// Words that are no nouns, as `post` and `set` may be.
const CLEAR: [&str; 9] = [
    "create",
    "add",
    "update",
    "delete",
    "remove",
    "write",
    "insert",
    "purge",
    "overwrite",
];
const HINTS: [&str; 4] = [
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
];

pub(crate) static RULES: &[Rule] = &[
    Rule::new("annotations/missing", &[(Spec, Info), (HostCompat, Warning)], RuleCheck::Tool(missing))
        .explanation("The tool declares nothing, so hosts assume the worst: it writes, it destroys, it is not idempotent, it reaches outside. Some ask the person before every call.")
        .fix("Declare `annotations` with the hints that apply.")
        .source(SPEC),
    Rule::new("annotations/read-only-missing", &[], RuleCheck::Tool(read_only_missing))
        .explanation("The name says that the tool reads, and `readOnlyHint` is not true.")
        .fix("Declare `readOnlyHint: true` if it changes nothing.")
        .source("MCP specification, ToolAnnotations")
        .heuristic(),
    Rule::new("annotations/contradictory", &[(Spec, Error)], RuleCheck::Tool(contradictory))
        .explanation("The hints contradict each other, or the name: a tool that only reads cannot destroy.")
        .fix("Declare what the tool really does.")
        .source(SPEC),
    Rule::new("annotations/meaningless", &[(Spec, Info)], RuleCheck::Tool(meaningless))
        .explanation("`destructiveHint` and `idempotentHint` mean something only where `readOnlyHint` is false. Harmless; some directories ask for it.")
        .fix("Nothing needs to change; the hints can be removed.")
        .source(SPEC),
    Rule::new("annotations/destructive-default", &[(HostCompat, Warning)], RuleCheck::Tool(destructive_default))
        .explanation("The tool declares or sounds as if it writes, and does not say whether it destroys: by the specification that means that it may.")
        .fix("Declare `destructiveHint`.")
        .source(SPEC)
        .heuristic(),
    Rule::new("annotations/delete-not-destructive", &[(Spec, Error)], RuleCheck::Tool(delete_not_destructive))
        .explanation("The name says that something goes away, and `destructiveHint` is false: a host may call it without asking.")
        .fix("Declare `destructiveHint: true`.")
        .source(SPEC)
        .heuristic(),
    Rule::new("annotations/update-hints", &[(Spec, Info)], RuleCheck::Tool(update_hints))
        .explanation("An update overwrites what was there, which is more than adding, and doing it twice changes nothing further; the hints say the opposite of both.")
        .fix("Declare `destructiveHint: true` if it overwrites, and `idempotentHint: true` if the same call twice is as good as once.")
        .source("MCP specification, ToolAnnotations")
        .heuristic(),
    Rule::new("annotations/open-world-unset", &[], RuleCheck::Tool(open_world_unset))
        .explanation("Whether the tool reaches outside of a closed set of things is not declared; the default is that it does.")
        .fix("Declare `openWorldHint`.")
        .source("MCP specification, ToolAnnotations"),
    Rule::new("annotations/title-missing", &[], RuleCheck::Tool(title_missing))
        .explanation("The tool has no title for people.")
        .fix("Add `title`.")
        .source("MCP specification, ToolAnnotations"),
    Rule::new("annotations/answers-differ", &[(Spec, Info)], RuleCheck::Repeat(answers_differ))
        .explanation("The same call made twice gave two answers. A tool that is declared read-only or idempotent leaves things as they are; what differs shows whether only the time passed. Looked for by `check --probe` alone.")
        .fix("None if only times, counters and the like differ; else correct the hints.")
        .source("MCP specification, ToolAnnotations")
        .heuristic(),
    Rule::new("annotations/unknown-key", &[(Spec, Warning)], RuleCheck::Tool(unknown_key))
        .explanation("A key that the specification does not have, so that a host need not know it.")
        .fix("Take it out, or put it into `_meta`.")
        .source("MCP specification, ToolAnnotations"),
];

fn missing(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    if tool.member("annotations").is_none() && !tool.tool.raw.is_empty() {
        hits.report("declares no annotations: assumed to write, to destroy and to reach outside")
            .in_definition("");
    }
}

fn read_only_missing(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let read_only = tool.tool.annotations.read_only;
    if reads_by_name(&tool.tool.name) && !(read_only.declared && read_only.value) {
        hits.report("sounds as if it only reads, and does not declare `readOnlyHint: true`")
            .in_definition("/annotations");
    }
}

fn contradictory(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let (read_only, destructive) = (
        tool.tool.annotations.read_only,
        tool.tool.annotations.destructive,
    );
    if !(read_only.declared && read_only.value) {
        return;
    }
    if destructive.declared && destructive.value {
        hits.report("`readOnlyHint` and `destructiveHint` are both true")
            .in_definition("/annotations");
    } else if let Some(word) =
        write_word(&tool.tool.name).filter(|word| CLEAR.contains(&word.as_str()))
    {
        let hit = hits.report(format!(
            "`readOnlyHint` is true, and the name says “{word}”"
        ));
        hit.in_definition("/annotations/readOnlyHint")
            .as_severity(Warning);
    }
}

fn meaningless(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let hints = tool.tool.annotations;
    let is_given =
        (hints.destructive.declared && !hints.destructive.value) || hints.idempotent.declared;
    if tool.tool.is_declared_read_only() && is_given {
        hits.report("sets `destructiveHint` or `idempotentHint`, which mean nothing beside `readOnlyHint: true`")
            .in_definition("/annotations");
    }
}

fn destructive_default(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let hints = tool.tool.annotations;
    let writes = write_word(&tool.tool.name).is_some() || hints.read_only.declared;
    let is_given = tool.member("annotations").is_some();
    if is_given && writes && !hints.read_only.value && !hints.destructive.declared {
        let why = match write_word(&tool.tool.name) {
            Some(word) => format!("the name says “{word}”"),
            None => "`readOnlyHint` is false".to_owned(),
        };
        hits.report(format!(
            "{why}, and `destructiveHint` is unset: taken for destructive"
        ))
        .in_definition("/annotations");
    }
}

fn delete_not_destructive(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let destructive = tool.tool.annotations.destructive;
    let goes = write_word(&tool.tool.name)
        .filter(|word| {
            ["delete", "remove", "drop", "purge", "overwrite", "destroy"].contains(&word.as_str())
        })
        // What only reads destroys nothing.
        .filter(|_| !tool.tool.is_declared_read_only());
    if let (Some(word), true, false) = (goes, destructive.declared, destructive.value) {
        hits.report(format!(
            "`destructiveHint` is false, and the name says “{word}”"
        ))
        .in_definition("/annotations/destructiveHint");
    }
}

fn update_hints(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let hints = tool.tool.annotations;
    let updates = words(&tool.tool.name)
        .iter()
        .any(|word| word == "update" || word == "set");
    let is_no = |hint: loupe_core::capture::Hint| hint.declared && !hint.value;
    if updates && is_no(hints.destructive) && is_no(hints.idempotent) {
        hits.report("sounds like an update, and declares `destructiveHint: false` and `idempotentHint: false`")
            .in_definition("/annotations");
    }
}

fn open_world_unset(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    if !tool.tool.annotations.open_world.declared {
        hits.report("leaves `openWorldHint` unset")
            .in_definition("/annotations");
    }
}

fn title_missing(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    if tool.tool.title.is_none() {
        hits.report("has no title").in_definition("");
    }
}

fn answers_differ(first: &CheckedResult<'_>, again: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let hints = first.subject.capture.tool.annotations;
    if !(hints.read_only.value || hints.idempotent.declared && hints.idempotent.value) {
        return;
    }
    let declared = if hints.read_only.value {
        "read-only"
    } else {
        "idempotent"
    };
    let (one, two) = (first.subject.capture.outcome, again.subject.capture.outcome);
    if one != two {
        hits.report(format!(
            "declared {declared}; the first call gave {}, the second {}",
            one.name(),
            two.name()
        ))
        .at_path(LocationPart::Result, "");
        return;
    }
    // Data by place, texts by line.
    if let (Some(a), Some(b)) = (first.exact_data(), again.exact_data()) {
        let changed = tree(a.root(), b.root(), &TreeOptions::default());
        for change in changed
            .changes
            .iter()
            .filter(|change| change.op != Op::Move)
        {
            let of = |data: &ResultData, node: Option<usize>| {
                data.doc.node(node?).map(|node| clip(&node.raw_text()))
            };
            let node = change.b.and_then(|node| b.doc.node(node));
            let path = wild(&node.or_else(|| a.doc.node(change.a?)).map_or_else(
                String::new,
                |node| {
                    let root = if change.b.is_some() {
                        b.root()
                    } else {
                        a.root()
                    };
                    node.pointer_from(root.index())
                },
            ));
            let (was, is) = (of(a, change.a), of(b, change.b));
            let what = match (was, is) {
                (Some(was), Some(is)) => format!("{was} became {is}"),
                (None, Some(is)) => format!("{is} came"),
                (Some(was), None) => format!("{was} went"),
                (None, None) => continue,
            };
            let hit = hits.report(format!(
                "declared {declared}, and a second call differs at `{path}`: {what}"
            ));
            hit.at(node.map_or_else(|| again.text_at(0..0), |node| again.data_at(node)));
        }
    } else if first.text != again.text {
        let (was, is) = first
            .text
            .lines()
            .zip(again.text.lines())
            .find(|(was, is)| was != is)
            .unwrap_or_default();
        hits.report(format!(
            "declared {declared}, and the text of a second call differs: “{}” became “{}”",
            clip(was),
            clip(is)
        ))
        .at(again.text_at(0..0));
    }
}

fn unknown_key(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let Some(annotations) = tool.member("annotations") else {
        return;
    };
    for member in annotations.children() {
        let key = member.key().unwrap_or_default();
        if key != "title" && !HINTS.contains(&&*key) {
            hits.report(format!("`{key}` is no annotation of the specification"))
                .in_definition(member.pointer());
        }
    }
}
