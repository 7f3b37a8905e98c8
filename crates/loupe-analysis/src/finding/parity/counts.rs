//! How many there are, as the text, the data and the length of the list have it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::finding::CheckedResult;
use crate::finding::result::near;
use crate::finding::rule::{Hits, RulePattern};
use crate::finding::tool::{singular, words};
use loupe_core::capture::ResultData;
use loupe_core::json::{Kind, Node};
use loupe_core::layout::line_from;

pub(crate) const TOTALS: [&str; 5] = [
    "totalCount",
    "total",
    "total_count",
    "totalResults",
    "hitsTotal",
];
const COUNTS: [&str; 5] = [
    "count",
    "returned",
    "returnedCount",
    "resultCount",
    "numResults",
];
/// Members that lead to the next page, and are null on the last.
const CURSORS: [&str; 4] = [
    "nextCursor",
    "next_cursor",
    "nextPageToken",
    "next_page_token",
];
/// What any list may be of.
const ANYTHING: [&str; 14] = [
    "result", "match", "record", "item", "entry", "row", "hit", "object", "data", "element",
    "list", "value", "output", "response",
];
/// Words by which a text says that it shows a part.
const PART: [&str; 9] = [
    "showing",
    "displaying",
    " of ",
    "page",
    "first ",
    "top ",
    "more",
    "truncated",
    "limit",
];

/// A member of the data that counts, at its top or one below.
fn counter<'a>(data: &'a ResultData, names: &[&str]) -> Option<(Node<'a>, u64)> {
    near(data.root())
        .filter(|node| node.key().is_some_and(|key| names.contains(&&*key)))
        .find_map(|node| Some((node, u64::try_from(node.as_i64()?).ok()?)))
}

/// Numbers that a text may write as words, by position.
const WORDS: [&str; 13] = [
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
];

fn number(stated: &Captures<'_>, name: &str) -> Option<u64> {
    let stated = stated.name(name)?.as_str();
    let word = WORDS
        .iter()
        .position(|word| stated.eq_ignore_ascii_case(word));
    word.map(|at| at as u64)
        .or_else(|| stated.replace(',', "").parse().ok())
}

/// The one list that the result is about: its records, else the only list there is. Its length and its name, which is empty
/// where it has none.
fn listed_count(answer: &CheckedResult<'_>, data: &ResultData) -> Option<(u64, String)> {
    let name = |list: Node<'_>| list.key().map(|key| key.into_owned()).unwrap_or_default();
    if let Some(list) = answer.records() {
        return Some((list.len() as u64, name(list)));
    }
    let is_list = |node: &Node<'_>| node.kind() == Kind::Array;
    let root = data.root();
    let mut lists = if is_list(&root) {
        vec![root]
    } else {
        root.children().filter(is_list).collect()
    };
    let list = lists.pop().filter(|_| lists.is_empty())?;
    Some((list.len() as u64, name(list)))
}

/// How many of what a text says that there are, at the beginning of a line.
struct CountInText {
    place: Range<usize>,
    count: u64,
    /// The words next to the number, in the singular.
    of: Vec<String>,
    /// Whether the words must name the list, since the number may be of anything: `Acme (12)`, `No errors found`.
    is_of_words: bool,
}

/// The kinds in which the number stands before a colon, and in brackets after a title.
const BEFORE_COLON: usize = 4;
const HEADING: usize = 5;
/// So many are read.
const MOST: usize = 20;

