//! How the texts of each tool's answers are read as data, where the user chose.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Effect, State};
use loupe_core::capture::{Capture, ReadText};

/// What was chosen, by server and tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadTexts(BTreeMap<String, BTreeMap<String, ReadText>>);

impl ReadTexts {
    /// Of a tool of a server.
    pub fn of(&self, server: &str, tool: &str) -> &ReadText {
        self.0
            .get(server)
            .and_then(|tools| tools.get(tool))
            .unwrap_or(&ReadText::Auto)
    }

    pub(super) fn set(&mut self, server: &str, tool: &str, how: ReadText) {
        let tools = self.0.entry(server.to_owned()).or_default();
        match how {
            ReadText::Auto => tools.remove(tool),
            how => tools.insert(tool.to_owned(), how),
        };
    }

    /// Server, tool and what was chosen.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &ReadText)> {
        self.0.iter().flat_map(|(server, tools)| {
            tools
                .iter()
                .map(move |(tool, how)| (server.as_str(), tool.as_str(), how))
        })
    }

    /// A capture that arrives, read as was chosen for its tool, unless a choice came with it.
    pub(super) fn applied(&self, capture: Arc<Capture>) -> Arc<Capture> {
        match self.of(&capture.server.name, &capture.tool.name) {
            how if *how == ReadText::Auto || capture.read_text != ReadText::Auto => capture,
            how => Arc::new((*capture).clone().read_as(how)),
        }
    }
}

impl State {
    /// Reads the texts of the capture shown so, and those of every other answer of its tool.
    pub(super) fn read_text(&mut self, how: &ReadText, effects: &mut Vec<Effect>) {
        let Some(shown) = self.capture().cloned() else {
            return;
        };
        let (server, tool) = (&shown.server.name, &shown.tool.name);
        self.read_texts.set(server, tool, how.clone());
        let is_same =
            |capture: &Capture| capture.server.name == *server && capture.tool.name == *tool;
        let mut changed = Vec::new();
        for capture in self.captures.iter_mut().filter(|capture| is_same(capture)) {
            changed.push(capture.id.clone());
            *capture = Arc::new(Capture {
                read_text: how.clone(),
                ..(**capture).clone()
            });
        }
        effects.extend(
            self.query_results
                .forget_captures(|id| changed.contains(id))
                .into_iter()
                .map(Effect::Forget),
        );
        // What was selected was of the data as it was read before.
        let view = &mut self.view;
        (view.record, view.tree_cursor, view.pattern) = (None, None, None);
        view.toggled.clear();
        view.findings.forget_answer();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::ViewAction;
    use loupe_analysis::queries::{QueryKey, TreeQuery};
    use loupe_core::capture::{CaptureId, Server, Tool};

    fn capture(id: &str, tool: &str) -> Arc<Capture> {
        let server = Server {
            name: "files".into(),
            ..Server::default()
        };
        Arc::new(Capture {
            tool: Tool::unlisted(tool),
            ..Capture::empty(CaptureId(id.into()), server)
        })
    }

    #[test]
    fn a_choice_is_of_every_answer_of_the_tool() {
        let mut state = State::default();
        for (id, tool) in [("a", "list"), ("b", "list"), ("c", "other")] {
            state.add_capture(capture(id, tool));
        }
        state.perform(
            ViewAction::SelectCapture(CaptureId("a".into())),
            &mut Vec::new(),
        );
        let query_key = QueryKey::new(&[CaptureId("b".into())], TreeQuery);
        state.want(vec![query_key.clone()], &mut Vec::new());
        let mut effects = Vec::new();
        state.perform(ViewAction::ReadText(ReadText::Never), &mut effects);
        assert!(matches!(&effects[..], [Effect::Forget(forgotten)] if *forgotten == query_key));
        let read: Vec<_> = state
            .captures
            .iter()
            .map(|capture| capture.read_text.as_str().to_owned())
            .collect();
        assert_eq!(read, ["never", "never", "auto"]);
        // The next answer of the tool as well.
        state.add_capture(capture("d", "list"));
        assert_eq!(state.captures[3].read_text, ReadText::Never);
        state.perform(ViewAction::ReadText(ReadText::Auto), &mut Vec::new());
        assert_eq!(state.read_texts.iter().count(), 0);
        assert_eq!(state.captures[0].read_text, ReadText::Auto);
    }
}
