//! A rule's text with places that may be anything, followed through the text of a transcript.

use loupe_core::host::HOLE;

pub(super) fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric()
}

/// How what is hidden in a record begins; it ends with `]`.
pub(super) const HIDDEN: &str = "[hidden:";

/// A text as the pieces between what may be anything.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut start = 0;
    loop {
        let hole = rest[start..]
            .find(HOLE)
            .map(|at| (start + at, HOLE.len_utf8()));
        let hidden = rest[start..].find(HIDDEN).and_then(|at| {
            let at = start + at;
            let kind = &rest[at + HIDDEN.len()..];
            let end = kind.find(']')?;
            let is_mark = kind[..end]
                .chars()
                .all(|char| is_word(char) || matches!(char, '-' | '_' | '.'));
            is_mark.then_some((at, HIDDEN.len() + end + 1))
        });
        let next = [hole, hidden].into_iter().flatten().min();
        match next {
            Some((at, length)) => {
                pieces.push(&rest[..at]);
                rest = &rest[at + length..];
                start = 0;
            }
            None => {
                pieces.push(rest);
                return pieces;
            }
        }
    }
}

/// Follows the pieces of a rule's text through the given one.
///
/// # Errors
/// The piece that does not go on, how far it does, and where that is in the given text.
pub(super) fn follow(pieces: &[&str], given: &str) -> Result<(), (usize, usize, usize)> {
    let mut at = 0;
    let last = pieces.len() - 1;
    for (position, piece) in pieces.iter().enumerate() {
        let rest = &given[at..];
        let found = match position {
            0 => rest.starts_with(piece).then_some(0),
            _ if position == last && piece.is_empty() => Some(rest.len()),
            _ if position == last => rest
                .ends_with(piece)
                .then(|| rest.len() - piece.len())
                .filter(|at| *at > 0),
            // What was anything is at least one character.
            _ => rest
                .char_indices()
                .nth(1)
                .and_then(|(next, _)| Some(next + rest[next..].find(piece)?)),
        };
        let is_whole =
            position < last || found.is_some_and(|found| found + piece.len() == rest.len());
        match found.filter(|_| is_whole) {
            Some(found) => at += found + piece.len(),
            None => {
                // The first words of the piece say where it goes on.
                let begin = &piece[..piece.floor_char_boundary(24)];
                let begin = begin.split_inclusive('\n').next().unwrap_or(begin);
                let start = match position {
                    0 => 0,
                    _ => rest.find(begin).unwrap_or(0),
                };
                let same = common(piece, &rest[start..]);
                return Err((position, same, at + start + same));
            }
        }
    }
    Ok(())
}

/// Bytes that both begin with, up to a character.
pub(super) fn common(one: &str, other: &str) -> usize {
    let same = one
        .bytes()
        .zip(other.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    one.floor_char_boundary(same)
        .min(other.floor_char_boundary(same))
}
