//! The summary as Markdown for a pull request: the sentence, and the command that reproduces it.

use std::fmt::Write;

use crate::contract::reproduce::{CountOptions, call_again};
use crate::queries::{HostOutcome, HostsReport, Placements};
use crate::summary::{CountedRow, ModelReads, strip, summary_counted};
use loupe_core::capture::Capture;
use loupe_core::number::grouped;
use loupe_core::quote::{markdown, markdown_block, markdown_code};
use loupe_core::token::{Encoding, Tokenizer};

/// What was compared, by which tokenizer, against what one model reads, and the command that reproduces it; nothing else.
/// `None` until the rows that the summary needs are there and counted.
pub fn summary_markdown(
    rows: &[CountedRow<'_>],
    reads: ModelReads<'_>,
    capture: &Capture,
    tokenizer: &Tokenizer,
) -> Option<String> {
    let headline = strip(rows, reads, tokenizer)?
        .headline()
        .map_or_else(String::new, |headline| format!("**{headline}**\n\n"));
    let sentence = summary_counted(rows, reads, tokenizer)?.text();
    let mut out = format!("{headline}{sentence}\n");
    let server = &capture.server;
    let how = match (tokenizer.encoding(), tokenizer.file()) {
        (Some(encoding), _) => format!("counted with {} (exact)", encoding.name()),
        (None, Some(file)) => format!(
            "counted with {} ({}, SHA-256 `{}`)",
            file.name,
            file.kind.title(),
            file.sha256
        ),
        (None, None) => format!("{}: {}", tokenizer.name(), tokenizer.how()),
    };
    let (tool, name, version) = (
        markdown_code(&capture.tool.name),
        markdown(&server.name),
        markdown(&server.version),
    );
    write!(out, "\n{tool} of {name} {version}, {how}.\n").ok();
    reproduce(&mut out, capture, tokenizer, reads.name());
    Some(out)
}

/// What every host's model sees: the headline, a table of the hosts that show the same, and which other delivery loses
/// least, where that is known.
pub fn hosts_markdown(
    report: &HostsReport,
    deliveries: Option<&Placements>,
    capture: &Capture,
    encoding: Encoding,
) -> String {
    let headline = report.headline(encoding);
    let mut out = format!(
        "**{}.** {}\n\n| Shown | Hosts | Tokens | Outcome |\n|---|---|---:|---|\n",
        headline.text, headline.why
    );
    for lane in &report.lanes {
        let names: Vec<String> = report
            .hosts_of(lane)
            .map(|row| markdown(&row.host.name).to_string())
            .collect();
        let first = report.hosts_of(lane).next();
        let tokens = first
            .and_then(|row| row.tokens)
            .map_or_else(|| "–".to_owned(), |tokens| grouped(tokens.get(encoding)));
        let shown = first.map_or_else(String::new, |row| row.shown_text());
        let happens = report.happens(lane);
        // Why there is no text may be in the words of the user's own file.
        let happens = if lane.outcome == HostOutcome::Unknown {
            markdown(&happens)
        } else {
            happens.into()
        };
        writeln!(
            out,
            "| {shown} | {} | {tokens} | {happens} |",
            names.join(", ")
        )
        .ok();
    }
    if let Some(deliveries) = deliveries {
        write!(
            out,
            "\nIf the same data were sent in another way: {}.\n",
            deliveries.summary(encoding).text()
        )
        .ok();
    }
    let server = &capture.server;
    let (tool, name, version) = (
        markdown_code(&capture.tool.name),
        markdown(&server.name),
        markdown(&server.version),
    );
    write!(
        out,
        "\n{tool} of {name} {version}, counted with {} (exact).\n",
        encoding.name()
    )
    .ok();
    reproduce(&mut out, capture, &Tokenizer::Encoding(encoding), None);
    out
}

fn reproduce(out: &mut String, capture: &Capture, tokenizer: &Tokenizer, sent_as: Option<&str>) {
    // Where a file stands is not known here; its name shows what to put.
    let name = Some(tokenizer.name()).filter(|_| *tokenizer != Tokenizer::default());
    let by = CountOptions {
        tokenizer: name,
        sent_as,
    };
    if let Ok(command) = call_again(capture, &by) {
        let command = command.trim_end();
        if command.contains(['\n', '\r']) {
            writeln!(out, "Reproduce:\n\n{}", markdown_block(command)).ok();
        } else {
            writeln!(out, "Reproduce: {}", markdown_code(command)).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Parser};

    use super::*;
    use loupe_core::format::ParsedCapture;

    use loupe_core::capture::{Server, Tool};
    use loupe_core::format::FORMATS;
    use loupe_core::format::ledger::Row;
    use loupe_core::host::Hosts;

    fn written(tool: &str, arguments: &'static str, source: &str, server: &str) -> String {
        let subject =
            ParsedCapture::from_result(r#"{"content":[{"type":"text","text":"{\"n\":1}"}]}"#);
        let rows: Vec<Row> = FORMATS
            .iter()
            .map(|format| Row::measure(*format, &subject))
            .collect();
        let tokenizer = Tokenizer::default();
        let count = |row: &Row| {
            tokenizer
                .from_tokens(row.tokens)
                .filter(|_| row.is_available())
        };
        let counted: Vec<_> = rows
            .iter()
            .map(|row| CountedRow {
                row,
                count: count(row),
                why: None,
            })
            .collect();
        let capture = Capture {
            tool: Tool::unlisted(tool),
            arguments: arguments.into(),
            ..Capture::empty(
                subject.capture.id.clone(),
                Server {
                    name: server.into(),
                    version: "1".into(),
                    source: source.into(),
                    ..Server::default()
                },
            )
        };
        summary_markdown(
            &counted,
            ModelReads::Most(&Hosts::built_in()),
            &capture,
            &tokenizer,
        )
        .unwrap()
    }

    #[test]
    fn the_command_that_reproduces_it_is_one_command() {
        let plain = written(
            "find",
            "{}",
            "--url https://h/mcp --header 'X-Key: …'",
            "desk",
        );
        assert!(
            plain.contains("`find` of desk 1, ") && plain.contains("(o200k_base, exact)"),
            "{plain}"
        );
        assert!(!plain.contains('|'), "no table: {plain}");
        assert!(
            plain.ends_with("Reproduce: `mcp-loupe call find --args '{}' --url https://h/mcp --header \"X-Key: $X_KEY\"`\n"),
            "{plain}"
        );
        let hostile = written(
            "t`; touch a; `",
            "{\n}",
            "--fixture 'a`b' ; touch b --yes",
            "<b> `x` [c](http://d)",
        );
        assert!(
            hostile.contains("mcp-loupe call 't`; touch a; `' --args '{\n}' --fixture 'a`b'\n"),
            "{hostile}"
        );
        // Nothing of it is markup, and no word of it stands outside of code.
        let texts = Parser::new(&hostile).filter_map(|event| match event {
            Event::Text(text) => Some(text.to_string()),
            Event::Html(html) | Event::InlineHtml(html) => panic!("{html}"),
            _ => None,
        });
        let outside = texts
            .collect::<String>()
            .replace("mcp-loupe call 't`; touch a; `'", "");
        assert!(
            !outside.contains("touch") && !outside.contains("<b>"),
            "{outside}"
        );
        assert!(!written("t", "{}", "--header $(touch c)", "desk").contains("Reproduce"));
    }
}
