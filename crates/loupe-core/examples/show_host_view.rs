//! What does each host's model see of a result?
//!
//! `cargo run -p loupe-core --example show_host_view`

use loupe_core::format::ParsedCapture;
use loupe_core::host::{Hosts, ViewContext};
use loupe_core::token;

const RESULT: &str = r#"{
  "content": [{"type": "text", "text": "2 companies found."}],
  "structuredContent": {"items": [{"id": 7, "name": "Ann Ames"}, {"id": 9, "name": "Bob Burr"}]}
}"#;

fn main() {
    let result = ParsedCapture::from_result(RESULT);
    let context = ViewContext::new(&result.capture);
    for host in Hosts::built_in().iter() {
        let view = host.view(&result, &context);
        let tokens = token::count(&view.text).o200k_base;
        println!(
            "{} ({tokens} tokens of o200k_base)\n  {}",
            host.name, view.text
        );
    }
}
