//! Buttons, segments and tabs.

use egui::{
    Color32, Id, Key, Modifiers, Popup, Rect, Response, RichText, Role, Sense, Ui, WidgetInfo,
    pos2, vec2,
};

use super::{focus_ring, glyph_at, key_cap_at, key_cap_width, keyed, text_at};
use crate::ui::icons;
use crate::ui::theme;

/// A button as it is to be drawn; [`Button::show`] draws it.
#[derive(Clone, Copy)]
pub struct Button<'a> {
    label: &'a str,
    icon: Option<&'a str>,
    is_icon_filled: bool,
    shortcut: Option<&'a str>,
    name: Option<&'a str>,
    tip: Option<&'a str>,
    key: Option<&'a str>,
    is_primary: bool,
    is_frameless: bool,
    is_menu: bool,
    is_enabled: bool,
    height: f32,
    half: Option<Half>,
}

/// Which part of a split button it is: two that touch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Left,
    Right,
}

impl<'a> Button<'a> {
    pub fn new(label: &'a str) -> Self {
        Self {
            label,
            icon: None,
            is_icon_filled: false,
            shortcut: None,
            name: None,
            tip: None,
            key: None,
            is_primary: false,
            is_frameless: false,
            is_menu: false,
            is_enabled: true,
            height: theme::BUTTON,
            half: None,
        }
    }

    /// The left half of a split button; its right half touches it.
    #[must_use]
    pub fn left_half(mut self) -> Self {
        self.half = Some(Half::Left);
        self
    }

    /// The right half of a split button: the caret of its menu, drawn first where things go from right to left.
    #[must_use]
    pub fn right_half(mut self) -> Self {
        self.half = Some(Half::Right);
        self
    }

    /// A glyph of [`icons`] before the label.
    #[must_use]
    pub fn icon(mut self, icon: &'a str) -> Self {
        self.icon = Some(icon);
        self
    }

    #[must_use]
    pub fn icon_fill(mut self, icon: &'a str) -> Self {
        self.icon = Some(icon);
        self.is_icon_filled = true;
        self
    }

    /// Keys shown in a cap after the label.
    #[must_use]
    pub fn shortcut(mut self, shortcut: &'a str) -> Self {
        self.shortcut = Some(shortcut);
        self
    }

    /// The name in the accessibility tree where the label does not say it all.
    #[must_use]
    pub fn name(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }

    /// Shown on hover; for a disabled button, why it is.
    #[must_use]
    pub fn tip(mut self, tip: &'a str) -> Self {
        self.tip = Some(tip);
        self
    }

    /// Tells it from its neighbours where those come and go; see [`keyed`].
    #[must_use]
    pub fn key(mut self, key: &'a str) -> Self {
        self.key = Some(key);
        self
    }

    #[must_use]
    pub fn primary(mut self) -> Self {
        self.is_primary = true;
        self
    }

    /// No fill and no border until hovered.
    #[must_use]
    pub fn frameless(mut self) -> Self {
        self.is_frameless = true;
        self
    }

    /// A caret after the label: the button opens a menu.
    #[must_use]
    pub fn menu(mut self) -> Self {
        self.is_menu = true;
        self
    }

    #[must_use]
    pub fn enabled(mut self, is_enabled: bool) -> Self {
        self.is_enabled = is_enabled;
        self
    }

    #[must_use]
    pub fn small(mut self) -> Self {
        self.height = theme::SMALL_BUTTON;
        self
    }

    #[must_use]
    pub fn height(mut self, height: f32) -> Self {
        self.height = height;
        self
    }

    fn radius(&self) -> egui::CornerRadius {
        let mut radius = theme::RADIUS_CONTROL;
        match self.half {
            Some(Half::Left) => (radius.ne, radius.se) = (0, 0),
            Some(Half::Right) => (radius.nw, radius.sw) = (0, 0),
            None => {}
        }
        radius
    }

    /// Shows it; whether it was clicked.
    pub fn clicked(self, ui: &mut Ui) -> bool {
        self.show(ui).clicked()
    }

