//! The sidebar: tools in groups above, captures below. In a narrow window a rail that opens them.
//!
//! Rows are drawn only where they are visible; every row has a name that tells all it shows.

pub(super) mod captures;
mod groups;

use egui::{
    Color32, Id, Panel, Popup, PopupCloseBehavior, Rect, Response, RichText, Role, Sense, TextEdit,
    Ui, WidgetInfo, pos2, vec2,
};

use self::groups::Group;
use super::region::{Region, region};
use super::theme::{self, ThemeTokens};
use super::widgets::{self, RowLine};
use super::{Cx, icons, library, matching, server_cost, sizes};
use crate::state::library::LibraryAction;
use crate::state::{
    Action, CallAction, ConnectAction, ListedTool, Screen, SettingsAction, SidebarTab,
    TokensAction, ViewAction,
};
use loupe_core::capture::Tool;
use loupe_core::settings::PanelSize;

/// Below this width only the rail fits.
const RAIL_BELOW: f32 = 160.0;

/// What a tool's hints warn of, in one mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Risk {
    ReadOnly,
    Writes,
    Destructive { declared: bool },
    Undeclared,
}

impl Risk {
    pub(super) fn new(tool: &Tool) -> Self {
        let hints = &tool.annotations;
        match (
            hints.read_only.declared,
            hints.read_only.value,
            hints.destructive.declared,
            hints.destructive.value,
        ) {
            (true, true, ..) => Self::ReadOnly,
            (_, _, true, true) => Self::Destructive { declared: true },
            (_, _, true, false) => Self::Writes,
            (true, false, false, _) => Self::Destructive { declared: false },
            (false, ..) => Self::Undeclared,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only declared",
            Self::Writes => "writes, not destructive, declared",
            Self::Destructive { declared: true } => "destructive declared",
            Self::Destructive { declared: false } => "writes declared, destructive by default",
            Self::Undeclared => "effects undeclared",
        }
    }

    fn mark(self, t: &ThemeTokens) -> (&'static str, bool, Color32) {
        match self {
            Self::ReadOnly => (icons::READ_ONLY, true, t.text),
            Self::Writes => (icons::WRITES, true, t.text),
            Self::Destructive { declared: true } => (icons::DESTRUCTIVE, true, t.bad),
            Self::Destructive { declared: false } => (icons::DESTRUCTIVE, false, t.weak),
            Self::Undeclared => (icons::UNKNOWN, false, t.weak),
        }
    }
}

/// One line of the list.
enum Row<'a> {
    Group(GroupRow<'a>),
    Tool {
        /// What the titles above say of its name.
        prefix: &'a str,
        listed: &'a ListedTool,
        indent: f32,
    },
}

/// The title of a group.
struct GroupRow<'a> {
    prefix: &'a str,
    /// What of the prefix no title above says.
    title: &'a str,
    count: usize,
    tokens: Option<u64>,
    folded: bool,
    indent: f32,
}

/// How far a group is set in from the one that it is in, and its tools from it.
const INDENT: f32 = 10.0;

/// Where the filter field is.
fn filter_id() -> Id {
    Id::unique("filter tools")
}

/// The popup that stands in for the sidebar in a narrow window.
fn rail_tools_id() -> Id {
    Id::unique("rail tools")
}

/// Gives the focus to the filter field, which is brought on the screen for it.
pub fn focus_filter(ui: &Ui, cx: &Cx<'_>) -> Option<Action> {
    if ui.content_rect().width() < theme::MEDIUM {
        Popup::open_id(ui, rail_tools_id());
    }
    ui.memory_mut(|memory| memory.request_focus(filter_id()));
    (!cx.state.settings.sidebar_open).then_some(SettingsAction::ToggleSidebar.into())
}

fn is_match(tool: &Tool, filter: &str) -> bool {
    matching::holds(&tool.name, filter)
        || tool
            .title
            .as_deref()
            .is_some_and(|title| matching::holds(title, filter))
}

/// The sidebar, or the rail where there is no room for it.
pub fn sidebar_ui(ui: &mut Ui, cx: &Cx<'_>) {
    if ui.available_width() < RAIL_BELOW {
        rail_ui(ui, cx);
    } else {
        wide_ui(ui, cx);
    }
}

