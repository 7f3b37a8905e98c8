//! What a result costs as it grows: points and a line of each format, and the limits it meets.

use std::collections::BTreeSet;

use egui::{Align2, Color32, Ui};
use egui_plot::{HLine, Line, LineStyle, Plot, PlotPoint, PlotPoints, Points, Text};

use super::{SIDE, stays};
use crate::state::CompareAction;
use crate::ui::Cx;
use crate::ui::theme;
use crate::ui::widgets::{self, Button};
use loupe_analysis::queries::comparison::ComparisonPage;
use loupe_analysis::queries::comparison::curve::{Curve, Limit, LinearFit, Unit};
use loupe_core::host::Hosts;
use loupe_core::host::rules::LimitUnit as HostUnit;

/// A limit that servers and hosts often set.
const USUAL: u64 = 25_000;

/// The limits of hosts that count this, and the usual one.
fn limits(unit: Unit, chosen: &BTreeSet<String>) -> Vec<(String, Limit)> {
    let mut limits = vec![(
        String::new(),
        Limit {
            name: String::new(),
            unit,
            at: USUAL,
        },
    )];
    for host in Hosts::built_in()
        .iter()
        .filter(|host| chosen.contains(host.id.as_str()))
    {
        let counts = |of: HostUnit| match unit {
            Unit::Tokens(_) => matches!(of, HostUnit::Tokens | HostUnit::Tokens4),
            Unit::Chars => matches!(of, HostUnit::Chars | HostUnit::Scalars),
            Unit::Bytes => of == HostUnit::Bytes,
        };
        for limit in host
            .limit
            .iter()
            .filter(|limit| limit.max > 0 && counts(limit.unit))
        {
            limits.push((
                host.id.as_str().to_owned(),
                Limit {
                    name: host.name.clone(),
                    unit,
                    at: limit.max,
                },
            ));
        }
    }
    limits
}

pub fn curve_ui(ui: &mut Ui, cx: &Cx<'_>, page: &ComparisonPage) {
    let inner = ui.max_rect().shrink(SIDE);
    widgets::part(ui, "curve", inner, |ui| inner_ui(ui, cx, page));
}

fn inner_ui(ui: &mut Ui, cx: &Cx<'_>, page: &ComparisonPage) {
    let t = theme::of(ui);
    let tokens = Unit::Tokens(cx.state.settings.encoding());
    let unit = if cx.state.comparisons.is_in_chars {
        Unit::Chars
    } else {
        tokens
    };
    let Some(curve) = page.curve(unit) else {
        return;
    };
    let chosen = &cx.state.comparisons.limits;
    let limits = limits(unit, chosen);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        if let Some(clicked) = widgets::segmented(
            ui,
            "Count",
            &["Tokens", "Characters"],
            usize::from(unit == Unit::Chars),
        ) {
            cx.send(CompareAction::SetChars(clicked == 1));
        }
        hosts_ui(ui, cx, chosen);
    });
    ui.add_space(4.0);
    let headline = curve.headline(&page.comparison);
    widgets::wrapped(ui, headline, theme::title(), t.strong);
    for (_, limit) in &limits {
        if let Some(sentence) = curve.sentence(limit) {
            widgets::wrapped(ui, sentence, theme::base(), t.text);
        }
    }
    if !curve.is_counted {
        widgets::words(
            ui,
            "No data to count items in, so the requested number is assumed",
            theme::small(),
            t.warn,
        );
    }
    for (value, why) in &curve.left_out {
        widgets::words(
            ui,
            format!("{value} not plotted: {why}"),
            theme::small(),
            t.warn,
        );
    }
    ui.add_space(6.0);
    plot_ui(ui, page, curve, &limits);
}

fn hosts_ui(ui: &mut Ui, cx: &Cx<'_>, chosen: &BTreeSet<String>) {
    let button = Button::new("Limits of hosts")
        .menu()
        .tip("Draw the limits of these hosts in")
        .show(ui);
    stays(&button).width(300.0).show(|ui| {
        egui::ScrollArea::vertical()
            .max_height(360.0)
            .show(ui, |ui| {
                for host in Hosts::built_in()
                    .iter()
                    .filter(|host| host.limit.iter().any(|limit| limit.max > 0))
                {
                    let mut is_ticked = chosen.contains(host.id.as_str());
                    let units: Vec<String> = host
                        .limit
                        .iter()
                        .filter(|limit| limit.max > 0)
                        .map(|limit| limit.unit.in_words(limit.max))
                        .map(|(max, unit)| widgets::number_text(max, unit.title()))
                        .collect();
                    if ui
                        .checkbox(&mut is_ticked, &host.name)
                        .on_hover_text(units.join("\n"))
                        .changed()
                    {
                        let mut next = chosen.clone();
                        if is_ticked {
                            next.insert(host.id.as_str().to_owned());
                        } else {
                            next.remove(host.id.as_str());
                        }
                        cx.send(CompareAction::SetLimits(next));
                    }
                }
            });
    });
}

