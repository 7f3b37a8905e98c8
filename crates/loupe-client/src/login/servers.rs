//! Which authorization server, where a server names several: the one the user chose, the one that a login is kept of, or
//! the first. The SDK reads the resource metadata and takes what is there, so the choice is made in that document,
//! on its way to the SDK; the log shows it as it came.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// The choice of one login.
#[derive(Default)]
pub(super) struct Servers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    chosen: Option<String>,
    kept: Option<String>,
    asks: bool,
    /// What the server named, where it named several.
    named: Vec<String>,
    taken: Option<String>,
}

/// What came of the choice.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// There was none to make.
    Free,
    /// Of several, this one.
    Taken { server: String, named: Vec<String> },
    /// The user has to choose.
    Open(Vec<String>),
    /// What was chosen is not among them.
    Unknown { chosen: String, named: Vec<String> },
}

impl Servers {
    /// A login begins: what was chosen, what a login is kept of, and whether the user is asked where neither says.
    pub(super) fn begin(&self, chosen: Option<String>, kept: Option<String>, asks: bool) {
        *self.state() = State {
            chosen,
            kept,
            asks,
            ..State::default()
        };
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The document with one authorization server instead of several; `None` where it stays as it is.
    pub(super) fn narrowed(&self, body: &[u8]) -> Option<Vec<u8>> {
        let mut document: Value = serde_json::from_slice(body).ok()?;
        document.get("resource")?;
        let list = document.get_mut("authorization_servers")?.as_array_mut()?;
        let named: Vec<String> = list
            .iter()
            .filter_map(|server| Some(server.as_str()?.to_owned()))
            .collect();
        let mut state = self.state();
        // A path or none at the end is the same server to people.
        let is = |server: &String, wanted: &Option<String>| {
            wanted
                .as_ref()
                .is_some_and(|wanted| wanted.trim_end_matches('/') == server.trim_end_matches('/'))
        };
        let several = named.len() > 1;
        let found = named
            .iter()
            .find(|server| is(server, &state.chosen))
            .or_else(|| {
                let may_fall_back = state.chosen.is_none();
                named
                    .iter()
                    .find(|server| several && may_fall_back && is(server, &state.kept))
            });
        let taken = found.cloned();
        if !several && (taken.is_some() || state.chosen.is_none()) {
            return None;
        }
        state.named = named;
        state.taken.clone_from(&taken);
        match taken {
            Some(server) => *list = vec![Value::String(server)],
            // Nothing of it may be reached before the user has chosen.
            None if state.asks || state.chosen.is_some() => list.clear(),
            None => return None,
        }
        serde_json::to_vec(&document).ok()
    }

    pub(super) fn choice(&self) -> Choice {
        let state = self.state();
        let named = state.named.clone();
        match (&state.taken, &state.chosen) {
            _ if named.is_empty() => Choice::Free,
            (Some(server), _) => Choice::Taken {
                server: server.clone(),
                named,
            },
            (None, Some(chosen)) => Choice::Unknown {
                chosen: chosen.clone(),
                named,
            },
            (None, None) if state.asks => Choice::Open(named),
            (None, None) => Choice::Taken {
                server: named.first().cloned().unwrap_or_default(),
                named,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: &[u8] = br#"{"resource":"r","authorization_servers":["https://a","https://b/t"]}"#;

    fn servers(chosen: Option<&str>, kept: Option<&str>, asks: bool) -> Servers {
        let servers = Servers::default();
        servers.begin(chosen.map(str::to_owned), kept.map(str::to_owned), asks);
        servers
    }

    fn left(servers: &Servers, body: &[u8]) -> Option<Vec<String>> {
        let document: Value = serde_json::from_slice(&servers.narrowed(body)?).unwrap();
        serde_json::from_value(document["authorization_servers"].clone()).unwrap()
    }

    #[test]
    fn of_several_one_is_taken_by_choice_then_by_what_is_kept_then_by_order() {
        let named = vec!["https://a".to_owned(), "https://b/t".to_owned()];
        let chosen = servers(Some("https://b/t/"), Some("https://a"), true);
        assert_eq!(left(&chosen, BOTH), Some(vec!["https://b/t".to_owned()]));
        assert_eq!(
            chosen.choice(),
            Choice::Taken {
                server: "https://b/t".into(),
                named: named.clone()
            }
        );
        assert_eq!(
            left(&servers(None, Some("https://b/t"), true), BOTH),
            Some(vec!["https://b/t".to_owned()])
        );
        let first = servers(None, None, false);
        assert_eq!(
            (left(&first, BOTH), first.choice()),
            (
                None,
                Choice::Taken {
                    server: "https://a".into(),
                    named: named.clone()
                }
            )
        );
        let open = servers(None, None, true);
        assert_eq!(
            (left(&open, BOTH), open.choice()),
            (Some(Vec::new()), Choice::Open(named.clone()))
        );
        let unknown = servers(Some("https://c"), Some("https://a"), false);
        assert_eq!(
            (left(&unknown, BOTH), unknown.choice()),
            (
                Some(Vec::new()),
                Choice::Unknown {
                    chosen: "https://c".into(),
                    named
                }
            )
        );
    }

    #[test]
    fn one_alone_and_other_documents_are_left() {
        for body in [
            &br#"{"resource":"r","authorization_servers":["https://a"]}"#[..],
            br#"{"issuer":"r","authorization_servers":["https://a","https://b"]}"#,
            b"<html>",
        ] {
            let open = servers(None, None, true);
            assert_eq!((left(&open, body), open.choice()), (None, Choice::Free));
        }
        let only = servers(Some("https://b"), None, true);
        assert_eq!(
            left(
                &only,
                br#"{"resource":"r","authorization_servers":["https://a"]}"#
            ),
            Some(Vec::new())
        );
    }
}
