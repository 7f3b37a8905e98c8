//! `autoreply`: a social network as compact Markdown, text only, people's texts quoted.
//!
//! Kept faults: failures are `⚠️` lines without a flag, though the fallback for a password has one; the feed names no
//! URI that `thread` could take; two spaces instead of `> ` leave headings in people's texts headings.

use serde_json::{Value, json};
use time::OffsetDateTime;

use super::data::NOW;
use super::kit::{Hints, Kit, SampleCall, SampleOptions, SampleTool, Shelf, text_result};
use super::posts::{Account, Network, Post, PostMedia, full, short};
use super::schema::{SchemaField, SchemaTakes, Violation};
use super::text::contains;

pub(super) const KIT: Kit<Network> = Kit {
    set: "autoreply",
    original: "",
    unique: "autoreply_",
    variant,
    closed: false,
    annotated: true,
    titled: false,
    tools: &[
        SampleTool::new(
            "login",
            "Log in, or list, choose and remove the accounts that are.",
            Hints::writes(false, true),
            &[
                SchemaField::optional("handle", SchemaTakes::Text(0), "Handle, such as @alice"),
                SchemaField::optional(
                    "password",
                    SchemaTakes::Text(0),
                    "App password, never the main one",
                ),
                SchemaField::optional(
                    "port",
                    SchemaTakes::Between(1, 65_535),
                    "Port that OAuth returns to",
                ),
                SchemaField::optional(
                    "command",
                    SchemaTakes::Choice(&["login", "list", "default", "delete"]),
                    "What to do",
                ),
            ],
            login,
        ),
        SampleTool::new(
            "accounts",
            "Older name for `login` with a command.",
            Hints::writes(false, true),
            &[
                SchemaField::required(
                    "action",
                    SchemaTakes::Choice(&["list", "set-default"]),
                    "What to do",
                ),
                SchemaField::optional("handle", SchemaTakes::Text(0), "Handle, such as @alice"),
            ],
            accounts,
        ),
        SampleTool::new(
            "profile",
            "Show an account.",
            Hints::READS,
            &[ACCOUNT],
            profile,
        ),
        SampleTool::new(
            "search",
            "Search an account's posts.",
            Hints::READS,
            &[
                ACCOUNT,
                SchemaField::required("query", SchemaTakes::Text(1), "Part of the text"),
                SchemaField::optional(
                    "limit",
                    SchemaTakes::Between(1, 100),
                    "Posts to show, 25 if unset",
                ),
            ],
            search,
        ),
        SampleTool::new(
            "feed",
            "Show the newest posts of those one follows.",
            Hints::READS,
            &[
                SchemaField::optional(
                    "limit",
                    SchemaTakes::Between(1, 100),
                    "Posts to show, 50 if unset",
                ),
                SchemaField::optional(
                    "cursor",
                    SchemaTakes::Text(0),
                    "Where to go on, from the answer before",
                ),
            ],
            feed,
        ),
        SampleTool::new(
            "thread",
            "Show a post and the replies to it.",
            Hints::READS,
            &[URI],
            thread,
        ),
        SampleTool::new(
            "post_details",
            "Show a post with its technical data.",
            Hints::READS,
            &[URI],
            post_details,
        ),
        SampleTool::new(
            "post",
            "Write a post.",
            Hints::writes(false, false),
            &[SchemaField::required(
                "text",
                SchemaTakes::Text(1),
                "What to say",
            )],
            write_post,
        ),
        SampleTool::new(
            "delete",
            "Delete a post.",
            Hints::writes(true, true),
            &[URI],
            delete,
        ),
        SampleTool::new(
            "like",
            "Like posts.",
            Hints::writes(false, true),
            &[SchemaField::required(
                "uris",
                SchemaTakes::Texts,
                "URIs of the posts",
            )],
            like,
        ),
    ],
    invalid,
    shelves: &[
        Shelf {
            name: "feed",
            about: "The facts of the feed's posts",
            key: "",
            records: |network| network.posts.iter().map(|post| network.row(post)).collect(),
        },
        Shelf {
            name: "posts",
            about: "The feed's posts as the network's own interface has them",
            key: "",
            records: |network| {
                network
                    .posts
                    .iter()
                    .map(|post| network.view(post))
                    .collect()
            },
        },
        Shelf {
            name: "accounts",
            about: "All accounts",
            key: "handle",
            records: |network| network.accounts.iter().map(account).collect(),
        },
    ],
};

