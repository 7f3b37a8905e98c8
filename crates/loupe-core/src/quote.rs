//! How a text of a stranger is in another language: one function for each, so that nothing in the text can end the
//! place it was put into.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use regex::Regex;

use crate::json::write;
use crate::layout::longest_backticks;

/// Characters that change the direction of the text around them, and so what a reader takes it for.
pub(crate) fn is_direction(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Characters that show nothing and take no room: zero-width spaces and joiners, the soft hyphen, tags, what changes the
/// direction. Variation selectors are none: they belong to the sign before them.
pub fn is_without_ink(char: char) -> bool {
    is_direction(char)
        || matches!(
            char,
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}'
                | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// A word of a POSIX shell. Quoted wherever any shell might see more in it than a word: braces, `!` and `^` too. The `…` that
/// stands for a secret is plain. No shell holds U+0000; whoever writes a whole command refuses it.
pub fn shell(word: &str) -> Cow<'_, str> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./:,@+…".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// Words of a POSIX shell as one line.
pub(crate) fn shell_line<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    words
        .into_iter()
        .map(|word| shell(word.as_ref()).into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A string literal of Python, JavaScript and TypeScript alike: one of JSON, in which whatever has no ink is escaped.
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for char in write::string(text).chars() {
        if char.is_control() || is_direction(char) || matches!(char, '\u{2028}' | '\u{2029}') {
            // Writing into a String cannot fail.
            write!(out, "\\u{:04x}", u32::from(char)).ok();
        } else {
            out.push(char);
        }
    }
    out
}

/// The most `#` that a raw string of Rust takes.
const HASHES: usize = 255;

/// A string literal of Rust: a raw one, unless something is in it that a raw one cannot hold.
pub fn rust(text: &str) -> String {
    let is_hidden =
        |char: char| char.is_control() && !matches!(char, '\n' | '\t') || is_direction(char);
    let longest = text
        .split('"')
        .skip(1)
        .map(|rest| rest.len() - rest.trim_start_matches('#').len())
        .max();
    let hashes = longest.map_or(1, |longest| longest + 1);
    if text.contains(is_hidden) || hashes > HASHES {
        return format!("\"{}\"", text.escape_default());
    }
    if !text.contains(['"', '\\', '\n']) {
        return format!("\"{text}\"");
    }
    let hashes = "#".repeat(hashes);
    format!("r{hashes}\"{text}\"{hashes}")
}

/// A name in a line of Markdown: as it is where nothing in it could be markup or, on GitHub, a link (`www.x`, `GH-1`, the
/// digits of a commit), else as code.
pub fn markdown(text: &str) -> Cow<'_, str> {
    let is_plain = |word: &str| {
        let is_commit = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_version = word.starts_with(|char: char| char.is_ascii_digit());
        let joins = if is_version {
            ['.', '-'].as_slice()
        } else {
            &[]
        };
        !is_commit
            && word
                .chars()
                .all(|char| char.is_alphanumeric() || joins.contains(&char))
    };
    if text.split(' ').all(is_plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(markdown_code(text))
    }
}

/// Code in a line of Markdown; line ends in it become spaces, and what nobody sees is shown.
pub fn markdown_code(text: &str) -> String {
    let text = visible(&text.replace(['\n', '\r'], " ")).into_owned();
    let fence = fence(&text, 1);
    // A space on either side is taken away again where there is one on both.
    let pad = if text.is_empty() || text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Code of several lines in Markdown, as a block of its own.
pub fn markdown_block(text: &str) -> String {
    let fence = fence(text, 3);
    format!("{fence}\n{}\n{fence}", text.replace('\r', "\n"))
}

/// More backticks than there are in a row in the text.
fn fence(text: &str, least: usize) -> String {
    "`".repeat((longest_backticks(text) + 1).max(least))
}

/// The data of a workflow command of GitHub Actions.
pub fn github_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property of such a command.
pub fn github_property(text: &str) -> String {
    github_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The text with what commands a terminal, and what nobody sees, shown: a control character as its picture or its number,
/// a character without ink as its number. LF and tab stay, and what joins signs and the letters of many scripts.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        let joins = matches!(char, '\u{200c}' | '\u{200d}')
            && out
                .chars()
                .next_back()
                .is_some_and(|before| before >= '\u{600}');
        match char {
            char if joins || !is_hidden(char) => out.push(char),
            '\u{7f}' => out.push('\u{2421}'),
            char if char < ' ' => out.push(
                char::from_u32(0x2400 + u32::from(char)).unwrap_or(char::REPLACEMENT_CHARACTER),
            ),
            char => out.push_str(&format!("⟨U+{:04X}⟩", u32::from(char))),
        }
    }
    Cow::Owned(out)
}

fn is_hidden(char: char) -> bool {
    char.is_control() && char != '\n' && char != '\t'
        || is_without_ink(char)
        || matches!(char, '\u{2028}' | '\u{2029}')
}

/// What the log of a CI system obeys wherever it is in a line: `##[error]` of GitHub, `##vso[task…]` of Azure,
/// `##teamcity[…]`.
static LOG_COMMAND: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"##([A-Za-z]*)\[").ok());

