//! Carries out effects on tokio and a small pool; reports events.