fn account(account: &Account) -> Value {
    json!({
        "handle": account.handle,
        "displayName": account.name,
        "did": account.did,
        "description": account.bio,
        "followersCount": account.followers,
        "followsCount": account.following,
    })
}

const ACCOUNT: SchemaField = SchemaField::required(
    "account",
    SchemaTakes::Text(1),
    "Handle, such as @scientist",
);
const URI: SchemaField = SchemaField::required("uri", SchemaTakes::Text(1), URI_ABOUT);
const URI_ABOUT: &str = "URI of a post, such as at://did:plc:alice2vh7kq3xw5m2n4p6r7t/app.bsky.feed.post/3lfthread4alice";

fn variant(options: &SampleOptions) -> String {
    let what = match options.shape.as_str() {
        "indented" => "people's texts indented by two spaces",
        "compact" => "one line a post",
        "input-text" => "an `input_text` block that asks for the password",
        _ => "people's texts quoted",
    };
    format!("Re-creates the autoreply system, compact Markdown, {what}, as text only.")
}

fn say(text: &str) -> Value {
    text_result(text, false)
}

/// Kept fault: nothing but the sign says that it failed.
fn warn(text: &str) -> Value {
    say(&format!("⚠️ {text}"))
}

fn invalid(violations: &[Violation], _: &SampleCall<'_>) -> Value {
    let messages: Vec<_> = violations
        .iter()
        .map(|violation| violation.message.as_str())
        .collect();
    warn(&messages.join("; "))
}

fn no_account(handle: &str) -> Value {
    warn(&format!("Account not found: @{}", short(handle)))
}

fn handle(call: &SampleCall<'_>) -> Option<String> {
    call.args
        .text("handle")
        .map(|handle| short(&handle).to_owned())
        .filter(|handle| !handle.is_empty())
}

fn login(network: &mut Network, call: &SampleCall<'_>) -> Value {
    match call.args.text("command").as_deref() {
        Some("list") => return list_logins(network),
        Some("default") => return set_default(network, call),
        Some("delete") => return forget(network, call),
        _ => {}
    }
    let (Some(handle), Some(_)) = (
        handle(call),
        call.args
            .text("password")
            .filter(|password| !password.is_empty()),
    ) else {
        return ask(call);
    };
    if network.account(&handle).is_none() {
        return no_account(&handle);
    }
    if network.logins.contains(&handle) {
        return warn(&format!("Already logged in as @{}", full(&handle)));
    }
    let text = format!("✓ Logged in as @{}", full(&handle));
    network.logins.push(handle);
    say(&text)
}

/// What is left to a server whose client cannot be asked: say what is missing and how to give it safely. The oldest form
/// put a block of a type that the specification does not know.
fn ask(call: &SampleCall<'_>) -> Value {
    let (field, wanted) = match handle(call) {
        None => ("handle", "Handle needed".to_owned()),
        Some(handle) => (
            "password",
            format!("App password needed for @{}", full(&handle)),
        ),
    };
    if call.shape() == "input-text" {
        return json!({
            "content": [
                {"type": "text", "text": format!("{wanted}.")},
                {"type": "input_text", "text": wanted, "metadata": {"prompt_id": format!("login-{field}"), "field": field}},
            ],
            "isError": false,
        });
    }
    let text = format!(
        "⚠️ {wanted}, and this client cannot be asked for it.\n\n- Prefer OAuth: log in in the browser, where no password passes through a tool\n- Else make an app password in the settings, and call `{}` with `handle` and `password`\n- Never give the main password of an account",
        call.tool("login")
    );
    text_result(&text, true)
}

