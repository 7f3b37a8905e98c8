//! The records of the delegator: tasks that run, wait, or are done. JSON values, since hostile ones have odd members.

use serde_json::{Value, json};

use super::data::mix;
use super::hostile;

/// Tasks by what became of them, each in the order in which they are shown.
#[derive(Clone, Debug)]
pub(crate) struct TasksByOutcome {
    pub processes: Vec<Value>,
    pub queue: Vec<Value>,
    pub completed: Vec<Value>,
}

const RUNNING: usize = 3;
const QUEUED: usize = 2;

/// What a process does and how it is called: the first is the original's.
const ACTIVITIES: &[(&str, &str)] = &[
    ("working", "Processing turn unknown"),
    ("working", "Running tests in crates/core"),
    ("waiting", "Waiting for approval"),
];
const TITLES: &[&str] = &[
    "Fix the flaky login test",
    "Rename Session to Connection",
    "Update the changelog",
    "Add a retry to the uploader",
    "Übersetzung der Fehlermeldungen prüfen",
    "Remove unused feature flags 🧹",
    "依存関係を更新する",
    "Document the cache keys",
];

impl TasksByOutcome {
    /// `size` tasks: at most three run (besides the hostile ones, which all do), two wait, the rest are done.
    pub fn new(size: usize, hostile: bool) -> Self {
        let odd = if hostile {
            hostile::TEXTS.len().min(size)
        } else {
            0
        };
        let plain = size - odd;
        let queued = plain.saturating_sub(RUNNING).min(QUEUED);
        Self {
            processes: (0..odd)
                .map(hostile_process)
                .chain((0..plain.min(RUNNING)).map(process))
                .collect(),
            queue: (0..queued).map(waiting).collect(),
            completed: (0..plain.saturating_sub(RUNNING + QUEUED))
                .map(done)
                .collect(),
        }
    }

    /// Only what is known of one task.
    pub fn only(&self, task: &str) -> Self {
        let of = |list: &[Value]| {
            list.iter()
                .filter(|value| value["task_id"] == task)
                .cloned()
                .collect()
        };
        Self {
            processes: of(&self.processes),
            queue: of(&self.queue),
            completed: of(&self.completed),
        }
    }
}

/// Kept fault: half done, and no step of two completed.
fn process(n: usize) -> Value {
    let (status, activity) = ACTIVITIES[n % ACTIVITIES.len()];
    let (task, pid, seconds, steps) = if n == 0 {
        ("T-local-xyz".into(), 12345, 97, (50, 0, 2))
    } else {
        (
            format!("T-local-r{n:02}"),
            12345 + 11 * n,
            97 + 140 * n,
            (25 * n, n, 4),
        )
    };
    json!({
        "pid": pid,
        "task_id": task,
        "elapsed_seconds": seconds,
        "progress": {"percent": steps.0, "completed_steps": steps.1, "total_steps": steps.2},
        "status": status,
        "activity": activity,
        "metrics": {"files_changed": 2 * n, "commands_executed": 5 * n},
    })
}

fn waiting(n: usize) -> Value {
    json!({
        "task_id": format!("T-local-q{:02}", n + 1),
        "title": TITLES[mix(n, 51) % TITLES.len()],
        "position": n + 1,
        "waiting_seconds": 40 + 25 * n,
    })
}

fn done(n: usize) -> Value {
    let failed = n % 5 == 3;
    json!({
        "task_id": format!("T-local-c{:03}", n + 1),
        "title": TITLES[mix(n, 52) % TITLES.len()],
        "status": if failed { "failed" } else { "completed" },
        "finished_seconds_ago": 240 + 310 * n,
        "metrics": {"files_changed": mix(n, 53) % 12, "commands_executed": mix(n, 54) % 30},
    })
}

fn hostile_process(n: usize) -> Value {
    let (what, text) = hostile::TEXTS[n];
    let mut process = process(n + 1);
    process["task_id"] = format!("T-hostile-{:02}", n + 1).into();
    process["pid"] = (90_001 + n).into();
    process["activity"] = text.into();
    process["label"] = hostile::ZIP.into();
    match what {
        "odd numbers" => {
            process["pid"] = hostile::BIG_INTEGER.into();
            process["progress"]["percent"] = json!(1.0);
        }
        "empties" => {
            process["status"] = Value::Null;
            process["tags"] = json!([]);
            if let Some(object) = process.as_object_mut() {
                object.shift_remove("metrics");
            }
        }
        "long value" => process["activity"] = hostile::long().into(),
        _ => {}
    }
    process
}