fn rail_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let rect = ui.max_rect();
    ui.vertical_centered(|ui| {
        ui.add_space(6.0);
        let tools = rail_button(ui, icons::TOOLS, "Tools", cx.state.session().tools.len());
        region(ui, Region::Sidebar, rect, &tools);
        overlay(&tools).id(rail_tools_id()).show(|ui| {
            ui.set_height((ui.content_rect().height() - 120.0).max(200.0));
            tools_ui(ui, cx, None);
        });
        let captures = rail_button(ui, icons::HISTORY, "Captures", cx.state.captures.len());
        overlay(&captures).show(|ui| {
            ui.set_height(320.0);
            captures::captures_ui(ui, cx, true);
        });
    });
}

fn overlay(button: &Response) -> Popup<'_> {
    Popup::from_toggle_button_response(button)
        .align(egui::RectAlign::RIGHT_START)
        .width(theme::SIDEBAR)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
}

fn rail_button(ui: &mut Ui, glyph: &str, name: &str, count: usize) -> Response {
    let t = theme::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(44.0, 44.0), Sense::click());
    widgets::say(&response, Role::Button, format!("{name}, {count}"));
    if response.hovered() || response.has_focus() {
        ui.painter()
            .rect_filled(rect, theme::RADIUS_CONTROL, t.hover);
    }
    widgets::focus_ring_inside(ui, &response);
    let center = rect.center().x;
    let glyph_at = pos2(center, rect.top() + 15.0);
    widgets::glyph_at(ui, glyph_at, glyph, theme::icon_font(18.0), t.strong);
    let (count, below) = (widgets::grouped(count as u64), rect.bottom() - 10.0);
    widgets::glyph_at(ui, pos2(center, below), &count, theme::mono(12.0), t.weak);
    response.on_hover_text(name)
}

fn wide_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let rect = ui.max_rect();
    Panel::bottom("sidebar actions")
        .resizable(false)
        .frame(egui::Frame::new().inner_margin(egui::Margin::symmetric(8, 8)))
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                if widgets::button(ui, "Open file…")
                    .on_hover_text("A capture folder, or a file that holds an answer")
                    .clicked()
                {
                    cx.send(Action::OpenPath(None));
                }
                if widgets::button(ui, "Use my server…").clicked() {
                    cx.send(ConnectAction::Show);
                }
            });
        });
    let height = ui.available_height();
    // As high as its rows, but tools get the most of the room.
    let (head, rows) = captures::heights(cx);
    let share = head + widgets::whole_rows(height * 0.4 - head, theme::CAPTURE_ROW);
    let kept = cx.state.settings.panels.captures.map_or(share, f32::from);
    let least = head + theme::CAPTURE_ROW;
    let most = (height - 200.0).clamp(least, head + rows);
    let size = kept.clamp(least, most);
    let id = ui.scope_id().with("captures");
    if widgets::recall(ui, id) != Some(size) {
        widgets::remember(ui, id, size);
        ui.data_mut(|data| data.remove::<egui::PanelState>(id));
    }
    let shown = Panel::bottom("captures")
        .resizable(least < most)
        .default_size(size)
        .size_range(least..=most)
        .frame(egui::Frame::NONE)
        .show(ui, |ui| captures::captures_ui(ui, cx, false));
    sizes::name_edge(ui, "captures");
    sizes::keep(ui, cx, shown.response.rect.height(), PanelSize::Captures);
    tools_ui(ui, cx, Some(rect));
}

// Tools

