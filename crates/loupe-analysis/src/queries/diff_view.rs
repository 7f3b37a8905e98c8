//! Two results side by side for the window: their differences, the data's as rows of one tree, the texts by line, and
//! the facts that the newer text no longer tells.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crate::queries::diff_texts::{self, TextOf, Texts};
use crate::queries::difference::{Difference, TextDifference, ValueDifference};
use crate::queries::query::{Ctx, Query, Stop, Weigh};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::locate_facts;
use loupe_core::diff::pattern::{name, pattern};
use loupe_core::diff::tree::Op;
use loupe_core::format::ParsedCapture;
use loupe_core::host::Hosts;
use loupe_core::json::{Doc, Kind, Node};
use loupe_core::problem::Problem;

/// Rows of the tree; more are not shown.
const MAX_ROWS: usize = 200_000;

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DiffQuery {
    /// The texts that are compared.
    pub texts: (TextOf, TextOf),
}

impl Default for DiffQuery {
    fn default() -> Self {
        let content = TextOf::Format("content");
        Self {
            texts: (content, content),
        }
    }
}

/// One row of the tree of two payloads: a node that differs, or is around one that does, or next to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffRow {
    pub depth: usize,
    /// What became of it; `None` where it is the same, or differs inside.
    pub op: Option<Op>,
    /// Tape indices.
    pub a: Option<usize>,
    pub b: Option<usize>,
    /// Differences in it, its own included.
    pub changes: usize,
    /// The row after the last one inside it.
    pub end: usize,
}

/// Facts of one field that A's text tells and B's does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostFacts {
    /// Such as `postalCode`.
    pub name: String,
    pub count: u64,
}

/// Two results, ready to be painted.
#[derive(Clone, Debug)]
pub struct DiffView {
    pub found: Difference,
    /// The texts of the formats asked for; `found` has those of the results as they were sent.
    pub text: Result<TextDifference, Problem>,
    /// Whether the texts are JSON, laid out with sorted keys.
    pub is_laid_out: bool,
    /// The payloads as one tree, the root first; without rows where they are equal.
    pub rows: Vec<DiffRow>,
    /// Whether rows were left out because there are too many.
    pub is_cut: bool,
    /// Facts of A's data that A's text tells and B's does not, most first; changed values that B's text tells are not lost.
    pub lost: Vec<LostFacts>,
}

impl DiffView {
    /// Compares two results.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled.
    pub fn new(
        a: &ParsedCapture,
        b: &ParsedCapture,
        ask: &DiffQuery,
        hosts: &Hosts,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let found = Difference::new(a, b, cancel.deadline());
        let Texts { text, is_laid_out } = diff_texts::texts(a, b, ask.texts, hosts, cancel)?;
        let (rows, is_cut) = match &found.data {
            Some(data) if !data.found.is_empty() => Rows::of(data, cancel)?,
            _ => (Vec::new(), false),
        };
        let lost = match &text {
            Ok(text) => lost((a, &text.a), (b, &text.b), &found),
            Err(_) => Vec::new(),
        };
        Ok(Self {
            found,
            text,
            is_laid_out,
            rows,
            is_cut,
            lost,
        })
    }

    /// Whether nothing differs of what was compared.
    pub fn is_equal(&self) -> bool {
        !self.found.has_other_differences()
            && self
                .text
                .as_ref()
                .map_or(true, |text| text.found.is_empty())
    }

    /// Facts that B's text no longer tells.
    pub fn facts_lost(&self) -> u64 {
        self.lost.iter().map(|field| field.count).sum()
    }

    /// Places that differ in the data, kept or not.
    pub fn values_changed(&self) -> u64 {
        self.found
            .data
            .as_ref()
            .map_or(0, |data| data.found.counts.total())
    }

