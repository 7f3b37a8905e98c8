//! What a replay sends of a recorded answer: all of it, one of its parts, or its data in a format.

use bytes::Bytes;

use loupe_core::capture::Outcome;
use loupe_core::format::format_bytes;
use loupe_core::format::{self, FORMATS, Format, ParsedCapture};
use loupe_core::json::{Node, write};

/// Which of the forms of the same data is sent.
#[derive(Clone, Copy)]
pub enum Variant {
    /// As recorded, byte for byte.
    Both,
    /// Without `structuredContent`.
    ContentOnly,
    /// With an empty `content`.
    StructuredOnly,
    /// The text of a format as the only block.
    Format(&'static dyn Format),
}

impl Variant {
    /// The words, formats apart.
    pub const WORDS: &'static [(&'static str, Variant)] = &[
        ("both", Variant::Both),
        ("content-only", Variant::ContentOnly),
        ("structured-only", Variant::StructuredOnly),
    ];

    /// Reads a word or a format's id.
    pub fn parse(word: &str) -> Option<Self> {
        let known = Self::WORDS
            .iter()
            .find(|(known, _)| *known == word)
            .map(|&(_, variant)| variant);
        known.or_else(|| format::by_id(word).map(Self::Format))
    }

    /// Everything [`Variant::parse`] takes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::WORDS
            .iter()
            .map(|(word, _)| *word)
            .chain(FORMATS.iter().map(|format| format.id()))
    }

    /// Whether answers keep a `structuredContent`, which a tool with an `outputSchema` has to send.
    pub fn keeps_structured(self) -> bool {
        matches!(self, Self::Both | Self::StructuredOnly)
    }

    /// The `result` of a recorded answer in this form; why there is none is a sentence fragment.
    pub(super) fn result(self, subject: &ParsedCapture) -> Result<Bytes, String> {
        let Some(result) = subject.response.result() else {
            return Err("the recorded answer holds no result".to_owned());
        };
        match self {
            // A failure is said by its text; there is no data to write otherwise.
            _ if subject.capture.outcome == Outcome::ToolError => Ok(result.raw_bytes()),
            Self::Both => Ok(result.raw_bytes()),
            Self::ContentOnly => Ok(with_members(result, |key| {
                (key != "structuredContent").then_some(None)
            })),
            Self::StructuredOnly if subject.response.structured().is_none() => {
                Err("the recorded answer has no `structuredContent`".to_owned())
            }
            Self::StructuredOnly => Ok(with_members(result, |key| {
                Some((key == "content").then_some("[]"))
            })),
            Self::Format(format) => {
                let bytes = format_bytes(format, subject).map_err(|problem| {
                    format!(
                        "the recorded answer has no {}: {}",
                        format.title(),
                        problem.what
                    )
                })?;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                Ok(Bytes::from(format!(
                    "{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
                    write::string(&text)
                )))
            }
        }
    }
}

/// The object with its members as they are, those left out for which `keep` gives `None`, and another value where it
/// gives one.
pub(super) fn with_members(
    object: Node<'_>,
    keep: impl Fn(&str) -> Option<Option<&'static str>>,
) -> Bytes {
    let mut out = vec![b'{'];
    for member in object.children() {
        let Some(value) = keep(&member.key().unwrap_or_default()) else {
            continue;
        };
        if out.len() > 1 {
            out.push(b',');
        }
        out.push(b'"');
        out.extend_from_slice(member.raw_key().unwrap_or_default());
        out.extend_from_slice(b"\":");
        out.extend_from_slice(value.map_or(member.raw(), str::as_bytes));
    }
    out.push(b'}');
    out.into()
}
