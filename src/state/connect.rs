//! The connect screen's form, and how it becomes a source.

use std::path::PathBuf;

use crate::problem::{Kind, Problem};
use crate::source::{Command, Http, Source};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectMode {
    #[default]
    Command,
    Url,
}

/// What was typed on the connect screen; kept while the program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectForm {
    pub mode: ConnectMode,
    /// The program, or a whole command line.
    pub command: String,
    /// Further arguments, as a shell would take them.
    pub arguments: String,
    pub folder: String,
    /// Name and value; rows with an empty name are left out.
    pub environment: Vec<(String, String)>,
    pub url: String,
    pub headers: Vec<(String, String)>,
}

impl ConnectForm {
    /// The source the form describes.
    ///
    /// # Errors
    /// What is missing or cannot be read, with a hint.
    pub fn source(&self) -> Result<Source, Problem> {
        match self.mode {
            ConnectMode::Command => {
                let split = |text: &str, place: &str| {
                    shell_words::split(text).map_err(|_| {
                        Problem::new(Kind::Usage, "a quote is not closed").at(place).hint("close the quote, or write a backslash before it")
                    })
                };
                let mut words = split(&self.command, "command")?;
                words.extend(split(&self.arguments, "arguments")?);
                if words.is_empty() {
                    return Err(Problem::new(Kind::Usage, "no command given").hint("type the command that starts your server, such as `npx -y my-server`"));
                }
                let program = words.remove(0);
                let cwd = (!self.folder.trim().is_empty()).then(|| PathBuf::from(self.folder.trim()));
                Ok(Source::Command(Command { program, args: words, env: named(&self.environment), cwd }))
            }
            ConnectMode::Url => {
                let url = self.url.trim();
                if !(url.starts_with("http://") || url.starts_with("https://")) {
                    return Err(Problem::new(Kind::Usage, "not an http or https address").at(url).hint("type the server's address, such as http://127.0.0.1:3001/mcp"));
                }
                Ok(Source::Http(Http { url: url.to_owned(), headers: named(&self.headers) }))
            }
        }
    }
}

fn named(rows: &[(String, String)]) -> Vec<(String, String)> {
    rows.iter().filter(|(name, _)| !name.trim().is_empty()).map(|(name, value)| (name.trim().to_owned(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_command_line_may_stand_in_the_first_field() {
        let form = ConnectForm { command: "npx -y 'my server'".into(), arguments: "--port 1".into(), ..ConnectForm::default() };
        assert_eq!(form.source().unwrap().to_string(), "-- npx -y 'my server' --port 1");
        assert!(ConnectForm::default().source().is_err());
        assert_eq!(ConnectForm { command: "a 'b".into(), ..ConnectForm::default() }.source().unwrap_err().place, "command");
    }
}