fn tools_ui(ui: &mut Ui, cx: &Cx<'_>, place: Option<Rect>) {
    let t = theme::of(ui);
    let state = cx.state;
    ui.spacing_mut().item_spacing.y = 0.0;
    tabs_ui(ui, cx);
    let margin = egui::Margin {
        bottom: 6,
        ..egui::Margin::symmetric(8, 0)
    };
    widgets::padded(ui, margin, |ui| {
        let filter = filter_ui(ui, cx);
        if let Some(rect) = place {
            region(ui, Region::Sidebar, rect, &filter);
        }
    });
    if state.view.sidebar != SidebarTab::Tools {
        return library::list_ui(ui, cx, state.view.sidebar);
    }
    Panel::bottom(ui.scope_id().with("definitions sum"))
        .exact_size(30.0)
        .frame(egui::Frame::new().inner_margin(egui::Margin::symmetric(14, 0)))
        .show(ui, |ui| {
            sum_ui(ui, cx);
        });
    if let Some(note) = &state.session().tools_note {
        widgets::padded(ui, egui::Margin::symmetric(12, 4), |ui| {
            widgets::wrapped(ui, note, theme::small(), t.warn);
        });
    }
    let filter = state.session().filter.trim().to_lowercase();
    let matching: Vec<_> = state
        .session()
        .tools
        .iter()
        .filter(|listed| is_match(&listed.tool, &filter))
        .collect();
    if matching.is_empty() {
        widgets::padded(ui, egui::Margin::symmetric(14, 8), |ui| no_tools_ui(ui, cx));
        return;
    }
    let rows = rows(cx, matching, !filter.is_empty());
    let height = widgets::whole_rows(ui.available_height(), theme::TOOL_ROW);
    let chosen = cx.state.session().selected_tool.as_deref();
    let at = rows.iter().position(
        |row| matches!(row, Row::Tool { listed, .. } if Some(&*listed.tool.name) == chosen),
    );
    widgets::scroll("tools")
        .max_height(height)
        .min_scrolled_height(height)
        .show_rows(ui, theme::TOOL_ROW, rows.len(), |ui, range| {
            if let Some((at, name)) = at.zip(chosen) {
                let pitch = theme::TOOL_ROW + ui.spacing().item_spacing.y;
                let top = ui.max_rect().top() + (at as f32 - range.start as f32) * pitch;
                let row =
                    Rect::from_x_y_ranges(ui.max_rect().x_range(), top..=top + theme::TOOL_ROW);
                keep_in_sight(ui, row, name, height);
            }
            for row in &rows[range] {
                match row {
                    Row::Group(group) => group_ui(ui, cx, group),
                    Row::Tool {
                        prefix,
                        listed,
                        indent,
                    } => {
                        if tool_ui(ui, cx, prefix, listed, *indent) && place.is_none() {
                            ui.close();
                        }
                    }
                }
            }
        });
}

/// The rows of these tools in their groups; a filter unfolds all.
fn rows<'a>(cx: &Cx<'a>, tools: Vec<&'a ListedTool>, is_filtered: bool) -> Vec<Row<'a>> {
    let mut rows = Vec::with_capacity(tools.len() + 8);
    let groups = groups::groups(tools.into_iter());
    if let [group] = &groups[..]
        && group.prefix.is_empty()
    {
        add_tools(&mut rows, group, 0.0);
        return rows;
    }
    for group in &groups {
        if add_title(&mut rows, cx, group, "", is_filtered) {
            add_tools(&mut rows, group, INDENT);
            for inner in &group.inner {
                if add_title(&mut rows, cx, inner, group.prefix, is_filtered) {
                    add_tools(&mut rows, inner, 2.0 * INDENT);
                }
            }
        }
    }
    rows
}

fn add_tools<'a>(rows: &mut Vec<Row<'a>>, group: &Group<'a>, indent: f32) {
    let prefix = group.prefix;
    rows.extend(group.tools.iter().map(|listed| Row::Tool {
        prefix,
        listed,
        indent,
    }));
}

/// Whether the group is open.
fn add_title<'a>(
    rows: &mut Vec<Row<'a>>,
    cx: &Cx<'a>,
    group: &Group<'a>,
    outer: &str,
    is_filtered: bool,
) -> bool {
    let encoding = cx.state.settings.encoding();
    let folded = !is_filtered && cx.state.view.folded_groups.contains(group.prefix);
    rows.push(Row::Group(GroupRow {
        prefix: group.prefix,
        title: match &group.prefix[outer.len()..] {
            "" => "Others",
            title => title,
        },
        count: group.all().count(),
        tokens: group
            .all()
            .map(|listed| Some(listed.tokens?.get(encoding)))
            .sum(),
        folded,
        indent: if outer.is_empty() { 0.0 } else { INDENT },
    }));
    !folded
}

/// Where the row of the chosen tool was in the frame before.
#[derive(Clone, PartialEq)]
struct Sight {
    tool: String,
    height: f32,
    is_seen: bool,
}

/// Brings a tool into sight that was chosen since the last frame, wherever that was done, and keeps it there while the room for
/// the list changes.
fn keep_in_sight(ui: &Ui, row: Rect, tool: &str, height: f32) {
    let id = Id::unique("tool that was in sight");
    let before: Option<Sight> = widgets::recall(ui, id);
    let is_new = before.as_ref().is_none_or(|before| before.tool != tool);
    let is_pushed_out = before.is_some_and(|before| before.is_seen && before.height != height);
    let is_seen = ui.clip_rect().contains_rect(row.shrink(1.0));
    if (is_new || is_pushed_out) && !is_seen {
        ui.scroll_to_rect_animation(row, None, egui::style::ScrollAnimation::none());
    }
    let now = Sight {
        tool: tool.to_owned(),
        height,
        is_seen: is_seen || is_new || is_pushed_out,
    };
    widgets::remember(ui, id, now);
}