/// The first of them outside of what `skip` covers.
fn counts_in_text(text: &str, skip: &Range<usize>) -> Vec<CountInText> {
    static SAID: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words = WORDS.join("|");
        let (number, of) = (
            format!(r"(?P<N>\d[\d,]*|(?-u:\b)(?:{words})(?-u:\b))"),
            r"(?P<OF>[*_`]{0,2}(?: [A-Za-z][\w-]*){1,3})",
        );
        let kinds = [
            format!(
                r"(?:found|returned|retrieved|fetched|listed|there (?:are|is)|total(?: of)?)[^\w\n]{{1,4}}{number}{of}"
            ),
            format!(r"{number}{of} (?:were )?(?:found|matched|returned)(?-u:\b)")
                .replace("{1,3}", "{0,3}?"),
            format!(
                r"{number}(?P<OF> (?:results?|matches|match|records?|items?|entries|entry|rows?|hits?))(?-u:\b)"
            ),
            format!(
                r"(?:results|matches|found|total(?P<OF>(?: [A-Za-z][\w-]*){{1,2}}))[^\w\n]{{0,3}}:[^\w\n]{{1,4}}{number}[^\w\n]*$"
            ),
            format!(r"{number}{of}:[^\w\n]*$"),
            r"(?P<OF>[A-Za-z][\w-]*(?: [\w-]+){0,2}) \((?P<N>\d[\d,]*)\)[^\w\n]*$".to_owned(),
        ];
        let named = |(at, kind): (usize, &String)| {
            kind.replace("<N>", &format!("<n{at}>"))
                .replace("<OF>", &format!("<of{at}>"))
        };
        let all: Vec<_> = kinds.iter().enumerate().map(named).collect();
        Regex::new(&format!(r"(?im)^[^\w\n]{{0,12}}(?:{})", all.join("|"))).ok()
    });
    let read = |stated: Captures<'_>| {
        let at = (0..=HEADING).find(|at| stated.name(&format!("n{at}")).is_some())?;
        let end = stated.name(&format!("n{at}"))?.end();
        let is_word = !stated[&*format!("n{at}")].starts_with(|char: char| char.is_ascii_digit());
        // `3.5`, `3/4`, `3 %` count nothing.
        let after = text[end..].trim_start_matches(' ');
        let is_count = !after.starts_with(['.', '/', '%', ':', '-']) || after.starts_with(".\n");
        let of = stated.name(&format!("of{at}")).map_or("", |of| of.as_str());
        let of = words(of).into_iter().map(|word| singular(&word)).collect();
        let place = stated.get(0)?.range();
        let stated = CountInText {
            place,
            count: number(&stated, &format!("n{at}"))?,
            of,
            is_of_words: at >= BEFORE_COLON || is_word,
        };
        (is_count && !skip.contains(&stated.place.start)).then_some(stated)
    };
    SAID.iter()
        .flat_map(|pattern| pattern.captures_iter(text))
        .take(MOST)
        .filter_map(read)
        .collect()
}

impl CountInText {
    /// Whether it counts the list of this name.
    fn is_of(&self, list: &str) -> bool {
        let list: Vec<String> = words(list)
            .into_iter()
            .map(|word| singular(&word))
            .collect();
        let is_anything = |word: &String| ANYTHING.contains(&word.as_str());
        let is_named = self.of.iter().any(|word| list.contains(word));
        let may_be_any =
            list.iter().all(is_anything) || self.of.is_empty() || self.of.iter().any(is_anything);
        is_named || !self.is_of_words && may_be_any
    }
}

pub(crate) fn counts_disagree(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(data) = answer.exact_data() else {
        return;
    };
    let total = counter(data, &TOTALS);
    if let Some(list) = answer.records() {
        in_data(answer, data, total, list.len() as u64, hits);
    }
    if !answer.is_success() || answer.text.trim().is_empty() {
        return;
    }
    static SHOWING: RulePattern = RulePattern::new(
        r"(?i)(?-u:\b)showing (?:the )?(?:first )?(?P<shown>\d[\d,]*) of (?P<all>\d[\d,]*)",
    );
    let list = listed_count(answer, data);
    if let Some(records) = answer.records().filter(|_| data.is_structured()) {
        let listed = records.len() as u64;
        for stated in SHOWING.captures_iter(&answer.text).take(MOST) {
            let (Some(shown), Some(of)) = (number(&stated, "shown"), number(&stated, "all")) else {
                continue;
            };
            if shown != listed || total.is_some_and(|(_, total)| total != of) {
                let place = stated.get(0).map_or(0..0, |all| all.range());
                hits.report(format!(
                    "the text says {shown} of {of}; {listed} are listed"
                ))
                .at(answer.text_at(place));
            }
        }
    }
    // The data's own text counts nothing of the list.
    let own = data.place_in_text(data.root(), &answer.subject.response);
    if own.is_none() && !data.is_structured() {
        return;
    }
    let is_ours = |stated: &CountInText| match &list {
        Some((_, name)) => stated.is_of(name),
        None => !stated.is_of_words,
    };
    let Some(stated) = counts_in_text(&answer.text, &own.unwrap_or(0..0))
        .into_iter()
        .find(is_ours)
    else {
        return;
    };
    let is_quoted = || {
        let is_in = |place: &Range<usize>| {
            place.start <= stated.place.start && stated.place.start < place.end
        };
        answer
            .strings_in_text()
            .iter()
            .any(|(_, place)| is_in(place))
    };
    let count = counter(data, &COUNTS);
    let told =
        |node: Node<'_>, count: u64| format!("`{}` is {count}", node.key().unwrap_or_default());
    let line = line_from(&answer.text, stated.place.start).text;
    match list {
        Some((listed, _)) => {
            let text = answer.lower_text();
            let says_part = PART.iter().any(|word| text.contains(word))
                || answer.says_more().is_some_and(|(_, more)| more);
            // The line may tell both: `3 files, 12 matches`.
            let is_told = line
                .split(|char: char| !char.is_ascii_digit() && char != ',')
                .any(|word| word == listed.to_string());
            match total.filter(|(_, total)| *total != stated.count) {
                _ if stated.count == listed || is_told || is_quoted() => {}
                Some((node, total)) => {
                    let message = format!(
                        "the text says {}; {}, and {listed} are listed",
                        stated.count,
                        told(node, total)
                    );
                    hits.report(message)
                        .at(answer.text_at(stated.place))
                        .at(answer.data_at(node));
                }
                None if says_part => {}
                None => {
                    let message = format!(
                        "the text says {}; {listed} are listed, and nothing says that it is a part",
                        stated.count
                    );
                    hits.report(message).at(answer.text_at(stated.place));
                }
            }
        }
        // No list says what is counted: only a count that stands alone is of the same thing.
        None => {
            let known = [total, count].into_iter().flatten();
            if let ([(node, count)], false) = (&*known.collect::<Vec<_>>(), is_quoted())
                && *count != stated.count
            {
                hits.report(format!(
                    "the text says {}; {}",
                    stated.count,
                    told(*node, *count)
                ))
                .at(answer.text_at(stated.place))
                .at(answer.data_at(*node));
            }
        }
    }
}

