//! What can be done with a value of the data, by menu and by key: mostly copying.

use std::borrow::Cow;

use egui::{Key, Modifiers, Ui};

use crate::state::{Action, CompareAction, TableAction, ViewAction};
use crate::ui::{Cx, icons, widgets};
use loupe_analysis::queries::{Search, SearchKind, TableText, is_list_of_objects};
use loupe_core::capture::ResultData;
use loupe_core::diff::pattern::pattern;
use loupe_core::format::{TableForm, cell_text};
use loupe_core::json::{Kind, Node, write};

/// One entry of the menu: its name, the glyph, its key, and what it does; `None` where there is nothing to do it with.
struct Entry {
    name: &'static str,
    icon: &'static str,
    modifiers: Modifiers,
    key: Key,
    does: fn(Node<'_>, &ResultData, usize) -> Option<Action>,
}

const ENTRIES: [Entry; 10] = [
    Entry {
        name: "Copy value",
        icon: icons::COPY,
        modifiers: Modifiers::COMMAND,
        key: Key::C,
        does: |node, _, _| Some(Action::Copy(text(node))),
    },
    Entry {
        name: "Copy as JSON",
        icon: icons::JSON,
        modifiers: Modifiers::NONE,
        key: Key::J,
        does: |node, _, _| Some(Action::Copy(node.raw_text().into_owned())),
    },
    Entry {
        name: "Copy key",
        icon: icons::KEY,
        modifiers: Modifiers::NONE,
        key: Key::K,
        does: |node, data, _| key(node, data.root).map(|key| Action::Copy(key.into_owned())),
    },
    Entry {
        name: "Copy JSON Pointer",
        icon: icons::COPY,
        modifiers: Modifiers::NONE,
        key: Key::P,
        does: |node, data, _| Some(Action::Copy(node.pointer_from(data.root))),
    },
    Entry {
        name: "Copy JSONPath",
        icon: icons::COPY,
        modifiers: Modifiers::SHIFT,
        key: Key::P,
        does: |node, data, _| Some(Action::Copy(json_path(node, data.root))),
    },
    Entry {
        name: "Find this value",
        icon: icons::SEARCH,
        modifiers: Modifiers::NONE,
        key: Key::F,
        does: |node, _, _| {
            let search = Search {
                text: text(node).into(),
                kind: SearchKind::Plain,
            };
            let is_worth = !node.is_container() && !search.text.is_empty();
            is_worth.then(|| ViewAction::SetSearch(Some(search)).into())
        },
    },
    Entry {
        name: "Needed by the model, or not",
        icon: icons::CHECK,
        modifiers: Modifiers::NONE,
        key: Key::N,
        does: |node, data, _| {
            let field = pattern(node, data.root);
            let is_field = key(node, data.root).is_some();
            is_field.then(|| CompareAction::NeedField(field).into())
        },
    },
    Entry {
        name: "Copy line for expect.toml",
        icon: icons::COPY,
        modifiers: Modifiers::NONE,
        key: Key::E,
        does: |node, data, _| {
            let field = write::string(&pattern(node, data.root));
            let is_field = key(node, data.root).is_some();
            is_field.then(|| Action::Copy(format!("needed = [{field}]")))
        },
    },
    Entry {
        name: "Copy this key of all items as CSV",
        icon: icons::COMPARE,
        modifiers: Modifiers::NONE,
        key: Key::L,
        does: |node, data, _| {
            let (list, key) = column_of(node, data.root)?;
            let list = Some(list.pointer_from(data.root).into());
            let text = TableText {
                list,
                columns: Some(vec![key.into_owned()]),
                sort: None,
                form: TableForm::Csv,
            };
            Some(TableAction::Copy(text).into())
        },
    },
    Entry {
        name: "Show as a table",
        icon: icons::ROWS,
        modifiers: Modifiers::NONE,
        key: Key::T,
        does: |node, data, pane| {
            let list = list_around(node, data.root)?.pointer_from(data.root).into();
            Some(TableAction::Show { pane, list }.into())
        },
    },
];

/// The entries for a value; `pane` is where a table is shown.
pub fn menu_ui(ui: &mut Ui, cx: &Cx<'_>, node: Node<'_>, data: &ResultData, pane: usize) {
    for entry in &ENTRIES {
        let Some(action) = (entry.does)(node, data, pane) else {
            continue;
        };
        let keys =
            crate::ui::shortcuts::text(&egui::KeyboardShortcut::new(entry.modifiers, entry.key));
        if widgets::choose_item(ui, entry.icon, entry.name, &keys, true) {
            cx.send(action);
        }
    }
}

/// Does what the keys of this frame say to a value, where the focus is on what shows it.
pub fn keys(ui: &Ui, cx: &Cx<'_>, node: Node<'_>, data: &ResultData, pane: usize) {
    for entry in &ENTRIES {
        let is_it = |event: &egui::Event| match event {
            egui::Event::Copy => entry.modifiers == Modifiers::COMMAND,
            egui::Event::Key {
                key,
                pressed: true,
                modifiers,
                ..
            } => {
                *key == entry.key
                    && modifiers.matches_exact(entry.modifiers)
                    && entry.modifiers != Modifiers::COMMAND
            }
            _ => false,
        };
        if ui.input(|input| input.events.iter().any(is_it))
            && let Some(action) = (entry.does)(node, data, pane)
        {
            cx.send(action);
        }
    }
}

/// A value by itself: a text without its quotes, null as such, anything else as it was received.
fn text(node: Node<'_>) -> String {
    match node.kind() {
        Kind::String => cell_text(Some(node)).into_owned(),
        _ => node.raw_text().into_owned(),
    }
}

/// The key of a member; `None` for an item of a list, and for the whole.
fn key(node: Node<'_>, root: usize) -> Option<Cow<'_, str>> {
    node.key().filter(|_| node.index() != root)
}

/// The list whose items have this member, and its key.
fn column_of(node: Node<'_>, root: usize) -> Option<(Node<'_>, Cow<'_, str>)> {
    let key = key(node, root)?;
    let list = node.parent().filter(|item| item.index() > root)?.parent()?;
    is_list_of_objects(list).then_some((list, key))
}

/// The list of objects that a value is, or is in.
fn list_around(node: Node<'_>, root: usize) -> Option<Node<'_>> {
    let around = std::iter::successors(Some(node), |node| node.parent());
    around
        .take_while(|node| node.index() >= root)
        .find(|node| is_list_of_objects(*node))
}

/// The place of a value as RFC 9535 writes it, from the root of the data: `$.items[2]['first name']`.
pub(super) fn json_path(node: Node<'_>, root: usize) -> String {
    let mut steps = Vec::new();
    let mut at = Some(node);
    while let Some(node) = at.filter(|node| node.index() != root) {
        steps.push(match node.key() {
            Some(key) if is_name(&key) => format!(".{key}"),
            // Its strings are those of JSON, but for the quotes.
            Some(key) => {
                let quoted = write::string(&key)
                    .replace("\\\"", "\"")
                    .replace('\'', "\\'");
                format!("['{}']", &quoted[1..quoted.len() - 1])
            }
            None => format!("[{}]", node.ordinal()),
        });
        at = node.parent();
    }
    steps
        .iter()
        .rev()
        .fold("$".to_owned(), |path, step| path + step)
}

/// Whether a key can stand behind a dot.
fn is_name(key: &str) -> bool {
    let is_first = |char: char| char.is_ascii_alphabetic() || char == '_' || !char.is_ascii();
    key.starts_with(is_first)
        && key
            .chars()
            .all(|char| is_first(char) || char.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use loupe_core::json::Doc;

    const DATA: &str = r#"{"items":[{"id":7,"it's \"x\"\\y":["a\nb",null]},{"id":8}],"ünit":{"a-b":{"*":1}},"empty":[],"1st":true}"#;

    fn data() -> ResultData {
        ResultData::of_doc(Doc::parse(Bytes::from_static(DATA.as_bytes()))).unwrap()
    }

    /// What the key of each path is in `serde_json_path` is what is there.
    #[test]
    fn every_path_leads_back_to_its_value() {
        let data = data();
        let value: serde_json::Value = serde_json::from_str(DATA).unwrap();
        for node in (data.root..data.root().subtree_end()).map(|at| data.doc.node(at).unwrap()) {
            let path = json_path(node, data.root);
            let found = serde_json_path::JsonPath::parse(&path)
                .unwrap()
                .query(&value)
                .exactly_one()
                .unwrap();
            assert_eq!(
                Some(found),
                value.pointer(&node.pointer_from(data.root)),
                "{path}"
            );
        }
        assert_eq!(
            json_path(data.doc.at("/items/1/id").unwrap(), data.root),
            "$.items[1].id"
        );
        assert_eq!(
            json_path(data.doc.at("/1st").unwrap(), data.root),
            "$['1st']"
        );
    }

    #[test]
    fn a_value_is_copied_by_itself_and_a_column_by_its_list() {
        let data = data();
        let at = |pointer: &str| data.doc.at(pointer).unwrap();
        let text_at = |pointer: &str| text(at(pointer));
        assert_eq!(text_at("/items/0/it's \"x\"\\y/0"), "a\nb");
        assert_eq!(
            [text_at("/items/0/it's \"x\"\\y/1"), text_at("/items/1")],
            ["null", r#"{"id":8}"#]
        );
        let column = |pointer: &str| {
            column_of(at(pointer), data.root).map(|(list, key)| (list.pointer(), key.into_owned()))
        };
        assert_eq!(column("/items/1/id"), Some(("/items".into(), "id".into())));
        assert_eq!(
            [
                column("/items/1"),
                column("/ünit/a-b"),
                column("/items"),
                column("/1st")
            ],
            [None, None, None, None]
        );
        let list = |pointer: &str| list_around(at(pointer), data.root).map(|list| list.pointer());
        assert_eq!(
            [list("/items/0/id"), list("/items")],
            [Some("/items".into()), Some("/items".into())]
        );
        assert_eq!([list("/empty"), list("/ünit/a-b")], [None, None]);
    }
}