fn list_logins(network: &Network) -> Value {
    if network.logins.is_empty() {
        return say("No accounts are logged in.");
    }
    let line = |(n, handle): (usize, &String)| {
        format!(
            "- @{}{}",
            full(handle),
            if n == 0 { " (default)" } else { "" }
        )
    };
    say(&network
        .logins
        .iter()
        .enumerate()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n"))
}

/// Where the handle given stands among the logins, or what to answer.
fn logged_in(network: &Network, call: &SampleCall<'_>) -> Result<usize, Value> {
    let Some(handle) = handle(call) else {
        return Err(warn("handle is required"));
    };
    network
        .logins
        .iter()
        .position(|known| *known == handle)
        .ok_or_else(|| no_account(&handle))
}

fn set_default(network: &mut Network, call: &SampleCall<'_>) -> Value {
    match logged_in(network, call) {
        Ok(0) => warn(&format!(
            "Already the default: @{}",
            full(&network.logins[0])
        )),
        Ok(at) => {
            let handle = network.logins.remove(at);
            let text = format!("✓ Default account: @{}", full(&handle));
            network.logins.insert(0, handle);
            say(&text)
        }
        Err(answer) => answer,
    }
}

fn forget(network: &mut Network, call: &SampleCall<'_>) -> Value {
    match logged_in(network, call) {
        Ok(at) => say(&format!("✓ Removed @{}", full(&network.logins.remove(at)))),
        Err(answer) => answer,
    }
}

fn accounts(network: &mut Network, call: &SampleCall<'_>) -> Value {
    if call.args.text("action").as_deref() == Some("list") {
        list_logins(network)
    } else {
        set_default(network, call)
    }
}

/// `3m`, `2h`, `5d`.
fn age(at: OffsetDateTime) -> String {
    let minutes = (NOW - at).whole_minutes();
    match minutes {
        ..60 => format!("{minutes}m"),
        60..1440 => format!("{}h", minutes / 60),
        _ => format!("{}d", minutes / 1440),
    }
}

/// `1.2K`.
fn short_count(count: i64) -> String {
    if count < 1000 {
        count.to_string()
    } else {
        format!("{:.1}K", count as f64 / 1000.0)
    }
}

/// People's text so that it stays theirs, or in the older way that does not do it.
fn quote_post(call: &SampleCall<'_>, text: &str) -> String {
    let prefix = if call.shape() == "indented" {
        "  "
    } else {
        "> "
    };
    let line = |line: &str| format!("{prefix}{line}").trim_end().to_owned();
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// One line; what is zero is left out.
fn metrics(post: &Post) -> String {
    let counts = [
        ("👍", post.likes),
        ("♻️", post.reposts),
        ("💬", post.replies),
    ];
    let mut parts: Vec<_> = counts
        .iter()
        .filter(|(_, count)| *count != 0)
        .map(|(icon, count)| format!("{icon} {count}"))
        .collect();
    parts.extend(post.media.map(|media| picture(media).to_owned()));
    parts.join("  ")
}

fn picture(media: PostMedia) -> &'static str {
    match media {
        PostMedia::Photo => "📷",
        PostMedia::Video => "🎥",
    }
}

/// Text and metrics of a post, each with a blank line before it.
fn body(call: &SampleCall<'_>, post: &Post) -> String {
    let mut body = String::new();
    if !post.text.is_empty() {
        body += &format!("\n\n{}", quote_post(call, &post.text));
    }
    let metrics = metrics(post);
    if !metrics.is_empty() {
        body += &format!("\n\n{metrics}");
    }
    body
}

/// Raw data folded away.
fn technical(lines: &[String]) -> String {
    format!(
        "<details><summary>Technical</summary>\n\n{}\n\n</details>",
        lines.join("\n")
    )
}

fn profile(network: &mut Network, call: &SampleCall<'_>) -> Value {
    let handle = call.args.text("account").unwrap_or_default();
    let Some(account) = network.account(&handle).map(|at| &network.accounts[at]) else {
        return no_account(&handle);
    };
    say(&format!(
        "# @{}\n\n{}\n\n📊 Joined {} · {} followers · {} following\n\n{}",
        account.handle,
        quote_post(call, account.bio),
        account.joined,
        short_count(account.followers),
        short_count(account.following),
        technical(&[format!("DID: {}", account.did)]),
    ))
}

fn search(network: &mut Network, call: &SampleCall<'_>) -> Value {
    let (handle, query) = (
        call.args.text("account").unwrap_or_default(),
        call.args.text("query").unwrap_or_default(),
    );
    let Some(account) = network.account(&handle) else {
        return no_account(&handle);
    };
    let found: Vec<_> = network
        .posts
        .iter()
        .filter(|post| post.author == account && contains(&post.text, &query))
        .collect();
    let limit = call
        .args
        .integer("limit")
        .and_then(|limit| usize::try_from(limit).ok())
        .unwrap_or(25);
    let mut text = format!(
        "# Search: \"{query}\" in @{}\n\nFound {} posts",
        network.handle(account),
        found.len()
    );
    for (n, post) in found.into_iter().take(limit).enumerate() {
        text += &format!(
            "\n\n---\n\n## Post {} · {} ago · @{}",
            n + 1,
            age(post.at),
            network.handle(account)
        );
        text += &body(call, post);
    }
    say(&text)
}

/// The place that a cursor of ours names.
fn cursor(text: &str) -> Option<usize> {
    text.strip_prefix("abc")?.parse().ok()
}

fn feed(network: &mut Network, call: &SampleCall<'_>) -> Value {
    let limit = call
        .args
        .integer("limit")
        .and_then(|limit| usize::try_from(limit).ok())
        .unwrap_or(50);
    let from = match call.args.text("cursor").filter(|cursor| !cursor.is_empty()) {
        None => 0,
        Some(text) => match cursor(&text).filter(|from| *from <= network.posts.len()) {
            Some(from) => from,
            None => return warn(&format!("Unknown cursor: {text}")),
        },
    };
    let posts: Vec<_> = network.posts.iter().skip(from).take(limit).collect();
    let mut text = format!("# Following · {} posts", posts.len());
    if call.shape() == "compact" {
        text.push('\n');
        for post in &posts {
            text += &format!("\n{}", one_line(network, post));
        }
    } else {
        for post in &posts {
            text += &match post.reposted_by {
                Some(by) => format!(
                    "\n\n## @{} · {} · ↻ @{}",
                    network.handle(by),
                    age(post.at),
                    network.handle(post.author)
                ),
                None => format!("\n\n## @{} · {}", network.handle(post.author), age(post.at)),
            };
            text += &body(call, post);
        }
    }
    if from + posts.len() < network.posts.len() {
        text += &format!("\n\n→ More (cursor: abc{})", from + posts.len());
    }
    say(&text)
}

/// How much of a text the shortest shape keeps, in characters.
const SHORT_TEXT: usize = 60;

/// `@bob.dev · 3m — Shipped! 🚀 · 👍5`.
fn one_line(network: &Network, post: &Post) -> String {
    let text = post.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = match text.char_indices().nth(SHORT_TEXT) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    };
    let who = match post.reposted_by {
        Some(by) => format!(
            "@{} · {} · ↻@{}",
            network.handle(by),
            age(post.at),
            network.handle(post.author)
        ),
        None => format!("@{} · {}", network.handle(post.author), age(post.at)),
    };
    let counts = [
        ("👍", post.likes),
        ("♻️", post.reposts),
        ("💬", post.replies),
    ];
    let mut parts = vec![format!("{who} — {text}")];
    let counts: Vec<_> = counts
        .iter()
        .filter(|(_, count)| *count != 0)
        .map(|(icon, count)| format!("{icon}{count}"))
        .collect();
    if !counts.is_empty() {
        parts.push(counts.join(" "));
    }
    parts.extend(post.media.map(|media| picture(media).to_owned()));
    parts.join(" · ")
}

