//! What panes mark of findings, and how.

use std::ops::Range;
use std::sync::Arc;

use egui::{Color32, Rect, Stroke, vec2};

use super::theme::{self, ThemeTokens};
use super::{Cx, icons};
use crate::state::{DrawerTab, PaneContent, PaneView};
use loupe_analysis::finding::{
    AnswerFindings, Finding, FindingMarks, FindingsQuery, MarkedText, Severity, TextMarksQuery,
};

/// The query of the findings that are shown.
pub fn query(cx: &Cx<'_>) -> FindingsQuery {
    FindingsQuery {
        settings: Arc::clone(&cx.state.view.findings.rules),
        reads: cx.state.read_choice(),
    }
}

/// Colour, icon and name of a severity.
pub fn look(t: &ThemeTokens, severity: Severity) -> (Color32, &'static str, &'static str) {
    match severity {
        Severity::Error => (t.bad, icons::ERROR, "Errors"),
        Severity::Warning => (t.warn, icons::WARNING, "Warnings"),
        Severity::Info => (t.accent, icons::INFO, "Information"),
        Severity::Cost => (t.weak, icons::COST, "Cost"),
    }
}

/// The text that a pane shows, where places in it are marked.
pub fn text_of(cx: &Cx<'_>, shows: PaneView) -> Option<MarkedText> {
    match shows.content() {
        PaneContent::Format(format) => Some(MarkedText::Format(format)),
        PaneContent::Host(host) => Some(MarkedText::Host {
            host,
            with_cuts: cx.state.view.hosts.shows_removed,
        }),
        PaneContent::Data => None,
    }
}

/// The marks of findings in a row of text: the fill, the line below.
pub fn mark_colors(t: &ThemeTokens, severity: Severity) -> (Color32, Color32) {
    match severity {
        Severity::Error => (t.bad_bg, t.bad),
        Severity::Warning => (t.warn_bg, t.warn),
        Severity::Info | Severity::Cost => (t.accent_bg, t.accent_line),
    }
}

/// The mark of a finding around what is in a place.
pub fn mark_shape(t: &ThemeTokens, place: Rect, severity: Severity) -> egui::Shape {
    let (fill, line) = mark_colors(t, severity);
    let place = place.expand2(vec2(2.0, 0.0));
    egui::epaint::RectShape::new(
        place,
        theme::RADIUS_BAR,
        fill,
        Stroke::new(1.0, line),
        egui::StrokeKind::Inside,
    )
    .into()
}

/// What panes mark of findings: the places of the one that is looked at, else those of all.
#[derive(Clone, Copy)]
pub struct Marked<'a> {
    pub found: &'a AnswerFindings,
    pub only: Option<usize>,
}

impl<'a> Marked<'a> {
    /// The findings whose places are marked.
    pub fn findings(self) -> &'a [Finding] {
        match self.only {
            Some(at) => self.found.findings.get(at..=at).unwrap_or_default(),
            None => &self.found.findings,
        }
    }

    /// The most severe first.
    pub fn by_severity(self) -> impl Iterator<Item = (Severity, &'a FindingMarks)> {
        let only = self.only.and_then(|at| {
            Some((
                self.found.findings.get(at)?.severity,
                self.found.marks_of.get(at)?,
            ))
        });
        let all = Severity::ALL
            .into_iter()
            .zip(&self.found.marks)
            .filter(move |_| only.is_none());
        only.into_iter().chain(all)
    }

    /// The places in a text, the most severe first; none until they are found in it.
    pub fn texts(self, cx: &Cx<'a>, of: MarkedText) -> Vec<MarkedPlacesOf<'a>> {
        if let MarkedText::Format(format) = of
            && FindingMarks::FORMATS.contains(&format)
        {
            return self
                .by_severity()
                .filter_map(|(severity, marks)| Some((severity, marks.texts(format)?)))
                .collect();
        }
        let query = TextMarksQuery {
            places: Arc::clone(&self.found.to_mark),
            of,
        };
        let Some(marks) = cx.ready(query) else {
            return Vec::new();
        };
        match self.only {
            Some(at) => {
                let own = self.found.findings.get(at).zip(marks.of_each.get(at));
                own.into_iter()
                    .map(|(finding, places)| (finding.severity, &**places))
                    .collect()
            }
            None => Severity::ALL
                .into_iter()
                .zip(marks.by_severity.iter().map(Vec::as_slice))
                .collect(),
        }
    }

    /// The most severe severity of a finding about one of these nodes of the data.
    pub fn of_nodes(self, nodes: Range<usize>) -> Option<Severity> {
        self.holding(|marks| is_among(marks.nodes(), &nodes))
    }

    /// The most severe severity of a finding about the key of one of these nodes.
    pub fn of_keys(self, nodes: Range<usize>) -> Option<Severity> {
        self.holding(|marks| is_among(marks.keys(), &nodes))
    }

    fn holding(self, holds: impl Fn(&FindingMarks) -> bool) -> Option<Severity> {
        self.by_severity()
            .find(|(_, marks)| holds(marks))
            .map(|(severity, _)| severity)
    }
}

/// Whether one of these nodes, in order, is in a range.
fn is_among(marked: &[usize], nodes: &Range<usize>) -> bool {
    marked
        .get(marked.partition_point(|node| *node < nodes.start))
        .is_some_and(|node| *node < nodes.end)
}

/// The places in a text that findings of a severity mark.
pub type MarkedPlacesOf<'a> = (Severity, &'a [Range<usize>]);

/// The most severe severity of a finding at a byte of a text.
pub fn of_byte(texts: &[MarkedPlacesOf<'_>], at: usize) -> Option<Severity> {
    let holds = |places: &[Range<usize>]| {
        places
            .get(places.partition_point(|place| place.end <= at))
            .is_some_and(|place| place.start <= at)
    };
    texts
        .iter()
        .find(|(_, places)| holds(places))
        .map(|(severity, _)| *severity)
}

/// The places that findings mark in a text; none where they mark nothing.
pub fn marked_texts<'a>(cx: &Cx<'a>, of: MarkedText) -> Vec<MarkedPlacesOf<'a>> {
    visible_marks(cx)
        .map(|marked| marked.texts(cx, of))
        .unwrap_or_default()
}

/// What of the findings panes mark: those of the tab, or the one that is chosen next to another.
pub fn visible_marks<'a>(cx: &Cx<'a>) -> Option<Marked<'a>> {
    let found = cx.ready(query(cx)).filter(|_| is_looked_at(cx))?;
    Some(Marked {
        found,
        only: cx.state.view.findings.selected,
    })
}

/// Whether panes mark findings.
pub fn is_looked_at(cx: &Cx<'_>) -> bool {
    let view = &cx.state.view;
    cx.state.settings.drawer_open
        && (view.drawer == DrawerTab::Findings || view.findings.selected.is_some())
}

/// The room of a bar at the left edge of a marked row.
pub fn edge(rect: Rect) -> Rect {
    Rect::from_min_size(rect.min, vec2(2.0, rect.height()))
}
