//! Formats that indent, or repeat a path in every line, grow by the square of the depth. What that would add is computed
//! first, and refused where it is out of all proportion, rather than written for hours.

use super::WriteError;
use crate::json::Node;
use crate::json::walk::{WalkEvent, walk};
use crate::layout::longest_backticks;

/// Added bytes that are always borne: each such text is counted twice, read back and searched besides.
const FREE: u64 = 16 << 20;
/// Above them, added bytes are borne up to so many times the data.
const TIMES: u64 = 8;

/// Refuses where `added` bytes of `what` are too many for this data.
pub(super) fn check(
    added: u64,
    what: &str,
    root: Node<'_>,
    format: &str,
) -> Result<(), WriteError> {
    if added <= FREE.max(TIMES.saturating_mul(root.raw().len() as u64)) {
        return Ok(());
    }
    Err(WriteError(format!(
        "so deep that {what} alone would take {} MB: {format} is not written",
        added / 1_000_000
    )))
}

/// Bytes of indentation where every value and every closing is on its own line, two spaces a level.
pub(super) fn indentation(root: Node<'_>) -> u64 {
    let mut total = 0_u64;
    let mut depth = 0_u64;
    walk(root, |event| match event {
        WalkEvent::Scalar(_) => total = total.saturating_add(depth * 2),
        WalkEvent::Open(_) => {
            total = total.saturating_add(depth * 2);
            depth += 1;
        }
        WalkEvent::Close(_) => {
            depth -= 1;
            total = total.saturating_add(depth * 2);
        }
    });
    total
}

/// A fence that no string or key below `root` can close.
pub(super) fn fence(root: Node<'_>) -> String {
    // An escape may hide one.
    let text = root.raw_text();
    let text = if text.contains("\\u0060") {
        text.replace("\\u0060", "`").into()
    } else {
        text
    };
    "`".repeat((longest_backticks(&text) + 1).max(3))
}
