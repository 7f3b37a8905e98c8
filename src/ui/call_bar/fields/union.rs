//! One of several kinds, which the user chooses, and the value that it has.

use egui::Ui;

use super::{Editor, Entry, FormUi};
use crate::state::Value;
use crate::state::form::Branch;

impl FormUi<'_> {
    /// Which of several it is, and that one's value.
    pub(super) fn union(
        &self,
        ui: &mut Ui,
        branches: &[Branch],
        entry: &Entry<'_>,
        value: &Value,
        refused: Option<&str>,
    ) -> Option<Value> {
        let chosen = match value {
            Value::Branch(at, _) => Some(*at),
            _ => None,
        };
        let titles: Vec<&str> = branches
            .iter()
            .map(|branch| branch.title.as_str())
            .collect();
        let id = self.id(&entry.pointer).with("branch");
        let name = format!("Kind of {}", entry.path);
        let editor = Editor {
            id,
            name: &name,
            hint: "choose",
            width: 240.0,
            is_invalid: false,
        };
        let clicked = editor.one_of(ui, &titles, chosen);
        if let Some(at) = clicked.filter(|at| chosen != Some(*at)) {
            return Some(Value::Branch(
                at,
                Box::new(Value::first_of_branch(
                    &self.form.schemas,
                    branches.get(at)?.schema,
                )),
            ));
        }
        let Value::Branch(at, value) = value else {
            return self.unfit(ui, entry);
        };
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
        self.control(ui, &inner, width, refused)
            .map(|value| Value::Branch(*at, Box::new(value)))
    }
}
