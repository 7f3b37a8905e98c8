//! Another choice of the rules' words that gives every text of a transcript.

use super::{HostRuleChange, Pair, TranscriptOutcome};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::host::rules::{JSON_MODES, LimitUnit, SELECTS};
use loupe_core::host::{Host, Hosts};

/// Pairs that another rule is tried on.
const MOST_TRIED: usize = 200;

/// A rule of the same words that gives every text: another choice of fields, another way of JSON, other limits.
pub(super) fn change(
    host: &Host,
    pairs: &[Pair<'_>],
    today: &str,
    cancel: &Cancel,
) -> Result<Option<HostRuleChange>, Cancelled> {
    if pairs.len() > MOST_TRIED {
        return Ok(None);
    }
    let gives_all = |host: &Host| -> Result<bool, Cancelled> {
        for pair in pairs {
            cancel.check()?;
            if matches!(pair.judge(host), TranscriptOutcome::Differs(_)) {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let mut limits = vec![(host.limit.clone(), None)];
    if !host.limit.is_empty() {
        limits.push((Vec::new(), Some("no limit".to_owned())));
    }
    for (at, limit) in host.limit.iter().enumerate() {
        if let Some(max) = measured(host, limit.unit, pairs) {
            let mut changed = host.limit.clone();
            changed[at].max = max;
            limits.push((changed, Some(format!("max = {max}"))));
        }
    }
    // The fewest changes first.
    let mut tried = Vec::new();
    for (limit, limit_word) in &limits {
        for (select, select_word) in SELECTS {
            for (mode, mode_word) in JSON_MODES {
                let mut changed = host.clone();
                (changed.select, changed.json) = (*select, *mode);
                changed.limit.clone_from(limit);
                let mut keys = Vec::new();
                if *select != host.select {
                    keys.push(format!("select = \"{select_word}\""));
                }
                if *mode != host.json {
                    keys.push(format!("json = \"{mode_word}\""));
                }
                keys.extend(limit_word.clone());
                tried.push((keys, changed));
            }
        }
    }
    tried.sort_by_key(|(keys, _)| keys.len());
    for (keys, changed) in tried {
        if gives_all(&changed)? {
            return Ok(entry(host, &keys, today).map(|toml| HostRuleChange { keys, toml }));
        }
    }
    Ok(None)
}

/// The largest text that arrived whole, where one that is longer did not.
fn measured(host: &Host, unit: LimitUnit, pairs: &[Pair<'_>]) -> Option<u64> {
    let mut endless = host.clone();
    endless.limit.clear();
    let mut whole = 0;
    let mut over = None;
    for pair in pairs {
        let given = pair.given.listing();
        let scalars = given.chars().count() as u64;
        let utf16 = given.chars().map(char::len_utf16).sum::<usize>() as u64;
        let size = unit.size(given.len() as u64, scalars, utf16)?;
        match pair.judge(&endless) {
            TranscriptOutcome::Same => whole = whole.max(size),
            TranscriptOutcome::Differs(_) => {
                over = Some(over.map_or(size, |least: u64| least.min(size)));
            }
            _ => {}
        }
    }
    over.filter(|_| whole > 0).map(|over| over.max(whole))
}

/// The host's entry with these keys changed, as a whole hosts file.
fn entry(host: &Host, keys: &[String], today: &str) -> Option<String> {
    let text = Hosts::built_in_entry(host.id.as_str())?;
    let drops_limits = keys.iter().any(|key| key == "no limit");
    let mut out = format!(
        "# The rules of `{}`, changed by its transcript of {today}: {}.\nschema = \"loupe.hosts/1\"\n\n[[host]]\n",
        host.id,
        keys.join(", ")
    );
    let mut is_head = true;
    let mut is_limit = false;
    for line in text.lines() {
        if line.starts_with('[') {
            is_head = false;
            is_limit = line == "[[host.limit]]";
        }
        if is_limit && drops_limits {
            continue;
        }
        let key = line.split_once(" = ").map_or("", |(key, _)| key);
        let changed = keys.iter().find(|changed| {
            let name = changed.split_once(" = ").map_or("", |(name, _)| name);
            name == key && (is_head || (is_limit && key == "max"))
        });
        match (key, changed) {
            ("checked", _) if is_head => out.push_str(&format!("checked = \"{today}\"")),
            (_, Some(changed)) => out.push_str(changed),
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    Some(out)
}
