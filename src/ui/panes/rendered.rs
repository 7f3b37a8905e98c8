//! The rendered pane: Markdown as people see it, one card per block of `content`.
//!
//! A virtual list: blocks are read when they come into view, drawn by our own painter (tables with linked rows, links
//! shown before they open) and measured; code blocks are the library's. Raw HTML is text, images are their address.

use std::ops::Range;
use std::sync::Arc;

use egui::mutex::Mutex;
use egui::{Id, Pos2, Rect, Role, ScrollArea, Sense, StrokeKind, Ui, WidgetInfo, pos2, vec2};
use egui_commonmark::CommonMarkCache;

use super::card::{self, Controls, Header};
use super::header::Chooser;
use super::item::{ItemPlace, SIDE, item_ui, raw};
use super::markdown::ItemKind;
use super::select::between;
use super::title::Title;
use super::{Pane, PaneCx, find, markdown, table};
use crate::state::{PaneContent, PaneView};
use crate::ui::marks;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets;
use crate::ui::{Cx, icons};
use loupe_analysis::finding::{MarkedText, Severity};
use loupe_analysis::queries::{MdKind, ParsedCaptureQuery, RenderedQuery, RenderedView, Table};
use loupe_core::capture::{Block, BlockKind};
use loupe_core::format::ParsedCapture;
use loupe_core::format::format_title;

/// Longer marks are of the whole entry.
const MOST_MARKED: usize = 400;
/// So many places of a severity are marked by their words in one entry.
const MOST_WORDS: usize = 32;

#[derive(Clone)]
enum Kind {
    /// A block of Markdown that nobody has looked at yet.
    Unread {
        card: usize,
        block: usize,
    },
    Item {
        item: markdown::Item,
        offset: usize,
    },
    /// A row of a table, or its header.
    Row {
        table: Arc<Columns>,
        row: Option<usize>,
    },
    CardHeader(Header),
    Raw(String),
    Controls(Controls),
    Notice(String),
    Gap(f32),
}

/// A table: which block it is, how wide its columns would like to be, and how narrow they may get.
struct Columns {
    card: usize,
    block: usize,
    natural: Vec<f32>,
    least: Vec<f32>,
}

impl Columns {
    fn widths(&self, room: f32) -> Vec<f32> {
        table::fit(&self.natural, &self.least, room)
    }
}

#[derive(Clone)]
struct Entry {
    kind: Kind,
    /// Range in the format's whole text.
    range: Range<usize>,
    /// Estimated until it was drawn once.
    height: f32,
}

/// Words of an entry that a finding marks.
struct MarkedWords {
    severity: Severity,
    /// As they are painted; empty where that is not known.
    text: String,
    /// How often they are in the entry before.
    before: usize,
    is_found: bool,
}

impl MarkedWords {
    /// Marks them in a part of the entry.
    fn mark(&mut self, inline: &mut markdown::Inline) {
        if self.text.is_empty() || self.is_found {
            return;
        }
        let at = inline
            .text
            .match_indices(&self.text)
            .map(|(at, _)| at)
            .nth(self.before);
        match at {
            Some(at) => {
                inline.mark(&(at..at + self.text.len()), self.severity);
                self.is_found = true;
            }
            None => self.before -= inline.text.matches(&self.text).count(),
        }
    }
}

/// What a pane keeps between frames.
struct Flow {
    view: Arc<RenderedView>,
    entries: Vec<Entry>,
    width: f32,
    /// Width of the widest table at this width of the pane, or that width.
    content: f32,
    /// Where the entries begin, as far as that is known for sure: from a changed height on it is not.
    tops: Vec<f32>,
    /// Height of all entries.
    total: f32,
    cache: CommonMarkCache,
    shown_record: Option<usize>,
}

pub static PANE: Pane = Pane {
    title,
    choices,
    options: None,
    copy: super::text::copy,
    body: rendered_ui,
    footer: footer_ui,
};

fn title(_: &Cx<'_>, view: PaneView, _: Option<&ParsedCapture>, t: &ThemeTokens) -> Title {
    match view.content() {
        PaneContent::Format(format) if format != "content" => {
            Title::new("Rendered", format_title(format), format, t)
        }
        _ => Title::new("Rendered", "Markdown", "content", t),
    }
}

