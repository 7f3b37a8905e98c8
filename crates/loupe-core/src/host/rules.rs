//! The rules of one host as data, read from TOML. A word that is not known is refused, never guessed.
//!
//! The vocabulary is described for people in `docs/hosts.md` and at the head of `hosts.toml`.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use super::client::ClientRules;
use super::template::Template;
use crate::source::Identity;

/// How sure the rules of a host are.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "kebab-case")]
pub enum Evidence {
    /// The released program was run and what its model would receive was read back.
    Observed,
    /// Read in its source, not confirmed by running it.
    Source,
    /// Its maker's documentation says so.
    Documented,
    /// Users report it.
    Inferred,
}

impl Evidence {
    /// The word in files, reports and lists.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What sort of program a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "kebab-case")]
pub enum HostKind {
    Cli,
    Ide,
    Chat,
    Library,
}

impl HostKind {
    /// The word in files, reports and lists.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What a rule is looked for among, with the words of the file.
pub const SELECTS: &[(Select, &str)] = &[
    (Select::Content, "content"),
    (Select::Structured, "structured"),
    (Select::StructuredForText, "structured-for-text"),
    (Select::StructuredIfAllText, "structured-if-all-text"),
    (Select::ContentUnlessEmpty, "content-unless-empty"),
    (Select::Both, "both"),
    (Select::WireContent, "wire-content"),
    (Select::WireResult, "wire-result"),
];

/// The ways to write JSON that a rule is looked for among.
pub const JSON_MODES: &[(JsonMode, &str)] = &[
    (JsonMode::Verbatim, "compact-verbatim"),
    (JsonMode::Serde, "compact-serde"),
    (JsonMode::Js, "js-compact"),
    (JsonMode::JsPretty, "js-pretty2"),
    (JsonMode::Python, "py-default"),
];

/// Which fields of a result are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Select {
    Content,
    Structured,
    StructuredForText,
    StructuredIfAllText,
    ContentUnlessEmpty,
    Both,
    /// `structuredContent`; without it the JSON of the whole result, or the blocks where one is a medium.
    StructuredOrResult,
    WireContent,
    WireResult,
    Repr,
    /// The rule is not known, or cannot be said in these words.
    NotComputed,
}

/// When `structuredContent` counts as there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StructuredWhen {
    #[default]
    Present,
    Object,
    TruthyJs,
    TruthyPy,
}

/// How a host writes JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum JsonMode {
    #[serde(rename = "compact-verbatim")]
    Verbatim,
    #[serde(rename = "compact-serde")]
    Serde,
    #[serde(rename = "js-compact")]
    Js,
    #[serde(rename = "js-pretty2")]
    JsPretty,
    #[serde(rename = "py-default")]
    Python,
    /// Without spaces, non-ASCII as it is, keys sorted.
    #[serde(rename = "py-compact-sorted")]
    PythonSorted,
}

/// Whether the parts reach the model as one text or each for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    String,
    Parts,
}

/// When a repeated `structuredContent` is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dedupe {
    #[default]
    None,
    /// When the joined texts are exactly its JSON.
    Exact,
    /// When one of the texts is exactly its JSON.
    Part,
    /// When one of the texts is JSON of an equal value.
    Equal,
}

/// What counts as no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trim {
    Blank,
}

/// Which blocks are shown by whom they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    Assistant,
}

/// Which blocks of an error are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorBlocks {
    Text,
    /// The first one alone, if it is a text.
    First,
    #[serde(rename = "text-and-links")]
    TextAndLinks,
}

/// Whether the result's own `_meta` is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ResultMeta {
    Shown,
}

/// One thing that a block becomes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum RuleStep {
    Text(Template),
    /// The medium itself is passed on.
    Media,
    Drop,
    /// A text placed before all others.
    First(Template),
    /// The host answers with its own error instead.
    Fail,
    /// The host reads the resource itself.
    Fetch,
    /// A language's own printing of an object.
    Repr,
    /// The text names a file that the host wrote.
    File,
}

impl TryFrom<String> for RuleStep {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Ok(match text.as_str() {
            "@media" => RuleStep::Media,
            "@drop" => RuleStep::Drop,
            "@fail" => RuleStep::Fail,
            "@fetch" => RuleStep::Fetch,
            "@repr" => RuleStep::Repr,
            "@file" => RuleStep::File,
            other => match other.strip_prefix("@first:") {
                Some(rest) => RuleStep::First(Template::from(rest.to_owned())),
                None if other.starts_with('@') => {
                    return Err(format!(
                        "unknown step `{other}`, expected a text or one of `@media`, `@drop`, `@first:…`, `@fail`, `@fetch`, `@repr`, `@file`"
                    ));
                }
                None => RuleStep::Text(Template::from(text)),
            },
        })
    }
}

