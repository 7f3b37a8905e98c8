//! What an object holds: its members, and those of names that the user chooses.

use egui::Ui;

use super::{Editor, Entry, FormUi, LABEL};
use crate::state::form::{Members, Property, SchemaId, plain};
use crate::state::{FieldKind, Value};
use crate::ui::{icons, widgets};

impl FormUi<'_> {
    pub(super) fn members(
        &self,
        ui: &mut Ui,
        entry: &Entry<'_>,
        members: &Members,
        properties: &[Property],
        others: Option<SchemaId>,
        refused: Option<&str>,
    ) -> Option<Value> {
        let named = properties.iter().zip(&members.named);
        let entries = named.map(|(property, value)| {
            entry.member(&property.name, property.schema, value, property.required)
        });
        let named = self.flow(
            ui,
            &entries.collect::<Vec<_>>(),
            refused,
            None::<fn(&mut Ui)>,
        );
        let others = others.and_then(|id| self.others(ui, entry, members, id, refused));
        let named = named.map(|(at, value)| {
            let mut members = members.clone();
            members.named[at] = value;
            members
        });
        named.or(others).map(Value::Members)
    }

    /// Members of any name, each with its key.
    fn others(
        &self,
        ui: &mut Ui,
        entry: &Entry<'_>,
        members: &Members,
        id: SchemaId,
        refused: Option<&str>,
    ) -> Option<Members> {
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
                        if let Some(name) = editor
                            .text(ui, &name, false, true)
                            .filter(|name| is_free(name))
                        {
                            changed.get_or_insert_with(|| members.clone()).others[at].0 =
                                loupe_core::json::write::string(&name);
                        }
                        if widgets::icon_button(
                            ui,
                            icons::REMOVE,
                            &format!("Remove {}", member.path),
                        )
                        .clicked()
                        {
                            changed
                                .get_or_insert_with(|| members.clone())
                                .others
                                .remove(at);
                        }
                    });
                });
                ui.vertical(|ui| {
                    let width = ui.available_width();
                    let width = self.width(&member, width).min(width);
                    ui.set_width(width);
                    if let Some(value) = self.value_ui(ui, &member, width, refused) {
                        changed.get_or_insert_with(|| members.clone()).others[at].1 = value;
                    }
                });
            });
        }
        let add = widgets::Button::new("Add member")
            .icon(icons::ADD)
            .name(&format!("Add member to {}", entry.path))
            .small()
            .show(ui);
        if add.clicked() {
            let name = (1..)
                .map(|number| format!("key{number}"))
                .find(|name| !self.is_taken(entry, members, name))
                .unwrap_or_default();
            let member = (
                loupe_core::json::write::string(&name),
                Value::first(&self.form.schemas, id),
            );
            changed
                .get_or_insert_with(|| members.clone())
                .others
                .push(member);
        }
        changed
    }

    /// Whether an object has a member of this name, which another one must not have.
    fn is_taken(&self, entry: &Entry<'_>, members: &Members, name: &str) -> bool {
        let is_named = match self.kind(entry) {
            FieldKind::Object { properties, .. } => {
                properties.iter().any(|property| property.name == name)
            }
            _ => false,
        };
        is_named || members.others.iter().any(|(key, _)| plain(key) == name)
    }
}
