//! Texts that break or hide things when rendered. A *string* here is a text leaf of the data that is in the text.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};
use url::Url;

use super::fences::{FenceEnd, fence_end};
use super::profile::Profile::MarkdownSafety;
use super::result::clip;
use super::rule::Severity::{Error, Info, Warning};
use super::rule::{Hits, Rule, RuleCheck, RulePattern};
use super::{CheckedResult, result};
use loupe_core::json::Node;
use loupe_core::layout::{Line, line_end, line_from, lines, longest_backticks};

const COMMONMARK: &str = "CommonMark 0.31, and renderers that follow it";

pub(crate) static RULES: &[Rule] = &[
    Rule::new("markdown/fence-broken", &[(MarkdownSafety, Error)], RuleCheck::Answer(fence_broken))
        .explanation("A string holds a line of backticks that closes the fence it stands in: what follows leaks out and is read as Markdown.")
        .fix("A fence one longer than the longest run in the text.")
        .source("CommonMark 0.31, fenced code blocks"),
    Rule::new("markdown/fence-run", &[(MarkdownSafety, Warning)], RuleCheck::Answer(fence_run))
        .explanation("A string in a fence holds three backticks in the middle of a line: readers by pattern stop there.")
        .fix("A longer fence.")
        .source("programs that look for three backticks by pattern"),
    Rule::new("markdown/user-content-unquoted", &[(MarkdownSafety, Warning)], RuleCheck::Answer(unquoted))
        .explanation("A string of several lines stands outside of quotes and fences, so that its headings, lists and rules count as the server's own.")
        .fix("Prefix each line with `> `, or put it into a fence.")
        .source("indirect prompt injection"),
    Rule::new("markdown/quote-incomplete", &[], RuleCheck::Answer(quote_incomplete))
        .explanation("A line of a quoted string lacks its `> `.")
        .fix("Prefix every line, blank ones too.")
        .source("CommonMark 0.31, block quotes"),
    Rule::new("markdown/indent-not-quote", &[], RuleCheck::Answer(indent_not_quote))
        .explanation("A string is indented by one to three spaces, in which headings and lists still count.")
        .fix("`> ` in place of spaces.")
        .source("CommonMark 0.31, block quotes"),
    Rule::new("markdown/table-broken", &[(MarkdownSafety, Error)], RuleCheck::Answer(table_broken))
        .explanation("A row has other cells than the head: renderers drop what is too much, so that a value vanishes.")
        .fix("Escape `|` as `\\|`, and line ends as `<br>`.")
        .source("GFM, tables"),
    Rule::new("markdown/structure-injection", &[(MarkdownSafety, Error)], RuleCheck::Answer(injection))
        .explanation("A string makes a heading, a row, a rule or a list item of the kind that the server uses for its own: nobody can tell its words from the server's.")
        .fix("Put line ends and marks of the string out of force: escape them, or quote each line.")
        .source("indirect prompt injection"),
    Rule::new("markdown/raw-html", &[(MarkdownSafety, Warning)], RuleCheck::Answer(raw_html))
        .explanation("HTML outside of code: renderers drop it, show it or run it.")
        .fix("Write `<` as `&lt;`, or put it into code.")
        .source("clients that render Markdown with HTML"),
    Rule::new("markdown/image", &[(MarkdownSafety, Warning)], RuleCheck::Answer(image))
        .explanation("An image from the network: whoever renders it fetches it, and what stands in its address leaves the machine.")
        .fix("A link, or none.")
        .source("data exfiltration by Markdown images in chat clients, reported since 2023"),
    Rule::new("markdown/link", &[(MarkdownSafety, Warning)], RuleCheck::Answer(link))
        .explanation("A link that does something else than it says: runs a script, opens a file, carries a password, or names another host than it leads to.")
        .fix("An http or https address, shown as it is.")
        .source(COMMONMARK),
    Rule::new("markdown/dead-anchor", &[(MarkdownSafety, Info)], RuleCheck::Answer(dead_anchor))
        .explanation("A link to a place in the text that is not there.")
        .fix("Plain text.")
        .source("CommonMark 0.31, links"),
    Rule::new("markdown/invisible", &[(MarkdownSafety, Warning)], RuleCheck::Answer(invisible))
        .explanation("Characters that nobody sees and models read; tag characters spell hidden instructions.")
        .fix("Take them out of what users wrote.")
        .source("Unicode tag smuggling, reported for chat clients since 2024"),
    Rule::new("markdown/bidi", &[(MarkdownSafety, Error)], RuleCheck::Answer(bidi))
        .explanation("Characters that turn the direction of what follows: a person sees another text than the model reads.")
        .fix("Take them out, or close each within its value.")
        .source("CVE-2021-42574, “Trojan Source”"),
    Rule::new("markdown/control", &[(MarkdownSafety, Error)], RuleCheck::Answer(control))
        .explanation("Control characters, such as the beginnings of terminal commands: a host in a terminal obeys them.")
        .fix("Take out all but tab and line feed.")
        .source("hosts in terminals; ECMA-48"),
    Rule::new("markdown/special-token", &[(MarkdownSafety, Warning)], RuleCheck::Answer(special_token))
        .explanation("Text that is a control token of some model: where it is not escaped it ends the turn or the result.")
        .fix("Break it up, such as by a space after `<`.")
        .source("chat templates of OpenAI, Llama and Anthropic models"),
    Rule::new("markdown/instruction-like", &[(MarkdownSafety, Info)], RuleCheck::Answer(instruction_like))
        .explanation("A string reads like an instruction to a model.")
        .fix("Quote what users wrote, and say that it is theirs.")
        .source("indirect prompt injection")
        .heuristic(),
    Rule::new("markdown/mojibake", &[(MarkdownSafety, Warning)], RuleCheck::Answer(mojibake))
        .explanation("UTF-8 that was read as another encoding and written again, or characters that were lost.")
        .fix("Read and write UTF-8 throughout.")
        .source("the Unicode Standard, U+FFFD; UTF-8 read as Windows-1252")
        .heuristic(),
    Rule::new("markdown/render-differs", &[(MarkdownSafety, Warning)], RuleCheck::Answer(render_differs))
        .explanation("Marks in a string count as Markdown, so that a person sees another text than the value.")
        .fix("Escape `*`, `_`, `` ` ``, `#` and `[`.")
        .source(COMMONMARK)
        .heuristic(),
];

