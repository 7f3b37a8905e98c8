//! Which hosts come first, and how the rules of one are known.

use crate::state::HostsView;
use crate::ui::icons;
use loupe_analysis::queries::HostRow;
use loupe_core::host::Evidence;

/// What is waited for while the report is made.
pub const READING: &str = "Reading the answer as each host does";

/// Own and pinned hosts before the others, which keep their order.
pub fn first<T>(all: impl IntoIterator<Item = T>, is_first: impl Fn(&T) -> bool) -> Vec<T> {
    let (mut first, others): (Vec<T>, Vec<T>) = all.into_iter().partition(is_first);
    first.extend(others);
    first
}

/// Whether a host stands first: from the user's own file, pinned, or found on this computer.
pub fn is_first(row: &HostRow, view: &HostsView) -> bool {
    row.host.is_own || view.pinned.contains(&row.host.id) || view.found.contains(&row.host.id)
}

/// The icon of each kind of evidence.
pub fn evidence_icon(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Observed => icons::OBSERVED,
        Evidence::Source => icons::CODE,
        Evidence::Documented => icons::DOCUMENTED,
        Evidence::Inferred => icons::INFERRED,
    }
}
