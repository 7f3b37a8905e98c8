//! The output schemas of the dual set. Its original has none; these describe what it sends, odd values included.

use serde_json::{Map, Value, json};

/// An object whose members are all required, given as name and type.
fn object(members: &[(&str, Value)]) -> Value {
    let names: Vec<_> = members.iter().map(|(name, _)| *name).collect();
    let properties: Map<_, _> = members
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({"type": "object", "properties": properties, "required": names})
}

fn integer() -> Value {
    json!({"type": "integer"})
}

fn string() -> Value {
    json!({"type": "string"})
}

fn or_null(kind: &str) -> Value {
    json!({"type": [kind, "null"]})
}

fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}

fn page(item: &Value, filters: bool) -> Value {
    let mut members = vec![("items", json!({"type": "array", "items": item}))];
    if filters {
        members.push(("filters", json!({"type": "object"})));
    }
    members.extend([
        ("totalCount", integer()),
        ("pageSize", json!({"type": "number"})),
        ("hasMore", json!({"type": "boolean"})),
    ]);
    object(&members)
}

/// Any member but the first three may be absent.
fn company_record() -> Value {
    let mut schema = object(&[
        ("id", integer()),
        ("companyName", string()),
        ("isActive", json!({"type": "boolean"})),
    ]);
    schema["properties"]["companyType"] = integer();
    schema["properties"]["phone"] = or_null("string");
    for name in ["address1", "city", "state", "postalCode"] {
        schema["properties"][name] = string();
    }
    schema["properties"]["lastModifiedDate"] = time();
    schema
}

fn note_record() -> Value {
    object(&[
        ("id", integer()),
        ("title", string()),
        ("description", string()),
        ("createDate", time()),
        ("createdByResourceID", integer()),
        ("createdByResourceName", string()),
    ])
}

fn ticket_record() -> Value {
    object(&[
        ("id", integer()),
        ("ticketNumber", string()),
        ("title", string()),
        ("description", string()),
        ("status", integer()),
        ("priority", integer()),
        ("companyID", integer()),
        ("companyName", string()),
        ("contactID", integer()),
        ("contactName", string()),
        ("contactEmail", string()),
        ("assignedResourceID", or_null("integer")),
        ("assignedResourceName", or_null("string")),
        ("queueID", integer()),
        ("queueName", string()),
        ("createDate", time()),
        ("lastActivityDate", time()),
        ("dueDateTime", or_null("string")),
        ("resolution", or_null("string")),
        ("estimatedHours", json!({"type": "number"})),
        ("hoursWorked", json!({"type": "number"})),
    ])
}

pub fn companies() -> Value {
    page(&company_record(), false)
}

pub fn company() -> Value {
    object(&[("company", company_record())])
}

pub fn tickets() -> Value {
    let row = object(&[
        ("id", integer()),
        ("ticketNumber", string()),
        ("title", string()),
        ("status", integer()),
        ("statusName", string()),
        ("priority", integer()),
        ("priorityName", string()),
        ("assignedResourceID", or_null("integer")),
        ("assignedResourceName", or_null("string")),
        ("companyID", integer()),
        ("companyName", string()),
        ("createDate", time()),
        ("lastActivityDate", time()),
    ]);
    page(&row, true)
}

pub(crate) fn ticket() -> Value {
    object(&[("ticket", ticket_record())])
}

pub(crate) fn ticket_details() -> Value {
    let metadata = object(&[
        ("fullDetails", json!({"type": "boolean"})),
        ("includesNotes", json!({"type": "boolean"})),
        ("noteCount", integer()),
    ]);
    object(&[
        ("ticket", ticket_record()),
        (
            "recentNotes",
            json!({"type": "array", "items": note_record()}),
        ),
        ("metadata", metadata),
    ])
}

pub fn notes() -> Value {
    page(&note_record(), false)
}
