//! `dial`: a user service that answers with lines in code blocks, one text block, never `structuredContent`.
//!
//! No annotations. Kept faults: errors are plain text and look like success, a missing salary is $0.00, and a line feed
//! or a fence in the data breaks the block.

use serde_json::Value;

use super::data::{Directory, User, next_id};
use super::schema::{Field, Takes, Violation};
use super::text::{contains, dollars};
use super::{Call, Kit, Tool, text_result};

pub(super) const KIT: Kit<Directory> = Kit {
    original: "",
    unique: "dial_",
    variant: "Re-creates the dial system, fenced key-value blocks as text only.",
    closed: false,
    tools: &[
        Tool {
            name: "get_user_by_id",
            title: None,
            about: "Get one user by id.",
            hints: None,
            fields: &[USER_ID],
            run: get_user_by_id,
        },
        Tool {
            name: "search_user",
            title: None,
            about: "Search users by name, surname and e-mail.",
            hints: None,
            fields: &[
                Field::optional("name", Takes::Text(0), "Part of the name"),
                Field::optional("surname", Takes::Text(0), "Part of the surname"),
                Field::optional("email", Takes::Text(0), "Part of the e-mail address"),
            ],
            run: search_user,
        },
        Tool {
            name: "create_user",
            title: None,
            about: "Create a user.",
            hints: None,
            fields: &[
                Field::required("name", Takes::Text(0), "Name"),
                Field::required("surname", Takes::Text(0), "Surname"),
                Field::required("email", Takes::Text(0), "E-mail address"),
                PHONE,
                COMPANY,
                SALARY,
                ABOUT,
            ],
            run: create_user,
        },
        Tool {
            name: "update_user",
            title: None,
            about: "Change fields of a user.",
            hints: None,
            fields: &[
                USER_ID,
                Field::optional("name", Takes::Text(0), "Name"),
                Field::optional("surname", Takes::Text(0), "Surname"),
                Field::optional("email", Takes::Text(0), "E-mail address"),
                PHONE,
                COMPANY,
                SALARY,
                ABOUT,
            ],
            run: update_user,
        },
        Tool { name: "delete_user", title: None, about: "Delete a user.", hints: None, fields: &[USER_ID], run: delete_user },
    ],
    invalid,
};

const USER_ID: Field = Field::required("user_id", Takes::Integer, "User id, such as 42");
const PHONE: Field = Field::optional("phone", Takes::Text(0), "Phone number");
const COMPANY: Field = Field::optional("company", Takes::Text(0), "Company");
const SALARY: Field = Field::optional("salary", Takes::Number, "Yearly salary in dollars");
const ABOUT: Field = Field::optional("about_me", Takes::Text(0), "A few words");

fn block(user: &User) -> String {
    format!(
        "```\nUser ID: {}\nName: {}\nSurname: {}\nEmail: {}\nPhone: {}\nCompany: {}\nSalary: {}\nAbout: {}\n```",
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

fn say(text: &str) -> Value {
    text_result(text, false)
}

fn invalid(violations: &[Violation], _: &Call<'_>) -> Value {
    let messages: Vec<_> = violations.iter().map(|violation| violation.message.as_str()).collect();
    say(&format!("Error: {}", messages.join("; ")))
}

fn not_found(call: &Call<'_>) -> Value {
    say(&format!("Error: User with ID {} not found", call.args.integer("user_id").unwrap_or_default()))
}

fn position(directory: &Directory, call: &Call<'_>) -> Option<usize> {
    directory.position(call.args.integer("user_id"))
}

fn get_user_by_id(directory: &mut Directory, call: &Call<'_>) -> Value {
    position(directory, call).map_or_else(|| not_found(call), |at| say(&block(&directory.users[at])))
}

/// Kept fault: there is no limit and no paging, however many users match.
fn search_user(directory: &mut Directory, call: &Call<'_>) -> Value {
    let term = |name: &str| call.args.text(name).unwrap_or_default();
    let (name, surname, email) = (term("name"), term("surname"), term("email"));
    let matches =
        |user: &&User| contains(&user.name, &name) && contains(&user.surname, &surname) && contains(&user.email, &email);
    let found: Vec<_> = directory.users.iter().filter(matches).map(block).collect();
    match &found[..] {
        [] => say("No users found matching your criteria."),
        [one] => say(one),
        many => say(&format!("Found {} users:\n\n{}", many.len(), many.join("\n\n"))),
    }
}

/// Sets the given fields.
fn assign(user: &mut User, call: &Call<'_>) {
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

fn create_user(directory: &mut Directory, call: &Call<'_>) -> Value {
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
    let text = format!("User successfully created:\n\n{}", block(&user));
    directory.users.push(user);
    say(&text)
}

fn update_user(directory: &mut Directory, call: &Call<'_>) -> Value {
    let Some(at) = position(directory, call) else { return not_found(call) };
    assign(&mut directory.users[at], call);
    say(&format!("User successfully updated:\n\n{}", block(&directory.users[at])))
}

fn delete_user(directory: &mut Directory, call: &Call<'_>) -> Value {
    let Some(at) = position(directory, call) else { return not_found(call) };
    directory.users.remove(at);
    say("User successfully deleted")
}
