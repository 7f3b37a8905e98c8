//! `autotask-dual`: Markdown for people and `structuredContent` for programs in every result, rendered apart.
//!
//! Cells are not escaped: a kept fault. The original has neither output schemas nor annotations; both can be switched on.

use serde_json::{Value, json};
use time::Duration;

use super::data::{Desk, NOW, Ticket};
use super::kit::{Kit, SampleCall, SampleOptions, SampleTool, text_result};
use super::page::{Page, RULE, result};
use super::records::{
    READS, SHELVES, TICKET_ID, WRITES, create_company, create_ticket, find_companies, matches_term,
    note_row, ticket_detail, ticket_row, update_ticket,
};
use super::schema::{SchemaField, SchemaTakes, Violation};
use super::text::{absolute, clock, field, icon, priority_name, relative, status_name};
use super::{companies, output};

pub(super) const KIT: Kit<Desk> = Kit {
    set: "autotask-dual",
    original: "autotask_",
    unique: "dual_",
    variant,
    closed: false,
    annotated: false,
    titled: true,
    tools: &[
        SampleTool::new(
            "search_companies",
            "Search companies.",
            READS,
            &[
                SchemaField::optional(
                    "searchTerm",
                    SchemaTakes::Text(0),
                    "Part of the company name",
                ),
                SchemaField::optional(
                    "isActive",
                    SchemaTakes::Flag,
                    "Only active or only inactive companies",
                ),
                PAGE_SIZE,
            ],
            search_companies,
        )
        .answering(output::companies),
        SampleTool::new(
            "search_tickets",
            "Search tickets.",
            READS,
            &[
                SchemaField::optional(
                    "status",
                    SchemaTakes::Text(0),
                    "Status id or comparison, such as `1` or `<5` (open)",
                ),
                SchemaField::optional(
                    "companyID",
                    SchemaTakes::Integer,
                    "Only tickets of this company",
                ),
                SchemaField::optional(
                    "assignedResourceID",
                    SchemaTakes::Integer,
                    "Only tickets assigned to this resource",
                ),
                SchemaField::optional(
                    "searchTerm",
                    SchemaTakes::Text(0),
                    "Part of the title or ticket number",
                ),
                PAGE_SIZE,
            ],
            search_tickets,
        )
        .answering(output::tickets),
        SampleTool::new(
            "get_ticket_details",
            "Get one ticket with its recent notes.",
            READS,
            &[TICKET_ID],
            get_ticket_details,
        )
        .answering(output::ticket_details),
        SampleTool::new(
            "search_ticket_notes",
            "List the notes of one ticket.",
            READS,
            &[TICKET_ID, PAGE_SIZE],
            search_ticket_notes,
        )
        .answering(output::notes),
        SampleTool::new(
            "update_ticket",
            "Change status, priority or assignee of a ticket.",
            WRITES,
            &[
                TICKET_ID,
                SchemaField::optional("status", SchemaTakes::Integer, "Status id, 1 to 5"),
                SchemaField::optional("priority", SchemaTakes::Integer, "Priority id, 1 to 4"),
                SchemaField::optional(
                    "assignedResourceID",
                    SchemaTakes::Integer,
                    "Resource to assign",
                ),
            ],
            change_ticket,
        )
        .answering(output::ticket),
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
                SchemaField::required("title", SchemaTakes::Text(0), "Short title"),
                SchemaField::optional("description", SchemaTakes::Text(0), "What happened"),
                SchemaField::optional("priority", SchemaTakes::Integer, "Priority id, 1 to 4"),
                SchemaField::optional(
                    "assignedResourceID",
                    SchemaTakes::Integer,
                    "Resource to assign",
                ),
            ],
            add_ticket,
        )
        .answering(output::ticket),
        SampleTool::new(
            "create_company",
            "Create a company.",
            WRITES,
            &[
                SchemaField::required("companyName", SchemaTakes::Text(0), "Name"),
                SchemaField::optional(
                    "companyType",
                    SchemaTakes::Integer,
                    "Type id, 1 (customer) to 7",
                ),
                SchemaField::optional("phone", SchemaTakes::Text(0), "Phone number"),
                SchemaField::optional("address1", SchemaTakes::Text(0), "Street"),
                SchemaField::optional("city", SchemaTakes::Text(0), "City"),
                SchemaField::optional("state", SchemaTakes::Text(0), "State"),
                SchemaField::optional("postalCode", SchemaTakes::Text(0), "Postal code"),
            ],
            add_company,
        )
        .answering(output::company),
    ],
    invalid,
    shelves: SHELVES,
};

