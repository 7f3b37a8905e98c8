//! Loupe against the programs of others, which have to be installed: run by `.ci/run`, not by plain `cargo test`.

mod code_fixes;
mod exported;
#[path = "../it/live.rs"]
mod live;
#[expect(dead_code, reason = "real servers stand in for the scripted ones")]
#[path = "../it/peer/mod.rs"]
mod peer;
mod real_eras;
mod real_servers;
mod schema_suite;
mod second_decoders;
mod strangers_minute;
#[path = "../it/support.rs"]
mod support;
mod tutorial;
