//! The views of one capture: which are asked for, and their printing.

mod hosts;
mod ledger;
mod page;

use std::cell::LazyCell;
use std::path::Path;
use std::sync::Arc;

use super::args::{PrintArgs, ViewArgs};
use super::{Done, count_exactly, findings, output, suggest};
use crate::store;
use loupe_analysis::contract::{self, ExactCounts, LedgerOptions, TableKind, counted_table};
use loupe_analysis::finding::{AnswerFindings, FindingsQuery, RuleSettings, Severity, rules};
use loupe_analysis::queries::{
    self, Ctx, HostText, HostTextQuery, HostsReport, PlacementsQuery, Query, Repair, ReportDetail,
    RowCount, Stop,
};
use loupe_analysis::summary::{CountedRow, ModelReads};
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, Outcome, ReadText};
use loupe_core::format::format_bytes;
use loupe_core::format::ledger::Row;
use loupe_core::format::{self, FORMATS, Format, ParsedCapture};
use loupe_core::host::{HostId, Hosts, LimitState, Part, ReadChoice};
use loupe_core::number::grouped;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::{Encoding, MAX_FILE_BYTES, Tokenizer, TokenizerFile};

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
    Hosts,
    /// The data, sent in other ways.
    Placements,
    /// Exactly the text that this host's model is shown.
    Host(HostId),
    Definition,
    Findings,
    All,
}

const WORDS: &[(&str, Shown)] = &[
    ("ledger", Shown::Ledger),
    ("rendered", Shown::Rendered),
    ("tree", Shown::Tree),
    ("hosts", Shown::Hosts),
    ("placements", Shown::Placements),
    ("definition", Shown::Definition),
    ("findings", Shown::Findings),
    ("all", Shown::All),
];

/// `--read-text`.
pub fn read_text(given: Option<&str>) -> Result<ReadText, Problem> {
    given
        .map_or(Ok(ReadText::Auto), ReadText::parse)
        .map_err(|why| {
            Problem::new(ProblemKind::Usage, format!("`--read-text`: {why}")).hint(ReadText::hint())
        })
}

/// A view that was asked for, checked before anything is started for it.
#[derive(Clone)]
pub struct ViewRequest {
    hosts: Arc<Hosts>,
    shown: Shown,
    ledger: LedgerOptions,
    /// What one model reads.
    reads: ReadChoice,
    /// The model that Claude's provider is to count for.
    count_exactly: Option<String>,
    read_text: ReadText,
    rules: Arc<RuleSettings>,
    /// From which severity on a finding makes the exit status 1.
    fail_on: Option<Severity>,
    print: PrintArgs,
}

impl ViewRequest {
    /// `hosts` is read only where the view needs it: that takes as long as a small server does to start.
    pub fn read(args: &ViewArgs, hosts: impl Fn() -> Arc<Hosts>) -> Result<Self, Problem> {
        let hosts = LazyCell::new(hosts);
        let shown = match args.view.as_deref() {
            None => Shown::Ledger,
            Some(view) => match WORDS.iter().find(|(word, _)| *word == view) {
                Some(&(_, shown)) => shown,
                None => match view.strip_prefix("host:") {
                    Some(id) => Shown::Host(super::hosts::known(&hosts, id, "--view")?.id),
                    None => Shown::Format(known_format(view, "view")?),
                },
            },
        };
        let shown = args
            .table
            .as_deref()
            .map_or(Ok(shown), |kind| table(kind).map(Shown::Table))?;
        let baseline = args
            .baseline
            .as_deref()
            .map(|id| known_format(id, "format"))
            .transpose()?;
        let tokenizer = tokenizer(args.tokenizer.as_deref())?;
        let reads = super::hosts::read_choice(&hosts, args.sent_as.as_deref())?;
        let ledger = LedgerOptions {
            tokenizer,
            baseline: baseline.map(Format::id),
            exact: None,
        };
        let fail_on = args.rules.fail_on()?;
        if args.count_exactly.is_some() {
            count_exactly::check()?;
        }
        let is_bytes = matches!(shown, Shown::Format(_)) && !args.print.json && fail_on.is_none();
        let hosts = if is_bytes {
            Arc::default()
        } else {
            Arc::clone(&hosts)
        };
        let read_text = read_text(args.read_text.as_deref())?;
        let is_looked_for =
            matches!(shown, Shown::Findings | Shown::All) || args.print.json || fail_on.is_some();
        let rules = if is_looked_for {
            args.rules.settings()?.0
        } else {
            RuleSettings::default()
        };
        let count_exactly = args.count_exactly.clone();
        Ok(Self {
            hosts,
            shown,
            ledger,
            reads,
            count_exactly,
            read_text,
            rules: Arc::new(rules),
            fail_on,
            print: args.print,
        })
    }