    /// The differences as text: what changed in the data by path, then the lines.
    pub fn text(&self) -> String {
        let mut page = String::new();
        for reason in &self.found.left_out {
            page.push_str(&format!("# {reason}\n"));
        }
        if let Some(data) = &self.found.data {
            for change in data.changes() {
                let (from, to) = data.paths(&change);
                let path = |path: Option<String>| match path {
                    Some(path) if path.is_empty() => "(whole data)".to_owned(),
                    path => path.unwrap_or_default(),
                };
                let value = |node: Option<Node<'_>>| {
                    node.map(|node| node.raw_text().into_owned())
                        .unwrap_or_default()
                };
                page.push_str(&match change.op {
                    Op::Add => format!("+ {} {}\n", path(to), value(change.b)),
                    Op::Remove => format!("- {} {}\n", path(from), value(change.a)),
                    Op::Change => {
                        format!("~ {} {} → {}\n", path(to), value(change.a), value(change.b))
                    }
                    Op::Move => format!("> {} from {}\n", path(to), path(from)),
                });
            }
            if data.found.more() > 0 {
                page.push_str(&format!(
                    "# and {} more differences of the data\n",
                    data.found.more()
                ));
            }
        }
        if let Ok(text) = &self.text {
            for hunk in &text.found.hunks {
                page.push_str(&format!(
                    "@@ -{},{} +{},{} @@\n",
                    hunk.a.start,
                    hunk.a.len(),
                    hunk.b.start,
                    hunk.b.len()
                ));
                for line in &hunk.lines {
                    let (sign, source) = match line.side {
                        loupe_core::diff::lines::Side::Both => (' ', &text.a),
                        loupe_core::diff::lines::Side::A => ('-', &text.a),
                        loupe_core::diff::lines::Side::B => ('+', &text.b),
                    };
                    page.push(sign);
                    page.push_str(source.get(line.range.clone()).unwrap_or_default());
                    page.push('\n');
                }
            }
            if text.found.more > 0 {
                page.push_str(&format!("# and {} more changed lines\n", text.found.more));
            }
        }
        page
    }
}

/// What is known of both trees while their rows are made.
struct Rows<'d> {
    a: &'d Doc,
    b: &'d Doc,
    /// Changes by the node of B; those that are only in A by that.
    ops_b: HashMap<usize, (Op, Option<usize>)>,
    removed: HashSet<usize>,
    moved_from: HashSet<usize>,
    /// Tape indices of changes, sorted.
    at_b: Vec<usize>,
    at_a: Vec<usize>,
    rows: Vec<DiffRow>,
}

enum Walk {
    Pair(usize, usize, usize),
    Row(DiffRow),
    End(usize),
}

impl<'d> Rows<'d> {
    fn of(value: &'d ValueDifference, cancel: &Cancel) -> Result<(Vec<DiffRow>, bool), Cancelled> {
        let mut all = Self {
            a: &value.a,
            b: &value.b,
            ops_b: HashMap::new(),
            removed: HashSet::new(),
            moved_from: HashSet::new(),
            at_b: Vec::new(),
            at_a: Vec::new(),
            rows: Vec::new(),
        };
        for change in &value.found.changes {
            match (change.a, change.b) {
                (Some(a), None) => {
                    all.removed.insert(a);
                    all.at_a.push(a);
                }
                (a, Some(b)) => {
                    // A moved record may have changed as a whole as well: that is what is told of it.
                    let known = all.ops_b.entry(b).or_insert((change.op, a));
                    if change.op != Op::Move {
                        *known = (change.op, a);
                    }
                    if change.op == Op::Move {
                        all.moved_from.extend(a);
                    }
                    all.at_b.push(b);
                }
                (None, None) => {}
            }
        }
        all.at_a.sort_unstable();
        all.at_b.sort_unstable();
        let is_cut = all.walk(value.roots, cancel)?;
        Ok((all.rows, is_cut || value.found.more() > 0))
    }

