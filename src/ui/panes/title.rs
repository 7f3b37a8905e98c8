//! What panes are called.

use super::format_title;
use crate::analysis::HostsQuery;
use crate::format::ParsedCapture;
use crate::host::HostId;
use crate::state::PaneView;
use crate::ui::Cx;
use crate::ui::theme::{Hue, ThemeTokens};

/// What a pane is called, the second word, and its hue.
pub struct Title {
    pub name: String,
    pub subtitle: String,
    pub hue: Hue,
    pub format: &'static str,
}

pub fn pane_title(cx: &Cx<'_>, view: PaneView, subject: Option<&ParsedCapture>, t: &ThemeTokens) -> Title {
    let of =
        |name: &str, subtitle: &str, format| Title { name: name.into(), subtitle: subtitle.into(), hue: t.hue(format), format };
    match view {
        PaneView::Rendered("content") => of("Rendered", "Markdown", "content"),
        PaneView::Rendered(format) => of("Rendered", format_title(format), format),
        PaneView::Text("content") => of("Text", "exact bytes", "content"),
        PaneView::Text("content-pretty") => Title { format: "content-pretty", ..of("Text", "JSON, laid out", "content") },
        PaneView::Text(format) => of(
            format_title(format),
            if cx.state.view.peek == Some(format) { "peek · Enter keeps" } else { "exact bytes" },
            format,
        ),
        PaneView::Host(host) => {
            Title { name: host_name(cx, host), subtitle: "as its model sees it".into(), hue: t.hue_both, format: "host" }
        }
        PaneView::Hex(format) => of("Hex", format_title(format), format),
        PaneView::Table => of("Table", "of the data", "structured"),
        PaneView::Tree => match subject.map(|subject| subject.payload.as_ref()) {
            Some(Some(payload)) if payload.is_structured() => of("structuredContent", "", "structured"),
            Some(Some(payload)) => of("Data", &payload.origin_text(), "structured"),
            _ => of("Data", "", "structured"),
        },
    }
}

/// The name of a host, where the report is there; its id until then.
fn host_name(cx: &Cx<'_>, host: HostId) -> String {
    match cx.ready(HostsQuery) {
        Some(report) => report.row(host).map_or_else(|| host.to_string(), |row| row.host.name.clone()),
        _ => host.to_string(),
    }
}
