//! What a server may ask of us, who answers it, and the questions that are open.
//!
//! A question is kept until it is answered by the user's word (or by what the user said beforehand), until the server
//! withdraws it, or until the connection ends; roots are answered from the folders that the user chose. What was not
//! declared is refused. Secrets typed into a form leave, and are masked in everything that is kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use loupe_core::server_request::{Reply, RequestKind, Root, ServerRequest};

/// What a capture says where a secret was taken out.
pub(super) const MASKED: &str =
    "what was typed into a field for a secret is masked as ••• in the messages kept";

/// Gets a question and the means to answer it. Must not block; the answer may come later, from any thread.
pub type RequestHandler = Arc<dyn Fn(ServerRequest, Answer) + Send + Sync>;

/// What we say that we can be asked, and who answers. By default nothing is declared and everything refused.
#[derive(Clone, Default)]
pub struct ClientCapabilities {
    /// Forms and addresses.
    pub elicitation: bool,
    pub sampling: bool,
    /// `None`: not declared. An empty list is declared, and says that no folder may be used.
    pub roots: Option<Vec<Root>>,
    pub asker: Option<RequestHandler>,
}

impl ClientCapabilities {
    /// The `capabilities` of the client, as JSON.
    pub fn capabilities(&self) -> String {
        loupe_core::server_request::capabilities(
            self.elicitation,
            self.sampling,
            self.roots.is_some(),
        )
    }

    /// Whether a question of this kind was declared, and can be put to somebody.
    pub(super) fn takes(&self, wants: &RequestKind) -> bool {
        match wants {
            RequestKind::Form { .. } | RequestKind::Url { .. } => {
                self.elicitation && self.asker.is_some()
            }
            RequestKind::Sampling(_) => self.sampling && self.asker.is_some(),
            RequestKind::Roots => self.roots.is_some(),
        }
    }
}

/// The way back of one answer. Dropping it cancels: a question is never left hanging.
pub struct Answer(Option<Box<dyn FnOnce(Reply) + Send>>);

impl Answer {
    pub(super) fn new(way: impl FnOnce(Reply) + Send + 'static) -> Self {
        Self(Some(Box::new(way)))
    }

    pub fn give(mut self, reply: Reply) {
        if let Some(way) = self.0.take() {
            way(reply);
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some(way) = self.0.take() {
            way(Reply::Cancel);
        }
    }
}

/// The questions of a session.
#[derive(Default)]
pub(super) struct ServerRequests {
    /// By key: those that wait for an answer, with the id as the server wrote it (none inside of a result).
    pub(super) open: BTreeMap<u64, (Option<Bytes>, ServerRequest)>,
    pub(super) next_key: u64,
    /// To be put to somebody as soon as the state is let go of.
    pub(super) fresh: Vec<ServerRequest>,
}

impl ServerRequests {
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn take_fresh(&mut self) -> Vec<ServerRequest> {
        std::mem::take(&mut self.fresh)
    }

    /// Lets go of every question; their keys.
    pub(super) fn clear(&mut self) -> Vec<u64> {
        self.fresh.clear();
        std::mem::take(&mut self.open).into_keys().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_answered_is_declared() {
        assert_eq!(ClientCapabilities::default().capabilities(), "{}");
        let all = ClientCapabilities {
            elicitation: true,
            sampling: true,
            roots: Some(Vec::new()),
            asker: None,
        };
        assert_eq!(
            all.capabilities(),
            r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}}"#
        );
    }
}
