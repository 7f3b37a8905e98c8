//! The other way round: from what a host gave its model for known answers to the rules that it follows.
//!
//! Every known host is tried first. Where none fits, the words between, before and after the texts that were sent are
//! read off, the remaining choices are tried one by one with the interpreter itself, and the best is written as an entry
//! for a hosts file. What it does not explain is named, never hidden. What is passed on next to the text (a picture)
//! cannot be seen in a text, and is not guessed.

mod entry;
mod finding;
mod paste;

use std::sync::Arc;
use std::time::Duration;

use super::rules::{BlockRules, Host, HostId, JSON_MODES, KeepRule, RuleStep, SELECTS, Select};
use super::template::Template;
use super::view::ViewContext;
use super::{Hosts, read};
use crate::capture::{Block, BlockKind};
use crate::format::ParsedCapture;

pub use finding::{Answers, Confidence, ProbeFinding, find};
pub use paste::sections;

/// One result of the probe server, and what the host gave its model for it.
#[derive(Clone, Debug)]
pub(crate) struct ProbeAnswer {
    /// The name of the probe's tool.
    pub tool: String,
    pub sent: Arc<ParsedCapture>,
    /// The text as it was pasted back.
    pub shown: String,
}

/// What the probes say about a host.
#[derive(Clone, Debug)]
pub struct Guess {
    /// Known hosts whose rules give every text, in their order.
    pub fits: Vec<HostId>,
    /// How many of the texts cannot be computed by the rules of the first of them.
    pub unjudged: usize,
    /// The known host that gives most of them, and how many.
    pub nearest: Option<(HostId, usize)>,
    /// The rules found, without limits.
    pub entry: Option<Host>,
    /// Names of the probes that these rules explain.
    pub explained: Vec<String>,
    /// Names of those that they do not.
    pub open: Vec<String>,
}

/// The time that stands for any time: no call takes two days.
const ANY_TIME: Duration = Duration::new(172_801, 234_500_000);
const ANY: [&str; 3] = ["172801.2345", "172801.234", "172801.235"];
const ANY_PATH: &str = "\u{1}path\u{1}";

const JOINS: &[&str] = &["\n", "", "\n\n", " "];

/// Finds the rules that give what was shown. `server` is the name that the host's configuration gives the probe server.
pub(crate) fn deduce(probes: &[ProbeAnswer], server: &str, hosts: &Hosts) -> Guess {
    let mut fits = Vec::new();
    let mut nearest: Option<(HostId, usize)> = None;
    let mut unjudged = 0;
    for host in hosts.iter() {
        let (names, unknown) = judge(host, probes, server);
        let given = names.len();
        // What a host reads or prints itself cannot be computed: it speaks neither for it nor against it.
        if given + unknown == probes.len() && given > 2 * unknown {
            unjudged = if fits.is_empty() { unknown } else { unjudged };
            fits.push(host.id);
        }
        if given > 0 && nearest.is_none_or(|(_, best)| given > best) {
            nearest = Some((host.id, given));
        }
    }
    let entry = search(probes, server);
    let names = match &entry {
        Some(host) => explain(host, probes, server),
        None => Vec::new(),
    };
    let open = probes
        .iter()
        .map(|probe| probe.tool.clone())
        .filter(|tool| !names.contains(tool))
        .collect();
    Guess {
        fits,
        unjudged,
        nearest,
        entry,
        explained: names,
        open,
    }
}

/// The probes whose texts a host's rules give.
fn explain(host: &Host, probes: &[ProbeAnswer], server: &str) -> Vec<String> {
    judge(host, probes, server).0
}

/// The probes whose texts a host's rules give, and how many texts cannot be computed by them.
fn judge(host: &Host, probes: &[ProbeAnswer], server: &str) -> (Vec<String>, usize) {
    let mut names = Vec::new();
    let mut unknown = 0;
    for probe in probes {
        let mut context = ViewContext {
            server: server.into(),
            tool: probe.tool.as_str().into(),
            wall: ANY_TIME,
            path: ANY_PATH.into(),
            ..ViewContext::new(&probe.sent.capture)
        };
        let view = host.view(&probe.sent, &context);
        if !view.is_computable() {
            unknown += 1;
            continue;
        }
        let mut is_given = is_like(&view.text, &probe.shown);
        // Where a limit bites, the length of the time counts.
        if !is_given
            && !view.limit.bites.is_empty()
            && let Some(wall) = time_in(&probe.shown)
        {
            context.wall = wall;
            is_given = is_like(&host.view(&probe.sent, &context).text, &probe.shown);
        }
        if is_given {
            names.push(probe.tool.clone());
        }
    }
    (names, unknown)
}

