//! Frames of the window over a server of 10,000 tools: at rest, while a filter is typed into the sidebar, and while the
//! palette looks for a tool.
//!
//! Prints how many frames took more than 16 ms: what is typed shall be found within one.

#[cfg(feature = "gui")]
mod common;
#[cfg(feature = "gui")]
#[path = "common/window.rs"]
mod window;

#[cfg(not(feature = "gui"))]
fn main() {}

#[cfg(feature = "gui")]
const TOOLS: usize = 10_000;

/// As servers are that make a tool of each operation of each of their resources.
#[cfg(feature = "gui")]
fn tools(count: usize) -> Vec<mcp_loupe::capture::Tool> {
    let verbs = ["get", "list", "search", "create", "update", "delete"];
    let tool = |at: usize| {
        let (verb, area) = (verbs[at % verbs.len()], at / 100);
        let text = format!(
            r#"{{"name":"area{area}_{verb}_thing_{at}","title":"{verb} thing {at}","description":"Does {verb} with a thing of area {area}.\nMore about it.","inputSchema":{{"type":"object","properties":{{"id":{{"type":"string"}}}}}}}}"#
        );
        mcp_loupe::capture::Tool::read(bytes::Bytes::from(text))
    };
    (0..count).map(tool).collect()
}

#[cfg(feature = "gui")]
fn main() -> Result<(), mcp_loupe::problem::Problem> {
    use mcp_loupe::capture::Server;
    use mcp_loupe::source::{Command, Source};
    use mcp_loupe::state::{Action, ConnectAction, Dialog, Event, SessionUpdate, ViewAction};
    use window::{Window, report};

    let mut window = Window::open(None)?;
    let source = Source::Command(Command { program: "many".into(), ..Command::default() });
    window.perform(ConnectAction::Connect(Box::new(source)));
    let session = window.state.session;
    let count = window::size(TOOLS);
    for update in [SessionUpdate::Connected(Server::default()), SessionUpdate::Tools { tools: tools(count), note: None }] {
        window.apply(Event::Session { session, update });
    }
    println!("{count} tools");
    report("while their tokens are counted", &window.frames(|_| Vec::new()));
    report("at rest", &window.frames(|_| Vec::new()));
    for filter in ["t", "th", "thing_1", "search_thing_99", "nothing has this"] {
        window.perform(ViewAction::SetFilter(filter.into()));
        report(&format!("filtered by “{filter}”"), &window.frames(|_| Vec::new()));
    }
    window.perform(ViewAction::SetFilter(String::new()));
    for text in ["", "t", "search 99"] {
        window.perform(Action::ShowDialog(Dialog::Palette { text: text.into(), chosen: 0 }));
        report(&format!("the palette with “{text}”"), &window.frames(|_| Vec::new()));
    }
    Ok(())
}
