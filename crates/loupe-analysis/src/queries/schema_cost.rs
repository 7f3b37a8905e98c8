//! What it costs at most to compile a schema and to check a value against it, counted before either is done.
//!
//! The validator cannot be interrupted, and a schema of 4 KB can make it work for years: what is above the bounds is not
//! given to it. The count walks schema and value as the validator does, so it takes no longer than the bounds allow.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

/// The most steps of one check, some 30 ns each.
const STEPS: u64 = 2_500_000;
/// The most that may speak against one value: each takes up to 4 µs and 1.5 KB.
const ERRORS: u64 = 50_000;
/// How deep references, alternatives and values may nest on the way to one value: each level takes stack.
const DEPTH: usize = 400;
/// The most values in a schema, some 1 µs and 1 KB each when it is compiled.
const VALUES: usize = 100_000;
/// The most references in a schema: compiling a chain of them takes the square of their number.
const REFERENCES: usize = 5_000;
/// The most different patterns in a schema, and what they may take in memory together when they are compiled.
const PATTERNS: usize = 128;
const PATTERNS_BYTES: usize = 16 << 20;
/// What one of few patterns may take: `\p{L}{1,20}` takes 400 KB.
const PATTERN_BYTES: usize = 1 << 20;
/// The most schemas with a name of their own: references among them are compiled once for each way through them.
const RESOURCES: usize = 16;
/// The most schemas that are looked through to find what `unevaluatedProperties` and `unevaluatedItems` leave.
const UNEVALUATED: u64 = 100_000;
/// How often a pattern that looks around may turn back.
pub(crate) const BACKTRACKS: usize = 2_000;
/// With a pattern that looks around, the validator goes through all up to this many times.
const RUNS: u64 = 64;

/// The bounds are not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooCostly;

type Bounded<T = ()> = Result<T, TooCostly>;

/// A schema that is within the bounds, with what its references lead to.
#[derive(Debug, Default)]
pub(crate) struct SchemaCost<'a> {
    /// The whole, and the schemas with a name of their own, each with that name.
    resources: Vec<(&'a str, &'a Value)>,
    anchors: HashMap<&'a str, Vec<&'a Value>>,
    patterns: HashSet<&'a str>,
    unevaluated: Vec<&'a Value>,
    values: usize,
    references: usize,
}

/// How a value is checked: whether it fits, the first that speaks against it, or all.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckAim {
    Fits,
    First,
    All,
}

/// How often a place is visited: to judge it, to say what speaks against it, and to mark what is evaluated.
#[derive(Clone, Copy)]
struct Visits {
    judge: u64,
    explain: u64,
    mark: u64,
}

impl<'a> SchemaCost<'a> {
    /// # Errors
    /// [`TooCostly`] of schemas that would take long to compile.
    pub fn of(schema: &'a Value) -> Bounded<Self> {
        let mut cost = Self {
            resources: vec![("", schema)],
            ..Self::default()
        };
        cost.gather(schema)?;
        let mut steps = UNEVALUATED;
        for schema in &cost.unevaluated {
            cost.look_through(schema, 1, 0, &mut steps)?;
        }
        Ok(cost)
    }

    /// How many values the schema has.
    pub fn values(&self) -> usize {
        self.values
    }

    /// What each pattern may take in memory when it is compiled.
    pub(crate) fn pattern_bytes(&self) -> usize {
        PATTERN_BYTES.min(PATTERNS_BYTES / self.patterns.len().max(1))
    }

    /// Whether the validator may check the value.
    ///
    /// # Errors
    /// [`TooCostly`] if it may not.
    pub fn allows(&self, value: &Value, aim: CheckAim) -> Bounded {
        let Some((_, schema)) = self.resources.first() else {
            return Ok(());
        };
        let looks_around = self.patterns.iter().any(|pattern| looks_around(pattern));
        let steps = if looks_around { STEPS / RUNS } else { STEPS };
        let visits = Visits {
            judge: u64::from(aim != CheckAim::All),
            explain: u64::from(aim == CheckAim::All),
            mark: 0,
        };
        Walk {
            cost: self,
            aim,
            steps,
            errors: ERRORS,
        }
        .visit(schema, value, visits, 0)
    }