    /// Differences inside a pair.
    fn changes(&self, a: Node<'_>, b: Node<'_>) -> usize {
        let inside = |at: &[usize], node: Node<'_>| {
            at.partition_point(|&at| at < node.subtree_end())
                - at.partition_point(|&at| at < node.index())
        };
        inside(&self.at_b, b) + inside(&self.at_a, a)
    }

    fn walk(&mut self, roots: (usize, usize), cancel: &Cancel) -> Result<bool, Cancelled> {
        let mut left = vec![Walk::Pair(roots.0, roots.1, 0)];
        while let Some(step) = left.pop() {
            cancel.check()?;
            if self.rows.len() >= MAX_ROWS {
                // What is still open ends here.
                let end = self.rows.len();
                for step in left {
                    if let Walk::End(row) = step {
                        self.rows[row].end = end;
                    }
                }
                return Ok(true);
            }
            match step {
                Walk::End(row) => self.rows[row].end = self.rows.len(),
                Walk::Row(row) => {
                    let end = self.rows.len() + 1;
                    self.rows.push(DiffRow { end, ..row });
                }
                Walk::Pair(a, b, depth) => {
                    let (Some(old), Some(new)) = (self.a.node(a), self.b.node(b)) else {
                        continue;
                    };
                    let op = self.ops_b.get(&b).map(|(op, _)| *op);
                    let changes = self.changes(old, new);
                    let row = DiffRow {
                        depth,
                        op,
                        a: Some(a),
                        b: Some(b),
                        changes,
                        end: 0,
                    };
                    let is_same_kind = old.kind() == new.kind() && new.is_container();
                    if changes == usize::from(op.is_some())
                        || !is_same_kind
                        || op == Some(Op::Change)
                    {
                        self.rows.push(DiffRow {
                            end: self.rows.len() + 1,
                            ..row
                        });
                        continue;
                    }
                    left.push(Walk::End(self.rows.len()));
                    self.rows.push(row);
                    let mut children = self.children(old, new, depth + 1);
                    children.reverse();
                    left.extend(children);
                }
            }
        }
        Ok(false)
    }

    /// The children of a pair in B's order, what was removed where it stood.
    fn children(&self, a: Node<'_>, b: Node<'_>, depth: usize) -> Vec<Walk> {
        let gone = |node: Node<'_>| {
            Walk::Row(DiffRow {
                depth,
                op: Some(Op::Remove),
                a: Some(node.index()),
                b: None,
                changes: 1,
                end: 0,
            })
        };
        let added = |node: Node<'_>| {
            Walk::Row(DiffRow {
                depth,
                op: Some(Op::Add),
                a: None,
                b: Some(node.index()),
                changes: 1,
                end: 0,
            })
        };
        let mut out = Vec::new();
        if a.kind() == Kind::Object {
            let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
            for child in a.children() {
                if !self.removed.contains(&child.index()) {
                    by_key
                        .entry(child.key().unwrap_or_default().into_owned())
                        .or_default()
                        .push(child.index());
                }
            }
            by_key.values_mut().for_each(|list| list.reverse());
            let mut old = a
                .children()
                .filter(|child| self.removed.contains(&child.index()))
                .peekable();
            for child in b.children() {
                let op = self.ops_b.get(&child.index());
                let pair = match op {
                    Some((Op::Add, _)) => None,
                    _ => by_key
                        .get_mut(&*child.key().unwrap_or_default())
                        .and_then(Vec::pop),
                };
                if let Some(pair) = pair {
                    while let Some(removed) = old.next_if(|removed| removed.index() < pair) {
                        out.push(gone(removed));
                    }
                    out.push(Walk::Pair(pair, child.index(), depth));
                } else {
                    out.push(added(child));
                }
            }
            out.extend(old.map(gone));
            return out;
        }
        // What was neither added, removed nor moved is in the same order in both lists.
        let mut old = a
            .children()
            .filter(|child| !self.moved_from.contains(&child.index()))
            .peekable();
        for child in b.children() {
            match self.ops_b.get(&child.index()) {
                Some((Op::Add, _)) => out.push(added(child)),
                Some((_, Some(from))) if self.moved_from.contains(from) => {
                    out.push(Walk::Pair(*from, child.index(), depth))
                }
                _ => {
                    while let Some(removed) =
                        old.next_if(|node| self.removed.contains(&node.index()))
                    {
                        out.push(gone(removed));
                    }
                    match old.next() {
                        Some(pair) => out.push(Walk::Pair(pair.index(), child.index(), depth)),
                        None => out.push(added(child)),
                    }
                }
            }
        }
        out.extend(
            old.filter(|node| self.removed.contains(&node.index()))
                .map(gone),
        );
        out
    }
}

