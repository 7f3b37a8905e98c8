//! One finding: what it means, where it stands, what its fix saves, and the result as the fix makes it.

use std::fmt::Write as _;
use std::sync::Arc;

use egui::{Align, Id, Layout, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::{AnswerFindings, FindingPlace, small, step};
use crate::state::{Action, CompareAction, Dialog};
use crate::ui::marks::look;
use crate::ui::panes::show_places;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button, Tone};
use crate::ui::{Cx, icons};
use loupe_analysis::contract::finding_sentence;
use loupe_analysis::finding::code_fix::{CodeFix, CodeLine, Sdk, code_fixes};
use loupe_analysis::finding::{Finding, Location, LocationPart, ToolSilence};
use loupe_analysis::queries::{CountQuery, FixedResult, RowQuery, WithFix};
use loupe_core::number::{grouped, number_of, relative_change};
use loupe_core::quote::markdown_code;
use loupe_core::token::{Encoding, Tokenizer, Tokens, format_count};

/// Lines of the fixed answer that are shown.
const PREVIEW: usize = 4;

pub fn detail_ui(ui: &mut Ui, cx: &Cx<'_>, found: &AnswerFindings, at: usize, finding: &Finding) {
    let t = theme::of(ui);
    let rule = finding.rule;
    ScrollArea::vertical()
        .id_salt("finding")
        .auto_shrink([false, true])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 8.0;
            // Beside the bar that scrolls.
            ui.set_width(ui.available_width() - 10.0);
            head_ui(ui, cx, finding);
            ui.add(small(rule.explanation.replace('`', ""), t.text));
            evidence_ui(
                ui,
                cx,
                found.places.get(at).map(Vec::as_slice).unwrap_or_default(),
                finding,
            );
            if let Some(mended) = &finding.mended {
                saving_ui(ui, cx, mended, found.read_by);
            } else if let Some(saves) = finding.saves {
                other_savings_ui(ui, cx, &[("One model reads", saves)]);
            }
            ui.add(heading("Fix", t));
            ui.add(small(rule.fix.replace('`', ""), t.strong));
            if let Some(mended) = &finding.mended {
                preview_ui(ui, mended);
            }
            code_ui(ui, cx, code_fixes(rule.id));
            ui.add(small(format!("Source: {}", rule.source), t.weak));
            foot_ui(ui, cx, finding);
        });
}

fn heading(words: &str, t: &ThemeTokens) -> egui::Label {
    egui::Label::new(widgets::styled(words, theme::regular(11.5), t.weak))
}

fn head_ui(ui: &mut Ui, cx: &Cx<'_>, finding: &Finding) {
    let t = theme::of(ui);
    let (color, icon, _) = look(t, finding.severity);
    ui.horizontal(|ui| {
        widgets::from_right(ui, |ui| {
            if widgets::icon_button(ui, icons::COPY, "Copy the finding as Markdown").clicked() {
                cx.send(Action::Copy(markdown(finding)));
            }
            repeat_ui(ui, cx, finding);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.label(icons::icon(icon, 16.0, color));
                let title =
                    widgets::styled(sentence(&finding.message), theme::semibold(14.0), t.strong);
                ui.add(egui::Label::new(title).wrap());
            });
        });
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        widgets::words(ui, finding.rule.id, theme::mono(12.0), t.text);
        for (profile, severity) in &finding.profiles {
            widgets::badge(
                ui,
                None,
                &format!("{} · {}", profile.name(), severity.name()),
                Tone::Plain,
                false,
            );
        }
        let is_sure = if finding.rule.is_heuristic {
            "may be wrong"
        } else {
            "certain"
        };
        widgets::badge(ui, None, is_sure, Tone::Plain, true);
    });
}