const PAGE_SIZE: SchemaField = SchemaField::optional(
    "pageSize",
    SchemaTakes::PageSize("number"),
    "Results to return, -1 for all up to 500",
);

fn variant(options: &SampleOptions) -> String {
    let what = match (options.phase, options.text) {
        (0, _) => "phase 0, pretty JSON as text only".to_owned(),
        (1, _) => "phase 1, pretty JSON as text with structuredContent".to_owned(),
        (_, text) => format!("text v{text} with structuredContent"),
    };
    format!("Re-creates the autotask-dual system, {what}.")
}

/// The original has no form for errors; this is the specification's.
fn failure(what: &str, advice: &str) -> Value {
    text_result(&format!("❌ **Error**: {what}\n\n💡 {advice}"), true)
}

fn invalid(violations: &[Violation], _: &SampleCall<'_>) -> Value {
    let list: Vec<_> = violations
        .iter()
        .map(|violation| format!("- {}", violation.message))
        .collect();
    text_result(
        &format!("❌ **Invalid Parameters**\n\n{}", list.join("\n")),
        true,
    )
}

fn no_results(call: &SampleCall<'_>) -> String {
    format!(
        "ℹ️ **No Results Found**\n\n- Broaden the filters or remove some\n- Check the spelling of the search term\n- Verify company IDs with `{}`",
        call.tool("search_companies")
    )
}

fn search_companies(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    let page = Page::new(find_companies(desk, call.args), call.args);
    let query = call
        .args
        .text("searchTerm")
        .filter(|term| !term.is_empty())
        .unwrap_or_else(|| "All companies".into());
    let text = companies::list(call.options.text, &query, &page, &no_results(call));
    let message = format!("Found {} companies", page.items.len());
    result(
        call,
        &message,
        text,
        page.structured(|company| Value::Object(company.clone()), None),
    )
}

/// `1`, `<5`, `>=2`, `!=5`: the comparison and the number.
fn status_filter(text: &str) -> Option<(&str, i64)> {
    let text = text.trim();
    let digits = text.trim_start_matches(['<', '>', '=', '!']);
    let sign = match &text[..text.len() - digits.len()] {
        "" | "=" | "==" => "=",
        sign @ ("<" | "<=" | ">" | ">=" | "!=") => sign,
        _ => return None,
    };
    Some((sign, digits.trim().parse().ok()?))
}

fn search_tickets(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    let args = call.args;
    let (status, company, assigned) = (
        args.text("status"),
        args.integer("companyID"),
        args.integer("assignedResourceID"),
    );
    let filter = match status
        .as_deref()
        .map(|text| status_filter(text).ok_or(text))
    {
        None => None,
        Some(Ok(filter)) => Some(filter),
        Some(Err(text)) => {
            return failure(
                &format!("`{text}` is not a status filter"),
                "Use a status id or a comparison, such as `1` or `<5`.",
            );
        }
    };
    let of_status = |ticket: &Ticket| match filter {
        None => true,
        Some(("<", n)) => ticket.status < n,
        Some(("<=", n)) => ticket.status <= n,
        Some((">", n)) => ticket.status > n,
        Some((">=", n)) => ticket.status >= n,
        Some(("!=", n)) => ticket.status != n,
        Some((_, n)) => ticket.status == n,
    };
    let matches = |ticket: &&Ticket| {
        of_status(ticket)
            && company.is_none_or(|id| ticket.company.0 == id)
            && assigned.is_none_or(|id| ticket.assigned.as_ref().is_some_and(|(of, _)| *of == id))
            && matches_term(ticket, args)
    };
    let page = Page::new(desk.tickets.iter().filter(matches).collect(), args);

    let (mut named, mut filters) = (Vec::new(), json!({}));
    if let (Some(text), Some((sign, n))) = (&status, filter) {
        let meaning = if (sign, n) == ("<", 5) {
            "Open".into()
        } else {
            status_name(n)
        };
        named.push(format!("Status {sign} {n} ({meaning})"));
        filters["status"] = text.as_str().into();
    }
    if let Some(id) = company {
        let name = desk
            .company(id)
            .and_then(|company| field(company, "companyName"))
            .unwrap_or("Unknown");
        named.push(format!("Company: {name} (ID: {id})"));
        filters["companyID"] = id.into();
    }
    if let Some(id) = assigned {
        named.push(format!(
            "Assigned To: {} (Resource ID: {id})",
            super::data::resource(id).1
        ));
        filters["assignedResourceID"] = id.into();
    }
    if let Some(term) = args.text("searchTerm") {
        named.push(format!("Search: \"{term}\""));
        filters["searchTerm"] = term.into();
    }
    let named = if named.is_empty() {
        "None".into()
    } else {
        named.join(", ")
    };
    let mut text = format!(
        "## Ticket Search Results\n\n**Filters**: {named}\n**Results**: {} tickets found{RULE}",
        page.items.len()
    );
    if page.items.is_empty() {
        text += &no_results(call);
    } else {
        text += "| ID | Title | Status | Priority | Assigned To | Last Updated |\n|----|-------|--------|----------|-------------|--------------|";
        for ticket in &page.items {
            text += &ticket_cells(ticket);
        }
        text += RULE;
        text += &ticket_footer(page.items.len(), page.matched);
        text += RULE;
        text += &format!(
            "### Quick Actions\n\n- View a ticket: `{}`\n- Read its notes: `{}`\n- Change it: `{}`",
            call.tool("get_ticket_details"),
            call.tool("search_ticket_notes"),
            call.tool("update_ticket"),
        );
    }
    let message = format!("Found {} tickets", page.items.len());
    result(
        call,
        &message,
        text,
        page.structured(ticket_row, Some(filters)),
    )
}

