//! The palette: one field that finds commands, captures, tools and the rest, by section, and does what is chosen (Ctrl K).
//!
//! Its text and choice are the dialog's ([`Dialog::Palette`]). What can be found is put together from the state each
//! time it is painted: a few hundred names, of a large server thousands. Only the rows in sight are laid out.

use std::borrow::Cow;

use egui::{
    Align2, Area, Id, Key, Margin, Modal, Modifiers, Order, Rect, Role, ScrollArea, Sense,
    TextEdit, Ui, pos2, vec2,
};

use super::commands::{COMMANDS, PALETTE_NAME, open_palette};
use super::theme;
use super::{Cx, commands, export, icons, library, matching, servers, shortcuts, widgets};
use crate::state::library::LibraryAction;
use crate::state::server_diff::ServerDiffAction;
use crate::state::{
    Action, CallAction, Dialog, ImportAction, PaneView, Screen, ServersAction, ViewAction,
};
use loupe_core::format::FORMATS;
use loupe_core::source::import;

/// How the entries begin that copy the server as a client's configuration.
const CONFIGURE: &str = "Copy as configuration for";

const WIDTH: f32 = 560.0;
const ROW: f32 = 28.0;
/// Rows in sight before the list scrolls.
const ROWS: usize = 12;

/// Something that can be found, and what choosing it does.
struct Entry<'a> {
    glyph: &'static str,
    /// What it is, for a screen reader and as a word to find it by: one of [`SECTIONS`].
    kind: &'static str,
    name: Cow<'a, str>,
    /// What the row says next to the name: a description, or keys.
    detail: Cow<'a, str>,
    does: Does<'a>,
}

impl<'a> Entry<'a> {
    fn sends(
        glyph: &'static str,
        kind: &'static str,
        name: impl Into<Cow<'a, str>>,
        action: impl Into<Action>,
    ) -> Self {
        Self {
            glyph,
            kind,
            name: name.into(),
            detail: "".into(),
            does: Does::Action(Box::new(action.into())),
        }
    }
}

enum Does<'a> {
    Action(Box<Action>),
    /// Chooses the tool of this name.
    Tool(&'a str),
    /// An index in [`COMMANDS`].
    Command(usize),
}

/// Opens the palette at the clients whose configuration the server can be copied as.
pub fn configure() -> Action {
    Action::ShowDialog(Dialog::Palette {
        text: CONFIGURE.to_owned(),
        chosen: 0,
    })
}

/// The field in the top bar that opens the palette, or an icon where there is no room for it.
pub fn box_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Option<Rect>) {
    let t = theme::of(ui);
    let keys = shortcuts::text(&shortcuts::PALETTE);
    let Some(rect) = rect else {
        let tip = format!("{PALETTE_NAME} ({keys})");
        if widgets::icon_button_with(ui, icons::SEARCH, PALETTE_NAME, &tip).clicked() {
            cx.send(open_palette());
        }
        return;
    };
    let response = ui.allocate_rect(rect, Sense::click());
    widgets::say(&response, Role::Button, PALETTE_NAME);
    let fill = if response.hovered() { t.hover } else { t.card };
    widgets::boxed(ui, rect, theme::RADIUS_CONTROL, fill, t.line2);
    widgets::focus_ring(ui, &response, theme::RADIUS_CONTROL);
    let line = widgets::RowLine::new(ui, rect);
    line.icon(rect.left() + 16.0, icons::SEARCH, 14.0, t.weak);
    line.text(
        rect.left() + 30.0,
        rect.right() - 70.0,
        PALETTE_NAME,
        theme::base(),
        t.weak,
    );
    widgets::key_cap_at(ui, pos2(rect.right() - 8.0, line.y), &keys, t.weak, t.line2);
    if response.clicked() {
        cx.send(open_palette());
    }
}

/// The palette above the window. Esc and a click next to it close it.
pub fn palette_ui(ui: &Ui, cx: &Cx<'_>, text: &str, chosen: usize) {
    let frame = widgets::modal_frame(ui, 8);
    let area = Area::new(Id::unique("palette area"))
        .order(Order::Foreground)
        .anchor(Align2::CENTER_TOP, vec2(0.0, 6.0));
    let response = Modal::new(Id::unique("palette"))
        .area(area)
        .frame(frame)
        .show(ui, |ui| {
            ui.set_width(WIDTH.min(ui.content_rect().width() - 48.0));
            ui.spacing_mut().item_spacing.y = 6.0;
            found_ui(ui, cx, text, chosen);
        });
    if response.should_close() {
        cx.send(Action::CloseDialog);
    }
}

