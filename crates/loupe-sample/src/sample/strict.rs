//! `autotask-strict`: a `response_format` argument, annotations on every tool, strict arguments, one text block.
//!
//! The answer is pretty JSON or a Markdown table of four columns, never `structuredContent`.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::data::{Company, Desk, Ticket};
use super::kit::{Kit, SampleCall, SampleTool, pretty, text_result};
use super::records::{
    READS, SHELVES, TICKET_ID, WRITES, create_company, create_ticket, find_companies, matches_term,
    note_row, ticket_detail, ticket_row, update_company, update_ticket,
};
use super::schema::{SchemaField, SchemaTakes, Violation};
use super::text::{LIMIT, cut, field, length, status_name};

pub(super) const KIT: Kit<Desk> = Kit {
    set: "autotask-strict",
    original: "autotask_",
    unique: "strict_",
    variant: |_| {
        "Re-creates the autotask-strict system, pretty JSON or Markdown as text only.".into()
    },
    closed: true,
    annotated: true,
    titled: true,
    tools: &[
        SampleTool::new(
            "search_companies",
            "Search companies by name.",
            READS,
            SEARCH,
            search_companies,
        ),
        SampleTool::new(
            "search_tickets",
            "Search tickets by title or number.",
            READS,
            &[
                SchemaField::optional(
                    "searchTerm",
                    SchemaTakes::Text(1),
                    "Part of the title or ticket number",
                ),
                SchemaField::optional(
                    "isActive",
                    SchemaTakes::Flag,
                    "true for open tickets, false for complete ones",
                ),
                PAGE_SIZE,
                RESPONSE_FORMAT,
            ],
            search_tickets,
        ),
        SampleTool::new(
            "get_ticket_details",
            "Get one ticket.",
            READS,
            &[TICKET_ID],
            get_ticket_details,
        ),
        SampleTool::new(
            "get_ticket_note",
            "Get one note of a ticket.",
            READS,
            &[
                TICKET_ID,
                SchemaField::required("noteID", SchemaTakes::Integer, "Note id, such as 100101"),
            ],
            get_ticket_note,
        ),
        SampleTool::new(
            "create_ticket",
            "Create a ticket.",
            WRITES,
            &[
                SchemaField::required(
                    "companyID",
                    SchemaTakes::Integer,
                    "Company the ticket is for",
                ),
                SchemaField::required("title", SchemaTakes::Text(1), "Short title"),
                SchemaField::optional("description", SchemaTakes::Text(0), "What happened"),
                STATUS,
                PRIORITY,
                ASSIGNED,
            ],
            add_ticket,
        ),
        SampleTool::new(
            "create_company",
            "Create a company.",
            WRITES,
            &[
                SchemaField::required("companyName", SchemaTakes::Text(1), "Name"),
                SchemaField::required(
                    "companyType",
                    SchemaTakes::Between(1, 7),
                    "Type id, 1 (customer) to 7 (partner)",
                ),
                PHONE,
                ADDRESS,
                CITY,
                STATE,
                POSTAL_CODE,
            ],
            add_company,
        ),
        SampleTool::new(
            "update_ticket",
            "Change a ticket.",
            WRITES,
            &[
                TICKET_ID,
                SchemaField::optional("title", SchemaTakes::Text(1), "New title"),
                STATUS,
                PRIORITY,
                ASSIGNED,
            ],
            change_ticket,
        ),
        SampleTool::new(
            "update_company",
            "Change a company.",
            WRITES,
            &[
                SchemaField::required(
                    "companyID",
                    SchemaTakes::Integer,
                    "Company id, such as 12345",
                ),
                SchemaField::optional("companyName", SchemaTakes::Text(1), "New name"),
                SchemaField::optional(
                    "isActive",
                    SchemaTakes::Flag,
                    "Whether the company is active",
                ),
                SchemaField::optional(
                    "companyType",
                    SchemaTakes::Between(1, 7),
                    "Type id, 1 (customer) to 7 (partner)",
                ),
                PHONE,
                ADDRESS,
                CITY,
                STATE,
                POSTAL_CODE,
            ],
            change_company,
        ),
        SampleTool::new(
            "test_connection",
            "Check that the system can be reached.",
            READS,
            &[],
            |_, _| {
                success(
                    "Successfully connected to Autotask API",
                    &json!({"success": true}),
                )
            },
        ),
    ],
    invalid,
    shelves: SHELVES,
};

