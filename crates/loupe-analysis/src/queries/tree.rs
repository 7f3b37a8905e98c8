//! The tree pane's view: the data with marks against the text, and what each value costs.

use std::collections::HashMap;
use std::sync::Arc;

use crate::queries::query::{Ctx, Query, Stop, Weigh};
use loupe_core::capture::{FactCount, FactMatches, FactState, ResultData};
use loupe_core::format::ParsedCapture;
use loupe_core::token;

/// What a leaf's value became in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    NotInText,
    /// The text says this instead.
    Differs(String),
}

/// The data as a tree.
#[derive(Clone, Debug)]
pub struct TreeView {
    pub data: Arc<ResultData>,
    /// Marks of leaves by tape index; empty where the data was read from the text itself.
    pub marks: HashMap<usize, Mark>,
    /// Number of marks inside each container by tape index: (not in text, differs).
    pub marks_inside: HashMap<usize, (u32, u32)>,
    pub matched: Arc<FactMatches>,
    /// How many facts there are.
    pub facts: u64,
}

impl TreeView {
    pub(super) fn new(subject: &ParsedCapture) -> Option<Self> {
        let Some(data) = &subject.data else {
            return None;
        };
        let mut view = Self {
            data: Arc::new(data.clone()),
            marks: HashMap::new(),
            marks_inside: HashMap::new(),
            matched: Arc::default(),
            facts: FactCount::all_proved(data).total,
        };
        if data.is_structured()
            && let Some(text) = subject.response.content_text()
        {
            view.matched = subject.facts_in_text();
            view.mark(&text);
        }
        Some(view)
    }

    fn mark(&mut self, text: &str) {
        for fact in &self.matched.facts {
            let mark = match (fact.state(), fact.place()) {
                (FactState::Proved | FactState::Found, _) => continue,
                (FactState::Differs, Some(place)) => Mark::Differs(text[place].to_owned()),
                (FactState::Missing | FactState::Differs, _) => Mark::NotInText,
            };
            let mut parent = self
                .data
                .doc
                .node(fact.node())
                .and_then(|node| node.parent());
            while let Some(node) = parent.filter(|node| node.index() >= self.data.root) {
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
}

/// Tokens (o200k_base, compact JSON) of each value with its key and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeTokens {
    root: usize,
    /// By tape index minus the root's.
    tokens: Vec<u32>,
}

impl TreeTokens {
    /// Of the value at a tape index.
    pub fn of(&self, node: usize) -> u32 {
        self.tokens
            .get(node.wrapping_sub(self.root))
            .copied()
            .unwrap_or(0)
    }
}

/// The data as a tree with marks; `None` where the result has no data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TreeQuery;

impl Query for TreeQuery {
    type Out = Option<Arc<TreeView>>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(TreeView::new(cx.subject()?).map(Arc::new))
    }
}

impl Weigh for TreeView {
    fn weight(&self) -> usize {
        self.matched.weight()
    }
}

/// What each value of the data costs; `None` where the result has no data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TreeTokensQuery;

impl Query for TreeTokensQuery {
    type Out = Option<Arc<TreeTokens>>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let data = cx.subject()?.data.as_ref();
        Ok(data.map(|data| {
            Arc::new(TreeTokens {
                root: data.root,
                tokens: token::subtrees(data.root()),
            })
        }))
    }
}

impl Weigh for TreeTokens {
    fn weight(&self) -> usize {
        self.tokens.len() * 4
    }
}
