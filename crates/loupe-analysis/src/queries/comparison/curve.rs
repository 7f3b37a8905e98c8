//! What a result costs as it grows: points of a comparison over a page size, a straight line through those of each
//! format, and where the line meets a limit.

use super::{ComparedCall, Comparison, shown};
use loupe_core::capture::Outcome;
use loupe_core::capture::facts::record_lists;
use loupe_core::format::{FORMATS, Format};
use loupe_core::json::Node;
use loupe_core::number::grouped;
use loupe_core::reader::begins_as_json;
use loupe_core::token::Encoding;

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    Tokens(Encoding),
    Bytes,
    /// Unicode scalar values.
    Chars,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Tokens(_) => "tokens",
            Unit::Bytes => "bytes",
            Unit::Chars => "characters",
        }
    }
}

/// A limit to be drawn in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Whose it is, such as a host's title.
    pub name: String,
    pub unit: Unit,
    pub at: u64,
}

/// One result, as measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub items: u64,
    /// In the curve's unit.
    pub cost: u64,
}

/// `cost = base + each × items`, by least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearFit {
    /// What a result without items would cost.
    pub base: f64,
    /// What one item more costs.
    pub each: f64,
}

impl LinearFit {
    /// What a result without items would cost, in words; "–" where the line, which may not fit so far down, would give
    /// less than nothing.
    pub fn base_text(&self) -> String {
        if self.base.round() < 0.0 {
            "–".to_owned()
        } else {
            format!("{:.0}", self.base.max(0.0))
        }
    }

    /// The line through the points; `None` where all have as many items.
    fn through(points: &[Point]) -> Option<Self> {
        let count = points.len() as f64;
        // Counts are far below 2^53.
        let mean = |of: fn(&Point) -> u64| {
            points.iter().map(|point| of(point) as f64).sum::<f64>() / count
        };
        let (items, cost) = (mean(|point| point.items), mean(|point| point.cost));
        let (mut both, mut spread) = (0.0, 0.0);
        for point in points {
            let away = point.items as f64 - items;
            both += away * (point.cost as f64 - cost);
            spread += away * away;
        }
        (spread > 0.0).then(|| Self {
            base: cost - both / spread * items,
            each: both / spread,
        })
    }

    pub fn at(self, items: f64) -> f64 {
        self.base + self.each * items
    }

    /// How many items fit under a limit; `None` where more items cost nothing more.
    pub fn items_at(self, limit: u64) -> Option<u64> {
        if self.each <= 0.0 {
            return None;
        }
        // Below 2^53, and a negative number of items is none.
        Some(
            ((limit as f64 - self.base) / self.each + 1e-9)
                .floor()
                .max(0.0) as u64,
        )
    }
}

/// One format's points.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveSeries {
    pub format: &'static str,
    pub title: &'static str,
    /// By items.
    pub points: Vec<Point>,
    /// `None` with fewer than two different numbers of items.
    pub line: Option<LinearFit>,
}

/// The curve of a comparison over a page size.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub unit: Unit,
    /// In the order of the formats; those that no result has are left out.
    pub series: Vec<CurveSeries>,
    /// Whether the items were counted in the data; otherwise the number asked for is taken for that which came.
    pub is_counted: bool,
    /// What the items are called: "companies", or "items".
    pub noun: String,
    /// Calls that give no point, by their value, and why.
    pub left_out: Vec<(String, &'static str)>,
}

