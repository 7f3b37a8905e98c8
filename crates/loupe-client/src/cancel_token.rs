//! The cancel of one call: a flag that can be waited for.

use tokio::sync::watch;

/// Shared by whoever may cancel and the call that looks at it; all clones are one.
#[derive(Clone, Debug)]
pub struct CancelToken(watch::Sender<bool>);

impl CancelToken {
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns once [`CancelToken::cancel`] was called on any clone; at once if it was before.
    pub async fn cancelled(&self) {
        let mut changes = self.0.subscribe();
        // Cannot fail: this very token keeps a sender.
        changes.wait_for(|cancelled| *cancelled).await.ok();
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}