    pub fn is_quiet(&self) -> bool {
        self.print.quiet
    }

    /// Prints the capture; the exit status is that of its outcome. An interrupt ends the computing: what there is by then
    /// is printed, and the status is that of an interrupt.
    pub fn print(&self, capture: Capture, cancel: &Cancel) -> Done {
        let subject = Arc::new(ParsedCapture::new(Arc::new(
            capture.read_as(&self.read_text),
        )));
        let failure = queries::failure(&subject);
        let status = match (&failure, subject.capture.outcome) {
            (Some(problem), _) => problem.kind.exit_status(),
            (None, Outcome::ToolError) => 1,
            (None, _) => 0,
        };
        let (exact, refused) = match self.exact(&subject) {
            Ok(exact) => (exact, None),
            Err(problem) => (None, Some(problem)),
        };
        let with_exact = Self {
            ledger: LedgerOptions {
                exact,
                ..self.ledger.clone()
            },
            ..self.clone()
        };
        let printed = with_exact.write(&subject, failure.as_ref(), cancel);
        if let (Ok(()), Some(refused)) = (&printed, refused) {
            return Err(refused);
        }
        if printed.is_ok() && cancel.is_cancelled() {
            let interrupted = Problem::interrupted();
            output::problem(&interrupted);
            return Ok(interrupted.kind.exit_status());
        }
        match (printed, &failure) {
            (Ok(()), None) => {}
            // What came first is the reason that the view is not there either.
            (
                Ok(())
                | Err(Problem {
                    kind: ProblemKind::Usage,
                    ..
                }),
                Some(problem),
            ) => output::problem(problem),
            (Err(problem), _) => return Err(problem),
        }
        if subject.capture.outcome == Outcome::ToolError {
            output::note(self.print.quiet, "the tool answered with `isError`");
        }
        if let Some(least) = self.fail_on.filter(|_| status == 0) {
            let worst = self
                .findings(&subject, cancel)?
                .findings
                .first()
                .map(|finding| finding.severity);
            return Ok(u8::from(worst.is_some_and(|worst| worst <= least)));
        }
        Ok(status)
    }

    /// The counts by Claude's provider, of the format shown or of all.
    fn exact(&self, subject: &ParsedCapture) -> Result<Option<ExactCounts>, Problem> {
        let Some(model) = &self.count_exactly else {
            return Ok(None);
        };
        let formats = match &self.shown {
            Shown::Format(format) => std::slice::from_ref(format),
            _ => FORMATS,
        };
        count_exactly::count(subject, formats, model).map(Some)
    }

    fn write(
        &self,
        subject: &Arc<ParsedCapture>,
        failure: Option<&Problem>,
        cancel: &Cancel,
    ) -> Result<(), Problem> {
        if self.print.json {
            let rows = Row::measure_all(subject, cancel);
            let counts = self.counts(subject, &rows, cancel);
            let hosts = HostsReport::so_far(subject, &self.hosts, ReportDetail::Figures, cancel);
            let cx = Ctx::new(std::slice::from_ref(subject), &self.hosts, cancel);
            let findings = FindingsQuery {
                settings: Arc::clone(&self.rules),
                reads: self.reads,
            }
            .find(&cx, Some(&hosts));
            let findings = match findings {
                Ok(found) => Some(found),
                Err(Stop::Cancelled(_)) => None,
                Err(Stop::Problem(problem)) => return Err(problem),
            };
            let interrupted = Problem::interrupted();
            let measured = contract::ReportParts {
                rows: &rows,
                counts: &counts,
                reads: ModelReads::new(
                    self.reads,
                    &self.hosts,
                    Some(&hosts),
                    &self.ledger.tokenizer,
                ),
                hosts: Some(&hosts),
                findings: findings.as_ref().map(|found| found.findings.as_slice()),
                failure,
                interrupted: Some(&interrupted),
            };
            return output::json_by(|out| {
                contract::write_report(out, subject, &measured, &self.ledger, cancel)
            });
        }
        let page = match self.shown {
            Shown::Format(format) => {
                let bytes = format_bytes(format, subject)?;
                for (_, tokens) in self.ledger.exact.iter().flat_map(|exact| &exact.tokens) {
                    output::note(
                        self.print.quiet,
                        &format!("{} tokens, counted by Claude's provider", grouped(*tokens)),
                    );
                }
                return output::bytes(&bytes);
            }
            Shown::Ledger => self.ledger_page(subject, cancel),
            Shown::Table(kind) => {
                let rows = Row::measure_all(subject, cancel);
                let counts = self.counts(subject, &rows, cancel);
                let counted = rows.iter().zip(&counts).map(|(row, count)| CountedRow {
                    row,
                    count: count.count,
                    why: count.why.as_deref(),
                });
                let counted: Vec<_> = counted.collect();
                let text = counted_table(
                    kind,
                    &counted,
                    self.ledger.baseline(&rows),
                    &self.ledger.tokenizer,
                );
                return output::page(&text);
            }
            Shown::Rendered => page::rendered(subject, cancel)?,
            Shown::Tree => page::tree(subject, cancel)?,
            Shown::Hosts => self.hosts_page(subject, cancel)?,
            Shown::Placements => self.placements_page(subject, cancel)?,
            Shown::Host(id) => {
                return self.print_host(&*self.get(subject, &HostTextQuery(id), cancel)?);
            }
            Shown::Definition => page::definition(subject)?,
            Shown::Findings => self.findings_page(subject, cancel)?,
            Shown::All => self.all(subject, cancel)?,
        };
        output::page(&page)
    }

