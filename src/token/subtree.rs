//! Tokens of every node of a tree, so that what the tree shows adds up to what the ledger shows.

use super::pieces;
use crate::cancel::{Cancel, Cancelled};
use crate::json::walk::{Event, walk};
use crate::json::{Kind, Node, write};

/// Tokens (o200k_base, of the compact JSON with the member's key) of every node's subtree below and including `root`,
/// by tape index minus the root's. Each token of the whole text belongs to the node it begins in: a key to its
/// member, commas and brackets to their container. So children and punctuation add up, and the root's number is
/// that of the format `json`.
///
/// # Errors
/// [`Cancelled`] when the asker looked away.
pub fn subtrees(root: Node<'_>, cancel: &Cancel) -> Result<Vec<u32>, Cancelled> {
    let base = root.index();
    let mut tokens = vec![0_u32; root.subtree_end() - base];
    let (text, owners) = owned_text(root, cancel)?;
    let tokenizer = bpe_openai::o200k_base();
    let mut at = 0;
    let mut owner = 0;
    pieces(&text, cancel, |piece| {
        for word in tokenizer.split(piece) {
            for token in tokenizer.bpe.encode_via_backtracking(word.as_bytes()) {
                while owners.get(owner + 1).is_some_and(|&(from, _)| from <= at) {
                    owner += 1;
                }
                if let Some(&(_, node)) = owners.get(owner) {
                    tokens[node] += 1;
                }
                at += tokenizer.bpe.token_len(token);
            }
        }
    })?;
    for index in (1..tokens.len()).rev() {
        if let Some(parent) = root.doc().node(base + index).and_then(Node::parent) {
            tokens[parent.index() - base] += tokens[index];
        }
    }
    Ok(tokens)
}

/// The compact JSON, and from which byte on it belongs to which node.
fn owned_text(root: Node<'_>, cancel: &Cancel) -> Result<(String, Vec<(usize, usize)>), Cancelled> {
    let base = root.index();
    let mut text = String::with_capacity(root.range().len());
    let mut owners: Vec<(usize, usize)> = Vec::new();
    let mut seen = 0_u32;
    let own = |owners: &mut Vec<(usize, usize)>, at: usize, node: Node<'_>| owners.push((at, node.index() - base));
    walk(root, |event| {
        seen = seen.wrapping_add(1);
        if seen.is_multiple_of(4_096) {
            cancel.check()?;
        }
        match event {
            Event::Open(node) | Event::Scalar(node) => {
                if node.index() != base && node.ordinal() > 0 {
                    if let Some(parent) = node.parent() {
                        own(&mut owners, text.len(), parent);
                    }
                    text.push(',');
                }
                own(&mut owners, text.len(), node);
                if let (Some(key), true) = (node.raw_key(), node.index() != base) {
                    write::push_raw(&mut text, key);
                    text.push(':');
                }
                match node.kind() {
                    Kind::Object => text.push('{'),
                    Kind::Array => text.push('['),
                    _ => write::push_scalar(&mut text, node),
                }
            }
            Event::Close(node) => {
                own(&mut owners, text.len(), node);
                text.push(if node.kind() == Kind::Object { '}' } else { ']' });
            }
        }
        Ok::<(), Cancelled>(())
    })?;
    Ok((text, owners))
}
