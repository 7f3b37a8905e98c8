//! Labels that tell servers of the same name apart.

use super::Source;

/// Letters of what is put to a label; of more, the beginning and the end.
const MOST: usize = 40;

/// The label of a source among these, one of which it is.
pub fn label_among(source: &Source, all: &[&Source]) -> String {
    let named: Vec<(String, String)> = all
        .iter()
        .map(|other| (other.label(), other.to_string()))
        .collect();
    let at = all.iter().position(|other| *other == source).unwrap_or(0);
    distinct_label(&named, at)
}

/// The name of one of several that have a name and a command line or an address: where others have the same name, with
/// the shortest part that tells it from them; where even these are alike, with a number.
pub fn distinct_label(named: &[(String, String)], at: usize) -> String {
    let Some((label, own)) = named.get(at) else {
        return String::new();
    };
    let alike: Vec<&str> = named
        .iter()
        .filter(|(other, _)| other == label)
        .map(|(_, whole)| whole.as_str())
        .collect();
    if alike.len() < 2 {
        return label.clone();
    }
    let number = named[..at]
        .iter()
        .filter(|other| *other == &named[at])
        .count();
    let words: Vec<Vec<&str>> = alike.iter().map(|whole| words(whole)).collect();
    let parts = differing(&words);
    let place = alike.iter().position(|whole| whole == own).unwrap_or(0);
    let part = clip(&short(&parts, place).join(" "));
    let distinct = match part.as_str() {
        "" => label.clone(),
        part if part.contains(label.as_str()) => part.to_owned(),
        part => format!("{label} {part}"),
    };
    if number == 0 {
        distinct
    } else {
        format!("{distinct} ({})", number + 1)
    }
}

/// A command line in words; what is quoted is one.
fn words(line: &str) -> Vec<&str> {
    let mut is_quoted = false;
    line.split(|letter: char| {
        is_quoted ^= letter == '\'';
        letter == ' ' && !is_quoted
    })
    .collect()
}

/// What is left of each without the words that all begin and end with.
fn differing<'a, 'b>(all: &'b [Vec<&'a str>]) -> Vec<&'b [&'a str]> {
    let shared = |one: &mut dyn Iterator<Item = &&'a str>,
                  other: &mut dyn Iterator<Item = &&'a str>| {
        one.zip(other)
            .take_while(|(one, other)| one == other)
            .count()
    };
    let Some((first, rest)) = all.split_first() else {
        return Vec::new();
    };
    let start = rest
        .iter()
        .map(|words| shared(&mut first.iter(), &mut words.iter()))
        .min()
        .unwrap_or(0);
    let room = all
        .iter()
        .map(|words| words.len() - start)
        .min()
        .unwrap_or(0);
    let end = rest
        .iter()
        .map(|words| shared(&mut first.iter().rev(), &mut words.iter().rev()))
        .min()
        .unwrap_or(0)
        .min(room);
    all.iter()
        .map(|words| &words[start..words.len() - end])
        .collect()
}

/// The words of one, paths without the folders that all share.
fn short<'a>(parts: &[&[&'a str]], at: usize) -> Vec<&'a str> {
    let own = parts[at];
    let is_even = parts.iter().all(|part| part.len() == own.len());
    let short = |(place, word): (usize, &&'a str)| {
        let shared = |other: &&[&str]| {
            word.bytes()
                .zip(other[place].bytes())
                .take_while(|(one, other)| one == other)
                .count()
        };
        let shared = if is_even {
            parts.iter().map(shared).min().unwrap_or(0)
        } else {
            0
        };
        let folder = word.as_bytes()[..shared]
            .iter()
            .rposition(|byte| matches!(byte, b'/' | b'\\'))
            .map_or(0, |at| at + 1);
        &word[folder..]
    };
    own.iter().enumerate().map(short).collect()
}

fn clip(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= MOST {
        return text.to_owned();
    }
    let (start, end) = (
        &letters[..MOST / 2],
        &letters[letters.len() - MOST / 2 + 1..],
    );
    format!(
        "{}…{}",
        start.iter().collect::<String>(),
        end.iter().collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Command, Http, Protocol};

    fn command(line: &str) -> Source {
        let mut words = line.split(' ').map(str::to_owned);
        Source::Command(Command {
            program: words.next().unwrap(),
            args: words.collect(),
            ..Command::default()
        })
    }

    #[track_caller]
    fn check(sources: &[Source], expected: &[&str]) {
        let all: Vec<&Source> = sources.iter().collect();
        assert_eq!(
            sources
                .iter()
                .map(|source| label_among(source, &all))
                .collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn the_shortest_part_that_tells_them_apart_is_said() {
        check(
            &["python3 server.py", "node other.js"].map(command),
            &["server.py", "other.js"],
        );
        check(
            &["python3 server.py", "python3 server.py b"].map(command),
            &["server.py", "server.py b"],
        );
        check(
            &["python3 /me/server.py a", "python3 /me/server.py b"].map(command),
            &["server.py a", "server.py b"],
        );
        check(
            &["python3 /me/v1/server.py", "python3 /me/v2/server.py"].map(command),
            &["v1/server.py", "v2/server.py"],
        );
        check(
            &[
                "srv --db /data/test.db --port 1",
                "srv --db /data/live.db --port 1",
                "srv --db /data/old.db --port 1",
            ]
            .map(command),
            &["srv test.db", "srv live.db", "srv old.db"],
        );
        check(
            &["/v1/bin/srv", "/v2/bin/srv"].map(command),
            &["v1/bin/srv", "v2/bin/srv"],
        );
    }

    #[test]
    fn what_differs_before_the_command_is_said_as_well() {
        let pinned = command("srv").with_protocol(Protocol::Version("2026-07-28"));
        check(
            &[command("srv"), pinned],
            &["srv", "srv --protocol 2026-07-28"],
        );
        let http = |scheme: &str| {
            Source::Http(Http {
                url: format!("{scheme}://h/mcp"),
                ..Http::default()
            })
        };
        check(
            &[http("http"), http("https")],
            &["http://h/mcp", "https://h/mcp"],
        );
    }

    #[test]
    fn what_is_told_apart_by_secrets_alone_is_numbered() {
        let keyed = |key: &str| {
            let env = vec![("API_KEY".to_owned(), key.to_owned())];
            Source::Command(Command {
                program: "srv".into(),
                env,
                ..Command::default()
            })
        };
        check(
            &[keyed("one"), keyed("two"), command("srv")],
            &["srv --env API_KEY=…", "srv --env API_KEY=… (2)", "srv"],
        );
    }

    #[test]
    fn a_long_part_keeps_its_beginning_and_its_end() {
        let long = |one: &str| command(&format!("srv --token {one}{}end", "x".repeat(90)));
        let label = label_among(&long("a"), &[&long("a"), &long("b")]);
        assert!(
            label.starts_with("srv ax") && label.ends_with("xend") && label.chars().count() < 50,
            "{label}"
        );
    }
}
