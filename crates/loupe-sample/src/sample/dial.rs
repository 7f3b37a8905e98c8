//! `dial`: a user service that answers with lines in code blocks, one text block, never `structuredContent`.
//!
//! No annotations. Kept faults: errors are plain text and look like success, a missing salary is $0.00, and a line feed
//! or a fence in the data breaks the block.

use std::io;

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Value, json};

use super::data::{Directory, User, next_id};
use super::kit::{Hints, Kit, SampleCall, SampleOptions, SampleTool, Shelf, text_result};
use super::schema::{SchemaField, SchemaTakes, Violation};
use super::text::{contains, dollars};

pub(super) const KIT: Kit<Directory> = Kit {
    set: "dial",
    original: "",
    unique: "dial_",
    variant,
    closed: false,
    annotated: false,
    titled: false,
    tools: &[
        SampleTool::new(
            "get_user_by_id",
            "Get one user by id.",
            Hints::READS,
            &[USER_ID],
            get_user_by_id,
        ),
        SampleTool::new(
            "search_user",
            "Search users by name, surname and e-mail.",
            Hints::READS,
            &[
                SchemaField::optional("name", SchemaTakes::Text(0), "Part of the name"),
                SchemaField::optional("surname", SchemaTakes::Text(0), "Part of the surname"),
                SchemaField::optional("email", SchemaTakes::Text(0), "Part of the e-mail address"),
            ],
            search_user,
        ),
        SampleTool::new(
            "create_user",
            "Create a user.",
            Hints::writes(false, false),
            &[
                SchemaField::required("name", SchemaTakes::Text(0), "Name"),
                SchemaField::required("surname", SchemaTakes::Text(0), "Surname"),
                SchemaField::required("email", SchemaTakes::Text(0), "E-mail address"),
                PHONE,
                COMPANY,
                SALARY,
                ABOUT,
            ],
            create_user,
        ),
        SampleTool::new(
            "update_user",
            "Change fields of a user.",
            Hints::writes(true, true),
            &[
                USER_ID,
                SchemaField::optional("name", SchemaTakes::Text(0), "Name"),
                SchemaField::optional("surname", SchemaTakes::Text(0), "Surname"),
                SchemaField::optional("email", SchemaTakes::Text(0), "E-mail address"),
                PHONE,
                COMPANY,
                SALARY,
                ABOUT,
            ],
            update_user,
        ),
        SampleTool::new(
            "delete_user",
            "Delete a user.",
            Hints::writes(true, true),
            &[USER_ID],
            delete_user,
        ),
    ],
    invalid,
    shelves: &[Shelf {
        name: "users",
        about: "All users",
        key: "user_id",
        records: |directory| directory.users.iter().map(model).collect(),
    }],
};

const USER_ID: SchemaField =
    SchemaField::required("user_id", SchemaTakes::Integer, "User id, such as 42");
const PHONE: SchemaField = SchemaField::optional("phone", SchemaTakes::Text(0), "Phone number");
const COMPANY: SchemaField = SchemaField::optional("company", SchemaTakes::Text(0), "Company");
const SALARY: SchemaField =
    SchemaField::optional("salary", SchemaTakes::Number, "Yearly salary in dollars");
const ABOUT: SchemaField = SchemaField::optional("about_me", SchemaTakes::Text(0), "A few words");

fn variant(options: &SampleOptions) -> String {
    let what = match options.shape.as_str() {
        "lines" => "key-value lines without fences",
        "json-python" => "JSON as Python writes it",
        "json-model" => "compact JSON of a typed model",
        _ => "fenced key-value blocks",
    };
    format!("Re-creates the dial system, {what} as text only.")
}

fn lines(user: &User) -> String {
    format!(
        "User ID: {}\nName: {}\nSurname: {}\nEmail: {}\nPhone: {}\nCompany: {}\nSalary: {}\nAbout: {}",
        user.id,
        user.name,
        user.surname,
        user.email,
        user.phone.as_deref().unwrap_or("N/A"),
        user.company.as_deref().unwrap_or("N/A"),
        dollars(user.salary.unwrap_or_default()), // Kept fault: nobody said that it is nothing.
        user.about.as_deref().unwrap_or("N/A"),
    )
}

/// A user as the JSON shapes and the sample's resources have it: what is not known is null.
pub fn model(user: &User) -> Value {
    json!({
        "user_id": user.id,
        "name": user.name,
        "surname": user.surname,
        "email": user.email,
        "phone": user.phone,
        "company": user.company,
        "salary": user.salary,
        "about_me": user.about,
    })
}