/// A stretch of Markdown that holds strings.
enum Holder {
    Fence,
    Quote,
}

/// Fences and quotes with their ranges, in order; what stands within others is left out.
fn holders(answer: &CheckedResult<'_>) -> Vec<(Range<usize>, Holder)> {
    let mut found: Vec<(Range<usize>, Holder)> = Vec::new();
    for (event, range) in answer.markdown() {
        let holder = match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => Holder::Fence,
            Event::Start(Tag::BlockQuote(_)) => Holder::Quote,
            _ => continue,
        };
        if found.last().is_none_or(|(last, _)| range.start >= last.end) {
            found.push((range.clone(), holder));
        }
    }
    found
}

/// The holder that a place begins in.
fn holder_at<'h>(
    holders: &'h [(Range<usize>, Holder)],
    place: &Range<usize>,
) -> Option<&'h (Range<usize>, Holder)> {
    let at = holders
        .partition_point(|(range, _)| range.start <= place.start)
        .checked_sub(1)?;
    holders.get(at).filter(|(range, _)| place.start < range.end)
}

fn fence_broken(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let holders = holders(answer);
    for (node, place) in answer.strings_in_text() {
        if let Some((range, Holder::Fence)) = holder_at(&holders, place)
            && place.end > range.end
        {
            let leaked = clip(&answer.text[range.end..place.end]);
            hits.report(format!(
                "a line of the string closes its fence; “{leaked}” leaks out"
            ))
            .at(answer.text_at(range.end..place.end))
            .at(answer.data_at(*node));
        }
    }
    if let FenceEnd::Nested { line, marks, mark } = fence_end(answer.markdown_text()) {
        let name = if mark == '`' { "backticks" } else { "tildes" };
        let inner = answer.text[line.clone()].trim();
        hits.report(format!(
            "the fence “{inner}” stands within a fence that its end closes; the one around it needs {} {name}",
            marks + 1
        ))
        .at(answer.text_at(line));
        return;
    }
    // Where the text is all there is, a fence without a matching end shows it.
    if answer.structured().is_none()
        && let Some(place) = leak(answer)
    {
        let hit = hits.report("a fence seems to be closed by a line of what it holds: the fences after it are turned inside out");
        hit.at(answer.text_at(place)).as_severity(Warning);
    }
}

