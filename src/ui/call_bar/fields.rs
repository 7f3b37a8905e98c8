//! The form of the call bar: one control per value of the input schema, at any depth.
//!
//! Each control shows what will be sent and nothing else: a default is a hint in the empty field, and unset, null and
//! empty are distinguished by the hint and by the field's own menu.

mod editor;
mod label;
mod list;
mod object;
mod problems;
mod union;

use std::borrow::Cow;

use egui::{Id, Margin, Popup, Rect, RichText, Sense, Stroke, Ui, Vec2, vec2};

use super::date;
use crate::state::form::{SchemaId, item_schema, pointer_of};
use crate::state::{CallAction, FieldFile, FieldKind, Form, Value};
use crate::ui::theme;
use crate::ui::{Cx, drops, icons, widgets};
pub(super) use editor::invalid_border;
use editor::{Editor, UNSET, enum_choices, json_text, json_value};
pub(super) use problems::problems_ui;

/// The least height of the form, and the share of the window that it takes at most until the user drags it. The rest scrolls.
const LEAST_HEIGHT: f32 = 3.0 * 54.0 + 8.0;
const MOST_SHARE: f32 = 0.4;
/// The strip by which it is dragged.
const HANDLE: f32 = 6.0;
const LABEL: f32 = 18.0;
const GAP: f32 = 12.0;
/// A longer text, in bytes, comes from a file, and is shown as one.
const MOST_TYPED: usize = 64 << 10;
/// How far what is within a value stands to the right of it.
const INDENT: f32 = 12.0;

/// A value of the form with what is around it.
struct Entry<'a> {
    /// What it is called where it stands.
    name: Cow<'a, str>,
    /// The same from the root on: `items[2].price`.
    path: String,
    pointer: String,
    schema: SchemaId,
    value: &'a Value,
    required: bool,
}

/// The form that is painted.
struct FormUi<'a> {
    tool: &'a str,
    form: &'a Form,
    cx: &'a Cx<'a>,
}

/// The fields, in rows as wide as the room allows. `lead` is painted at the head of the first row.
pub(super) fn form_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    tool: &str,
    form: &Form,
    lead: impl FnOnce(&mut Ui),
) {
    let painted = FormUi { tool, form, cx };
    let refused = painted.newly_refused(ui);
    let height_id = Id::unique("height of the form");
    let dragged = widgets::recall::<f32>(ui, height_id);
    let height =
        dragged.unwrap_or_else(|| (ui.content_rect().height() * MOST_SHARE).max(LEAST_HEIGHT));
    let shown = widgets::scroll_within("fields", height).show(ui, |ui| {
        ui.spacing_mut().item_spacing = vec2(GAP, 2.0);
        ui.spacing_mut().interact_size.y = LABEL;
        let entries = form.fields().map(|(property, value)| Entry {
            name: Cow::Borrowed(&property.name),
            path: property.name.clone(),
            pointer: pointer_of("", &property.name),
            schema: property.schema,
            value,
            required: property.required,
        });
        if let Some((field, value)) = painted.flow(
            ui,
            &entries.collect::<Vec<_>>(),
            refused.as_deref(),
            Some(lead),
        ) {
            cx.send(CallAction::SetField { field, value });
        }
    });
    if dragged.is_some() || shown.content_size.y > height {
        let (handle, response) = widgets::full_width(ui, HANDLE, Sense::drag());
        let response = response
            .on_hover_cursor(egui::CursorIcon::ResizeVertical)
            .on_hover_text("Drag to make the form higher");
        if response.dragged() {
            let most = ui.content_rect().height() * 0.8;
            let height = (height + response.drag_delta().y).clamp(LABEL + theme::INPUT, most);
            widgets::remember(ui, height_id, height);
        }
        let color = if response.hovered() || response.dragged() {
            theme::of(ui).accent
        } else {
            theme::of(ui).line2
        };
        ui.painter().hline(
            handle.center().x - 20.0..=handle.center().x + 20.0,
            handle.center().y,
            Stroke::new(2.0, color),
        );
    }
}

fn field_id(tool: &str, pointer: &str) -> Id {
    Id::unique(("field", tool, pointer))
}

/// Gives the focus to the field of a property.
pub(super) fn focus(ui: &Ui, tool: &str, property: &str) {
    ui.memory_mut(|memory| memory.request_focus(field_id(tool, &pointer_of("", property))));
}

