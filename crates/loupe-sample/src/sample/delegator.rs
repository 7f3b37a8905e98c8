//! `delegator`: one status tool, emoji Markdown against JSON with a summary first. Text only.
//!
//! Kept faults: 50 % with no step of two done; the fenced answer is no JSON until the fence is cut off.

use serde_json::{Map, Value, json};

use super::kit::{Hints, Kit, SampleCall, SampleOptions, SampleTool, Shelf, pretty, text_result};
use super::schema::{SchemaField, SchemaTakes, Violation};
use super::tasks::TasksByOutcome;

const fn kit_of(tools: &'static [SampleTool<TasksByOutcome>]) -> Kit<TasksByOutcome> {
    Kit {
        set: "delegator",
        original: "_codex_local_",
        unique: "delegator_",
        variant,
        closed: false,
        annotated: true,
        titled: false,
        tools,
        invalid,
        shelves: &[Shelf {
            name: "tasks",
            about: "All tasks: running, queued and completed",
            key: "task_id",
            records: |works| {
                works
                    .processes
                    .iter()
                    .chain(&works.queue)
                    .chain(&works.completed)
                    .cloned()
                    .collect()
            },
        }],
    }
}

const fn status_tool(fields: &'static [SchemaField]) -> SampleTool<TasksByOutcome> {
    SampleTool::new(
        "status",
        "Show running, queued and completed tasks.",
        Hints::READS,
        fields,
        status,
    )
}

const TASK: SchemaField = SchemaField::optional(
    "task_id",
    SchemaTakes::Text(0),
    "Only this task, such as T-local-xyz",
);
const ABOUT_FORMAT: &str = "How the status is written";
static JSON_FIRST: Kit<TasksByOutcome> = kit_of(&[status_tool(&[
    TASK,
    SchemaField::optional(
        "format",
        SchemaTakes::Choice(&["json", "markdown"]),
        ABOUT_FORMAT,
    ),
])]);
static MARKDOWN_FIRST: Kit<TasksByOutcome> = kit_of(&[status_tool(&[
    TASK,
    SchemaField::optional(
        "format",
        SchemaTakes::Choice(&["markdown", "json"]),
        ABOUT_FORMAT,
    ),
])]);

/// The two shapes that are Markdown have it as the default of `format` too.
fn markdown_first(options: &SampleOptions) -> bool {
    matches!(options.shape.as_str(), "before" | "plain")
}

pub(super) fn kit(options: &SampleOptions) -> &'static Kit<TasksByOutcome> {
    if markdown_first(options) {
        &MARKDOWN_FIRST
    } else {
        &JSON_FIRST
    }
}

fn variant(options: &SampleOptions) -> String {
    let what = match options.shape.as_str() {
        "bare" => "bare JSON, or Markdown on demand,",
        "before" => "emoji Markdown, or JSON on demand,",
        "plain" => "plain Markdown, or JSON on demand,",
        _ => "JSON in a fence, or Markdown on demand,",
    };
    format!("Re-creates the delegator system, {what} as text only.")
}

fn invalid(violations: &[Violation], _: &SampleCall<'_>) -> Value {
    let messages: Vec<_> = violations
        .iter()
        .map(|violation| violation.message.as_str())
        .collect();
    text_result(&format!("Error: {}", messages.join("; ")), true)
}

/// How many of the completed tasks are ever shown.
const LAST: usize = 5;

/// Kept oddity: a task that nobody knows is no error, and looks like a system at rest.
fn status(works: &mut TasksByOutcome, call: &SampleCall<'_>) -> Value {
    let only;
    let works = match call.args.text("task_id") {
        Some(task) => {
            only = works.only(&task);
            &only
        }
        None => works,
    };
    let markdown = call
        .args
        .text("format")
        .map_or(markdown_first(call.options), |format| format == "markdown");
    let text = match (markdown, call.shape()) {
        (true, "plain") => plain(works),
        (true, _) => before(works),
        (false, "bare" | "before") => pretty(&data(works)),
        (false, _) => format!(
            "# Status Check Result\n\n```json\n{}\n```\n",
            pretty(&data(works))
        ),
    };
    text_result(&text, false)
}

fn last(works: &TasksByOutcome) -> &[Value] {
    &works.completed[..works.completed.len().min(LAST)]
}

