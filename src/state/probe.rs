//! The probe of a host: what a person pasted per tool, what it says, and the entry that is kept of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{Effect, HostsEffect, Screen, State};
use crate::host::probe::{Naming, ProbeFinding, heading, sections};
use crate::problem::{Problem, ProblemKind};
use crate::source::PROBE_TOOLS;

/// The probe screen.
#[derive(Clone, Debug, Default)]
pub struct ProbeScreen {
    /// What the model was given, by the probe's tool; an empty text means nothing.
    pub pasted: BTreeMap<&'static str, String>,
    /// The tool whose text is looked at, by its place among [`PROBE_TOOLS`].
    pub at: usize,
    pub naming: Naming,
    pub finding: Option<Arc<ProbeFinding>>,
    /// The rules as a hosts file, under the name given.
    pub entry: Option<String>,
    /// Since when an answer is waited for.
    pub since: Option<Duration>,
    /// What was wrong with what was done last.
    pub problem: Option<Problem>,
    /// Where the entry was added.
    pub added: Option<PathBuf>,
    /// Counts the questions, so that a late answer is told apart.
    run: u64,
    /// Where the person's own files are.
    folder: Option<PathBuf>,
}

/// What a person does about a probe.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeAction {
    Show,
    Look(usize),
    /// What the model was given for the tool looked at; `None` where it was not tried. A text with the headings of
    /// several tools is told apart.
    Paste(Option<String>),
    Name(Naming),
    Clear,
    CopyEntry,
    /// What was pasted, as the command line takes it.
    CopyPasted,
    /// Adds the entry to the person's own hosts.
    Add,
}

impl State {
    pub(super) fn probe_folder(&mut self, folder: PathBuf) {
        self.probing.folder = Some(folder);
    }

    pub(super) fn change_probe(&mut self, action: ProbeAction, effects: &mut Vec<Effect>) {
        let probing = &mut self.probing;
        match action {
            ProbeAction::Show => self.view.screen = Screen::Probe,
            ProbeAction::Look(at) => probing.at = at.min(PROBE_TOOLS.len() - 1),
            ProbeAction::Paste(text) => {
                probing.problem = None;
                let tool = PROBE_TOOLS[probing.at].name;
                match text {
                    None => drop(probing.pasted.remove(tool)),
                    Some(text) if text.lines().any(|line| line.starts_with(&heading("probe_"))) => match sections(&text) {
                        Ok(found) => probing.pasted.extend(found),
                        Err(problem) => {
                            probing.problem = Some(problem);
                            return;
                        }
                    },
                    Some(text) => drop(probing.pasted.insert(tool, text)),
                }
                self.ask_probe(effects);
            }
            ProbeAction::Name(naming) => {
                probing.naming = naming;
                probing.added = None;
                probing.problem = None;
                probing.write();
            }
            ProbeAction::Clear => {
                probing.pasted.clear();
                probing.problem = None;
                self.ask_probe(effects);
            }
            ProbeAction::CopyEntry => {
                if let Some(entry) = self.probing.entry.clone() {
                    self.copy(entry, effects);
                }
            }
            ProbeAction::CopyPasted => {
                let texts = self.probing.pasted.iter().map(|(tool, text)| format!("{}\n{text}\n", heading(tool)));
                let text = texts.collect();
                self.copy(text, effects);
            }
            ProbeAction::Add => match (&probing.folder, probing.entry.clone()) {
                (Some(folder), Some(entry)) => effects.push(Effect::Hosts(HostsEffect::Add { folder: folder.clone(), entry })),
                (None, _) => {
                    probing.problem = Some(
                        Problem::new(ProblemKind::NotFound, "no folder for settings is known on this system")
                            .hint("start with --data-dir DIR, or copy the entry"),
                    );
                }
                (_, None) => {}
            },
        }
    }

    fn ask_probe(&mut self, effects: &mut Vec<Effect>) {
        let probing = &mut self.probing;
        probing.run += 1;
        probing.added = None;
        probing.finding = None;
        probing.entry = None;
        let pasted: Vec<_> = probing.pasted.iter().map(|(tool, text)| (*tool, text.clone())).collect();
        probing.since = (!pasted.is_empty()).then_some(self.now);
        effects.push(Effect::Hosts(HostsEffect::Probe { run: probing.run, pasted }));
    }

    pub(super) fn probed(&mut self, run: u64, finding: Result<Arc<ProbeFinding>, Problem>, today: &str) {
        let probing = &mut self.probing;
        if run != probing.run {
            return;
        }
        probing.since = None;
        if probing.naming.checked == Naming::default().checked {
            today.clone_into(&mut probing.naming.checked);
        }
        match finding {
            Ok(finding) => probing.finding = Some(finding),
            Err(problem) => probing.problem = Some(problem),
        }
        probing.write();
    }

    pub(super) fn host_added(&mut self, added: Result<PathBuf, Problem>) {
        match added {
            Ok(path) => {
                self.probing.problem = None;
                self.probing.added = Some(path);
                // Hosts are asked about anew.
                self.answers.forget_hosts();
            }
            Err(problem) => self.probing.problem = Some(problem),
        }
    }
}

impl ProbeScreen {
    fn write(&mut self) {
        self.entry = self.finding.as_ref().and_then(|finding| finding.toml(&self.naming));
    }

    /// The text of the tool looked at.
    pub fn text(&self) -> Option<&str> {
        self.pasted.get(PROBE_TOOLS[self.at].name).map(String::as_str)
    }
}