impl FormUi<'_> {
    /// Values side by side as far as there is room; one that holds others takes the whole width. Gives what was changed.
    fn flow<L: FnOnce(&mut Ui)>(
        &self,
        ui: &mut Ui,
        entries: &[Entry<'_>],
        refused: Option<&str>,
        lead: Option<L>,
    ) -> Option<(usize, Value)> {
        let width = ui.available_width();
        let (mut changed, mut menus) = (None, Vec::new());
        let mut lead = lead;
        let mut waiting = entries.iter().enumerate().peekable();
        while lead.is_some() || waiting.peek().is_some() {
            ui.horizontal_top(|ui| {
                let mut left = width;
                if let Some(lead) = lead.take() {
                    let before = ui.available_width();
                    ui.vertical(|ui| {
                        ui.add_space(LABEL + 2.0);
                        lead(ui);
                    });
                    left -= before - ui.available_width();
                }
                let mut is_row_empty = left >= width;
                while let Some((at, entry)) = waiting
                    .next_if(|(_, entry)| is_row_empty || self.width(entry, width) + GAP <= left)
                {
                    is_row_empty = false;
                    let wanted = self.width(entry, width).min(width);
                    left -= wanted + GAP;
                    ui.scope_builder(widgets::region(ui, (self.tool, &entry.pointer)), |ui| {
                        ui.vertical(|ui| {
                            ui.set_width(wanted);
                            let (value, menu) = self.field_ui(ui, entry, wanted, refused);
                            changed = value.map(|value| (at, value)).or(changed.take());
                            menus.extend(menu.map(|place| (at, place)));
                            if refused == Some(&entry.pointer) {
                                ui.scroll_to_rect(ui.min_rect(), None);
                            }
                        });
                    });
                }
            });
        }
        for (at, place) in menus {
            changed = self
                .menu_ui(ui, &entries[at], place)
                .map(|value| (at, value))
                .or(changed);
        }
        changed
    }

    /// The first field that a call was just refused for. What is typed next goes there, where it is a field to type in.
    fn newly_refused(&self, ui: &Ui) -> Option<String> {
        let key = Id::unique(("refused", self.tool));
        let seen = ui.data_mut(|data| data.get_temp::<u32>(key));
        widgets::remember(ui, key, self.form.tries);
        if self.form.tries <= seen.unwrap_or(self.form.tries) {
            return None;
        }
        let pointer = self.form.problems.first()?.0.clone();
        // A control that is no text takes no focus by it.
        ui.memory_mut(|memory| memory.request_focus(self.id(&pointer)));
        Some(pointer)
    }

    fn id(&self, pointer: &str) -> Id {
        field_id(self.tool, pointer)
    }

    fn kind(&self, entry: &Entry<'_>) -> &FieldKind {
        &self.form.schemas.get(entry.schema).kind
    }

    /// Whether a value shows others within it, below each other.
    fn is_block(&self, kind: &FieldKind) -> bool {
        match kind {
            FieldKind::Object { .. } | FieldKind::Tuple(..) | FieldKind::Union(_) => true,
            FieldKind::Array(item) => !self.is_scalar(*item),
            _ => false,
        }
    }

    fn is_scalar(&self, id: SchemaId) -> bool {
        matches!(
            self.form.schemas.get(id).kind,
            FieldKind::String { .. }
                | FieldKind::Number { .. }
                | FieldKind::Boolean
                | FieldKind::Enum(_)
        )
    }

    fn problem<'a>(&'a self, entry: &Entry<'_>) -> Option<&'a str> {
        self.form.problem_at(
            &entry.pointer,
            entry.value,
            !self.is_block(self.kind(entry)),
        )
    }

    /// A value with its label and its menu.
    fn value_ui(
        &self,
        ui: &mut Ui,
        entry: &Entry<'_>,
        width: f32,
        refused: Option<&str>,
    ) -> Option<Value> {
        let (changed, menu) = self.field_ui(ui, entry, width, refused);
        changed.or(menu.and_then(|place| self.menu_ui(ui, entry, place)))
    }

    /// A value with its label; what was changed, and where its menu belongs.
    fn field_ui(
        &self,
        ui: &mut Ui,
        entry: &Entry<'_>,
        width: f32,
        refused: Option<&str>,
    ) -> (Option<Value>, Option<Rect>) {
        let t = theme::of(ui);
        let menu = ui.horizontal(|ui| {
            ui.set_height(LABEL);
            ui.spacing_mut().item_spacing.x = 6.0;
            let label = widgets::words(ui, &*entry.name, theme::mono(12.0), t.text);
            widgets::words(
                ui,
                self.type_text(entry.schema),
                theme::regular(12.0),
                t.weak,
            );
            if entry.required {
                widgets::words(ui, "required", theme::regular(12.0), t.weak);
            }
            if let Some(description) = &self.form.schemas.get(entry.schema).description {
                label.on_hover_text(description);
            }
            self.has_menu(entry)
                .then(|| ui.allocate_exact_size(Vec2::splat(LABEL), Sense::hover()).0)
        });
        let changed = self.control(ui, entry, width, refused);
        if let Some(problem) = self.problem(entry) {
            let label = widgets::wrapped(ui, problem, theme::regular(12.0), t.bad);
            label.accessible_name(format!("{}: {problem}", entry.path));
        }
        (changed, menu.inner)
    }

    /// What a value can be besides what is typed. It is next to the label; Tab comes to it after the fields.
    fn menu_ui(&self, ui: &mut Ui, entry: &Entry<'_>, place: Rect) -> Option<Value> {
        let mut changed = None;
        let name = format!("Value of {}", entry.path);
        let more = widgets::Button::new("")
            .icon(icons::MORE)
            .name(&name)
            .tip("Unset, null or empty")
            .frameless()
            .height(LABEL);
        let salt = (self.tool, &entry.pointer, "menu");
        let more = more.show(&mut ui.new_child(widgets::region(ui, salt).max_rect(place)));
        Popup::menu(&more).show(|ui| {
            ui.set_width(180.0);
            for (name, value) in self.menu_values(entry) {
                let mark = if value == *entry.value {
                    icons::CHECK
                } else {
                    " "
                };
                if widgets::choose_item(ui, mark, name, "", true) {
                    changed = Some(value);
                }
            }
            if takes_file(self.kind(entry))
                && widgets::menu_item(ui, icons::OPEN_FILE, "From a file…", "", true).clicked()
            {
                self.cx.send(CallAction::FillField {
                    field: self.file_of(entry),
                    path: None,
                });
                ui.close();
            }
        });
        changed
    }

    /// The control of a value; gives the new value where the user changed it.
    fn control(
        &self,
        ui: &mut Ui,
        entry: &Entry<'_>,
        width: f32,
        refused: Option<&str>,
    ) -> Option<Value> {
        let schema = self.form.schemas.get(entry.schema);
        let hint = self.hint(entry);
        let editor = Editor {
            id: self.id(&entry.pointer),
            name: &entry.path,
            hint: &hint,
            width,
            is_invalid: self.problem(entry).is_some(),
        };
        match &schema.kind {
            FieldKind::String { .. } | FieldKind::Array(_)
                if matches!(entry.value, Value::Json(_)) =>
            {
                self.unfit(ui, entry)
            }
            FieldKind::String { multiline, .. } => {
                let text = match entry.value {
                    Value::Text(text) => text.as_str(),
                    _ => "",
                };
                if text.len() > MOST_TYPED {
                    return long_text(ui, entry, text);
                }
                let Some(has_time) = date_time(&schema.kind) else {
                    let field = ui.scope(|ui| editor.text(ui, text, *multiline, false));
                    if let Some(path) = drops::on(ui, field.response.rect) {
                        self.cx.send(CallAction::FillField {
                            field: self.file_of(entry),
                            path: Some(path),
                        });
                    }
                    return field.inner.map(Value::Text);
                };
                let editor = Editor {
                    width: width - theme::INPUT - 6.0,
                    ..editor
                };
                let changed = ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 6.0;
                    let typed = editor.text(ui, text, false, false);
                    let picked = date::pick_ui(
                        ui,
                        editor.id,
                        &entry.path,
                        text,
                        has_time,
                        self.cx.state.today(),
                    );
                    typed.or(picked)
                });
                changed.inner.map(Value::Text)
            }
            FieldKind::Number { .. } => editor
                .text(ui, json_text(entry.value), false, true)
                .map(json_value),
            FieldKind::Json => editor
                .text(ui, json_text(entry.value), true, true)
                .map(json_value),
            FieldKind::Boolean => {
                let choice = |json: &str| (json.to_owned(), Value::Json(json.to_owned()));
                let mut choices = vec![
                    (UNSET.to_owned(), Value::Unset),
                    choice("true"),
                    choice("false"),
                ];
                if schema.nullable {
                    choices.push(("null".to_owned(), Value::Null));
                }
                editor.choose(ui, choices, entry.value)
            }
            kind @ FieldKind::Enum(_) => editor.choose(ui, enum_choices(kind, entry), entry.value),
            kind @ FieldKind::Array(item) if self.is_scalar(*item) => {
                self.list(ui, &editor, kind, entry)
            }
            kind => self.block(ui, kind, entry, refused),
        }
    }

    /// The field, as one that takes what is in a file.
    fn file_of(&self, entry: &Entry<'_>) -> FieldFile {
        let is_base64 = self.kind(entry).is_base64();
        FieldFile {
            session: self.cx.state.session().id,
            tool: self.tool.to_owned(),
            pointer: entry.pointer.clone(),
            path: entry.path.clone(),
            is_base64,
        }
    }

    /// What does not fit its control is sent all the same, so it is shown as it is.
    fn unfit(&self, ui: &mut Ui, entry: &Entry<'_>) -> Option<Value> {
        let width = ui.available_width();
        let editor = Editor {
            id: self.id(&entry.pointer),
            name: &entry.path,
            hint: "unset",
            width,
            is_invalid: true,
        };
        editor
            .text(ui, json_text(entry.value), true, true)
            .map(json_value)
    }

    /// What a value holds, below it and a little to the right.
    fn block(
        &self,
        ui: &mut Ui,
        kind: &FieldKind,
        entry: &Entry<'_>,
        refused: Option<&str>,
    ) -> Option<Value> {
        let t = theme::of(ui);
        if matches!(entry.value, Value::Unset | Value::Null) {
            let add = widgets::Button::new("Add")
                .icon(icons::ADD)
                .name(&format!("Add {}", entry.path))
                .small()
                .show(ui);
            // Who adds a list has an item to add.
            return add.clicked().then(|| {
                match (
                    Value::first(&self.form.schemas, entry.schema),
                    item_schema(kind, 0),
                ) {
                    (Value::Items(items), Some(item)) if items.is_empty() => {
                        Value::Items(vec![Value::first(&self.form.schemas, item)])
                    }
                    (value, _) => value,
                }
            });
        }
        let inner = widgets::padded(
            ui,
            Margin {
                left: INDENT as i8,
                ..Margin::ZERO
            },
            |ui| match (kind, entry.value) {
                (FieldKind::Object { properties, others }, Value::Members(members)) => {
                    self.members(ui, entry, members, properties, *others, refused)
                }
                (FieldKind::Array(_) | FieldKind::Tuple(..), Value::Items(items)) => {
                    self.items(ui, kind, entry, items, refused)
                }
                (FieldKind::Union(branches), value) => {
                    self.union(ui, branches, entry, value, refused)
                }
                _ => self.unfit(ui, entry),
            },
        );
        let line = Rect::from_min_max(
            inner.response.rect.left_top(),
            inner.response.rect.left_bottom(),
        );
        ui.painter()
            .vline(line.left() + 3.0, line.y_range(), Stroke::new(1.0, t.line2));
        inner.inner
    }
}

