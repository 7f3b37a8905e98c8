//! Secret values of servers: in the system's keychain, one entry a server, and in nothing else that is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::queue::Queue;
use super::work::task;
use crate::state::{Event, ImportEvent};
use loupe_client::keychain;
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, CaptureId, Server};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::redact::{RedactOptions, redact};
use loupe_core::source::{MemoryChanges, MemoryField, MemoryValue};

/// See the module.
pub(super) struct Values<'a> {
    pub runtime: &'a Handle,
    pub queue: &'a Arc<Queue>,
    /// Whether the system's keychain may be used.
    pub keychain: bool,
}

/// The keychain's entry of a server.
fn entry(key: &str) -> String {
    format!("server-{key}")
}

fn failed(what: &str, why: &str) -> Event {
    Event::Problem(Problem::new(ProblemKind::Io, format!("{what}: {why}")))
}

impl Values<'_> {
    pub(super) fn find(&self, key: String) {
        let (queue, keychain) = (Arc::clone(self.queue), self.keychain);
        let not_found = key.clone();
        let none = move |problem: Problem| {
            Event::Import(ImportEvent::ValuesFound {
                key: not_found,
                values: Err(problem.what),
            })
        };
        task(self.runtime, self.queue, none, async move {
            let values = match keychain {
                true => keychain::load(&entry(&key)).await,
                false => Err("turned off in this run".into()),
            };
            // An entry that cannot be read is as good as none: its values are asked for.
            let values = values.map(|text| {
                text.and_then(|text| serde_json::from_str(&text).ok())
                    .unwrap_or_default()
            });
            queue.push(Event::Import(ImportEvent::ValuesFound { key, values }));
        });
    }

    pub(super) fn keep(&self, key: String, values: BTreeMap<String, String>) {
        if !self.keychain {
            return;
        }
        let queue = Arc::clone(self.queue);
        task(self.runtime, self.queue, Event::Problem, async move {
            // Beside those that are there: of a server that needs several, one may have been typed anew.
            let known = keychain::load(&entry(&key)).await.ok().flatten();
            let mut all: BTreeMap<String, String> = known
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default();
            all.extend(values);
            let text = serde_json::json!(all).to_string();
            if let Err(why) = keychain::save(&entry(&key), text).await {
                queue.push(failed(
                    "the values are not kept: the system's keychain cannot be used",
                    &why,
                ));
            }
        });
    }

    pub(super) fn forget(&self, key: String) {
        if !self.keychain {
            return;
        }
        let queue = Arc::clone(self.queue);
        task(self.runtime, self.queue, Event::Problem, async move {
            if let Err(why) = keychain::forget(&entry(&key)).await {
                queue.push(failed(
                    "the server's values may still be in the system's keychain",
                    &why,
                ));
            }
        });
    }
}

/// Longer arguments are not kept.
const MOST_OF_ARGUMENTS: usize = 64 << 10;

/// Changes of what is remembered of servers, without arguments and variables that are long or in which something secret stands:
/// what was kept before is let go.
pub(super) fn without_secrets(
    mut changes: MemoryChanges,
    options: &RedactOptions,
) -> MemoryChanges {
    for ((_, field), value) in &mut changes {
        let is_kept = match (field, value.as_ref()) {
            (MemoryField::Last(_) | MemoryField::Named(..), Some(MemoryValue::Text(text))) => {
                text.len() <= MOST_OF_ARGUMENTS && !has_secret(text.clone(), options)
            }
            (MemoryField::Variable(name), Some(MemoryValue::Text(text))) => !has_secret(
                serde_json::json!({ name.as_str(): text }).to_string(),
                options,
            ),
            (_, Some(MemoryValue::Watch(watch))) => !has_secret(
                serde_json::json!({ "build": watch.build, "places": watch.places }).to_string(),
                options,
            ),
            _ => true,
        };
        if !is_kept {
            *value = None;
        }
    }
    changes
}

/// Whether something in a JSON object is hidden in what is written.
fn has_secret(json: String, options: &RedactOptions) -> bool {
    let capture = Capture {
        arguments: json.into(),
        ..Capture::empty(CaptureId("arguments".into()), Server::default())
    };
    // Nobody calls it off.
    redact(&capture, options, &Cancel::new()).map_or(true, |redacted| !redacted.is_exact())
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::source::{ServerMemory, ToolArguments};

    #[test]
    fn arguments_with_a_secret_are_not_written() {
        let named = [
            ("plain", r#"{"city":"Bonn"}"#),
            ("secret", r#"{"password":"canary-1"}"#),
        ];
        let arguments = ToolArguments {
            last: Some(r#"{"api_key":"canary-2"}"#.into()),
            named: named
                .map(|(name, text)| (name.to_owned(), text.to_owned()))
                .into(),
        };
        let variables = [("city", "Bonn"), ("api_token", "canary-3")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let memory = ServerMemory {
            arguments: BTreeMap::from([("find".to_owned(), arguments)]),
            variables: variables.into(),
            ..ServerMemory::default()
        };
        let changes = ServerMemory::default().changes("key", &memory);
        let kept = without_secrets(changes, &RedactOptions::default());
        assert!(!format!("{kept:?}").contains("canary"), "{kept:?}");
        let mut memory = ServerMemory::default();
        kept.into_iter()
            .for_each(|((_, field), value)| memory.set(field, value));
        assert_eq!(
            memory.arguments["find"].named.keys().collect::<Vec<_>>(),
            ["plain"]
        );
        assert_eq!(memory.variables.keys().collect::<Vec<_>>(), ["city"]);
    }
}
