//! The data as a tree: types, counts, tokens of each subtree, marks against the text.
//!
//! Visible nodes are a flat list, rebuilt only when something opens or closes; only the rows in sight are painted.

mod row;

pub use row::value;

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::mutex::Mutex;
use egui::{Id, Key, Popup, Rect, Role, Sense, StrokeKind, Ui, pos2, vec2};

use super::header::Chooser;
use super::title::Title;
use super::{CopyAction, Pane, PaneCx, copy, find, reader_menu};
use crate::state::{Action, PaneView, QueryState, ViewAction};
use crate::ui::theme::{self, TREE_ROW, ThemeTokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::queries::{
    ParsedCaptureQuery, TextQuery, TreeQuery, TreeTokens, TreeTokensQuery, TreeView,
};
use loupe_core::capture::Record;
use loupe_core::format::ParsedCapture;
use loupe_core::json::{Doc, Node};

/// How far the tree opens: by which key, how many levels (`None` as at first), and what that is called.
const LEVELS: [(Key, Option<usize>, &str); 7] = [
    (Key::Num0, None, "Default levels"),
    (Key::Num1, Some(1), "1 level"),
    (Key::Num2, Some(2), "2 levels"),
    (Key::Num3, Some(3), "3 levels"),
    (Key::Num4, Some(4), "4 levels"),
    (Key::Num5, Some(5), "5 levels"),
    (Key::Num9, Some(usize::MAX), "All levels"),
];

/// No more rows than this: beyond it positions on the screen are no longer exact, and nobody scrolls so far.
const MAX_ROWS: usize = 400_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TreeRow {
    node: usize,
    depth: usize,
    is_open: bool,
}

/// What the pane keeps between frames.
struct Flat {
    view: Arc<TreeView>,
    /// What replaces them while they are counted, or where that failed.
    tokens: Result<Arc<TreeTokens>, &'static str>,
    /// The pane that it was painted in last.
    pane: usize,
    toggled: BTreeSet<usize>,
    /// How many levels are open; `None` as at first.
    levels: Option<usize>,
    record: Option<usize>,
    /// The value that was found last; what it is in is open.
    found: Option<usize>,
    rows: Vec<TreeRow>,
    is_cut: bool,
    shown_record: Option<usize>,
    shown_cursor: Option<usize>,
}

fn flat_id(pane: &PaneCx) -> Id {
    Id::unique(("tree rows", pane.index))
}

fn cached_rows(ui: &Ui, pane: &PaneCx) -> Option<Arc<Mutex<Flat>>> {
    widgets::recall(ui, flat_id(pane))
}

pub static PANE: Pane = Pane {
    title,
    choices,
    options: Some(options),
    copy: copy_data,
    body: tree_ui,
    footer: footer_ui,
};

fn title(_: &Cx<'_>, _: PaneView, subject: Option<&ParsedCapture>, t: &ThemeTokens) -> Title {
    match subject.and_then(|subject| subject.data.as_ref()) {
        Some(data) if data.is_structured() => Title {
            short: "structured".to_owned(),
            ..Title::new("structuredContent", "", "structured", t)
        },
        // Its compact JSON is all that tells what it costs.
        Some(data) => Title {
            row: Some("json"),
            ..Title::new("Data", &data.origin_text(), "structured", t)
        },
        None => Title {
            row: None,
            ..Title::new("Data", "", "structured", t)
        },
    }
}

fn choices(ui: &mut Ui, _: &Cx<'_>, chooser: &Chooser<'_>) {
    chooser.offer(ui, PaneView::Tree, "Data as a tree");
}

fn options(ui: &mut Ui, cx: &Cx<'_>, chooser: &Chooser<'_>) {
    chooser.heading(ui, "Data, from structuredContent or the text");
    reader_menu::readers_ui(ui, cx);
}

/// The data as it is in the result.
fn copy_data<'a>(cx: &Cx<'a>, _: PaneView) -> Option<CopyAction<'a>> {
    let root = cx.ready(ParsedCaptureQuery)?.data.as_ref()?.root();
    Some(Box::new(move || {
        Action::Copy(String::from_utf8_lossy(&root.raw_bytes()).into_owned())
    }))
}

