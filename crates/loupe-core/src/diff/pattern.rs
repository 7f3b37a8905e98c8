//! Places in every record at once: a JSON Pointer whose list positions are `*`, such as `/items/*/city`.

use crate::json::{Kind, Node};

/// The pointer from the ancestor at tape index `from`, with `*` for every position in a list.
pub fn pattern(node: Node<'_>, from: usize) -> String {
    let mut steps = Vec::new();
    let mut node = node;
    while node.index() != from {
        let Some(parent) = node.parent() else { break };
        steps.push(match node.key() {
            Some(key) if parent.kind() == Kind::Object => key.replace('~', "~0").replace('/', "~1"),
            _ => "*".to_owned(),
        });
        node = parent;
    }
    steps
        .iter()
        .rev()
        .fold(String::new(), |pattern, step| pattern + "/" + step)
}

/// Whether the pattern names the place of this pointer, or one above it. A `*` stands for any one step.
pub fn covers(pattern: &str, pointer: &str) -> bool {
    let mut steps = pointer.split('/').skip(1);
    pattern.split('/').skip(1).all(|wanted| {
        steps
            .next()
            .is_some_and(|step| wanted == "*" || wanted == step)
    })
}

/// The last step as people read it: `city` of `/items/*/city`.
pub fn name(pattern: &str) -> String {
    let last = pattern
        .rsplit('/')
        .find(|step| *step != "*")
        .unwrap_or_default();
    last.replace("~1", "/").replace("~0", "~")
}
