//! The records of the social network: accounts, posts, and the replies under them.

use serde_json::{Value, json};
use time::OffsetDateTime;

use super::data::{ago, iso, mix};
use super::hostile;

#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub handle: &'static str,
    pub name: &'static str,
    pub did: String,
    pub(crate) bio: &'static str,
    pub joined: &'static str,
    pub(crate) followers: i64,
    pub following: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostMedia {
    Photo,
    Video,
}

#[derive(Clone, Debug)]
pub(crate) struct Post {
    pub uri: String,
    pub cid: String,
    /// Places in [`Network::accounts`].
    pub author: usize,
    pub(crate) reposted_by: Option<usize>,
    pub text: String,
    pub at: OffsetDateTime,
    pub likes: i64,
    pub reposts: i64,
    pub replies: i64,
    pub media: Option<PostMedia>,
}

/// A reply, and how deep it is under the original.
pub(crate) struct PostReply {
    pub author: usize,
    pub text: &'static str,
    pub at: OffsetDateTime,
    pub depth: usize,
}

#[derive(Clone, Debug)]
pub struct Network {
    pub accounts: Vec<Account>,
    /// The newest first.
    pub posts: Vec<Post>,
    /// Handles that are logged in; the first is the default.
    pub logins: Vec<String>,
}

/// The thread that the tools' descriptions name.
pub(crate) const THREAD_URI: &str =
    "at://did:plc:alice2vh7kq3xw5m2n4p6r7t/app.bsky.feed.post/3lfthread4alice";
/// Its place among the plain posts, and its author's among the accounts.
const THREAD: usize = 4;
const ALICE: usize = 0;
const SCIENTIST: usize = 3;

/// Handle, name, bio, joined, followers, following.
const ACCOUNTS: &[(&str, &str, &str, &str, i64, i64)] = &[
    (
        "alice",
        "Alice",
        "Protocol engineer. Bridges, both kinds. 🌍",
        "May 2023",
        1_204,
        843,
    ),
    (
        "bob.dev",
        "Bob",
        "I ship small things often.",
        "Jul 2023",
        318,
        290,
    ),
    (
        "dave",
        "Dave",
        "Reposts mostly. Opinions of others.",
        "Feb 2024",
        77,
        1_410,
    ),
    (
        "scientist",
        "Dr. Mara Lindqvist",
        "Climate data, ice cores, bad puns. 🐕",
        "Apr 2023",
        45_870,
        512,
    ),
    (
        "original",
        "Original Sources",
        "Links to where it was said first.",
        "Nov 2023",
        9_022,
        12,
    ),
    (
        "carol.art",
        "Carol",
        "Watercolours and train stations 📷",
        "Sep 2023",
        2_650,
        401,
    ),
    ("yuki", "ゆき", "猫とコンパイラ", "Jun 2024", 640, 222),
    (
        "omar",
        "Omar Haddad",
        "Maps, bicycles, Rust.",
        "Jan 2024",
        1_001,
        999,
    ),
];

const TEXTS: &[&str] = &[
    "Finally understood why our queue backs up every Monday: the report job and the backup start at the same minute.",
    "Wrote a small tool that draws the dependency graph of our services. Turns out it is a hairball 🧶",
    "Walked along the harbour before work. Nobody there but two gulls and a very serious dog. 🐕",
    "Release notes should say what changed for the reader, not what the team did.",
    "TIL that `sort -h` understands 2K and 1G. Fifteen years of doing it by hand.",
    "Our meetup is on Thursday at 19:00. Talk about parsers, then pizza. Everyone is welcome!",
    "Hot take: most dashboards are answered best by one sentence a day.",
    "New sketchbook, new pens, no excuses left.",
    "今日は一日中リファクタリング。テストが全部通ると気持ちいい。",
    "The train is late, the coffee is good, the wifi works. I will take two out of three.",
    "Looking for a maintained crate that reads GPX files without pulling in half the world. Any hints?",
    "Three things I wish I had known:\n1. measure first\n2. keep the old path\n3. write down why",
    "Shout-out to whoever wrote the error message that told me exactly which line to change ❤️",
    "Old photo from the archive: the bridge before they painted it red.",
];
const CLIMATE: &[&str] = &[
    "New climate data is out: the 2024 mean was the warmest on record, 1.55 °C above the 1850–1900 baseline.",
    "People ask how we know past climate. Short answer: ice, mud, trees and a lot of patience.",
    "Reviewing a paper on regional climate models. Figure 3 alone is worth the read.",
    "Our climate archive now has daily values back to 1881. Free to use, please cite it.",
];
/// Kept fault in the indented shape: the second line is a heading to a Markdown reader.
const FEATURES: &str =
    "Version 2.0 is here!\n## Features\n- offline mode\n- half the memory\n\nTell me what breaks.";