/// The status as data: a summary, then the sections that are not empty.
pub fn data(works: &TasksByOutcome) -> Value {
    let mut data = Map::new();
    let summary = json!({"running": works.processes.len(), "queued": works.queue.len(), "recently_completed": last(works).len()});
    data.insert("summary".into(), summary);
    for (name, list) in [
        ("processes", &works.processes[..]),
        ("queue", &works.queue),
        ("recently_completed", last(works)),
    ] {
        if !list.is_empty() {
            data.insert(name.into(), list.into());
        }
    }
    data.into()
}

/// A member as text; what is not there is left blank.
fn word(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn before(works: &TasksByOutcome) -> String {
    let mut blocks = vec![
        "## 📊 Codex Execution Status".to_owned(),
        "### Active Processes (MCP Server)".to_owned(),
    ];
    if works.processes.is_empty() {
        blocks.push("_No active processes_".into());
    }
    for (n, process) in works.processes.iter().enumerate() {
        blocks.push(format!("**Process {}:**", n + 1));
        let (progress, metrics) = (&process["progress"], &process["metrics"]);
        blocks.push(format!(
            "- **Process ID (PID):** {}\n- **Task ID:** {}\n- **Started:** {} seconds ago\n- **Progress:** {}% ({}/{} steps)\n- **Status:** {}\n- **Current Activity:** {}\n- **Metrics:** {} file(s) changed, {} command(s) executed",
            process["pid"],
            word(&process["task_id"]),
            process["elapsed_seconds"],
            progress["percent"],
            progress["completed_steps"],
            progress["total_steps"],
            word(&process["status"]),
            word(&process["activity"]),
            word(&metrics["files_changed"]),
            word(&metrics["commands_executed"]),
        ));
    }
    blocks.extend(["---".into(), "### 📋 Task Queue Status".into()]);
    blocks.push(format!("**Running:** {}", works.processes.len()));
    blocks.push(format!("**Queued:** {}", works.queue.len()));
    if !works.queue.is_empty() {
        blocks.push(lines(&works.queue, |task| {
            format!(
                "- **{}:** {} (waiting {} seconds)",
                word(&task["task_id"]),
                word(&task["title"]),
                task["waiting_seconds"]
            )
        }));
    }
    blocks.extend([
        "---".into(),
        format!("### ✅ Recently Completed Tasks (Last {LAST} in this directory)"),
    ]);
    if works.completed.is_empty() {
        blocks.push("_No recently completed tasks in this directory_".into());
    } else {
        blocks.push(lines(last(works), |task| {
            let icon = if task["status"] == "completed" {
                "✅"
            } else {
                "❌"
            };
            format!(
                "- {icon} **{}:** {} ({} seconds ago)",
                word(&task["task_id"]),
                word(&task["title"]),
                task["finished_seconds_ago"]
            )
        }));
    }
    blocks.join("\n\n")
}

fn lines(tasks: &[Value], line: impl Fn(&Value) -> String) -> String {
    tasks.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn plain(works: &TasksByOutcome) -> String {
    let (running, queued, completed) =
        (works.processes.len(), works.queue.len(), last(works).len());
    let mut blocks = vec![format!(
        "# Status\n\n{running} running, {queued} queued, {completed} recently completed"
    )];
    if running > 0 {
        let list = lines(&works.processes, |process| {
            let (progress, metrics) = (&process["progress"], &process["metrics"]);
            format!(
                "- {} (PID {}): {}, {}, {} s, {}% ({}/{} steps), {} files changed, {} commands executed",
                word(&process["task_id"]),
                process["pid"],
                word(&process["status"]),
                word(&process["activity"]),
                process["elapsed_seconds"],
                progress["percent"],
                progress["completed_steps"],
                progress["total_steps"],
                word(&metrics["files_changed"]),
                word(&metrics["commands_executed"]),
            )
        });
        blocks.push(format!("## Running ({running})\n\n{list}"));
    }
    if queued > 0 {
        let list = lines(&works.queue, |task| {
            format!(
                "- {}: {}, waiting {} s",
                word(&task["task_id"]),
                word(&task["title"]),
                task["waiting_seconds"]
            )
        });
        blocks.push(format!("## Task Queue\n\n{list}"));
    }
    if completed > 0 {
        let list = lines(last(works), |task| {
            format!(
                "- {}: {}, {}, {} s ago",
                word(&task["task_id"]),
                word(&task["title"]),
                word(&task["status"]),
                task["finished_seconds_ago"]
            )
        });
        blocks.push(format!("## Recently Completed ({completed})\n\n{list}"));
    }
    blocks.join("\n\n")
}
