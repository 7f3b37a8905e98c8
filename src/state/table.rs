//! How a list of objects is shown as a table.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Effect, ExportEffect, PaneView, State};
use loupe_analysis::queries::TableText;

/// Which list is a table, and how. Keys that a result does not have change nothing, so that all of it holds for the next
/// answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableView {
    /// The JSON Pointer of the list, from the root of the data; `None` is the longest.
    pub list: Option<Arc<str>>,
    /// The key that rows are sorted by, and whether the greatest comes first.
    pub sort: Option<(Arc<str>, bool)>,
    /// Keys of columns that are not shown.
    pub hidden: BTreeSet<String>,
    /// Keys in the order in which their columns stand, as far as it was changed; others follow.
    pub order: Vec<String>,
}

/// What the user does with a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableAction {
    /// Shows a list in this pane.
    Show {
        pane: usize,
        list: Arc<str>,
    },
    /// Sorts by a key: the least first, then the greatest, then not at all.
    Sort(Arc<str>),
    Hide(String),
    ShowAll,
    /// From here on the columns of these keys come first, in this order.
    Order(Vec<String>),
    /// Copies a table, or columns of one.
    Copy(TableText),
}

impl State {
    pub(super) fn change_table(&mut self, action: TableAction, effects: &mut Vec<Effect>) {
        let table = &mut self.view.table;
        match action {
            TableAction::Show { pane, list } => {
                if table.list.as_ref() != Some(&list) {
                    *table = TableView {
                        list: Some(list),
                        ..TableView::default()
                    };
                }
                self.view.set_pane(pane, PaneView::Table);
            }
            TableAction::Sort(key) => {
                table.sort = match table.sort.take() {
                    Some((sorted, false)) if sorted == key => Some((key, true)),
                    Some((sorted, true)) if sorted == key => None,
                    _ => Some((key, false)),
                };
            }
            TableAction::Hide(key) => {
                table.hidden.insert(key);
            }
            TableAction::ShowAll => table.hidden.clear(),
            TableAction::Order(keys) => table.order = keys,
            TableAction::Copy(text) => {
                if let Some(capture) = self.capture().cloned() {
                    effects.push(Effect::Export(ExportEffect::Table { capture, text }));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_sorted_up_then_down_then_not() {
        let mut state = State::default();
        let mut sort = |key: &str| {
            state.perform(TableAction::Sort(key.into()), &mut Vec::new());
            state
                .view
                .table
                .sort
                .clone()
                .map(|(key, is_descending)| (key.to_string(), is_descending))
        };
        assert_eq!(
            [sort("a"), sort("a"), sort("a")],
            [Some(("a".into(), false)), Some(("a".into(), true)), None]
        );
        assert_eq!(
            [sort("a"), sort("b")],
            [Some(("a".into(), false)), Some(("b".into(), false))]
        );
    }

    #[test]
    fn another_list_begins_with_all_its_columns() {
        let mut state = State::default();
        let mut perform = |action| state.perform(action, &mut Vec::new());
        perform(TableAction::Hide("id".into()));
        perform(TableAction::Show {
            pane: 1,
            list: "/items".into(),
        });
        assert!(state.view.table.hidden.is_empty() && state.view.panes[1] == PaneView::Table);
        state.perform(TableAction::Hide("id".into()), &mut Vec::new());
        state.perform(
            TableAction::Show {
                pane: 2,
                list: "/items".into(),
            },
            &mut Vec::new(),
        );
        assert_eq!(
            state.view.table.hidden.len(),
            1,
            "of the same list they stay hidden"
        );
    }
}
