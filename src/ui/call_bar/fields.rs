//! The form of the call bar: one control per value of the input schema, at any depth.
//!
//! Each control shows what will be sent and nothing else: a default is a hint in the empty field, and unset, null and
//! empty are told apart by the hint and by the field's own menu.

use std::borrow::Cow;

use egui::{
    Color32, Frame, Id, Margin, Popup, PopupCloseBehavior, Rect, RichText, ScrollArea, Sense, Stroke, TextEdit, Ui, vec2,
};

use time::OffsetDateTime;

use super::date;
use crate::state::form::{Branch, Members, SchemaId, item_schema, plain, pointer_of};
use crate::state::{CallAction, FieldKind, Form, FormMode, Value};
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::{Cx, icons, widgets};

/// The least height of the form, and the share of the window that it takes at most until a person drags it. The rest scrolls.
const LEAST_HEIGHT: f32 = 3.0 * 54.0 + 8.0;
const MOST_SHARE: f32 = 0.4;
/// The strip by which it is dragged.
const HANDLE: f32 = 6.0;
const LABEL: f32 = 18.0;
const GAP: f32 = 12.0;
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
    today: OffsetDateTime,
}

/// The fields, in rows as wide as the room allows. `lead` is painted at the head of the first row.
pub(super) fn form_ui(ui: &mut Ui, cx: &Cx<'_>, tool: &str, form: &Form, lead: impl FnOnce(&mut Ui)) {
    let painted = FormUi { tool, form, today: cx.state.today() };
    let refused = painted.newly_refused(ui);
    let height_id = Id::unique("height of the form");
    let dragged = ui.data(|data| data.get_temp::<f32>(height_id));
    let height = dragged.unwrap_or_else(|| (ui.content_rect().height() * MOST_SHARE).max(LEAST_HEIGHT));
    let shown =
        ScrollArea::vertical().id_salt("fields").max_height(height).min_scrolled_height(height).auto_shrink([false, true]).show(
            ui,
            |ui| {
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
                if let Some((field, value)) = painted.flow(ui, &entries.collect::<Vec<_>>(), refused.as_deref(), Some(lead)) {
                    cx.send(CallAction::SetField { field, value });
                }
            },
        );
    if dragged.is_some() || shown.content_size.y > height {
        let (handle, response) = ui.allocate_exact_size(vec2(ui.available_width(), HANDLE), Sense::drag());
        let response = response.on_hover_cursor(egui::CursorIcon::ResizeVertical).on_hover_text("Drag to make the form higher");
        if response.dragged() {
            let most = ui.content_rect().height() * 0.8;
            let height = (height + response.drag_delta().y).clamp(LABEL + theme::INPUT, most);
            ui.data_mut(|data| data.insert_temp(height_id, height));
        }
        let color = if response.hovered() || response.dragged() { ThemeTokens::of(ui).accent } else { ThemeTokens::of(ui).line2 };
        ui.painter().hline(handle.center().x - 20.0..=handle.center().x + 20.0, handle.center().y, Stroke::new(2.0, color));
    }
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
        let mut changed = None;
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
                while let Some((at, entry)) = waiting.next_if(|(_, entry)| is_row_empty || self.width(entry, width) + GAP <= left)
                {
                    is_row_empty = false;
                    let wanted = self.width(entry, width).min(width);
                    left -= wanted + GAP;
                    ui.scope_builder(widgets::region(ui, (self.tool, &entry.pointer)), |ui| {
                        ui.vertical(|ui| {
                            ui.set_width(wanted);
                            if let Some(value) = self.field_ui(ui, entry, wanted, refused) {
                                changed = Some((at, value));
                            }
                            if refused == Some(&entry.pointer) {
                                ui.scroll_to_rect(ui.min_rect(), None);
                            }
                        });
                    });
                }
            });
        }
        changed
    }

    /// The first field that a call was just refused for. What is typed next goes there, where it is a field to type in.
    fn newly_refused(&self, ui: &Ui) -> Option<String> {
        let key = Id::unique(("refused", self.tool));
        let seen = ui.data_mut(|data| data.get_temp::<u32>(key));
        ui.data_mut(|data| data.insert_temp(key, self.form.tries));
        if self.form.tries <= seen.unwrap_or(self.form.tries) {
            return None;
        }
        let pointer = self.form.problems.first()?.0.clone();
        // A control that is no text takes no focus by it.
        ui.memory_mut(|memory| memory.request_focus(self.id(&pointer)));
        Some(pointer)
    }

    fn id(&self, pointer: &str) -> Id {
        Id::unique(("field", self.tool, pointer))
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
            FieldKind::String { .. } | FieldKind::Number { .. } | FieldKind::Boolean | FieldKind::Enum(_)
        )
    }

    fn problem<'a>(&'a self, entry: &Entry<'_>) -> Option<&'a str> {
        self.form.problem_at(&entry.pointer, entry.value, !self.is_block(self.kind(entry)))
    }

    fn width(&self, entry: &Entry<'_>, most: f32) -> f32 {
        let kind = self.kind(entry);
        let is_filled = !matches!(entry.value, Value::Unset | Value::Null);
        if self.is_block(kind) && is_filled {
            return most;
        }
        let schema = self.form.schemas.get(entry.schema);
        let label = 7.4 * (entry.name.chars().count() + 2) as f32
            + 6.6 * self.type_text(entry.schema).chars().count() as f32
            + if entry.required { 58.0 } else { 0.0 };
        let control = match kind {
            FieldKind::String { multiline: false, .. } => {
                if date_time(kind) == Some(true) {
                    240.0
                } else {
                    180.0
                }
            }
            FieldKind::String { multiline: true, .. } | FieldKind::Json => 260.0,
            // What is taken where nothing is typed stands there whole, as far as a number goes.
            FieldKind::Number { .. } => (7.3 * self.hint(entry).chars().count() as f32 + 20.0).clamp(112.0, 220.0),
            FieldKind::Boolean => 150.0 + if schema.nullable { 44.0 } else { 0.0 },
            FieldKind::Enum(_) => {
                let labels: Vec<String> = enum_choices(kind, entry).into_iter().map(|(label, _)| label).collect();
                if is_short(&labels) {
                    labels.iter().map(|label| 7.2 * label.chars().count() as f32 + 18.0).sum::<f32>() + 4.0
                } else {
                    180.0
                }
            }
            _ => 150.0,
        };
        let control = if self.problem(entry).is_some() { f32::max(control, 200.0) } else { control };
        control.max(label + if self.has_menu(entry) { 26.0 } else { 0.0 }).ceil()
    }

    /// What the label says beside the name: the type, or the limits.
    fn type_text(&self, id: SchemaId) -> String {
        let schema = self.form.schemas.get(id);
        let base = match &schema.kind {
            FieldKind::Number { integer, minimum, maximum } => match (minimum, maximum) {
                (Some(low), Some(high)) => format!("{} to {}", signed(low), signed(high)),
                (Some(low), None) => format!("from {}", signed(low)),
                (None, Some(high)) => format!("up to {}", signed(high)),
                (None, None) => if *integer { "integer" } else { "number" }.into(),
            },
            FieldKind::String { format: Some(format), .. } => format.clone(),
            FieldKind::Array(item) if self.is_scalar(*item) => format!("list of {}", self.type_text(*item)),
            FieldKind::Array(_) | FieldKind::Tuple(..) => "list".into(),
            kind => kind.name().into(),
        };
        if schema.nullable { format!("{base} or null") } else { base }
    }

    /// What stands in the field while nothing is typed: what is sent then, and what the server takes for it.
    fn hint(&self, entry: &Entry<'_>) -> String {
        let schema = self.form.schemas.get(entry.schema);
        match (entry.value, &schema.default, &schema.example) {
            (Value::Null, ..) => "null".into(),
            (Value::Text(_), ..) => "empty text".into(),
            (_, Some(default), _) => format!("unset, default {}", plain(default)),
            (_, None, Some(example)) => format!("unset, such as {}", plain(example)),
            _ => "unset".into(),
        }
    }

    fn has_menu(&self, entry: &Entry<'_>) -> bool {
        self.menu_values(entry).len() > 1
    }

    /// The values that typing cannot tell apart.
    fn menu_values(&self, entry: &Entry<'_>) -> Vec<(&'static str, Value)> {
        let schema = self.form.schemas.get(entry.schema);
        let mut values = vec![("Unset: leave it out", Value::Unset)];
        if schema.nullable && !matches!(schema.kind, FieldKind::Boolean) {
            values.push(("null", Value::Null));
        }
        match &schema.kind {
            FieldKind::String { .. } => values.push(("Empty text", Value::Text(String::new()))),
            FieldKind::Array(_) => values.push(("Empty list", Value::Items(Vec::new()))),
            FieldKind::Object { properties, .. } => {
                let named = vec![Value::Unset; properties.len()];
                values.push(("Empty object", Value::Members(Members { named, others: Vec::new() })));
            }
            _ => {}
        }
        values
    }

    fn field_ui(&self, ui: &mut Ui, entry: &Entry<'_>, width: f32, refused: Option<&str>) -> Option<Value> {
        let t = ThemeTokens::of(ui);
        let mut changed = None;
        ui.horizontal(|ui| {
            ui.set_height(LABEL);
            ui.spacing_mut().item_spacing.x = 6.0;
            let label = ui.label(RichText::new(&*entry.name).font(theme::mono(12.0)).color(t.text));
            ui.label(RichText::new(self.type_text(entry.schema)).font(theme::regular(12.0)).color(t.weak));
            if entry.required {
                ui.label(RichText::new("required").font(theme::regular(12.0)).color(t.weak));
            }
            if let Some(description) = &self.form.schemas.get(entry.schema).description {
                label.on_hover_text(description);
            }
            if self.has_menu(entry) {
                let name = format!("Value of {}", entry.path);
                let more = widgets::Button::new("")
                    .icon(icons::MORE)
                    .name(&name)
                    .tip("Unset, null or empty")
                    .frameless()
                    .height(LABEL)
                    .show(ui);
                Popup::menu(&more).show(|ui| {
                    ui.set_width(180.0);
                    for (name, value) in self.menu_values(entry) {
                        let mark = if value == *entry.value { icons::CHECK } else { " " };
                        if crate::ui::top_bar::menu_item(ui, mark, name, "", true).clicked() {
                            changed = Some(value);
                            ui.close();
                        }
                    }
                });
            }
        });
        changed = changed.or(self.control(ui, entry, width, refused));
        if let Some(problem) = self.problem(entry) {
            let label = ui.add(egui::Label::new(RichText::new(problem).font(theme::regular(12.0)).color(t.bad)).wrap());
            label.accessible_name(format!("{}: {problem}", entry.path));
        }
        changed
    }

    /// The control of a value; gives the new value where a person changed it.
    fn control(&self, ui: &mut Ui, entry: &Entry<'_>, width: f32, refused: Option<&str>) -> Option<Value> {
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
            FieldKind::String { .. } | FieldKind::Array(_) if matches!(entry.value, Value::Json(_)) => self.unfit(ui, entry),
            FieldKind::String { multiline, .. } => {
                let text = match entry.value {
                    Value::Text(text) => text.as_str(),
                    _ => "",
                };
                let Some(has_time) = date_time(&schema.kind) else {
                    return editor.text(ui, text, *multiline, false).map(Value::Text);
                };
                let editor = Editor { width: width - theme::INPUT - 6.0, ..editor };
                let changed = ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 6.0;
                    let typed = editor.text(ui, text, false, false);
                    let picked = date::pick_ui(ui, editor.id, &entry.path, text, has_time, self.today);
                    typed.or(picked)
                });
                changed.inner.map(Value::Text)
            }
            FieldKind::Number { .. } => editor.text(ui, json_text(entry.value), false, true).map(json_value),
            FieldKind::Json => editor.text(ui, json_text(entry.value), true, true).map(json_value),
            FieldKind::Boolean => {
                let mut choices =
                    vec![("unset", Value::Unset), ("true", Value::Json("true".into())), ("false", Value::Json("false".into()))];
                if schema.nullable {
                    choices.push(("null", Value::Null));
                }
                editor.choose(ui, choices, entry.value)
            }
            FieldKind::Enum(_) => {
                let choices = enum_choices(&schema.kind, entry);
                let labels: Vec<&str> = choices.iter().map(|(label, _)| label.as_str()).collect();
                if is_short(&labels) { editor.choose(ui, choices, entry.value) } else { editor.combo(ui, choices, entry.value) }
            }
            FieldKind::Array(item) if self.is_scalar(*item) => self.list(ui, &editor, *item, entry),
            kind => self.block(ui, kind, entry, refused),
        }
    }

    /// What does not fit its control is sent all the same, so it is shown as it is.
    fn unfit(&self, ui: &mut Ui, entry: &Entry<'_>) -> Option<Value> {
        let width = ui.available_width();
        let editor = Editor { id: self.id(&entry.pointer), name: &entry.path, hint: "unset", width, is_invalid: true };
        editor.text(ui, json_text(entry.value), true, true).map(json_value)
    }

    /// What a value holds, below it and a little to the right.
    fn block(&self, ui: &mut Ui, kind: &FieldKind, entry: &Entry<'_>, refused: Option<&str>) -> Option<Value> {
        let t = ThemeTokens::of(ui);
        if matches!(entry.value, Value::Unset | Value::Null) {
            let add = widgets::Button::new("Add").icon(icons::ADD).name(&format!("Add {}", entry.path)).small().show(ui);
            // Who adds a list has an item to add.
            return add.clicked().then(|| match (Value::first(&self.form.schemas, entry.schema), item_schema(kind, 0)) {
                (Value::Items(items), Some(item)) if items.is_empty() => {
                    Value::Items(vec![Value::first(&self.form.schemas, item)])
                }
                (value, _) => value,
            });
        }
        let inner =
            Frame::new().inner_margin(Margin { left: INDENT as i8, ..Margin::ZERO }).show(ui, |ui| match (kind, entry.value) {
                (FieldKind::Object { properties, others }, Value::Members(members)) => {
                    let entries = properties
                        .iter()
                        .zip(&members.named)
                        .map(|(property, value)| entry.member(&property.name, property.schema, value, property.required));
                    let named = self.flow(ui, &entries.collect::<Vec<_>>(), refused, None::<fn(&mut Ui)>);
                    let others = others.and_then(|id| self.others(ui, entry, members, id, refused));
                    named
                        .map(|(at, value)| {
                            let mut members = members.clone();
                            members.named[at] = value;
                            members
                        })
                        .or(others)
                        .map(Value::Members)
                }
                (FieldKind::Array(_) | FieldKind::Tuple(..), Value::Items(items)) => self.items(ui, kind, entry, items, refused),
                (FieldKind::Union(branches), value) => self.union(ui, branches, entry, value, refused),
                _ => self.unfit(ui, entry),
            });
        let line = Rect::from_min_max(inner.response.rect.left_top(), inner.response.rect.left_bottom());
        ui.painter().vline(line.left() + 3.0, line.y_range(), Stroke::new(1.0, t.line2));
        inner.inner
    }

    /// Members of any name, each with its key.
    fn others(&self, ui: &mut Ui, entry: &Entry<'_>, members: &Members, id: SchemaId, refused: Option<&str>) -> Option<Members> {
        let mut changed: Option<Members> = None;
        for (at, (key, value)) in members.others.iter().enumerate() {
            let name = plain(key);
            let member = entry.member(&name, id, value, true);
            ui.horizontal_top(|ui| {
                ui.vertical(|ui| {
                    ui.add_space(LABEL + 2.0);
                    ui.horizontal(|ui| {
                        let path = format!("Key {} of {}", at + 1, entry.path);
                        let editor = Editor {
                            id: self.id(&entry.pointer).with(("key", at)),
                            name: &path,
                            hint: "key",
                            width: 140.0,
                            is_invalid: false,
                        };
                        let is_free = |name: &str| !self.is_taken(entry, members, name);
                        if let Some(name) = editor.text(ui, &name, false, true).filter(|name| is_free(name)) {
                            changed.get_or_insert_with(|| members.clone()).others[at].0 = crate::json::write::string(&name);
                        }
                        if widgets::icon_button(ui, icons::REMOVE, &format!("Remove {}", member.path)).clicked() {
                            changed.get_or_insert_with(|| members.clone()).others.remove(at);
                        }
                    });
                });
                ui.vertical(|ui| {
                    let width = ui.available_width();
                    let width = self.width(&member, width).min(width);
                    ui.set_width(width);
                    if let Some(value) = self.field_ui(ui, &member, width, refused) {
                        changed.get_or_insert_with(|| members.clone()).others[at].1 = value;
                    }
                });
            });
        }
        let add =
            widgets::Button::new("Add member").icon(icons::ADD).name(&format!("Add member to {}", entry.path)).small().show(ui);
        if add.clicked() {
            let name =
                (1..).map(|number| format!("key{number}")).find(|name| !self.is_taken(entry, members, name)).unwrap_or_default();
            let member = (crate::json::write::string(&name), Value::first(&self.form.schemas, id));
            changed.get_or_insert_with(|| members.clone()).others.push(member);
        }
        changed
    }

    /// Whether an object has a member of this name, which another one must not have.
    fn is_taken(&self, entry: &Entry<'_>, members: &Members, name: &str) -> bool {
        let is_named = match self.kind(entry) {
            FieldKind::Object { properties, .. } => properties.iter().any(|property| property.name == name),
            _ => false,
        };
        is_named || members.others.iter().any(|(key, _)| plain(key) == name)
    }

    /// The items of a list, each of which can be moved and removed where the list's places have no meaning of their own.
    fn items(&self, ui: &mut Ui, kind: &FieldKind, entry: &Entry<'_>, items: &[Value], refused: Option<&str>) -> Option<Value> {
        let mut changed: Option<Vec<Value>> = None;
        let fixed = match kind {
            FieldKind::Tuple(places, _) => places.len(),
            _ => 0,
        };
        for (at, value) in items.iter().enumerate() {
            let Some(schema) = item_schema(kind, at) else { continue };
            let item = Entry {
                name: Cow::Owned(format!("[{at}]")),
                path: format!("{}[{at}]", entry.path),
                pointer: format!("{}/{at}", entry.pointer),
                schema,
                value,
                required: false,
            };
            ui.horizontal_top(|ui| {
                ui.vertical(|ui| {
                    let width = ui.available_width() - if at < fixed { 0.0 } else { 96.0 };
                    let width = self.width(&item, width).min(width);
                    ui.set_width(width);
                    if let Some(value) = self.field_ui(ui, &item, width, refused) {
                        changed.get_or_insert_with(|| items.to_vec())[at] = value;
                    }
                });
                if at >= fixed {
                    ui.spacing_mut().item_spacing.x = 2.0;
                    if at > fixed && widgets::icon_button(ui, icons::UP, &format!("Move {} up", item.path)).clicked() {
                        changed.get_or_insert_with(|| items.to_vec()).swap(at, at - 1);
                    }
                    if at + 1 < items.len()
                        && widgets::icon_button(ui, icons::DOWN, &format!("Move {} down", item.path)).clicked()
                    {
                        changed.get_or_insert_with(|| items.to_vec()).swap(at, at + 1);
                    }
                    if widgets::icon_button(ui, icons::REMOVE, &format!("Remove {}", item.path)).clicked() {
                        changed.get_or_insert_with(|| items.to_vec()).remove(at);
                    }
                }
            });
        }
        if let Some(next) = item_schema(kind, items.len()) {
            let add =
                widgets::Button::new("Add item").icon(icons::ADD).name(&format!("Add item to {}", entry.path)).small().show(ui);
            if add.clicked() {
                changed.get_or_insert_with(|| items.to_vec()).push(Value::first(&self.form.schemas, next));
            }
        }
        changed.map(Value::Items)
    }

    /// Which of several it is, and that one's value.
    fn union(&self, ui: &mut Ui, branches: &[Branch], entry: &Entry<'_>, value: &Value, refused: Option<&str>) -> Option<Value> {
        let chosen = match value {
            Value::Branch(at, _) => *at,
            _ => usize::MAX,
        };
        let titles: Vec<&str> = branches.iter().map(|branch| branch.title.as_str()).collect();
        let id = self.id(&entry.pointer).with("branch");
        let name = format!("Kind of {}", entry.path);
        let clicked = if is_short(&titles) {
            ui.push_id(id, |ui| widgets::segmented(ui, &name, &titles, chosen)).inner
        } else {
            let mut clicked = None;
            let selected = titles.get(chosen).copied().unwrap_or("choose");
            let combo = egui::ComboBox::from_id_salt(id).width(240.0).truncate().selected_text(selected).show_ui(ui, |ui| {
                for (at, title) in titles.iter().enumerate() {
                    if ui.selectable_label(at == chosen, *title).clicked() {
                        clicked = Some(at);
                    }
                }
            });
            combo.response.accessible_name(format!("{name}: {selected}"));
            clicked
        };
        if let Some(at) = clicked.filter(|at| *at != chosen) {
            return Some(Value::Branch(at, Box::new(Value::first(&self.form.schemas, branches.get(at)?.schema))));
        }
        let Value::Branch(at, value) = value else { return self.unfit(ui, entry) };
        let inner = Entry {
            name: entry.name.clone(),
            path: entry.path.clone(),
            pointer: entry.pointer.clone(),
            schema: branches.get(*at)?.schema,
            value,
            required: true,
        };
        let width = ui.available_width();
        let width = self.width(&inner, width).min(width);
        self.control(ui, &inner, width, refused).map(|value| Value::Branch(*at, Box::new(value)))
    }

    /// A list is one button that says how many items there are; the items are edited in a popup.
    fn list(&self, ui: &mut Ui, editor: &Editor<'_>, item: SchemaId, entry: &Entry<'_>) -> Option<Value> {
        let t = ThemeTokens::of(ui);
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
        let button = widgets::Button::new(&words).name(&name).menu().height(theme::INPUT).show(ui);
        if editor.is_invalid {
            ui.painter().rect_stroke(button.rect, theme::RADIUS_CONTROL, Stroke::new(1.0, t.bad), egui::StrokeKind::Inside);
        }
        let mut changed: Option<Vec<Value>> = None;
        Popup::from_toggle_button_response(&button).width(320.0).close_behavior(PopupCloseBehavior::CloseOnClickOutside).show(
            |ui| {
                ui.label(RichText::new(&*entry.name).font(theme::mono_semibold(12.0)));
                ScrollArea::vertical().max_height(260.0).auto_shrink([false, true]).show(ui, |ui| {
                    for (at, value) in items.iter().enumerate() {
                        let item = Entry {
                            name: Cow::Owned(format!("[{at}]")),
                            path: format!("{} {}", entry.path, at + 1),
                            pointer: format!("{}/{at}", entry.pointer),
                            schema: item,
                            value,
                            required: true,
                        };
                        ui.horizontal(|ui| {
                            if let Some(new) = self.control(ui, &item, 260.0, None) {
                                changed.get_or_insert_with(|| items.to_vec())[at] = new;
                            }
                            if widgets::icon_button(ui, icons::REMOVE, &format!("Remove {}", item.path)).clicked() {
                                changed.get_or_insert_with(|| items.to_vec()).remove(at);
                            }
                        });
                    }
                });
                if widgets::Button::new("Add item")
                    .icon(icons::ADD)
                    .name(&format!("Add item to {}", entry.path))
                    .small()
                    .show(ui)
                    .clicked()
                {
                    changed.get_or_insert_with(|| items.to_vec()).push(Value::first(&self.form.schemas, item));
                }
            },
        );
        changed.map(Value::Items)
    }
}