fn plot_ui(ui: &mut Ui, page: &ComparisonPage, curve: &Curve, limits: &[(String, Limit)]) {
    let t = theme::of(ui);
    // As many lines as there are columns: what is sent, and what was added.
    let mut shown: Vec<&str> = page
        .comparison
        .columns
        .iter()
        .map(|column| column.format)
        .collect();
    shown.dedup();
    let series: Vec<_> = curve
        .series
        .iter()
        .filter(|series| shown.contains(&series.format))
        .collect();
    let most = curve.measured();
    // As far as the place where what is sent meets the highest limit, so that it is seen.
    let line = curve.as_sent().and_then(|series| series.line);
    let met = limits
        .iter()
        .filter_map(|(_, limit)| line?.items_at(limit.at))
        .max()
        .unwrap_or(0);
    let end = (most.max(met) as f64 * 1.1).max(10.0);
    let colors = [
        t.hue_text.color,
        t.hue_both.color,
        t.hue_structured.color,
        t.json_number,
        t.json_string,
        t.weak,
    ];
    let unit = if curve.unit == Unit::Chars {
        "characters"
    } else {
        "tokens"
    };
    let plot = Plot::new("curve")
        .x_axis_label(curve.noun.clone())
        .y_axis_label(unit)
        .include_x(0.0)
        .include_x(end * 1.16)
        .include_y(0.0)
        .allow_scroll(false)
        .grid_color(t.line)
        .grid_spacing(36.0..=240.0)
        .x_axis_formatter(|mark, _| number(mark.value))
        .y_axis_formatter(|mark, _| number(mark.value));
    let label = |text: &str, color: Color32| widgets::styled(text, theme::medium(12.0), color);
    let response = plot.show(ui, |plot| {
        for (at, series) in series.iter().enumerate() {
            let color = colors[at % colors.len()];
            let points: Vec<[f64; 2]> = series
                .points
                .iter()
                .map(|point| [point.items as f64, point.cost as f64])
                .collect();
            // What was measured is solid, what follows from it dashed.
            plot.line(
                Line::new(series.title, PlotPoints::from(points.clone()))
                    .color(color)
                    .width(2.0),
            );
            if let (Some(line), Some([last, _])) = (series.line, points.last().copied()) {
                let beyond = vec![[last, line.at(last)], [end, line.at(end)]];
                let dashed = LineStyle::Dashed { length: 7.0 };
                plot.line(
                    Line::new(series.title, PlotPoints::from(beyond))
                        .color(color)
                        .width(1.5)
                        .style(dashed),
                );
                let place = PlotPoint::new(end, line.at(end));
                plot.text(
                    Text::new(
                        series.title,
                        place,
                        label(&format!(" {}", series.title), color),
                    )
                    .anchor(Align2::LEFT_CENTER),
                );
            }
            plot.points(
                Points::new(series.title, PlotPoints::from(points))
                    .color(color)
                    .radius(4.0),
            );
        }
        for (_, limit) in limits {
            let name = if limit.name.is_empty() {
                String::new()
            } else {
                format!(" · {}", limit.name)
            };
            let name = format!("{} {unit}{name}", widgets::grouped(limit.at));
            plot.hline(
                HLine::new(name.clone(), limit.at as f64)
                    .color(t.bad)
                    .width(1.0),
            );
            let place = PlotPoint::new(0.0, limit.at as f64);
            plot.text(
                Text::new(name.clone(), place, label(&format!(" {name}"), t.bad))
                    .anchor(Align2::LEFT_BOTTOM),
            );
        }
        if met > most {
            let place = PlotPoint::new(most as f64, 0.0);
            let words = format!(" measured up to {}, dashed beyond", widgets::grouped(most));
            plot.text(
                Text::new("measured", place, label(&words, t.weak)).anchor(Align2::LEFT_BOTTOM),
            );
        }
    });
    let words: Vec<String> = series
        .iter()
        .filter_map(|series| {
            let words = |line: LinearFit| {
                format!(
                    "{}: {:.1} {unit} an item, {} without items",
                    series.title,
                    line.each,
                    line.base_text()
                )
            };
            series.line.map(words)
        })
        .collect();
    let words = format!("Plot of {unit} against items. {}", words.join("; "));
    widgets::say(&response.response, egui::Role::Image, &words);
    widgets::focus_ring_inside(ui, &response.response);
}

/// A mark of an axis.
fn number(value: f64) -> String {
    if value < 0.0 || value.fract() != 0.0 {
        return String::new();
    }
    // A mark is far below 2^53.
    widgets::grouped(value as u64)
}
