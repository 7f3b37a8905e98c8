//! Where the fences of a text begin and end.

use std::ops::Range;

use loupe_core::layout::{Fence, lines};

/// How the fences of a text end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FenceEnd {
    Closed,
    /// The last one has no end.
    Open,
    /// The last one has no end since a fence of this line, no shorter than the one around it, was taken for its content.
    Nested {
        line: Range<usize>,
        /// What the fence around it has to be longer than, in marks.
        marks: usize,
        mark: char,
    },
}

/// Follows the fences of a text as CommonMark has them.
pub(crate) fn fence_end(text: &str) -> FenceEnd {
    let mut fence: Option<(usize, char)> = None;
    let mut nested = None;
    for line in lines(text) {
        let Some(Fence { mark, marks, info }) = line.fence() else {
            continue;
        };
        let begins = line.indent <= 3;
        match fence {
            None if begins => fence = Some((marks, mark)),
            Some((open, own)) if own == mark && marks >= open => {
                if info.is_empty() {
                    fence = None;
                } else if begins && nested.is_none() {
                    nested = Some(FenceEnd::Nested {
                        line: line.at..line.place_of(line.body()).end,
                        marks,
                        mark,
                    });
                }
            }
            _ => {}
        }
    }
    if fence.is_none() {
        FenceEnd::Closed
    } else {
        nested.unwrap_or(FenceEnd::Open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_within_a_fence_of_its_length_is_told_from_one_that_is_cut() {
        for mark in ["```", "~~~"] {
            let text = format!("{mark}md\ntext\n{mark}js\ncode\n{mark}\nrest\n{mark}\n");
            let char = mark.chars().next().unwrap();
            assert_eq!(
                fence_end(&text),
                FenceEnd::Nested {
                    line: 11..16,
                    marks: 3,
                    mark: char
                }
            );
            assert_eq!(fence_end(&format!("{mark}js\ncode\n")), FenceEnd::Open);
            assert_eq!(
                fence_end(&format!(
                    "{mark}{char}md\n{mark}js\ncode\n{mark}\n{mark}{char}\n"
                )),
                FenceEnd::Closed
            );
        }
    }
}
