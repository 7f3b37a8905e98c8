//! Looking for findings against counting tokens, and over answers that make careless rules slow. Every number is a ratio
//! taken in one run, so that a slow machine changes none: how many times the time of counting its tokens an answer of 20 MB
//! takes (the goal is two; the median of five rounds, the least and the most), and how much longer a hostile answer takes at
//! four times its size (linear is four).

mod common;

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use loupe_analysis::finding::{CheckedResult, CheckedServer, Checker, Profile, RuleSettings};
use loupe_analysis::queries;
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, CaptureId, Server, Tool};
use loupe_core::host::Hosts;
use loupe_core::token;

fn answer(text: &str, structured: Option<&str>) -> Capture {
    let text = serde_json::Value::from(text);
    let structured = structured.map_or_else(String::new, |data| {
        format!(r#","structuredContent":{data}"#)
    });
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{text}}}]{structured}}}}}"#
    );
    Capture {
        tool: Tool::unlisted("t"),
        arguments: Bytes::from_static(b"{}"),
        response: Some(message.into()),
        ..Capture::empty(CaptureId("1".into()), Server::default())
    }
}

/// Reading the answer and running the rules of these profiles over it.
fn check(capture: Capture, profiles: &[Profile]) -> Duration {
    let profiles = profiles.iter().copied().collect();
    let (settings, hosts) = (
        RuleSettings {
            profiles,
            ..RuleSettings::default()
        },
        Hosts::built_in(),
    );
    let start = Instant::now();
    let subject = queries::subject(Arc::new(capture));
    let checked = CheckedResult::new(&subject, CheckedServer::default(), &hosts);
    let found = Checker {
        settings: &settings,
        hosts: &hosts,
    }
    .answer(&checked, &Cancel::new());
    black_box(found.unwrap());
    start.elapsed()
}

type Hostile = (&'static str, fn(usize) -> (String, String));

fn plain(text: String) -> (String, String) {
    (text, r#"{"name":"x","list":[{"a":1}]}"#.to_owned())
}

const HOSTILE: [Hostile; 6] = [
    ("a million lines", |n| plain("a: 1\n".repeat(n * 10))),
    ("100,000 backticks", |n| plain("`".repeat(n))),
    ("nested quotes", |n| {
        plain(format!("{} x", "> ".repeat(n / 100)).repeat(20))
    }),
    ("a wide object", |n| {
        let mut object = String::from("{");
        for at in 0..n {
            write!(object, "{}\"key{at}\":{at}", if at == 0 { "" } else { "," })
                .expect("writing to a string");
        }
        (String::from("key1: 1"), object + "}")
    }),
    ("bait for patterns", |n| {
        plain("Default: `a', 'b' or, or \"c showing the first 1,1,1, of use the `x".repeat(n / 60))
    }),
    ("links and images", |n| {
        plain("[![a](http://b?c)](d)<img on".repeat(n / 28))
    }),
];

fn main() {
    let (text, data) = (common::markdown(60_000), common::data(60_000));
    let longer = common::data(120_000);
    let labels =
        |at| format!("Commit: {at:040x}\nAuthor: Ann {at}\nMessage: Change number {at}\n\n");
    let listing = |at| format!("[FILE] report-{at}.md        {}.21 KB\n", at % 977);
    let prose = |at| {
        format!(
            "On day {at} the wind comes from the west, and Ann {} says that it is mild. ",
            at % 89
        )
    };
    let [labels, listing, prose] =
        [labels, listing, prose].map(|piece: common::Piece| common::repeated(piece, 16_000_000));
    let shapes = [
        ("text beside data", &*text, Some(&*data)),
        ("JSON as text", &*longer, None),
        ("Markdown alone", &*text, None),
        ("records of labels", &*labels, None),
        ("a listing", &*listing, None),
        ("prose", &*prose, None),
    ];
    for (shape, text, data) in shapes {
        let capture = answer(text, data);
        let bytes = capture.response.as_ref().map_or(0, Bytes::len);
        let count = || {
            let start = Instant::now();
            black_box(token::count(text));
            black_box(data.map(token::count));
            start.elapsed()
        };
        for (name, profiles) in [
            ("default profiles", Profile::DEFAULT.to_vec()),
            ("all profiles", Profile::all().collect()),
        ] {
            // By turns, so that a machine that slows down slows both.
            let round = |_| {
                let count = count();
                check(capture.clone(), &profiles).as_secs_f64() / count.as_secs_f64()
            };
            let mut times = [(); 5].map(round);
            times.sort_by(f64::total_cmp);
            let [least, _, median, _, most] = times;
            println!(
                "{shape}, {bytes} bytes, {name}: {median:.2} times counting its tokens ({least:.2} to {most:.2})"
            );
        }
    }
    for (name, make) in HOSTILE {
        let time = |n: usize| {
            let (text, structured) = make(n);
            check(
                answer(&text, Some(&structured)),
                &Profile::all().collect::<Vec<_>>(),
            )
        };
        let (small, large) = (time(25_000), time(100_000));
        println!(
            "{name}: {:.1} times as long at four times the size ({small:?}, {large:?})",
            large.as_secs_f64() / small.as_secs_f64()
        );
    }
}
