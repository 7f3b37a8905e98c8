//! Where each token of a text begins.

use std::sync::Arc;

use crate::queries::query::{Ctx, Query, Stop};
use loupe_core::token::{Encoding, each_start};

/// The byte at which each token of the text of a format begins, in order, in one of the encodings that are always counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenStartsQuery {
    pub format: &'static str,
    pub encoding: Encoding,
}

impl Query for TokenStartsQuery {
    type Out = Arc<[usize]>;
    const IS_COUNT: bool = true;

    /// The user switched it on.
    fn is_held(&self) -> bool {
        false
    }
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let text = cx.text(self.format)?;
        let mut starts = Vec::new();
        each_start(&text, self.encoding, |at, _| starts.push(at));
        Ok(starts.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::cancel::Cancel;
    use loupe_core::format::ParsedCapture;
    use loupe_core::host::Hosts;
    use loupe_core::token;

    #[test]
    fn there_are_as_many_as_are_counted_and_each_begins_where_one_ends() {
        let text = "Grüße 🟢🟢 from Acme, id 12345\\n  indented";
        let subjects = [Arc::new(ParsedCapture::from_result(&format!(
            r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#
        )))];
        let (hosts, cancel) = (Hosts::built_in(), Cancel::new());
        let cx = Ctx::new(&subjects, &hosts, &cancel);
        let text = cx.text("content").ok().unwrap();
        for &encoding in Encoding::ALL {
            let starts = cx
                .get(&TokenStartsQuery {
                    format: "content",
                    encoding,
                })
                .unwrap()
                .unwrap();
            assert_eq!(starts.len() as u64, token::count(&text).get(encoding));
            assert_eq!(starts[0], 0);
            assert!(
                starts.windows(2).all(|pair| pair[0] < pair[1])
                    && starts[starts.len() - 1] < text.len()
            );
        }
    }
}