/// The first time in seconds, with three or four decimals, near the beginning of a text.
pub fn time_in(shown: &str) -> Option<Duration> {
    let words = shown.split_whitespace().take(40);
    let time = |word: &str| {
        let (_, decimals) = word.split_once('.')?;
        let seconds: f64 = word
            .parse()
            .ok()
            .filter(|_| matches!(decimals.len(), 3 | 4))?;
        Duration::try_from_secs_f64(seconds).ok()
    };
    words.into_iter().find_map(time)
}

/// Whether a text is the expected one, with anything on one line where a time or a path stands. White space at the end
/// does not survive copying.
fn is_like(expected: &str, shown: &str) -> bool {
    let mut pieces = vec![expected.trim_end()];
    for any in ANY.iter().chain([&ANY_PATH]) {
        pieces = pieces.iter().flat_map(|piece| piece.split(any)).collect();
    }
    let mut rest = shown.trim_end();
    let last = pieces.len() - 1;
    for (position, piece) in pieces.iter().enumerate() {
        let at = match position {
            0 if last == 0 => return rest == *piece,
            0 => rest.starts_with(piece).then_some(0),
            _ if position == last => rest.ends_with(piece).then(|| rest.len() - piece.len()),
            _ => rest.find(piece),
        };
        let Some(at) = at else { return false };
        if rest[..at].contains('\n') {
            return false;
        }
        rest = &rest[at + piece.len()..];
    }
    true
}

/// An entry with nothing but texts as they are.
fn plain() -> Option<Host> {
    let text = "schema = \"loupe.hosts/1\"\n[[host]]\nid = \"new-host\"\nname = \"New host\"\nkind = \"cli\"\nversion = \"unknown\"\n\
                checked = \"2000-01-01\"\nevidence = \"observed\"\nselect = \"content\"\njson = \"js-compact\"\ndelivery = \"string\"\n";
    read::file(text, "the entry to begin with").ok()?.0.pop()
}

/// What stands around the texts.
struct Around {
    /// Before and after every text.
    each: (String, String),
    /// Of the whole.
    wrap: Option<String>,
    join: Option<String>,
}

/// Tries what is left to choose, the plainest first, and keeps what explains most.
fn search(probes: &[ProbeAnswer], server: &str) -> Option<Host> {
    let mut base = plain()?;
    let around = read_around(probes);
    let (before, after) = &around.each;
    base.block.text = vec![RuleStep::Text(Template::from(format!(
        "{before}{{text}}{after}"
    )))];
    base.wrap = around.wrap.map(Template::from);
    let joins: Vec<String> = match around.join {
        Some(join) => vec![join],
        None => JOINS.iter().map(|join| (*join).to_owned()).collect(),
    };
    let nothing = probes.iter().find(|probe| {
        probe.sent.response.blocks.is_empty()
            && probe.sent.response.structured().is_none()
            && !probe.shown.trim().is_empty()
    });
    // What is there for a result without content already has the host's own words around it.
    base.empty = nothing
        .filter(|_| base.wrap.is_none())
        .map(|probe| Template::from(probe.shown.trim_end().to_owned()));
    let mut best: Option<(usize, Host)> = None;
    for join in &joins {
        base.join.clone_from(join);
        read_blocks(
            &mut base.block,
            probes,
            (&format!("{after}{join}"), &format!("{join}{before}")),
            &format!("{after}{join}{before}"),
        );
        for (select, _) in SELECTS {
            let structured_joins = if *select == Select::Both {
                JOINS
            } else {
                &JOINS[..1]
            };
            for ((mode, _), structured_join) in JSON_MODES
                .iter()
                .flat_map(|mode| structured_joins.iter().map(move |join| (mode, join)))
            {
                let mut host = Host {
                    select: *select,
                    json: *mode,
                    structured_join: (*structured_join).to_owned(),
                    ..base.clone()
                };
                read_error(&mut host, probes, server);
                let given = explain(&host, probes, server).len();
                if best.as_ref().is_none_or(|(most, _)| given > *most) {
                    best = Some((given, host));
                }
            }
        }
    }
    // A result that arrives as JSON looks as if its text stood between words of the host.
    for select in [Select::WireResult, Select::WireContent] {
        for (mode, _) in JSON_MODES {
            let Some(host) = plain().map(|host| Host {
                select,
                json: *mode,
                ..host
            }) else {
                continue;
            };
            let given = explain(&host, probes, server).len();
            if best.as_ref().is_none_or(|(most, _)| given > *most) {
                best = Some((given, host));
            }
        }
    }
    best.map(|(_, host)| host)
}