const SEARCH: &[SchemaField] = &[
    SchemaField::optional(
        "searchTerm",
        SchemaTakes::Text(1),
        "Part of the company name",
    ),
    SchemaField::optional(
        "isActive",
        SchemaTakes::Flag,
        "Only active (true) or only inactive (false) companies",
    ),
    PAGE_SIZE,
    RESPONSE_FORMAT,
];
const PAGE_SIZE: SchemaField = SchemaField::optional(
    "pageSize",
    SchemaTakes::PageSize("integer"),
    "Results to return, -1 for all up to 500",
);
const RESPONSE_FORMAT: SchemaField = SchemaField::optional(
    "response_format",
    SchemaTakes::Choice(&["json", "markdown"]),
    "json for programs, markdown for reading",
);
const STATUS: SchemaField =
    SchemaField::optional("status", SchemaTakes::Between(1, 5), "Status id");
const PRIORITY: SchemaField =
    SchemaField::optional("priority", SchemaTakes::Between(1, 4), "Priority id");
const ASSIGNED: SchemaField = SchemaField::optional(
    "assignedResourceID",
    SchemaTakes::Integer,
    "Resource to assign, such as 5001",
);
const PHONE: SchemaField = SchemaField::optional("phone", SchemaTakes::Text(0), "Phone number");
const ADDRESS: SchemaField = SchemaField::optional("address1", SchemaTakes::Text(0), "Street");
const CITY: SchemaField = SchemaField::optional("city", SchemaTakes::Text(0), "City");
const STATE: SchemaField = SchemaField::optional("state", SchemaTakes::Text(0), "State");
const POSTAL_CODE: SchemaField =
    SchemaField::optional("postalCode", SchemaTakes::Text(0), "Postal code");

/// Appended to what was cut. Kept fault: its 126 characters come on top of the limit, and cut JSON is no JSON.
const GUIDANCE: &str = "\n\n[Response truncated at 25000 characters. Use filters such as searchTerm or a smaller pageSize to get a more focused result.]";

fn limited(text: &str) -> Value {
    if length(text) > LIMIT {
        text_result(&format!("{}{GUIDANCE}", cut(text, LIMIT)), false)
    } else {
        text_result(text, false)
    }
}

fn success(message: &str, data: &Value) -> Value {
    limited(&pretty(&json!({"message": message, "data": data})))
}

/// Kept oddity: the data says `isError` once more, inside the text.
fn failure(
    call: &SampleCall<'_>,
    code: &str,
    message: &str,
    details: &[String],
    guidance: &str,
) -> Value {
    let error = json!({
        "code": code,
        "message": message,
        "details": details,
        "guidance": guidance,
        "correlationId": correlation_id(call),
    });
    text_result(&pretty(&json!({"isError": true, "error": error})), true)
}

