//! The sample server's sets and their keys as data: what `--sample=` takes, what the window offers to choose from, and
//! what help lists. The server itself is `loupe_sample::sample`. Uses only `problem`.

use std::collections::BTreeMap;
use std::fmt;

use super::Protocol;
use crate::problem::{Problem, ProblemKind};

/// A set of the sample server: tools re-created from one real system.
#[derive(Debug)]
pub struct SampleSet {
    /// As `--sample=` takes it.
    pub id: &'static str,
    pub title: &'static str,
    /// What it shows, in a few words.
    pub about: &'static str,
    /// The keys it knows, in alphabetical order.
    pub keys: &'static [SampleKey],
}

/// One switch of a set.
#[derive(Debug)]
pub struct SampleKey {
    pub name: &'static str,
    /// What it changes, in a few words.
    pub about: &'static str,
    pub takes: Takes,
    /// What holds where the key is not given; `None` where each set of `all` has its own.
    pub default: Option<&'static str>,
}

/// The values of a key.
#[derive(Debug)]
pub enum Takes {
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number from 0 to this.
    UpTo(u32),
}

impl Takes {
    fn hint(&self) -> String {
        match self {
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::UpTo(max) => format!("give 0 to {max}"),
        }
    }
}

const ON_OFF: Takes = Takes::Word(&["on", "off"]);

const fn annotations(default: Option<&'static str>) -> SampleKey {
    SampleKey {
        name: "annotations",
        about: "Whether the tools declare what they do",
        takes: ON_OFF,
        default,
    }
}

const DATA: SampleKey = SampleKey {
    name: "data",
    about: "Everyday records, or records that break renderings before them",
    takes: Takes::Word(&["plain", "hostile"]),
    default: Some("plain"),
};
const OUTPUT_SCHEMA: SampleKey = SampleKey {
    name: "output-schema",
    about: "Whether the tools with structuredContent declare its schema",
    takes: ON_OFF,
    default: Some("off"),
};
const PHASE: SampleKey = SampleKey {
    name: "phase",
    about: "JSON as text (0), the same with structuredContent (1), Markdown with structuredContent (2)",
    takes: Takes::Word(&["0", "1", "2"]),
    default: Some("2"),
};
/// Far more records than any comparison needs.
const SIZE: SampleKey = SampleKey {
    name: "size",
    about: "How many records of a kind there are",
    takes: Takes::UpTo(100_000),
    default: Some("500"),
};
const TEXT: SampleKey = SampleKey {
    name: "text",
    about: "Companies as lists (v1), tables of fields (v2) or rows of one table (v3)",
    takes: Takes::Word(&["v1", "v2", "v3"]),
    default: Some("v2"),
};

const fn shape(
    about: &'static str,
    words: &'static [&'static str],
    default: Option<&'static str>,
) -> SampleKey {
    SampleKey {
        name: "shape",
        about,
        takes: Takes::Word(words),
        default,
    }
}

/// Every set with every key, in the order in which they are shown.
pub const SAMPLE_SETS: &[SampleSet] = &[
    SampleSet {
        id: "all",
        title: "Everything",
        about: "The tools of all sets, with names of their own",
        keys: &[
            annotations(None),
            DATA,
            OUTPUT_SCHEMA,
            PHASE,
            // No two sets share a word, so one word says which set it is for.
            shape(
                "The shape of the one set that knows the word",
                &[
                    "blocks",
                    "lines",
                    "json-python",
                    "json-model",
                    "fenced",
                    "bare",
                    "before",
                    "plain",
                    "quoted",
                    "indented",
                    "compact",
                    "input-text",
                ],
                None,
            ),
            SIZE,
            TEXT,
        ],
    },
    SampleSet {
        id: "autotask-dual",
        title: "Text and data",
        about: "Markdown text beside structuredContent; the two drift apart",
        keys: &[
            annotations(Some("off")),
            DATA,
            OUTPUT_SCHEMA,
            PHASE,
            SIZE,
            TEXT,
        ],
    },
    SampleSet {
        id: "autotask-strict",
        title: "JSON or Markdown",
        about: "JSON or Markdown by an argument, and no structuredContent",
        keys: &[annotations(Some("on")), DATA, SIZE],
    },
    SampleSet {
        id: "dial",
        title: "Code blocks",
        about: "Users as key: value lines in code blocks; errors look like success",
        keys: &[
            annotations(Some("off")),
            DATA,
            shape(
                "Code blocks, the same lines bare, JSON as Python writes it, or compact JSON",
                &["blocks", "lines", "json-python", "json-model"],
                Some("blocks"),
            ),
            SIZE,
        ],
    },
    SampleSet {
        id: "delegator",
        title: "JSON first",
        about: "A status tool: emoji Markdown against JSON with a summary first",
        keys: &[
            annotations(Some("on")),
            DATA,
            shape(
                "JSON in a fence, bare JSON, the Markdown it replaced, or the Markdown that followed",
                &["fenced", "bare", "before", "plain"],
                Some("fenced"),
            ),
            SIZE,
        ],
    },
    SampleSet {
        id: "autoreply",
        title: "Compact Markdown",
        about: "A social network as compact Markdown, other people's text quoted",
        keys: &[
            annotations(Some("on")),
            DATA,
            shape(
                "People's text quoted by >, indented by two spaces, one line a post, or an old way of asking for a password",
                &["quoted", "indented", "compact", "input-text"],
                Some("quoted"),
            ),
            SIZE,
        ],
    },
];

