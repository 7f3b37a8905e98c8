//! How the findings of the result are looked at, and which rules count.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::update::toggle;
use super::{Effect, State};
use loupe_analysis::finding::{Profile, RuleSettings, Severity, ToolSilence};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct FindingsView {
    /// The finding that is looked at, by its position among those of the result.
    pub selected: Option<usize>,
    /// The severity whose findings are listed; `None` lists all.
    pub severity: Option<Severity>,
    /// The area whose findings are listed, by id.
    pub area: Option<&'static str>,
    /// Words that a finding has to say.
    pub words: String,
    /// Severities whose findings are folded.
    pub folded: BTreeSet<Severity>,
    /// Groups of findings that differ in the field alone, by key, that are unfolded.
    pub unfolded: BTreeSet<String>,
    /// Whether they have the drawer with their filters, and most of the height.
    pub is_large: bool,
    /// Which rules count.
    pub rules: Arc<RuleSettings>,
    /// The `loupe.toml` that they are of.
    pub file: Option<PathBuf>,
}

impl FindingsView {
    /// Another result: what was chosen of the one before is let go.
    pub(super) fn forget_answer(&mut self) {
        self.selected = None;
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum FindingsAction {
    /// By its position among the findings of the result.
    Select(Option<usize>),
    /// Lists those of this severity alone.
    OnlySeverity(Option<Severity>),
    /// Lists those of this area alone.
    OnlyArea(Option<&'static str>),
    /// Lists those that say this.
    Find(String),
    Fold(Severity),
    /// Lists each finding of a group of fields, by its key, or not any more.
    Unfold(String),
    /// Counts the rules of this profile too, or not any more.
    ToggleProfile(Profile),
    Enlarge(bool),
    /// Has a rule say nothing of a tool any more, for this reason, in the project's `loupe.toml`.
    Silence(ToolSilence),
    /// Follows a `loupe.toml`.
    UseRules {
        file: PathBuf,
        text: String,
    },
}

impl State {
    /// The `loupe.toml` that is followed, else the one that the folder would get that the window was started in.
    pub fn rules_file(&self) -> Option<PathBuf> {
        let new = || Some(self.servers.here()?.join(RuleSettings::FILE));
        self.view.findings.file.clone().or_else(new)
    }

    pub(super) fn silenced(
        &mut self,
        file: PathBuf,
        ToolSilence { rule, tool, reason }: ToolSilence,
    ) {
        self.toast(&format!(
            "{rule} says nothing of {tool} any more: {}",
            file.display()
        ));
        let view = &mut self.view.findings;
        Arc::make_mut(&mut view.rules)
            .silenced
            .insert((rule, tool), reason);
        (view.file, view.selected) = (Some(file), None);
    }

    pub(super) fn change_findings(&mut self, action: FindingsAction, effects: &mut Vec<Effect>) {
        let file = self.rules_file();
        let view = &mut self.view.findings;
        match action {
            FindingsAction::Select(at) => view.selected = at,
            FindingsAction::OnlySeverity(severity) => view.severity = severity,
            FindingsAction::OnlyArea(area) => view.area = area,
            FindingsAction::Find(words) => view.words = words,
            FindingsAction::Fold(severity) => toggle(&mut view.folded, severity),
            FindingsAction::Unfold(key) => toggle(&mut view.unfolded, key),
            FindingsAction::ToggleProfile(profile) => {
                toggle(&mut Arc::make_mut(&mut view.rules).profiles, profile);
                view.selected = None;
            }
            FindingsAction::Enlarge(is_large) => view.is_large = is_large,
            FindingsAction::Silence(silence) => {
                self.dialog = None;
                effects.extend(file.map(|file| Effect::Silence { file, silence }));
            }
            FindingsAction::UseRules { file, text } => {
                match RuleSettings::parse(&text, &file.display().to_string()) {
                    Ok(rules) => (view.rules, view.file) = (Arc::new(rules), Some(file)),
                    Err(problem) => self.toast_problem(problem),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Event, ServersAction};

    #[test]
    fn a_group_of_fields_is_unfolded_and_folded() {
        let mut state = State::default();
        let mut toggled = || {
            state.perform(FindingsAction::Unfold("key".into()), &mut Vec::new());
            state.view.findings.unfolded.len()
        };
        assert_eq!([toggled(), toggled()], [1, 0]);
    }

    #[test]
    fn a_silenced_rule_stands_in_the_nearest_file_or_a_new_one() {
        let mut state = State::default();
        assert_eq!(
            state.rules_file(),
            None,
            "nobody said where the window was started"
        );
        let mut effects = Vec::new();
        state.perform(ServersAction::StartIn("/work".into()), &mut effects);
        let silence = || ToolSilence {
            rule: "markdown/link",
            tool: "search".into(),
            reason: "ours".into(),
        };
        state.perform(FindingsAction::Silence(silence()), &mut effects);
        let [Effect::Silence { file, .. }] = &effects[..] else {
            panic!("{effects:?}")
        };
        assert_eq!(file, &PathBuf::from("/work/loupe.toml"));
        state.perform(
            FindingsAction::ToggleProfile(Profile::parse("dual-content").unwrap()),
            &mut Vec::new(),
        );
        let silenced = Event::Silenced {
            file: "/work/loupe.toml".into(),
            silence: silence(),
        };
        state.apply(silenced, &mut Vec::new());
        let rules = &state.view.findings.rules;
        assert_eq!(
            rules.silenced_for("search").collect::<Vec<_>>(),
            [("markdown/link", "ours")]
        );
        assert!(
            rules
                .profiles
                .contains(&Profile::parse("dual-content").unwrap()),
            "what was chosen in the window stays"
        );
        state.perform(
            FindingsAction::UseRules {
                file: "/loupe.toml".into(),
                text: String::new(),
            },
            &mut Vec::new(),
        );
        assert_eq!(state.rules_file(), Some("/loupe.toml".into()));
    }
}
