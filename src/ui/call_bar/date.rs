//! A month to pick a date from, with the time of day and its zone, next to the text of a date.

use egui::{Align2, DragValue, Grid, Id, Popup, PopupCloseBehavior, Role, Sense, Ui, vec2};
use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime, UtcOffset};

use crate::ui::theme;
use crate::ui::{icons, widgets};

const DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");
const DAY: f32 = 28.0;

/// A button whose popup shows a month; gives the text with the date that was picked. Of a date with a time, the time and the
/// zone stay; where there is none, it is the beginning of the day here.
pub(super) fn pick_ui(
    ui: &mut Ui,
    id: Id,
    name: &str,
    text: &str,
    has_time: bool,
    today: OffsetDateTime,
) -> Option<String> {
    let button = widgets::Button::new("")
        .icon(icons::DOWN)
        .name(&format!("Pick a date for {name}"))
        .height(theme::INPUT)
        .show(ui);
    let mut picked = None;
    Popup::menu(&button)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| {
            let given = date_of(text);
            let month = id.with("month");
            let stored =
                widgets::recall::<i32>(ui, month).and_then(|day| Date::from_julian_day(day).ok());
            let shown = first_of(stored.or(given).unwrap_or_else(|| today.date()));
            let mut turn_to = None;
            ui.horizontal(|ui| {
                if widgets::icon_button(ui, icons::LEFT, "Previous month").clicked() {
                    turn_to = shown.checked_sub(Duration::days(1));
                }
                let title = format!("{} {}", shown.month(), shown.year());
                ui.add_sized(
                    vec2(7.0 * DAY - 76.0, 20.0),
                    egui::Label::new(egui::RichText::new(title).font(theme::medium(12.5))),
                );
                if widgets::icon_button(ui, icons::RIGHT, "Next month").clicked() {
                    turn_to = shown.checked_add(Duration::days(31));
                }
            });
            Grid::new(id.with("days"))
                .spacing(vec2(0.0, 0.0))
                .show(ui, |ui| {
                    let before = shown.weekday().number_days_from_monday();
                    let begin = shown
                        .checked_sub(Duration::days(before.into()))
                        .unwrap_or(shown);
                    for day in (0..42).filter_map(|days| begin.checked_add(Duration::days(days))) {
                        if day_ui(
                            ui,
                            day,
                            day.month() == shown.month(),
                            given == Some(day),
                            today.date() == day,
                        ) {
                            picked = Some(with_date(text, day, has_time, today.offset()));
                        }
                        if day.weekday().number_days_from_monday() == 6 {
                            ui.end_row();
                        }
                    }
                });
            if has_time {
                ui.separator();
                picked = picked.take().or(clock_ui(ui, text, today));
            }
            if let Some(day) = turn_to {
                widgets::remember(ui, month, first_of(day).to_julian_day());
            }
            // A time is rarely right at the first try: it closes nothing.
            if picked.is_some() && !has_time {
                ui.data_mut(|data| data.remove::<i32>(month));
                ui.close();
            }
        });
    picked
}

fn first_of(day: Date) -> Date {
    day.replace_day(1).unwrap_or(day)
}

fn day_ui(ui: &mut Ui, day: Date, is_of_month: bool, is_given: bool, is_today: bool) -> bool {
    let t = theme::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(DAY, DAY), Sense::click());
    widgets::say_selected(&response, Role::Button, is_given, day.to_string());
    let fill = match () {
        () if is_given => t.accent_bg,
        () if response.hovered() || response.has_focus() => t.hover,
        () => egui::Color32::TRANSPARENT,
    };
    ui.painter()
        .rect_filled(rect.shrink(1.0), theme::RADIUS_CONTROL, fill);
    if is_today {
        let line = egui::Stroke::new(1.0, t.accent);
        ui.painter().rect_stroke(
            rect.shrink(1.0),
            theme::RADIUS_CONTROL,
            line,
            egui::StrokeKind::Inside,
        );
    }
    let color = if is_of_month { t.text } else { t.faint };
    ui.painter().text(
        rect.center(),
        Align2::CENTER_CENTER,
        day.day(),
        theme::regular(12.0),
        color,
    );
    response.clicked()
}

