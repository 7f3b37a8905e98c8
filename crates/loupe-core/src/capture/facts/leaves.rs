//! Which values of the data are facts.

use super::canon::is_space;
use crate::json::{Kind, Node};

/// How many facts there are.
pub(super) fn facts_of(root: Node<'_>) -> u64 {
    leaves(root).count() as u64
}

pub(super) fn is_fact(node: Node<'_>) -> bool {
    match node.kind() {
        Kind::Number | Kind::Bool => true,
        // Most texts begin with what is no space; to decode them all costs more.
        Kind::String if matches!(node.raw(), [b'"', first, ..] if first.is_ascii_alphanumeric()) => {
            true
        }
        Kind::String => node
            .as_str()
            .is_some_and(|text| !text.chars().all(is_space)),
        Kind::Null | Kind::Array | Kind::Object => false,
    }
}

/// The leaves below a node that are facts.
pub(super) fn leaves(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let nodes = (root.index()..root.subtree_end()).filter_map(move |index| root.doc().node(index));
    nodes.filter(|node| is_fact(*node))
}