/// Tools, and what else the server declares; how many there are, once they are listed.
fn tabs_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let state = cx.state;
    let listed = |tab| {
        let entries = state.session().library.entries.as_ref()?;
        Some(entries.iter().filter(|entry| entry.tab() == tab).count())
    };
    let declares = |what| {
        state
            .session()
            .connection
            .server()
            .is_some_and(|server| server.declares(what))
    };
    let tabs = [
        (
            SidebarTab::Tools,
            "Tools",
            true,
            Some(state.session().tools.len()),
        ),
        (
            SidebarTab::Resources,
            "Resources",
            declares("/resources"),
            listed(SidebarTab::Resources),
        ),
        (
            SidebarTab::Prompts,
            "Prompts",
            declares("/prompts"),
            listed(SidebarTab::Prompts),
        ),
    ];
    let (rect, _) = widgets::full_width(ui, theme::HEADER, Sense::hover());
    let inner = rect.shrink2(vec2(14.0, 0.0));
    widgets::line_part(ui, "tabs", inner, |ui| {
        ui.spacing_mut().item_spacing.x = 14.0;
        for (tab, name, _, count) in tabs.into_iter().filter(|(.., is_there, _)| *is_there) {
            let count = count.map(|count| widgets::grouped(count as u64));
            let is_shown = state.view.sidebar == tab;
            if widgets::tab(ui, None, name, count.as_deref(), is_shown, theme::HEADER).clicked() {
                cx.send(ViewAction::ShowTab(tab));
            }
        }
    });
}

pub(super) fn heading(ui: &mut Ui, title: &str, count: usize) {
    let t = theme::of(ui);
    let row = widgets::ListRow::to_read(ui, theme::HEADER);
    row.say(Role::Heading, format!("{title} {count}"));
    let all = row.rect.right();
    let end = row.text(
        row.inset_left(14.0),
        all,
        title,
        theme::semibold(13.0),
        t.strong,
    );
    let count = widgets::grouped(count as u64);
    row.text(end + 6.0, all, count, theme::mono(12.0), t.weak);
}

fn filter_ui(ui: &mut Ui, cx: &Cx<'_>) -> Response {
    let t = theme::of(ui);
    let mut text = cx.state.session().filter.clone();
    let what = match cx.state.view.sidebar {
        SidebarTab::Tools => "tools",
        SidebarTab::Resources => "resources",
        SidebarTab::Prompts => "prompts",
    };
    ui.horizontal(|ui| {
        let clear = if text.is_empty() {
            0.0
        } else {
            28.0 + ui.spacing().item_spacing.x
        };
        let response = ui.add_sized(
            vec2((ui.available_width() - clear).max(40.0), theme::INPUT),
            TextEdit::singleline(&mut text)
                .id(filter_id())
                .hint_text(format!("Filter {what}"))
                .prefix(icons::icon(icons::SEARCH, 14.0, t.weak))
                .align(egui::Align2::LEFT_CENTER)
                .margin(egui::Margin::symmetric(8, 4)),
        );
        if text.is_empty() && !response.has_focus() {
            widgets::key_cap_at(
                ui,
                response.rect.right_center() - vec2(8.0, 0.0),
                "/",
                t.weak,
                t.line2,
            );
        }
        let info = WidgetInfo::labeled(Role::SearchInput, true, format!("Filter {what}"));
        response.widget_info(|| WidgetInfo {
            current_text_value: Some(cx.state.session().filter.clone()),
            ..info.clone()
        });
        if response.changed() {
            cx.send(ViewAction::SetFilter(text));
        }
        // The only match is the one that was looked for.
        if response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) {
            match cx.state.view.sidebar {
                SidebarTab::Tools => {
                    let filter = cx.state.session().filter.trim().to_lowercase();
                    let mut matching = cx
                        .state
                        .session()
                        .tools
                        .iter()
                        .filter(|listed| is_match(&listed.tool, &filter));
                    if let (Some(only), None) = (matching.next(), matching.next()) {
                        cx.send(CallAction::SelectTool(only.tool.name.clone()));
                    }
                }
                tab => library::only_match(cx, tab)
                    .into_iter()
                    .for_each(|at| cx.send(LibraryAction::Select(at))),
            }
        }
        if clear > 0.0 && widgets::icon_button(ui, icons::CLOSE, "Clear the filter").clicked() {
            cx.send(ViewAction::SetFilter(String::new()));
        }
        response
    })
    .inner
}