/// The text of a block, if it is in what was shown.
fn place(block: &Block, shown: &str) -> Option<std::ops::Range<usize>> {
    let text = block.text.as_deref().filter(|text| !text.is_empty())?;
    shown.find(text).map(|at| at..at + text.len())
}

/// Reads off what stands before, between and after texts.
fn read_around(probes: &[ProbeAnswer]) -> Around {
    let good = || {
        probes
            .iter()
            .filter(|probe| probe.sent.response.is_error != Some(true))
    };
    let texts = |probe: &ProbeAnswer| {
        let blocks = &probe.sent.response.blocks;
        let is_plain = probe.sent.response.structured().is_none()
            && blocks.iter().all(|block| block.kind == BlockKind::Text);
        if is_plain {
            blocks
                .iter()
                .map(|block| place(block, &probe.shown))
                .collect::<Option<Vec<_>>>()
        } else {
            None
        }
    };
    let single = good().find_map(|probe| match texts(probe)?.as_slice() {
        [one] => Some((&probe.shown[..one.start], probe.shown[one.end..].trim_end())),
        _ => None,
    });
    let between = good().find_map(|probe| match texts(probe)?.as_slice() {
        [first, second, ..] if first.end <= second.start => {
            Some(&probe.shown[first.end..second.start])
        }
        _ => None,
    });
    let (before, after) = single.unwrap_or_default();
    // Words that stand around every text stand between two of them as well.
    let inner = between.and_then(|between| between.strip_prefix(after)?.strip_suffix(before));
    let has_words = !before.is_empty() || !after.is_empty();
    let is_around_each = has_words && inner.is_some();
    Around {
        each: if is_around_each {
            (before.to_owned(), after.to_owned())
        } else {
            Default::default()
        },
        wrap: (has_words && !is_around_each).then(|| format!("{}{{body}}{}", timed(before), after)),
        join: if is_around_each { inner } else { between }.map(str::to_owned),
    }
}

/// The words before a body, with a time in seconds as a placeholder.
fn timed(text: &str) -> String {
    let mut words = text.split_inclusive(' ').collect::<Vec<_>>();
    for word in &mut words {
        let decimals = word.trim_end().split_once('.').filter(|(whole, decimals)| {
            !whole.is_empty()
                && whole
                    .bytes()
                    .chain(decimals.bytes())
                    .all(|byte| byte.is_ascii_digit())
        });
        *word = match decimals.map(|(_, decimals)| decimals.len()) {
            Some(4) => "{wall_s} ",
            Some(3) => "{wall_s3} ",
            _ => word,
        };
    }
    words.concat()
}

/// Reads off what became of blocks that stand between two texts: `ends` stand before and after them, `nothing` where they
/// are left out.
fn read_blocks(rules: &mut BlockRules, probes: &[ProbeAnswer], ends: (&str, &str), nothing: &str) {
    for probe in probes
        .iter()
        .filter(|probe| probe.sent.response.is_error != Some(true))
    {
        let [first, block, last] = probe.sent.response.blocks.as_slice() else {
            continue;
        };
        let (Some(first), Some(last)) = (place(first, &probe.shown), place(last, &probe.shown))
        else {
            continue;
        };
        if first.end > last.start {
            continue;
        }
        let between = &probe.shown[first.end..last.start];
        let inner = between
            .strip_prefix(ends.0)
            .and_then(|rest| rest.strip_suffix(ends.1));
        let steps = match inner {
            _ if between == nothing => vec![RuleStep::Drop],
            Some(inner) => vec![RuleStep::Text(Template::from(template(
                inner,
                block,
                &probe.sent,
            )))],
            None => continue,
        };
        match block.kind {
            BlockKind::Image => rules.image = steps,
            BlockKind::Audio => rules.audio = steps,
            BlockKind::ResourceLink => rules.resource_link = steps,
            BlockKind::Resource if block.text.is_some() => rules.resource_text = steps,
            BlockKind::Resource => rules.resource_blob = steps,
            BlockKind::Unknown => rules.unknown = steps,
            BlockKind::Text => {}
        }
    }
}

