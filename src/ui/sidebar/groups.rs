//! Tools in groups by how their names begin; many that begin alike, by their next word as well.

use std::collections::HashMap;

use crate::state::ListedTool;

/// More tools of a group are grouped again.
const MANY: usize = 12;
const SEPARATORS: [char; 5] = ['_', '-', '.', '/', ':'];

/// Tools that share the beginning of their name.
pub(super) struct Group<'a> {
    /// With its separator; empty for tools that share theirs with no other.
    pub prefix: &'a str,
    /// Those that are in no inner group.
    pub tools: Vec<&'a ListedTool>,
    pub inner: Vec<Group<'a>>,
}

impl<'a> Group<'a> {
    fn new(prefix: &'a str, tools: Vec<&'a ListedTool>) -> Self {
        Self {
            prefix,
            tools,
            inner: Vec::new(),
        }
    }

    /// Those of inner groups included.
    pub fn all(&self) -> impl Iterator<Item = &'a ListedTool> {
        let inner = self.inner.iter().flat_map(|group| &group.tools);
        self.tools.iter().chain(inner).copied()
    }

    /// The same tools under the longest beginning that their names share.
    fn widened(mut self) -> Self {
        let shares = |prefix: &str| {
            let begins = |name: &str| name.len() > prefix.len() && name.starts_with(prefix);
            self.tools.iter().all(|listed| begins(&listed.tool.name))
        };
        while let Some(first) = self.tools.first() {
            let longer = prefix_of(&first.tool.name, self.prefix.len());
            if longer.is_empty() || !shares(longer) {
                break;
            }
            self.prefix = longer;
        }
        self
    }

    fn split(mut self) -> Self {
        if self.tools.len() > MANY {
            let tools = std::mem::take(&mut self.tools);
            (self.inner, self.tools) = gather(tools.into_iter(), self.prefix.len());
        }
        self
    }
}

/// The beginning of a name up to the end of the word at `from`, with its separator, where more follows.
fn prefix_of(name: &str, from: usize) -> &str {
    match name.get(from..).and_then(|rest| rest.find(SEPARATORS)) {
        Some(at) if at > 0 && from + at + 1 < name.len() => &name[..=from + at],
        _ => "",
    }
}

/// Groups of two or more in order of first appearance, and what shares with nobody.
fn gather<'a>(
    tools: impl Iterator<Item = &'a ListedTool>,
    from: usize,
) -> (Vec<Group<'a>>, Vec<&'a ListedTool>) {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut places = HashMap::new();
    for listed in tools {
        let prefix = prefix_of(&listed.tool.name, from);
        let place = *places.entry(prefix).or_insert_with(|| {
            groups.push(Group::new(prefix, Vec::new()));
            groups.len() - 1
        });
        groups[place].tools.push(listed);
    }
    let (shared, alone): (Vec<_>, Vec<_>) = groups
        .into_iter()
        .partition(|group| group.tools.len() > 1 && !group.prefix.is_empty());
    (
        shared.into_iter().map(Group::widened).collect(),
        alone.into_iter().flat_map(|group| group.tools).collect(),
    )
}

/// Groups in order of first appearance; what shares with nobody comes last, together.
pub(super) fn groups<'a>(tools: impl Iterator<Item = &'a ListedTool>) -> Vec<Group<'a>> {
    let (shared, rest) = gather(tools, 0);
    let mut groups: Vec<_> = shared.into_iter().map(Group::split).collect();
    if !rest.is_empty() {
        groups.push(Group::new("", rest));
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loupe_core::capture::Tool;

    use super::*;

    /// A line for each group: its beginning, its own tools, and its inner groups.
    fn described(names: &[&str]) -> Vec<String> {
        fn line(group: &Group<'_>) -> String {
            let own = group.tools.iter().map(|listed| listed.tool.name.clone());
            let inner = group.inner.iter().map(|inner| format!("({})", line(inner)));
            let parts: Vec<_> = own.chain(inner).collect();
            format!("{}: {}", group.prefix, parts.join(" "))
        }
        let listed = |name: &&str| ListedTool {
            tool: Arc::new(Tool::unlisted(name)),
            tokens: None,
        };
        let tools: Vec<_> = names.iter().map(listed).collect();
        groups(tools.iter()).iter().map(line).collect()
    }

    #[test]
    fn tools_group_by_all_that_their_names_share() {
        let names = [
            "dual_a",
            "ping",
            "github_issue_get",
            "dual_b",
            "github_issue_list",
            "read_file",
        ];
        assert_eq!(
            described(&names),
            [
                "dual_: dual_a dual_b",
                "github_issue_: github_issue_get github_issue_list",
                ": ping read_file",
            ]
        );
    }

    #[test]
    fn a_large_group_is_grouped_by_the_next_word() {
        let names =
            |names: &[String]| described(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let mut all: Vec<_> = (0..5).map(|at| format!("x_get_{at}")).collect();
        all.extend((0..7).map(|at| format!("x_set_{at}")));
        assert!(!names(&all)[0].contains('('), "twelve are one group");
        all.push("x_run_once".into());
        assert_eq!(
            names(&all),
            [
                "x_: x_run_once (x_get_: x_get_0 x_get_1 x_get_2 x_get_3 x_get_4) \
              (x_set_: x_set_0 x_set_1 x_set_2 x_set_3 x_set_4 x_set_5 x_set_6)"
            ]
        );
    }
}