/// Where text goes on directly after a fence of `Label: value` lines, and another fence begins directly after text: the
/// ends and beginnings of fences have changed places.
fn leak(answer: &CheckedResult<'_>) -> Option<Range<usize>> {
    let text = answer.markdown_text();
    let fences: Vec<_> = holders(answer)
        .into_iter()
        .filter(|(_, holder)| matches!(holder, Holder::Fence))
        .map(|(range, _)| range)
        .collect();
    let is_record = |range: &Range<usize>| {
        let mut lines = lines(&text[range.clone()]);
        lines.next().is_some_and(|line| line.body() == "```")
            && lines.next().is_some_and(|line| line.text.contains(": "))
    };
    let leaks = |range: &&Range<usize>| {
        let after = range.end + usize::from(!text[..range.end].ends_with('\n'));
        is_record(range)
            && text[(*range).clone()].trim_end().ends_with("\n```")
            && after < text.len()
            && !line_from(text, after).is_blank()
    };
    let first = fences.iter().find(leaks)?;
    let inside_out = |range: &Range<usize>| {
        range.start > first.end
            && text[..range.start].trim_end_matches('\n').len() + 1 >= range.start
    };
    fences
        .iter()
        .any(inside_out)
        .then(|| first.end..(line_end(text, first.end) + 1).min(text.len()))
}

fn fence_run(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let holders = holders(answer);
    for (node, place) in answer.strings_in_text() {
        if let Some((range, Holder::Fence)) = holder_at(&holders, place)
            && place.end <= range.end
            && longest_backticks(&answer.text[place.clone()]) >= 3
        {
            hits.report("three backticks in the middle of a fence")
                .at(answer.text_at(place.clone()))
                .at(answer.data_at(*node));
        }
    }
}

/// Whether a line counts as structure at the start of a line.
fn is_structure(line: &Line<'_>) -> bool {
    line.indent <= 3
        && (line.heading().is_some()
            || matches!(line.rule(), Some('-' | '*' | '_'))
            || line.fence().is_some())
}

fn unquoted(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let holders = holders(answer);
    for (node, place) in answer.strings_in_text() {
        let stated = &answer.text[place.clone()];
        let starts_line = place.start == 0 || answer.text[..place.start].ends_with('\n');
        let breaks = lines(stated)
            .skip(usize::from(!starts_line))
            .any(|line| is_structure(&line));
        if breaks && holder_at(&holders, place).is_none() && answer.json_text().is_none() {
            hits.report(format!(
                "a string brings structure of its own: “{}”",
                clip(stated)
            ))
            .at(answer.text_at(place.clone()))
            .at(answer.data_at(*node));
        }
    }
}

fn quote_incomplete(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let holders = holders(answer);
    for (node, place) in answer.strings_in_text() {
        let is_quoted = matches!(holder_at(&holders, place), Some((_, Holder::Quote)));
        let lacks = |line: &str| !line.trim_start().starts_with('>');
        if is_quoted && answer.text[place.clone()].lines().skip(1).any(lacks) {
            hits.report("a line of a quoted string has no `> `")
                .at(answer.text_at(place.clone()))
                .at(answer.data_at(*node));
        }
    }
}

fn indent_not_quote(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    for line in lines(answer.markdown_text()) {
        if line.text.starts_with(' ') && is_structure(&line) && answer.json_text().is_none() {
            hits.report("structure counts in spite of its indent")
                .at(answer.text_at(line.range()));
        }
    }
}