impl Entry<'_> {
    fn member<'a>(&self, name: &'a str, schema: SchemaId, value: &'a Value, required: bool) -> Entry<'a> {
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

/// Whether a date, and whether one with a time.
fn date_time(kind: &FieldKind) -> Option<bool> {
    match kind {
        FieldKind::String { format: Some(format), .. } if format == "date" => Some(false),
        FieldKind::String { format: Some(format), .. } if format == "date-time" => Some(true),
        _ => None,
    }
}

/// Few and short: all choices stand side by side.
fn is_short(labels: &[impl AsRef<str>]) -> bool {
    labels.len() <= 5 && labels.iter().map(|label| label.as_ref().len()).sum::<usize>() <= 40
}

/// A number with the sign that people write.
fn signed(number: &str) -> String {
    number.strip_prefix('-').map_or_else(|| number.to_owned(), |rest| format!("−{rest}"))
}

/// The control of one value.
struct Editor<'a> {
    id: Id,
    name: &'a str,
    hint: &'a str,
    width: f32,
    is_invalid: bool,
}

impl Editor<'_> {
    fn text(&self, ui: &mut Ui, text: &str, multiline: bool, is_code: bool) -> Option<String> {
        let t = ThemeTokens::of(ui);
        let mut edited = text.to_owned();
        let edit = if multiline { TextEdit::multiline(&mut edited).desired_rows(2) } else { TextEdit::singleline(&mut edited) };
        let font = if is_code { theme::mono(12.0) } else { theme::base() };
        let edit = edit
            .id(self.id)
            .font(font)
            .hint_text(RichText::new(self.hint).color(t.weak))
            .desired_width(self.width - 18.0)
            .min_size(vec2(self.width, theme::INPUT))
            .margin(Margin::symmetric(8, 5))
            .align(egui::Align2::LEFT_CENTER);
        let response = ui.scope(|ui| {
            if self.is_invalid {
                invalid_border(ui, t.bad);
            }
            if multiline {
                ScrollArea::vertical()
                    .id_salt(self.id)
                    .max_height(64.0)
                    .min_scrolled_height(64.0)
                    .show(ui, |ui| ui.add(edit))
                    .inner
            } else {
                ui.add(edit)
            }
        });
        let response = response.inner.accessible_name(self.name);
        response.changed().then_some(edited)
    }

    fn choose<S: AsRef<str>>(&self, ui: &mut Ui, choices: Vec<(S, Value)>, value: &Value) -> Option<Value> {
        let labels: Vec<&str> = choices.iter().map(|(label, _)| label.as_ref()).collect();
        let selected = choices.iter().position(|(_, choice)| choice == value).unwrap_or(usize::MAX);
        let clicked = ui.push_id(self.id, |ui| widgets::segmented(ui, self.name, &labels, selected)).inner?;
        choices.into_iter().nth(clicked).map(|(_, value)| value)
    }

    fn combo(&self, ui: &mut Ui, choices: Vec<(String, Value)>, value: &Value) -> Option<Value> {
        let t = ThemeTokens::of(ui);
        let selected = choices
            .iter()
            .find(|(_, choice)| choice == value)
            .map_or_else(|| plain(json_text(value)), |(label, _)| label.clone());
        let color = if *value == Value::Unset { t.weak } else { t.text };
        let mut chosen = None;
        let combo = egui::ComboBox::from_id_salt(self.id)
            .width(self.width)
            .truncate()
            .selected_text(RichText::new(&selected).font(theme::mono(12.0)).color(color))
            .show_ui(ui, |ui| {
                for (label, choice) in choices {
                    let is_selected = choice == *value;
                    if ui.selectable_label(is_selected, RichText::new(label).font(theme::mono(12.0))).clicked() {
                        chosen = Some(choice);
                    }
                }
            });
        combo.response.accessible_name(format!("{}: {selected}", self.name));
        chosen
    }
}

