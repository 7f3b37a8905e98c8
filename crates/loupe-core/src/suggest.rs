//! Names near to a mistyped one, for hints.

/// At most this many are named.
const LIMIT: usize = 4;

/// The known names that are most like `word`, best first; empty where none is.
pub fn near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_lowercase();
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let within = !word.is_empty()
                && (lower.contains(&word) || (lower.len() > 2 && word.contains(&lower)));
            let far = distance(&word, &lower);
            // A third of the letters may be wrong.
            let limit = word.chars().count().max(lower.chars().count()) / 3;
            (within || far <= limit).then_some((if within { far.min(limit) } else { far }, name))
        })
        .collect();
    found.sort();
    found
        .into_iter()
        .take(LIMIT)
        .map(|(_, name)| name)
        .collect()
}

/// A hint such as "did you mean `a` or `b`"; `None` where nothing is near.
pub fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let names: Vec<String> = near(word, known)
        .iter()
        .map(|name| format!("`{name}`"))
        .collect();
    let (last, rest) = names.split_last()?;
    Some(if rest.is_empty() {
        format!("did you mean {last}")
    } else {
        format!("did you mean {} or {last}", rest.join(", "))
    })
}

/// Levenshtein's distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, from) in a.chars().enumerate() {
        let mut diagonal = line;
        row[0] = line + 1;
        for (column, &to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != to);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_best_first() {
        let known = [
            "dual_search_companies",
            "strict_search_companies",
            "dual_search_tickets",
            "dial_delete_user",
        ];
        assert_eq!(
            near("dual_serch_companies", known)[0],
            "dual_search_companies"
        );
        assert_eq!(
            near("search_companies", known),
            ["dual_search_companies", "strict_search_companies"]
        );
        assert_eq!(near("zzz", known), [""; 0]);
        assert_eq!(
            hint("dial_delete", known).unwrap(),
            "did you mean `dial_delete_user`"
        );
    }

    #[test]
    fn distances() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "é"), 1);
        assert_eq!(distance("a", ""), 1);
    }
}