    fn ledger_page(&self, subject: &ParsedCapture, cancel: &Cancel) -> String {
        let rows = Row::measure_all(subject, cancel);
        let counts = self.counts(subject, &rows, cancel);
        let exact = self
            .ledger
            .exact
            .as_ref()
            .map(count_exactly::page)
            .unwrap_or_default();
        let report = self
            .reads
            .host()
            .map(|_| HostsReport::so_far(subject, &self.hosts, ReportDetail::Figures, cancel));
        let tokenizer = Tokenizer::Encoding(
            self.ledger
                .tokenizer
                .encoding()
                .unwrap_or(Encoding::O200kBase),
        );
        let reads = ModelReads::new(self.reads, &self.hosts, report.as_ref(), &tokenizer);
        // Interrupted, there is none.
        let repair = Repair::new(subject, cancel).ok().flatten();
        let reads = (reads, repair.as_ref());
        ledger::page(subject, &rows, &counts, reads, &self.ledger) + &exact
    }

    /// The rows' counts by the tokenizer that was named.
    fn counts(&self, subject: &ParsedCapture, rows: &[Row], cancel: &Cancel) -> Vec<RowCount> {
        queries::count_rows(subject, rows, &self.ledger.tokenizer, cancel)
    }

    /// Every page that there is, each under its name; after an interrupt those that there were.
    fn all(&self, subject: &Arc<ParsedCapture>, cancel: &Cancel) -> Result<String, Problem> {
        let pages = [
            ("ledger", Ok(self.ledger_page(subject, cancel))),
            ("rendered", page::rendered(subject, cancel)),
            ("tree", page::tree(subject, cancel)),
            ("hosts", self.hosts_page(subject, cancel)),
            ("placements", self.placements_page(subject, cancel)),
            ("definition", page::definition(subject)),
            ("findings", self.findings_page(subject, cancel)),
        ];
        let mut all = String::new();
        for (name, page) in pages {
            let text = match page {
                Ok(text) => text,
                Err(problem) if problem.kind == ProblemKind::Cancelled => continue,
                Err(problem) if problem.kind == ProblemKind::Usage => {
                    format!("not there: {}\n", problem.what)
                }
                Err(problem) => return Err(problem),
            };
            if !all.is_empty() {
                all.push('\n');
            }
            all.push_str(&format!(
                "── {name} {}\n\n{text}",
                "─".repeat(60 - name.len())
            ));
        }
        Ok(all)
    }
}

impl ViewRequest {
    fn get<Q: Query>(
        &self,
        subject: &Arc<ParsedCapture>,
        query: &Q,
        cancel: &Cancel,
    ) -> Result<Q::Out, Problem> {
        Ctx::new(std::slice::from_ref(subject), &self.hosts, cancel)
            .get(query)
            .map_err(|_| Problem::interrupted())?
    }

    fn findings(
        &self,
        subject: &Arc<ParsedCapture>,
        cancel: &Cancel,
    ) -> Result<Arc<AnswerFindings>, Problem> {
        self.get(
            subject,
            &FindingsQuery {
                settings: Arc::clone(&self.rules),
                reads: self.reads,
            },
            cancel,
        )
    }

    fn findings_page(
        &self,
        subject: &Arc<ParsedCapture>,
        cancel: &Cancel,
    ) -> Result<String, Problem> {
        let found = self.findings(subject, cancel)?;
        if found.findings.is_empty() {
            return Ok(format!("no findings in {} checks\n", rules().count()));
        }
        Ok(findings::page(
            found.findings.iter().map(|finding| (finding, None)),
        ))
    }

    /// The encoding of numbers that only the two that are always counted have.
    fn encoding(&self) -> Encoding {
        self.ledger
            .tokenizer
            .encoding()
            .unwrap_or(Encoding::O200kBase)
    }

