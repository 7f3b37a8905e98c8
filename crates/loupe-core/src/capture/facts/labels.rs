//! Compares labels with the keys of fields, by their words.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use foldhash::HashSet;

/// The longest label, in words.
pub(in crate::capture) const LABEL_WORDS: usize = 6;
/// How many fields one label may stand for before it stands for none.
const MAX_OWNERS: usize = 64;

/// The words of a key or label in lower case, joined by spaces.
pub(in crate::capture) fn spoken(key: &str) -> String {
    let mut words = String::with_capacity(key.len() + 8);
    let mut before = ' ';
    for char in key.chars() {
        if !char.is_alphanumeric() {
            before = ' ';
            continue;
        }
        let begins = before == ' '
            || (char.is_uppercase() && !before.is_uppercase())
            || char.is_ascii_digit() != before.is_ascii_digit();
        if begins && !words.is_empty() {
            words.push(' ');
        }
        words.extend(char.to_lowercase());
        before = char;
    }
    words
}

/// A key or label with its case style undone: `companyName`, `Company Name` and `company-name` are `company name`. Any other
/// sign is kept: `+1` is no `-1`, and `!active` no `active`.
pub(super) fn case_words(key: &str) -> String {
    let mut words = String::with_capacity(key.len() + 8);
    let mut chars = key.trim().chars().peekable();
    let mut before = None::<char>;
    while let Some(char) = chars.next() {
        let is_between = before.is_some_and(char::is_alphanumeric)
            && chars.peek().is_some_and(|next| next.is_alphanumeric());
        if matches!(char, '_' | '-' | ' ') && is_between {
            words.push(' ');
            before = None;
            continue;
        }
        let begins = before.is_some_and(|before| {
            let is_word = before.is_alphanumeric() && char.is_alphanumeric();
            is_word
                && ((char.is_uppercase() && !before.is_uppercase())
                    || char.is_ascii_digit() != before.is_ascii_digit())
        });
        if begins {
            words.push(' ');
        }
        words.extend(char.to_lowercase());
        before = Some(char);
    }
    words
}

/// The last word of a key, as [`spoken`].
pub(super) fn last_word(key: &str) -> String {
    spoken(key)
        .rsplit(' ')
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// The words without those that say little; all where there are no others.
fn significant(mut words: Vec<&str>) -> Vec<&str> {
    let is_significant =
        |word: &&str| !["is", "has", "to", "at", "by", "of", "the", "on", "in"].contains(word);
    if words.iter().any(is_significant) {
        words.retain(is_significant);
    }
    words
}

/// The keys of the data as labels are compared with them: their words, and the beginnings and ends of these.
#[derive(Debug, Default)]
pub(crate) struct KeyWords(HashSet<String>);

impl KeyWords {
    pub(super) fn new<'k>(keys: impl Iterator<Item = &'k String>) -> Self {
        let mut all: HashSet<String> = HashSet::default();
        for key in keys.filter(|key| !key.is_empty()) {
            let parts: Vec<&str> = key.split(' ').collect();
            for cut in 0..parts.len().min(LABEL_WORDS) {
                all.insert(parts[cut..].join(" "));
                all.insert(parts[..parts.len() - cut].join(" "));
            }
        }
        Self(all)
    }

    pub(in crate::capture) fn has(&self, label: &str) -> bool {
        self.0.contains(&spoken(label))
    }
}

/// How well a label names a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    None,
    /// `Last Modified` for `lastModifiedDate`, `Type` for `companyType`.
    Loose,
    /// The same words; `Status` for `statusName` too.
    Exact,
}

/// A field of a record, made when a label is compared with it.
#[derive(Debug)]
pub(super) struct Field {
    /// The words of its key after those of the last keys around it, outermost first, as [`spoken`].
    path: String,
    /// Where those of its own key begin.
    own: usize,
}

impl Field {
    /// By its keys, its own first.
    pub(super) fn of<'k>(keys: impl IntoIterator<Item = Cow<'k, str>>) -> Self {
        let mut keys: Vec<String> = keys.into_iter().map(|key| spoken(&key)).collect();
        let own = keys.first().map_or(0, String::len);
        keys.retain(|words| !words.is_empty());
        keys.reverse();
        let path = keys.join(" ");
        Self {
            own: path.len() - own,
            path,
        }
    }

    /// How well a label names it, whose words are [`spoken`].
    pub(super) fn fit(&self, label: &str) -> Fit {
        let all_in = |a: &[&str], b: &[&str]| {
            !a.is_empty()
                && a.iter()
                    .all(|word| b.iter().any(|other| same_stem(word, other)))
        };
        let is_whole = self.path == label;
        let words = |spoken| significant(str::split_whitespace(spoken).collect());
        let (own, path, given) = (
            words(&self.path[self.own..]),
            words(&self.path),
            words(label),
        );
        // `Not archived` is no label of `archived`.
        let denies = |words: &[&str]| {
            words
                .iter()
                .any(|word| ["not", "non", "no", "never", "without"].contains(word))
        };
        if denies(&given) != denies(&path) {
            return Fit::None;
        }
        let is_same = |a: &[&str]| a.len() == given.len() && all_in(a, &given);
        let is_name_of = || own.strip_suffix(&["name"]).is_some_and(is_same);
        if is_whole || is_same(&own) || is_same(&path) || is_name_of() {
            Fit::Exact
        } else if all_in(&given, &path) || all_in(&own, &given) {
            Fit::Loose
        } else {
            Fit::None
        }
    }
}

