//! A walk over a subtree in document order, without recursion: depth is data.

use super::Node;

/// What the walk meets.
#[derive(Clone, Copy, Debug)]
pub enum WalkEvent<'a> {
    /// A container begins.
    Open(Node<'a>),
    /// The container ends.
    Close(Node<'a>),
    /// A null, boolean, number or string.
    Scalar(Node<'a>),
}

/// Visits `root` and everything below it.
pub fn walk<'a>(root: Node<'a>, mut visit: impl FnMut(WalkEvent<'a>)) {
    let mut open: Vec<(Node<'a>, usize)> = Vec::new();
    for index in root.index()..root.subtree_end() {
        while let Some((node, _)) = open.pop_if(|(_, end)| *end <= index) {
            visit(WalkEvent::Close(node));
        }
        let Some(node) = root.doc().node(index) else {
            break;
        };
        if node.is_container() {
            visit(WalkEvent::Open(node));
            open.push((node, node.subtree_end()));
        } else {
            visit(WalkEvent::Scalar(node));
        }
    }
    while let Some((node, _)) = open.pop() {
        visit(WalkEvent::Close(node));
    }
}
