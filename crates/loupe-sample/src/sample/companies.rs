//! The three texts that the dual set's original writes for a list of companies. Cells are not escaped: a kept fault.

use time::OffsetDateTime;

use super::data::Company;
use super::page::{Page, RULE};
use super::text::{absolute, date, field, icon, phone, type_name};

/// The list in shape 1 (bullets), 2 (a table of fields each) or 3 (one table); `empty` stands in for no companies.
pub fn list(shape: u8, query: &str, page: &Page<'_, Company>, empty: &str) -> String {
    match shape {
        1 => bullets(page, empty),
        3 => rows(query, page, empty),
        _ => field_tables(query, page, empty),
    }
}

fn status(company: &Company) -> &'static str {
    if company["isActive"] == true {
        "Active"
    } else {
        "Inactive"
    }
}

fn name(company: &Company) -> &str {
    field(company, "companyName").unwrap_or("N/A")
}

fn kind(company: &Company) -> String {
    company.get("companyType").map_or("N/A".into(), type_name)
}

/// Kept fault: the data has 555-123-4567 where the text has (555) 123-4567.
fn number(company: &Company) -> String {
    field(company, "phone").map_or("N/A".into(), phone)
}

fn address(company: &Company) -> String {
    let parts: Vec<_> = ["address1", "city", "state", "postalCode"]
        .iter()
        .filter_map(|key| field(company, key))
        .collect();
    if parts.is_empty() {
        "N/A".into()
    } else {
        parts.join(", ")
    }
}

fn modified(company: &Company, write: fn(OffsetDateTime) -> String) -> String {
    let parse =
        |iso: &str| OffsetDateTime::parse(iso, &time::format_description::well_known::Rfc3339).ok();
    field(company, "lastModifiedDate")
        .and_then(parse)
        .map_or("N/A".into(), write)
}

/// Kept fault: the heading counts all that match, the list shows one page of them.
fn bullets(page: &Page<'_, Company>, empty: &str) -> String {
    let mut text = format!("## Search Results: {} companies found\n\n", page.matched);
    if page.items.is_empty() {
        return text + empty;
    }
    for company in &page.items {
        let street = field(company, "address1");
        let place: Vec<_> = ["state", "postalCode"]
            .iter()
            .filter_map(|key| field(company, key))
            .collect();
        let place = place.join(" ");
        let parts: Vec<_> = [street, field(company, "city"), Some(&*place)]
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect();
        text += &format!(
            "### {} (ID: {})\n- **Status**: {}\n- **Type**: {}\n- **Phone**: {}\n- **Address**: {}\n- **Last Modified**: {}\n\n",
            name(company),
            company["id"],
            status(company),
            kind(company),
            number(company),
            if parts.is_empty() {
                "N/A".into()
            } else {
                parts.join(", ")
            },
            modified(company, absolute),
        );
    }
    text += &format!(
        "---\n*Showing {} of {} results.",
        page.items.len(),
        page.matched
    );
    if page.items.len() < page.matched {
        text += " Use `pageSize: -1` to see all results.";
    }
    text + "*"
}

fn heading(query: &str, page: &Page<'_, Company>) -> String {
    format!(
        "## Company Search Results\n\n**Query**: {query}\n**Results**: {} companies found{RULE}",
        page.items.len()
    )
}

/// One company as a table of fields: also what the write tools show.
pub(crate) fn field_table(company: &Company) -> String {
    format!(
        "### {} (ID: {})\n\n| Field | Value |\n|-------|-------|\n| **Status** | {} {} |\n| **Type** | {} |\n| **Phone** | {} |\n| **Address** | {} |\n| **Last Modified** | {} |",
        name(company),
        company["id"],
        icon(status(company)),
        status(company),
        kind(company),
        number(company),
        address(company),
        modified(company, absolute),
    )
}

fn field_tables(query: &str, page: &Page<'_, Company>, empty: &str) -> String {
    let text = heading(query, page);
    if page.items.is_empty() {
        return text + empty;
    }
    let records: Vec<_> = page
        .items
        .iter()
        .map(|company| field_table(company))
        .collect();
    text + &records.join(RULE) + &page.footer()
}

fn rows(query: &str, page: &Page<'_, Company>, empty: &str) -> String {
    let mut text = heading(query, page);
    if page.items.is_empty() {
        return text + empty;
    }
    text += "| ID | Company | Status | Type | Last Modified |\n|----|---------|--------|------|---------------|";
    for company in &page.items {
        let (status, modified) = (status(company), modified(company, date));
        text += &format!(
            "\n| {} | {} | {status} | {} | {modified} |",
            company["id"],
            name(company),
            kind(company)
        );
    }
    text + &page.footer()
}