/// `created` and `create`, `notes` and `note`.
pub(super) fn same_stem(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short == long || (short.len() >= 4 && long.len() - short.len() <= 2 && long.starts_with(short))
}

/// What words of one stem have in common.
fn stem(word: &str) -> &str {
    word.char_indices()
        .nth(4)
        .map_or(word, |(at, _)| &word[..at])
}

/// The fields of one kind of record, and which of them a label stands for.
pub(super) struct FieldSet {
    fields: Vec<u32>,
    by_stem: HashMap<String, Vec<usize>>,
    known: HashMap<u32, Rc<[u32]>>,
}

impl FieldSet {
    pub(super) fn of(fields: Vec<u32>, named: impl Fn(u32) -> Field) -> Self {
        let mut by_stem: HashMap<String, Vec<usize>> = HashMap::new();
        for (position, field) in fields.iter().enumerate() {
            for word in named(*field).path.split_whitespace() {
                let list = by_stem.entry(stem(word).to_owned()).or_default();
                if list.last() != Some(&position) {
                    list.push(position);
                }
            }
        }
        Self {
            fields,
            by_stem,
            known: HashMap::new(),
        }
    }

    /// The fields that a label names best; none where it names none or too many.
    pub(super) fn owners(
        &mut self,
        name: u32,
        label: &str,
        named: impl Fn(u32) -> Field,
    ) -> Rc<[u32]> {
        if let Some(known) = self.known.get(&name) {
            return Rc::clone(known);
        }
        let mut candidates: Vec<usize> = label
            .split_whitespace()
            .filter_map(|word| self.by_stem.get(stem(word)))
            .filter(|list| list.len() <= MAX_OWNERS)
            .flatten()
            .copied()
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        let fit = |at: usize| (named(self.fields[at]).fit(label), self.fields[at]);
        let fits: Vec<(Fit, u32)> = candidates.into_iter().map(fit).collect();
        let best = fits.iter().map(|(fit, _)| *fit).max().unwrap_or(Fit::None);
        let owners: Rc<[u32]> = match best {
            Fit::None => Rc::new([]),
            best => fits
                .iter()
                .filter(|(fit, _)| *fit == best)
                .map(|(_, field)| *field)
                .collect(),
        };
        self.known.insert(name, Rc::clone(&owners));
        owners
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field by its keys, its own first.
    fn field(keys: &[&'static str]) -> Field {
        Field::of(keys.iter().copied().map(Cow::Borrowed))
    }

    fn fit(key: &'static str, label: &str) -> Fit {
        field(&[key]).fit(&spoken(label))
    }

    #[test]
    fn labels_fit_keys() {
        for (key, label) in [
            ("lastModifiedDate", "Last Modified"),
            ("companyType", "Type"),
            ("address1", "Address"),
            ("createDate", "Created"),
            ("assignedResourceName", "Assigned To"),
        ] {
            assert_eq!(fit(key, label), Fit::Loose, "{key} {label}");
        }
        for (key, label) in [
            ("isActive", "Active"),
            ("companyID", "Company ID"),
            ("address1", "Address 1"),
            ("statusName", "Status"),
            ("to", "To"),
        ] {
            assert_eq!(fit(key, label), Fit::Exact, "{key} {label}");
        }
        for (key, label) in [
            ("companyName", "Company ID"),
            ("phone", "Address"),
            ("totalCount", "Total Size"),
            ("address2", "Address 1"),
        ] {
            assert_eq!(fit(key, label), Fit::None, "{key} {label}");
        }
        assert_eq!(field(&["to", "nodeB"]).fit(&spoken("nodeB.to")), Fit::Exact);
        assert_eq!(
            field(&["code", "from"]).fit(&spoken("from.code")),
            Fit::Exact
        );
    }

    #[test]
    fn a_case_style_is_undone_and_no_sign_is_lost() {
        for same in [
            "companyName",
            "Company Name",
            "company_name",
            "COMPANY-NAME",
            "company name",
        ] {
            assert_eq!(case_words(same), "company name");
        }
        assert_eq!(
            [case_words("address1"), case_words("Address 1")],
            ["address 1", "address 1"]
        );
        for (a, b) in [
            ("+1", "-1"),
            ("!active", "active"),
            ("-price", "price"),
            ("~~a~~", "a"),
            ("C++", "C#"),
            ("_id", "id"),
            ("👍", "👎"),
            ("a  b", "a b"),
        ] {
            assert_ne!(case_words(a), case_words(b));
        }
    }

    #[test]
    fn a_label_stands_for_the_fields_that_it_names_best() {
        let named = |at: u32| field(&[["name", "firstName", "contact"][at as usize]]);
        let mut set = FieldSet::of(vec![0, 1, 2], named);
        assert_eq!(*set.owners(0, &spoken("Name"), named), [0]);
        assert_eq!(*set.owners(1, &spoken("First name"), named), [1]);
        assert_eq!(*set.owners(2, &spoken("Contact name"), named), [0, 2]);
        assert!(set.owners(3, &spoken("Country"), named).is_empty());
    }
}