    fn gather(&mut self, value: &'a Value) -> Bounded {
        self.values += 1;
        if self.values > VALUES {
            return Err(TooCostly);
        }
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.gather(item)),
            Value::Object(members) => {
                for (key, member) in members {
                    self.note(key, member, value);
                    self.gather(member)?;
                }
                let is_small = self.references <= REFERENCES
                    && self.resources.len() <= RESOURCES
                    && self.patterns.len() <= PATTERNS;
                if is_small { Ok(()) } else { Err(TooCostly) }
            }
            _ => Ok(()),
        }
    }

    fn note(&mut self, key: &'a str, member: &'a Value, of: &'a Value) {
        match (key, member) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", _) => self.references += 1,
            ("$id" | "id", Value::String(name)) => self.resources.push((name, of)),
            ("$anchor" | "$dynamicAnchor", Value::String(name)) => {
                self.anchors.entry(name).or_default().push(of)
            }
            ("pattern", Value::String(pattern)) => drop(self.patterns.insert(pattern)),
            ("patternProperties", Value::Object(members)) => {
                self.patterns.extend(members.keys().map(String::as_str))
            }
            ("unevaluatedProperties" | "unevaluatedItems", _) => self.unevaluated.push(of),
            _ => {}
        }
    }

    /// Counts the schemas that apply to the same value as this one, as often as the validator compiles and asks them.
    fn look_through(&self, schema: &Value, times: u64, depth: usize, steps: &mut u64) -> Bounded {
        *steps = steps.checked_sub(times).ok_or(TooCostly)?;
        let Some(members) = schema.as_object().filter(|_| depth < DEPTH) else {
            return if depth < DEPTH {
                Ok(())
            } else {
                Err(TooCostly)
            };
        };
        let times = if has_unevaluated(members) {
            times.saturating_mul(3)
        } else {
            times
        };
        let mut next = |schema: &Value| self.look_through(schema, times, depth + 1, steps);
        for (key, member) in members {
            match (key.as_str(), member) {
                ("allOf" | "anyOf" | "oneOf", Value::Array(items)) => {
                    items.iter().try_for_each(&mut next)?
                }
                ("dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                    schemas.values().try_for_each(&mut next)?
                }
                ("if" | "then" | "else" | "not", schema) => next(schema)?,
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                    self.targets(to).into_iter().try_for_each(&mut next)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What a reference may lead to; more than it does rather than less.
    fn targets(&self, reference: &str) -> Vec<&'a Value> {
        let (name, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let last = |name: &'a str| {
            name.trim_end_matches('#')
                .rsplit('/')
                .next()
                .unwrap_or_default()
        };
        let wanted = name.rsplit('/').next().unwrap_or_default();
        let is_plain = !wanted.contains(['%', '?']) && !matches!(wanted, "" | "." | "..");
        let named = self
            .resources
            .iter()
            .filter(|(own, _)| !is_plain || last(own) == wanted)
            .map(|(_, schema)| *schema);
        let mut within: Vec<&Value> = named.collect();
        if within.is_empty() && !is_of_json_schema(name) {
            within.extend(self.resources.iter().map(|(_, schema)| *schema));
        }
        match percent_decoded(fragment) {
            pointer if pointer.is_empty() || pointer.starts_with('/') => within
                .into_iter()
                .filter_map(|schema| schema.pointer(&pointer))
                .collect(),
            anchor => self.anchors.get(&*anchor).cloned().unwrap_or_default(),
        }
    }
}

/// One count, with what is left of the bounds.
struct Walk<'s, 'a> {
    cost: &'s SchemaCost<'a>,
    aim: CheckAim,
    steps: u64,
    errors: u64,
}

impl Walk<'_, '_> {
    fn spend(&mut self, steps: u64, visits: Visits) -> Bounded {
        let times = visits
            .judge
            .saturating_add(visits.explain)
            .saturating_add(visits.mark);
        self.steps = self
            .steps
            .checked_sub(steps.saturating_mul(times))
            .ok_or(TooCostly)?;
        Ok(())
    }

    fn visit(&mut self, schema: &Value, value: &Value, visits: Visits, depth: usize) -> Bounded {
        self.spend(1, visits)?;
        if depth > DEPTH {
            return Err(TooCostly);
        }
        let Some(members) = schema.as_object() else {
            return self.may_fail(1, visits);
        };
        let mark = if has_unevaluated(members) {
            visits.judge + visits.explain
        } else {
            0
        };
        // What is marked is judged before.
        let mark = visits.mark.saturating_add(mark);
        let same = Visits {
            judge: visits.judge.saturating_add(mark),
            explain: visits.explain,
            mark,
        };
        for (key, keyword) in members {
            self.own(key, keyword, value, visits)?;
            self.of_same(key, keyword, value, same, depth + 1)?;
            self.of_children(
                members,
                key,
                keyword,
                value,
                Visits { mark: 0, ..same },
                depth + 1,
            )?;
        }
        Ok(())
    }

    fn may_fail(&mut self, errors: u64, visits: Visits) -> Bounded {
        self.errors = self
            .errors
            .checked_sub(errors.saturating_mul(visits.explain))
            .ok_or(TooCostly)?;
        Ok(())
    }

    /// What a keyword asks of the value itself.
    fn own(&mut self, key: &str, keyword: &Value, value: &Value, visits: Visits) -> Bounded {
        let text = value.as_str();
        let (steps, errors) = match (key, keyword) {
            (
                "title" | "description" | "default" | "examples" | "$defs" | "definitions"
                | "$schema" | "$id",
                _,
            ) => (0, 0),
            ("type", kinds) => (1, u64::from(!is_of_type(kinds, value))),
            ("required", Value::Array(names)) => {
                let is_missing =
                    |name: &&Value| name.as_str().is_some_and(|name| value.get(name).is_none());
                let missing = if value.is_object() {
                    names.iter().filter(is_missing).count()
                } else {
                    0
                };
                (names.len() as u64, missing as u64)
            }
            ("enum" | "const", _) => (size(keyword), 1),
            ("uniqueItems", Value::Bool(true)) => (8 * size(value), 1),
            ("properties" | "dependentSchemas" | "dependencies", Value::Object(names)) => {
                (names.len() as u64, 0)
            }
            ("dependentRequired", _) => (size(keyword), size(keyword)),
            ("additionalProperties" | "unevaluatedProperties", Value::Bool(false)) => {
                (1, members(value))
            }
            ("pattern", Value::String(pattern)) => {
                (text.map_or(1, |text| pattern_steps(pattern, text)), 1)
            }
            ("patternProperties", Value::Object(patterns)) => {
                let names = || value.as_object().into_iter().flat_map(Map::keys);
                // Once more by `additionalProperties`.
                let of = |pattern: &String| {
                    names()
                        .map(|name| 2 * pattern_steps(pattern, name))
                        .sum::<u64>()
                };
                (patterns.keys().map(of).sum(), 0)
            }
            ("minLength" | "maxLength" | "format" | "contentEncoding" | "contentMediaType", _) => {
                (1 + text.map_or(0, |text| text.len() as u64 / 16), 1)
            }
            ("multipleOf", _) => (8, 1),
            _ => (1, 1),
        };
        self.spend(steps, visits)?;
        self.may_fail(errors, visits)
    }

    /// The schemas that a keyword applies to the same value.
    fn of_same(
        &mut self,
        key: &str,
        keyword: &Value,
        value: &Value,
        visits: Visits,
        depth: usize,
    ) -> Bounded {
        match (key, keyword) {
            ("allOf", Value::Array(items)) => items
                .iter()
                .try_for_each(|item| self.visit(item, value, visits, depth)),
            ("anyOf" | "oneOf", Value::Array(items)) => {
                self.alternatives(items, value, visits, depth)
            }
            ("not" | "if", schema) => self.visit(schema, value, judge_visits(visits), depth),
            ("then" | "else", schema) => self.visit(schema, value, visits, depth),
            ("dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                let mut applied = schemas
                    .iter()
                    .filter(|(name, schema)| value.get(name).is_some() && !schema.is_array());
                applied.try_for_each(|(_, schema)| self.visit(schema, value, visits, depth))
            }
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                let targets = self.cost.targets(to);
                if targets.is_empty() && is_of_json_schema(to) {
                    return self.spend(300 * size(value), visits);
                }
                targets
                    .into_iter()
                    .try_for_each(|schema| self.visit(schema, value, visits, depth))
            }
            _ => Ok(()),
        }
    }

    /// Each is judged twice, and then explained: of the first that fits none, its errors alone are kept.
    fn alternatives(
        &mut self,
        schemas: &[Value],
        value: &Value,
        visits: Visits,
        depth: usize,
    ) -> Bounded {
        let judge = visits
            .judge
            .saturating_add(visits.explain.saturating_mul(2));
        if self.aim != CheckAim::First || visits.explain > 0 {
            let visits = Visits { judge, ..visits };
            return schemas
                .iter()
                .try_for_each(|schema| self.visit(schema, value, visits, depth));
        }
        let visits = Visits {
            judge: judge.saturating_add(2),
            explain: 1,
            ..visits
        };
        let errors = std::mem::replace(&mut self.errors, ERRORS);
        schemas
            .iter()
            .try_for_each(|schema| self.visit(schema, value, visits, depth))?;
        self.errors = errors;
        Ok(())
    }

    /// The schemas that a keyword applies to what is in the value.
    fn of_children(
        &mut self,
        siblings: &Map<String, Value>,
        key: &str,
        keyword: &Value,
        value: &Value,
        visits: Visits,
        depth: usize,
    ) -> Bounded {
        match (key, keyword, value) {
            ("properties", Value::Object(schemas), Value::Object(members)) => {
                let mut known = members
                    .iter()
                    .filter_map(|(name, member)| Some((schemas.get(name)?, member)));
                known.try_for_each(|(schema, member)| self.visit(schema, member, visits, depth))
            }
            ("patternProperties", Value::Object(schemas), Value::Object(members)) => {
                let mut all = schemas
                    .values()
                    .flat_map(|schema| members.values().map(move |member| (schema, member)));
                all.try_for_each(|(schema, member)| self.visit(schema, member, visits, depth))
            }
            ("additionalProperties" | "unevaluatedProperties", schema, Value::Object(members))
                if !schema.is_boolean() =>
            {
                let named = siblings.get("properties");
                let mut others = members
                    .iter()
                    .filter(|(name, _)| named.and_then(|named| named.get(name)).is_none());
                others.try_for_each(|(_, member)| self.visit(schema, member, visits, depth))
            }
            ("additionalProperties" | "unevaluatedProperties", _, Value::Object(members)) => {
                self.spend(members.len() as u64, visits)
            }
            ("propertyNames", schema, Value::Object(members)) => {
                members.keys().try_for_each(|name| {
                    self.visit(schema, &Value::String(name.clone()), visits, depth)
                })
            }
            ("items" | "prefixItems", Value::Array(schemas), Value::Array(items)) => schemas
                .iter()
                .zip(items)
                .try_for_each(|(schema, item)| self.visit(schema, item, visits, depth)),
            ("contains", schema, Value::Array(items)) => items
                .iter()
                .try_for_each(|item| self.visit(schema, item, judge_visits(visits), depth)),
            ("items" | "additionalItems" | "unevaluatedItems", schema, Value::Array(items)) => {
                items
                    .iter()
                    .try_for_each(|item| self.visit(schema, item, visits, depth))
            }
            _ => Ok(()),
        }
    }
}

