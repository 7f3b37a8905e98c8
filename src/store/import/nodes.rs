//! Whether a YAML document may be built: an alias stands for a whole part of it, and parts of parts grow without end.
//! Looked at event by event, by a parser that builds nothing.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser};

/// The deepest nesting.
const MOST_DEEP: usize = 128;
/// What aliases may add in all, in bytes.
const MOST_ADDED: u64 = 64 << 20;
/// What a value takes besides its text, about.
const VALUE: u64 = 64;

/// Looks at the first document.
///
/// # Errors
/// Why it may not be built, or cannot be read.
pub(super) fn check(text: &str) -> Result<(), String> {
    let mut sizes: HashMap<usize, u64> = HashMap::new();
    // Anchor and size of each part that is not closed yet; the document itself is the last to be.
    let mut open = vec![(0, 0_u64)];
    let mut added = 0_u64;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        let (anchor, size) = match event {
            Event::Scalar(text, _, anchor, _) => (anchor, VALUE + text.len() as u64),
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                if open.len() > MOST_DEEP {
                    return Err(format!("it is nested deeper than {MOST_DEEP} levels"));
                }
                open.push((anchor, VALUE));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().unwrap_or_default(),
            Event::Alias(anchor) => {
                // One within its own part has no size yet; whoever builds it refuses it.
                let size = sizes.get(&anchor).copied().unwrap_or_default();
                added = added.saturating_add(size);
                if added > MOST_ADDED {
                    return Err(format!("its aliases stand for more than {MOST_ADDED} bytes"));
                }
                (0, size)
            }
            Event::DocumentEnd => return Ok(()),
            _ => continue,
        };
        if anchor > 0 {
            sizes.insert(anchor, size);
        }
        if let Some((_, whole)) = open.last_mut() {
            *whole = whole.saturating_add(size);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_without_end_is_refused_before_it_is_built() {
        let mut bomb = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
        for at in 1..10 {
            let aliases = vec![format!("*a{}", at - 1); 9].join(", ");
            bomb += &format!("a{at}: &a{at} [{aliases}]\n");
        }
        assert!(check(&bomb).unwrap_err().contains("aliases stand for more than"));
        // Few aliases of something large grow as well, and are within every limit on their number.
        let large = format!("a: &a '{}'\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 100].join(", "));
        assert!(check(&large).unwrap_err().contains("aliases stand for more than"));
        // The parser has a limit of its own for brackets.
        assert!(check(&format!("a: {}", "[".repeat(1_000_000))).unwrap_err().starts_with("recursion limit exceeded"));
        let deep = "- ".repeat(1_000_000);
        assert_eq!(check(&deep).unwrap_err(), "it is nested deeper than 128 levels");
        assert_eq!(check("a: &a {b: 1}\nc: [*a, *a]\n"), Ok(()));
        assert!(check("a: [\n").is_err());
    }
}