fn ticket_cells(ticket: &Ticket) -> String {
    let status = status_name(ticket.status);
    let assigned = ticket
        .assigned
        .as_ref()
        .map_or("Unassigned", |(_, name)| name);
    format!(
        "\n| [{}](#{}) | {} | {} {status} | P{} | {assigned} | {} |",
        ticket.number(),
        ticket.id,
        ticket.title,
        icon(&status),
        ticket.priority,
        relative(ticket.updated),
    )
}

/// Tells the true total, which the data next to it does not.
fn ticket_footer(shown: usize, matched: usize) -> String {
    if shown == matched {
        return format!("✅ **All Results Shown**: Displaying all {shown} matching tickets.");
    }
    format!(
        "⚠️ **Results Truncated**: Showing first {shown} of {matched} total matches.\n\n- Use `pageSize: 100` to see more\n- Use `pageSize: -1` to see all (may be slow)\n- Add filters to narrow the results\n\nExample: `{{\"status\": \"<5\", \"pageSize\": 100}}`"
    )
}

fn no_ticket(id: Option<i64>, call: &SampleCall<'_>) -> Value {
    let id = id.unwrap_or_default();
    failure(
        &format!("Ticket with ID {id} not found"),
        &format!("Use `{}` to find the ID.", call.tool("search_tickets")),
    )
}