/// The text without what a log obeys anywhere in a line.
fn broken<'t>(text: &'t str, with: &str) -> Cow<'t, str> {
    match LOG_COMMAND.as_ref().filter(|_| text.contains("##")) {
        Some(command) => command.replace_all(text, with),
        None => Cow::Borrowed(text),
    }
}

/// A text as a terminal and the log of a CI system show it, and obey nothing in it: as [`visible`], and no workflow command,
/// neither of the form `::error::` at the head of a line nor `##[error]` or `##vso[…]` anywhere in it.
pub fn log(text: &str) -> String {
    let line = |line: &str| {
        let rest = line.trim_start();
        let indent = &line[..line.len() - rest.len()];
        match rest.strip_prefix("::") {
            Some(rest) => format!("{indent}: :{rest}"),
            None => line.to_owned(),
        }
    };
    broken(&visible(text), "## $1[")
        .split_inclusive('\n')
        .map(line)
        .collect()
}

/// Workflow commands of our own, whose data obeys as little.
pub fn log_commands(text: &str) -> String {
    broken(&visible(text), "## $1[").into_owned()
}

/// JSON as a terminal and a log show it, the same for whoever reads it: what [`log`] breaks stands as an escape.
pub fn log_json(json: &str) -> Cow<'_, str> {
    let json = broken(json, r"#\u0023$1[");
    if !json.contains(is_hidden) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for char in json.chars() {
        if char == '\r' {
            // A line end between values: in a string it stands as an escape already.
            out.push(' ');
        } else if is_hidden(char) {
            let mut units = [0; 2];
            char.encode_utf16(&mut units)
                .iter()
                .for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(char);
        }
    }
    Cow::Owned(out)
}