fn table_broken(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let text = answer.markdown_text();
    let mut columns = None;
    for (event, range) in answer.markdown() {
        match event {
            Event::Start(Tag::Table(alignments)) => columns = Some(alignments.len()),
            Event::End(TagEnd::Table) => columns = None,
            Event::Start(Tag::TableRow) => {
                let row = text[range.clone()].trim_end();
                let own = Line::new(row, 0).cells().count();
                if let Some(columns) =
                    columns.filter(|columns| own != *columns && row.contains('|'))
                {
                    hits.report(format!("a row of {own} cells in a table of {columns}"))
                        .at(answer.text_at(range.start..range.start + row.len()));
                } else if columns.is_some_and(|columns| columns > 1) && !row.contains('|') {
                    hits.report("a line without cells counts as a row of the table")
                        .at(answer.text_at(range.start..range.start + row.len()));
                }
            }
            _ => {}
        }
    }
}

/// The kind of a piece of structure, with its level.
fn structure(event: &Event<'_>) -> Option<(&'static str, usize)> {
    match event {
        Event::Start(Tag::Heading { level, .. }) => Some(("heading", *level as usize)),
        Event::Start(Tag::TableRow) => Some(("row of a table", 0)),
        Event::Start(Tag::Item) => Some(("list item", 0)),
        Event::Rule => Some(("rule", 0)),
        _ => None,
    }
}

fn injection(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let strings = answer.strings_in_text();
    if strings
        .iter()
        .all(|(_, place)| !answer.text[place.clone()].contains('\n'))
    {
        return;
    }
    // What begins within a string after its first line is the string's.
    let mut order: Vec<_> = strings.iter().collect();
    order.sort_by_key(|(_, place)| place.start);
    let holder = |at: usize| {
        let last = order
            .partition_point(|(_, place)| place.start < at)
            .checked_sub(1)?;
        order
            .get(last)
            .filter(|(_, place)| at < place.end && answer.text[place.start..at].contains('\n'))
    };
    let (mut own, mut brought) = (Vec::new(), Vec::new());
    for (event, range) in answer.markdown() {
        let Some(kind) = structure(event) else {
            continue;
        };
        match holder(range.start) {
            Some((node, place)) => {
                brought.push((kind, *node, range.start..place.end.min(range.end)))
            }
            None if !own.contains(&kind) => own.push(kind),
            None => {}
        }
    }
    for ((name, level), node, range) in brought {
        if own.contains(&(name, level)) {
            hits.report(format!(
                "a string makes a {name} as the server's own: “{}”",
                clip(&answer.text[range.clone()])
            ))
            .at(answer.text_at(range))
            .at(answer.data_at(node));
        }
    }
}

/// The elements of HTML. What else is in angle brackets is a placeholder: `<file>`.
const ELEMENTS: &str = "a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink blockquote body br button canvas caption center cite code col colgroup data datalist dd del dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark marquee math menu meta meter nav noframes noscript object ol optgroup option output p param picture plaintext pre progress q rp rt ruby s samp script search section select slot small source span strike strong style sub sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr xmp";

fn raw_html(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    static TAG: RulePattern = RulePattern::new(r"<\s*(/?)\s*([a-zA-Z][a-zA-Z0-9-]*)([^<>]*)>?");
    static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| ELEMENTS.split(' ').collect());
    // A page of HTML, or a text with tags of its own, is what was asked for.
    let start = answer.text.trim_start();
    let is_element = || {
        TAG.captures(start)
            .is_some_and(|found| KNOWN.contains(&*found[2].to_lowercase()) && &found[2] != "html")
    };
    if start.starts_with('<') && !is_element() {
        return;
    }
    let mut tags: Vec<(String, String, Range<usize>)> = Vec::new();
    let mut closed: HashSet<String> = HashSet::new();
    for (event, range) in answer.markdown() {
        let (Event::Html(html) | Event::InlineHtml(html)) = event else {
            continue;
        };
        for found in TAG.captures_iter(html) {
            let part = |at| found.get(at).map_or("", |part| part.as_str());
            let name = part(2).to_lowercase();
            if !part(1).is_empty() {
                closed.insert(name.clone());
            }
            tags.push((name, part(3).to_lowercase(), range.clone()));
        }
    }
    for (name, rest, range) in tags {
        if matches!(&*name, "br" | "details" | "summary") {
            continue;
        }
        let is_bare = rest.trim_matches([' ', '.', '/']).is_empty();
        let is_grave = matches!(&*name, "script" | "iframe" | "img")
            || matches!(&*name, "object" | "embed") && !is_bare
            || rest.contains(" on") && rest.contains('=');
        // In plain text `<object>`, which nothing closes, is a placeholder as well.
        let is_html = KNOWN.contains(&*name)
            && (!is_bare || closed.contains(&name) || answer.subject.renders());
        if !is_grave && !is_html {
            continue;
        }
        let hit = hits.report(format!("raw HTML: <{name}>"));
        hit.at(answer.text_at(range));
        if is_grave {
            hit.as_severity(Error);
        }
    }
}

