//! Listings of tools, as queries are about them: the server's own, the other that it is compared with, and that of the
//! connection before.

use std::sync::Arc;

use super::State;
use loupe_analysis::queries::difference::{ToolsDifference, ToolsQuery};
use loupe_analysis::queries::{Definitions, Query, QueryKey};
use loupe_core::capture::{Server, Tool};
use loupe_core::problem::Problem;
use loupe_core::token::Tokens;

impl State {
    /// A number for a new listing, never given twice.
    pub(super) fn number_listing(&mut self) -> u64 {
        self.listings += 1;
        self.listings
    }

    /// The listing with this number; `None` where it is gone.
    pub(super) fn listing(&self, number: u64) -> Option<Arc<Definitions>> {
        let of = |tools: &[Arc<Tool>]| Definitions {
            server: Server::default(),
            tools: tools.to_vec(),
        };
        Some(Arc::new(
            match (&self.session().reconnect.before, &self.server_diff.other) {
                _ if number == self.session().list => self.session().definitions(),
                (Some((before, tools)), _) if number == *before => of(tools),
                (_, Some(other)) if number == self.server_diff.listing => of(&other.tools),
                _ => return None,
            },
        ))
    }

    /// A query about the server's own definitions.
    pub fn about_server(&self, query: impl Query) -> QueryKey {
        QueryKey::of_definitions(&[self.session().list], query)
    }

    /// What differs between the server's tools and the other list, the older first; `None` before both are there.
    pub fn versus_tools(&self) -> Option<QueryKey> {
        let other = self
            .server_diff
            .other
            .as_ref()
            .map(|_| self.server_diff.listing)?;
        let sides = if self.server_diff.is_turned {
            [self.session().list, other]
        } else {
            [other, self.session().list]
        };
        (!self.session().tools.is_empty()).then(|| QueryKey::of_definitions(&sides, ToolsQuery))
    }

    /// What became of the tools since the connection before; `None` where there was none, or they are the same.
    pub fn again_tools(&self) -> Option<QueryKey> {
        let (before, _) = self
            .session()
            .reconnect
            .before
            .as_ref()
            .filter(|_| self.session().reconnect.has_changed)?;
        Some(QueryKey::of_definitions(
            &[*before, self.session().list],
            ToolsQuery,
        ))
    }

    /// The result of [`State::versus_tools`] or [`State::again_tools`], if it is there.
    pub fn tools_difference(&self, query_key: Option<QueryKey>) -> Option<&Arc<ToolsDifference>> {
        self.query_results
            .query_state::<ToolsQuery>(&query_key?)?
            .ready()
    }

    pub(super) fn tools_counted(&mut self, tokens: Result<&[Tokens], &Problem>) {
        match tokens {
            Ok(tokens) => {
                for (listed, tokens) in self.session_mut().tools.iter_mut().zip(tokens) {
                    listed.tokens = Some(*tokens);
                }
            }
            Err(problem) => {
                self.session_mut().is_uncounted = true;
                self.toast_problem(problem.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::SessionUpdate;
    use crate::state::{Action, Effect, Event, ServerNotification};
    use loupe_analysis::queries::ToolTokensQuery;
    use loupe_analysis::queries::{QueryInput, QueryResult};
    use loupe_core::source::Source;

    #[test]
    fn counts_of_an_older_list_are_told_apart() {
        let (mut state, mut effects) = (State::default(), Vec::new());
        state.start_connecting(Source::sample(), &mut effects);
        state.apply(
            Event::Session {
                session: state.session().id,
                update: SessionUpdate::Connected(Server::default()),
            },
            &mut effects,
        );
        let tools = |names: &[&str]| {
            names
                .iter()
                .map(|name| Tool::unlisted(name))
                .collect::<Vec<_>>()
        };
        state.apply(
            Event::Session {
                session: state.session().id,
                update: SessionUpdate::Tools {
                    tools: tools(&["a", "b"]),
                    note: None,
                },
            },
            &mut effects,
        );
        let first = state.about_server(ToolTokensQuery);
        effects.clear();
        state.perform(Action::Want(vec![first.clone()]), &mut effects);
        assert!(
            matches!(&effects[..], [Effect::Answer { query_key, .. }] if *query_key == first),
            "{effects:?}"
        );
        let heard = ServerNotification::Tools {
            tools: tools(&["b"]),
            note: None,
        };
        state.apply(
            Event::Session {
                session: state.session().id,
                update: SessionUpdate::Notification(heard),
            },
            &mut effects,
        );
        let second = state.about_server(ToolTokensQuery);
        assert_ne!(first, second);
        let of_a = Tokens {
            o200k_base: 7,
            cl100k_base: 7,
        };
        let counted = |tokens: Vec<Tokens>| Ok(QueryResult::new::<Arc<[Tokens]>>(tokens.into()));
        state.apply(
            Event::Answered {
                about: QueryInput::Definitions(Vec::new()),
                query_key: first.clone(),
                answer: counted(vec![of_a, of_a]),
            },
            &mut effects,
        );
        assert_eq!(
            state.session().tools[0].tokens,
            None,
            "these are those of another tool"
        );
        state.apply(
            Event::Answered {
                about: QueryInput::Definitions(Vec::new()),
                query_key: second,
                answer: counted(vec![of_a]),
            },
            &mut effects,
        );
        assert_eq!(state.session().tools[0].tokens, Some(of_a));
        // Nobody asks about what is gone.
        effects.clear();
        state.query_results = super::super::QueryResults::default();
        state.perform(Action::Want(vec![first]), &mut effects);
        assert_eq!(effects, []);
    }
}