/// Facts that A's text tells and B's text does not.
fn lost(
    (a, text): (&ParsedCapture, &str),
    (b, now): (&ParsedCapture, &str),
    found: &Difference,
) -> Vec<LostFacts> {
    let (Some(old), Some(new)) = (&a.data, &b.data) else {
        return Vec::new();
    };
    let missing = |matched: &loupe_core::capture::FactMatches| -> HashSet<usize> {
        matched
            .facts
            .iter()
            .filter(|fact| fact.state().is_missing())
            .map(|fact| fact.node())
            .collect()
    };
    if text == now {
        return Vec::new();
    }
    let before = locate_facts(old, text);
    let after = missing(&locate_facts(old, now));
    let untold = missing(&locate_facts(new, now));
    let changed: HashMap<usize, usize> = match &found.data {
        Some(data) => data
            .found
            .changes
            .iter()
            .filter(|change| change.op == Op::Change)
            .filter_map(|c| Some((c.a?, c.b?)))
            .collect(),
        None => HashMap::new(),
    };
    let mut fields: BTreeMap<String, u64> = BTreeMap::new();
    for fact in before
        .facts
        .iter()
        .filter(|fact| !fact.state().is_missing() && after.contains(&fact.node()))
    {
        let is_changed = changed
            .get(&fact.node())
            .is_some_and(|new| !untold.contains(new));
        if let (false, Some(node)) = (is_changed, old.doc.node(fact.node())) {
            *fields.entry(name(&pattern(node, old.root))).or_default() += 1;
        }
    }
    let mut lost: Vec<LostFacts> = fields
        .into_iter()
        .map(|(name, count)| LostFacts { name, count })
        .collect();
    lost.sort_by_key(|field| std::cmp::Reverse(field.count));
    lost
}

impl Query for DiffQuery {
    type Out = Arc<DiffView>;
    const WITHIN: Option<Duration> = Some(Duration::from_secs(5));

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let subject = cx.subject()?;
        let other = cx.subjects.get(1).unwrap_or(subject);
        Ok(Arc::new(DiffView::new(
            subject, other, self, cx.hosts, cx.cancel,
        )?))
    }
}