/// For hints of a tool, the call made twice.
fn repeat_ui(ui: &mut Ui, cx: &Cx<'_>, finding: &Finding) {
    if finding.area() == "annotations" {
        let tip = "Makes the call that the form describes twice and compares the answers; a tool that is not declared read-only asks first";
        if Button::new("Call twice and compare")
            .small()
            .tip(tip)
            .enabled(cx.state.can_call())
            .clicked(ui)
        {
            cx.send(CompareAction::StartEqual(2));
        }
    }
}

/// A row for each part with its places, which leads to the first of them.
fn evidence_ui(ui: &mut Ui, cx: &Cx<'_>, places: &[FindingPlace], finding: &Finding) {
    let t = theme::of(ui);
    let mut parts: Vec<(LocationPart, Vec<&Location>)> = Vec::new();
    for place in &finding.places {
        match parts.iter_mut().find(|(part, _)| *part == place.part) {
            Some((_, places)) => places.push(place),
            None => parts.push((place.part, vec![place])),
        }
    }
    if parts.is_empty() {
        return;
    }
    ui.add(heading("Evidence", t));
    for (part, own) in parts {
        let (rect, response) = widgets::keyed(
            ui,
            vec2(ui.available_width(), 26.0),
            Sense::click(),
            &part.name(),
        );
        let fill = if response.hovered() { t.hover } else { t.card };
        widgets::boxed(ui, rect, theme::RADIUS_BADGE, fill, t.line);
        let y = rect.center().y;
        widgets::text_at(
            ui,
            pos2(rect.left() + 10.0, y),
            part_title(part),
            theme::regular(12.5),
            t.text,
            120.0,
        );
        let is_here = |place: &&FindingPlace| {
            matches!(
                (place, part),
                (FindingPlace::Text(_), LocationPart::Text(_))
                    | (FindingPlace::Node(_), LocationPart::Structured)
                    | (
                        FindingPlace::Key(_),
                        LocationPart::Text(_) | LocationPart::Structured
                    )
            )
        };
        let shown: Vec<FindingPlace> = places.iter().filter(is_here).cloned().collect();
        // A rule names the first of many alike.
        let all = if finding.count > finding.places.len() as u64 {
            format!(" of {}", grouped(finding.count))
        } else {
            String::new()
        };
        let marked = if finding.keys.is_empty() {
            own.len()
        } else {
            shown.len()
        };
        let count = match marked as u64 {
            1 if all.is_empty() => "1 place".to_owned(),
            own => format!("{}{all} places", grouped(own)),
        };
        let mut end = rect.right() - 10.0;
        // The definition is a dialog of its own.
        let opens = part == LocationPart::Definition && !finding.subject.is_empty();
        let leads = opens || !shown.is_empty();
        if leads {
            widgets::glyph_at(
                ui,
                pos2(end - 6.0, y),
                icons::ARROW_RIGHT,
                theme::icon_font(13.0),
                t.weak,
            );
            end -= 20.0;
        }
        let end = widgets::text_right(ui, pos2(end, y), &count, theme::small(), t.weak) - 12.0;
        let first = match &finding.keys[..] {
            [] => own
                .iter()
                .take(3)
                .map(|at| where_at(at))
                .collect::<Vec<_>>()
                .join(", "),
            keys => format!("{}/*: {}", finding.path(), names(keys)),
        };
        let left = rect.left() + 140.0;
        widgets::text_at(
            ui,
            pos2(left, y),
            &first,
            theme::mono(11.5),
            t.strong,
            end - left,
        );
        let name = format!("{}, {count}: {first}", part_title(part));
        response.widget_info(|| WidgetInfo::labeled(Role::Button, leads, &name));
        widgets::focus_ring_inside(ui, &response);
        if response.clicked() && opens {
            cx.send(Action::ShowDialog(Dialog::Definition {
                tool: finding.subject.clone(),
            }));
        } else if response.clicked() {
            show_places(ui, cx, &shown);
        }
    }
}