/// The values of an enumeration with what they are called.
fn enum_choices(kind: &FieldKind, entry: &Entry<'_>) -> Vec<(String, Value)> {
    let FieldKind::Enum(choices) = kind else { return Vec::new() };
    let unset = (!entry.required || *entry.value == Value::Unset).then(|| ("unset".to_owned(), Value::Unset));
    let named = choices
        .iter()
        .map(|choice| (choice.title.clone().unwrap_or_else(|| plain(&choice.json)), Value::Json(choice.json.clone())));
    unset.into_iter().chain(named).collect()
}

fn json_text(value: &Value) -> &str {
    match value {
        Value::Json(text) => text,
        _ => "",
    }
}

/// Nothing typed is nothing sent.
fn json_value(text: String) -> Value {
    if text.trim().is_empty() { Value::Unset } else { Value::Json(text) }
}

pub(super) fn invalid_border(ui: &mut Ui, color: Color32) {
    let widgets = &mut ui.visuals_mut().widgets;
    for visuals in [&mut widgets.inactive, &mut widgets.hovered, &mut widgets.active, &mut widgets.noninteractive] {
        visuals.bg_stroke = Stroke::new(1.0, color);
    }
    ui.visuals_mut().selection.stroke = Stroke::new(1.5, color);
}

/// A JSON Pointer as people write a path: `items[2].price`.
fn path_of(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        match step.parse::<usize>() {
            Ok(at) if !path.is_empty() => path.push_str(&format!("[{at}]")),
            _ if path.is_empty() => path = step,
            _ => path.push_str(&format!(".{step}")),
        }
    }
    path
}