fn get_ticket_details(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    let id = call.args.integer("ticketID");
    let Some(ticket) = id.and_then(|id| desk.ticket(id)) else {
        return no_ticket(id, call);
    };
    let notes: Vec<_> = desk.notes_of(ticket.id).collect();
    let status = status_name(ticket.status);
    let assigned = ticket
        .assigned
        .as_ref()
        .map_or("Unassigned".into(), |(id, name)| {
            format!("{name} (Resource ID: {id})")
        });
    let due = ticket.due.map_or("N/A".into(), |due| {
        let left = due - NOW;
        let note = match left {
            left if left.is_negative() => " ⚠️ (overdue)".into(),
            left if left < Duration::DAY => format!(
                " ⚠️ ({:.1} hours remaining)",
                left.whole_minutes() as f64 / 60.0
            ),
            _ => String::new(),
        };
        format!("{}{note}", absolute(due))
    });
    let mut text = format!(
        "# Ticket {}: {}\n\n## Overview\n\n- **Status**: {} {status} (ID: {})\n- **Priority**: P{} - {}\n- **Company**: {} (ID: {})\n- **Contact**: {} ({})\n- **Assigned To**: {assigned}\n- **Queue**: {}\n\n## Timeline\n\n- **Created**: {} by {}\n- **Last Updated**: {} by {}\n- **Due Date**: {due}\n\n## Description\n\n{}\n\n## Recent Notes ({})",
        ticket.number(),
        ticket.title,
        icon(&status),
        ticket.status,
        ticket.priority,
        priority_name(ticket.priority),
        ticket.company.1,
        ticket.company.0,
        ticket.contact.1,
        ticket.contact_email,
        ticket.queue.1,
        absolute(ticket.created),
        ticket.created_by,
        relative(ticket.updated),
        ticket.updated_by,
        ticket.description,
        notes.len(),
    );
    text += if notes.is_empty() { "" } else { "\n" };
    for (n, note) in notes.iter().enumerate() {
        let when = if note.created.date() == NOW.date() {
            clock(note.created)
        } else {
            absolute(note.created)
        };
        text += &format!(
            "\n{}. **[{when}] {}** - {}",
            n + 1,
            note.author.1,
            note.description
        );
    }
    if !ticket.plan.is_empty() {
        text += "\n\n## Resolution Plan\n";
        for step in ticket.plan {
            text += &format!("\n- {step}");
        }
    }
    text += RULE;
    text += &format!(
        "💡 **Next Actions**: Use `{}` to change the ticket or `{}` to read all notes.",
        call.tool("update_ticket"),
        call.tool("search_ticket_notes")
    );
    let recent: Vec<_> = notes.iter().map(|note| note_row(note)).collect();
    let structured = json!({
        "ticket": ticket_detail(ticket),
        "recentNotes": recent,
        "metadata": {"fullDetails": true, "includesNotes": true, "noteCount": notes.len()},
    });
    result(call, "Ticket details retrieved", text, structured)
}

fn search_ticket_notes(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    let id = call.args.integer("ticketID");
    let Some(ticket) = id.and_then(|id| desk.ticket(id)) else {
        return no_ticket(id, call);
    };
    let page = Page::new(desk.notes_of(ticket.id).collect(), call.args);
    let mut text = format!(
        "## Notes of Ticket {}\n\n**Ticket**: {}\n**Results**: {} notes found{RULE}",
        ticket.number(),
        ticket.title,
        page.items.len()
    );
    if page.items.is_empty() {
        text += &no_results(call);
    } else {
        let notes: Vec<_> = page
            .items
            .iter()
            .map(|note| {
                let (author, created) = (&note.author, relative(note.created));
                format!(
                    "### {} (ID: {})\n\n- **Author**: {} (Resource ID: {})\n- **Created**: {created}\n\n{}",
                    note.title, note.id, author.1, author.0, note.description
                )
            })
            .collect();
        text += &notes.join(RULE);
        text += &page.footer();
    }
    let message = format!("Found {} notes", page.items.len());
    result(call, &message, text, page.structured(note_row, None))
}

fn change_ticket(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    let Some(ticket) = update_ticket(desk, call.args) else {
        return no_ticket(call.args.integer("ticketID"), call);
    };
    saved(call, "updated", &ticket)
}

fn add_ticket(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    let Some(ticket) = create_ticket(desk, call.args) else {
        let id = call.args.integer("companyID").unwrap_or_default();
        return failure(
            &format!("Company with ID {id} not found"),
            &format!("Use `{}` to find the ID.", call.tool("search_companies")),
        );
    };
    saved(call, "created", &ticket)
}

fn saved(call: &SampleCall<'_>, what: &str, ticket: &Ticket) -> Value {
    let status = status_name(ticket.status);
    let assigned = ticket
        .assigned
        .as_ref()
        .map_or("Unassigned".into(), |(id, name)| {
            format!("{name} (Resource ID: {id})")
        });
    let text = format!(
        "✅ **Ticket {}**: Ticket {} - {}\n\n- **Status**: {} {status}\n- **Priority**: P{}\n- **Assigned To**: {assigned}\n- **Company**: {} (ID: {})",
        if what == "updated" {
            "Updated"
        } else {
            "Created"
        },
        ticket.number(),
        ticket.title,
        icon(&status),
        ticket.priority,
        ticket.company.1,
        ticket.company.0,
    );
    result(
        call,
        &format!("Ticket {what}"),
        text,
        json!({"ticket": ticket_detail(ticket)}),
    )
}

fn add_company(desk: &mut Desk, call: &SampleCall<'_>) -> Value {
    let company = create_company(desk, call.args);
    let text = format!(
        "✅ **Company Created**\n\n{}",
        companies::field_table(&company)
    );
    result(call, "Company created", text, json!({"company": company}))
}