    pub fn show(self, ui: &mut Ui) -> Response {
        let t = theme::of(ui);
        let font = match self.height {
            ..theme::ICON_BUTTON => theme::regular(11.5),
            ..theme::BUTTON => theme::medium(12.0),
            _ => theme::label(),
        };
        let icon_size = if self.height < theme::BUTTON {
            14.0
        } else {
            16.0
        };
        let label =
            ui.painter()
                .layout_no_wrap(self.label.to_owned(), font.clone(), Color32::PLACEHOLDER);
        let pad = if self.label.is_empty() {
            (self.height - icon_size) / 2.0
        } else {
            10.0
        };
        let mut width = 2.0 * pad + label.size().x;
        if self.icon.is_some() {
            width += icon_size + if self.label.is_empty() { 0.0 } else { 6.0 };
        }
        let cap_width = self.shortcut.map(|keys| key_cap_width(ui, keys));
        if let Some(cap_width) = cap_width {
            width += cap_width + 8.0;
        }
        if self.is_menu {
            width += 18.0;
        }
        let sense = if self.is_enabled {
            Sense::click()
        } else {
            Sense::hover()
        };
        let size = vec2(width.ceil(), self.height);
        let spacing = ui.spacing().item_spacing.x;
        if self.half == Some(Half::Right) {
            ui.spacing_mut().item_spacing.x = 0.0;
        }
        let (rect, mut response) = match self.key {
            Some(key) => keyed(ui, size, sense, key),
            None => ui.allocate_exact_size(size, sense),
        };
        ui.spacing_mut().item_spacing.x = spacing;
        let name = self.name.unwrap_or(self.label);
        response.widget_info(|| WidgetInfo::labeled(Role::Button, self.is_enabled, name));
        if ui.is_rect_visible(rect) {
            let is_hovered = response.hovered() && self.is_enabled;
            let is_down = response.is_pointer_button_down_on() && self.is_enabled;
            let (fill, line, color) = if !self.is_enabled {
                (
                    if self.is_primary {
                        t.card
                    } else {
                        Color32::TRANSPARENT
                    },
                    if self.is_frameless {
                        Color32::TRANSPARENT
                    } else {
                        t.line
                    },
                    t.faint,
                )
            } else if self.is_primary {
                (
                    if is_hovered {
                        theme::lighter(t.accent)
                    } else {
                        t.accent
                    },
                    Color32::TRANSPARENT,
                    t.on_accent,
                )
            } else if self.is_frameless {
                let fill = if is_hovered {
                    t.hover
                } else {
                    Color32::TRANSPARENT
                };
                // An icon alone stands back until it is pointed at.
                let color = if is_hovered {
                    t.strong
                } else if self.label.is_empty() {
                    t.weak
                } else {
                    t.text
                };
                (
                    fill,
                    if is_down {
                        t.line2
                    } else {
                        Color32::TRANSPARENT
                    },
                    color,
                )
            } else {
                (
                    if is_hovered { t.hover } else { t.card },
                    t.line2,
                    if is_hovered { t.strong } else { t.text },
                )
            };
            super::boxed(ui, rect, self.radius(), fill, line);
            if self.half == Some(Half::Right) && self.is_primary {
                let line = color.gamma_multiply(0.3);
                ui.painter().vline(
                    rect.left() + 0.5,
                    rect.y_range().shrink(1.0),
                    egui::Stroke::new(1.0, line),
                );
            }
            let mut x = rect.left() + pad;
            if let Some(icon) = self.icon {
                let font = if self.is_icon_filled {
                    theme::icon_fill_font(icon_size)
                } else {
                    theme::icon_font(icon_size)
                };
                glyph_at(
                    ui,
                    pos2(x + icon_size / 2.0, rect.center().y),
                    icon,
                    font,
                    color,
                );
                x += icon_size + 6.0;
            }
            if !self.label.is_empty() {
                x = text_at(
                    ui,
                    pos2(x, rect.center().y),
                    self.label,
                    font,
                    color,
                    f32::INFINITY,
                );
            }
            if let Some((keys, cap_width)) = self.shortcut.zip(cap_width) {
                let line = if self.is_primary && self.is_enabled {
                    color.gamma_multiply(0.45)
                } else {
                    t.line2
                };
                let color = if self.is_primary { color } else { t.weak };
                key_cap_at(
                    ui,
                    pos2(x + 8.0 + cap_width, rect.center().y),
                    keys,
                    color,
                    line,
                );
            }
            if self.is_menu {
                let color = if self.is_enabled { t.weak } else { t.faint };
                glyph_at(
                    ui,
                    pos2(rect.right() - pad - 5.0, rect.center().y),
                    icons::DOWN,
                    theme::icon_font(12.0),
                    color,
                );
            }
            focus_ring(ui, &response, theme::RADIUS_CONTROL);
        }
        if let Some(tip) = self.tip {
            response = response.on_hover_text(tip);
        }
        response
    }
}