fn choices(ui: &mut Ui, _: &Cx<'_>, chooser: &Chooser<'_>) {
    chooser.heading(ui, "Rendered");
    for (format, label) in [
        ("content", "Text content"),
        ("markdown-table", "Markdown table"),
    ] {
        chooser.offer(ui, PaneView::Rendered(format), label);
    }
}

fn footer_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let Some(view) = cx.ready(RenderedQuery(pane.format)) else {
        return;
    };
    let what = match (pane.format, cx.ready(ParsedCaptureQuery)) {
        ("content", Some(subject)) => blocks_text(&subject.response.blocks),
        ("content", _) => return,
        _ => "written by Loupe from the data".to_owned(),
    };
    widgets::note(ui, what);
    widgets::from_right(ui, |ui| {
        widgets::note(ui, summary(view));
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
            let kind = kinds
                .iter()
                .find(|(kind, ..)| *kind == block.kind)
                .map_or("", |(_, name, _)| *name);
            format!("1 block: content[{}], {kind}", block.index)
        }
        blocks => {
            let parts: Vec<_> = kinds
                .into_iter()
                .map(|(kind, one, more)| (count(kind), one, more))
                .filter(|(count, ..)| *count > 0)
                .map(|(count, one, more)| {
                    widgets::number_text(count as u64, if count == 1 { one } else { more })
                })
                .collect();
            format!(
                "{}: {}",
                widgets::number_text(blocks.len() as u64, "blocks"),
                parts.join(", ")
            )
        }
    }
}

fn rendered_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let Some(view) = super::ready(ui, cx, cx.ask(RenderedQuery(pane.format))) else {
        return;
    };
    let subject = cx.ready(ParsedCaptureQuery);
    if pane.format == "content" && subject.is_none() {
        super::ready(ui, cx, cx.ask(ParsedCaptureQuery));
        return;
    }
    let id = Id::unique(("rendered flow", pane.index));
    let known: Option<Arc<Mutex<Flow>>> = widgets::recall(ui, id);
    let flow = known
        .filter(|flow| Arc::ptr_eq(&flow.lock().view, view))
        .unwrap_or_else(|| {
            let flow = Arc::new(Mutex::new(Flow::new(view, subject, pane.format)));
            widgets::remember(ui, id, Arc::clone(&flow));
            flow
        });
    flow.lock().show(ui, cx, pane);
}

/// What the footer says of the Markdown in it: how many tables; nothing where there is none.
pub fn summary(view: &RenderedView) -> String {
    let blocks = view.cards.iter().flat_map(|card| &card.blocks);
    match blocks
        .filter(|block| matches!(block.kind, MdKind::Table(_)))
        .count()
    {
        0 => String::new(),
        tables => widgets::number_text(tables as u64, "tables"),
    }
}

impl Flow {
    fn new(view: &Arc<RenderedView>, subject: Option<&Arc<ParsedCapture>>, format: &str) -> Self {
        let mut flow = Self {
            view: Arc::clone(view),
            entries: vec![],
            width: 0.0,
            content: 0.0,
            tops: vec![],
            total: 0.0,
            cache: CommonMarkCache::default(),
            shown_record: None,
        };
        flow.push(Kind::Gap(12.0), 0..0, 12.0);
        match subject.filter(|_| format == "content") {
            Some(subject) => {
                let blocks = &subject.response.blocks;
                let is_plain = blocks.len() == 1
                    && blocks[0].audience.is_empty()
                    && blocks[0].priority.is_none()
                    && blocks[0].kind == BlockKind::Text;
                for block in blocks {
                    if !is_plain {
                        flow.push(Kind::CardHeader(card::header(block)), 0..0, 36.0);
                    }
                    for fault in &block.faults {
                        flow.push(Kind::Notice(fault.clone()), 0..0, 24.0);
                    }
                    match view
                        .cards
                        .iter()
                        .position(|card| card.block == Some(block.index))
                    {
                        Some(card) => flow.push_card(card),
                        None => flow.push_other(block, subject),
                    }
                }
            }
            None => (0..view.cards.len()).for_each(|card| flow.push_card(card)),
        }
        flow.push(Kind::Gap(16.0), 0..0, 16.0);
        flow.total = flow.entries.iter().map(|entry| entry.height).sum();
        flow
    }

    fn push(&mut self, kind: Kind, range: Range<usize>, height: f32) {
        self.entries.push(Entry {
            kind,
            range,
            height,
        });
    }