fn no_post(uri: &str) -> Value {
    warn(&format!("Post not found: {uri}"))
}

/// The post of the `uri` argument, or what to answer.
fn asked(network: &Network, call: &SampleCall<'_>) -> Result<usize, Value> {
    let uri = call.args.text("uri").unwrap_or_default();
    network.post(&uri).ok_or_else(|| no_post(&uri))
}

fn thread(network: &mut Network, call: &SampleCall<'_>) -> Value {
    let at = match asked(network, call) {
        Ok(at) => at,
        Err(answer) => return answer,
    };
    let post = &network.posts[at];
    let replies = network.replies(post);
    let mut text = format!(
        "# Thread · {} posts\n\n## Original · @{} · {} ago{}",
        replies.len() + 1,
        network.handle(post.author),
        age(post.at),
        body(call, post)
    );
    for reply in &replies {
        let level = if reply.depth == 0 {
            "---\n\n###"
        } else {
            "####"
        };
        text += &format!(
            "\n\n{level} @{} · {} ago\n\n{}",
            network.handle(reply.author),
            age(reply.at),
            quote_post(call, reply.text)
        );
    }
    say(&text)
}

fn post_details(network: &mut Network, call: &SampleCall<'_>) -> Value {
    let at = match asked(network, call) {
        Ok(at) => at,
        Err(answer) => return answer,
    };
    let post = &network.posts[at];
    let author = &network.accounts[post.author];
    say(&format!(
        "# Post by @{} · {} ago{}\n\n{}",
        author.handle,
        age(post.at),
        body(call, post),
        technical(&[
            format!("URI: {}", post.uri),
            format!("CID: {}", post.cid),
            format!("DID: {}", author.did)
        ]),
    ))
}