/// On or off, as a pill with its label behind it, spoken by its name; whether it was clicked.
pub fn switch(ui: &mut Ui, is_on: bool, label: &str, name: &str, tip: &str) -> bool {
    const PILL: egui::Vec2 = vec2(30.0, 16.0);
    let t = theme::of(ui);
    let font = theme::label();
    let words = super::text_width(ui, label, font.clone());
    let size = vec2(PILL.x + 8.0 + words, theme::BUTTON);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Switch, ui.is_enabled(), is_on, name));
    let pill = Rect::from_min_size(pos2(rect.left(), rect.center().y - PILL.y / 2.0), PILL);
    let (fill, line) = if is_on {
        (t.accent, t.accent)
    } else {
        (t.card, t.line2)
    };
    super::boxed(ui, pill, egui::CornerRadius::same(8), fill, line);
    let inset = PILL.y / 2.0;
    let (knob, color) = match is_on {
        true => (pill.right() - inset, t.on_accent),
        false => (pill.left() + inset, t.weak),
    };
    ui.painter()
        .circle_filled(pos2(knob, pill.center().y), 5.0, color);
    let color = if response.hovered() { t.strong } else { t.text };
    let left = pos2(pill.right() + 8.0, rect.center().y);
    text_at(ui, left, label, font, color, f32::INFINITY);
    focus_ring(ui, &response, theme::RADIUS_CONTROL);
    response.on_hover_text(tip).clicked()
}

/// A plain button.
pub fn button(ui: &mut Ui, label: &str) -> Response {
    Button::new(label).show(ui)
}

/// The one button of a region that does the main thing.
pub fn primary_button(
    ui: &mut Ui,
    label: &str,
    icon: Option<&str>,
    shortcut: Option<&str>,
) -> Response {
    let mut button = Button::new(label).primary();
    if let Some(icon) = icon {
        button = button.icon_fill(icon);
    }
    if let Some(shortcut) = shortcut {
        button = button.shortcut(shortcut);
    }
    button.show(ui)
}

/// A button that is only an icon; the name is its tooltip and its accessible name.
pub fn icon_button(ui: &mut Ui, icon: &str, name: &str) -> Response {
    icon_button_with(ui, icon, name, name)
}

/// The same with more in its one tooltip: its key, what it does.
pub fn icon_button_with(ui: &mut Ui, icon: &str, name: &str, tip: &str) -> Response {
    Button::new("")
        .icon(icon)
        .name(name)
        .tip(tip)
        .frameless()
        .height(theme::ICON_BUTTON)
        .show(ui)
}