fn tree_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let Some(view) = super::ready(ui, cx, cx.ask(TreeQuery)) else {
        return;
    };
    let Some(view) = view else {
        if widgets::empty_ui(
            ui,
            "No data in this answer.",
            Some("Read the text by a pattern…"),
        ) {
            cx.send(ViewAction::TryPattern(Some(r"^(?<name>.+)$".to_owned())));
        }
        return;
    };
    let same = cached_rows(ui, pane).filter(|known| Arc::ptr_eq(&known.lock().view, view));
    let shared = same.unwrap_or_else(|| {
        let shared = Arc::new(Mutex::new(Flat::new(view)));
        widgets::remember(ui, flat_id(pane), Arc::clone(&shared));
        shared
    });
    let mut flat = shared.lock();
    let found = find::current(ui, cx, pane).map(|place| place.start);
    flat.update(
        &cx.state.view.toggled,
        cx.state.view.open_levels,
        cx.state.view.record,
        found,
    );
    flat.tokens = match cx.ask(TreeTokensQuery) {
        QueryState::Ready(tokens) => tokens.clone().ok_or("–"),
        QueryState::Working { .. } => Err("…"),
        QueryState::Failed(_) | QueryState::NeedsConfirmation { .. } => Err("–"),
    };
    flat.show(ui, cx, pane);
}

impl Flat {
    fn new(view: &Arc<TreeView>) -> Self {
        let mut flat = Self {
            view: Arc::clone(view),
            tokens: Err("…"),
            pane: 0,
            toggled: BTreeSet::new(),
            levels: None,
            record: None,
            found: None,
            rows: Vec::new(),
            is_cut: false,
            shown_record: None,
            shown_cursor: None,
        };
        flat.rebuild();
        flat
    }

    fn update(
        &mut self,
        toggled: &BTreeSet<usize>,
        levels: Option<usize>,
        record: Option<usize>,
        found: Option<usize>,
    ) {
        if self.toggled != *toggled
            || (self.levels, self.record, self.found) != (levels, record, found)
        {
            self.toggled.clone_from(toggled);
            (self.levels, self.record, self.found) = (levels, record, found);
            self.rebuild();
        }
    }

    fn rebuild(&mut self) {
        let view = Arc::clone(&self.view);
        let root = view.data.root();
        self.rows.clear();
        self.is_cut = false;
        if !root.is_container() {
            self.rows.push(TreeRow {
                node: root.index(),
                depth: 0,
                is_open: false,
            });
            return;
        }
        // A stack of iterators, since depth is data.
        let mut stack = vec![root.children()];
        while let Some(children) = stack.last_mut() {
            let Some(node) = children.next() else {
                stack.pop();
                continue;
            };
            if self.rows.len() >= MAX_ROWS {
                self.is_cut = true;
                return;
            }
            let depth = stack.len() - 1;
            let is_open = self.is_open(node, depth);
            self.rows.push(TreeRow {
                node: node.index(),
                depth,
                is_open,
            });
            if is_open {
                stack.push(node.children());
            }
        }
    }

    /// Members of the root are open, their elements closed, or so many levels as are asked for; what was toggled by hand is the other way round. The record
    /// that is selected is open, with what is above it.
    fn is_open(&self, node: Node<'_>, depth: usize) -> bool {
        if node.is_empty() {
            return false;
        }
        if self
            .record
            .is_some_and(|record| (node.index()..node.subtree_end()).contains(&record))
        {
            return true;
        }
        if self
            .found
            .is_some_and(|found| (node.index() + 1..node.subtree_end()).contains(&found))
        {
            return true;
        }
        let is_default = match self.levels {
            Some(levels) => depth + 1 < levels,
            None => depth == 0 && node.raw_key().is_some() && node.len() <= 10_000,
        };
        is_default != self.toggled.contains(&node.index())
    }

    fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
        self.pane = pane.index;
        let view = Arc::clone(&self.view);
        let records = records(cx, &view);
        let mut area = widgets::scroll(("tree", pane.index));
        if let Some(offset) = self.target(ui, cx, pane) {
            area = area.vertical_scroll_offset(offset);
        }
        let outer = ui.available_rect_before_wrap();
        let focus = ui.interact(
            outer,
            Id::unique(("tree", pane.index)),
            Sense::focusable_noninteractive(),
        );
        widgets::say(
            &focus,
            Role::Tree,
            format!("Data, {}", widgets::number_text(self.view.facts, "facts")),
        );
        self.keys(ui, cx, &focus, records, pane);
        let found = find::places(cx, pane);
        let count = self.rows.len() + usize::from(self.is_cut);
        let output = area.show_viewport(ui, |ui, viewport| {
            let origin = ui.min_rect().min;
            ui.allocate_rect(
                Rect::from_min_size(
                    origin,
                    vec2(viewport.width(), count as f32 * TREE_ROW + 16.0),
                ),
                Sense::hover(),
            );
            for (at, y) in widgets::rows_in_sight(origin, viewport, 6.0, TREE_ROW, count) {
                let rect = Rect::from_min_size(pos2(origin.x, y), vec2(viewport.width(), TREE_ROW));
                match self.rows.get(at) {
                    Some(row) => {
                        if found
                            .binary_search_by_key(&row.node, |place| place.start)
                            .is_ok()
                        {
                            let (fill, stroke) =
                                find::colors(theme::of(ui), self.found == Some(row.node));
                            ui.painter().rect(
                                rect.shrink2(vec2(2.0, 1.0)),
                                theme::RADIUS_BAR,
                                fill,
                                stroke,
                                StrokeKind::Inside,
                            );
                        }
                        self.row_ui(ui, cx, *row, rect, records, &focus);
                    }
                    None => {
                        widgets::text_at(
                            ui,
                            rect.left_center() + vec2(16.0, 0.0),
                            "More values are not shown here; the Text pane has them all",
                            theme::small(),
                            theme::of(ui).warn,
                            rect.width() - 32.0,
                        );
                    }
                }
            }
        });
        let top = output.state.clamped_offset().y;
        pane.remember(ui, top, output.inner_rect.height());
        self.path_ui(ui, output.inner_rect, top);
        widgets::focus_ring_inside(ui, &focus);
    }

    /// Where the first row in sight is in the data, above the rows once they are scrolled.
    fn path_ui(&self, ui: &Ui, inner: Rect, top: f32) {
        let first = ((top - 6.0) / TREE_ROW).ceil().max(0.0) as usize;
        let node = self
            .rows
            .get(first + 1)
            .and_then(|row| self.view.data.doc.node(row.node));
        let Some(parent) = node
            .and_then(Node::parent)
            .filter(|parent| parent.index() > self.view.data.root && top > TREE_ROW)
        else {
            return;
        };
        let t = theme::of(ui);
        let place = Rect::from_min_size(inner.min, vec2(inner.width(), TREE_ROW));
        let painter = ui.painter().with_clip_rect(inner);
        painter.rect_filled(place, 0.0, t.panel);
        widgets::line_below(ui, place);
        let path = Shown::of(&copy::json_path(parent, self.view.data.root)).text;
        widgets::text_at(
            ui,
            place.left_center() + vec2(16.0, 0.0),
            path,
            theme::code(),
            t.weak,
            place.width() - 32.0,
        );
    }

    fn target(&mut self, ui: &Ui, cx: &Cx<'_>, pane: &PaneCx) -> Option<f32> {
        let (record, cursor) = (cx.state.view.record, cx.state.view.tree_cursor);
        let mut wanted = None;
        // The first frame does not know its height yet.
        if pane.visible(ui).1 <= 0.0 {
            return None;
        }
        if self.shown_cursor != cursor {
            self.shown_cursor = cursor;
            wanted = cursor;
        }
        if self.shown_record != record {
            self.shown_record = record;
            wanted = wanted.or(record);
        }
        let stepped: Option<usize> = ui.data_mut(|data| data.remove_temp(pane.goto_id()));
        wanted = stepped.or(wanted);
        let at = self.row_of(wanted?)? as f32 * TREE_ROW;
        let (top, height) = pane.visible(ui);
        (at < top || at + TREE_ROW * 2.0 > top + height).then(|| (at - height * 0.3).max(0.0))
    }

    /// The row of a node, in the order of the document.
    fn row_of(&self, node: usize) -> Option<usize> {
        self.rows.binary_search_by_key(&node, |row| row.node).ok()
    }

    fn keys(
        &self,
        ui: &Ui,
        cx: &Cx<'_>,
        focus: &egui::Response,
        records: &[Record],
        pane: &PaneCx,
    ) {
        if !focus.has_focus() {
            return;
        }
        widgets::keep_arrows(ui, focus, true, true);
        let at = cx.state.view.tree_cursor.and_then(|node| self.row_of(node));
        let pressed = |key| widgets::pressed(ui, key);
        let go = |row: Option<usize>| {
            if let Some(row) = row.and_then(|row| self.rows.get(row)) {
                cx.send(ViewAction::SetTreeCursor(row.node));
                if let Some(record) = record_of(&self.view.data.doc, records, row.node)
                    && cx.state.view.record != Some(record)
                {
                    cx.send(ViewAction::SelectRecord(Some(record)));
                }
            }
        };
        if pressed(Key::ArrowDown) {
            go(Some(at.map_or(0, |at| at + 1)));
        }
        if pressed(Key::ArrowUp) {
            go(Some(at.map_or(0, |at| at.saturating_sub(1))));
        }
        if pressed(Key::Home) {
            go(Some(0));
        }
        if pressed(Key::End) {
            go(self.rows.len().checked_sub(1));
        }
        for (key, levels, _) in LEVELS {
            if pressed(key) {
                cx.send(ViewAction::OpenLevels(levels));
            }
        }
        let Some((at, row)) = at.and_then(|at| Some((at, self.rows.get(at)?))) else {
            return;
        };
        if let Some(node) = self.view.data.doc.node(row.node) {
            copy::keys(ui, cx, node, &self.view.data, pane.index);
        }
        let is_container = self
            .view
            .data
            .doc
            .node(row.node)
            .is_some_and(|node| !node.is_empty());
        if pressed(Key::ArrowRight) && is_container {
            if row.is_open {
                go(Some(at + 1))
            } else {
                cx.send(ViewAction::ToggleNode(row.node))
            }
        }
        if pressed(Key::ArrowLeft) {
            if row.is_open {
                self.toggle(cx, row.node);
            } else {
                go(self.rows[..at]
                    .iter()
                    .rposition(|above| above.depth < row.depth));
            }
        }
        if pressed(Key::Enter) && is_container {
            self.toggle(cx, row.node);
        }
    }

    /// Opens or closes. What is only open because the selected record is in it closes by letting the record go.
    fn toggle(&self, cx: &Cx<'_>, node: usize) {
        let holds_record = self.record.is_some_and(|record| {
            self.view
                .data
                .doc
                .node(node)
                .is_some_and(|node| (node.index()..node.subtree_end()).contains(&record))
        });
        if holds_record && Some(node) == self.record {
            cx.send(ViewAction::SelectRecord(None));
            if self.toggled.contains(&node) {
                cx.send(ViewAction::ToggleNode(node));
            }
        } else {
            if holds_record {
                cx.send(ViewAction::SelectRecord(None));
            }
            cx.send(ViewAction::ToggleNode(node));
        }
    }
}

