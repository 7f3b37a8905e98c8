//! The start page of the user's own server: what can be done with it, before anything of the sample.

use egui::{Response, Role, Sense, Ui, vec2};

use crate::state::{Action, CallAction, ListedTool, SidebarTab, TokensAction, ViewAction};
use crate::ui::theme;
use crate::ui::{Cx, icons, shortcuts, widgets};

/// About how high this is, for placing the page.
pub const HEIGHT: f32 = 220.0;
const ROW: f32 = 34.0;

pub fn own_ui(ui: &mut Ui, cx: &Cx<'_>, width: f32) {
    let t = theme::of(ui);
    let state = cx.state;
    let name = state
        .session()
        .connection
        .server()
        .map_or("this server", |server| server.name.as_str());
    widgets::words(
        ui,
        format!("Connected to {name}"),
        theme::page_title(),
        t.strong,
    );
    let words = match (state.session().tools.len(), state.tool()) {
        (0, _) => "It lists no tools.".to_owned(),
        (_, None) => "Choose a tool on the left.".to_owned(),
        (_, Some(listed)) => format!(
            "Choose a tool on the left, fill in its arguments above, then Call (Ctrl Enter) to see its answer in every format. Chosen now: {}.",
            listed.tool.name
        ),
    };
    widgets::wrapped(ui, words, theme::base(), t.weak);
    ui.add_space(12.0);
    ui.spacing_mut().item_spacing.y = 6.0;
    let encoding = state.settings.encoding();
    if let Some(total) = state.tools_total() {
        let tools = state.session().tools.len() as u64;
        let text = format!(
            "Your tool list costs {} in {}",
            widgets::number_text(total, "tok"),
            widgets::number_text(tools, "definitions")
        );
        let keys = format!("by part, and what cutting would save ({})", encoding.name());
        if row_ui(ui, width, icons::COST, &text, &keys).clicked() {
            cx.send(TokensAction::ShowServer);
        }
        let cost = |listed: &&ListedTool| listed.tokens.map_or(0, |tokens| tokens.get(encoding));
        let (dear, cheap) = (
            state.session().tools.iter().max_by_key(cost),
            state.session().tools.iter().min_by_key(cost),
        );
        let ends = [("Most expensive tool", dear), ("Cheapest tool", cheap)];
        for (what, listed) in ends.into_iter().filter(|_| tools > 1) {
            let Some(listed) = listed else { continue };
            let tokens = widgets::number_text(cost(&listed), "tokens");
            let ties = state
                .session()
                .tools
                .iter()
                .filter(|other| cost(other) == cost(&listed))
                .count() as u64
                - 1;
            let others = if ties > 0 {
                format!(" and {}", widgets::number_text(ties, "others"))
            } else {
                String::new()
            };
            if row_ui(
                ui,
                width,
                icons::TOOLS,
                &format!("{what}: {}{others}", listed.tool.name),
                &tokens,
            )
            .clicked()
            {
                cx.send(CallAction::SelectTool(listed.tool.name.clone()));
            }
        }
    }
    let has_library = state
        .session()
        .connection
        .server()
        .is_some_and(|server| server.declares("/resources") || server.declares("/prompts"));
    if has_library
        && row_ui(
            ui,
            width,
            icons::RESOURCE,
            "Resources and prompts",
            "open in the same panes",
        )
        .clicked()
    {
        cx.send(ViewAction::ShowTab(SidebarTab::Resources));
    }
    let keys = shortcuts::text(&shortcuts::PROTOCOL_LOG);
    if row_ui(
        ui,
        width,
        icons::MESSAGES,
        "Protocol log",
        &format!("every message both ways ({keys})"),
    )
    .clicked()
    {
        cx.send(Action::Wire(crate::state::wire::WireAction::Show));
    }
}

/// A row that leads somewhere: what, and a few words about it.
pub(super) fn row_ui(ui: &mut Ui, width: f32, glyph: &str, text: &str, about: &str) -> Response {
    let t = theme::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW), Sense::click());
    widgets::say(&response, Role::Button, format!("{text}, {about}"));
    let (fill, line) = if response.hovered() {
        (t.hover, t.accent_line)
    } else {
        (t.card, t.line2)
    };
    widgets::boxed(ui, rect, theme::RADIUS_CONTROL, fill, line);
    widgets::focus_ring(ui, &response, theme::RADIUS_CONTROL);
    let mid = widgets::RowLine::new(ui, rect);
    mid.icon(rect.left() + 20.0, glyph, 16.0, t.accent);
    let left = rect.left() + 38.0;
    let right = rect.right() - 12.0;
    let end = mid.text(left, right, text, theme::medium(13.0), t.strong);
    let needed = widgets::text_width(ui, about, theme::small());
    if end + 12.0 + needed <= right {
        mid.number(right, about, theme::small(), t.weak);
    }
    response.on_hover_cursor(egui::CursorIcon::PointingHand)
}
