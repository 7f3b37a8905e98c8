//! Equality of values: objects without their order, numbers by exact value, strings by code points.
//!
//! Every node gets a digest of 64 bits with a seed of its own in every comparison, so that one look tells whether two
//! subtrees are equal, however deep they are. Two different values are taken for equal once in 2^64.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};

use crate::json::decimal::Decimal;
use crate::json::{FaultKind, Kind, Node};

/// The digests of a subtree.
pub(super) struct Digests {
    base: usize,
    of: Vec<u64>,
}

impl Digests {
    /// Digests of `root` and everything below it; comparable with those made with the same `seed`.
    pub(super) fn new(root: Node<'_>, seed: &RandomState) -> Self {
        let base = root.index();
        let doc = root.doc();
        // Of members of one name the last one counts for most readers, so there the order matters.
        let has_duplicates = doc
            .faults()
            .iter()
            .any(|fault| fault.kind == FaultKind::DuplicateKey);
        let mut of = vec![0_u64; root.subtree_end() - base];
        // Children stand after their parents on the tape, so that backwards every node is complete when it is met.
        for at in (0..of.len()).rev() {
            let Some(node) = doc.node(base + at) else {
                continue;
            };
            let digest = match node.kind() {
                Kind::Array | Kind::Object => seed.hash_one((node.kind(), of[at], node.len())),
                kind => seed.hash_one((kind, scalar(node))),
            };
            of[at] = digest;
            if at == 0 {
                break;
            }
            let Some(parent) = node.parent() else {
                continue;
            };
            let place = match node.key() {
                Some(key) => seed.hash_one((
                    key.as_ref(),
                    if has_duplicates { node.ordinal() } else { 0 },
                    digest,
                )),
                None => seed.hash_one((node.ordinal(), digest)),
            };
            let parent = parent.index() - base;
            of[parent] = of[parent].wrapping_add(place);
        }
        Self { base, of }
    }

    pub(super) fn get(&self, node: Node<'_>) -> u64 {
        self.of[node.index() - self.base]
    }
}

/// One digest of a value: equal for equal values under the same `seed`.
pub fn digest(root: Node<'_>, seed: &RandomState) -> u64 {
    Digests::new(root, seed).get(root)
}

/// What a scalar is, next to its kind: its text and, for a number, sign and power of ten.
pub(super) fn scalar<'a>(node: Node<'a>) -> (Cow<'a, str>, bool, i64) {
    match node.kind() {
        Kind::Number => number(node.as_number().unwrap_or_default()),
        Kind::String => match node.as_str() {
            // What stands for something unreadable is distinguished by its bytes.
            Some(text) if !text.contains(char::REPLACEMENT_CHARACTER) => (text, false, 0),
            _ => (node.raw_text(), true, 0),
        },
        _ => (node.raw_text(), false, 0),
    }
}

/// A decimal literal by value: its digits, its sign, and the power of ten of the last digit.
fn number(literal: &str) -> (Cow<'_, str>, bool, i64) {
    match Decimal::new(literal) {
        Some(decimal) => (
            Cow::Owned(decimal.digits),
            decimal.is_negative,
            decimal.power,
        ),
        // An exponent beyond all use: equal only where it is spelled alike.
        None => (Cow::Borrowed(literal), false, i64::MIN),
    }
}