fn image(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    for (event, range) in answer.markdown() {
        let Event::Start(Tag::Image { dest_url, .. }) = event else {
            continue;
        };
        let Ok(url) = Url::parse(dest_url) else {
            continue;
        };
        let Some(host) = url
            .host_str()
            .filter(|_| matches!(url.scheme(), "http" | "https"))
        else {
            continue;
        };
        let query = url
            .query()
            .map(|query| format!(", with “{}”", clip(query)))
            .unwrap_or_default();
        let hit = hits.report(format!("an image of {host}{query}"));
        hit.at(answer.text_at(range.clone()));
        if url.query().is_some() {
            hit.as_severity(Error);
        }
    }
}

fn link(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let mut open: Option<(Url, Range<usize>, String)> = None;
    for (event, range) in answer.markdown() {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                let Ok(url) = Url::parse(dest_url) else {
                    continue;
                };
                if matches!(url.scheme(), "javascript" | "data" | "file" | "vbscript") {
                    hits.report(format!("a link by `{}:`", url.scheme()))
                        .at(answer.text_at(range.clone()));
                } else if !url.username().is_empty() && matches!(url.scheme(), "http" | "https") {
                    hits.report("a link with a user's name in its address")
                        .at(answer.text_at(range.clone()));
                } else {
                    open = Some((url, range.clone(), String::new()));
                }
            }
            Event::Text(stated) | Event::Code(stated) => {
                if let Some((_, _, text)) = &mut open {
                    text.push_str(stated);
                }
            }
            Event::End(TagEnd::Link) => {
                let Some((url, range, text)) = open.take() else {
                    continue;
                };
                let shown = host_said(&text);
                if let (Some(shown), Some(host)) = (shown, url.host_str())
                    && !host
                        .trim_start_matches("www.")
                        .ends_with(shown.trim_start_matches("www."))
                {
                    hits.report(format!("a link that says {shown} and leads to {host}"))
                        .at(answer.text_at(range.clone()));
                } else if url
                    .host_str()
                    .is_some_and(|host| host.split('.').any(|label| label.starts_with("xn--")))
                {
                    hits.report(format!(
                        "a link to {}, whose name may look like another",
                        url.host_str().unwrap_or_default()
                    ))
                    .at(answer.text_at(range.clone()));
                }
            }
            _ => {}
        }
    }
}

/// The host that a link's text names, where it is nothing but an address.
fn host_said(text: &str) -> Option<String> {
    let text = text.trim();
    if text.contains(char::is_whitespace) {
        return None;
    }
    if text.starts_with("http") {
        return Url::parse(text).ok()?.host_str().map(str::to_owned);
    }
    let ends = [
        ".com", ".org", ".net", ".io", ".dev", ".gov", ".edu", ".example",
    ];
    ends.iter()
        .any(|end| text.ends_with(end))
        .then(|| text.to_lowercase())
}

