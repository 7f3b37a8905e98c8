//! The records: made from word lists, the same in every run, and changed only by the write tools of one connection.

use serde_json::{Map, Value, json};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

use super::hostile;
use super::words::{
    ABOUTS, DESCRIPTIONS, FIRST_NAMES, LAST_NAMES, LONG_NOTE, NAME_ENDS, NAME_STARTS, NOTES,
    OTHER_NAMES, PLACES, QUEUES, RESOURCES, STREETS, TICKET_TITLES,
};

/// The moment at which everything happens, so that relative times stay the same.
pub(crate) const NOW: OffsetDateTime = datetime!(2025-01-17 14:30:00 UTC);

/// A company as it is sent. An ordered map rather than a struct, since a hostile one has odd types and lacks keys.
pub type Company = Map<String, Value>;

/// An id and the name that goes with it.
pub type Named = (i64, String);

#[derive(Clone, Debug)]
pub struct Ticket {
    pub id: i64,
    pub title: String,
    pub description: String,
    pub status: i64,
    pub priority: i64,
    pub(crate) assigned: Option<Named>,
    pub company: Named,
    pub contact: Named,
    pub(crate) contact_email: String,
    pub queue: Named,
    pub created: OffsetDateTime,
    pub(crate) created_by: String,
    /// What the texts call the last update.
    pub updated: OffsetDateTime,
    pub(crate) updated_by: String,
    /// What the data calls the last activity; the original's first ticket has it differ from `updated`.
    pub activity: OffsetDateTime,
    pub due: Option<OffsetDateTime>,
    pub(crate) estimated_hours: f64,
    pub(crate) hours_worked: f64,
    /// Only ever shown in the text.
    pub plan: &'static [&'static str],
}

impl Ticket {
    pub fn number(&self) -> String {
        format!("T-{}", self.id)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct TicketNote {
    pub id: i64,
    pub(crate) ticket: i64,
    pub title: String,
    pub description: String,
    pub created: OffsetDateTime,
    pub author: Named,
}

#[derive(Clone, Debug)]
pub struct User {
    pub id: i64,
    pub name: String,
    pub(crate) surname: String,
    pub email: String,
    pub phone: Option<String>,
    pub company: Option<String>,
    pub salary: Option<f64>,
    pub about: Option<String>,
}

/// The records of the two systems with companies and tickets.
#[derive(Clone, Debug)]
pub struct Desk {
    pub companies: Vec<Company>,
    pub tickets: Vec<Ticket>,
    pub notes: Vec<TicketNote>,
}

impl Desk {
    /// `size` companies and as many tickets, the hostile ones first.
    pub fn new(size: usize, hostile: bool) -> Self {
        let odd = if hostile {
            hostile::TEXTS.len().min(size)
        } else {
            0
        };
        let companies = (0..odd)
            .map(hostile_company)
            .chain((0..size - odd).map(company))
            .collect();
        let tickets: Vec<_> = (0..odd)
            .map(hostile_ticket)
            .chain((0..size - odd).map(|n| ticket(n, size - odd)))
            .collect();
        let notes = tickets
            .iter()
            .enumerate()
            .flat_map(|(n, ticket)| notes(ticket, n.checked_sub(odd)))
            .collect();
        Self {
            companies,
            tickets,
            notes,
        }
    }

    pub fn company(&self, id: i64) -> Option<&Company> {
        self.companies.iter().find(|company| company["id"] == id)
    }

    pub(crate) fn company_mut(&mut self, id: i64) -> Option<&mut Company> {
        self.companies
            .iter_mut()
            .find(|company| company["id"] == id)
    }

    pub(crate) fn ticket(&self, id: i64) -> Option<&Ticket> {
        self.tickets.iter().find(|ticket| ticket.id == id)
    }

    pub(crate) fn ticket_mut(&mut self, id: i64) -> Option<&mut Ticket> {
        self.tickets.iter_mut().find(|ticket| ticket.id == id)
    }

    pub(crate) fn notes_of(&self, ticket: i64) -> impl Iterator<Item = &TicketNote> {
        self.notes.iter().filter(move |note| note.ticket == ticket)
    }
}

/// The records of the user service.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    pub users: Vec<User>,
}

impl Directory {
    /// `size` users, the hostile ones first.
    pub fn new(size: usize, hostile: bool) -> Self {
        let odd = if hostile {
            hostile::TEXTS.len().min(size)
        } else {
            0
        };
        Self {
            users: (0..odd)
                .map(hostile_user)
                .chain((0..size - odd).map(user))
                .collect(),
        }
    }