/// `id, name, city and 7 more`.
fn names(keys: &[String]) -> String {
    let more = keys.len().saturating_sub(3);
    let first = keys[..keys.len() - more].join(", ");
    if more > 0 {
        format!("{first} and {} more", grouped(more as u64))
    } else {
        first
    }
}

fn part_title(part: LocationPart) -> &'static str {
    match part {
        LocationPart::Text(_) => "Text",
        LocationPart::Structured => "structuredContent",
        LocationPart::Result => "Result",
        LocationPart::Definition => "Definition",
    }
}

/// Where a place is within its part.
fn where_at(place: &Location) -> String {
    match &place.range {
        Some(range) if !range.is_empty() => format!("{}–{}", range.start, range.end),
        _ if place.path.is_empty() => "as a whole".to_owned(),
        _ => place.path.clone(),
    }
}

/// A part, its tokens as sent and with the fix, and whether the fix keeps it.
type PartCounts = (&'static str, Option<u64>, Option<u64>, bool);

/// Text, data and both.
fn part_counts(cx: &Cx<'_>, mended: &Arc<FixedResult>, tokenizer: &Tokenizer) -> [PartCounts; 3] {
    let before = |format: &'static str| {
        let row = cx
            .ready(RowQuery(format))
            .filter(|row| row.is_available())?;
        Some(cx.count_by(row, tokenizer)?.ok()?.high())
    };
    let parts = [
        ("Text", "content"),
        ("structuredContent", "structured"),
        ("Both", "both"),
    ];
    let mut counts = parts.map(|(title, format)| {
        let after = after(cx, mended, format, tokenizer);
        (title, before(format), after, keeps(mended, format))
    });
    // Of both the one part that is left counts.
    if counts[2].1.is_some() && !counts[2].3 {
        (counts[2].2, counts[2].3) = (counts[0].2.or(counts[1].2), true);
    }
    counts
}

/// What is sent of each part against what would be with the fix.
fn saving_ui(ui: &mut Ui, cx: &Cx<'_>, mended: &Arc<FixedResult>, read_by: [usize; 3]) {
    let t = theme::of(ui);
    let tokenizer = &cx.state.settings.tokenizer;
    ui.add(heading(
        &format!("Measured saving, {}", tokenizer.name()),
        t,
    ));
    let counts = part_counts(cx, mended, tokenizer);
    // Of a result with one part, every host reads that.
    let has_both = counts[2].1.is_some();
    let most = counts
        .iter()
        .filter_map(|(_, before, after, _)| (*before).max(*after))
        .max()
        .unwrap_or(1)
        .max(1);
    for ((title, before, after, is_kept), hosts) in counts
        .into_iter()
        .zip(read_by)
        .filter(|((_, before, ..), _)| before.is_some())
    {
        let title = match has_both {
            true => format!("{title} · {}", number_of(hosts as u64, "hosts")),
            false => title.to_owned(),
        };
        let before = before.unwrap_or(0);
        let row = widgets::ListRow::to_read(ui, 20.0);
        let ui = row.ui;
        row.text(
            row.rect.left(),
            row.inset_left(190.0),
            &*title,
            theme::regular(12.5),
            t.text,
        );
        let (words, change) = match after {
            Some(after) => match relative_change(before, after, "tok") {
                Some(change) => (
                    format!("{} → {} tok", grouped(before), grouped(after)),
                    change,
                ),
                None => (format!("{} tok", grouped(before)), "same".to_owned()),
            },
            None => (
                format!("{} tok", grouped(before)),
                if is_kept { "counting…" } else { "left out" }.to_owned(),
            ),
        };
        let after = after.unwrap_or(0);
        row.number(row.rect.right(), &change, theme::mono(11.5), t.text);
        let end = row.number(row.inset_right(68.0), &words, theme::mono(11.5), t.strong) - 16.0;
        let bar = egui::Rect::from_min_max(
            pos2(row.inset_left(200.0), row.y - 3.0),
            pos2(end.min(row.inset_right(200.0)), row.y + 3.0),
        );
        if bar.width() > 20.0 {
            let part = |count: u64| {
                bar.with_max_x(bar.left() + bar.width() * (count as f32 / most as f32))
            };
            ui.painter().rect_filled(bar, theme::RADIUS_BAR, t.hover);
            ui.painter()
                .rect_filled(part(before), theme::RADIUS_BAR, t.faint);
            ui.painter()
                .rect_filled(part(after), theme::RADIUS_BAR, t.accent);
        }
        let name = format!("{title}: {words}, {change}");
        row.say(Role::Label, &name);
    }
    let [o200k_base, cl100k_base] = [Encoding::O200kBase, Encoding::Cl100kBase]
        .map(|encoding| part_counts(cx, mended, &Tokenizer::Encoding(encoding)));
    let less = |(_, before, after, _): PartCounts| {
        let less = before
            .zip(after)
            .map(|(before, after)| before.saturating_sub(after));
        less.unwrap_or(0)
    };
    let savings = [0, 1, 2].map(|at| {
        let (o200k_base, cl100k_base) = (less(o200k_base[at]), less(cl100k_base[at]));
        let saves = Tokens {
            o200k_base,
            cl100k_base,
        };
        (counts[at].0, saves)
    });
    other_savings_ui(ui, cx, &savings);
}