fn dead_anchor(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let text = answer.markdown_text();
    let mut anchors = std::collections::HashSet::new();
    let mut links = Vec::new();
    let mut heading: Option<String> = None;
    for (event, range) in answer.markdown() {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(stated) | Event::Code(stated) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(stated);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let slug = |char: char| {
                    if char.is_alphanumeric() || char == '-' || char == '_' {
                        char
                    } else {
                        ' '
                    }
                };
                let title: String = heading
                    .take()
                    .unwrap_or_default()
                    .to_lowercase()
                    .chars()
                    .map(slug)
                    .collect();
                anchors.insert(title.split_whitespace().collect::<Vec<_>>().join("-"));
            }
            Event::Start(Tag::Link { dest_url, .. })
                if dest_url.starts_with('#') && dest_url.len() > 1 =>
            {
                links.push((dest_url[1..].to_lowercase(), range.clone()));
            }
            _ => {}
        }
    }
    // Explicit anchors are rare; looked for only where a link may need them.
    let has_ids = !links.is_empty() && (text.contains("id=") || text.contains("name="));
    for (to, range) in links {
        if !has_ids && !anchors.contains(&to) {
            hits.report("a link to a place that is not in the text")
                .at(answer.text_at(range.clone()));
        }
    }
}

/// Those of the characters that nobody sees that are of interest, each with its place.
fn unseen(
    answer: &CheckedResult<'_>,
    is_it: impl Fn(char) -> bool,
) -> impl Iterator<Item = (usize, char)> {
    answer
        .unseen_characters()
        .iter()
        .copied()
        .filter(move |(_, char)| is_it(*char))
}

fn code(char: char) -> String {
    format!("U+{:04X}", u32::from(char))
}

/// The end of the tags of a flag that begin at `at`: five letters of its region and the last tag; `at` where it is no flag.
fn flag_end(text: &str, at: usize) -> usize {
    let tags: Vec<char> = text[at..].chars().take(6).collect();
    let is_region = tags
        .iter()
        .take(5)
        .all(|tag| ('\u{e0061}'..='\u{e007a}').contains(tag));
    let is_flag = tags.len() == 6 && is_region && tags[5] == '\u{e007f}';
    if is_flag { at + 6 * 4 } else { at }
}

fn invisible(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let mut hidden = String::new();
    let mut first_tag = None;
    let mut flag_until = 0;
    for (at, char) in unseen(answer, |char| ('\u{e0000}'..='\u{e007f}').contains(&char)) {
        // The flags of England, Scotland and Wales are an emoji with a few tags, up to the one that ends them.
        if answer.text[..at].ends_with('\u{1f3f4}') {
            flag_until = flag_end(&answer.text, at);
        }
        if at < flag_until {
            continue;
        }
        first_tag.get_or_insert(at);
        if hidden.len() < 200 {
            hidden.extend(
                char::from_u32(u32::from(char) - 0xe0000).filter(|char| !char.is_control()),
            );
        }
    }
    if let Some(at) = first_tag {
        hits.report(format!("tag characters, which spell “{}”", clip(&hidden)))
            .at(answer.text_at(at..at + 4))
            .as_severity(Error);
    }
    let is_hidden = |char: char| {
        matches!(
            char,
            '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{180e}'
        )
    };
    for (at, char) in unseen(answer, is_hidden) {
        let before = answer.text[..at].chars().next_back();
        let after = answer.text[at + char.len_utf8()..].chars().next();
        // Joins emoji and the letters of many scripts.
        let joins = |char: Option<char>| {
            char.is_some_and(|char| !char.is_ascii() && u32::from(char) >= 0x600)
        };
        let is_joiner = matches!(char, '\u{200c}' | '\u{200d}') && joins(before) && joins(after);
        if !is_joiner {
            hits.report(format!("an invisible character, {}", code(char)))
                .at(answer.text_at(at..at + char.len_utf8()));
        }
    }
}

fn bidi(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let is_turn = |char: char| matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    for (at, char) in unseen(answer, is_turn) {
        hits.report(format!("turns the direction of the text, {}", code(char)))
            .at(answer.text_at(at..at + char.len_utf8()));
    }
    for (at, char) in unseen(answer, |char| matches!(char, '\u{200e}' | '\u{200f}')) {
        hits.report(format!("a mark of direction, {}", code(char)))
            .at(answer.text_at(at..at + char.len_utf8()))
            .as_severity(Warning);
    }
}

