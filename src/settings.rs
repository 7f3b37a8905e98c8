//! What the user chose, as plain data. Kept for this run; panel sizes are egui's own memory. Uses `token`.

use crate::token::Encoding;

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
    pub tokenizer: Encoding,
    /// Format id that ratios are against; `None` is the default of the contract (`json`, else `content`).
    pub baseline: Option<&'static str>,
    /// Whether long lines of the text pane wrap.
    pub wrap: bool,
    pub sidebar_open: bool,
    pub drawer_open: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::System,
            tokenizer: Encoding::O200kBase,
            baseline: None,
            wrap: true,
            sidebar_open: true,
            drawer_open: true,
        }
    }
}