/// Depth and text of the replies, in the order in which they stand.
const REPLIES: &[(usize, &str)] = &[
    (0, "This matches what we saw last year."),
    (1, "Same here, but only on the old hardware."),
    (0, "Do you have numbers for that?"),
    (1, "Yes: 40 ms before, 12 ms after."),
    (2, "Impressive. Which version?"),
    (0, "Bookmarked, thank you 👍"),
    (1, "Seconded."),
];

/// Letters and digits that look like the identifiers of the real network.
fn base32(seed: usize, salt: u64, length: usize) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    (0..length)
        .map(|n| char::from(ALPHABET[mix(seed * 64 + n, salt) % 32]))
        .collect()
}

fn account(n: usize) -> Account {
    let (handle, name, bio, joined, followers, following) = ACCOUNTS[n];
    let did = match n {
        ALICE => "did:plc:alice2vh7kq3xw5m2n4p6r7t".into(),
        n => format!("did:plc:{}", base32(n, 61, 24)),
    };
    Account {
        handle,
        name,
        did,
        bio,
        joined,
        followers,
        following,
    }
}

fn post(n: usize, accounts: &[Account]) -> Post {
    let author = mix(n, 62) % ACCOUNTS.len();
    let pool = if author == SCIENTIST { CLIMATE } else { TEXTS };
    let popular = mix(n, 63) % 4;
    let count = |salt: u64, below: usize| (mix(n, salt) % below) as i64;
    let mut post = Post {
        uri: String::new(),
        cid: format!("bafyrei{}", base32(n, 64, 52)),
        author,
        reposted_by: None,
        text: pool[mix(n, 65) % pool.len()].into(),
        at: ago(60 * n + mix(n, 66) % 50),
        likes: count(67, [4, 30, 200, 1500][popular]),
        reposts: count(68, [2, 8, 60, 400][popular]),
        replies: count(69, [2, 4, 9, 40][popular]),
        media: match mix(n, 70) % 9 {
            0 => Some(PostMedia::Photo),
            1 => Some(PostMedia::Video),
            _ => None,
        },
    };
    match n {
        0 => {
            (post.author, post.text, post.at) = (1, "Shipped! 🚀".into(), ago(3));
            (post.likes, post.reposts, post.replies, post.media) = (5, 0, 2, None);
        }
        1 => (post.author, post.reposted_by) = (4, Some(2)),
        2 => (post.author, post.text) = (1, FEATURES.into()),
        THREAD => {
            (post.author, post.text) = (
                ALICE,
                "We moved the index to the new layout. Reads are faster, writes are not slower."
                    .into(),
            );
            (post.at, post.likes, post.reposts, post.replies) = (ago(4 * 60), 142, 67, 23);
        }
        n if n % 12 == 7 => post.reposted_by = Some(2),
        _ => {}
    }
    post.uri = match n {
        THREAD => THREAD_URI.into(),
        n => format!(
            "at://{}/app.bsky.feed.post/3l{}",
            accounts[post.author].did,
            base32(n, 71, 11)
        ),
    };
    post
}

fn hostile_post(n: usize, accounts: &[Account]) -> Post {
    let (what, text) = hostile::TEXTS[n];
    let mut post = post(n + 5000, accounts);
    post.text = text.into();
    post.at = ago(1);
    match what {
        "odd numbers" => {
            post.likes = hostile::BIG_INTEGER;
            post.text = format!("{text}: ZIP {}, version 1.0, list []", hostile::ZIP);
        }
        "empties" => post.text = String::new(),
        "long value" => post.text = hostile::long(),
        _ => {}
    }
    post
}