fn found_ui(ui: &mut Ui, cx: &Cx<'_>, text: &str, chosen: usize) {
    let t = theme::of(ui);
    // Taken before the field sees them: there they would move the cursor.
    let step = ui.input_mut(|input| {
        [
            (Key::ArrowDown, 1),
            (Key::ArrowUp, -1),
            (Key::PageDown, ROWS as isize),
            (Key::PageUp, -(ROWS as isize)),
        ]
        .into_iter()
        .filter(|&(key, _)| input.consume_key(Modifiers::NONE, key))
        .map(|(_, step)| step)
        .sum::<isize>()
    });
    let enter = widgets::pressed(ui, Key::Enter);
    let mut typed = text.to_owned();
    let field = TextEdit::singleline(&mut typed)
        .id(Id::unique("palette field"))
        .hint_text("A command, a call, a tool, a format…")
        .font(theme::base())
        .margin(Margin::symmetric(8, 6))
        .desired_width(f32::INFINITY)
        .show(ui)
        .response
        .response;
    widgets::say(&field, Role::TextInput, PALETTE_NAME);
    field.request_focus();
    let entries = search_entries(cx, text);
    let last = entries.len().saturating_sub(1);
    let chosen = chosen.min(last);
    let next = chosen.saturating_add_signed(step).min(last);
    if typed != text {
        cx.send(Action::ShowDialog(Dialog::Palette {
            text: typed,
            chosen: 0,
        }));
    } else if next != chosen {
        cx.send(Action::ShowDialog(Dialog::Palette {
            text: text.to_owned(),
            chosen: next,
        }));
    }
    if entries.is_empty() {
        let words = format!("Nothing is called “{text}”");
        widgets::words(ui, words, theme::base(), t.weak);
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let rows = rows(&entries);
    let place = rows.iter().position(|row| *row == Row::Entry(next));
    // As high as what was found, whatever was found before.
    let height = ROW * rows.len().min(ROWS) as f32;
    let mut scroll = ScrollArea::vertical()
        .max_height(height)
        .min_scrolled_height(height)
        .auto_shrink([false, true]);
    if let (true, Some(place)) = (step != 0, place) {
        scroll = scroll.vertical_scroll_offset((place + 1).saturating_sub(ROWS) as f32 * ROW);
    }
    scroll.show_rows(ui, ROW, rows.len(), |ui, range| {
        for row in &rows[range] {
            match *row {
                Row::Heading(title) => heading_ui(ui, title),
                Row::Entry(index) => {
                    let (entry, is_next) = (&entries[index], index == next);
                    if row_ui(ui, entry, is_next, index, entries.len()) || (enter && is_next) {
                        choose(ui, cx, entry);
                    }
                }
            }
        }
    });
}

/// A line of the list.
#[derive(PartialEq)]
enum Row {
    Heading(&'static str),
    /// By its place among the entries.
    Entry(usize),
}

/// The entries, each section below its heading.
fn rows(entries: &[Entry<'_>]) -> Vec<Row> {
    let mut rows = Vec::with_capacity(entries.len() + SECTIONS.len());
    let mut before = "";
    for (at, entry) in entries.iter().enumerate() {
        if entry.kind != before {
            before = entry.kind;
            let title = SECTIONS.get(section(before)).map(|(_, title)| *title);
            rows.extend(title.map(Row::Heading));
        }
        rows.push(Row::Entry(at));
    }
    rows
}

fn heading_ui(ui: &mut Ui, title: &str) {
    let row = widgets::ListRow::to_read(ui, ROW);
    row.say(Role::Heading, title);
    let (left, right) = (row.inset_left(8.0), row.inset_right(10.0));
    let weak = theme::of(row.ui).weak;
    row.line(ROW - 9.0)
        .text(left, right, title, theme::semibold(11.5), weak);
}

fn row_ui(ui: &mut Ui, entry: &Entry<'_>, is_chosen: bool, index: usize, count: usize) -> bool {
    let t = theme::of(ui);
    let row = widgets::ListRow::new(ui, ROW);
    let place = format!("{} of {count}", index + 1);
    let spoken = format!("{} {}, {}, {place}", entry.kind, entry.name, entry.detail);
    row.say_entry(is_chosen, spoken);
    row.ground_round(is_chosen, theme::RADIUS_CONTROL);
    row.icon(row.inset_left(16.0), entry.glyph, 14.0, t.weak);
    let font = if entry.kind == TOOL {
        theme::mono(12.5)
    } else {
        theme::base()
    };
    let (left, width) = (row.inset_left(32.0), row.rect.width());
    let end = row.text(left, left + width * 0.7, &*entry.name, font, t.strong);
    let right = row.inset_right(10.0);
    if entry.kind == TOOL {
        // Descriptions begin on one line, as far as the names leave them there.
        let left = row.inset_left(width * 0.42).max(end + 16.0);
        row.text(left, right, &*entry.detail, theme::small(), t.weak);
    } else if matches!(entry.does, Does::Command(_)) && !entry.detail.is_empty() {
        widgets::key_cap_at(row.ui, pos2(right, row.y), &entry.detail, t.weak, t.line2);
    } else {
        row.number(right, &*entry.detail, theme::small(), t.weak);
    }
    row.response.clicked()
}

fn choose(ui: &Ui, cx: &Cx<'_>, entry: &Entry<'_>) {
    cx.send(Action::CloseDialog);
    match &entry.does {
        Does::Action(action) => cx.send((**action).clone()),
        Does::Tool(name) => cx.send(CallAction::SelectTool((*name).to_owned())),
        Does::Command(index) => {
            if let Some(action) = COMMANDS[*index].run(ui, cx) {
                cx.send(action);
            }
        }
    }
}

/// Name and detail of each entry, and what choosing it would send.
#[cfg(test)]
pub fn list_entries(ui: &Ui, cx: &Cx<'_>) -> Vec<(String, String, Vec<Action>)> {
    let sent = |entry: &Entry<'_>| {
        let own = Cx::new(cx.state);
        match &entry.does {
            Does::Action(action) => own.send((**action).clone()),
            Does::Tool(name) => own.send(CallAction::SelectTool((*name).to_owned())),
            Does::Command(index) => COMMANDS[*index]
                .run(ui, &own)
                .into_iter()
                .for_each(|action| own.send(action)),
        }
        own.into_actions()
    };
    all(cx)
        .into_iter()
        .map(|entry| {
            (
                entry.name.to_string(),
                entry.detail.to_string(),
                sent(&entry),
            )
        })
        .collect()
}

const TOOL: &str = "Tool";

/// What an entry may be, in the order of an empty search, and what its section is called.
const SECTIONS: &[(&str, &str)] = &[
    ("Command", "Commands"),
    ("Capture", "Recent calls"),
    (TOOL, "Tools"),
    ("resource", "Resources"),
    ("template", "Resource templates"),
    ("prompt", "Prompts"),
    ("Server", "Servers"),
    ("Format", "Formats"),
    ("Arguments", "Saved arguments"),
    ("Export", "Exports"),
];

/// The place of a kind in [`SECTIONS`].
fn section(kind: &str) -> usize {
    SECTIONS
        .iter()
        .position(|(own, _)| *own == kind)
        .unwrap_or(SECTIONS.len())
}

/// Everything there is, sections in no order.
fn all<'a>(cx: &Cx<'a>) -> Vec<Entry<'a>> {
    let state = cx.state;
    let mut entries: Vec<Entry<'a>> = Vec::new();
    entries.extend(
        COMMANDS
            .iter()
            .enumerate()
            .filter(|(_, command)| command.name != PALETTE_NAME)
            .map(|(index, command)| Entry {
                glyph: icons::SHORTCUTS,
                kind: "Command",
                name: command.name.into(),
                detail: command.keys().into(),
                does: Does::Command(index),
            }),
    );
    if state.session().connection.is_connected() {
        entries.extend(state.session().tools.iter().map(|listed| {
            let tool = &listed.tool;
            let first = tool
                .description
                .as_deref()
                .unwrap_or_default()
                .lines()
                .next()
                .unwrap_or_default();
            Entry {
                glyph: icons::CALL,
                kind: TOOL,
                name: tool.name.as_str().into(),
                detail: first.into(),
                does: Does::Tool(&tool.name),
            }
        }));
    }
    entries.extend(
        state
            .captures
            .iter()
            .enumerate()
            .rev()
            .map(|(at, capture)| {
                let action = ViewAction::SelectCapture(capture.id.clone());
                let name = format!("{} · {}", at + 1, capture.tool.name);
                Entry {
                    detail: state.local_time.clock(capture.started_at).into(),
                    ..Entry::sends(icons::HISTORY, "Capture", name, action)
                }
            }),
    );
    let library = state.session().library.entries.iter().flatten();
    entries.extend(library.enumerate().map(|(at, entry)| {
        let (glyph, kind) = library::kind(entry);
        let action = Action::Library(LibraryAction::Select(at));
        Entry {
            detail: entry.name().into(),
            ..Entry::sends(glyph, kind, entry.title(), action)
        }
    }));
    if state.view.screen == Screen::Answer && state.capture().is_some() {
        entries.extend(FORMATS.iter().map(|format| {
            let action = ViewAction::SetPane {
                pane: 1,
                shows: PaneView::Text(format.id()),
            };
            Entry {
                detail: "in the middle pane".into(),
                ..Entry::sends(icons::COST, "Format", format.title(), action)
            }
        }));
    }
    entries.extend(servers::open_commands(cx).into_iter().map(|command| {
        let (glyph, name) = (command.glyph, command.name);
        Entry::sends(glyph, "Server", name, command.action)
    }));
    let names = servers::names(cx);
    entries.extend(servers::others(cx).into_iter().map(|(at, _)| {
        let name = format!("Connect to {}", names[at].0);
        Entry::sends(icons::PLUG, "Server", name, ImportAction::ConnectRecent(at))
    }));
    if state.session().connection.is_connected() {
        let name = "Compare tools with another server or version";
        let action = ServerDiffAction::Choose;
        entries.push(Entry::sends(icons::DIFF, "Command", name, action));
    }
    if state.session().connection.source().is_some() {
        entries.extend(import::clients().map(|client| {
            let action = ServersAction::CopyConfiguration(client);
            Entry::sends(
                icons::COPY,
                "Command",
                format!("{CONFIGURE} {client}"),
                action,
            )
        }));
    }
    if let Some((words, action)) = commands::other_protocol(cx) {
        entries.push(Entry::sends(icons::SWAP, "Command", words, action));
    }
    let known = cx.state.tool_arguments();
    let named = known.into_iter().flat_map(|known| known.named.keys());
    entries.extend(named.map(|name| {
        let action = ServersAction::UseArguments(Some(name.clone()));
        Entry {
            detail: "kept for this tool".into(),
            ..Entry::sends(icons::ARGUMENTS, "Arguments", name.as_str(), action)
        }
    }));
    if state.capture().is_some() {
        entries.extend(export::entries(cx).into_iter().map(|entry| {
            let name = format!("{}: {}", entry.list, entry.title);
            Entry::sends(icons::EXPORT, "Export", name, entry.action)
        }));
    }
    entries
}

