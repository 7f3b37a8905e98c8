//! What panes are called, and which row of the ledger tells what they cost.

use super::kind;
use crate::state::PaneView;
use crate::ui::Cx;
use crate::ui::theme::{Hue, ThemeTokens};
use loupe_core::format::{self, ParsedCapture};

/// What a pane is called, and its second word.
pub struct Title {
    pub name: String,
    /// The name where there is less room.
    pub short: String,
    pub subtitle: String,
    pub hue: Hue,
    /// The format whose row of the ledger tells what it costs, where that is one.
    pub row: Option<&'static str>,
}

impl Title {
    /// Of a pane of this format.
    pub fn new(name: &str, subtitle: &str, format: &'static str, t: &ThemeTokens) -> Self {
        let is_listed = format::by_id(format).is_some();
        Self {
            name: name.to_owned(),
            short: name.to_owned(),
            subtitle: subtitle.to_owned(),
            hue: t.hue(format),
            row: is_listed.then_some(format),
        }
    }
}

pub fn pane_title(
    cx: &Cx<'_>,
    view: PaneView,
    subject: Option<&ParsedCapture>,
    t: &ThemeTokens,
) -> Title {
    (kind(view).title)(cx, view, subject, t)
}
