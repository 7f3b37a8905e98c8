//! Where the tokens of a tree go: each token with the node and the kind of text it begins in, so that what the tree
//! and the token map show adds up to what the ledger shows.

use super::{Encoding, pieces};
use crate::json::walk::{WalkEvent, walk};
use crate::json::{Kind, Node, write};

/// What a token of compact JSON begins in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The inside of a member's name.
    Key,
    /// Brackets, commas, colons and quotes.
    Punctuation,
    /// Nothing but white space, inside a string.
    Space,
    /// The rest: numbers, words, and the inside of strings.
    Value,
}

/// Tokens (o200k_base, of the compact JSON with the member's key) of every node's subtree below and including `root`,
/// by tape index minus the root's. Each token of the whole text belongs to the node it begins in: a key to its
/// member, commas and brackets to their container. So children and punctuation add up, and the root's number is
/// that of the format `json`.
pub fn subtrees(root: Node<'_>) -> Vec<u32> {
    let base = root.index();
    let mut tokens = vec![0_u32; root.subtree_end() - base];
    each_token(root, Encoding::O200kBase, |node, _| tokens[node] += 1);
    for index in (1..tokens.len()).rev() {
        if let Some(parent) = root.doc().node(base + index).and_then(Node::parent) {
            tokens[parent.index() - base] += tokens[index];
        }
    }
    tokens
}

/// Hands out every token of the compact JSON, in order: the node it begins in, by tape index minus the root's, and
/// what it begins in there.
pub fn each_token(root: Node<'_>, encoding: Encoding, mut take: impl FnMut(usize, Role)) {
    let (text, owners) = owned_text(root);
    let mut owner = 0;
    each_start(&text, encoding, |at, bytes| {
        while owners.get(owner + 1).is_some_and(|next| next.from <= at) {
            owner += 1;
        }
        if let Some(&Owner { node, role, .. }) = owners.get(owner) {
            let is_space = role == Role::Value && bytes.iter().all(u8::is_ascii_whitespace);
            take(node, if is_space { Role::Space } else { role });
        }
    })
}

/// Hands out every token of a text, in order: the byte it begins at, and its bytes.
pub fn each_start(text: &str, encoding: Encoding, mut take: impl FnMut(usize, &[u8])) {
    let encoder = encoding.encoder();
    let mut at = 0;
    pieces(text, |piece| {
        encoder.each_token(piece, |bytes| {
            take(at, bytes);
            at += bytes.len();
        });
    });
}

/// From which byte on the text belongs to which node, and as what.
struct Owner {
    from: usize,
    node: usize,
    role: Role,
}

/// The compact JSON, and whose it is from where on.
fn owned_text(root: Node<'_>) -> (String, Vec<Owner>) {
    let base = root.index();
    let mut text = String::with_capacity(root.range().len());
    let mut owners: Vec<Owner> = Vec::new();
    let own = |owners: &mut Vec<Owner>, from: usize, node: Node<'_>, role: Role| {
        owners.push(Owner {
            from,
            node: node.index() - base,
            role,
        });
    };
    walk(root, |event| match event {
        WalkEvent::Open(node) | WalkEvent::Scalar(node) => {
            if node.index() != base && node.ordinal() > 0 {
                if let Some(parent) = node.parent() {
                    own(&mut owners, text.len(), parent, Role::Punctuation);
                }
                text.push(',');
            }
            own(&mut owners, text.len(), node, Role::Punctuation);
            if let (Some(key), true) = (node.raw_key(), node.index() != base) {
                own(&mut owners, text.len() + 1, node, Role::Key);
                write::push_raw(&mut text, key);
                own(&mut owners, text.len() - 1, node, Role::Punctuation);
                text.push(':');
            }
            match node.kind() {
                Kind::Object => text.push('{'),
                Kind::Array => text.push('['),
                Kind::String => {
                    own(&mut owners, text.len() + 1, node, Role::Value);
                    write::push_scalar(&mut text, node);
                    own(&mut owners, text.len() - 1, node, Role::Punctuation);
                }
                _ => {
                    own(&mut owners, text.len(), node, Role::Value);
                    write::push_scalar(&mut text, node);
                }
            }
        }
        WalkEvent::Close(node) => {
            own(&mut owners, text.len(), node, Role::Punctuation);
            text.push(if node.kind() == Kind::Object {
                '}'
            } else {
                ']'
            });
        }
    });
    (text, owners)
}