    fn hosts_page(&self, subject: &Arc<ParsedCapture>, cancel: &Cancel) -> Result<String, Problem> {
        if subject.response.result().is_none() {
            return Err(Problem::new(
                ProblemKind::Usage,
                "no result in this answer, so no host shows one",
            )
            .at("--view"));
        }
        let report = HostsReport::so_far(subject, &self.hosts, ReportDetail::Fields, cancel);
        Ok(hosts::page(&report, self.encoding()))
    }

    fn placements_page(
        &self,
        subject: &Arc<ParsedCapture>,
        cancel: &Cancel,
    ) -> Result<String, Problem> {
        match self.get(subject, &PlacementsQuery, cancel)? {
            Some(placements) => Ok(hosts::placements(&placements, self.encoding())),
            None => Err(Problem::new(
                ProblemKind::Usage,
                "no data in this answer that could be sent another way",
            )
            .at("--view")),
        }
    }

    /// Exactly the text; what there is to say about it goes elsewhere.
    fn print_host(&self, text: &HostText) -> Result<(), Problem> {
        if let Some(why) = &text.view.not_computable {
            return Err(Problem::new(ProblemKind::Usage, why.clone()).at(text.host.name.clone()));
        }
        output::bytes(text.view.text.as_bytes())?;
        output::note(self.print.quiet, &queries::evidence_text(&text.host));
        let limit = &text.view.limit;
        if !matches!(limit.state, LimitState::None | LimitState::Fits) {
            output::note(
                self.print.quiet,
                &format!("limit: {}", queries::limit_text(&text.view)),
            );
        }
        let media = text
            .view
            .parts
            .iter()
            .filter(|part| matches!(part, Part::Media { .. }))
            .count();
        if media > 0 {
            output::note(
                self.print.quiet,
                &format!("media that are passed on beside the text: {media}"),
            );
        }
        Ok(())
    }
}

/// The tokenizer named, the file at this path, or the default.
pub fn tokenizer(name: Option<&str>) -> Result<Tokenizer, Problem> {
    let Some(name) = name else {
        return Ok(Tokenizer::default());
    };
    if let Some(tokenizer) = Tokenizer::named(name) {
        return Ok(tokenizer);
    }
    let path = Path::new(name);
    if !path.exists() {
        let hint = suggest::hint(name, Tokenizer::NAMES.iter().copied()).unwrap_or_else(|| {
            format!(
                "one of {}, or a tokenizer file",
                Tokenizer::NAMES.join(", ")
            )
        });
        return Err(Problem::new(
            ProblemKind::Usage,
            format!("unknown tokenizer `{name}`, and no such file"),
        )
        .at("--tokenizer")
        .hint(hint));
    }
    let cannot = |error: std::io::Error| {
        Problem::new(
            ProblemKind::Io,
            format!("cannot read the tokenizer file: {error}"),
        )
        .at(name)
    };
    let bytes = store::file_bytes(path, MAX_FILE_BYTES as u64).map_err(cannot)?;
    let file = path.file_name().map_or_else(
        || name.to_owned(),
        |file| file.to_string_lossy().into_owned(),
    );
    TokenizerFile::read(&file, &bytes).map(|file| Tokenizer::File(Arc::new(file)))
}

/// The same where only the encodings that are always counted are of use.
pub fn encoding(name: Option<&str>) -> Result<Encoding, Problem> {
    tokenizer(name)?.encoding().ok_or_else(|| {
        let names = Encoding::ALL
            .iter()
            .map(|encoding| encoding.name())
            .collect::<Vec<_>>()
            .join(" and ");
        Problem::new(
            ProblemKind::Usage,
            format!("this command counts with {names} only"),
        )
        .at("--tokenizer")
    })
}

/// The kind of table with this word.
pub fn table(name: &str) -> Result<TableKind, Problem> {
    TableKind::ALL
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| {
            Problem::new(
                ProblemKind::Usage,
                format!("unknown kind of table `{name}`"),
            )
            .at("--as")
            .hint("one of markdown, csv")
        })
}

fn known_format(id: &str, what: &str) -> Result<&'static dyn Format, Problem> {
    if let Some(format) = format::by_id(id) {
        return Ok(format);
    }
    let words = WORDS
        .iter()
        .map(|(word, _)| *word)
        .filter(|_| what == "view");
    let known = words.chain(FORMATS.iter().map(|format| format.id()));
    let hint = suggest::hint(id, known)
        .unwrap_or_else(|| "`mcp-loupe formats` lists the formats".to_owned());
    Err(
        Problem::new(ProblemKind::Usage, format!("unknown {what} `{id}`"))
            .at(if what == "view" {
                "--view"
            } else {
                "--baseline"
            })
            .hint(hint),
    )
}