/// What the blocks of each kind become; a kind that is absent is dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BlockRules {
    pub text: Vec<RuleStep>,
    pub image: Vec<RuleStep>,
    pub audio: Vec<RuleStep>,
    pub(crate) resource_text: Vec<RuleStep>,
    /// An embedded blob of type image/*; where absent, `resource_blob`.
    pub resource_image: Option<Vec<RuleStep>>,
    pub resource_blob: Vec<RuleStep>,
    pub resource_link: Vec<RuleStep>,
    pub unknown: Vec<RuleStep>,
}

/// What is different where `isError` is true.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ErrorRules {
    pub select: Option<Select>,
    pub blocks: Option<ErrorBlocks>,
    pub(crate) drop_blank: bool,
    pub join: Option<String>,
    pub empty: Option<Template>,
    pub(crate) prefix_part: Option<Template>,
    pub template: Option<Template>,
    /// The error is also flagged to the model outside the text.
    pub native_flag: bool,
    pub computable: Option<bool>,
    /// Why an error without text is not computable.
    pub(crate) computable_note: Option<String>,
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum LimitUnit {
    /// UTF-16 code units.
    Chars,
    /// Unicode scalar values.
    Scalars,
    /// Of UTF-8.
    Bytes,
    /// The provider's own count, which nobody else has.
    Tokens,
    /// Bytes of UTF-8 over 4, rounded up.
    Tokens4,
    /// UTF-16 code units of one line.
    CharsPerLine,
}

impl LimitUnit {
    /// The size of a text in this unit, from its bytes of UTF-8, scalar values and UTF-16 code units; `None` where these do
    /// not tell.
    pub fn size(self, bytes: u64, scalars: u64, utf16: u64) -> Option<u64> {
        match self {
            LimitUnit::Chars => Some(utf16),
            LimitUnit::Scalars => Some(scalars),
            LimitUnit::Bytes => Some(bytes),
            LimitUnit::Tokens4 => Some(bytes.div_ceil(4)),
            LimitUnit::Tokens | LimitUnit::CharsPerLine => None,
        }
    }

    /// The word in files and reports.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The name for people, in the plural.
    pub fn title(self) -> &'static str {
        match self {
            LimitUnit::Chars => "characters (UTF-16)",
            LimitUnit::Scalars => "characters",
            LimitUnit::Bytes => "bytes",
            LimitUnit::Tokens => "tokens by the provider's count",
            LimitUnit::Tokens4 => "tokens (4 bytes each)",
            LimitUnit::CharsPerLine => "characters a line",
        }
    }

    /// A number of it in the unit that people can check: tokens of four bytes are bytes.
    pub fn in_words(self, number: u64) -> (u64, Self) {
        match self {
            LimitUnit::Tokens4 => (number * 4, LimitUnit::Bytes),
            unit => (number, unit),
        }
    }
}

/// What stays of a text that is over its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeepRule {
    None,
    Head,
    HeadLines,
    HeadTail,
}

/// What a limit is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Applies {
    Total,
    Part,
    SinglePartOnly,
    PartsInOrder,
    Line,
}

/// One limit of a host.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitRule {
    pub unit: LimitUnit,
    /// In `unit`; 0 where it depends on the model.
    pub max: u64,
    pub max_note: Option<String>,
    pub keep: KeepRule,
    /// Units kept from the beginning; all that fits where absent.
    pub head: Option<u64>,
    /// Units kept from the end.
    pub tail: Option<u64>,
    pub(crate) head_share: Option<Share>,
    pub applies: Applies,
    /// The option that changes the limit.
    pub setting: Option<String>,
    pub notice: Template,
    pub(crate) tail_notice: Option<Template>,
    /// Whether the notice is part of `max`.
    #[serde(default)]
    pub(crate) notice_within: bool,
    /// Whether the texts of blocks are cut as the JSON of their array, indented by two.
    #[serde(default)]
    pub(crate) as_blocks: bool,
    /// How often the cut is made, each time on what the one before left.
    #[serde(default)]
    pub passes: Passes,
    pub certainty: String,
}

/// A share of the room, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Share(pub f64);

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(share: f64) -> Result<Self, String> {
        if (0.0..=1.0).contains(&share) {
            Ok(Self(share))
        } else {
            Err(format!("{share} is not between 0 and 1"))
        }
    }
}

/// How often a cut is made: once or twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u8")]
pub struct Passes(pub u8);

impl Default for Passes {
    fn default() -> Self {
        Self(1)
    }
}