    fn push_card(&mut self, index: usize) {
        let view = Arc::clone(&self.view);
        let card = &view.cards[index];
        for (block, md) in card.blocks.iter().enumerate() {
            let range = md.range.start + card.offset..md.range.end + card.offset;
            match &md.kind {
                MdKind::Table(table) => self.push_table(index, block, table, range),
                MdKind::Html | MdKind::Markdown => {
                    let lines = md.range.len() / 60 + 1;
                    self.push(
                        Kind::Unread { card: index, block },
                        range,
                        lines as f32 * 20.0 + 8.0,
                    );
                }
            }
        }
        if card.is_cut {
            self.push(
                Kind::Notice(
                    "Only the first 2 MB are rendered; the Text pane shows everything".into(),
                ),
                0..0,
                24.0,
            );
        }
    }

    fn push_table(&mut self, card: usize, block: usize, table: &Table, range: Range<usize>) {
        let offset = self.view.cards[card].offset;
        let shared = Arc::new(Columns {
            card,
            block,
            natural: table::natural(table),
            least: table::least(table),
        });
        self.push(Kind::Gap(4.0), range.start..range.start, 4.0);
        self.push(
            Kind::Row {
                table: Arc::clone(&shared),
                row: None,
            },
            range.start..range.start + 1,
            32.0,
        );
        self.entries.extend(
            table
                .rows
                .iter()
                .enumerate()
                .map(|(row, (place, _))| Entry {
                    kind: Kind::Row {
                        table: Arc::clone(&shared),
                        row: Some(row),
                    },
                    range: place.start + offset..place.end + offset,
                    height: 31.0,
                }),
        );
        self.push(Kind::Gap(12.0), range.end..range.end, 12.0);
    }

    /// A block that is not text: what it is, where it points, and what can be done with it.
    fn push_other(&mut self, block: &Block, subject: &ParsedCapture) {
        let text = card::details(block, subject);
        let height = text.lines().count() as f32 * 18.0 + 24.0;
        self.push(Kind::Raw(text), 0..0, height);
        if let Some(controls) = Controls::new(block) {
            self.push(Kind::Controls(controls), 0..0, card::CONTROLS);
        }
    }

    /// Reads a block that came into view.
    fn read(&mut self, at: usize) {
        let Kind::Unread { card, block } = self.entries[at].kind else {
            return;
        };
        let view = Arc::clone(&self.view);
        let card_text = &view.cards[card];
        let md = &card_text.blocks[block];
        let source = &card_text.text[md.range.clone()];
        let offset = card_text.offset + md.range.start;
        let end = self.entries[at].range.end;
        let read: Vec<Entry> = markdown::items(source, &card_text.definitions)
            .into_iter()
            .map(|item| {
                let range = item.range.start + offset
                    ..(item.range.end + offset)
                        .min(end)
                        .max(item.range.start + offset);
                Entry {
                    height: (item.range.len() / 60 + 1) as f32 * 20.0 + 6.0,
                    range,
                    kind: Kind::Item { item, offset },
                }
            })
            .collect();
        self.total += read.iter().map(|entry| entry.height).sum::<f32>() - self.entries[at].height;
        self.entries.splice(at..=at, read);
        self.tops.truncate(at + 1);
    }

    /// The entry at a height, or the last one.
    fn at_height(&mut self, height: f32) -> usize {
        while self.tops.last().is_none_or(|&top| top < height)
            && self.tops.len() < self.entries.len()
        {
            let before = self
                .tops
                .len()
                .checked_sub(1)
                .map_or(0.0, |last| self.tops[last] + self.entries[last].height);
            self.tops.push(before);
        }
        self.tops
            .partition_point(|&top| top <= height)
            .saturating_sub(1)
    }

    fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
        let width = ui.available_width();
        if (self.width - width).abs() > 0.5 {
            self.width = width;
            self.content = self.content_width(width);
        }
        let mut area = ScrollArea::both()
            .id_salt(("rendered", pane.index))
            .auto_shrink(false);
        let record = cx.state.view.record;
        // The first frame does not know its height yet.
        if pane.visible(ui).1 > 0.0 {
            let mut place: Option<usize> = ui.data_mut(|data| data.remove_temp(pane.goto_id()));
            if self.shown_record != record {
                self.shown_record = record;
                place = place.or_else(|| self.view.links.first(record?));
            }
            if let Some(place) = place {
                self.at_height(f32::INFINITY);
                let entry = self
                    .entries
                    .iter()
                    .position(|entry| entry.range.end > place);
                let offset = entry
                    .and_then(|entry| self.tops.get(entry))
                    .copied()
                    .unwrap_or_default();
                let (top, height) = pane.visible(ui);
                if offset < top || offset + 40.0 > top + height {
                    area = area.vertical_scroll_offset((offset - height * 0.3).max(0.0));
                }
            }
        }
        let cuts = super::host::cuts_of(cx, pane.format);
        let marked = marks::marked_texts(cx, MarkedText::Format(pane.format));
        let (found, current) = (find::places(cx, pane), find::current(ui, cx, pane));
        let output = area.show_viewport(ui, |ui, viewport| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            let origin = ui.min_rect().min;
            let mut at = self.at_height(viewport.min.y);
            let mut y = self.tops.get(at).copied().unwrap_or_default();
            let mut has_changed = false;
            let mut was_cut = false;
            while at < self.entries.len() && y <= viewport.max.y {
                let height = self.entries[at].height;
                if matches!(self.entries[at].kind, Kind::Unread { .. }) {
                    self.read(at);
                    continue;
                }
                let entry = self.entries[at].clone();
                let mut words = self.marked_words(&marked, &entry.range);
                let top = pos2(origin.x, (origin.y + y).round());
                let is_cut =
                    !entry.range.is_empty() && between(cuts, &entry.range).next().is_some();
                let ground = ui.painter().add(egui::Shape::Noop);
                let painted = ui.push_id(at, |ui| {
                    self.entry_ui(ui, cx, &entry, top, width, &mut words)
                });
                let painted = painted.inner;
                if is_cut {
                    let t = theme::of(ui);
                    let place = Rect::from_min_size(pos2(origin.x, top.y), vec2(width, painted));
                    ui.painter()
                        .set(ground, egui::Shape::rect_filled(place, 0.0, t.warn_bg));
                    ui.painter().rect_filled(
                        Rect::from_min_size(place.min, vec2(2.0, painted)),
                        0.0,
                        t.warn,
                    );
                    if !was_cut {
                        super::host::not_shown_at(
                            ui,
                            pos2(
                                origin.x + viewport.max.x - 14.0,
                                top.y.max(ui.clip_rect().top()) + 14.0,
                            ),
                        );
                    }
                }
                if !entry.range.is_empty() && between(found, &entry.range).next().is_some() {
                    let is_current =
                        current.is_some_and(|current| entry.range.contains(&current.start));
                    let (fill, stroke) = find::colors(theme::of(ui), is_current);
                    let place = Rect::from_min_size(pos2(origin.x, top.y), vec2(width, painted))
                        .shrink2(vec2(4.0, 0.0));
                    let mark = egui::epaint::RectShape::new(
                        place,
                        theme::RADIUS_BADGE,
                        fill,
                        stroke,
                        StrokeKind::Inside,
                    );
                    ui.painter().set(ground, mark);
                }
                if let Some(gravest) = words.first().map(|words| words.severity) {
                    let t = theme::of(ui);
                    let place = Rect::from_min_size(pos2(origin.x, top.y), vec2(width, painted));
                    // Where the words are not known, the whole of it is meant.
                    if let Some(whole) = words.iter().find(|words| !words.is_found) {
                        ui.painter().set(
                            ground,
                            egui::Shape::rect_filled(
                                place,
                                0.0,
                                marks::mark_colors(t, whole.severity).0,
                            ),
                        );
                    }
                    ui.painter()
                        .rect_filled(marks::edge(place), 0.0, marks::look(t, gravest).0);
                }
                was_cut = is_cut || (was_cut && entry.range.is_empty());
                if (painted - height).abs() > 0.5 {
                    self.entries[at].height = painted;
                    self.total += painted - height;
                    self.tops.truncate(at + 1);
                    has_changed = true;
                }
                y += painted;
                at += 1;
            }
            ui.allocate_rect(
                Rect::from_min_size(origin, vec2(self.content, self.total)),
                Sense::hover(),
            );
            if has_changed {
                ui.request_repaint();
            }
        });
        pane.remember(
            ui,
            output.state.clamped_offset().y,
            output.inner_rect.height(),
        );
    }

    fn content_width(&self, width: f32) -> f32 {
        let widest = |entry: &Entry| match &entry.kind {
            Kind::Row { table, row: None } => {
                table.widths(width - 2.0 * SIDE).iter().sum::<f32>() + 2.0 * SIDE
            }
            _ => width,
        };
        self.entries.iter().map(widest).fold(width, f32::max)
    }

    /// What findings mark of an entry, the most severe first.
    fn marked_words(
        &self,
        marked: &[marks::MarkedPlacesOf<'_>],
        entry: &Range<usize>,
    ) -> Vec<MarkedWords> {
        if entry.is_empty() {
            return Vec::new();
        }
        let source = |range: Range<usize>| {
            let card = self
                .view
                .cards
                .iter()
                .rfind(|card| card.offset <= range.start)?;
            card.text
                .get(range.start - card.offset..range.end - card.offset)
        };
        let words = |severity: Severity, place: &Range<usize>| {
            let is_within =
                entry.start <= place.start && place.end <= entry.end && place.len() <= MOST_MARKED;
            let own = source(place.clone())
                .filter(|_| is_within)
                .unwrap_or_default();
            let before = source(entry.start..place.start.max(entry.start))
                .map_or(0, |text| text.matches(own).count());
            MarkedWords {
                severity,
                text: markdown::inline(own).text.trim().to_owned(),
                before,
                is_found: false,
            }
        };
        let all = marked.iter().flat_map(|(severity, places)| {
            between(places, entry)
                .take(MOST_WORDS)
                .map(|place| words(*severity, place))
                .collect::<Vec<_>>()
        });
        all.collect()
    }

    /// Paints one entry and returns its height.
    fn entry_ui(
        &mut self,
        ui: &mut Ui,
        cx: &Cx<'_>,
        entry: &Entry,
        top: Pos2,
        width: f32,
        words: &mut [MarkedWords],
    ) -> f32 {
        let record = self.view.links.at(&entry.range);
        let is_linked = record.is_some() && record == cx.state.view.record;
        match &entry.kind {
            Kind::Gap(height) => *height,
            Kind::Unread { .. } => entry.height,
            Kind::Notice(text) => notice(ui, text, top, width),
            Kind::Raw(text) => raw(ui, text, top.x + SIDE, top.y, width - 2.0 * SIDE),
            Kind::Controls(controls) => controls.show(ui, cx, top, width),
            Kind::CardHeader(header) => card::header_ui(ui, header, top, width),
            Kind::Row {
                table: columns,
                row,
            } => match &self.view.cards[columns.card].blocks[columns.block].kind {
                MdKind::Table(table) => {
                    let widths = columns.widths(width - 2.0 * SIDE);
                    let mut cells = table::cells(table, *row, widths.len());
                    words
                        .iter_mut()
                        .for_each(|words| cells.iter_mut().for_each(|cell| words.mark(cell)));
                    let row = table::TableRow {
                        table,
                        widths: &widths,
                        cells: &cells,
                        row: *row,
                        record,
                        is_linked,
                    };
                    table::row_ui(ui, cx, &row, top)
                }
                MdKind::Html | MdKind::Markdown => 0.0,
            },
            Kind::Item { item, offset } => {
                let at = offset + item.range.start;
                let place = ItemPlace {
                    top,
                    width,
                    record,
                    is_linked,
                    is_first: at == 0,
                    salt: at,
                };
                let mut item = item.clone();
                if let ItemKind::Heading(_, inline)
                | ItemKind::Paragraph(inline)
                | ItemKind::Point(_, inline) = &mut item.kind
                {
                    words.iter_mut().for_each(|words| words.mark(inline));
                }
                item_ui(ui, cx, &item, &place, &mut self.cache)
            }
        }
    }
}

fn notice(ui: &mut Ui, text: &str, top: Pos2, width: f32) -> f32 {
    let t = theme::of(ui);
    let rect = Rect::from_min_size(pos2(top.x + SIDE, top.y), vec2(width - 2.0 * SIDE, 22.0));
    widgets::glyph_at(
        ui,
        pos2(rect.left() + 8.0, rect.center().y),
        icons::WARNING,
        theme::icon_fill_font(14.0),
        t.warn,
    );
    widgets::text_at(
        ui,
        pos2(rect.left() + 22.0, rect.center().y),
        text,
        theme::small(),
        t.text,
        rect.width() - 22.0,
    );
    widgets::sense(ui, rect, "notice", Sense::hover())
        .on_hover_text(text)
        .widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    24.0
}
