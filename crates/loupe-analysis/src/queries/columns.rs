//! The columns of data: one for every key, in whichever record it stands.

use std::collections::HashMap;

use foldhash::HashMapExt;

use loupe_core::json::walk::{WalkEvent, walk};
use loupe_core::json::{Kind, Node, write};

/// A key at one place of the records, or the elements of a list there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataColumn {
    /// The key; `None` for the elements of a list, and for the root.
    key: Option<String>,
    /// The column around it; `None` for the root, which is column 0.
    parent: Option<usize>,
    /// Whether one of them is no array and no object.
    pub has_leaves: bool,
}

/// Every column, the ones around before the ones inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    pub columns: Vec<DataColumn>,
    /// The column of each node, by tape index minus the root's.
    pub(crate) of_node: Vec<usize>,
    inside: HashMap<(usize, Option<String>), usize>,
}

impl Columns {
    /// Sorts every node under `root` into its column.
    pub fn of(root: Node<'_>) -> Self {
        let base = root.index();
        let mut all = Self {
            of_node: Vec::with_capacity(root.subtree_end() - base),
            ..Self::default()
        };
        // By the column around and the key as it is spelled, which costs less than the key.
        let mut spelled: foldhash::HashMap<(usize, Option<&[u8]>), usize> =
            foldhash::HashMap::new();
        walk(root, |event| {
            let (WalkEvent::Open(node) | WalkEvent::Scalar(node)) = event else {
                return;
            };
            let parent = node
                .parent()
                .filter(|_| node.index() != base)
                .map(|parent| all.of_node[parent.index() - base]);
            let column = match parent {
                None => all.add(DataColumn {
                    key: None,
                    parent,
                    has_leaves: false,
                }),
                Some(at) => *spelled.entry((at, node.raw_key())).or_insert_with(|| {
                    let key = node.key().map(|key| key.into_owned());
                    let known = all.inside.get(&(at, key.clone())).copied();
                    known.unwrap_or_else(|| {
                        let new = all.add(DataColumn {
                            key: key.clone(),
                            parent,
                            has_leaves: false,
                        });
                        all.inside.insert((at, key), new);
                        new
                    })
                }),
            };
            all.columns[column].has_leaves |= !node.is_container();
            all.of_node.push(column);
        });
        all
    }

    fn add(&mut self, column: DataColumn) -> usize {
        self.columns.push(column);
        self.columns.len() - 1
    }

    /// A JSON pointer with `*` for the elements of a list: `/items/*/city`; empty for the root. A key that is `*`
    /// stands as `~2`.
    pub fn path(&self, column: usize) -> String {
        let mut parts = Vec::new();
        let mut at = Some(column);
        while let Some(column) = at.and_then(|at| self.columns.get(at)) {
            if column.parent.is_some() {
                parts.push(column.key.as_deref().map_or_else(|| "*".to_owned(), escape));
            }
            at = column.parent;
        }
        parts
            .iter()
            .rev()
            .fold(String::new(), |path, part| path + "/" + part)
    }

    /// The column at a path as [`Columns::path`] writes it.
    pub fn find(&self, path: &str) -> Option<usize> {
        let mut at = (!self.columns.is_empty()).then_some(0)?;
        for part in path.split('/').skip(1) {
            let key = (part != "*").then(|| {
                part.replace("~1", "/")
                    .replace("~2", "*")
                    .replace("~0", "~")
            });
            at = *self.inside.get(&(at, key))?;
        }
        Some(at)
    }
}

pub(super) fn escape(key: &str) -> String {
    if key == "*" {
        "~2".to_owned()
    } else {
        key.replace('~', "~0").replace('/', "~1")
    }
}

/// The compact JSON of a value without the nodes that `is_left_out` names, each with all that is inside.
pub(super) fn compact_without(root: Node<'_>, is_left_out: impl Fn(Node<'_>) -> bool) -> String {
    let mut text = String::with_capacity(root.range().len());
    // For each container that is open: whether something is in it.
    let mut filled: Vec<bool> = Vec::new();
    // The tape indices of what is being left out.
    let mut skipped = 0..0;
    walk(root, |event| match event {
        WalkEvent::Open(node) | WalkEvent::Scalar(node) => {
            if skipped.contains(&node.index()) {
                return;
            }
            if node.index() != root.index() {
                if is_left_out(node) {
                    skipped = node.index()..node.subtree_end();
                    return;
                }
                if let Some(is_filled) = filled.last_mut() {
                    if *is_filled {
                        text.push(',');
                    }
                    *is_filled = true;
                }
                if let Some(key) = node.raw_key() {
                    write::push_raw(&mut text, key);
                    text.push(':');
                }
            }
            match node.kind() {
                Kind::Object => text.push('{'),
                Kind::Array => text.push('['),
                _ => write::push_scalar(&mut text, node),
            }
            if node.is_container() {
                filled.push(false);
            }
        }
        WalkEvent::Close(node) if skipped.contains(&node.index()) => {}
        WalkEvent::Close(node) => {
            filled.pop();
            text.push(if node.kind() == Kind::Object {
                '}'
            } else {
                ']'
            });
        }
    });
    text
}