/// The records to link: those of the tree, or where the data was read from the text itself, those of the text.
fn records<'a>(cx: &Cx<'a>, view: &'a TreeView) -> &'a [Record] {
    if view.data.is_structured() {
        return &view.matched.records;
    }
    match cx.ready(TextQuery("content")) {
        Some(text) => &text.matched.records,
        _ => &[],
    }
}

/// The record a node belongs to; records are in document order and do not overlap.
fn record_of(doc: &Doc, records: &[Record], node: usize) -> Option<usize> {
    let record = records[..records.partition_point(|record| record.node <= node)]
        .last()?
        .node;
    (node < doc.node(record)?.subtree_end()).then_some(record)
}

fn is_root(node: Node<'_>, view: &TreeView) -> bool {
    node.index() == view.data.root
}

/// `items[2]`, from the data's root.
fn path(node: Node<'_>, root: usize) -> String {
    let mut path = String::new();
    for step in node.pointer_from(root).split('/').skip(1) {
        let is_position = step.bytes().all(|byte| byte.is_ascii_digit());
        match (is_position, path.is_empty()) {
            (true, _) => path.push_str(&format!("[{step}]")),
            (false, true) => path.push_str(step),
            (false, false) => path.push_str(&format!(".{step}")),
        }
    }
    path
}