/// One of a few choices, side by side; the clicked one is returned. `name` says what is chosen.
pub fn segmented(ui: &mut Ui, name: &str, choices: &[&str], selected: usize) -> Option<usize> {
    let t = theme::of(ui);
    let font = theme::medium(12.5);
    let widths: Vec<f32> = choices
        .iter()
        .map(|choice| super::text_width(ui, *choice, font.clone()).ceil() + 18.0)
        .collect();
    let (rect, _) = ui.allocate_exact_size(
        vec2(widths.iter().sum::<f32>() + 4.0, theme::INPUT),
        Sense::hover(),
    );
    super::boxed(ui, rect, theme::RADIUS_CONTROL, t.card, t.line2);
    let mut clicked = None;
    let mut x = rect.left() + 2.0;
    for (position, (choice, width)) in choices.iter().zip(widths).enumerate() {
        let part =
            egui::Rect::from_min_size(pos2(x, rect.top() + 2.0), vec2(width, rect.height() - 4.0));
        x += width;
        let response = super::sense(ui, part, ("segment", name, position), Sense::click());
        let is_selected = position == selected;
        response.widget_info(|| {
            WidgetInfo::selected(
                Role::RadioButton,
                ui.is_enabled(),
                is_selected,
                format!("{name}: {choice}"),
            )
        });
        let color = if is_selected { t.strong } else { t.weak };
        if is_selected {
            super::boxed(ui, part, theme::RADIUS_BADGE, t.hover, t.line2);
        } else if response.hovered() {
            ui.painter().rect_filled(part, theme::RADIUS_BADGE, t.hover);
        }
        glyph_at(ui, part.center(), choice, font.clone(), color);
        focus_ring(ui, &response, theme::RADIUS_BADGE);
        if response.clicked() {
            clicked = Some(position);
        }
    }
    clicked
}

/// A tab: icon, label and an optional weak number; the selected one has a bar under it. As high as the region.
pub fn tab(
    ui: &mut Ui,
    icon: Option<&str>,
    label: &str,
    count: Option<&str>,
    is_selected: bool,
    height: f32,
) -> Response {
    let t = theme::of(ui);
    let font = if is_selected {
        theme::semibold(13.0)
    } else {
        theme::label()
    };
    let label_width = super::text_width(ui, label, font.clone());
    let count_width = count.map_or(0.0, |count| {
        super::text_width(ui, count, theme::mono(12.0)) + 6.0
    });
    let icon_width = if icon.is_some() { 22.0 } else { 0.0 };
    let (rect, response) = ui.allocate_exact_size(
        vec2((icon_width + label_width + count_width).ceil(), height),
        Sense::click(),
    );
    let name = count.map_or_else(|| label.to_owned(), |count| format!("{label} {count}"));
    response.widget_info(|| WidgetInfo::selected(Role::Tab, ui.is_enabled(), is_selected, &name));
    let color = if is_selected || response.hovered() {
        t.strong
    } else {
        t.weak
    };
    let mut x = rect.left();
    if let Some(icon) = icon {
        glyph_at(
            ui,
            pos2(x + 8.0, rect.center().y),
            icon,
            theme::icon_font(16.0),
            color,
        );
        x += icon_width;
    }
    x = text_at(
        ui,
        pos2(x, rect.center().y),
        label,
        font,
        color,
        f32::INFINITY,
    );
    if let Some(count) = count {
        text_at(
            ui,
            pos2(x + 6.0, rect.center().y),
            count,
            theme::mono(12.0),
            t.weak,
            f32::INFINITY,
        );
    }
    if is_selected {
        let bar = egui::Rect::from_min_max(pos2(rect.left(), rect.bottom() - 2.0), rect.max);
        ui.painter().rect_filled(bar, 1.0, t.accent);
    }
    focus_ring(ui, &response, theme::RADIUS_BADGE);
    response
}

