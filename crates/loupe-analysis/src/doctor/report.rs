//! The report as text for people: a page for a terminal, Markdown for an issue.

use std::fmt::Write;

use super::{DoctorReport, StepReport, StepStatus};
use loupe_core::capture::{Direction, milliseconds};
use loupe_core::number::{grouped, number_of};

impl DoctorReport {
    /// What is wrong, or that nothing is, in one sentence.
    pub fn headline(&self) -> String {
        if let Some(failed) = self.failed() {
            return failed.cause.clone();
        }
        let running = self
            .steps
            .iter()
            .find(|step| step.status == StepStatus::Running);
        if let Some(step) = running {
            return format!("{} …", step.title);
        }
        let Some(server) = &self.server else {
            return "nothing was tried".into();
        };
        let found = |id: &str| {
            let step = self.steps.iter().find(|step| step.id == id)?;
            (!step.received.is_empty()).then(|| step.received.clone())
        };
        // What it lists nothing of is not worth a word.
        let lists: String = found("lists")
            .iter()
            .flat_map(|lists| lists.split("; "))
            .filter(|list| !list.starts_with("0 ") || list.ends_with("tools"))
            .map(|list| format!(", {list}"))
            .collect();
        let call = found("first-call")
            .map(|call| format!(", {call}"))
            .unwrap_or_default();
        format!(
            "{} works: {} over {}{lists}{call}",
            server.heading().trim(),
            server.protocol_version,
            server.transport
        )
    }

    /// How far it came, in one sentence; empty where nothing failed.
    pub fn progress(&self) -> String {
        let Some(at) = self
            .steps
            .iter()
            .position(|step| step.status == StepStatus::Fail)
        else {
            return String::new();
        };
        let after = match self.steps.len() - at - 1 {
            0 => "",
            _ => " The steps after it were not reached.",
        };
        format!("Step {} of {} failed.{after}", at + 1, self.steps.len())
    }

    /// The steps for a terminal: all of them, or those that are not simply well.
    pub fn text(&self, all: bool) -> String {
        let mut text = String::new();
        let failed = self.failed().is_some();
        for step in &self.steps {
            let is_shown = match step.status {
                StepStatus::Pass => all || failed,
                StepStatus::NotReached => all,
                _ => true,
            };
            if is_shown {
                text.push_str(&step.line());
            }
            if matches!(step.status, StepStatus::Fail | StepStatus::Warn) {
                text.push_str(&step.detail("      "));
            }
        }
        if failed {
            text.push_str(&self.evidence("  "));
        }
        text
    }

    /// What went over the wire and to stderr.
    fn evidence(&self, indent: &str) -> String {
        let mut text = String::new();
        // Writing into a String cannot fail.
        for message in &self.messages {
            let arrow = match message.direction {
                Direction::Out => "sent",
                _ => "received",
            };
            writeln!(
                text,
                "{indent}{:>8}  {arrow:<8} {} ({} B)",
                milliseconds(message.at),
                message.name,
                grouped(message.size as u64)
            )
            .ok();
        }
        for line in &self.stderr {
            writeln!(text, "{indent}stderr │ {line}").ok();
        }
        if !text.is_empty() {
            text.insert(0, '\n');
        }
        text
    }

    /// The report as Markdown, to put into an issue.
    pub fn markdown(&self) -> String {
        let mut text = format!("**{}**\n\n", self.headline());
        writeln!(text, "    {}\n", self.source).ok();
        let progress = self.progress();
        if !progress.is_empty() {
            writeln!(text, "{progress}\n").ok();
        }
        text.push_str("| step | | what came | time |\n|---|---|---|--:|\n");
        for step in &self.steps {
            let cell = |text: &str| text.replace('|', "\\|").replace(['\n', '\r'], " ");
            writeln!(
                text,
                "| {} | {} | {} | {} |",
                step.title,
                step.status.words(),
                cell(&step.received),
                step.took.map(milliseconds).unwrap_or_default()
            )
            .ok();
        }
        for step in &self.steps {
            if matches!(step.status, StepStatus::Fail | StepStatus::Warn) {
                writeln!(text, "\n{}: {}", step.title, step.cause).ok();
                if !step.fix.is_empty() {
                    writeln!(text, "Fix: {}", step.fix).ok();
                }
                if let Some(paste) = &step.paste {
                    writeln!(text, "\n    {}", paste.text).ok();
                }
            }
        }
        if self.failed().is_some() {
            for line in self.evidence("").trim_start().lines() {
                write!(text, "\n    {line}").ok();
            }
            text.push('\n');
        }
        text
    }

    /// Steps of which so many passed, in words.
    pub fn passed(steps: &[&StepReport]) -> String {
        let passed = steps
            .iter()
            .filter(|step| matches!(step.status, StepStatus::Pass | StepStatus::Warn))
            .count();
        format!(
            "{passed} of {} passed",
            number_of(steps.len() as u64, "steps")
        )
    }
}

impl StepReport {
    fn line(&self) -> String {
        let came = match (self.status, self.received.is_empty()) {
            (StepStatus::NotReached, _) => "not reached",
            (_, true) => "",
            _ => &self.received,
        };
        let took = self
            .took
            .map(|took| format!("  {}", milliseconds(took)))
            .unwrap_or_default();
        let line = format!("  {} {:<38} {came}{took}", self.status.mark(), self.title);
        format!("{}\n", line.trim_end())
    }

    fn detail(&self, indent: &str) -> String {
        let mut text = format!("{indent}{}\n", self.cause);
        if !self.fix.is_empty() {
            writeln!(text, "{indent}fix: {}", self.fix).ok();
        }
        if let Some(paste) = &self.paste {
            writeln!(text, "{indent}{}:", paste.place.words()).ok();
            writeln!(text, "{indent}  {}", paste.text).ok();
        }
        text
    }
}

impl StepStatus {
    fn mark(self) -> char {
        match self {
            Self::Pass => '✓',
            Self::Warn => '!',
            Self::Fail => '✗',
            Self::Running => '…',
            Self::NotReached => '·',
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Pass => "passed",
            Self::Warn => "passed, odd",
            Self::Fail => "failed",
            Self::Running => "running",
            Self::NotReached => "not reached",
        }
    }
}