impl Network {
    /// `size` posts, the hostile ones first.
    pub fn new(size: usize, hostile: bool) -> Self {
        let accounts: Vec<_> = (0..ACCOUNTS.len()).map(account).collect();
        let odd = if hostile {
            hostile::TEXTS.len().min(size)
        } else {
            0
        };
        let posts = (0..odd)
            .map(|n| hostile_post(n, &accounts))
            .chain((0..size - odd).map(|n| post(n, &accounts)))
            .collect();
        Self {
            accounts,
            posts,
            logins: vec!["alice".into(), "bob.dev".into()],
        }
    }

    /// The account of a handle, with or without `@` and the network's own ending.
    pub fn account(&self, handle: &str) -> Option<usize> {
        let handle = short(handle);
        self.accounts
            .iter()
            .position(|account| account.handle == handle)
    }

    pub fn handle(&self, account: usize) -> &'static str {
        self.accounts[account].handle
    }

    pub fn post(&self, uri: &str) -> Option<usize> {
        self.posts.iter().position(|post| post.uri == uri)
    }

    /// The replies under a post: as many of its count as are held.
    pub fn replies(&self, post: &Post) -> Vec<PostReply> {
        let count = usize::try_from(post.replies).map_or(0, |count| count.min(REPLIES.len()));
        let reply = |(n, &(depth, text)): (usize, &(usize, &'static str))| PostReply {
            // The original's author answers where the depth is odd.
            author: if depth % 2 == 1 {
                post.author
            } else {
                (post.author + 1 + n) % self.accounts.len()
            },
            text,
            at: post.at
                + time::Duration::minutes(20 * (n as i64 + 1))
                    .min((super::data::NOW - post.at) / 2),
            depth,
        };
        REPLIES[..count].iter().enumerate().map(reply).collect()
    }

    /// The facts of one post of the feed as plain JSON.
    pub fn row(&self, post: &Post) -> Value {
        let mut row = json!({
            "author": self.handle(post.author),
            "text": post.text,
            "createdAt": iso(post.at),
            "likeCount": post.likes,
            "repostCount": post.reposts,
            "replyCount": post.replies,
        });
        if let Some(by) = post.reposted_by {
            row["repostedBy"] = self.handle(by).into();
        }
        if let Some(media) = post.media {
            row["media"] = if media == PostMedia::Photo {
                "photo"
            } else {
                "video"
            }
            .into();
        }
        row
    }

    /// The same post as the network's own interface has it.
    pub fn view(&self, post: &Post) -> Value {
        let author = |account: &Account, seed: usize| {
            json!({
                "did": account.did,
                "handle": full(account.handle),
                "displayName": account.name,
                "avatar": format!("https://cdn.example/img/avatar/plain/{}/bafkrei{}@jpeg", account.did, base32(seed, 72, 52)),
                "viewer": {"muted": false, "blockedBy": false},
                "labels": [],
                "createdAt": "2023-05-01T08:00:00.000Z",
            })
        };
        let mut view = json!({"post": {
            "uri": post.uri,
            "cid": post.cid,
            "author": author(&self.accounts[post.author], post.author),
            "record": {"$type": "app.bsky.feed.post", "createdAt": iso(post.at), "langs": ["en"], "text": post.text},
            "bookmarkCount": 0,
            "replyCount": post.replies,
            "repostCount": post.reposts,
            "likeCount": post.likes,
            "quoteCount": 0,
            "indexedAt": iso(post.at),
            "viewer": {"bookmarked": false, "threadMuted": false, "embeddingDisabled": false},
            "labels": [],
        }});
        if let Some(by) = post.reposted_by {
            view["reason"] = json!({
                "$type": "app.bsky.feed.defs#reasonRepost",
                "by": author(&self.accounts[by], by),
                "indexedAt": iso(post.at),
            });
        }
        view
    }
}

/// `@alice.bsky.social` as `alice`.
pub fn short(handle: &str) -> &str {
    let handle = handle.trim().trim_start_matches('@');
    handle.strip_suffix(".bsky.social").unwrap_or(handle)
}

/// `alice` as `alice.bsky.social`; a handle that is a domain stays.
pub fn full(handle: &str) -> String {
    if handle.contains('.') {
        handle.to_owned()
    } else {
        format!("{handle}.bsky.social")
    }
}
