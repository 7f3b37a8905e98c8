//! Templates of a host's texts: words in braces that are known stand for a value, every other brace for itself.

use serde::Deserialize;

/// What a placeholder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Var {
    Text,
    Uri,
    Name,
    Title,
    TitleOrName,
    DescriptionParen,
    Description,
    Mime,
    MimeOrOctet,
    Type,
    Size,
    Json,
    ResourceJson,
    ResourceMimeLine,
    Server,
    Tool,
    Path,
    Body,
    WallS,
    WallS3,
    CallJson,
    ToolJson,
    ResultJson,
    Media,
    Chars,
    CharsGrouped,
    Lines,
    Kb,
    KbChars,
    KbWhole,
    Head,
    Tail,
    HeadCharsGrouped,
    TailCharsGrouped,
    RemovedChars,
    RemovedCharsGrouped,
    RemovedBytes,
    RemovedTokens4,
    N,
}

const VARS: &[(&str, Var)] = &[
    ("text", Var::Text),
    ("uri", Var::Uri),
    ("name", Var::Name),
    ("title", Var::Title),
    ("title_or_name", Var::TitleOrName),
    ("description_paren", Var::DescriptionParen),
    ("description", Var::Description),
    ("mime", Var::Mime),
    ("mime_or_octet", Var::MimeOrOctet),
    ("type", Var::Type),
    ("size", Var::Size),
    ("json", Var::Json),
    ("resource_json", Var::ResourceJson),
    ("resource_mime_line", Var::ResourceMimeLine),
    ("server", Var::Server),
    ("tool", Var::Tool),
    ("path", Var::Path),
    ("body", Var::Body),
    ("wall_s", Var::WallS),
    ("wall_s3", Var::WallS3),
    ("call_json", Var::CallJson),
    ("tool_json", Var::ToolJson),
    ("result_json", Var::ResultJson),
    ("media", Var::Media),
    ("chars", Var::Chars),
    ("chars_grouped", Var::CharsGrouped),
    ("lines", Var::Lines),
    ("kb", Var::Kb),
    ("kb_chars", Var::KbChars),
    ("kb_whole", Var::KbWhole),
    ("head", Var::Head),
    ("tail", Var::Tail),
    ("head_chars_grouped", Var::HeadCharsGrouped),
    ("tail_chars_grouped", Var::TailCharsGrouped),
    ("removed_chars", Var::RemovedChars),
    ("removed_chars_grouped", Var::RemovedCharsGrouped),
    ("removed_bytes", Var::RemovedBytes),
    ("removed_tokens4", Var::RemovedTokens4),
    ("n", Var::N),
];

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    Literal(String),
    Var(Var),
}

/// A text with placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Template {
    source: String,
    pieces: Vec<TemplatePiece>,
}

impl Template {
    pub fn pieces(&self) -> &[TemplatePiece] {
        &self.pieces
    }

    /// The template as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn has(&self, var: Var) -> bool {
        self.pieces.contains(&TemplatePiece::Var(var))
    }

    /// The text with every placeholder filled in by `value`.
    pub fn fill(&self, mut value: impl FnMut(Var) -> String) -> String {
        self.pieces.iter().fold(String::new(), |mut text, piece| {
            match piece {
                TemplatePiece::Literal(literal) => text.push_str(literal),
                TemplatePiece::Var(var) => text.push_str(&value(*var)),
            }
            text
        })
    }
}

impl From<String> for Template {
    fn from(source: String) -> Self {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = source.as_str();
        while let Some(open) = rest.find('{') {
            let (before, after) = rest.split_at(open);
            literal.push_str(before);
            let known = after[1..].find('}').and_then(|end| {
                let word = &after[1..=end];
                VARS.iter()
                    .find(|(name, _)| *name == word)
                    .map(|(_, var)| (*var, end + 2))
            });
            match known {
                Some((var, used)) => {
                    if !literal.is_empty() {
                        pieces.push(TemplatePiece::Literal(std::mem::take(&mut literal)));
                    }
                    pieces.push(TemplatePiece::Var(var));
                    rest = &after[used..];
                }
                None => {
                    literal.push('{');
                    rest = &after[1..];
                }
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(TemplatePiece::Literal(literal));
        }
        Self { source, pieces }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_words_are_placeholders() {
        let template = Template::from("{{\"structuredContent\":{json}} {nothing} {".to_owned());
        assert_eq!(
            template.fill(|var| format!("<{var:?}>")),
            "{{\"structuredContent\":<Json>} {nothing} {"
        );
        assert!(template.has(Var::Json) && !template.has(Var::Text));
    }
}
