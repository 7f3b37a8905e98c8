//! Frames of the window while a 20 MB answer is parsed, counted and laid out, and over a server of 10,000 tools while one
//! is looked for, beside the same window at rest.
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
fn capture(records: usize) -> loupe_core::capture::Capture {
    let data = common::data(records);
    let text = loupe_core::json::write::string(&common::markdown(records));
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{data}}}}}"#
    );
    let tool = loupe_core::capture::Tool::unlisted("generated");
    window::capture(
        format!("{records} records"),
        tool,
        bytes::Bytes::from_static(b"{}"),
        b"",
        message,
    )
}

#[cfg(feature = "gui")]
const TOOLS: usize = 10_000;

/// As servers are that make a tool of each operation of each of their resources.
#[cfg(feature = "gui")]
fn tools() -> Vec<loupe_core::capture::Tool> {
    let verbs = ["get", "list", "search", "create", "update", "delete"];
    let tool = |at: usize| {
        let (verb, area) = (verbs[at % verbs.len()], at / 100);
        let text = format!(
            r#"{{"name":"area{area}_{verb}_thing_{at}","title":"{verb} thing {at}","description":"Does {verb} with a thing of area {area}.","inputSchema":{{"type":"object","properties":{{"id":{{"type":"string"}}}}}}}}"#
        );
        loupe_core::capture::Tool::read(bytes::Bytes::from(text))
    };
    (0..TOOLS).map(tool).collect()
}

/// A filter is typed into the sidebar, then a tool looked for in the palette.
#[cfg(feature = "gui")]
fn look_for_tools() -> Result<(), loupe_core::problem::Problem> {
    use loupe_core::capture::Server;
    use loupe_core::source::{Command, Source};
    use mcp_loupe::state::{Action, ConnectAction, Dialog, Event, SessionUpdate, ViewAction};
    use window::{Window, report};

    let mut window = Window::open(None)?;
    let source = Source::Command(Command {
        program: "many".into(),
        ..Command::default()
    });
    window.perform(ConnectAction::Connect(Box::new(source)));
    let session = window.state.session().id;
    for update in [
        SessionUpdate::Connected(Server::default()),
        SessionUpdate::Tools {
            tools: tools(),
            note: None,
        },
    ] {
        window.apply(Event::Session { session, update });
    }
    report(
        &format!("{TOOLS} tools, at rest"),
        &window.frames(|_| Vec::new()),
    );
    for filter in ["t", "thing_1", "nothing has this"] {
        window.perform(ViewAction::SetFilter(filter.into()));
        report(
            &format!("filtered by “{filter}”"),
            &window.frames(|_| Vec::new()),
        );
    }
    window.perform(ViewAction::SetFilter(String::new()));
    for text in ["", "search 99"] {
        window.perform(Action::ShowDialog(Dialog::Palette {
            text: text.into(),
            chosen: 0,
        }));
        report(
            &format!("the palette with “{text}”"),
            &window.frames(|_| Vec::new()),
        );
    }
    Ok(())
}

#[cfg(feature = "gui")]
fn main() -> Result<(), loupe_core::problem::Problem> {
    use loupe_core::settings::Theme;
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
    look_for_tools()
}