    /// Where the user with this id stands.
    pub fn position(&self, id: Option<i64>) -> Option<usize> {
        self.users.iter().position(|user| Some(user.id) == id)
    }
}

/// The id of the next record to be created: past all others but the one made too large on purpose.
pub fn next_id(ids: impl Iterator<Item = i64>) -> i64 {
    ids.filter(|id| *id < hostile::BIG_INTEGER)
        .max()
        .unwrap_or(0)
        + 1
}

/// The name of a resource, known or not.
pub fn resource(id: i64) -> Named {
    let name = RESOURCES
        .iter()
        .find(|(known, _)| *known == id)
        .map_or_else(|| format!("Resource {id}"), |(_, name)| (*name).to_owned());
    (id, name)
}

fn name_of(list: &[(i64, &str)], n: usize) -> Named {
    let (id, name) = list[n % list.len()];
    (id, name.to_owned())
}

/// A number that looks random and is not (SplitMix64), so that neighbouring records differ.
pub fn mix(seed: usize, salt: u64) -> usize {
    let mut z = (seed as u64)
        .wrapping_add(salt.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 1) as usize
}

/// Minutes before [`NOW`].
pub fn ago(minutes: usize) -> OffsetDateTime {
    NOW - Duration::minutes(minutes as i64)
}

/// `2025-01-15T14:30:00Z`.
pub fn iso(time: OffsetDateTime) -> String {
    let (date, clock) = (time.date(), time.time());
    let (year, month, day) = date.to_calendar_date();
    format!(
        "{year:04}-{:02}-{day:02}T{:02}:{:02}:{:02}Z",
        u8::from(month),
        clock.hour(),
        clock.minute(),
        clock.second()
    )
}

const ACME: &str = "Acme Corp";
const ACME_ID: i64 = 12345;

fn company_id(n: usize) -> i64 {
    ACME_ID + 37 * n as i64
}

fn company_name(n: usize) -> String {
    if n == 0 {
        return ACME.into();
    }
    // Runs of the starts meet shifted runs of the ends, so a name comes again only after 1,000 others.
    let again = n / (NAME_STARTS.len() * NAME_ENDS.len());
    let name = if n % 9 == 4 && n < 9 * OTHER_NAMES.len() {
        OTHER_NAMES[n / 9].to_owned()
    } else {
        let start = n % NAME_STARTS.len();
        format!(
            "{} {}",
            NAME_STARTS[start],
            NAME_ENDS[(n / NAME_STARTS.len() + 7 * start) % NAME_ENDS.len()]
        )
    };
    if again == 0 {
        name
    } else {
        format!("{name} {}", again + 1)
    }
}

fn company(n: usize) -> Company {
    let (city, state, zip, area) = PLACES[mix(n, 1) % PLACES.len()];
    let mut company = Company::new();
    let mut set = |key: &str, value: Value| {
        company.insert(key.to_owned(), value);
    };
    set("id", company_id(n).into());
    set("companyName", company_name(n).into());
    set("isActive", (!mix(n, 2).is_multiple_of(5) || n == 0).into());
    set(
        "companyType",
        (if n == 0 { 1 } else { 1 + mix(n, 3) % 8 }).into(),
    );
    match n {
        0 => set("phone", "555-123-4567".into()),
        // Null and absent are different facts, and both occur.
        n if n % 23 == 7 => set("phone", Value::Null),
        n if n % 23 == 18 => {}
        n => set(
            "phone",
            format!("{area}-555-01{:02}", mix(n, 4) % 100).into(),
        ),
    }
    if n % 31 != 11 {
        set(
            "address1",
            format!(
                "{} {}",
                1 + mix(n, 5) % 9800,
                STREETS[mix(n, 6) % STREETS.len()]
            )
            .into(),
        );
        set("city", city.into());
        set("state", state.into());
        set("postalCode", zip.into());
    }
    if n % 29 != 13 {
        let time = if n == 0 {
            ago(2 * 24 * 60)
        } else {
            ago(60 + mix(n, 7) % (400 * 24 * 60))
        };
        set("lastModifiedDate", iso(time).into());
    }
    company
}

fn hostile_company(n: usize) -> Company {
    let (what, text) = hostile::TEXTS[n];
    let mut company = company(n + 1);
    company.insert("id".into(), (90_001 + n as i64).into());
    company.insert("companyName".into(), text.into());
    company.insert("postalCode".into(), hostile::ZIP.into());
    match what {
        "odd numbers" => {
            company.insert("id".into(), hostile::BIG_INTEGER.into());
            company.insert("companyType".into(), json!(1.0));
        }
        "empties" => {
            company.insert("phone".into(), Value::Null);
            company.shift_remove("address1");
            company.insert("city".into(), "".into());
            company.insert("tags".into(), json!([]));
        }
        "long value" => {
            company.insert("address1".into(), hostile::long().into());
        }
        _ => {}
    }
    company
}

const PLAN: &[&str] = &[
    "Restart the application pool",
    "Fail over to the standby node",
    "Confirm with the customer and monitor for an hour",
];
const NO_PLAN: &[&str] = &[];

/// The five tickets of the original come first: title, status, priority, assignee, minutes since the update.
const FIRST_TICKETS: &[(&str, i64, i64, Option<usize>, usize)] = &[
    ("Server downtime", 1, 1, Some(0), 120),
    ("Email sync issues", 2, 2, Some(1), 5 * 60),
    ("Password reset request", 3, 3, None, 24 * 60),
    ("Software license renewal", 2, 2, Some(2), 2 * 24 * 60),
    ("Network slowness", 3, 3, None, 3 * 24 * 60),
];

fn ticket(n: usize, companies: usize) -> Ticket {
    let id = 1001 + n as i64;
    let (first, last) = (
        FIRST_NAMES[mix(n, 11) % FIRST_NAMES.len()],
        LAST_NAMES[mix(n, 12) % LAST_NAMES.len()],
    );
    let mut ticket = Ticket {
        id,
        title: TICKET_TITLES[mix(n, 13) % TICKET_TITLES.len()].into(),
        description: DESCRIPTIONS[mix(n, 14) % DESCRIPTIONS.len()].into(),
        status: 1 + (mix(n, 15) % 5) as i64,
        priority: 1 + (mix(n, 16) % 4) as i64,
        assigned: (!mix(n, 17).is_multiple_of(4)).then(|| name_of(RESOURCES, mix(n, 18))),
        company: {
            let of = if companies > 1 {
                1 + mix(n, 19) % (companies - 1)
            } else {
                0
            };
            (company_id(of), company_name(of))
        },
        contact: (3000 + (mix(n, 20) % 900) as i64, format!("{first} {last}")),
        contact_email: format!("contact{id}@example.com"),
        queue: name_of(QUEUES, mix(n, 21)),
        created: ago(4 * 24 * 60 + mix(n, 22) % (60 * 24 * 60)),
        created_by: RESOURCES[mix(n, 23) % RESOURCES.len()].1.into(),
        updated: ago(mix(n, 24) % (12 * 24 * 60)),
        updated_by: RESOURCES[mix(n, 25) % RESOURCES.len()].1.into(),
        activity: NOW,
        due: (!mix(n, 26).is_multiple_of(3))
            .then(|| NOW + Duration::hours(mix(n, 27) as i64 % 240 - 60)),
        estimated_hours: (mix(n, 28) % 16 + 1) as f64 * 0.5,
        hours_worked: (mix(n, 29) % 12) as f64 * 0.25,
        plan: NO_PLAN,
    };
    ticket.activity = ticket.updated;
    if let Some(&(title, status, priority, assigned, minutes)) = FIRST_TICKETS.get(n) {
        ticket.title = title.into();
        ticket.status = status;
        ticket.priority = priority;
        ticket.assigned = assigned.map(|n| name_of(RESOURCES, n));
        ticket.company = (ACME_ID, ACME.into());
        ticket.updated = ago(minutes);
        ticket.activity = ticket.updated;
    }
    if n == 0 {
        ticket.title = "Server downtime".into();
        ticket.description =
            "The production server has not answered since 11:45.\nAll users of the order system are affected.".into();
        ticket.contact = (3001, "Jane Doe".into());
        ticket.contact_email = "jane.doe@acme.example".into();
        ticket.queue = name_of(QUEUES, 0);
        ticket.created = ago(165);
        ticket.created_by = "Jane Doe".into();
        ticket.updated_by = "John Smith".into();
        ticket.activity = NOW;
        ticket.due = Some(NOW + Duration::minutes(150));
        ticket.estimated_hours = 4.0;
        ticket.hours_worked = 2.5;
        ticket.plan = PLAN;
    }
    ticket
}

fn hostile_ticket(n: usize) -> Ticket {
    let (what, text) = hostile::TEXTS[n];
    let company = hostile_company(n);
    let mut ticket = ticket(n + FIRST_TICKETS.len(), 1);
    ticket.id = 9001 + n as i64;
    ticket.title = text.into();
    ticket.description = format!("{text}\n---\nSecond line");
    ticket.company = (
        company["id"].as_i64().unwrap_or(hostile::BIG_INTEGER),
        text.into(),
    );
    ticket.contact.1 = text.into();
    match what {
        "odd numbers" => {
            ticket.id = hostile::BIG_INTEGER;
            ticket.estimated_hours = 1.0;
        }
        "empties" => {
            ticket.description = String::new();
            ticket.assigned = None;
            ticket.due = None;
        }
        "long value" => ticket.description = hostile::long(),
        _ => {}
    }
    ticket
}

/// The notes of a ticket; `plain` is its number among the plain ones.
fn notes(ticket: &Ticket, plain: Option<usize>) -> Vec<TicketNote> {
    let note =
        |n: i64, title: &str, description: String, minutes: usize, author: usize| TicketNote {
            id: if ticket.id == hostile::BIG_INTEGER {
                7_000_000
            } else {
                ticket.id * 100
            } + n,
            ticket: ticket.id,
            title: title.to_owned(),
            description,
            created: ago(minutes),
            author: name_of(RESOURCES, author),
        };
    match plain {
        None => vec![note(1, &ticket.title, ticket.description.clone(), 60, 0)],
        Some(0) => vec![
            note(
                1,
                "Failover started",
                "Started the failover to the standby node".into(),
                0,
                0,
            ),
            note(
                2,
                "Cause found",
                "Disk controller of node 1 reports errors".into(),
                45,
                1,
            ),
            note(
                3,
                "First response",
                "Called Jane Doe, confirmed that orders are down".into(),
                135,
                0,
            ),
        ],
        Some(n) => {
            let long = n % 20 == 7;
            (0..(mix(n, 41) % 4).max(usize::from(long)))
                .map(|k| {
                    let (title, text) = NOTES[mix(n * 4 + k, 42) % NOTES.len()];
                    let text = if long && k == 0 {
                        LONG_NOTE.repeat(8).trim_end().to_owned()
                    } else {
                        text.to_owned()
                    };
                    note(
                        1 + k as i64,
                        title,
                        text,
                        30 + k * 700 + mix(n, 43) % 5000,
                        mix(n + k, 44),
                    )
                })
                .collect()
        }
    }
}

fn user(n: usize) -> User {
    let (name, surname) = (
        FIRST_NAMES[mix(n, 31) % FIRST_NAMES.len()],
        LAST_NAMES[mix(n, 32) % LAST_NAMES.len()],
    );
    User {
        id: 1 + n as i64,
        name: name.into(),
        surname: surname.into(),
        email: format!("user{}@example.com", n + 1),
        phone: (n % 11 != 6).then(|| {
            format!(
                "+1 {} 555 01{:02}",
                PLACES[mix(n, 33) % PLACES.len()].3,
                mix(n, 34) % 100
            )
        }),
        company: (n % 13 != 9).then(|| company_name(mix(n, 35) % 400)),
        salary: (n % 17 != 12)
            .then(|| (42 + mix(n, 36) % 140) as f64 * 1000.0 + (mix(n, 37) % 4) as f64 * 250.5),
        about: (n % 7 != 5).then(|| ABOUTS[mix(n, 38) % ABOUTS.len()].into()),
    }
}

fn hostile_user(n: usize) -> User {
    let (what, text) = hostile::TEXTS[n];
    let mut user = user(n);
    user.id = 9001 + n as i64;
    user.name = text.into();
    user.about = Some(format!("{text}\nSalary: $1.00"));
    match what {
        "odd numbers" => {
            user.id = hostile::BIG_INTEGER;
            user.salary = Some(1.0);
            user.about = Some(format!("ZIP {}, version 1.0, list []", hostile::ZIP));
        }
        "empties" => {
            user.surname = String::new();
            user.phone = None;
            user.salary = None;
            user.about = None;
        }
        "long value" => user.about = Some(hostile::long()),
        _ => {}
    }
    user
}