/// Which sample set runs, and its switches: `SET[,KEY=VALUE…]` of `--sample`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleSpec {
    /// One of [`SampleSpec::SETS`].
    pub set: String,
    /// Switches such as `data=hostile`, checked by [`SampleSpec::check`].
    pub keys: BTreeMap<String, String>,
    /// The revision that is asked for; no part of its text.
    pub protocol: Protocol,
}

impl Default for SampleSpec {
    fn default() -> Self {
        Self {
            set: "all".into(),
            keys: BTreeMap::new(),
            protocol: Protocol::Auto,
        }
    }
}

fn usage(what: String) -> Problem {
    Problem::new(ProblemKind::Usage, what).at("--sample")
}

impl SampleSpec {
    /// The ids of [`SAMPLE_SETS`].
    pub const SETS: &'static [&'static str] = &[
        "all",
        "autotask-dual",
        "autotask-strict",
        "dial",
        "delegator",
        "autoreply",
    ];

    /// Reads `SET[,KEY=VALUE…]`; an empty text is the default set.
    ///
    /// # Errors
    /// An unknown set, key or value, with the known ones in the hint.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let mut spec = Self::default();
        for (position, part) in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .enumerate()
        {
            match part.split_once('=') {
                Some((key, value)) => {
                    if spec.keys.insert(key.to_owned(), value.to_owned()).is_some() {
                        return Err(usage(format!("`{key}` is given twice")));
                    }
                }
                None if position == 0 => part.clone_into(&mut spec.set),
                None => return Err(usage(format!("`{part}` is not KEY=VALUE"))),
            }
        }
        spec.check()?;
        Ok(spec)
    }

    /// What is known of the set.
    ///
    /// # Errors
    /// There is no such set; the hint lists them.
    pub fn known(&self) -> Result<&'static SampleSet, Problem> {
        SAMPLE_SETS
            .iter()
            .find(|set| set.id == self.set)
            .ok_or_else(|| {
                usage(format!("unknown sample set `{}`", self.set))
                    .hint(format!("one of {}", Self::SETS.join(", ")))
            })
    }

    /// Whether the set knows its keys and they take their values.
    ///
    /// # Errors
    /// An unknown set, key or value, with the known ones in the hint.
    pub fn check(&self) -> Result<(), Problem> {
        let set = self.known()?;
        for (name, value) in &self.keys {
            let Some(key) = set.keys.iter().find(|key| key.name == name) else {
                let elsewhere = SAMPLE_SETS
                    .iter()
                    .any(|set| set.keys.iter().any(|key| key.name == name));
                let what = if elsewhere {
                    format!("`{}` has no key `{name}`", set.id)
                } else {
                    format!("unknown sample key `{name}`")
                };
                let names: Vec<_> = set.keys.iter().map(|key| key.name).collect();
                return Err(usage(what).hint(format!("one of {}", names.join(", "))));
            };
            let what = match key.takes {
                Takes::Word(words) if words.contains(&value.as_str()) => continue,
                Takes::UpTo(max) if value.parse::<u32>().is_ok_and(|number| number <= max) => {
                    continue;
                }
                Takes::Word(_) => format!("unknown value of `{name}` `{value}`"),
                Takes::UpTo(max)
                    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) =>
                {
                    format!("`{name}` is at most {max}, not {value}")
                }
                Takes::UpTo(_) => format!("`{name}` takes a number, not `{value}`"),
            };
            return Err(usage(what).hint(key.takes.hint()));
        }
        Ok(())
    }

    /// The value of a key: as given, else the set's default, else nothing.
    pub fn value(&self, name: &str) -> Option<&str> {
        let default = || {
            self.known()
                .ok()?
                .keys
                .iter()
                .find(|key| key.name == name)?
                .default
        };
        self.keys.get(name).map(String::as_str).or_else(default)
    }
}

