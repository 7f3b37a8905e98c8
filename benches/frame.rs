//! Frames of the window while a 20 MB answer is parsed, counted and laid out, beside the same window at rest.
//!
//! Prints how many frames took more than 16 ms in each, since "no more than when idle" is the promise.

#[cfg(feature = "gui")]
mod common;
#[cfg(feature = "gui")]
#[path = "common/window.rs"]
mod window;

#[cfg(not(feature = "gui"))]
fn main() {}

/// Records of the generator that make about 20 MB, text and structured part together.
#[cfg(feature = "gui")]
const RECORDS: usize = 38_000;

#[cfg(feature = "gui")]
fn capture(records: usize) -> mcp_loupe::capture::Capture {
    let data = common::payload(records);
    let text = mcp_loupe::json::write::string(&common::markdown(records));
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{data}}}}}"#
    );
    let tool = mcp_loupe::capture::Tool::unlisted("generated");
    window::capture(format!("{records} records"), tool, bytes::Bytes::from_static(b"{}"), b"", message)
}

#[cfg(feature = "gui")]
fn main() -> Result<(), mcp_loupe::problem::Problem> {
    use mcp_loupe::settings::Theme;
    use mcp_loupe::state::{Event, SettingsAction};
    use window::{Window, report};

    let mut window = Window::open(None)?;
    window.apply(Event::Opened(vec![std::sync::Arc::new(capture(5))]));
    window.perform(SettingsAction::SetTheme(Theme::Dark));
    window.frames(|_| Vec::new());
    report("idle, 5 records", &window.frames(|_| Vec::new()));
    let large = capture(window::size(RECORDS));
    println!("large answer: {:.1} MB", large.wire_len() as f64 / 1e6);
    window.apply(Event::Opened(vec![std::sync::Arc::new(large)]));
    report("while it is worked on", &window.frames(|_| Vec::new()));
    report("when it is shown", &window.frames(|_| Vec::new()));
    Ok(())
}
