//! The probe: what `sample-server --probe` answers, as data. A host that called its tools gave its model some text; which
//! markers are there, in what order and between what, says by which rule that host works.
//!
//! Markers are letters and digits only, so no escaping changes them. Those of media are the head of their base64 data, since
//! nothing else of a picture can reach a text. Uses nothing of Loupe.

/// One tool of the probe. It takes no arguments and answers the same every time.
#[derive(Debug)]
pub struct ProbeTool {
    pub name: &'static str,
    /// What is found out.
    pub about: &'static str,
    /// The content blocks and `structuredContent`, in the order in which they are sent.
    pub parts: &'static [ProbePart],
    pub is_error: bool,
}

/// One marked part of an answer.
#[derive(Debug)]
pub struct ProbePart {
    pub kind: ProbeKind,
    /// Stands nowhere else in any answer, but in [`ProbeKind::SameAsText`] next to the text it repeats.
    pub marker: &'static str,
}

/// What a marker is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// A text block.
    Text,
    /// A text block for the user alone (`annotations.audience`).
    TextForUser,
    /// A text block for the model alone.
    TextForModel,
    /// A text block of exactly [`LONG_TOKENS`]: the marker at the very beginning and at the very end, numbered lines between.
    LongText,
    /// `structuredContent`: an object with the member `marker`.
    Structured,
    /// A text block with the JSON of the `structuredContent` that follows, hence the same marker.
    JsonText,
    /// `structuredContent` whose JSON is the text block before.
    SameAsText,
    /// The base64 data of an image block.
    Image,
    /// The base64 data of an audio block.
    Audio,
    /// The text of an embedded resource.
    Resource,
    /// The URI of a resource link, whose last part the marker is.
    Link,
}

/// The tokens of the long text, in `o200k_base`.
pub const LONG_TOKENS: u64 = 30_000;

/// The members of `structuredContent` next to the marker: their spelling shows how a host writes JSON.
pub const STRUCTURED_REST: &str = r#""count":2,"ratio":1.0,"names":["é","<b>"],"none":null"#;

const fn part(kind: ProbeKind, marker: &'static str) -> ProbePart {
    ProbePart { kind, marker }
}

const fn tool(name: &'static str, about: &'static str, parts: &'static [ProbePart]) -> ProbeTool {
    ProbeTool {
        name,
        about,
        parts,
        is_error: false,
    }
}

const fn failing(mut tool: ProbeTool) -> ProbeTool {
    tool.is_error = true;
    tool
}

/// Every tool of the probe, in the order in which they are listed.
pub const PROBE_TOOLS: &[ProbeTool] = &[
    tool(
        "probe_one_text",
        "How one text arrives",
        &[part(ProbeKind::Text, "LoupeProbe01a")],
    ),
    tool(
        "probe_several_texts",
        "How several texts are joined",
        &[
            part(ProbeKind::Text, "LoupeProbe02a"),
            part(ProbeKind::Text, "LoupeProbe02b"),
            part(ProbeKind::Text, "LoupeProbe02c"),
        ],
    ),
    tool(
        "probe_structured_only",
        "Whether structuredContent arrives where there is no text",
        &[part(ProbeKind::Structured, "LoupeProbe03a")],
    ),
    tool(
        "probe_text_and_same_structured",
        "Whether structuredContent arrives beside a text that is its JSON: the marker comes once or twice",
        &[
            part(ProbeKind::JsonText, "LoupeProbe04a"),
            part(ProbeKind::SameAsText, "LoupeProbe04a"),
        ],
    ),
    tool(
        "probe_text_and_other_structured",
        "Which of text and structuredContent arrives where they differ",
        &[
            part(ProbeKind::Text, "LoupeProbe05a"),
            part(ProbeKind::Structured, "LoupeProbe05b"),
        ],
    ),
    tool(
        "probe_image",
        "What becomes of an image between texts",
        &[
            part(ProbeKind::Text, "LoupeProbe06a"),
            part(ProbeKind::Image, "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQ"),
            part(ProbeKind::Text, "LoupeProbe06c"),
        ],
    ),
    tool(
        "probe_audio",
        "What becomes of a sound between texts",
        &[
            part(ProbeKind::Text, "LoupeProbe07a"),
            part(ProbeKind::Audio, "UklGRsQAAABXQVZFZm10IBAAAAABAAEA"),
            part(ProbeKind::Text, "LoupeProbe07c"),
        ],
    ),
    tool(
        "probe_resource",
        "What becomes of an embedded resource between texts",
        &[
            part(ProbeKind::Text, "LoupeProbe08a"),
            part(ProbeKind::Resource, "LoupeProbe08b"),
            part(ProbeKind::Text, "LoupeProbe08c"),
        ],
    ),
    tool(
        "probe_link",
        "What becomes of a resource link between texts",
        &[
            part(ProbeKind::Text, "LoupeProbe09a"),
            part(ProbeKind::Link, "LoupeProbe09b"),
            part(ProbeKind::Text, "LoupeProbe09c"),
        ],
    ),
    failing(tool(
        "probe_error",
        "How a failed call arrives",
        &[part(ProbeKind::Text, "LoupeProbe10a")],
    )),
    failing(tool(
        "probe_error_structured",
        "Which part of a failed call arrives",
        &[
            part(ProbeKind::Text, "LoupeProbe11a"),
            part(ProbeKind::Structured, "LoupeProbe11b"),
        ],
    )),
    tool(
        "probe_long_text",
        "Where 30,000 tokens are cut, and what is said of it",
        &[part(ProbeKind::LongText, "LoupeProbe12a")],
    ),
    tool(
        "probe_audience",
        "Whether it matters for whom a text is",
        &[
            part(ProbeKind::TextForUser, "LoupeProbe13a"),
            part(ProbeKind::TextForModel, "LoupeProbe13b"),
        ],
    ),
    tool(
        "probe_nothing",
        "How an answer without any content arrives",
        &[],
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn markers_tell_one_part_from_all_others() {
        let mut seen = BTreeSet::new();
        for tool in PROBE_TOOLS {
            for part in tool
                .parts
                .iter()
                .filter(|part| part.kind != ProbeKind::SameAsText)
            {
                assert!(seen.insert(part.marker), "{}", part.marker);
                assert!(part.marker.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            }
        }
        for one in &seen {
            assert!(
                seen.iter()
                    .all(|other| one == other || !other.contains(one)),
                "{one} stands inside another"
            );
        }
        let names: BTreeSet<_> = PROBE_TOOLS.iter().map(|tool| tool.name).collect();
        assert_eq!(names.len(), PROBE_TOOLS.len());
    }
}