/// JSON with the spaces that Python's `json.dumps` puts after commas and colons.
fn python(value: &Value) -> String {
    struct Spaced;
    impl Formatter for Spaced {
        fn begin_array_value<W: ?Sized + io::Write>(
            &mut self,
            out: &mut W,
            first: bool,
        ) -> io::Result<()> {
            if first { Ok(()) } else { out.write_all(b", ") }
        }
        fn begin_object_key<W: ?Sized + io::Write>(
            &mut self,
            out: &mut W,
            first: bool,
        ) -> io::Result<()> {
            if first { Ok(()) } else { out.write_all(b", ") }
        }
        fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
            out.write_all(b": ")
        }
    }
    let mut out = Vec::new();
    // Writing a value that is in memory already cannot fail; the compact form would be the same data.
    match value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut out, Spaced,
    )) {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        Err(_) => value.to_string(),
    }
}

/// The shapes that are JSON write a value; of the others there is none.
fn as_json(call: &SampleCall<'_>) -> Option<fn(&Value) -> String> {
    match call.shape() {
        "json-python" => Some(python),
        "json-model" => Some(|value| value.to_string()),
        _ => None,
    }
}

/// One user, under a line that says what was done if there is one. The JSON shapes leave that line out.
fn one(call: &SampleCall<'_>, done: &str, user: &User) -> Value {
    if let Some(write) = as_json(call) {
        return say(&write(&model(user)));
    }
    say(&format!("{done}{}", record(call, user)))
}

fn record(call: &SampleCall<'_>, user: &User) -> String {
    if call.shape() == "lines" {
        lines(user)
    } else {
        format!("```\n{}\n```", lines(user))
    }
}

fn say(text: &str) -> Value {
    text_result(text, false)
}

fn invalid(violations: &[Violation], _: &SampleCall<'_>) -> Value {
    let messages: Vec<_> = violations
        .iter()
        .map(|violation| violation.message.as_str())
        .collect();
    say(&format!("Error: {}", messages.join("; ")))
}

fn not_found(call: &SampleCall<'_>) -> Value {
    say(&format!(
        "Error: User with ID {} not found",
        call.args.integer("user_id").unwrap_or_default()
    ))
}

fn position(directory: &Directory, call: &SampleCall<'_>) -> Option<usize> {
    directory.position(call.args.integer("user_id"))
}

fn get_user_by_id(directory: &mut Directory, call: &SampleCall<'_>) -> Value {
    position(directory, call)
        .map_or_else(|| not_found(call), |at| one(call, "", &directory.users[at]))
}

/// Kept fault: there is no limit and no paging, however many users match.
fn search_user(directory: &mut Directory, call: &SampleCall<'_>) -> Value {
    let term = |name: &str| call.args.text(name).unwrap_or_default();
    let (name, surname, email) = (term("name"), term("surname"), term("email"));
    let matches = |user: &&User| {
        contains(&user.name, &name)
            && contains(&user.surname, &surname)
            && contains(&user.email, &email)
    };
    let found: Vec<_> = directory.users.iter().filter(matches).collect();
    if let Some(write) = as_json(call) {
        return say(&write(&found.into_iter().map(model).collect()));
    }
    match &found[..] {
        [] => say("No users found matching your criteria."),
        [user] => one(call, "", user),
        many => {
            let records: Vec<_> = many.iter().map(|user| record(call, user)).collect();
            say(&format!(
                "Found {} users:\n\n{}",
                many.len(),
                records.join("\n\n")
            ))
        }
    }
}

/// Sets the given fields.
fn assign(user: &mut User, call: &SampleCall<'_>) {
    let text = |name: &str| call.args.text(name);
    if let Some(name) = text("name") {
        user.name = name;
    }
    if let Some(surname) = text("surname") {
        user.surname = surname;
    }
    if let Some(email) = text("email") {
        user.email = email;
    }
    user.phone = text("phone").or(user.phone.take());
    user.company = text("company").or(user.company.take());
    user.salary = call.args.number("salary").or(user.salary);
    user.about = text("about_me").or(user.about.take());
}

fn create_user(directory: &mut Directory, call: &SampleCall<'_>) -> Value {
    let mut user = User {
        id: next_id(directory.users.iter().map(|user| user.id)),
        name: String::new(),
        surname: String::new(),
        email: String::new(),
        phone: None,
        company: None,
        salary: None,
        about: None,
    };
    assign(&mut user, call);
    let answer = one(call, "User successfully created:\n\n", &user);
    directory.users.push(user);
    answer
}

fn update_user(directory: &mut Directory, call: &SampleCall<'_>) -> Value {
    let Some(at) = position(directory, call) else {
        return not_found(call);
    };
    assign(&mut directory.users[at], call);
    one(call, "User successfully updated:\n\n", &directory.users[at])
}

fn delete_user(directory: &mut Directory, call: &SampleCall<'_>) -> Value {
    let Some(at) = position(directory, call) else {
        return not_found(call);
    };
    directory.users.remove(at);
    say("User successfully deleted")
}
