//! What the data would cost with the needed fields alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::analysis::columns::Columns;
use crate::analysis::query::{Ctx, Query, Stop, Weigh};
use crate::analysis::without;
use crate::format::FORMATS;
use crate::format::ledger::Row;
use crate::token::Encoding;

/// The cheapest format that says the needed fields, and nothing else of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Fewer {
    pub row: Row,
    /// How many fields it has.
    pub fields: usize,
}

/// The cheapest format of an answer with these fields alone, as patterns; `None` where none says them without loss.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FewerQuery {
    pub fields: Arc<BTreeSet<String>>,
    pub encoding: Encoding,
}

impl Query for FewerQuery {
    type Out = Option<Arc<Fewer>>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let Some(payload) = &cx.subject()?.payload else { return Ok(None) };
        let columns = Columns::of(payload.root());
        let leaves = (0..columns.columns.len()).filter(|&column| columns.columns[column].has_leaves);
        let others: BTreeSet<_> = leaves.map(|column| columns.path(column)).filter(|path| !self.holds(path)).collect();
        let fewer = without(cx.subject()?, &others);
        let mut cheapest: Option<Row> = None;
        for format in FORMATS.iter().filter(|format| !format.is_as_sent()) {
            cx.check()?;
            let row = Row::measure(*format, &fewer);
            let is_less = |known: &Row| row.tokens.get(self.encoding) < known.tokens.get(self.encoding);
            if row.is_available() && row.claim().is_same_data() && cheapest.as_ref().is_none_or(is_less) {
                cheapest = Some(row);
            }
        }
        Ok(cheapest.map(|row| Arc::new(Fewer { row, fields: self.fields.len() })))
    }
}

impl FewerQuery {
    /// Whether it is a field that is needed, or holds one.
    fn holds(&self, path: &str) -> bool {
        self.fields.iter().any(|field| field.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }
}

impl Weigh for Fewer {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::sweep::tests::text_result;
    use crate::analysis::tests::subject_of;
    use crate::cancel::Cancel;
    use crate::host::Hosts;

    #[test]
    fn fewer_fields_cost_less_and_are_all_there() {
        let records: Vec<String> =
            (0..9).map(|at| format!(r#"{{"id":{at},"name":"n{at}","note":"words {at}","tags":[{{"a":1}}]}}"#)).collect();
        let data = format!(r#"{{"items":[{}],"total":9}}"#, records.join(","));
        let (subjects, hosts, cancel) = ([Arc::new(subject_of(&text_result(&data)))], Hosts::built_in(), Cancel::new());
        let of = |fields: &[&str]| {
            let fields = Arc::new(fields.iter().map(|field| (*field).to_owned()).collect());
            let query = FewerQuery { fields, encoding: Encoding::O200kBase };
            Ctx::of(&subjects, &hosts, &cancel).get(&query).unwrap().unwrap().unwrap()
        };
        let (two, one) = (of(&["/items/*/id", "/items/*/tags/*/a"]), of(&["/items/*/id"]));
        assert_eq!((two.fields, one.fields, two.row.facts.unwrap().total, one.row.facts.unwrap().total), (2, 1, 18, 9));
        assert!(one.row.tokens.o200k_base < two.row.tokens.o200k_base);
    }
}