impl TryFrom<u8> for Passes {
    type Error = String;

    fn try_from(passes: u8) -> Result<Self, String> {
        if (1..=2).contains(&passes) {
            Ok(Self(passes))
        } else {
            Err(format!("{passes} is neither 1 nor 2"))
        }
    }
}

/// Which pages of `tools/list` a host reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pages {
    First,
    All,
}

/// How a host, or the provider behind it, handles a definition that it does not take as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Handling {
    /// It is passed on all the same.
    Sent,
    /// What does not fit is left away, the tool stays.
    Ignored,
    /// Its name is cut to the limit.
    Cut,
    /// Its name is cut, with a hash of the whole.
    Hashed,
    /// Its name is made shorter in another way.
    Shortened,
    /// It gets another name.
    Renamed,
    /// The tool is left out.
    Omitted,
    /// The whole list or every request is refused.
    Refused,
}

/// Which of two tools with one name stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeptTool {
    First,
    Last,
}

/// Whether the server's `instructions` reach the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "InstructionsWord")]
pub enum InstructionsRule {
    Passed,
    Dropped,
    /// Only where an option says so, which is off.
    Option,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum InstructionsWord {
    Is(bool),
    Word(String),
}

impl TryFrom<InstructionsWord> for InstructionsRule {
    type Error = String;

    fn try_from(word: InstructionsWord) -> Result<Self, String> {
        match word {
            InstructionsWord::Is(true) => Ok(Self::Passed),
            InstructionsWord::Is(false) => Ok(Self::Dropped),
            InstructionsWord::Word(word) if word == "option" => Ok(Self::Option),
            InstructionsWord::Word(word) => {
                Err(format!("`{word}` is none of true, false and \"option\""))
            }
        }
    }
}

/// How one rule is known, where that is not how the others of its host are.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleEvidence {
    pub evidence: Evidence,
    pub source: String,
    /// The day on which it was checked, `YYYY-MM-DD`.
    pub checked: String,
    /// The versions it is known for; of any other it is not known.
    pub versions: Option<String>,
}

/// What the model sees of a server's definitions. What is absent was not verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DefinitionRules {
    pub name: Option<Template>,
    pub(crate) name_option: Option<Template>,
    pub namespace: Option<Template>,
    pub(crate) name_charset: Option<Charset>,
    pub(crate) name_replace: Option<String>,
    pub(crate) name_max: Option<usize>,
    /// Of a name over `name_max`.
    pub(crate) name_over: Option<Handling>,
    /// Of a name with other characters than those of `name_charset`, where none is replaced.
    pub(crate) name_bad: Option<Handling>,
    /// Of two tools whose names have become equal.
    pub(crate) name_same: Option<Handling>,
    /// Which of the two stays where one is omitted.
    pub(crate) name_kept: Option<KeptTool>,
    pub(crate) prefix_max: Option<usize>,
    pub pages: Option<Pages>,
    /// Most tools of one server that reach the model.
    pub(crate) tools_max: Option<usize>,
    pub(crate) tools_over: Option<Handling>,
    pub description: Option<Template>,
    pub(crate) description_max: Option<u64>,
    pub(crate) description_unit: Option<LimitUnit>,
    pub(crate) description_notice: Option<String>,
    pub(crate) description_fallback: Option<Template>,
    /// Of a tool without a description.
    pub(crate) description_missing: Option<Handling>,
    pub title: Option<bool>,
    pub output_schema: Option<bool>,
    pub annotations: Option<bool>,
    pub input_schema: Option<String>,
    /// Bytes of an input schema above which the descriptions in it are left out.
    pub(crate) input_schema_max: Option<usize>,
    /// Of a schema with a `$ref` that has no target.
    pub(crate) input_ref: Option<Handling>,
    pub(crate) output_ref: Option<Handling>,
    /// Of an input schema in which a property's schema is `true` or `false`.
    pub(crate) boolean_schema: Option<Handling>,
    pub loading: Option<String>,
    /// Where they are put, in words.
    pub instructions: Option<String>,
    pub(crate) instructions_passed: Option<InstructionsRule>,
    pub(crate) instructions_max: Option<u64>,
    pub(crate) instructions_unit: Option<LimitUnit>,
    /// What stands after instructions that are cut.
    pub(crate) instructions_notice: Option<String>,
    /// Whether a tool whose `_meta.ui.visibility` lacks `model` is hidden from the model.
    pub visibility: Option<bool>,
    pub certainty: Option<String>,
    /// By the key of the rule.
    pub evidence: BTreeMap<String, RuleEvidence>,
}

/// The characters a name may have, as in a character class: `A-Za-z0-9_-`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Charset(Vec<(char, char)>);