/// What holds every word typed, in any case. The section with the best name comes first, and in it that name: one that
/// begins with the text, then one that holds it at all.
fn search_entries<'a>(cx: &Cx<'a>, text: &str) -> Vec<Entry<'a>> {
    let text = text.trim().to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut entries = all(cx);
    let parts = |entry: &Entry<'a>, word: &str| {
        [entry.kind, &entry.name, &entry.detail]
            .iter()
            .any(|part| matching::holds(part, word))
    };
    entries.retain(|entry| words.iter().all(|word| parts(entry, word)));
    let rank = |entry: &Entry<'_>| rank(&entry.name, &text, &words);
    let mut best = vec![u8::MAX; SECTIONS.len() + 1];
    for entry in &entries {
        let best = &mut best[section(entry.kind)];
        *best = rank(entry).min(*best);
    }
    entries.sort_by_cached_key(|entry| {
        let section = section(entry.kind);
        (best[section], section, rank(entry))
    });
    entries
}

fn rank(name: &str, text: &str, words: &[&str]) -> u8 {
    if matching::begins(name, text) {
        0
    } else if words.iter().all(|word| matching::holds(name, word)) {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn a_name_that_begins_so_comes_before_one_that_holds_it() {
        let of = |name: &str| rank(name, "search", &["search"]);
        assert!(of("search_user") < of("dual_search_companies"));
        assert!(of("dual_search_companies") < of("get_company"));
    }
}