/// A text with the values of a block as placeholders, the longest first.
fn template(text: &str, block: &Block, sent: &ParsedCapture) -> String {
    let description = sent
        .response
        .doc
        .node(block.node)
        .and_then(|node| Some(node.get("description")?.as_str()?.into_owned()));
    let mut values = vec![
        (block.text.as_deref().map(str::to_owned), "{text}"),
        (block.uri.clone(), "{uri}"),
        (
            description.map(|text| format!(" ({text})")),
            "{description_paren}",
        ),
        (block.name.clone(), "{name}"),
        (block.mime_type.clone(), "{mime}"),
    ];
    values.sort_by_key(|(value, _)| std::cmp::Reverse(value.as_ref().map_or(0, String::len)));
    let mut text = text.to_owned();
    for (value, word) in values {
        if let Some(value) = value.filter(|value| value.len() > 2) {
            text = text.replace(&value, word);
        }
    }
    text
}

/// Reads off what an error adds, for the rules as they are.
fn read_error(host: &mut Host, probes: &[ProbeAnswer], server: &str) {
    let failed = probes
        .iter()
        .filter(|probe| probe.sent.response.is_error == Some(true));
    for probe in failed {
        for select in [None, Some(Select::Content), Some(Select::Structured)] {
            let mut tried = host.clone();
            tried.error.select = select;
            let one = std::slice::from_ref(probe);
            if !explain(&tried, one, server).is_empty() {
                host.error.select = select;
                break;
            }
            let view = tried.view(&probe.sent, &ViewContext::new(&probe.sent.capture));
            // The words of `wrap` stand outside those of an error, which are not distinguished here.
            let body = if host.wrap.is_some() { "" } else { &*view.text };
            if let Some((before, after)) = probe.shown.split_once(body).filter(|_| !body.is_empty())
            {
                host.error.select = select;
                host.error.template = Some(Template::from(format!(
                    "{before}{{body}}{}",
                    after.trim_end()
                )));
                break;
            }
        }
    }
}

/// What a long text says of a limit: how many characters (Unicode scalar values) are left at its beginning and its end, and what stands
/// between; `None` where the whole text is there. White space at the very end is not counted.
pub fn cut(sent: &str, shown: &str) -> Option<ProbeCut> {
    if shown.contains(sent.trim_end()) {
        return None;
    }
    let begun = skip_to(shown, sent).trim_end();
    let sent = sent.trim_end();
    let head = sent
        .chars()
        .zip(begun.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let rest: String = begun.chars().skip(head).collect();
    // What a host says after the text is not its end.
    let end: String = sent
        .chars()
        .skip(sent.chars().count().saturating_sub(MARK))
        .collect();
    let rest = rest
        .rfind(&end)
        .filter(|_| !end.is_empty())
        .map_or(rest.as_str(), |at| &rest[..at + end.len()]);
    let tail = sent
        .chars()
        .rev()
        .zip(rest.chars().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let notice = rest.chars().count() - tail;
    let keep = match (head, tail) {
        (0, 0) => KeepRule::None,
        (_, 0) => KeepRule::Head,
        _ => KeepRule::HeadTail,
    };
    Some(ProbeCut {
        head,
        tail,
        keep,
        notice: rest.chars().take(notice).collect(),
    })
}

/// So many characters tell an end or a beginning.
const MARK: usize = 12;

/// From where the beginning of the text that was sent stands.
fn skip_to<'a>(shown: &'a str, sent: &str) -> &'a str {
    let start: String = sent.chars().take(MARK).collect();
    shown.find(&start).map_or(shown, |at| &shown[at..])
}