/// The same in the tokenizers that are not chosen; the range for Claude follows from `o200k_base`.
fn other_savings_ui(ui: &mut Ui, cx: &Cx<'_>, savings: &[(&str, Tokens)]) {
    let t = theme::of(ui);
    let encodings = Encoding::ALL.iter().copied().map(Tokenizer::Encoding);
    let others = encodings.chain([Tokenizer::Claude]);
    for tokenizer in others.filter(|other| *other != cx.state.settings.tokenizer) {
        let counts = savings.iter().filter_map(|(title, saves)| {
            let count = tokenizer.from_tokens(*saves)?;
            (count.high() > 0).then(|| format!("{title} {} tok less", format_count(count)))
        });
        let counts = counts.collect::<Vec<_>>().join(", ");
        if !counts.is_empty() {
            ui.add(small(format!("{}: {counts}", tokenizer.name()), t.weak));
        }
    }
}

/// Whether the fixed answer has this part.
fn keeps(mended: &FixedResult, format: &str) -> bool {
    match format {
        "content" => mended.parts.text.is_some(),
        "structured" => mended.parts.structured.is_some(),
        _ => mended.parts.text.is_some() && mended.parts.structured.is_some(),
    }
}

fn after(
    cx: &Cx<'_>,
    mended: &Arc<FixedResult>,
    format: &'static str,
    tokenizer: &Tokenizer,
) -> Option<u64> {
    let query = CountQuery {
        format,
        tokenizer: tokenizer.clone(),
    };
    keeps(mended, format)
        .then(|| {
            cx.ready(WithFix(Arc::clone(mended), query))
                .map(|count| count.high())
        })
        .flatten()
}

/// What code and texts of the result stand in.
fn code_frame(t: &ThemeTokens) -> egui::Frame {
    egui::Frame::new()
        .fill(t.card)
        .stroke(Stroke::new(1.0, t.line))
        .corner_radius(theme::RADIUS_BADGE)
        .inner_margin(8)
}

/// The first lines of the part that the fix changes.
fn preview_ui(ui: &mut Ui, mended: &FixedResult) {
    let t = theme::of(ui);
    let Some(text) = mended.changed_part() else {
        return;
    };
    code_frame(t).show(ui, |ui| {
        ui.set_width(ui.available_width());
        for line in text.lines().take(PREVIEW) {
            let shown: String = line.chars().take(200).collect();
            widgets::truncated(ui, shown, theme::mono(11.5), t.strong);
        }
    });
}