/// The data against itself.
fn in_data(
    answer: &CheckedResult<'_>,
    data: &ResultData,
    total: Option<(Node<'_>, u64)>,
    listed: u64,
    hits: &mut Hits<'_>,
) {
    let told = |node: Node<'_>, count: u64| {
        format!(
            "`{}` is {count}, and {listed} are listed",
            node.key().unwrap_or_default()
        )
    };
    if let Some((node, total)) = total.filter(|(_, total)| *total < listed) {
        hits.report(told(node, total)).at(answer.data_at(node));
    }
    // A member `count` may be the total where no other is.
    let count = counter(data, &["count", "returned"]).filter(|(_, count)| *count != listed);
    if let Some((node, count)) = count.filter(|(_, count)| total.is_some() || *count < listed) {
        hits.report(told(node, count)).at(answer.data_at(node));
    }
}

pub fn has_more(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let (Some(data), Some(list)) = (answer.exact_data(), answer.records()) else {
        return;
    };
    let listed = list.len() as u64;
    let total = counter(data, &TOTALS).map(|(_, total)| total);
    let is_first = counter(data, &["offset", "skip", "page"]).is_none_or(|(_, at)| at <= 1);
    let last = near(data.root()).find(|node| {
        node.kind() == Kind::Null && node.key().is_some_and(|key| CURSORS.contains(&&*key))
    });
    if let (Some(node), Some(total)) = (
        last,
        total.filter(|total| *total > listed && is_first && !answer.asks_for_page()),
    ) {
        let key = node.key().unwrap_or_default();
        hits.report(format!(
            "`{key}` is null, and {listed} of {total} are listed"
        ))
        .at(answer.data_at(node));
    }
    let Some((node, more)) = answer.says_more() else {
        return;
    };
    let key = node.key().unwrap_or_default();
    let says = |words: &[&str]| {
        words
            .iter()
            .any(|words| answer.lower_text().contains(words))
    };
    if more && is_first && total.is_some_and(|total| total <= listed) {
        hits.report(format!("`{key}` is true, but all {listed} are listed"))
            .at(answer.data_at(node));
    } else if !more && is_first && total.is_some_and(|total| total > listed) {
        hits.report(format!(
            "`{key}` is false, and {listed} of {} are listed",
            total.unwrap_or_default()
        ))
        .at(answer.data_at(node));
    } else if more
        && says(&[
            "all results shown",
            "that is all",
            "that's all",
            "no more results",
        ])
        || !more && says(&["truncated**"])
    {
        hits.report(format!("`{key}` is {more}, and the text says the opposite"))
            .at(answer.data_at(node));
    }
}
