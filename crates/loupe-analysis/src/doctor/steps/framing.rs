//! Each message is one line of UTF-8.

use crate::doctor::{ConnectionEvidence, DoctorStep, Look, StepGroup};
use loupe_core::capture::Line;

pub const STEP: DoctorStep = DoctorStep {
    id: "framing",
    title: "One message a line",
    group: StepGroup::Start,
    applies: |evidence| evidence.is_command(),
    look,
};

fn look(evidence: &ConnectionEvidence<'_>) -> Option<Look> {
    let first = evidence.first_message()?;
    let look = Look {
        received: "each message is one line".into(),
        ..Look::default()
    };
    if first.bytes.starts_with(b"\xef\xbb\xbf") {
        return Some(look.warn(
            "its first line begins with a byte order mark",
            "write UTF-8 without one",
        ));
    }
    let is_spread = |line: &Line| matches!(line.bytes.trim_ascii(), b"{" | b"[");
    if evidence.strays().any(is_spread) {
        return Some(look.warn(
            "it writes a message over several lines",
            "write each message on one line, without indentation",
        ));
    }
    Some(look)
}