/// The menu of a thing: by the other button of the mouse, or by Shift F10 while `focus` has the keyboard, which gets it back
/// from the menu. Of a list `focus` is the whole, given for the row with the cursor alone.
pub fn context_menu(response: &Response, focus: Option<&Response>, contents: impl FnOnce(&mut Ui)) {
    let ctx = &response.ctx;
    let id = Popup::default_response_id(response);
    let was_open = Popup::is_id_open(ctx, id);
    let opens = focus.is_some_and(Response::has_focus)
        && ctx.input_mut(|input| input.consume_key(Modifiers::SHIFT, Key::F10));
    let by_key = id.with("by key");
    if opens {
        Popup::open_id(ctx, id);
        ctx.data_mut(|data| data.insert_temp(by_key, ()));
    } else if response.secondary_clicked() {
        ctx.data_mut(|data| data.remove_temp::<()>(by_key));
    }
    // The mouse says where, and no mouse the row itself.
    let is_by_key = ctx.data(|data| data.get_temp::<()>(by_key)).is_some();
    let popup = Popup::context_menu(response);
    let popup = if is_by_key {
        popup.at_position(response.rect.left_bottom())
    } else {
        popup
    };
    popup.show(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        if opens {
            super::remember(ui, takes_focus(), ());
        }
        contents(ui);
    });
    let is_pressed = ctx.input(|input| input.pointer.any_pressed());
    if was_open
        && !Popup::is_id_open(ctx, id)
        && !is_pressed
        && let Some(focus) = focus
    {
        focus.request_focus();
    }
}

/// What is kept under it until the first row that can be chosen has taken the keyboard.
fn takes_focus() -> Id {
    Id::unique("first of the menu")
}

fn focus_if_first(response: &Response) {
    if response.enabled()
        && response
            .ctx
            .data_mut(|data| data.remove_temp::<()>(takes_focus()))
            .is_some()
    {
        response.request_focus();
    }
}

/// A row of a menu that closes it; whether it was clicked.
pub fn choose_item(ui: &mut Ui, glyph: &str, name: &str, keys: &str, enabled: bool) -> bool {
    let row = menu_item(ui, glyph, name, keys, enabled);
    closes(ui, &row)
}

/// The same with a swatch.
pub fn choose_row(ui: &mut Ui, label: &str, swatch: Option<Color32>, is_selected: bool) -> bool {
    let row = menu_row(ui, label, swatch, is_selected);
    closes(ui, &row)
}

fn closes(ui: &Ui, row: &Response) -> bool {
    if row.clicked() {
        ui.close();
    }
    row.clicked()
}

/// A row of a menu with an icon.
pub fn menu_item(ui: &mut Ui, glyph: &str, name: &str, keys: &str, enabled: bool) -> Response {
    let t = theme::of(ui);
    let button = egui::Button::new((
        icons::icon(glyph, 14.0, t.weak),
        RichText::new(name).font(theme::base()),
    ))
    .shortcut_text(RichText::new(keys).font(theme::mono(12.0)))
    .frame_when_inactive(false)
    .min_size(vec2(ui.available_width().max(200.0), 28.0));
    let response = ui.add_enabled(enabled, button);
    // The name alone, without the glyph's private-use character.
    response.widget_info(|| WidgetInfo::labeled(Role::MenuItem, enabled, name));
    focus_if_first(&response);
    response
}

/// A row of a menu, 28 px, with a swatch.
pub fn menu_row(ui: &mut Ui, label: &str, swatch: Option<Color32>, is_selected: bool) -> Response {
    let t = theme::of(ui);
    let (rect, response) = super::full_width(ui, 28.0, Sense::click());
    super::say_selected(&response, Role::MenuItem, is_selected, label);
    focus_if_first(&response);
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, theme::RADIUS_BADGE, t.hover);
    }
    let mut x = rect.left() + 8.0;
    if let Some(color) = swatch {
        ui.painter().rect_filled(
            Rect::from_center_size(pos2(x + 4.0, rect.center().y), vec2(8.0, 8.0)),
            theme::RADIUS_BAR,
            color,
        );
        x += 16.0;
    }
    text_at(
        ui,
        pos2(x, rect.center().y),
        label,
        theme::base(),
        if is_selected { t.strong } else { t.text },
        rect.right() - x - 24.0,
    );
    if is_selected {
        glyph_at(
            ui,
            pos2(rect.right() - 14.0, rect.center().y),
            icons::CHECK,
            theme::icon_font(14.0),
            t.accent,
        );
    }
    response
}