/// XML in the same way, by references.
pub fn log_xml(xml: &str) -> String {
    let line = |line: &str| match line
        .split_once("::")
        .filter(|(before, _)| before.trim().is_empty())
    {
        Some((indent, rest)) => format!("{indent}&#58;:{rest}"),
        None => line.to_owned(),
    };
    let xml: String = xml.split_inclusive(['\n', '\r']).map(line).collect();
    let xml = xml.as_str();
    let shown = |char: char| {
        if is_hidden(char) {
            format!("&#x{:x};", u32::from(char))
        } else {
            char.to_string()
        }
    };
    broken(xml, "#&#35;$1[").chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;
    use pulldown_cmark::{Event, Parser, Tag};

    use super::*;

    /// Texts out of what ends a place in one of the languages.
    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => proptest::sample::select(vec![
                "'", "\"", "`", "\\", "$(id)", "${x}", "`id`", ";", "&&", "|", "\n", "\r", "\t", "#", "\"#", "'''", "\"\"\"", "!", "{a,b}",
                "^", "~", "*", "%", "%0A", "::error::x", "##[error]y", "##vso[task.x]z", "\u{200b}", "\u{e0041}", "@TEXT@", "@NAME@", "</script>", "--", " ", "\u{1b}", "\u{7f}",
                "\u{85}", "\u{200e}", "\u{202e}", "\u{2028}", "\u{feff}", "é", "👩", "\\u0041", "\\n",
            ]).prop_map(str::to_owned),
            1 => "[ -~]{0,4}",
            1 => any::<char>().prop_filter("no shell holds it", |char| *char != '\0').prop_map(String::from),
        ];
        proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn documents_say_the_same_in_a_log() {
        let text = "##[x] ##vso[y]\n::z::\u{1b}\u{9b}\u{7f}\u{200b}\u{202e}\u{e0041}\u{2028} \\##[";
        let json = write::string(text);
        let shown = log_json(&json);
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        assert!(
            !shown.contains(is_hidden) && !shown.contains("##[") && !shown.contains("##vso["),
            "{shown}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_word_is_one_word(text in hostile(), more in hostile()) {
            prop_assert_eq!(shell_words::split(&shell_line([&text, &more])).unwrap(), vec![text, more]);
        }

        #[test]
        fn a_string_holds_every_text_in_sight(text in hostile()) {
            let literal = string(&text);
            prop_assert!(!literal.contains(|char: char| char.is_control() || is_direction(char)), "{literal:?}");
            prop_assert_eq!(serde_json::from_str::<String>(&literal).unwrap(), text);
        }

        #[test]
        fn a_literal_of_rust_holds_every_text(text in hostile()) {
            let literal = rust(&text);
            prop_assert!(!literal.contains(|char: char| char == '\r' || is_direction(char)), "{literal:?}");
            match literal.strip_prefix('r') {
                Some(raw) => {
                    let hashes = raw.len() - raw.trim_start_matches('#').len();
                    let end = format!("\"{}", "#".repeat(hashes));
                    let inside = &raw[hashes + 1..];
                    // The first end is the last thing there is.
                    prop_assert_eq!(inside.find(&end), Some(inside.len() - end.len()));
                    prop_assert_eq!(&inside[..inside.len() - end.len()], text);
                }
                None => {
                    let inside = &literal[1..literal.len() - 1];
                    prop_assert!(!inside.replace("\\\\", "").replace("\\\"", "").contains('"'), "{literal}");
                }
            }
        }

        #[test]
        fn code_in_markdown_is_code_to_its_end(text in hostile()) {
            let page = format!("a {} b", markdown_code(&text));
            let events: Vec<Event<'_>> = Parser::new(&page).collect();
            let code: Vec<_> = events.iter().filter_map(|event| if let Event::Code(code) = event { Some(code.to_string()) } else { None }).collect();
            let wanted = visible(&text.replace(['\n', '\r'], " ")).into_owned();
            prop_assert_eq!(code.len(), 1, "{} {:?}", page, events);
            prop_assert_eq!(code[0].trim(), wanted.trim());
            let block = format!("a\n\n{}\n\nb", markdown_block(&text));
            let blocks = Parser::new(&block).filter(|event| matches!(event, Event::Start(Tag::CodeBlock(_)))).count();
            let paragraphs = Parser::new(&block).filter(|event| matches!(event, Event::Start(Tag::Paragraph))).count();
            prop_assert_eq!((blocks, paragraphs), (1, 2), "{}", block);
        }

        #[test]
        fn nothing_in_a_log_is_a_command(text in hostile(), more in hostile()) {
            let log = log(&format!("{text}\n  {more}"));
            prop_assert!(!log.contains("##[") && !log.contains("##vso["), "{log}");
            prop_assert!(!log.contains(is_hidden) || log.contains(['\u{200c}', '\u{200d}']), "{log:?}");
            prop_assert!(!log.split(['\n', '\r']).any(|line| line.trim_start().starts_with("::")), "{log}");
            let command = format!("::error file={},title=t::{}", github_property(&text), github_data(&more));
            prop_assert_eq!(command.lines().count(), 1);
            prop_assert!(!command.contains('\r'));
            let (head, data) = command["::error ".len()..].split_once("::").unwrap();
            prop_assert_eq!(head.split(',').count(), 2, "{}", head);
            prop_assert_eq!(data.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%"), more);
        }
    }

    /// One shell for many words: each is handed on as an argument of its own.
    #[cfg(unix)]
    #[test]
    fn a_real_shell_takes_each_word_as_it_is() {
        let words: Vec<String> = (0..400).map(|_| sample()).collect();
        let script = format!("printf '%s\\0' {}", shell_line(&words));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let output: Vec<&[u8]> = output
            .stdout
            .strip_suffix(b"\0")
            .unwrap()
            .split(|byte| *byte == 0)
            .collect();
        assert_eq!(output.len(), words.len());
        words
            .iter()
            .zip(output)
            .for_each(|(word, output)| assert_eq!(word.as_bytes(), output, "{word:?}"));
    }

    #[cfg(unix)]
    fn sample() -> String {
        use proptest::strategy::ValueTree;
        hostile()
            .new_tree(&mut proptest::test_runner::TestRunner::default())
            .unwrap()
            .current()
    }

    #[test]
    fn plain_texts_stay_plain() {
        assert_eq!(
            shell_line(["npx", "-y", "@scope/a@1.2", "a b", "", "it's", "{a,b}"]),
            r"npx -y @scope/a@1.2 'a b' '' 'it'\''s' '{a,b}'"
        );
        assert_eq!(rust("plain"), r#""plain""#);
        assert_eq!(rust("a \"b\""), r##"r#"a "b""#"##);
        assert_eq!(rust("a \"# b"), "r##\"a \"# b\"##");
        assert_eq!(rust("a\r\n"), r#""a\r\n""#);
        assert_eq!(rust("a\u{202e}"), r#""a\u{202e}""#);
        assert!(rust(&format!("\"{}", "#".repeat(300))).starts_with("\"\\\"#"));
        assert_eq!(markdown("Sample server 0.1-a"), "Sample server 0.1-a");
        for name in [
            "<b>",
            "www.example.org",
            "GH-12",
            "a#1",
            "@ann",
            "deadbeef1",
            "o/r#2",
            "https://h",
            "!x",
        ] {
            assert_eq!(markdown(name), format!("`{name}`"));
        }
        assert_eq!(markdown_code("a`b"), "``a`b``");
        assert_eq!(github_property("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
        assert_eq!(
            log("::x\n  ::y\n##[z] a##vso[b]"),
            ": :x\n  : :y\n## [z] a## vso[b]"
        );
        assert_eq!(
            visible("a\u{1b}[2J\tb\n\u{9b}\u{202e}"),
            "a\u{241b}[2J\tb\n⟨U+009B⟩⟨U+202E⟩"
        );
        assert_eq!(
            visible("a\u{200d}b 👩\u{200d}💻 \u{e0041}"),
            "a⟨U+200D⟩b 👩\u{200d}💻 ⟨U+E0041⟩"
        );
        assert_eq!(
            log_json("\"##[x]\u{9b}\u{e0041}\""),
            r##""#\u0023[x]\u009b\udb40\udc41""##
        );
        assert_eq!(
            log_xml("<a>##vso[x]\u{202e}\n ::e</a>"),
            "<a>#&#35;vso[x]&#x202e;\n &#58;:e</a>"
        );
    }
}