/// Where a host cut a long text. Lengths are in Unicode scalar values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeCut {
    pub head: usize,
    pub tail: usize,
    pub keep: KeepRule,
    pub notice: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::subject;

    const PROBES: &[(&str, &str)] = &[
        ("one", r#"{"content":[{"type":"text","text":"Mark01a"}]}"#),
        (
            "several",
            r#"{"content":[{"type":"text","text":"Mark02a"},{"type":"text","text":"Mark02b"},{"type":"text","text":"Mark02c"}]}"#,
        ),
        (
            "structured",
            r#"{"content":[],"structuredContent":{"marker":"Mark03a","ratio":1.0,"names":["é"]}}"#,
        ),
        (
            "same",
            r#"{"content":[{"type":"text","text":"{\"marker\":\"Mark04a\",\"ratio\":1.0}"}],"structuredContent":{"marker":"Mark04a","ratio":1.0}}"#,
        ),
        (
            "other",
            r#"{"content":[{"type":"text","text":"Mark05a"}],"structuredContent":{"marker":"Mark05b","ratio":1.0,"names":["é"]}}"#,
        ),
        (
            "resource",
            r#"{"content":[{"type":"text","text":"Mark08a"},{"type":"resource","resource":{"uri":"probe://embedded","text":"Mark08b"}},{"type":"text","text":"Mark08c"}]}"#,
        ),
        (
            "link",
            r#"{"content":[{"type":"text","text":"Mark09a"},{"type":"resource_link","uri":"probe://link/Mark09b","name":"linked"},{"type":"text","text":"Mark09c"}]}"#,
        ),
        (
            "error",
            r#"{"content":[{"type":"text","text":"Mark10a"}],"isError":true}"#,
        ),
        ("nothing", r#"{"content":[]}"#),
    ];

    /// What a built-in host would have shown; probes that it has no text for are left out.
    fn pasted(host: &Host) -> Vec<ProbeAnswer> {
        let probe = |(tool, result): &(&str, &str)| {
            let sent = Arc::new(subject(result));
            let context = ViewContext {
                server: "probe".into(),
                tool: (*tool).into(),
                wall: Duration::from_millis(12),
                path: "/tmp/x".into(),
                ..ViewContext::new(&sent.capture)
            };
            let view = host.view(&sent, &context);
            let shown = view.text.to_string();
            view.is_computable().then_some(ProbeAnswer {
                tool: (*tool).to_owned(),
                sent,
                shown,
            })
        };
        PROBES.iter().filter_map(probe).collect()
    }

    /// The entry as a hosts file.
    fn toml(guess: &Guess) -> String {
        guess
            .entry
            .as_ref()
            .map(|host| entry::write(host, "2026-01-31", &[]))
            .unwrap_or_default()
    }

    #[test]
    fn every_known_host_is_recognised() {
        let hosts = Hosts::built_in();
        let limited = |host: &Host| pasted(host).is_empty();
        for host in hosts.iter().filter(|host| !limited(host)) {
            let probes = pasted(host);
            let given = explain(host, &probes, "probe");
            assert_eq!(given.len(), probes.len(), "{}", host.id);
        }
    }

    #[test]
    fn rules_are_found_without_knowing_the_host() {
        let hosts = Hosts::built_in();
        for (id, at_least) in [
            ("opencode", 8),
            ("codex", 5),
            ("zed", 7),
            ("gemini-cli", 7),
            ("claude-desktop", 7),
            ("cline", 9),
        ] {
            let probes = pasted(hosts.get(id).unwrap());
            let guess = deduce(&probes, "probe", &Hosts::default());
            assert!(guess.fits.is_empty());
            assert!(
                guess.explained.len() >= at_least,
                "{id}: {:?} open\n{}",
                guess.open,
                toml(&guess)
            );
            // What was written is read back and says the same.
            let read = Hosts::default().with_file(&toml(&guess), "guess");
            assert_eq!(read.problems, [], "{}", toml(&guess));
            let again = explain(read.get("new-host").unwrap(), &probes, "probe");
            assert_eq!(again, guess.explained, "{id}\n{}", toml(&guess));
        }
        let probes = pasted(hosts.get("opencode").unwrap());
        let guess = deduce(&probes, "probe", &hosts);
        assert!(
            guess.fits.iter().any(|id| id.as_str() == "opencode"),
            "{:?}",
            guess.fits
        );
    }

    #[test]
    fn a_cut_is_measured() {
        let sent: String = (0..200).map(|line| format!("Line {line:03}\n")).collect();
        let shown = format!("{}<gone>{}", &sent[..100], &sent[sent.len() - 50..]);
        let found = cut(&sent, &shown).unwrap();
        assert_eq!(
            (found.head, found.keep, found.notice.as_str()),
            (100, KeepRule::HeadTail, "<gone>")
        );
        assert_eq!(found.tail, 49, "but for the line end");
        assert_eq!(cut(&sent, &sent), None);
        assert_eq!(cut(&sent, "too long").unwrap().keep, KeepRule::None);
    }
}