impl TryFrom<String> for Charset {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let chars: Vec<char> = text.chars().collect();
        let mut ranges = Vec::new();
        let mut at = 0;
        while at < chars.len() {
            // A dash at the end stands for itself.
            if at + 2 < chars.len() && chars[at + 1] == '-' {
                if chars[at] > chars[at + 2] {
                    return Err(format!(
                        "the range `{}-{}` runs backward",
                        chars[at],
                        chars[at + 2]
                    ));
                }
                ranges.push((chars[at], chars[at + 2]));
                at += 3;
            } else {
                ranges.push((chars[at], chars[at]));
                at += 1;
            }
        }
        if ranges.is_empty() {
            Err("no characters are allowed".to_owned())
        } else {
            Ok(Self(ranges))
        }
    }
}

impl Charset {
    pub fn contains(&self, char: char) -> bool {
        self.0
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&char))
    }
}

/// An id: what stands after `host:` and `--as-host`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId(pub(super) &'static str);

impl HostId {
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl TryFrom<String> for HostId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
        if text.is_empty() || text.len() > 64 || !text.bytes().all(is_plain) {
            return Err(format!("`{text}` is not an id: 1 to 64 of a-z 0-9 - _ ."));
        }
        Ok(Self(super::intern(&text)))
    }
}

impl<'de> Deserialize<'de> for HostId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        HostId::try_from(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl fmt::Debug for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The rules of one host.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    pub id: HostId,
    /// The name people see.
    pub name: String,
    pub kind: HostKind,
    pub version: String,
    /// The day on which it was checked, `YYYY-MM-DD`.
    pub checked: String,
    pub evidence: Evidence,
    #[serde(default)]
    pub source: Vec<String>,
    #[serde(default)]
    pub notes: String,
    pub select: Select,
    #[serde(default)]
    pub(crate) structured_when: StructuredWhen,
    pub json: JsonMode,
    pub delivery: Delivery,
    #[serde(default)]
    pub join: String,
    pub(crate) join_certainty: Option<String>,
    #[serde(default)]
    pub(crate) structured_join: String,
    /// Whether the structured text comes before the blocks.
    #[serde(default)]
    pub(crate) structured_first: bool,
    pub(crate) structured_wrap: Option<Template>,
    #[serde(default)]
    pub(crate) structured_replace: Vec<[String; 2]>,
    #[serde(default)]
    pub(crate) unwrap_result: bool,
    #[serde(default)]
    pub(crate) reparse_json_text: bool,
    #[serde(default)]
    pub(crate) dedupe: Dedupe,
    pub trim: Option<Trim>,
    pub audience: Option<Audience>,
    #[serde(default)]
    pub(crate) drop_empty_text: bool,
    #[serde(default)]
    pub replace: Vec<[String; 2]>,
    pub header: Option<Template>,
    /// Whether the header and the JSON of `structuredContent` are one part, a line end between them.
    #[serde(default)]
    pub(crate) header_joins_structured: bool,
    pub wrap: Option<Template>,
    pub empty: Option<Template>,
    pub(crate) empty_with_media: Option<Template>,
    #[serde(default)]
    pub(crate) keep_empty: bool,
    #[serde(default)]
    pub(crate) mime_line: String,
    pub(crate) result_meta: Option<ResultMeta>,
    #[serde(default)]
    pub(crate) wire_keys: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(crate) key_order: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub block: BlockRules,
    #[serde(default)]
    pub error: ErrorRules,
    #[serde(default)]
    pub limit: Vec<LimitRule>,
    #[serde(default)]
    pub definition: DefinitionRules,
    pub client: Option<ClientRules>,
    /// Whether it comes from a file of the user's own; set when that is read.
    #[serde(skip)]
    pub is_own: bool,
}

impl Host {
    /// How it names itself to a server, where that is known.
    pub fn identity(&self) -> Option<Identity> {
        Some(self.client.as_ref()?.identity(&self.name))
    }

    /// Which fields of a result are shown, in a few words.
    pub fn shows(&self) -> &'static str {
        match self.select {
            Select::Content => "blocks alone",
            Select::Structured => "structuredContent, else blocks",
            Select::StructuredForText => "structuredContent for the texts",
            Select::StructuredIfAllText => "structuredContent if all is text",
            Select::ContentUnlessEmpty => "blocks, else structuredContent",
            Select::Both => "both",
            Select::StructuredOrResult => "structuredContent, else JSON of the whole result",
            Select::WireContent => "JSON of the blocks",
            Select::WireResult => "JSON of the whole result",
            Select::Repr => "a printed object",
            Select::NotComputed => "not computed",
        }
    }
}