impl Entry<'_> {
    fn member<'a>(
        &self,
        name: &'a str,
        schema: SchemaId,
        value: &'a Value,
        required: bool,
    ) -> Entry<'a> {
        Entry {
            name: Cow::Borrowed(name),
            path: format!("{}.{name}", self.path),
            pointer: pointer_of(&self.pointer, name),
            schema,
            value,
            required,
        }
    }
}

/// What nobody typed is not laid out in each frame: how much there is of it, and a way to let go of it.
fn long_text(ui: &mut Ui, entry: &Entry<'_>, text: &str) -> Option<Value> {
    let clear = ui.horizontal(|ui| {
        ui.label(
            RichText::new(format!(
                "{} bytes of text",
                widgets::grouped(text.len() as u64)
            ))
            .font(theme::base()),
        );
        widgets::icon_button(
            ui,
            icons::REMOVE,
            &format!("Remove the text of {}", entry.path),
        )
    });
    clear.inner.clicked().then_some(Value::Unset)
}

/// Whether what is in a file may be the value.
fn takes_file(kind: &FieldKind) -> bool {
    matches!(kind, FieldKind::String { .. }) && date_time(kind).is_none()
}

/// Whether a date, and whether one with a time.
fn date_time(kind: &FieldKind) -> Option<bool> {
    match kind {
        FieldKind::String {
            format: Some(format),
            ..
        } if format == "date" => Some(false),
        FieldKind::String {
            format: Some(format),
            ..
        } if format == "date-time" => Some(true),
        _ => None,
    }
}
