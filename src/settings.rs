//! What the user chose, as plain data. Kept for this run; panel sizes are egui's own memory. Uses `token`.

use crate::token::{Encoding, Tokenizer};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system says.
    #[default]
    System,
    Dark,
    Light,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub theme: Theme,
    /// The tokenizer of ratios and of every number shown alone.
    pub tokenizer: Tokenizer,
    /// Format id that ratios are against; `None` is the default of the contract (`json`, else `content`).
    pub baseline: Option<&'static str>,
    /// Whether long lines of the text pane wrap.
    pub wrap: bool,
    pub sidebar_open: bool,
    pub drawer_open: bool,
    /// The model whose price and context are shown, by name; `None` while nobody wants money.
    pub model: Option<String>,
}

impl Settings {
    /// The encoding of what is counted in the built-in ones alone: tree, definitions, selections.
    pub fn encoding(&self) -> Encoding {
        self.tokenizer.nearest_encoding()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::System,
            tokenizer: Tokenizer::default(),
            baseline: None,
            wrap: true,
            sidebar_open: true,
            drawer_open: true,
            model: None,
        }
    }
}