impl Curve {
    /// The curve of calls whose value is the number of items asked for.
    pub fn new(calls: &[ComparedCall], unit: Unit) -> Self {
        let answered = |call: &ComparedCall| call.subject.capture.outcome == Outcome::Result;
        let is_counted = calls
            .iter()
            .any(|call| answered(call) && count_call(call).is_some());
        let mut left_out = Vec::new();
        let mut measured: Vec<(u64, &ComparedCall)> = Vec::new();
        for call in calls {
            let items = if is_counted {
                count_call(call)
            } else {
                shown(&call.value).parse().ok()
            };
            match items {
                _ if !answered(call) => left_out.push((shown(&call.value), "no answer came")),
                Some(items) => measured.push((items, call)),
                // It would bend the line.
                None if is_broken(call) => left_out.push((shown(&call.value), BROKEN)),
                None if is_counted => {
                    left_out.push((shown(&call.value), "no records can be counted in it"))
                }
                None => left_out.push((shown(&call.value), "not a number of items")),
            }
        }
        measured.sort_by_key(|(items, _)| *items);
        let series = FORMATS.iter().filter_map(|format| {
            let points: Vec<Point> = measured
                .iter()
                .filter_map(|(items, call)| {
                    let row = call.row(format.id()).filter(|row| row.is_available())?;
                    let cost = match unit {
                        Unit::Tokens(encoding) => row.tokens.get(encoding),
                        Unit::Bytes => row.bytes,
                        Unit::Chars => row.chars,
                    };
                    Some(Point {
                        items: *items,
                        cost,
                    })
                })
                .collect();
            let line = LinearFit::through(&points);
            (!points.is_empty()).then(|| CurveSeries {
                format: format.id(),
                title: Format::title(*format),
                points,
                line,
            })
        });
        Self {
            unit,
            series: series.collect(),
            is_counted,
            noun: noun(calls),
            left_out,
        }
    }

    /// "546 tok for 5 · 5,174 for 50 · 8,416 for 200 (no whole JSON)": what each answer costs.
    pub fn headline(&self, comparison: &Comparison) -> String {
        let answers = comparison
            .columns
            .iter()
            .filter(|column| column.is_offered());
        let answers = answers.filter(|column| column.is_answer());
        let parts = answers.enumerate().map(|(at, column)| {
            let value = column.value_title();
            let (count, unit) = match self.unit {
                Unit::Tokens(encoding) => (column.row.tokens.get(encoding), "tok"),
                Unit::Bytes => (column.row.bytes, "bytes"),
                Unit::Chars => (column.row.chars, "characters"),
            };
            let unit = if at == 0 {
                format!(" {unit}")
            } else {
                String::new()
            };
            let is_broken = self
                .left_out
                .iter()
                .any(|(of, why)| of == value && *why == BROKEN);
            let broken = match is_broken {
                true => format!(" ({BROKEN})"),
                false => String::new(),
            };
            format!("{}{unit} for {value}{broken}", grouped(count))
        });
        parts.collect::<Vec<_>>().join(" · ")
    }

    /// The most items that were measured.
    pub fn measured(&self) -> u64 {
        self.series
            .iter()
            .flat_map(|series| &series.points)
            .map(|point| point.items)
            .max()
            .unwrap_or(0)
    }

    pub fn series(&self, format: &str) -> Option<&CurveSeries> {
        self.series.iter().find(|series| series.format == format)
    }

    /// What the server sends: `both`, else the one part that there is.
    pub fn as_sent(&self) -> Option<&CurveSeries> {
        ["both", "content", "structured"]
            .iter()
            .find_map(|id| self.series(id))
    }

    /// The sentence: "Within 25,000 tokens there is room for 242 companies as sent, 351 as compact JSON; measured up to 50."
    /// `None` where there is no line to tell by, or the limit counts something else.
    pub fn sentence(&self, limit: &Limit) -> Option<String> {
        let sent = self.as_sent()?;
        let line = sent.line.filter(|_| limit.unit == self.unit)?;
        let whose = if limit.name.is_empty() {
            String::new()
        } else {
            format!(" ({})", limit.name)
        };
        let place = format!("Within {} {}{whose}", grouped(limit.at), self.unit.name());
        let Some(items) = line.items_at(limit.at) else {
            return Some(format!(
                "{place} there is room for any number: more {} cost no more.",
                self.noun
            ));
        };
        let json = self
            .series("json")
            .filter(|json| json.points != sent.points)
            .and_then(|json| json.line);
        let json = json.and_then(|line| line.items_at(limit.at));
        let compact = json.map_or_else(String::new, |items| {
            format!(", {} as compact JSON", grouped(items))
        });
        let measured = self.measured();
        let beyond = if items.max(json.unwrap_or(0)) > measured {
            format!("; measured up to {}", grouped(measured))
        } else {
            String::new()
        };
        Some(format!(
            "{place} there is room for {} {} as sent{compact}{beyond}.",
            grouped(items),
            self.noun
        ))
    }
}