/// Hours, minutes and seconds, and how far their zone is from UTC; where the text is no time, those of the beginning of today.
fn clock_ui(ui: &mut Ui, text: &str, today: OffsetDateTime) -> Option<String> {
    let day = date_of(text).unwrap_or(today.date());
    let before = OffsetDateTime::parse(text, &Rfc3339)
        .unwrap_or_else(|_| day.midnight().assume_offset(today.offset()));
    let (mut hour, mut minute, mut second) = before.to_hms();
    let mut zone = before.offset().whole_minutes();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (name, value, last) in [
            ("Hour", &mut hour, 23),
            ("Minute", &mut minute, 59),
            ("Second", &mut second, 59),
        ] {
            let digits = DragValue::new(value)
                .range(0..=last)
                .speed(0.2)
                .custom_formatter(|number, _| format!("{number:02}"));
            ui.add(digits).accessible_name(name);
        }
        let minutes = DragValue::new(&mut zone)
            .range(-12 * 60..=14 * 60)
            .speed(15.0);
        let minutes = minutes
            .custom_formatter(|number, _| zone_text(number as i16))
            .custom_parser(|typed| Some(zone_of(typed)?.into()));
        ui.add(minutes)
            .accessible_name("Zone, from UTC")
            .on_hover_text("How far the zone is from UTC: Z, +01:00, −03:30");
    });
    let zone = UtcOffset::from_whole_seconds(i32::from(zone) * 60).ok()?;
    let after = before
        .replace_hour(hour)
        .ok()?
        .replace_minute(minute)
        .ok()?
        .replace_second(second)
        .ok()?
        .replace_offset(zone);
    (after != before || after.offset() != before.offset()).then(|| after.format(&Rfc3339).ok())?
}

fn zone_text(minutes: i16) -> String {
    match minutes {
        0 => "Z".to_owned(),
        _ => format!(
            "{}{:02}:{:02}",
            if minutes < 0 { '-' } else { '+' },
            minutes.abs() / 60,
            minutes.abs() % 60
        ),
    }
}

/// The minutes of `Z`, `+01:00`, `-3:30` or `+5`.
fn zone_of(text: &str) -> Option<i16> {
    let text = text.trim().replace('\u{2212}', "-");
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, rest) = text
        .strip_prefix('-')
        .map_or((1, text.trim_start_matches('+')), |rest| (-1, rest));
    let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
    Some(
        sign * (hours
            .parse::<i16>()
            .ok()?
            .checked_mul(60)?
            .checked_add(minutes.parse().ok()?)?),
    )
}

fn date_of(text: &str) -> Option<Date> {
    Date::parse(text.get(..10)?, DATE).ok()
}

fn with_date(text: &str, day: Date, has_time: bool, offset: UtcOffset) -> String {
    let date = day.to_string();
    if !has_time {
        return date;
    }
    match date_of(text) {
        Some(_) if text.len() > 10 => format!("{date}{}", &text[10..]),
        _ if offset.is_utc() => format!("{date}T00:00:00Z"),
        _ => {
            let (hours, minutes, _) = offset.as_hms();
            let sign = if offset.is_negative() { '-' } else { '+' };
            format!(
                "{date}T00:00:00{sign}{:02}:{:02}",
                hours.abs(),
                minutes.abs()
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::{date, offset};

    use super::*;

    #[test]
    fn a_zone_is_read_as_it_is_written() {
        for minutes in [0, 60, -210, 14 * 60, 345] {
            assert_eq!(zone_of(&zone_text(minutes)), Some(minutes));
        }
        assert_eq!(
            [
                zone_of("-3:30"),
                zone_of("+5"),
                zone_of("z"),
                zone_of("Bonn")
            ],
            [Some(-210), Some(300), Some(0), None]
        );
    }

    #[test]
    fn the_time_and_the_zone_stay() {
        let day = date!(2026 - 02 - 28);
        for (text, has_time, offset, expected) in [
            ("", false, offset!(UTC), "2026-02-28"),
            ("2025-01-01", false, offset!(UTC), "2026-02-28"),
            ("", true, offset!(UTC), "2026-02-28T00:00:00Z"),
            ("", true, offset!(-3:30), "2026-02-28T00:00:00-03:30"),
            (
                "2025-01-01T09:15:00+02:00",
                true,
                offset!(UTC),
                "2026-02-28T09:15:00+02:00",
            ),
            (
                "é — no date at all",
                true,
                offset!(+1),
                "2026-02-28T00:00:00+01:00",
            ),
        ] {
            assert_eq!(with_date(text, day, has_time, offset), expected, "{text}");
        }
    }
}
