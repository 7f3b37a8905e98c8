//! The three panes: their frame, how they share the room, and the list of what a pane can show.

mod breaks;
mod card;
pub mod colour;
mod copy;
mod data_table;
mod find;
mod frame;
mod glyph;
mod header;
mod hex;
mod host;
mod inline;
pub mod item;
pub mod markdown;
pub mod rendered;
pub mod rtl;
mod reading;
mod select;
mod strip;
pub mod table;
mod text;
mod title;
mod tree;

use std::time::Duration;

use egui::{Align, Id, Layout, Ui};

use super::{Cx, widgets};
use crate::capture::{Block, BlockKind};
use crate::format;
use crate::problem::{Problem, ProblemKind};
use crate::state::PaneView;

pub use data_table::copy_table;
pub use frame::panes_ui;
pub use hex::hex_text;
pub use host::{host_alone_ui, legend_ui as host_legend_ui, next_cut, show_in_host};
pub use reading::readers_ui;

/// What tells the panes apart, whatever they show.
pub const PLACES: [&str; 3] = ["first", "second", "third"];

/// What a body gets besides `Ui` and state: which pane it is, and of which format.
pub struct PaneCx {
    pub index: usize,
    /// The format's id; `structured` in the tree.
    pub format: &'static str,
    /// Whether keys are this pane's.
    pub is_focused: bool,
}

impl PaneCx {
    fn id(&self) -> Id {
        Id::unique(("pane scroll", self.index))
    }

    /// Offset and height of the visible part in the last frame, to tell whether a place must be scrolled to.
    fn visible(&self, ui: &Ui) -> (f32, f32) {
        ui.data(|data| data.get_temp(self.id())).unwrap_or((0.0, 0.0))
    }

    /// Where to find an offset that is to be scrolled to.
    fn goto_id(&self) -> Id {
        goto_id(self.index)
    }

    fn remember(&self, ui: &Ui, offset: f32, height: f32) {
        ui.data_mut(|data| data.insert_temp(self.id(), (offset, height)));
    }
}

fn goto_id(pane: usize) -> Id {
    Id::unique(("text goto", pane))
}

/// Scrolls a pane that shows a text to this offset of it.
pub fn go_to(ui: &Ui, pane: usize, offset: usize) {
    ui.data_mut(|data| data.insert_temp(goto_id(pane), offset));
}

/// One kind of pane.
pub struct Pane {
    /// Whether this kind shows that view; the format it is of.
    pub of: fn(PaneView) -> Option<&'static str>,
    pub body: fn(&mut Ui, &Cx<'_>, &PaneCx),
    pub footer: fn(&mut Ui, &Cx<'_>, &PaneCx),
}

/// Every kind of pane.
pub static PANES: &[Pane] = &[
    Pane {
        of: |view| if let PaneView::Rendered(format) = view { Some(format) } else { None },
        body: rendered::rendered_ui,
        footer: rendered_footer,
    },
    Pane {
        of: |view| if let PaneView::Text(format) = view { Some(format) } else { None },
        body: text::text_ui,
        footer: text::footer_ui,
    },
    Pane {
        of: |view| if view == PaneView::Tree { Some("structured") } else { None },
        body: tree::tree_ui,
        footer: tree::footer_ui,
    },
    Pane {
        of: |view| if view == PaneView::Table { Some("structured") } else { None },
        body: data_table::table_ui,
        footer: data_table::footer_ui,
    },
    Pane {
        of: |view| if let PaneView::Hex(format) = view { Some(format) } else { None },
        body: hex::hex_ui,
        footer: hex::footer_ui,
    },
    Pane {
        of: |view| if matches!(view, PaneView::Host(_)) { Some("host") } else { None },
        body: host::pane_ui,
        footer: host::footer_ui,
    },
];

/// The name of a format, everywhere.
pub fn format_title(id: &'static str) -> &'static str {
    format::by_id(id).map_or(id, format::Format::title)
}

fn rendered_footer(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    use crate::analysis::{ParsedCaptureQuery, RenderedQuery};
    use crate::ui::theme::{self, ThemeTokens};

    let Some(view) = cx.ready(RenderedQuery(pane.format)) else { return };
    let t = ThemeTokens::of(ui);
    let what = match (pane.format, cx.ready(ParsedCaptureQuery)) {
        ("content", Some(subject)) => blocks_text(&subject.reading.blocks),
        ("content", _) => return,
        _ => "written by Loupe from the data".to_owned(),
    };
    ui.label(egui::RichText::new(what).font(theme::small()).color(t.weak));
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.label(egui::RichText::new(rendered::summary(view)).font(theme::small()).color(t.weak));
    });
}

/// "3 blocks: 2 text, 1 image", as the server sent them.
fn blocks_text(blocks: &[Block]) -> String {
    let kinds = [
        (BlockKind::Text, "text", "text"),
        (BlockKind::Image, "image", "images"),
        (BlockKind::Audio, "audio", "audio"),
        (BlockKind::ResourceLink, "link", "links"),
        (BlockKind::Resource, "resource", "resources"),
        (BlockKind::Unknown, "of unknown type", "of unknown type"),
    ];
    let count = |kind| blocks.iter().filter(|block| block.kind == kind).count();
    match blocks {
        [] => "no blocks".to_owned(),
        [block] => {
            let kind = kinds.iter().find(|(kind, ..)| *kind == block.kind).map_or("", |(_, name, _)| *name);
            format!("1 block: content[{}], {kind}", block.index)
        }
        blocks => {
            let parts: Vec<_> = kinds
                .into_iter()
                .map(|(kind, one, more)| (count(kind), one, more))
                .filter(|(count, ..)| *count > 0)
                .map(|(count, one, more)| widgets::number_text(count as u64, if count == 1 { one } else { more }))
                .collect();
            format!("{}: {}", widgets::number_text(blocks.len() as u64, "blocks"), parts.join(", "))
        }
    }
}

fn working_ui(ui: &mut Ui, since: Duration, cx: &Cx<'_>) {
    ui.add_space(12.0);
    ui.horizontal(|ui| {
        ui.add_space(16.0);
        widgets::waiting(ui, "Reading the answer", since, cx);
    });
}

/// A format that does not exist for this answer is an empty state with its reason; anything else is a problem.
fn failed_ui(ui: &mut Ui, problem: &Problem) {
    if problem.kind == ProblemKind::Usage {
        widgets::empty_ui(ui, &sentence(&problem.what), None);
        return;
    }
    egui::Frame::new().inner_margin(12).show(ui, |ui| widgets::problem_ui(ui, problem));
}

/// A fragment as a sentence of its own.
fn sentence(fragment: &str) -> String {
    let mut chars = fragment.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).chain(['.']).collect())
}
