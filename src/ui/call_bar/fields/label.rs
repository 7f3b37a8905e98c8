//! What is written next to and within the control of a value, the room that it takes, and its menu.

use super::editor::is_short;
use super::{Entry, FormUi, date_time, enum_choices};
use crate::state::form::{Members, SchemaId, plain};
use crate::state::{FieldKind, Value};

impl FormUi<'_> {
    pub(super) fn width(&self, entry: &Entry<'_>, most: f32) -> f32 {
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
            FieldKind::String {
                multiline: false, ..
            } => {
                if date_time(kind) == Some(true) {
                    240.0
                } else {
                    180.0
                }
            }
            FieldKind::String {
                multiline: true, ..
            }
            | FieldKind::Json => 260.0,
            // What is taken where nothing is typed is there whole, as far as a number goes.
            FieldKind::Number { .. } => {
                (7.3 * self.hint(entry).chars().count() as f32 + 20.0).clamp(112.0, 220.0)
            }
            FieldKind::Boolean => 150.0 + if schema.nullable { 44.0 } else { 0.0 },
            FieldKind::Enum(_) => {
                let labels: Vec<String> = enum_choices(kind, entry)
                    .into_iter()
                    .map(|(label, _)| label)
                    .collect();
                if is_short(&labels) {
                    labels
                        .iter()
                        .map(|label| 7.2 * label.chars().count() as f32 + 18.0)
                        .sum::<f32>()
                        + 4.0
                } else {
                    180.0
                }
            }
            _ => 150.0,
        };
        let control = if self.problem(entry).is_some() {
            f32::max(control, 200.0)
        } else {
            control
        };
        control
            .max(label + if self.has_menu(entry) { 26.0 } else { 0.0 })
            .ceil()
    }

    /// What the label says next to the name: the type, or the limits.
    pub(super) fn type_text(&self, id: SchemaId) -> String {
        let schema = self.form.schemas.get(id);
        let base = match &schema.kind {
            FieldKind::Number {
                integer,
                minimum,
                maximum,
            } => match (minimum, maximum) {
                (Some(low), Some(high)) => format!("{} to {}", signed(low), signed(high)),
                (Some(low), None) => format!("from {}", signed(low)),
                (None, Some(high)) => format!("up to {}", signed(high)),
                (None, None) => if *integer { "integer" } else { "number" }.into(),
            },
            FieldKind::String {
                format: Some(format),
                ..
            } => format.clone(),
            FieldKind::Array(item) if self.is_scalar(*item) => {
                format!("list of {}", self.type_text(*item))
            }
            FieldKind::Array(_) | FieldKind::Tuple(..) => "list".into(),
            kind => kind.name().into(),
        };
        if schema.nullable {
            format!("{base} or null")
        } else {
            base
        }
    }

    /// What is in the field while nothing is typed: what is sent then, and what the server takes for it.
    pub(super) fn hint(&self, entry: &Entry<'_>) -> String {
        let schema = self.form.schemas.get(entry.schema);
        match (entry.value, &schema.default, &schema.example) {
            (Value::Null, ..) => "null".into(),
            (Value::Text(_), ..) => "empty text".into(),
            (_, Some(default), _) => format!("unset, default {}", plain(default)),
            (_, None, Some(example)) => format!("unset, such as {}", plain(example)),
            _ => "unset".into(),
        }
    }

    pub(super) fn has_menu(&self, entry: &Entry<'_>) -> bool {
        self.menu_values(entry).len() > 1
    }

    /// The values that typing cannot distinguish.
    pub(super) fn menu_values(&self, entry: &Entry<'_>) -> Vec<(&'static str, Value)> {
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
                values.push((
                    "Empty object",
                    Value::Members(Members {
                        named,
                        others: Vec::new(),
                    }),
                ));
            }
            _ => {}
        }
        values
    }
}

/// A number with the sign that people write.
fn signed(number: &str) -> String {
    number
        .strip_prefix('-')
        .map_or_else(|| number.to_owned(), |rest| format!("−{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Form, State};
    use crate::ui::Cx;

    fn painted(property: &str) -> Form {
        let schema = format!(r#"{{"type":"object","properties":{{"f":{property}}}}}"#);
        Form::new(Some(&bytes::Bytes::from(schema)))
    }

    fn entry<'a>(form: &Form, value: &'a Value) -> Entry<'a> {
        let schema = form.schemas.root()[0].schema;
        Entry {
            name: "f".into(),
            path: "f".into(),
            pointer: "/f".into(),
            schema,
            value,
            required: false,
        }
    }

    #[test]
    fn unset_null_and_empty_look_different() {
        let form = painted(r#"{"type":["string","null"],"default":"json"}"#);
        let state = State::default();
        let ui = FormUi {
            tool: "t",
            form: &form,
            cx: &Cx::new(&state),
        };
        let hints = [Value::Unset, Value::Null, Value::Text(String::new())]
            .map(|value| ui.hint(&entry(&form, &value)));
        assert_eq!(hints, ["unset, default json", "null", "empty text"]);
        let names: Vec<_> = ui
            .menu_values(&entry(&form, &Value::Unset))
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["Unset: leave it out", "null", "Empty text"]);
    }

    #[test]
    fn labels_tell_type_and_limits() {
        let state = State::default();
        for (property, label) in [
            (
                r#"{"type":"integer","minimum":1,"maximum":500}"#,
                "1 to 500",
            ),
            (r#"{"type":"integer","minimum":1}"#, "from 1"),
            (r#"{"type":"integer"}"#, "integer"),
            (
                r#"{"type":"integer","minimum":-1,"maximum":500}"#,
                "−1 to 500",
            ),
            (
                r#"{"type":"array","items":{"type":"boolean"}}"#,
                "list of boolean",
            ),
            (
                r#"{"type":"array","items":{"type":"object","properties":{"a":{}}}}"#,
                "list",
            ),
            (
                r#"{"type":["string","null"],"format":"date-time"}"#,
                "date-time or null",
            ),
        ] {
            let form = painted(property);
            let ui = FormUi {
                tool: "t",
                form: &form,
                cx: &Cx::new(&state),
            };
            assert_eq!(
                ui.type_text(form.schemas.root()[0].schema),
                label,
                "{property}"
            );
        }
    }
}