impl fmt::Display for SampleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.set)?;
        self.keys
            .iter()
            .try_for_each(|(key, value)| write!(f, ",{key}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_read_and_shown() {
        let spec = SampleSpec::parse("dial,size=50,data=hostile").unwrap();
        assert_eq!(spec.to_string(), "dial,data=hostile,size=50");
        assert_eq!(spec.value("size"), Some("50"));
        assert_eq!(spec.value("shape"), Some("blocks"));
        assert_eq!(spec.value("text"), None);
        assert_eq!(SampleSpec::parse("").unwrap(), SampleSpec::default());
        assert_eq!(
            SampleSpec::parse("size=3").unwrap().to_string(),
            "all,size=3"
        );
    }

    #[test]
    fn what_is_unknown_is_refused_with_what_there_is() {
        let cases = [
            (
                "nosuch",
                "unknown sample set `nosuch`",
                "one of all, autotask-dual",
            ),
            (
                "all,colour=red",
                "unknown sample key `colour`",
                "one of annotations, data, output-schema, phase, shape, size, text",
            ),
            (
                "dial,text=v1",
                "`dial` has no key `text`",
                "one of annotations, data, shape, size",
            ),
            (
                "autotask-strict,shape=bare",
                "`autotask-strict` has no key `shape`",
                "one of annotations, data, size",
            ),
            (
                "dial,shape=fenced",
                "unknown value of `shape` `fenced`",
                "one of blocks, lines, json-python, json-model",
            ),
            (
                "all,phase=3",
                "unknown value of `phase` `3`",
                "one of 0, 1, 2",
            ),
            (
                "all,size=many",
                "`size` takes a number, not `many`",
                "give 0 to 100000",
            ),
            (
                "all,size=100001",
                "`size` is at most 100000, not 100001",
                "give 0 to 100000",
            ),
        ];
        for (text, what, hint) in cases {
            let problem = SampleSpec::parse(text).unwrap_err();
            assert_eq!(
                (problem.kind, problem.what.as_str(), problem.place.as_str()),
                (ProblemKind::Usage, what, "--sample")
            );
            assert!(problem.hint.unwrap().starts_with(hint), "{text}");
        }
        assert_eq!(
            SampleSpec::parse("all,size=1,size=2").unwrap_err().what,
            "`size` is given twice"
        );
        assert_eq!(
            SampleSpec::parse("all,dial").unwrap_err().what,
            "`dial` is not KEY=VALUE"
        );
    }

    #[test]
    fn the_table_is_in_order_and_its_defaults_are_values() {
        let ids: Vec<_> = SAMPLE_SETS.iter().map(|set| set.id).collect();
        assert_eq!(ids, SampleSpec::SETS);
        for set in SAMPLE_SETS {
            assert!(set.keys.is_sorted_by_key(|key| key.name), "{}", set.id);
            for key in set.keys {
                let Some(default) = key.default else { continue };
                SampleSpec::parse(&format!("{},{}={default}", set.id, key.name)).unwrap();
            }
        }
    }

    #[test]
    fn a_shape_names_one_set() {
        let words = |set: &SampleSet| match set
            .keys
            .iter()
            .find(|key| key.name == "shape")
            .map(|key| &key.takes)
        {
            Some(Takes::Word(words)) => words.to_vec(),
            _ => Vec::new(),
        };
        let (all, sets) = SAMPLE_SETS.split_first().unwrap();
        assert_eq!(words(all), sets.iter().flat_map(words).collect::<Vec<_>>());
        let mut distinct = words(all);
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), words(all).len());
    }
}