/// What the items are called: the list's own name, else the last word of the tool's, where that is a plural that says
/// something.
fn noun(calls: &[ComparedCall]) -> String {
    const OF_ANYTHING: [&str; 12] = [
        "items", "data", "results", "rows", "entries", "values", "nodes", "elements", "hits",
        "matches", "objects", "details",
    ];
    let is_plural = |word: &str| {
        let is_word = word.len() > 3
            && word.ends_with('s')
            && word.bytes().all(|byte| byte.is_ascii_lowercase());
        is_word && !OF_ANYTHING.contains(&word)
    };
    let own = calls.iter().find_map(|call| {
        match record_lists(call.subject.data.as_ref()?.root()).as_slice() {
            [list] => list.key().map(|key| key.into_owned()),
            _ => None,
        }
    });
    let tool = calls.first().and_then(|call| {
        call.subject
            .capture
            .tool
            .name
            .rsplit(['_', '-', '.', '/'])
            .next()
            .map(str::to_owned)
    });
    [own, tool]
        .into_iter()
        .flatten()
        .find(|word| is_plural(word))
        .unwrap_or_else(|| "items".to_owned())
}

const BROKEN: &str = "no whole JSON";

/// Whether its text begins as JSON and is none as a whole, as of an answer that was cut.
fn is_broken(call: &ComparedCall) -> bool {
    let mut texts = call.subject.response.text_blocks();
    call.subject.data.is_none()
        && texts
            .next()
            .and_then(|block| block.text.as_deref())
            .is_some_and(begins_as_json)
}

