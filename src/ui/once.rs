//! Work on a text that is shown, done once and not in every frame.

use std::ops::Deref;

use egui::{Id, Ui};

/// Remembers what was computed for an id until its text is another. Both stay where they are as long as it is remembered:
/// a text is known by its place, and never read for it.
pub(super) fn per_text<K, T>(ui: &Ui, id: Id, text: &K, make: impl FnOnce() -> T) -> T
where
    K: Clone + Deref<Target: AsRef<[u8]>> + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    let place = |text: &K| {
        let bytes = (**text).as_ref();
        (bytes.as_ptr(), bytes.len())
    };
    if let Some((_, value)) = ui
        .data(|data| data.get_temp::<(K, T)>(id))
        .filter(|(known, _)| place(known) == place(text))
    {
        return value;
    }
    let value = make();
    ui.data_mut(|data| data.insert_temp(id, (text.clone(), value.clone())));
    value
}

/// Remembers what was computed for an id until its key changes.
pub fn per_key<T: Clone + Send + Sync + 'static>(
    ui: &Ui,
    id: Id,
    key: u64,
    make: impl FnOnce() -> T,
) -> T {
    if let Some((known, value)) = ui
        .data(|data| data.get_temp::<(u64, T)>(id))
        .filter(|(known, _)| *known == key)
    {
        debug_assert_eq!(known, key);
        return value;
    }
    let value = make();
    ui.data_mut(|data| data.insert_temp(id, (key, value.clone())));
    value
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_text_is_worked_on_once_and_known_by_its_place() {
        let made = std::cell::Cell::new(0);
        egui::__run_test_ui(|ui| {
            made.set(0);
            let lines = |text: &Bytes| {
                per_text(ui, Id::unique("lines"), text, || {
                    made.set(made.get() + 1);
                    text.len()
                })
            };
            let text = Bytes::from("ab".repeat(9));
            assert_eq!(
                (lines(&text), lines(&text.clone()), lines(&text.slice(..3))),
                (18, 18, 3)
            );
            assert_eq!(made.get(), 2);
            // What is remembered stays where it is: another text cannot come to be there.
            let mut places = std::collections::HashSet::new();
            for at in 0_u8..50 {
                let text = Bytes::from(vec![at; 18]);
                places.insert(text.as_ptr());
                assert_eq!(per_text(ui, Id::unique("letter"), &text, || text[0]), at);
            }
            assert!(places.len() > 1);
        });
    }
}