fn write_post(network: &mut Network, call: &SampleCall<'_>) -> Value {
    let Some(author) = network
        .logins
        .first()
        .and_then(|handle| network.account(handle))
    else {
        return warn("Post failed: not logged in");
    };
    let mut written = network
        .posts
        .first()
        .cloned()
        .unwrap_or_else(|| Network::new(1, false).posts.remove(0));
    let uri = format!(
        "at://{}/app.bsky.feed.post/3lnew{:08}",
        network.accounts[author].did,
        network.posts.len() + 1
    );
    written.text = call.args.text("text").unwrap_or_default();
    (
        written.author,
        written.reposted_by,
        written.media,
        written.at,
    ) = (author, None, None, NOW);
    (written.likes, written.reposts, written.replies) = (0, 0, 0);
    written.uri.clone_from(&uri);
    network.posts.insert(0, written);
    say(&format!("✓ Posted {uri}"))
}

fn delete(network: &mut Network, call: &SampleCall<'_>) -> Value {
    match asked(network, call) {
        Ok(at) => say(&format!("✓ Deleted {}", network.posts.remove(at).uri)),
        Err(_) => warn("Delete failed: Post not found"),
    }
}

fn like(network: &mut Network, call: &SampleCall<'_>) -> Value {
    let uris = call.args.texts("uris").unwrap_or_default();
    let found: Vec<_> = uris.iter().map(|uri| network.post(uri)).collect();
    if let Some(missing) = found.iter().position(Option::is_none) {
        return warn(&format!("Like failed: Post not found: {}", uris[missing]));
    }
    for at in found.into_iter().flatten() {
        network.posts[at].likes = network.posts[at].likes.saturating_add(1);
    }
    say(&format!(
        "✓ Liked {} post{}",
        uris.len(),
        if uris.len() == 1 { "" } else { "s" }
    ))
}