/// The records in a result's data.
fn count_call(call: &ComparedCall) -> Option<u64> {
    let data = call.subject.data.as_ref()?;
    match record_lists(data.root()).as_slice() {
        [list] => Some(list.len() as u64),
        // An empty list is no list of records, but a number of items all the same.
        [] => {
            let root = data.root();
            let mut lists = std::iter::once(root)
                .chain(root.children())
                .filter(|node| node.kind() == loupe_core::json::Kind::Array);
            let only = lists.next().filter(|_| lists.next().is_none());
            only.map(Node::len).map(|len| len as u64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::comparison::tests::{call, text_result};

    const TOKENS: Unit = Unit::Tokens(Encoding::O200kBase);

    fn answer(items: usize) -> String {
        let records: Vec<String> = (0..items)
            .map(|at| format!(r#"{{"id":{},"name":"same words here"}}"#, 100 + at))
            .collect();
        text_result(&format!(r#"{{"items":[{}]}}"#, records.join(",")))
    }

    fn limit(unit: Unit, at: u64) -> Limit {
        Limit {
            name: String::new(),
            unit,
            at,
        }
    }

    #[test]
    fn a_line_goes_through_the_points() {
        let points = [
            Point { items: 0, cost: 10 },
            Point {
                items: 10,
                cost: 30,
            },
            Point {
                items: 20,
                cost: 50,
            },
        ];
        let line = LinearFit::through(&points).unwrap();
        assert_eq!((line.base, line.each), (10.0, 2.0));
        assert_eq!(
            [9, 10, 11, 12, 50].map(|limit| line.items_at(limit)),
            [Some(0), Some(0), Some(0), Some(1), Some(20)]
        );
        assert_eq!(LinearFit::through(&points[..1]), None);
        let flat = LinearFit {
            base: 5.0,
            each: 0.0,
        };
        assert_eq!(
            [-1.4, -0.2, 9.6].map(|base| LinearFit { base, each: 1.0 }.base_text()),
            ["–", "0", "10"]
        );
        assert_eq!((flat.items_at(100), flat.at(7.0)), (None, 5.0));
    }

    #[test]
    fn the_sentence_tells_where_a_limit_stops() {
        let calls: Vec<_> = [5, 50, 20]
            .iter()
            .map(|size| call(&size.to_string(), &answer(*size), Outcome::Result))
            .collect();
        let curve = Curve::new(&calls, TOKENS);
        let sent = curve.as_sent().unwrap();
        assert_eq!(
            sent.points
                .iter()
                .map(|point| point.items)
                .collect::<Vec<_>>(),
            [5, 20, 50]
        );
        let items = sent.line.unwrap().items_at(25_000).unwrap();
        assert!(
            sent.line.unwrap().at(items as f64) <= 25_000.0
                && sent.line.unwrap().at(items as f64 + 1.0) > 25_000.0
        );
        // The text is compact JSON already, so that nothing is said of that.
        assert_eq!(
            curve.sentence(&limit(TOKENS, 25_000)).unwrap(),
            format!(
                "Within 25,000 tokens there is room for {} items as sent; measured up to 50.",
                grouped(items)
            )
        );
        assert_eq!(
            curve.sentence(&limit(Unit::Chars, 25_000)),
            None,
            "a limit in characters is not one in tokens"
        );
    }

    #[test]
    fn the_sentence_names_the_items_and_what_compact_json_has_room_for() {
        let pretty = |items: usize| {
            let records: Vec<String> = (0..items)
                .map(|at| format!("\n    {{\n      \"id\": {}\n    }}", 100 + at))
                .collect();
            text_result(&format!(
                "{{\n  \"companies\": [{}\n  ]\n}}",
                records.join(",")
            ))
        };
        let calls: Vec<_> = [5, 50]
            .map(|size: usize| call(&size.to_string(), &pretty(size), Outcome::Result))
            .into();
        let curve = Curve::new(&calls, TOKENS);
        let fit = |format: &str| {
            curve
                .series(format)
                .unwrap()
                .line
                .unwrap()
                .items_at(600)
                .unwrap()
        };
        let (sent, json) = (fit("content"), fit("json"));
        assert!(json > sent);
        let expected = format!(
            "Within 600 tokens there is room for {sent} companies as sent, {json} as compact JSON; measured up to 50."
        );
        assert_eq!(curve.sentence(&limit(TOKENS, 600)).unwrap(), expected);
    }

    #[test]
    fn answers_that_bend_the_line_are_left_out() {
        let mut calls: Vec<_> = [5, 50]
            .iter()
            .map(|size| call(&size.to_string(), &answer(*size), Outcome::Result))
            .collect();
        calls.push(call(
            "500",
            &text_result("{\"items\":[{\"id\":1… [truncated]"),
            Outcome::Result,
        ));
        calls.push(call("0", "{}", Outcome::Timeout));
        let curve = Curve::new(&calls, Unit::Chars);
        assert_eq!(curve.as_sent().unwrap().points.len(), 2);
        let left: Vec<_> = curve
            .left_out
            .iter()
            .map(|(value, _)| value.as_str())
            .collect();
        assert_eq!(left, ["500", "0"]);
        let none = call("0", &text_result(r#"{"items":[]}"#), Outcome::Result);
        assert_eq!(
            Curve::new(&[none], TOKENS).as_sent().unwrap().points[0].items,
            0
        );
        let texts = [
            call("1", &text_result("a"), Outcome::Result),
            call("2", &text_result("a b"), Outcome::Result),
        ];
        let curve = Curve::new(&texts, TOKENS);
        assert!(!curve.is_counted && curve.as_sent().unwrap().points.len() == 2);
    }
}