/// What the schema says against the arguments, by place.
pub(super) fn problems_ui(ui: &mut Ui, form: &Form) {
    let t = ThemeTokens::of(ui);
    // In the form each field says its own.
    let at_field = |pointer: &str| {
        let name = pointer.trim_start_matches('/').split('/').next().unwrap_or_default();
        form.mode == FormMode::Form && form.fields().any(|(property, _)| property.name == name)
    };
    let rest: Vec<_> = form.problems.iter().filter(|(pointer, _)| !at_field(pointer)).collect();
    if rest.is_empty() && form.unchecked.is_none() {
        return;
    }
    Frame::new().inner_margin(Margin { top: 2, ..Margin::ZERO }).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for (pointer, message) in rest.iter().take(3) {
            let place = if pointer.is_empty() { String::new() } else { format!("{}: ", path_of(pointer)) };
            ui.add(egui::Label::new(RichText::new(format!("{place}{message}")).font(theme::regular(12.0)).color(t.bad)).wrap());
        }
        if rest.len() > 3 {
            ui.label(RichText::new(format!("and {} more", rest.len() - 3)).font(theme::regular(12.0)).color(t.bad));
        }
        if let Some(why) = &form.unchecked {
            let text = format!("The arguments cannot be checked: {why}");
            ui.add(egui::Label::new(RichText::new(text).font(theme::regular(12.0)).color(t.warn)).wrap());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(property: &str) -> Form {
        let schema = format!(r#"{{"type":"object","properties":{{"f":{property}}}}}"#);
        Form::new(Some(&bytes::Bytes::from(schema)))
    }

    fn entry<'a>(form: &Form, value: &'a Value) -> Entry<'a> {
        let schema = form.schemas.root()[0].schema;
        Entry { name: "f".into(), path: "f".into(), pointer: "/f".into(), schema, value, required: false }
    }

    #[test]
    fn unset_null_and_empty_look_different() {
        let form = painted(r#"{"type":["string","null"],"default":"json"}"#);
        let ui = FormUi { tool: "t", form: &form, today: OffsetDateTime::UNIX_EPOCH };
        let hints = [Value::Unset, Value::Null, Value::Text(String::new())].map(|value| ui.hint(&entry(&form, &value)));
        assert_eq!(hints, ["unset, default json", "null", "empty text"]);
        let names: Vec<_> = ui.menu_values(&entry(&form, &Value::Unset)).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Unset: leave it out", "null", "Empty text"]);
    }

    #[test]
    fn labels_tell_type_and_limits() {
        for (property, label) in [
            (r#"{"type":"integer","minimum":1,"maximum":500}"#, "1 to 500"),
            (r#"{"type":"integer","minimum":1}"#, "from 1"),
            (r#"{"type":"integer"}"#, "integer"),
            (r#"{"type":"integer","minimum":-1,"maximum":500}"#, "−1 to 500"),
            (r#"{"type":"array","items":{"type":"boolean"}}"#, "list of boolean"),
            (r#"{"type":"array","items":{"type":"object","properties":{"a":{}}}}"#, "list"),
            (r#"{"type":["string","null"],"format":"date-time"}"#, "date-time or null"),
        ] {
            let form = painted(property);
            assert_eq!(
                FormUi { tool: "t", form: &form, today: OffsetDateTime::UNIX_EPOCH }.type_text(form.schemas.root()[0].schema),
                label,
                "{property}"
            );
        }
    }

    #[test]
    fn paths_are_written_as_people_do() {
        let paths = ["/items/2/price", "/a~1b", "/filter/0", "/3"].map(path_of);
        assert_eq!(paths, ["items[2].price", "a/b", "filter[0]", "3"]);
    }

    #[test]
    fn an_emptied_number_is_unset() {
        assert_eq!(json_value("  ".into()), Value::Unset);
        assert_eq!(json_value("1e3".into()), Value::Json("1e3".into()));
        assert_eq!(plain(r#""a\"b""#), "a\"b");
        assert_eq!(plain("12"), "12");
    }
}
