//! Standard output holds messages alone.

use crate::doctor::{ConnectionEvidence, DoctorStep, Look, StepGroup};
use loupe_core::number::number_of;

pub const STEP: DoctorStep = DoctorStep {
    id: "first-output",
    title: "First output is a message",
    group: StepGroup::Start,
    applies: |evidence| evidence.is_command(),
    look,
};

fn look(evidence: &ConnectionEvidence<'_>) -> Option<Look> {
    let first = evidence.first_message()?;
    let look = Look {
        received: format!("{} B of JSON-RPC", first.bytes.len()),
        took: Some(first.at),
        ..Look::default()
    };
    let mut strays = evidence.strays();
    let Some(stray) = strays.next() else {
        return Some(look);
    };
    let shown = String::from_utf8_lossy(&stray.bytes[..stray.bytes.len().min(4 * SHOWN)]);
    let shown: String = shown.trim().chars().take(SHOWN).collect();
    let lines = number_of(1 + strays.count() as u64, "lines");
    Some(look.warn(
        format!("{lines} on standard output are no messages, the first `{shown}`: some clients give up on them"),
        "write them to stderr",
    ))
}

/// Characters of a line that are quoted.
const SHOWN: usize = 80;
