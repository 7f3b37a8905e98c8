//! The views of one capture: which are asked for, and their printing.

mod ledger;
mod page;

use std::sync::Arc;

use super::args::{Print, View};
use super::{Done, client, later, near, output};
use crate::cancel::{Cancel, Cancelled};
use crate::capture::{Capture, Outcome};
use crate::format::ledger::Row;
use crate::format::{self, FORMATS, Format, Subject};
use crate::problem::{Kind, Problem};
use crate::report::json::{self, LedgerOptions};
use crate::report::{self, TableKind, format_bytes, ledger_table};
use crate::token::Encoding;

/// What to print of a capture.
#[derive(Clone, Copy)]
enum Shown {
    Ledger,
    /// The ledger to paste elsewhere.
    Table(TableKind),
    /// Exactly its bytes.
    Format(&'static dyn Format),
    Rendered,
    Tree,
    Definition,
    All,
}

const WORDS: &[(&str, Shown)] = &[
    ("ledger", Shown::Ledger),
    ("rendered", Shown::Rendered),
    ("tree", Shown::Tree),
    ("definition", Shown::Definition),
    ("all", Shown::All),
];

/// A view that was asked for, checked before anything is started for it.
#[derive(Clone, Copy)]
pub struct Asked {
    shown: Shown,
    ledger: LedgerOptions,
    print: Print,
}

impl Asked {
    pub fn read(args: &View) -> Result<Self, Problem> {
        let shown = match args.view.as_deref() {
            None => Shown::Ledger,
            Some(view) => match WORDS.iter().find(|(word, _)| *word == view) {
                Some(&(_, shown)) => shown,
                None => Shown::Format(known_format(view, "view")?),
            },
        };
        let shown = args.table.as_deref().map_or(Ok(shown), |kind| table(kind).map(Shown::Table))?;
        let baseline = args.baseline.as_deref().map(|id| known_format(id, "format")).transpose()?;
        let ledger = LedgerOptions { tokenizer: encoding(args.tokenizer.as_deref())?, baseline: baseline.map(Format::id) };
        Ok(Self { shown, ledger, print: args.print })
    }

    /// The ledger with its defaults, as the window's stand-in prints it.
    pub fn ledger(quiet: bool) -> Self {
        let ledger = LedgerOptions { tokenizer: Encoding::O200kBase, baseline: None };
        Self { shown: Shown::Ledger, ledger, print: Print { json: false, quiet } }
    }

    pub fn is_quiet(&self) -> bool {
        self.print.quiet
    }

    /// Prints the capture; the exit status is that of its outcome.
    pub fn print(&self, capture: Capture, cancel: &Cancel) -> Done {
        let subject = report::subject(Arc::new(capture));
        let failure = json::failure(&subject);
        let status = match (&failure, subject.capture.outcome) {
            (Some(problem), _) => problem.kind.exit_status(),
            (None, Outcome::ToolError) => 1,
            (None, _) => 0,
        };
        let printed = self.write(&subject, failure.as_ref(), cancel);
        match (printed, &failure) {
            (Ok(()), None) => {}
            // What came first is the reason that the view is not there either.
            (Ok(()) | Err(Problem { kind: Kind::Usage, .. }), Some(problem)) => output::problem(problem),
            (Err(problem), _) => return Err(problem),
        }
        if subject.capture.outcome == Outcome::ToolError {
            output::note(self.print.quiet, "the tool answered with `isError`");
        }
        Ok(status)
    }

    fn write(&self, subject: &Arc<Subject>, failure: Option<&Problem>, cancel: &Cancel) -> Result<(), Problem> {
        let interrupted = |_: Cancelled| client::interrupted();
        if self.print.json {
            let rows = rows(subject, cancel)?;
            let text = json::report(subject, &rows, self.ledger, failure, cancel).map_err(interrupted)?;
            return output::print(text.as_bytes());
        }
        let page = match self.shown {
            Shown::Format(format) => {
                let bytes = format_bytes(format, subject, cancel).map_err(interrupted)??;
                return output::print(&bytes);
            }
            Shown::Ledger => ledger::page(subject, &rows(subject, cancel)?, self.ledger),
            Shown::Table(kind) => {
                let rows = rows(subject, cancel)?;
                let baseline = self.ledger.baseline(&rows);
                ledger_table(kind, &rows.iter().collect::<Vec<_>>(), baseline, self.ledger.tokenizer)
            }
            Shown::Rendered => page::rendered(subject, cancel)?,
            Shown::Tree => page::tree(subject, cancel)?,
            Shown::Definition => page::definition(subject, cancel)?,
            Shown::All => self.all(subject, cancel)?,
        };
        output::print(page.as_bytes())
    }

    /// Every page that there is, each under its name.
    fn all(&self, subject: &Arc<Subject>, cancel: &Cancel) -> Result<String, Problem> {
        let pages = [
            ("ledger", Ok(ledger::page(subject, &rows(subject, cancel)?, self.ledger))),
            ("rendered", page::rendered(subject, cancel)),
            ("tree", page::tree(subject, cancel)),
            ("definition", page::definition(subject, cancel)),
        ];
        let mut all = String::new();
        for (name, page) in pages {
            let text = match page {
                Ok(text) => text,
                Err(problem) if problem.kind == Kind::Usage => format!("not there: {}\n", problem.what),
                Err(problem) => return Err(problem),
            };
            if !all.is_empty() {
                all.push('\n');
            }
            all.push_str(&format!("── {name} {}\n\n{text}", "─".repeat(60 - name.len())));
        }
        Ok(all)
    }
}

/// The tokenizer named, or the default.
pub fn encoding(name: Option<&str>) -> Result<Encoding, Problem> {
    let Some(name) = name else { return Ok(Encoding::O200kBase) };
    Encoding::parse(name).ok_or_else(|| {
        let names: Vec<&str> = Encoding::ALL.iter().map(|encoding| encoding.name()).collect();
        Problem::new(Kind::Usage, format!("unknown tokenizer `{name}`"))
            .at("--tokenizer")
            .hint(format!("one of {}; tokenizer files are not available yet", names.join(", ")))
    })
}

fn table(name: &str) -> Result<TableKind, Problem> {
    TableKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        Problem::new(Kind::Usage, format!("unknown kind of table `{name}`")).at("--as").hint("one of markdown, csv")
    })
}

fn known_format(id: &str, what: &str) -> Result<&'static dyn Format, Problem> {
    if let Some(format) = format::by_id(id) {
        return Ok(format);
    }
    if let Some(problem) = later::view(id).filter(|_| what == "view") {
        return Err(problem);
    }
    let words = WORDS.iter().map(|(word, _)| *word).filter(|_| what == "view");
    let known = words.chain(FORMATS.iter().map(|format| format.id()));
    let hint = near::hint(id, known).unwrap_or_else(|| "`mcp-loupe formats` lists the formats".to_owned());
    Err(Problem::new(Kind::Usage, format!("unknown {what} `{id}`"))
        .at(if what == "view" { "--view" } else { "--baseline" })
        .hint(hint))
}

fn rows(subject: &Subject, cancel: &Cancel) -> Result<Vec<Row>, Problem> {
    let measured: Result<_, Cancelled> = FORMATS.iter().map(|format| Row::measure(*format, subject, cancel)).collect();
    measured.map_err(|_| client::interrupted())
}
