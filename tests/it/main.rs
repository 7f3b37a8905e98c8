//! The tests from outside: the library, the program, and the window with no display.

mod agent;
mod check;
mod claims;
mod cli;
mod compare;
mod eras;
mod fixture;
mod fuzz;
mod hosts;
mod import;
mod layers;
mod login;
mod peer;
#[path = "../conformance/plain.rs"]
mod plain;
mod replay;
mod server_requests;
mod session;
mod state;
mod support;
mod text;
mod tidy;
mod transcripts;
mod two_servers;
#[path = "../conformance/visit.rs"]
mod visit;

#[cfg(unix)]
mod doctor;
#[cfg(unix)]
mod doors;
#[cfg(unix)]
mod ends;
#[cfg(unix)]
mod misbehave;
#[cfg(unix)]
mod readme;
#[cfg(unix)]
mod refusals;
#[cfg(unix)]
mod secrets;
#[cfg(unix)]
mod stateless;
#[cfg(unix)]
mod tap;
#[cfg(unix)]
mod tap_http;
#[cfg(unix)]
mod tap_peers;

#[cfg(feature = "gui")]
mod app;
#[cfg(feature = "gui")]
mod live;
mod losses;
#[cfg(feature = "gui")]
mod pictures;
#[cfg(feature = "gui")]
mod reading;
#[cfg(feature = "gui")]
mod recorded;
#[cfg(feature = "gui")]
mod screens;
#[cfg(feature = "gui")]
mod server_requests_window;
#[cfg(all(feature = "gui", unix))]
mod watch;
#[cfg(feature = "gui")]
mod window;
#[cfg(all(feature = "gui", unix))]
mod wrap;