/// A UUID made from the call, so that the same call gives the same bytes in every run.
fn correlation_id(call: &SampleCall<'_>) -> String {
    let mut hash = Sha256::new();
    hash.update(call.tool);
    hash.update([0]);
    hash.update(call.raw);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80; // Version 8: made by a rule of one's own.
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

fn invalid(violations: &[Violation], call: &SampleCall<'_>) -> Value {
    let details: Vec<_> = violations
        .iter()
        .map(|violation| format!("{}: {}", violation.field, violation.message))
        .collect();
    let guidance = "Check the parameters against the input schema of the tool and try again.";
    failure(
        call,
        "VALIDATION_ERROR",
        "Invalid parameters provided",
        &details,
        guidance,
    )
}

fn not_found(call: &SampleCall<'_>, what: &str, key: &str, search: &str) -> Value {
    let id = call.args.integer(key).unwrap_or_default();
    let guidance = format!("Use {} to find the right ID.", call.tool(search));
    failure(
        call,
        "NOT_FOUND",
        &format!("{what} with ID {id} not found"),
        &[format!("{key}: {id}")],
        &guidance,
    )
}

fn page<'a, T>(matches: Vec<&'a T>, call: &SampleCall<'_>) -> Vec<&'a T> {
    let size = call.args.integer("pageSize").unwrap_or(50);
    matches
        .into_iter()
        .take(usize::try_from(size).unwrap_or(500))
        .collect()
}

fn wants_markdown(call: &SampleCall<'_>) -> bool {
    call.args.text("response_format").as_deref() == Some("markdown")
}

/// Kept fault: cells are not escaped.
fn table(what: &str, columns: [&str; 4], rows: &[[String; 4]]) -> Value {
    if rows.is_empty() {
        return limited(&format!("No {} found.", what.to_lowercase()));
    }
    let mut text = format!(
        "## {what} ({} results)\n\n| {} |\n|{}",
        rows.len(),
        columns.join(" | "),
        " --- |".repeat(4)
    );
    for row in rows {
        text += &format!("\n| {} |", row.join(" | "));
    }
    limited(&text)
}

fn search_companies(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    let companies = page(find_companies(desk, call.args), call);
    if wants_markdown(call) {
        let row = |company: &&Company| {
            [
                company["id"].to_string(),
                field(company, "companyName").unwrap_or("N/A").to_owned(),
                if company["isActive"] == true {
                    "Active"
                } else {
                    "Inactive"
                }
                .to_owned(),
                field(company, "phone").unwrap_or("N/A").to_owned(),
            ]
        };
        return table(
            "Companies",
            ["ID", "Name", "Status", "Phone"],
            &companies.iter().map(row).collect::<Vec<_>>(),
        );
    }
    success(
        &format!("Found {} companies", companies.len()),
        &json!(companies),
    )
}

fn search_tickets(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    let open = call.args.flag("isActive");
    let matches = |ticket: &&Ticket| {
        matches_term(ticket, call.args) && open.is_none_or(|open| open == (ticket.status < 5))
    };
    let tickets = page(desk.tickets.iter().filter(matches).collect(), call);
    if wants_markdown(call) {
        let row = |ticket: &&Ticket| {
            let assigned = ticket
                .assigned
                .as_ref()
                .map_or("N/A".into(), |(_, name)| name.clone());
            [
                ticket.id.to_string(),
                ticket.title.clone(),
                status_name(ticket.status),
                assigned,
            ]
        };
        return table(
            "Tickets",
            ["ID", "Title", "Status", "Assigned To"],
            &tickets.iter().map(row).collect::<Vec<_>>(),
        );
    }
    let rows: Vec<_> = tickets.iter().map(|ticket| ticket_row(ticket)).collect();
    success(&format!("Found {} tickets", rows.len()), &rows.into())
}

fn get_ticket_details(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    match call.args.integer("ticketID").and_then(|id| desk.ticket(id)) {
        Some(ticket) => success("Ticket details retrieved", &ticket_detail(ticket)),
        None => not_found(call, "Ticket", "ticketID", "search_tickets"),
    }
}

fn get_ticket_note(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    let (ticket, note) = (call.args.integer("ticketID"), call.args.integer("noteID"));
    match ticket.and_then(|ticket| desk.notes_of(ticket).find(|found| Some(found.id) == note)) {
        Some(note) => success("Ticket note retrieved", &note_row(note)),
        None => not_found(call, "Note", "noteID", "get_ticket_details"),
    }
}

fn add_ticket(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    match create_ticket(desk, call.args) {
        Some(ticket) => success(
            &format!("Successfully created ticket with ID: {}", ticket.id),
            &ticket_detail(&ticket),
        ),
        None => not_found(call, "Company", "companyID", "search_companies"),
    }
}

fn change_ticket(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    match update_ticket(desk, call.args) {
        Some(ticket) => success(
            &format!("Successfully updated ticket ID: {}", ticket.id),
            &ticket_detail(&ticket),
        ),
        None => not_found(call, "Ticket", "ticketID", "search_tickets"),
    }
}

fn add_company(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    let company = create_company(desk, call.args);
    success(
        &format!("Successfully created company with ID: {}", company["id"]),
        &company.into(),
    )
}

fn change_company(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    match update_company(desk, call.args) {
        Some(company) => success(
            &format!("Successfully updated company ID: {}", company["id"]),
            &company.into(),
        ),
        None => not_found(call, "Company", "companyID", "search_companies"),
    }
}