fn no_tools_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let words =
        if !cx.state.session().filter.trim().is_empty() && !cx.state.session().tools.is_empty() {
            format!("No tool matches “{}”", cx.state.session().filter.trim())
        } else if cx.state.session().connection.is_connected() {
            "The server lists no tools".into()
        } else {
            "Tools appear when a server is connected".into()
        };
    widgets::note_wrapped(ui, words);
    if !cx.state.session().filter.is_empty() {
        ui.add_space(6.0);
        if widgets::button(ui, "Clear").clicked() {
            cx.send(ViewAction::SetFilter(String::new()));
        }
    }
}

fn sum_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let count = cx.state.session().tools.len();
    if count == 0 {
        return;
    }
    let noun = if count == 1 {
        "definition"
    } else {
        "definitions"
    };
    let total = cx.state.tools_total().map_or_else(
        || server_cost::describe_pending(cx, "counting…", "not counted"),
        |sum| format!("{} tok", widgets::grouped(sum)),
    );
    let rect = ui.max_rect();
    let response = widgets::sense(ui, rect, "sum", Sense::click());
    widgets::say(
        &response,
        Role::Button,
        format!("{} {noun} · {total}", widgets::grouped(count as u64)),
    );
    if response.hovered() || response.has_focus() {
        ui.painter()
            .rect_filled(rect.expand2(vec2(8.0, 0.0)), theme::RADIUS_BADGE, t.hover);
    }
    widgets::focus_ring_inside(ui, &response);
    if response.clicked() {
        cx.send(TokensAction::ShowServer);
    }
    let encoding = cx.state.settings.encoding().name();
    response.on_hover_cursor(egui::CursorIcon::PointingHand).on_hover_text(format!(
        "What the definitions of all tools cost a model before its first call ({encoding}). A click shows each by part."
    ));
    let line = RowLine::new(ui, rect);
    let count = format!("{} {noun}", widgets::grouped(count as u64));
    let end = line.number(rect.right(), total, theme::mono_semibold(12.0), t.strong);
    line.text(rect.left(), end, count, theme::regular(12.0), t.weak);
}

fn group_ui(ui: &mut Ui, cx: &Cx<'_>, group: &GroupRow<'_>) {
    let t = theme::of(ui);
    let row = widgets::ListRow::new(ui, theme::TOOL_ROW);
    let sum = group.tokens.map_or_else(
        || server_cost::describe_pending(cx, "…", "–"),
        widgets::grouped,
    );
    let (caret, state) = match group.folded {
        true => (icons::RIGHT, "folded"),
        false => (icons::DOWN, "open"),
    };
    let name = if group.prefix.is_empty() {
        group.title
    } else {
        group.prefix
    };
    let count = widgets::grouped(group.count as u64);
    let tools = if group.count == 1 { "tool" } else { "tools" };
    row.say(
        Role::Button,
        format!("Group {name}, {count} {tools}, {sum} tokens, {state}"),
    );
    row.ground(false);
    row.icon(row.inset_left(14.0 + group.indent), caret, 12.0, t.weak);
    let end = row.number(row.inset_right(14.0), sum, theme::mono(12.0), t.weak) - 8.0;
    let font = match group.prefix {
        "" => theme::semibold(12.5),
        _ => theme::mono_semibold(12.0),
    };
    let left = row.inset_left(24.0 + group.indent);
    let count = format!(" · {count}");
    let room = widgets::text_width(row.ui, &count, theme::mono(12.0));
    let next = row.text(left, end - room, group.title, font, t.strong);
    row.text(next, end, count, theme::mono(12.0), t.weak);
    if row.response.clicked() {
        cx.send(ViewAction::ToggleGroup(group.prefix.to_owned()));
    }
}

/// What a screen reader says of a tool.
fn spoken(cx: &Cx<'_>, listed: &ListedTool, tokens: Option<u64>, selected: bool) -> String {
    let tool = &*listed.tool;
    let cost = tokens.map_or_else(
        || server_cost::describe_pending(cx, "tokens being counted", "tokens not counted"),
        |n| format!("{} tokens", widgets::grouped(n)),
    );
    let mut words = format!("{}, {}, {cost}", tool.name, Risk::new(tool).words());
    if !tool.faults.is_empty() {
        words += ", faulty definition";
    }
    let tools = &cx.state.session().tools;
    let place = tools.iter().position(|other| std::ptr::eq(other, listed));
    if tools.len() > 20 {
        let total = widgets::grouped(tools.len() as u64);
        words += &format!(", {} of {total}", place.map_or(0, |at| at + 1));
    }
    if selected {
        words += ", selected";
    }
    words
}