/// The change as code for the server's SDK; which one that is, is chosen where the server does not tell.
fn code_ui(ui: &mut Ui, cx: &Cx<'_>, fixes: &[CodeFix]) {
    let Some(first) = fixes.first() else { return };
    let t = theme::of(ui);
    let told = cx
        .state
        .capture()
        .and_then(|capture| Sdk::of(&capture.tool, &capture.server));
    let id = Id::unique("sdk of the fix");
    let chosen = widgets::recall::<Sdk>(ui, id).or(told);
    let fix = fixes
        .iter()
        .find(|fix| Some(fix.sdk) == chosen)
        .unwrap_or(first);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.add(heading("As code", t));
        for other in fixes {
            let button = Button::new(other.sdk.title()).small();
            let button = if other.sdk == fix.sdk {
                button.icon(icons::CHECK)
            } else {
                button
            };
            if button.clicked(ui) {
                widgets::remember(ui, id, other.sdk);
            }
        }
        if Some(fix.sdk) == told {
            widgets::note(ui, "as the server tells");
        }
        widgets::from_right(ui, |ui| {
            if widgets::icon_button(ui, icons::COPY, "Copy the new code").clicked() {
                let new = fix.change().into_iter();
                let new = new.filter(|line| line.mark() != '-');
                let lines: Vec<&str> = new.map(CodeLine::text).collect();
                cx.send(Action::Copy(lines.join("\n")));
            }
        });
    });
    if !fix.note.is_empty() {
        ui.add(small(fix.note, t.weak));
    }
    code_frame(t).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 1.0;
        for line in fix.change() {
            let color = match line {
                CodeLine::Same(_) => t.weak,
                CodeLine::Removed(_) => t.bad,
                CodeLine::Added(_) => t.ok,
            };
            let words = format!("{} {}", line.mark(), line.text());
            widgets::wrapped(ui, words, theme::mono(11.5), color);
        }
    });
}

fn foot_ui(ui: &mut Ui, cx: &Cx<'_>, finding: &Finding) {
    ui.horizontal(|ui| {
        widgets::from_right(ui, |ui| {
            for (label, keys, is_next) in [("Next", "F8", true), ("Previous", "Shift F8", false)] {
                if Button::new(label)
                    .shortcut(keys)
                    .small()
                    .frameless()
                    .clicked(ui)
                {
                    step(ui, cx, is_next)
                        .into_iter()
                        .for_each(|action| cx.send(action));
                }
            }
            // Of a server, a rule is switched off as a whole.
            if !finding.subject.is_empty() && cx.state.rules_file().is_some() {
                let tip = "Asks for the reason and writes it into loupe.toml";
                if Button::new("Silence for this tool")
                    .small()
                    .frameless()
                    .tip(tip)
                    .clicked(ui)
                {
                    let (rule, tool) = (finding.rule.id, finding.subject.clone());
                    let silence = ToolSilence {
                        rule,
                        tool,
                        reason: String::new(),
                    };
                    cx.send(Action::ShowDialog(Dialog::Silence(silence)));
                }
            }
        });
    });
}

/// As people read it: with a capital, and without the marks of code.
pub fn sentence(message: &str) -> String {
    let plain = message.replace('`', "");
    let mut chars = plain.chars();
    match chars.next() {
        Some(first) if !message.starts_with('`') => first.to_uppercase().chain(chars).collect(),
        _ => plain,
    }
}

/// One finding for a pull request or an issue.
pub fn markdown(finding: &Finding) -> String {
    let mut text = format!(
        "- **{}** `{}` {}\n",
        finding.severity.name(),
        finding.rule.id,
        markdown_code(&finding_sentence(finding))
    );
    for at in finding.places.iter().take(3) {
        let place = format!("{} {}", at.part.name(), where_at(at));
        writeln!(text, "  - at {}", markdown_code(&place)).ok();
    }
    writeln!(text, "  - fix: {}", finding.rule.fix).ok();
    text
}
