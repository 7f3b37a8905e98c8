//! `--count-exactly`: Claude's provider counts, after the user has agreed to what is sent.

use std::io::{self, IsTerminal};

use time::OffsetDateTime;

use super::output;
use loupe_analysis::contract::ExactCounts;
use loupe_analysis::queries;
use loupe_client::{keychain, provider};
use loupe_core::format::{Format, ParsedCapture};
use loupe_core::number::{grouped, number_of};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::claude::{self, Key, Request};

/// The variable of the key.
const VARIABLE: &str = "ANTHROPIC_API_KEY";

/// The counts of these formats, as far as they apply to the answer.
///
/// # Errors
/// There is no key, nobody can be asked or they said no, or the provider does not count.
pub fn count(
    subject: &ParsedCapture,
    formats: &[&'static dyn Format],
    model: &str,
) -> Result<ExactCounts, Problem> {
    let key = wait_for(key)??;
    let mut texts = Vec::new();
    for format in formats
        .iter()
        .filter(|format| format.applies(subject).is_ok())
    {
        let text = queries::text_of(subject, format.id())?;
        if !text.is_empty() {
            texts.push((format.id(), text));
        }
    }
    let question = question(&texts, model);
    if !output::confirm(&question, &mut io::stdin().lock()) {
        return Err(Problem::new(ProblemKind::Consent, "nothing was sent"));
    }
    let mut tokens = Vec::with_capacity(texts.len());
    for (format, text) in texts {
        tokens.push((
            format,
            request_count(&Request::new(claude::ADDRESS, model, &text), &key)?,
        ));
    }
    Ok(ExactCounts {
        model: model.to_owned(),
        day: OffsetDateTime::now_utc().date().to_string(),
        tokens,
    })
}

fn request_count(request: &Request, key: &Key) -> Result<u64, Problem> {
    wait_for(|| provider::count(request, key, provider::LIMIT))?
}

/// Waits on a thread of its own: the session's runtime is still there, and a runtime cannot wait within another.
fn wait_for<F: Future<Output: Send>>(
    begin: impl FnOnce() -> F + Send,
) -> Result<F::Output, Problem> {
    let failed =
        |why: String| Problem::new(ProblemKind::Internal, format!("nothing can be sent: {why}"));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.map(|runtime| runtime.block_on(begin()))
        });
        let done = waiting
            .join()
            .map_err(|_| failed("the thread ended".to_owned()))?;
        done.map_err(|error| failed(error.to_string()))
    })
}

/// Whether somebody can be asked, before anything is called.
///
/// # Errors
/// Standard input is no terminal.
pub fn check() -> Result<(), Problem> {
    match io::stdin().is_terminal() {
        true => Ok(()),
        false => Err(Problem::new(
            ProblemKind::Consent,
            "`--count-exactly` asks before it sends, and nobody can be asked",
        )
        .hint("run it at a terminal")),
    }
}

/// The person's key: of the environment, else of the keychain, where the window keeps it.
async fn key() -> Result<Key, Problem> {
    if let Some(key) = std::env::var(VARIABLE)
        .ok()
        .filter(|key| !key.trim().is_empty())
    {
        return Ok(Key::new(&key));
    }
    match keychain::load(provider::KEY_ENTRY).await {
        Ok(Some(key)) => Ok(Key::new(&key)),
        Ok(None) | Err(_) => Err(
            Problem::new(ProblemKind::Auth, "there is no key to count with").hint(format!(
                "set {VARIABLE}, or type the key in the window's dialog of exact counts"
            )),
        ),
    }
}

/// What is sent, where to, and that it is only sent when they agree.
fn question(texts: &[(&str, String)], model: &str) -> String {
    let bytes = texts.iter().map(|(_, text)| text.len() as u64).sum();
    let formats: Vec<_> = texts.iter().map(|(format, _)| *format).collect();
    format!(
        "Send {} of this answer ({}; {} together) to {} to be counted for {}? [y/N] ",
        number_of(texts.len() as u64, "texts"),
        formats.join(", "),
        number_of(bytes, "bytes"),
        claude::ADDRESS,
        output::one_line(model),
    )
}

/// The counts as a page for people.
pub fn page(counts: &ExactCounts) -> String {
    let mut page = format!(
        "\n{}, counted by its provider on {}:\n",
        output::one_line(&counts.model),
        counts.day
    );
    for (format, tokens) in &counts.tokens {
        page.push_str(&format!("{format:<16}{:>12}\n", grouped(*tokens)));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn counting_waits_within_a_session() {
        let free = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap();
        let problem = request_count(
            &Request::new(&format!("http://{free}/"), "m", "text"),
            &Key::new("sk-1"),
        )
        .unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Connect, "{problem:?}");
    }

    #[test]
    fn only_a_yes_is_one() {
        let texts = [("content", "abc".to_owned()), ("json", "[1]".to_owned())];
        let question = question(&texts, "claude-haiku-4-5");
        assert_eq!(
            question,
            "Send 2 texts of this answer (content, json; 6 bytes together) to \
             https://api.anthropic.com/v1/messages/count_tokens to be counted for claude-haiku-4-5? [y/N] "
        );
        let answer = |line: &str| output::confirm(&question, &mut line.as_bytes());
        assert_eq!(
            ["y\n", "yes\n", "\n", "", "no\n", "maybe y\n"].map(answer),
            [true, true, false, false, false, false]
        );
    }
}
