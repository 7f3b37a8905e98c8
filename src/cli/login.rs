//! A login on the command line: each step on stderr, the address shown before any browser is opened.

use std::process::{Command, Stdio};

use super::output;
use loupe_client::login::Step;

/// Says what a login is at. The address is shown in any case: without it nothing can happen.
pub fn step(step: &Step, quiet: bool, yes: bool) {
    match step {
        Step::Line(line) if !quiet => output::login_line(line),
        Step::Open { url, limit } => {
            output::login_address(&format!(
                "open this address to log in, within {} s: {url}",
                limit.as_secs()
            ));
            if yes {
                match open(url) {
                    Ok(()) if quiet => {}
                    Ok(()) => output::login_line("the browser was asked to open it"),
                    Err(why) => output::login_line(&format!(
                        "the browser could not be opened ({why}); open the address yourself"
                    )),
                }
            }
        }
        Step::Line(_) | Step::Choose(_) | Step::Back | Step::Over { .. } => {}
    }
}

/// Opens an address by `$BROWSER`, where `%s` stands for it, or by the system.
fn open(url: &str) -> Result<(), String> {
    // Nothing but the web: the address comes from a server.
    if !loupe_core::source::is_web(url) {
        return Err("not a web address".into());
    }
    match std::env::var("BROWSER") {
        Ok(browser) if !browser.trim().is_empty() => {
            let mut words = shell_words::split(&browser)
                .map_err(|_| "a quote in $BROWSER is not closed".to_owned())?;
            if words.iter().any(|word| word.contains("%s")) {
                words = words.iter().map(|word| word.replace("%s", url)).collect();
            } else {
                words.push(url.to_owned());
            }
            let (program, args) = words.split_first().ok_or("$BROWSER is empty")?;
            let (null, out, err) = (Stdio::null(), Stdio::null(), Stdio::null());
            let started = Command::new(program)
                .args(args)
                .stdin(null)
                .stdout(out)
                .stderr(err)
                .spawn();
            started
                .map(drop)
                .map_err(|error| format!("$BROWSER: {error}"))
        }
        _ => webbrowser::open(url).map_err(|error| error.to_string()),
    }
}