fn control(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    for (at, char) in unseen(answer, char::is_control) {
        let rest = &answer.text[at + char.len_utf8()..];
        let what = match (char, rest.chars().next()) {
            ('\u{1b}', Some(']')) if rest.starts_with("]52;") => {
                "a terminal command that writes to the clipboard (OSC 52)".to_owned()
            }
            ('\u{1b}', Some(']')) if rest.starts_with("]8;") => {
                "a terminal's link (OSC 8)".to_owned()
            }
            ('\u{1b}', Some(']')) => "a terminal command (OSC)".to_owned(),
            ('\u{1b}', Some('[')) => "a terminal command (CSI), such as a colour".to_owned(),
            _ => format!("a control character, {}", code(char)),
        };
        hits.report(what)
            .at(answer.text_at(at..at + char.len_utf8()));
    }
}

fn special_token(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    static PATTERN: RulePattern = RulePattern::new(
        r"<\|[a-z_]{2,24}\|>|\[/?INST\]|</?(?:tool_result|function_results|system)>",
    );
    for found in PATTERN.find_iter(&answer.text).take(1_000) {
        hits.report(format!("`{}`", found.as_str()))
            .at(answer.text_at(found.range()));
    }
}

fn instruction_like(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    static PATTERN: RulePattern = RulePattern::new(
        r"(?i)(?-u:\b)(?:ignore|disregard|forget) (?:all |any |the )?(?:previous|prior|above|earlier) (?:instructions|messages|prompts|rules)|(?-u:\b)you are now (?:a|an|in)(?-u:\b)|^system: ",
    );
    for found in PATTERN.find_iter(&answer.text).take(100) {
        hits.report(format!("reads like an instruction: “{}”", found.as_str()))
            .at(answer.text_at(found.range()));
    }
}

fn mojibake(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if answer.text.is_ascii() {
        return;
    }
    // UTF-8 read as Windows-1252 or Mac Roman: a lead byte's letter with continuation bytes' signs.
    static PATTERN: RulePattern = RulePattern::new(
        "â[\u{152}-\u{17e}\u{2c6}-\u{2dc}\u{20ac}][\u{80}-\u{bf}\u{152}-\u{192}\u{2c6}-\u{2dc}\u{2013}-\u{203a}\u{20ac}\u{2122}]|ð\u{178}[^\\x00-\\x7f]{1,2}|‚[úÄÉÖÜ][^\\x00-\\x7f]|Ã[\u{80}-\u{bf}]",
    );
    for found in PATTERN.find_iter(&answer.text).take(1_000) {
        hits.report(format!("doubly encoded: `{}`", found.as_str()))
            .at(answer.text_at(found.range()));
    }
    for (at, char) in unseen(answer, |char| char == char::REPLACEMENT_CHARACTER) {
        hits.report("a character was lost (U+FFFD)")
            .at(answer.text_at(at..at + char.len_utf8()));
    }
}

fn render_differs(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    // Whoever sends text that is no Markdown has nobody render it.
    if !answer.subject.renders() || answer.structured_data().is_none() {
        return;
    }
    let emphasis: Vec<Range<usize>> = answer
        .markdown()
        .iter()
        .filter(|(event, _)| {
            matches!(
                event,
                Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. })
                    | Event::Code(_)
            )
        })
        .map(|(_, range)| range.clone())
        .collect();
    for (node, place) in answer.strings_in_text() {
        let from = emphasis.partition_point(|range| range.start < place.start);
        let within = emphasis[from..]
            .iter()
            .take_while(|range| range.start < place.end)
            .find(|range| range.end <= place.end);
        if let Some(within) = within.filter(|_| has_mark(*node)) {
            hits.report(format!(
                "marks of a string count: {}",
                clip(&answer.text[within.clone()])
            ))
            .at(answer.text_at(within.clone()))
            .at(answer.data_at(*node));
        }
    }
}

/// Whether the value itself holds marks, rather than the server having put them around it.
fn has_mark(node: Node<'_>) -> bool {
    node.as_str().is_some_and(|text| {
        text.contains(['*', '_', '`', '~', '[']) && !result::clip(&text).starts_with("http")
    })
}
