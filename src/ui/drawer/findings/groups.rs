//! The rows of the list: findings of one kind that differ in the field alone are one row.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::detail::sentence;
use loupe_analysis::finding::Finding;

/// From this many on they are one row.
const MANY: usize = 3;

/// A row of the list, with the place of each finding among those of the result.
pub enum ListedRow<'a> {
    One(usize, &'a Finding),
    Fields(FieldGroup<'a>),
}

/// What one rule says of several fields alike.
pub struct FieldGroup<'a> {
    /// What tells it from other groups.
    pub key: String,
    /// What is said, without the field.
    pub says: String,
    /// In natural order of their fields.
    pub members: Vec<(usize, &'a Finding)>,
}

impl<'a> ListedRow<'a> {
    /// Its findings, in the order in which they are gone through.
    pub fn findings(&self) -> Vec<(usize, &'a Finding)> {
        match self {
            Self::One(at, finding) => vec![(*at, *finding)],
            Self::Fields(group) => group.members.clone(),
        }
    }
}

impl FieldGroup<'_> {
    /// `5 fields: field3, field8, …`.
    pub fn fields(&self) -> String {
        let names: Vec<_> = self
            .members
            .iter()
            .filter_map(|(_, own)| field(own))
            .collect();
        let last = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
        format!(
            "{} fields: {}",
            names.len(),
            names.into_iter().map(last).collect::<Vec<_>>().join(", ")
        )
    }
}

/// The rows of these findings; a group stands where its first finding would.
pub fn rows<'a>(findings: Vec<(usize, &'a Finding)>) -> Vec<ListedRow<'a>> {
    let mut many: HashMap<String, usize> = HashMap::new();
    for key in findings.iter().filter_map(|(_, finding)| key(finding)) {
        *many.entry(key).or_default() += 1;
    }
    many.retain(|_, many| *many >= MANY);
    let mut rows: Vec<ListedRow<'a>> = Vec::new();
    let mut places = HashMap::new();
    for (at, finding) in findings {
        let Some(key) = key(finding).filter(|key| many.contains_key(key)) else {
            rows.push(ListedRow::One(at, finding));
            continue;
        };
        let place = *places.entry(key.clone()).or_insert_with(|| {
            rows.push(ListedRow::Fields(FieldGroup {
                key,
                says: says(finding),
                members: Vec::new(),
            }));
            rows.len() - 1
        });
        if let ListedRow::Fields(group) = &mut rows[place] {
            group.members.push((at, finding));
        }
    }
    for row in &mut rows {
        if let ListedRow::Fields(group) = row {
            let name = |finding: &'a Finding| field(finding).unwrap_or_default();
            group
                .members
                .sort_by(|(_, a), (_, b)| natural(name(a), name(b)));
        }
    }
    rows
}

/// A message around the first thing that it names.
fn around(message: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = message.split_once('`')?;
    let (name, after) = rest.split_once('`')?;
    Some((before, name, after))
}

/// The field that a finding is about, where its message names it.
fn field(finding: &Finding) -> Option<&str> {
    let (_, name, _) = around(&finding.message)?;
    let last = |path: &str| path.rsplit('/').next().map(str::to_owned);
    (last(name) == last(finding.path())).then_some(name)
}

/// What findings have in common that differ in the field alone.
fn key(finding: &Finding) -> Option<String> {
    field(finding)?;
    let (before, _, after) = around(&finding.message)?;
    let (rule, severity) = (finding.rule.id, finding.severity.name());
    Some(format!(
        "{rule} {severity} {} {before}`{after}",
        finding.subject
    ))
}

fn says(finding: &Finding) -> String {
    let Some((before, _, after)) = around(&finding.message) else {
        return sentence(&finding.message);
    };
    match before {
        "" => sentence(after.trim_start_matches([':', ' '])),
        before => sentence(&format!("{before}…{after}")),
    }
}

/// `field3` before `field13`.
fn natural(a: &str, b: &str) -> Ordering {
    fn parts(name: &str) -> Vec<(String, u64)> {
        let mut parts = vec![(String::new(), 0_u64)];
        let mut is_number = false;
        for c in name.chars() {
            let digit = c.to_digit(10).map(u64::from);
            if digit.is_none() && is_number {
                parts.push((String::new(), 0));
            }
            is_number = digit.is_some();
            if let Some(part) = parts.last_mut() {
                match digit {
                    Some(digit) => part.1 = part.1.saturating_mul(10).saturating_add(digit),
                    None => part.0.push(c),
                }
            }
        }
        parts
    }
    parts(a).cmp(&parts(b)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use loupe_analysis::finding::{Location, LocationPart, Severity, rule};

    use super::*;

    fn finding(message: &str, path: &str) -> Finding {
        Finding {
            rule: rule("schema/array-without-items").unwrap(),
            severity: Severity::Error,
            profiles: Vec::new(),
            message: message.into(),
            subject: "search".into(),
            places: vec![Location {
                part: LocationPart::Definition,
                path: path.into(),
                range: None,
            }],
            count: 1,
            keys: Vec::new(),
            saves: None,
            mended: None,
        }
    }

    #[test]
    fn findings_that_differ_in_the_field_alone_are_one_row() {
        let mut found: Vec<_> = [23, 3, 13]
            .map(|at| {
                let path = format!("/inputSchema/properties/field{at}");
                finding(&format!("`field{at}`: array without item type"), &path)
            })
            .into();
        found.insert(1, finding("`oneOf` at the top", "/inputSchema/anyOf"));
        let rows = rows(found.iter().enumerate().collect());
        let [ListedRow::Fields(group), ListedRow::One(1, _)] = &rows[..] else {
            panic!("{} rows", rows.len())
        };
        assert_eq!(group.says, "Array without item type");
        assert_eq!(group.fields(), "3 fields: field3, field13, field23");
        let places = rows[0].findings().into_iter().map(|(at, _)| at);
        assert_eq!(places.collect::<Vec<_>>(), [2, 3, 0]);
    }

    #[test]
    fn two_are_a_row_each_and_what_stands_before_the_field_stays() {
        let about = |name: &str| {
            finding(
                &format!("argument `{name}` has no type"),
                &format!("/{name}"),
            )
        };
        let found = ["a", "b"].map(about);
        assert_eq!(rows(found.iter().enumerate().collect()).len(), 2);
        assert_eq!(says(&found[0]), "Argument … has no type");
    }
}
