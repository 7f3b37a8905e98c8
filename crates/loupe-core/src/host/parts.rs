//! The texts and media that a host makes of a result, before they have their places.

use super::source_map::SourceMapped;
use super::template::{Template, TemplatePiece, Var};

/// A part before it has its place in the text.
#[derive(Clone, Debug)]
pub(super) enum Raw {
    Text(SourceMapped),
    Media { mime: String, block: usize },
}

/// What the blocks and `structuredContent` became.
pub(super) struct Pieces {
    pub parts: Vec<Raw>,
    /// With `both`, which has a join of its own.
    pub structured: Option<SourceMapped>,
}

/// The texts among the parts.
pub(super) fn texts(parts: &[Raw]) -> impl Iterator<Item = &SourceMapped> + Clone {
    parts.iter().filter_map(|part| match part {
        Raw::Text(text) => Some(text),
        Raw::Media { .. } => None,
    })
}

/// The texts, and what is none.
pub(super) fn parted(parts: Vec<Raw>) -> (Vec<SourceMapped>, Vec<Raw>) {
    let mut texts = Vec::with_capacity(parts.len());
    let mut media = Vec::new();
    for part in parts {
        match part {
            Raw::Text(text) => texts.push(text),
            medium @ Raw::Media { .. } => media.push(medium),
        }
    }
    (texts, media)
}

/// The texts made one, media after it.
pub(super) fn join_parts(parts: Vec<Raw>, join: &str) -> Vec<Raw> {
    let (texts, media) = parted(parts);
    let text = (!texts.is_empty()).then(|| Raw::Text(SourceMapped::join(&texts, join)));
    text.into_iter().chain(media).collect()
}

/// A template around a text that is at `var`.
pub(super) fn around(
    template: &Template,
    var: Var,
    body: &SourceMapped,
    value: impl Fn(Var) -> String,
) -> SourceMapped {
    let mut out = SourceMapped::default();
    for piece in template.pieces() {
        match piece {
            TemplatePiece::Literal(literal) => out.push_host(literal),
            TemplatePiece::Var(found) if *found == var => out.append(body),
            TemplatePiece::Var(other) => out.push_host(&value(*other)),
        }
    }
    out
}
