//! The items of a list, each of which can be moved and removed.

use std::borrow::Cow;

use egui::{Popup, PopupCloseBehavior, RichText, ScrollArea, Ui};

use super::{Editor, Entry, FormUi};
use crate::state::form::item_schema;
use crate::state::{FieldKind, Value};
use crate::ui::theme;
use crate::ui::{icons, widgets};

impl FormUi<'_> {
    /// A list is one button that says how many items there are; the items are edited in a popup.
    pub(super) fn list(
        &self,
        ui: &mut Ui,
        editor: &Editor<'_>,
        kind: &FieldKind,
        entry: &Entry<'_>,
    ) -> Option<Value> {
        let t = theme::of(ui);
        let items: &[Value] = match entry.value {
            Value::Items(items) => items,
            _ => &[],
        };
        let words = match entry.value {
            Value::Items(items) if items.len() == 1 => "1 item".to_owned(),
            Value::Items(items) if items.is_empty() => "empty list".into(),
            Value::Items(items) => format!("{} items", items.len()),
            Value::Null => "null".into(),
            _ => editor.hint.to_owned(),
        };
        let name = format!("{}: {words}", entry.path);
        let button = widgets::Button::new(&words)
            .name(&name)
            .menu()
            .height(theme::INPUT)
            .show(ui);
        if editor.is_invalid {
            widgets::outline(ui, button.rect, theme::RADIUS_CONTROL, t.bad);
        }
        let mut changed = None;
        Popup::from_toggle_button_response(&button)
            .width(320.0)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .show(|ui| {
                ui.label(RichText::new(&*entry.name).font(theme::mono_semibold(12.0)));
                ScrollArea::vertical()
                    .max_height(260.0)
                    .auto_shrink([false, true])
                    .show(ui, |ui| {
                        changed = self.items(ui, kind, entry, items, None);
                    });
            });
        changed
    }

    /// The items of a list, each of which can be moved and removed where the list's places have no meaning of their own.
    pub(super) fn items(
        &self,
        ui: &mut Ui,
        kind: &FieldKind,
        entry: &Entry<'_>,
        items: &[Value],
        refused: Option<&str>,
    ) -> Option<Value> {
        let mut changed: Option<Vec<Value>> = None;
        let fixed = match kind {
            FieldKind::Tuple(places, _) => places.len(),
            _ => 0,
        };
        // Of a list of scalars the items need no labels.
        let is_plain = matches!(kind, FieldKind::Array(item) if self.is_scalar(*item));
        for (at, value) in items.iter().enumerate() {
            let Some(schema) = item_schema(kind, at) else {
                continue;
            };
            let item = Entry {
                name: Cow::Owned(format!("[{at}]")),
                path: format!("{}[{at}]", entry.path),
                pointer: format!("{}/{at}", entry.pointer),
                schema,
                value,
                required: is_plain,
            };
            ui.horizontal_top(|ui| {
                ui.vertical(|ui| {
                    let width = ui.available_width() - if at < fixed { 0.0 } else { 96.0 };
                    let width = self.width(&item, width).min(width);
                    ui.set_width(width);
                    let value = match is_plain {
                        true => self.control(ui, &item, width, refused),
                        false => self.value_ui(ui, &item, width, refused),
                    };
                    if let Some(value) = value {
                        changed.get_or_insert_with(|| items.to_vec())[at] = value;
                    }
                });
                if at >= fixed {
                    ui.spacing_mut().item_spacing.x = 2.0;
                    if at > fixed
                        && widgets::icon_button(ui, icons::UP, &format!("Move {} up", item.path))
                            .clicked()
                    {
                        changed
                            .get_or_insert_with(|| items.to_vec())
                            .swap(at, at - 1);
                    }
                    if at + 1 < items.len()
                        && widgets::icon_button(
                            ui,
                            icons::DOWN,
                            &format!("Move {} down", item.path),
                        )
                        .clicked()
                    {
                        changed
                            .get_or_insert_with(|| items.to_vec())
                            .swap(at, at + 1);
                    }
                    if widgets::icon_button(ui, icons::REMOVE, &format!("Remove {}", item.path))
                        .clicked()
                    {
                        changed.get_or_insert_with(|| items.to_vec()).remove(at);
                    }
                }
            });
        }
        if let Some(next) = item_schema(kind, items.len()) {
            let add = widgets::Button::new("Add item")
                .icon(icons::ADD)
                .name(&format!("Add item to {}", entry.path))
                .small()
                .show(ui);
            if add.clicked() {
                changed
                    .get_or_insert_with(|| items.to_vec())
                    .push(Value::first(&self.form.schemas, next));
            }
        }
        changed.map(Value::Items)
    }
}
