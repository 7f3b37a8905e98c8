//! The tree pane's view: the payload with tokens of each subtree and marks against the text.

use crate::analysis::query::{Ctx, Query, Stop, Weigh};
use std::collections::HashMap;
use std::sync::Arc;

use crate::capture::{FactCount, FactMatches, FactState, Origin, Payload, locate_facts};
use crate::format::ParsedCapture;
use crate::token;

/// What a leaf's value became in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    NotInText,
    /// The text says this instead.
    Differs(String),
}

/// The payload as a tree.
#[derive(Clone, Debug)]
pub struct TreeView {
    pub payload: Arc<Payload>,
    /// Tokens (o200k_base, compact JSON) of each node's subtree with its key, by tape index minus the root's.
    pub tokens: Vec<u32>,
    /// Marks of leaves by tape index; empty where the payload was read from the text itself.
    pub marks: HashMap<usize, Mark>,
    /// Number of marks inside each container by tape index: (not in text, differs).
    pub marks_inside: HashMap<usize, (u32, u32)>,
    pub matched: FactMatches,
    /// How many facts there are.
    pub facts: u64,
}

impl TreeView {
    pub(super) fn of(subject: &ParsedCapture) -> Option<Self> {
        let Some(payload) = &subject.payload else { return None };
        let root = payload.root();
        let tokens = token::subtrees(root);
        let mut view = Self {
            payload: Arc::new(payload.clone()),
            tokens,
            marks: HashMap::new(),
            marks_inside: HashMap::new(),
            matched: FactMatches::default(),
            facts: FactCount::all_kept(payload).total,
        };
        let text = subject.reading.content_text();
        if let (Origin::Structured, Some(text)) = (&payload.origin, text) {
            view.matched = locate_facts(payload, &text);
            view.mark(&text);
        }
        Some(view)
    }

    fn mark(&mut self, text: &str) {
        for fact in &self.matched.facts {
            let mark = match (fact.state(), fact.place()) {
                (FactState::Kept | FactState::Reworded, _) => continue,
                (FactState::Differs, Some(place)) => Mark::Differs(text[place].to_owned()),
                (FactState::Missing | FactState::Differs, _) => Mark::NotInText,
            };
            let mut parent = self.payload.doc.node(fact.node()).and_then(|node| node.parent());
            while let Some(node) = parent.filter(|node| node.index() >= self.payload.root) {
                let inside = self.marks_inside.entry(node.index()).or_default();
                match mark {
                    Mark::NotInText => inside.0 += 1,
                    Mark::Differs(_) => inside.1 += 1,
                }
                parent = node.parent();
            }
            self.marks.insert(fact.node(), mark);
        }
    }

    /// Tokens of the subtree at a tape index.
    pub fn tokens_of(&self, node: usize) -> u32 {
        self.tokens.get(node.wrapping_sub(self.payload.root)).copied().unwrap_or(0)
    }
}

/// The payload as a tree with tokens and marks; `None` where the answer has no payload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TreeQuery;

impl Query for TreeQuery {
    type Out = Option<Arc<TreeView>>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(TreeView::of(cx.subject()?).map(Arc::new))
    }
}

impl Weigh for TreeView {
    fn weight(&self) -> usize {
        self.tokens.len() * 4 + self.matched.weight()
    }
}
