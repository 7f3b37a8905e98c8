//! The bounds of a connection that the user may change: `--limit NAME=VALUE`, and `[limits]` of the settings.

use crate::problem::{Problem, ProblemKind};

/// What is kept of what a server sends. See `docs/limits.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message; a larger one ends its call with the part that came.
    pub message: usize,
    /// Pages of a list.
    pub pages: usize,
    /// Messages kept next to one call.
    pub beside: usize,
    /// Bytes of messages kept of a session.
    pub log: usize,
    /// Bytes of stderr kept of a session.
    pub stderr: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 256 << 20,
            pages: 1_000,
            beside: 10_000,
            log: 8 << 20,
            stderr: 1 << 20,
        }
    }
}

/// A limit: its word, the least and the most it can be, whether it is a size in bytes, and where it stands.
type Limit = (
    &'static str,
    usize,
    usize,
    bool,
    fn(&mut Limits) -> &mut usize,
);

const LIMITS: &[Limit] = &[
    ("message", 1 << 10, 2 << 30, true, |limits| {
        &mut limits.message
    }),
    ("pages", 1, 1_000_000, false, |limits| &mut limits.pages),
    ("beside", 0, 10_000_000, false, |limits| &mut limits.beside),
    ("log", 1 << 10, 2 << 30, true, |limits| &mut limits.log),
    ("stderr", 1 << 10, 2 << 30, true, |limits| {
        &mut limits.stderr
    }),
];

impl Limits {
    /// The words, for messages and help.
    pub fn words() -> String {
        LIMITS
            .iter()
            .map(|(word, ..)| *word)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Every limit with its value, as [`Limits::set`] takes them.
    pub fn entries(mut self) -> Vec<(&'static str, String)> {
        let entry = |(word, _, _, is_bytes, place): &Limit| {
            let value = *place(&mut self);
            let unit = [("GiB", 30), ("MiB", 20), ("KiB", 10)]
                .into_iter()
                .find(|(_, scale)| value > 0 && value % (1 << scale) == 0);
            let text = match unit.filter(|_| *is_bytes) {
                Some((unit, scale)) => format!("{}{unit}", value >> scale),
                None => value.to_string(),
            };
            (*word, text)
        };
        LIMITS.iter().map(entry).collect()
    }

    /// Sets a limit: a number, or for bytes a number with `KiB`, `MiB` or `GiB`.
    ///
    /// # Errors
    /// There is no such limit, or it cannot be that.
    pub fn set(&mut self, word: &str, value: &str) -> Result<(), Problem> {
        let wrong = |what: String, hint: String| {
            Problem::new(ProblemKind::Usage, what)
                .at(format!("{word}={value}"))
                .hint(hint)
        };
        let Some((_, least, most, is_bytes, place)) =
            LIMITS.iter().find(|(known, ..)| *known == word)
        else {
            return Err(wrong(
                format!("there is no limit `{word}`"),
                format!("one of {}", Self::words()),
            ));
        };
        let (digits, scale) = [("KiB", 10), ("MiB", 20), ("GiB", 30)]
            .iter()
            .find_map(|(unit, scale)| {
                Some((value.strip_suffix(unit).filter(|_| *is_bytes)?, *scale))
            })
            .unwrap_or((value, 0));
        let number = digits
            .trim()
            .parse::<usize>()
            .ok()
            .and_then(|number| number.checked_mul(1_usize << scale));
        let number = number
            .filter(|number| (least..=most).contains(&number))
            .ok_or_else(|| {
                let unit = if *is_bytes {
                    " bytes, such as 64MiB"
                } else {
                    ""
                };
                wrong(
                    format!("the limit `{word}` cannot be `{value}`"),
                    format!("a number from {least} to {most}{unit}"),
                )
            })?;
        *place(self) = number;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_set_by_word_within_bounds() {
        let mut limits = Limits::default();
        for (word, value) in [
            ("message", "64MiB"),
            ("pages", "3"),
            ("beside", "0"),
            ("log", "2048"),
            ("stderr", "4 KiB"),
        ] {
            limits.set(word, value).unwrap();
        }
        assert_eq!(
            limits,
            Limits {
                message: 64 << 20,
                pages: 3,
                beside: 0,
                log: 2_048,
                stderr: 4_096
            }
        );
        let texts = [
            ("message", "64MiB"),
            ("pages", "3"),
            ("beside", "0"),
            ("log", "2KiB"),
            ("stderr", "4KiB"),
        ];
        assert_eq!(
            limits.entries(),
            texts.map(|(word, text)| (word, text.to_owned()))
        );
        for (word, value) in [
            ("pages", "0"),
            ("pages", "1MiB"),
            ("message", "1"),
            ("message", "9999999999GiB"),
            ("x", "1"),
        ] {
            assert_eq!(
                limits.set(word, value).unwrap_err().kind,
                ProblemKind::Usage,
                "{word}={value}"
            );
        }
    }
}
