//! What the two Autotask sets have in common: the JSON of a record, and how records are found and changed.

use serde_json::{Value, json};

use super::data::{self, Company, Desk, NOW, Ticket, TicketNote, iso};
use super::kit::{Hints, Shelf};
use super::schema::{Args, SchemaField, SchemaTakes};
use super::text::{contains, priority_name, status_name};

pub(crate) const TICKET_ID: SchemaField =
    SchemaField::required("ticketID", SchemaTakes::Integer, "Ticket id, such as 1001");

/// What the tools of both systems declare; of the dual one only when told to.
pub const READS: Hints = Hints::READS.outside();
/// Kept oddity: an update that overwrites is declared neither destructive nor idempotent.
pub const WRITES: Hints = Hints::writes(false, false).outside();

/// What both systems hold.
pub(crate) const SHELVES: &[Shelf<Desk>] = &[
    Shelf {
        name: "companies",
        about: "All companies",
        key: "id",
        records: |desk| json!(desk.companies),
    },
    Shelf {
        name: "tickets",
        about: "All tickets, in full",
        key: "id",
        records: |desk| desk.tickets.iter().map(ticket_detail).collect(),
    },
];

/// A ticket as lists carry it.
pub(crate) fn ticket_row(ticket: &Ticket) -> Value {
    json!({
        "id": ticket.id,
        "ticketNumber": ticket.number(),
        "title": ticket.title,
        "status": ticket.status,
        "statusName": status_name(ticket.status),
        "priority": ticket.priority,
        "priorityName": priority_name(ticket.priority),
        "assignedResourceID": ticket.assigned.as_ref().map(|(id, _)| id),
        "assignedResourceName": ticket.assigned.as_ref().map(|(_, name)| name),
        "companyID": ticket.company.0,
        "companyName": ticket.company.1,
        "createDate": iso(ticket.created),
        "lastActivityDate": iso(ticket.activity),
    })
}

/// All 21 fields of a ticket.
pub(crate) fn ticket_detail(ticket: &Ticket) -> Value {
    json!({
        "id": ticket.id,
        "ticketNumber": ticket.number(),
        "title": ticket.title,
        "description": ticket.description,
        "status": ticket.status,
        "priority": ticket.priority,
        "companyID": ticket.company.0,
        "companyName": ticket.company.1,
        "contactID": ticket.contact.0,
        "contactName": ticket.contact.1,
        "contactEmail": ticket.contact_email,
        "assignedResourceID": ticket.assigned.as_ref().map(|(id, _)| id),
        "assignedResourceName": ticket.assigned.as_ref().map(|(_, name)| name),
        "queueID": ticket.queue.0,
        "queueName": ticket.queue.1,
        "createDate": iso(ticket.created),
        "lastActivityDate": iso(ticket.activity),
        "dueDateTime": ticket.due.map(iso),
        "resolution": null,
        "estimatedHours": ticket.estimated_hours,
        "hoursWorked": ticket.hours_worked,
    })
}

pub(crate) fn note_row(note: &TicketNote) -> Value {
    json!({
        "id": note.id,
        "title": note.title,
        "description": note.description,
        "createDate": iso(note.created),
        "createdByResourceID": note.author.0,
        "createdByResourceName": note.author.1,
    })
}

/// The companies that `searchTerm` and `isActive` leave.
pub(crate) fn find_companies<'a>(desk: &'a Desk, args: Args<'_>) -> Vec<&'a Company> {
    let (term, active) = (args.text("searchTerm"), args.flag("isActive"));
    let matches = |company: &&Company| {
        term.as_ref().is_none_or(|term| {
            company["companyName"]
                .as_str()
                .is_some_and(|name| contains(name, term))
        }) && active.is_none_or(|active| company["isActive"] == active)
    };
    desk.companies.iter().filter(matches).collect()
}

/// Whether `searchTerm` is in the ticket's title or number.
pub(crate) fn matches_term(ticket: &Ticket, args: Args<'_>) -> bool {
    args.text("searchTerm")
        .is_none_or(|term| contains(&ticket.title, &term) || contains(&ticket.number(), &term))
}

/// The keys of a company that the write tools take.
const TEXT_KEYS: &[&str] = &[
    "companyName",
    "phone",
    "address1",
    "city",
    "state",
    "postalCode",
];

/// Adds a company of the given fields.
pub(crate) fn create_company(desk: &mut Desk, args: Args<'_>) -> Company {
    let id = data::next_id(
        desk.companies
            .iter()
            .filter_map(|company| company["id"].as_i64()),
    );
    let mut company = Company::new();
    company.insert("id".into(), id.into());
    company.insert("companyName".into(), args.text("companyName").into());
    company.insert("isActive".into(), true.into());
    company.insert(
        "companyType".into(),
        args.integer("companyType").unwrap_or(1).into(),
    );
    for key in &TEXT_KEYS[1..] {
        if let Some(text) = args.text(key) {
            company.insert((*key).into(), text.into());
        }
    }
    company.insert("lastModifiedDate".into(), iso(NOW).into());
    desk.companies.push(company.clone());
    company
}

/// Overwrites the given fields; `None` where there is no such company.
pub(crate) fn update_company(desk: &mut Desk, args: Args<'_>) -> Option<Company> {
    let company = desk.company_mut(args.integer("companyID")?)?;
    for key in TEXT_KEYS {
        if let Some(text) = args.text(key) {
            company.insert((*key).into(), text.into());
        }
    }
    if let Some(active) = args.flag("isActive") {
        company.insert("isActive".into(), active.into());
    }
    if let Some(company_type) = args.integer("companyType") {
        company.insert("companyType".into(), company_type.into());
    }
    company.insert("lastModifiedDate".into(), iso(NOW).into());
    Some(company.clone())
}

/// Adds a ticket of the given fields; `None` where there is no such company.
pub(crate) fn create_ticket(desk: &mut Desk, args: Args<'_>) -> Option<Ticket> {
    let company = args.integer("companyID")?;
    let name = desk.company(company)?["companyName"].as_str()?.to_owned();
    let ticket = Ticket {
        id: data::next_id(desk.tickets.iter().map(|ticket| ticket.id)),
        title: args.text("title")?,
        description: args.text("description").unwrap_or_default(),
        status: args.integer("status").unwrap_or(3),
        priority: args.integer("priority").unwrap_or(3),
        assigned: args.integer("assignedResourceID").map(data::resource),
        company: (company, name),
        contact: (3001, "Jane Doe".into()),
        contact_email: "jane.doe@acme.example".into(),
        queue: (8, "Level 1 Support".into()),
        created: NOW,
        created_by: "API User".into(),
        updated: NOW,
        updated_by: "API User".into(),
        activity: NOW,
        due: None,
        estimated_hours: 0.0,
        hours_worked: 0.0,
        plan: &[],
    };
    desk.tickets.push(ticket.clone());
    Some(ticket)
}

/// Overwrites the given fields; `None` where there is no such ticket.
pub(crate) fn update_ticket(desk: &mut Desk, args: Args<'_>) -> Option<Ticket> {
    let ticket = desk.ticket_mut(args.integer("ticketID")?)?;
    if let Some(title) = args.text("title") {
        ticket.title = title;
    }
    if let Some(status) = args.integer("status") {
        ticket.status = status;
    }
    if let Some(priority) = args.integer("priority") {
        ticket.priority = priority;
    }
    if let Some(id) = args.integer("assignedResourceID") {
        ticket.assigned = Some(data::resource(id));
    }
    ticket.updated = NOW;
    ticket.activity = NOW;
    ticket.updated_by = "API User".into();
    Some(ticket.clone())
}