fn tool_ui(ui: &mut Ui, cx: &Cx<'_>, prefix: &str, listed: &ListedTool, indent: f32) -> bool {
    let t = theme::of(ui);
    let tool = &*listed.tool;
    // A result of another server's tool is that of none of these.
    let is_foreign = cx.state.view.screen == Screen::Answer && cx.state.foreign_capture().is_some();
    let selected = cx.state.session().selected_tool.as_deref() == Some(&tool.name) && !is_foreign;
    let row = widgets::ListRow::new(ui, theme::TOOL_ROW);
    let tokens = listed
        .tokens
        .map(|tokens| tokens.get(cx.state.settings.encoding()));
    row.say_entry(selected, spoken(cx, listed, tokens, selected));
    row.ground_edged(selected);
    let (weak, strong) = match selected {
        true => (t.strong, t.strong),
        false => (t.weak, t.text),
    };
    let number = tokens.map_or_else(
        || server_cost::describe_pending(cx, "…", "–"),
        widgets::grouped,
    );
    let end = row.number(row.inset_right(14.0), number, theme::mono(12.0), weak);
    let mut right = end.min(row.inset_right(50.0)) - 8.0;
    let (glyph, is_filled, color) = Risk::new(tool).mark(t);
    match is_filled {
        true => row.icon_fill(right - 7.0, glyph, 14.0, color),
        false => row.icon(right - 7.0, glyph, 14.0, color),
    }
    right -= 20.0;
    if !tool.faults.is_empty() {
        row.icon_fill(right - 7.0, icons::WARNING, 14.0, t.warn);
        right -= 20.0;
    }
    let name = match tool.name.strip_prefix(prefix).unwrap_or(&tool.name) {
        _ if tool.name.is_empty() => "(no name)",
        rest => rest,
    };
    let left = pos2(row.inset_left(14.0 + indent), row.y);
    let font = theme::mono(12.0);
    widgets::name_at(row.ui, left, name, font, strong, right - left.x);
    let response = row.response.on_hover_ui(|ui| tip_ui(ui, tool));
    if response.clicked() {
        cx.send(CallAction::SelectTool(tool.name.clone()));
    }
    response.clicked()
}

fn tip_ui(ui: &mut Ui, tool: &Tool) {
    ui.set_max_width(360.0);
    ui.label(RichText::new(&tool.name).font(theme::mono(12.0)));
    if let Some(title) = &tool.title {
        ui.label(title);
    }
    widgets::note(ui, Risk::new(tool).words());
    let warn = theme::of(ui).warn;
    for fault in &tool.faults {
        widgets::words(ui, fault, theme::small(), warn);
    }
}

/// A measured time: `0.4 ms`, `612 ms`, `1.4 s`.
pub(super) fn duration(time: std::time::Duration) -> String {
    let ms = time.as_secs_f64() * 1000.0;
    if ms < 10.0 {
        format!("{ms:.1} ms")
    } else if ms < 1000.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{:.1} s", ms / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn the_risk_mark_tells_declared_from_default() {
        let risk = |hints: &str| {
            Risk::new(&Tool::read(Bytes::from(format!(
                "{{\"name\":\"t\",\"inputSchema\":{{}},\"annotations\":{hints}}}"
            ))))
        };
        assert_eq!(risk("{}"), Risk::Undeclared);
        assert_eq!(
            risk(r#"{"readOnlyHint":true,"destructiveHint":true}"#),
            Risk::ReadOnly
        );
        assert_eq!(
            risk(r#"{"readOnlyHint":false}"#),
            Risk::Destructive { declared: false }
        );
        assert_eq!(
            risk(r#"{"readOnlyHint":false,"destructiveHint":false}"#),
            Risk::Writes
        );
        assert_eq!(
            risk(r#"{"destructiveHint":true}"#),
            Risk::Destructive { declared: true }
        );
    }

    #[test]
    fn times_have_their_unit() {
        let ms = |ms: f64| duration(std::time::Duration::from_secs_f64(ms / 1000.0));
        assert_eq!(
            [ms(0.42), ms(612.0), ms(1_440.0)],
            ["0.4 ms", "612 ms", "1.4 s"]
        );
    }
}
