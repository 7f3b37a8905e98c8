//! A result as the fix of a finding would make it: its parts, and what a query would be answered about it.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use bytes::Bytes;

use crate::queries::query::{Ctx, Query, Stop};
use loupe_core::capture::Capture;
use loupe_core::digest::sha256;
use loupe_core::format::ParsedCapture;
use loupe_core::host::ResultPart;

/// The two parts of a result, each whole; a part that is not there is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The texts of all text blocks in order, one LF between two.
    pub text: Option<String>,
    /// JSON.
    pub structured: Option<String>,
}

impl Parts {
    /// What [`Parts::sent`] puts together.
    pub fn pieces(&self) -> Vec<&str> {
        match (self.text.as_deref(), self.structured.as_deref()) {
            (Some(text), Some(structured)) => vec![text, "\n", structured],
            (text, structured) => text.or(structured).into_iter().collect(),
        }
    }

    /// What one model reads of them: this part, or the other where it is not there.
    pub fn read(&self, part: ResultPart) -> Vec<&str> {
        match (part, &self.text, &self.structured) {
            (ResultPart::Text, Some(one), _) | (ResultPart::Data, _, Some(one)) => vec![one],
            _ => self.pieces(),
        }
    }

    /// Both parts as the format `both` writes them, or the one there is.
    pub fn sent(&self) -> Cow<'_, str> {
        match (&self.text, &self.structured) {
            (Some(text), Some(structured)) => Cow::Owned(format!("{text}\n{structured}")),
            (Some(one), None) | (None, Some(one)) => Cow::Borrowed(one),
            (None, None) => Cow::Borrowed(""),
        }
    }
}

/// A result with other parts, such as a fix of a finding makes it. Equal are those of equal text.
#[derive(Clone, Debug)]
pub struct FixedResult {
    digest: String,
    pub parts: Parts,
    is_text_changed: bool,
    subject: Arc<ParsedCapture>,
}

impl FixedResult {
    /// What is longer is not kept.
    pub const MOST_BYTES: usize = 1 << 20;

    /// The result of this capture with these parts.
    pub fn new(subject: &ParsedCapture, parts: Parts) -> Self {
        let mut result = serde_json::Map::new();
        let blocks: Vec<_> = parts
            .text
            .iter()
            .map(|text| serde_json::json!({"type": "text", "text": text}))
            .collect();
        result.insert("content".to_owned(), blocks.into());
        let data = parts
            .structured
            .as_ref()
            .map(|data| format!(",\"structuredContent\":{data}"))
            .unwrap_or_default();
        let head = serde_json::Value::Object(result).to_string();
        let message = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}{data}}}}}",
            head.trim_end_matches('}')
        );
        let capture = Capture {
            response: Some(Bytes::from(message)),
            ..Capture::clone(&subject.capture)
        };
        let was = crate::queries::text_of(subject, "content").ok();
        let is_text_changed = was != parts.text;
        Self {
            digest: sha256(parts.sent().as_bytes()),
            parts,
            is_text_changed,
            subject: crate::queries::subject(Arc::new(capture)),
        }
    }

    /// The part that is not as it was; of both the text. `None` where all that changed is that a part is gone.
    pub fn changed_part(&self) -> Option<&str> {
        if self.is_text_changed {
            self.parts.text.as_deref()
        } else {
            self.parts.structured.as_deref()
        }
    }

    /// The result, parsed.
    pub fn subject(&self) -> &ParsedCapture {
        &self.subject
    }

    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        self.subject.footprint() + self.parts.sent().len()
    }
}

impl PartialEq for FixedResult {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for FixedResult {}

impl Hash for FixedResult {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

/// What a query would be answered about the fixed answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WithFix<Q>(pub Arc<FixedResult>, pub Q);

impl<Q: Query> Query for WithFix<Q> {
    type Out = Q::Out;
    const IS_COUNT: bool = true;
    const IS_PASSING: bool = true;

    fn is_held(&self) -> bool {
        self.1.is_held()
    }

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        self.1.run(&Ctx {
            subjects: std::slice::from_ref(&self.0.subject),
            ..*cx
        })
    }
}
