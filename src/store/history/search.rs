//! Finding captures: by what the list knows, and by the text of the results.

use std::fs;

use memchr::memmem;

use super::{Entry, History, HistoryQuery};
use crate::history::HistoryId;
use crate::store::RESPONSE;
use loupe_core::cancel::{Cancel, Cancelled};

impl History {
    /// The captures that a query finds, in the order of the entries. Answers are read only where the list does not decide.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn search(
        &self,
        entries: &[Entry],
        query: &HistoryQuery,
        cancel: &Cancel,
    ) -> Result<Vec<HistoryId>, Cancelled> {
        let mut found = Vec::new();
        for entry in entries {
            cancel.check()?;
            let Some(open) = query.open(entry) else {
                continue;
            };
            if open.is_empty() || self.answer_says(&entry.id, &open) {
                found.push(entry.id.clone());
            }
        }
        Ok(found)
    }

    fn answer_says(&self, id: &HistoryId, words: &[&str]) -> bool {
        let Ok(mut bytes) = fs::read(self.folder(id).join(RESPONSE)) else {
            return false;
        };
        // As it was sent, without the escapes that stand for letters of other alphabets.
        bytes.make_ascii_lowercase();
        let mut unescaped = None;
        words.iter().all(|word| {
            if memmem::find(&bytes, word.as_bytes()).is_some() {
                return true;
            }
            if word.is_ascii() && !word.contains(['"', '\\', '/', '\n']) {
                return false;
            }
            let text = unescaped
                .get_or_insert_with(|| loupe_core::json::decode_string(&bytes).to_lowercase());
            text.contains(word)
        })
    }
}