fn judge_visits(visits: Visits) -> Visits {
    Visits {
        judge: visits.judge.saturating_add(visits.explain),
        explain: 0,
        ..visits
    }
}

fn has_unevaluated(schema: &Map<String, Value>) -> bool {
    schema.contains_key("unevaluatedProperties") || schema.contains_key("unevaluatedItems")
}

fn is_of_json_schema(name: &str) -> bool {
    name.starts_with("http://json-schema.org/") || name.starts_with("https://json-schema.org/")
}

/// Whether the value is surely of one of the types.
fn is_of_type(kinds: &Value, value: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    kinds
        .as_array()
        .map_or_else(|| is(kinds), |kinds| kinds.iter().any(is))
}

fn members(value: &Value) -> u64 {
    value.as_object().map_or(0, |members| members.len() as u64)
}

/// Values within, with their texts: the steps of comparing all of it.
fn size(value: &Value) -> u64 {
    match value {
        Value::String(text) => 1 + text.len() as u64 / 64,
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(members) => {
            1 + members
                .iter()
                .map(|(name, member)| 1 + name.len() as u64 / 64 + size(member))
                .sum::<u64>()
        }
        _ => 1,
    }
}

/// Whether a pattern asks for what only trying can find: what stands before or after, or what was found before.
fn looks_around(pattern: &str) -> bool {
    let is_back = |at: usize| {
        pattern[at + 1..].starts_with(|char: char| char.is_ascii_digit() || char == 'k')
    };
    ["(?=", "(?!", "(?<"]
        .iter()
        .any(|sign| pattern.contains(sign))
        || pattern.match_indices('\\').any(|(at, _)| is_back(at))
}

/// The most steps of matching a text: fewer than its characters, unless the pattern counts so far that its states have no
/// place in the automaton.
fn pattern_steps(pattern: &str, text: &str) -> u64 {
    let tries = if looks_around(pattern) {
        BACKTRACKS as u64 / 16
    } else {
        0
    };
    let states = repeats(pattern);
    let of_text = text.len() as u64;
    4 + tries
        + if states > 256 {
            of_text.saturating_mul(states)
        } else {
            of_text / 4
        }
}

/// How often a character of the pattern may be in the text, by its counts such as `{1,40}` within one another.
fn repeats(pattern: &str) -> u64 {
    let counts = pattern.split('{').skip(1).filter_map(|rest| {
        rest.split('}')
            .next()?
            .rsplit(',')
            .next()?
            .parse::<u64>()
            .ok()
    });
    counts.fold(1, |all, count| all.saturating_mul(count.max(1)))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        match after
            .get(..2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
        {
            Some(byte) => bytes.push(byte),
            None => return text.to_owned(),
        }
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