impl Weigh for DiffView {
    fn weight(&self) -> usize {
        let text = self.text.as_ref().map_or(0, |text| {
            text.a.len()
                + text.b.len()
                + text
                    .found
                    .hunks
                    .iter()
                    .map(|hunk| hunk.lines.len() * 96)
                    .sum::<usize>()
        });
        text + self.rows.len() * size_of::<DiffRow>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::comparison::tests::{call, text_result};
    use loupe_core::capture::Outcome;

    fn view(a: &str, b: &str, ask: &DiffQuery) -> DiffView {
        let subject = |result: &str| call("1", result, Outcome::Result).subject;
        DiffView::new(
            &subject(a),
            &subject(b),
            ask,
            &Hosts::built_in(),
            &Cancel::new(),
        )
        .unwrap()
    }

    fn change(view: &DiffView) -> Vec<String> {
        let data = view.found.data.as_ref().unwrap();
        let path = |doc: &Doc, root, node: Option<usize>| {
            doc.node(node?).map(|node| node.pointer_from(root))
        };
        view.rows
            .iter()
            .map(|row| {
                let path = path(&data.b, data.roots.1, row.b)
                    .or_else(|| path(&data.a, data.roots.0, row.a))
                    .unwrap();
                format!("{path} {} {}", row.op.map_or("same", Op::name), row.changes)
            })
            .collect()
    }

    #[test]
    fn rows_are_what_differs_with_what_stands_beside_it() {
        let a = text_result(
            r#"{"items":[{"id":1,"n":"a","x":0},{"id":2,"n":"b"},{"id":3,"n":"c"}],"gone":1,"same":[1]}"#,
        );
        let b = text_result(
            r#"{"items":[{"id":3,"n":"c"},{"id":1,"n":"A","x":0},{"id":2,"n":"b","m":0}],"same":[1],"new":{}}"#,
        );
        let view = view(&a, &b, &DiffQuery::default());
        assert_eq!(
            change(&view),
            [
                " same 5",
                "/items same 3",
                "/items/0 move 1",
                "/items/1 same 1",
                "/items/1/id same 0",
                "/items/1/n change 1",
                "/items/1/x same 0",
                "/items/2 same 1",
                "/items/2/id same 0",
                "/items/2/n same 0",
                "/items/2/m add 1",
                "/gone remove 1",
                "/same same 0",
                "/new add 1",
            ]
        );
        assert_eq!((view.rows[0].end, view.rows[1].end), (view.rows.len(), 11));
        assert!(!view.is_cut && !view.is_equal());
    }

    #[test]
    fn the_order_of_keys_does_not_count() {
        let (a, b) = (
            text_result(r#"{"a":1,"b":[2]}"#),
            text_result(r#"{ "b":[2], "a":1 }"#),
        );
        assert!(view(&a, &b, &DiffQuery::default()).is_equal());
        let (a, b) = (text_result("one  two"), text_result("one two"));
        assert!(!view(&a, &b, &DiffQuery::default()).is_equal());
    }

    #[test]
    fn two_formats_are_compared_by_line() {
        let answer = r#"{"content":[],"structuredContent":{"a":1}}"#;
        let compare = |a, b| {
            let texts = (TextOf::Format(a), TextOf::Format(b));
            view(answer, answer, &DiffQuery { texts }).text
        };
        assert!(compare("json", "structured").unwrap().found.is_empty());
        let yaml = compare("json", "yaml").unwrap().found;
        assert_eq!((yaml.removed, yaml.added), (1, 2));
        assert!(compare("json", "csv").is_err());
    }

    #[test]
    fn what_two_hosts_show_is_compared() {
        let answer =
            r#"{"content":[{"type":"text","text":"Ada"}],"structuredContent":{"name":"Ada"}}"#;
        let host = |id: &str| TextOf::Host(Hosts::built_in().get(id).unwrap().id);
        let ask = DiffQuery {
            texts: (host("codex"), host("zed")),
        };
        let found = view(answer, answer, &ask);
        let text = found.text.as_ref().unwrap();
        assert!(text.a.contains("Wall time") && &*text.b == "Ada");
        // A text that cannot be computed is a reason, not an empty text.
        let link = r#"{"content":[{"type":"resource_link","uri":"file:///a","name":"a"}]}"#;
        assert!(
            view(
                link,
                link,
                &DiffQuery {
                    texts: (host("zed"), host("zed"))
                }
            )
            .text
            .is_err()
        );
    }

    #[test]
    fn facts_that_the_text_no_longer_tells_are_named() {
        let answer = |text: &str, phone: &str| {
            format!(
                r#"{{"content":[{{"type":"text","text":"{text}"}}],"structuredContent":{{"name":"Northbeam","city":"Portland","phone":"{phone}"}}}}"#
            )
        };
        let a = answer("Northbeam, Portland, 555-0186", "555-0186");
        let lost = |b: &str| view(&a, b, &DiffQuery::default()).lost;
        assert_eq!(
            lost(&answer("Northbeam, 555-0186", "555-0186")),
            [LostFacts {
                name: "city".into(),
                count: 1
            }]
        );
        // A value that changed and is told is not lost.
        assert_eq!(
            lost(&answer("Northbeam, Portland, 555-0168", "555-0168")),
            []
        );
    }
}
