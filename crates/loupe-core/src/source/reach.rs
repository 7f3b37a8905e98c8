//! How a server is spoken to, where the user chooses: the revision of the protocol and the HTTP transport. Uses only
//! `problem`.

use std::fmt;

use crate::problem::{Problem, ProblemKind};

/// The revision of the protocol that is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Found out: `server/discover` is asked first, `initialize` where that is not known.
    #[default]
    Auto,
    /// One of [`Protocol::VERSIONS`], and no other.
    Version(&'static str),
}

impl Protocol {
    /// Every revision Loupe speaks, oldest first.
    pub const VERSIONS: &'static [&'static str] = &[
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    ];

    /// Reads `auto` or a revision.
    ///
    /// # Errors
    /// Another word; the hint lists the known ones.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let known = Self::VERSIONS.iter().find(|known| **known == text);
        known.map(|version| Self::Version(version)).ok_or_else(|| {
            Problem::new(
                ProblemKind::Usage,
                format!("`{text}` is not a revision of the protocol that Loupe speaks"),
            )
            .at("--protocol")
            .hint(format!("auto, {}", Self::VERSIONS.join(", ")))
        })
    }

    /// Whether this revision has no handshake: each request says itself what it needs (since 2026-07-28).
    pub fn is_stateless(version: &str) -> bool {
        // The revisions are dates, which compare as text.
        version >= "2026-07-28"
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Version(version) => version,
        })
    }
}

/// How messages travel over HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Streamable HTTP, and where the server knows none of it, HTTP+SSE.
    #[default]
    Auto,
    /// Streamable HTTP (2025-03-26 and later): one address for everything.
    Streamable,
    /// HTTP+SSE (2024-11-05): a stream that names another address to send to.
    Sse,
}

impl Transport {
    /// The words of `--transport`.
    pub const WORDS: &'static [(Transport, &'static str)] = &[
        (Self::Auto, "auto"),
        (Self::Streamable, "http"),
        (Self::Sse, "sse"),
    ];

    /// Reads a word of `--transport`.
    ///
    /// # Errors
    /// Another word; the hint lists the known ones.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        Self::WORDS
            .iter()
            .find(|(_, word)| *word == text)
            .map(|&(transport, _)| transport)
            .ok_or_else(|| {
                Problem::new(ProblemKind::Usage, format!("`{text}` is not a transport"))
                    .at("--transport")
                    .hint("auto, http or sse")
            })
    }

    /// The word of `--transport`.
    pub fn word(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(transport, _)| *transport == self)
            .map_or("auto", |(_, word)| word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_shown() {
        for version in Protocol::VERSIONS {
            assert_eq!(Protocol::parse(version).unwrap().to_string(), *version);
        }
        assert_eq!(Protocol::parse("auto"), Ok(Protocol::Auto));
        assert!(
            Protocol::parse("2025-01-01")
                .unwrap_err()
                .hint
                .unwrap()
                .contains("2026-07-28")
        );
        for (transport, word) in Transport::WORDS {
            assert_eq!(
                (Transport::parse(word), transport.word()),
                (Ok(*transport), *word)
            );
        }
        assert!(Transport::parse("stdio").is_err());
        assert!(Protocol::is_stateless("2026-07-28") && !Protocol::is_stateless("2025-11-25"));
    }
}
