//! What the dual set makes of any list: one page of it as data, and a result in the phase that is on.

use serde_json::{Value, json};

use super::data::{NOW, iso};
use super::kit::{SampleCall, pretty, text_result};
use super::schema::Args;
use super::text::{LIMIT, cut, length};

pub const RULE: &str = "\n\n---\n\n";

/// A result in the phase that is on: 0, pretty JSON as text; 1, the same with the data next to it; 2, Markdown with the
/// data next to it, under the size guard. `message` is what the JSON of the first two says before the data.
pub fn result(call: &SampleCall<'_>, message: &str, text: String, structured: Value) -> Value {
    if call.options.phase < 2 {
        let text = pretty(&json!({"message": message, "data": structured, "timestamp": iso(NOW)}));
        return if call.options.phase == 0 {
            text_result(&text, false)
        } else {
            both(&text, structured)
        };
    }
    both(&guarded(text, length(&structured.to_string())), structured)
}

/// Kept fault: only the text is ever cut, and when the data alone takes nearly all of the limit the cut lies before the
/// text's beginning and everything goes.
fn guarded(text: String, taken: usize) -> String {
    if length(&text) + taken <= LIMIT {
        return text;
    }
    let kept = cut(&text, LIMIT.saturating_sub(taken + 500));
    format!(
        "{kept}{RULE}⚠️ **Response Truncated**: Content exceeded size limit. Use filters or reduce `pageSize` to see complete results."
    )
}

fn both(text: &str, structured: Value) -> Value {
    let mut result = json!({"content": [{"type": "text", "text": text}]});
    result["structuredContent"] = structured;
    result["isError"] = false.into();
    result
}

/// One page of what matched.
pub struct Page<'a, T> {
    pub items: Vec<&'a T>,
    pub matched: usize,
    /// As the original reports it: `pageSize || 50`, so 0 becomes 50 and −1 stays.
    size: f64,
}

impl<'a, T> Page<'a, T> {
    pub fn new(matches: Vec<&'a T>, args: Args<'_>) -> Self {
        let size = args
            .number("pageSize")
            .filter(|size| *size != 0.0)
            .unwrap_or(50.0);
        let limit = if size == -1.0 { 500 } else { size as usize };
        Self {
            matched: matches.len(),
            items: matches.into_iter().take(limit).collect(),
            size,
        }
    }

    /// Kept fault: a full page counts as "more to come", and with −1 every page is full.
    pub fn has_more(&self) -> bool {
        self.items.len() as f64 >= self.size
    }

    /// What follows a list that is said to go on; else nothing.
    pub fn footer(&self) -> String {
        if !self.has_more() {
            return String::new();
        }
        format!(
            "{RULE}⚠️ **Truncated**: Showing first {} results. Use `pageSize: -1` to see all matches.",
            self.items.len()
        )
    }

    /// The data of a page. Kept fault: `totalCount` is the length of the page.
    pub fn structured(&self, row: impl Fn(&T) -> Value, filters: Option<Value>) -> Value {
        let size = if self.size.fract() == 0.0 {
            json!(self.size as i64)
        } else {
            json!(self.size)
        };
        let items: Vec<_> = self.items.iter().map(|item| row(item)).collect();
        let mut structured = json!({"items": items});
        if let Some(filters) = filters {
            structured["filters"] = filters;
        }
        structured["totalCount"] = self.items.len().into();
        structured["pageSize"] = size;
        structured["hasMore"] = self.has_more().into();
        structured
    }
}