fn footer_ui(ui: &mut Ui, cx: &Cx<'_>, _pane: &PaneCx) {
    let Some(Some(view)) = cx.ready(TreeQuery) else {
        return;
    };
    let t = theme::of(ui);
    let small = |text: String, color| widgets::styled(text, theme::regular(11.5), color);
    let tip = "Facts: every number, true, false and non-blank text";
    ui.label(small(widgets::number_text(view.facts, "facts"), t.weak))
        .on_hover_text(tip);
    let (missing, differs) = view
        .marks_inside
        .get(&view.data.root)
        .copied()
        .unwrap_or_default();
    if missing > 0 {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            ui.label(icons::icon(icons::MISSING, 12.0, t.warn));
            ui.label(small(
                format!("{} not in the text", widgets::grouped(missing.into())),
                t.warn,
            ));
        });
    }
    if differs > 0 {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            ui.label(icons::icon(icons::DIFFERS, 12.0, t.bad));
            ui.label(small(
                if differs == 1 {
                    "1 differs".into()
                } else {
                    format!("{} differ", widgets::grouped(differs.into()))
                },
                t.bad,
            ));
        });
    }
    widgets::from_right(ui, |ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        levels_ui(ui, cx);
        if let Some(node) = cx
            .state
            .view
            .record
            .and_then(|record| view.data.doc.node(record))
        {
            ui.label(small(
                format!("{} linked", path(node, view.data.root)),
                t.weak,
            ));
            ui.label(icons::icon(icons::LINKED, 12.0, t.weak));
        }
    });
}

/// The menu that opens the tree to a level.
fn levels_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let chosen = cx.state.view.open_levels;
    let tip = "Open the tree to a level; the keys 0 to 5 and 9 do it too";
    let button = Button::new("Levels")
        .menu()
        .tip(tip)
        .frameless()
        .height(22.0)
        .show(ui);
    Popup::menu(&button).width(160.0).show(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for (_, levels, name) in LEVELS {
            if widgets::choose_row(ui, name, None, levels == chosen) {
                cx.send(ViewAction::OpenLevels(levels));
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use loupe_core::capture::ResultData;

    fn flat(json: &'static str) -> Flat {
        let data = ResultData::of_doc(Doc::parse(Bytes::from_static(json.as_bytes()))).unwrap();
        Flat::new(&Arc::new(TreeView {
            data: Arc::new(data),
            marks: Default::default(),
            marks_inside: Default::default(),
            matched: Default::default(),
            facts: 0,
        }))
    }

    fn keys(flat: &Flat) -> Vec<String> {
        flat.rows
            .iter()
            .map(|row| {
                let node = flat.view.data.doc.node(row.node).unwrap();
                format!(
                    "{}{}",
                    " ".repeat(row.depth),
                    node.key()
                        .map_or_else(|| node.ordinal().to_string(), |key| key.into_owned())
                )
            })
            .collect()
    }

    #[test]
    fn members_of_the_root_are_open_and_records_closed() {
        let mut flat = flat(r#"{"items":[{"id":1},{"id":2}],"total":2}"#);
        assert_eq!(keys(&flat), ["items", " 0", " 1", "total"]);
        let second = flat.rows[2].node;
        flat.update(&BTreeSet::from([second]), None, None, None);
        assert_eq!(keys(&flat), ["items", " 0", " 1", "  id", "total"]);
        flat.update(&BTreeSet::from([1]), None, None, None);
        assert_eq!(keys(&flat), ["items", "total"]);
        flat.update(&BTreeSet::new(), Some(1), None, None);
        assert_eq!(keys(&flat), ["items", "total"]);
        flat.update(&BTreeSet::from([second]), Some(3), None, None);
        assert_eq!(
            keys(&flat),
            ["items", " 0", "  id", " 1", "total"],
            "closed by hand"
        );
        // The selected record opens what is above it.
        flat.update(&BTreeSet::from([1]), None, Some(second), None);
        assert_eq!(keys(&flat), ["items", " 0", " 1", "  id", "total"]);
    }

    #[test]
    fn values_are_previews() {
        let doc = Doc::parse(Bytes::from_static(
            br#"{"a":[1,"x",{}],"b":{},"c":"\u001b"}"#,
        ));
        let texts: Vec<_> = doc.root().unwrap().children().map(value).collect();
        assert_eq!(texts, [r#"[ 1, "x", … ]"#, "{}", r#""\u001b""#]);
        assert_eq!(path(doc.at("/a/2").unwrap(), 0), "a[2]");
    }

    #[test]
    fn a_node_belongs_to_the_record_it_is_in() {
        let doc = Doc::parse(Bytes::from_static(
            br#"{"items":[{"id":1},{"id":2}],"total":2}"#,
        ));
        let records: Vec<_> = [2, 4]
            .map(|node| Record {
                node,
                places: vec![],
            })
            .to_vec();
        assert_eq!(
            [1, 2, 3, 4, 5, 6].map(|node| record_of(&doc, &records, node)),
            [None, Some(2), Some(2), Some(4), Some(4), None]
        );
    }
}
