//! Which fields a model needs of a result, and which of them a format loses.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::queries::columns::Columns;
use crate::queries::query::{Ctx, Query, Stop, Weigh, format_of};
use loupe_core::capture::{ResultData, locate_facts};
use loupe_core::format::format_bytes;
use loupe_core::format::{Format, ParsedCapture};
use loupe_core::number::{grouped, number_of};

/// The fields of data: the paths of the columns that hold values, in the order in which they stand.
pub fn fields(data: &ResultData) -> Vec<String> {
    let columns = Columns::of(data.root());
    let leaves = (0..columns.columns.len()).filter(|&column| columns.columns[column].has_leaves);
    leaves.map(|column| columns.path(column)).collect()
}

/// A needed field that a format does not carry for every record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldLoss {
    /// As [`Columns::path`] writes it.
    pub path: String,
    /// In how many records its value is missing.
    pub missing: u64,
    /// In how many records it has a value that a text can carry.
    pub of: u64,
}

/// What a format does to the fields that a model needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededFields {
    /// How many are needed and are in the data.
    pub needed: u64,
    pub lost: Vec<FieldLoss>,
}

impl NeededFields {
    /// The sentence of the summary, such as "CSV loses 1 of 3 needed fields: city (in 2 of 9 records)".
    pub fn sentence(&self, title: &str) -> String {
        let needed = number_of(self.needed, "needed fields");
        if self.lost.is_empty() {
            return format!("{title} keeps all {needed}");
        }
        let name = |lost: &FieldLoss| {
            let key = lost
                .path
                .rsplit('/')
                .find(|part| *part != "*")
                .unwrap_or("")
                .replace("~1", "/")
                .replace("~0", "~");
            format!(
                "{key} (in {} of {} records)",
                grouped(lost.missing),
                grouped(lost.of)
            )
        };
        let mut names: Vec<String> = self.lost.iter().take(3).map(name).collect();
        if self.lost.len() > 3 {
            names.push(format!("{} more", self.lost.len() - 3));
        }
        let lost = grouped(self.lost.len() as u64);
        format!("{title} loses {lost} of {needed}: {}", names.join(", "))
    }
}

/// Which of the needed fields a format loses; `None` where there is no data. A value is lost where the text of the
/// format does not say it, by the same matching as everywhere.
///
/// # Errors
/// [`Stop`] when cancelled, or where the format does not apply.
pub(crate) fn needed_fields(
    subject: &ParsedCapture,
    format: &'static dyn Format,
    needed: &BTreeSet<String>,
) -> Result<Option<NeededFields>, Stop> {
    let Some(data) = &subject.data else {
        return Ok(None);
    };
    let bytes = format_bytes(format, subject)?;
    let root = data.root();
    let columns = Columns::of(root);
    let mut wanted: Vec<(usize, FieldLoss)> = needed
        .iter()
        .filter_map(|path| {
            Some((
                columns.find(path)?,
                FieldLoss {
                    path: path.clone(),
                    missing: 0,
                    of: 0,
                },
            ))
        })
        .collect();
    wanted.sort_by_key(|(column, _)| *column);
    for fact in locate_facts(data, &String::from_utf8_lossy(&bytes)).facts {
        let column = columns.of_node[fact.node() - root.index()];
        if let Ok(at) = wanted.binary_search_by_key(&column, |(column, _)| *column) {
            let field = &mut wanted[at].1;
            field.of += 1;
            field.missing += u64::from(fact.state().is_missing());
        }
    }
    let needed = wanted.len() as u64;
    let lost = wanted
        .into_iter()
        .map(|(_, field)| field)
        .filter(|field| field.missing > 0)
        .collect();
    Ok(Some(NeededFields { needed, lost }))
}

/// Which of these fields a format, by its id, loses; `None` where the result has no data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NeededQuery {
    pub format: &'static str,
    pub fields: Arc<[String]>,
}

impl Query for NeededQuery {
    type Out = Option<Arc<NeededFields>>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let fields = self.fields.iter().cloned().collect();
        Ok(needed_fields(cx.subject()?, format_of(self.format)?, &fields)?.map(Arc::new))
    }
}

impl Weigh for NeededFields {}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::format::by_id;

    const RESULT: &str = r###"{"content":[{"type":"text","text":"## Acme\n- **City**: Ulm\n\n## Beta\n"}],"structuredContent":{"items":[{"name":"Acme","city":"Ulm","n":1.50},{"name":"Beta","city":"Bonn","n":2}]}}"###;

    fn set(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn needed_fields_are_judged_by_format() {
        let subject = ParsedCapture::from_result(RESULT);
        let data = subject.data.as_ref().unwrap();
        assert_eq!(
            fields(data),
            ["/items/*/name", "/items/*/city", "/items/*/n"]
        );
        let judge = |id: &str, paths: &[&str]| {
            let format = by_id(id).unwrap();
            let found = needed_fields(&subject, format, &set(paths))
                .unwrap()
                .unwrap();
            found.sentence(format.title())
        };
        assert_eq!(
            judge("content", &["/items/*/name"]),
            "Text keeps all 1 needed field"
        );
        assert_eq!(
            judge("content", &["/items/*/name", "/items/*/city", "/gone"]),
            "Text loses 1 of 2 needed fields: city (in 1 of 2 records)"
        );
        assert_eq!(
            judge("csv", &["/items/*/name", "/items/*/city"]),
            "CSV keeps all 2 needed fields"
        );
    }
}
