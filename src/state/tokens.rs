//! What is chosen about tokens: the tokenizer and its file, where they go, the whole server, money.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Dialog, Effect, PathPurpose, QueryState, Screen, State, TokensEffect};
use loupe_analysis::queries::{
    CountQuery, DefinitionPart, HostCountQuery, HostsQuery, Model, Prices, RowQuery,
};
use loupe_analysis::summary::{CountedRow, HostCost, ModelReads};
use loupe_core::capture::CaptureId;
use loupe_core::format::FORMATS;
use loupe_core::format::ledger::Row;
use loupe_core::host::ReadChoice;
use loupe_core::problem::Problem;
use loupe_core::token::{Count, Tokenizer, TokenizerFile};

/// What the drawer shows of where tokens go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokensView {
    /// The two formats whose difference is explained; `None` until chosen by hand.
    pub from: Option<&'static str>,
    pub to: Option<&'static str>,
    /// Which of the parts has the drawer where it is too narrow for both.
    pub part: TokensPart,
}

/// What costs are computed from.
#[derive(Clone, Debug)]
pub struct PriceTable {
    /// Loupe's own, and what the user's file adds or replaces.
    pub prices: Prices,
    /// Where the user's file is, or may be put.
    pub file: Option<PathBuf>,
    /// Why that file, or Loupe's own table, is not used.
    pub problem: Option<Problem>,
}

impl Default for PriceTable {
    fn default() -> Self {
        let (prices, problem) = match Prices::built_in() {
            Ok(prices) => (prices, None),
            Err(problem) => (Prices::default(), Some(problem)),
        };
        Self {
            prices,
            file: None,
            problem,
        }
    }
}

/// The parts of where tokens go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokensPart {
    #[default]
    ByKey,
    Saving,
}

/// What the list of definitions is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerColumn {
    /// The order in which the server lists them.
    Listed,
    Name,
    Part(DefinitionPart),
    Total,
}

impl ServerColumn {
    const NAMED: [(Self, &'static str); 10] = [
        (Self::Listed, "listed"),
        (Self::Name, "name"),
        (Self::Total, "total"),
        (Self::Part(DefinitionPart::Name), "part:name"),
        (Self::Part(DefinitionPart::Title), "part:title"),
        (Self::Part(DefinitionPart::Description), "part:description"),
        (Self::Part(DefinitionPart::InputSchema), "part:input-schema"),
        (
            Self::Part(DefinitionPart::OutputSchema),
            "part:output-schema",
        ),
        (Self::Part(DefinitionPart::Annotations), "part:annotations"),
        (Self::Part(DefinitionPart::Rest), "part:rest"),
    ];

    /// The word in the settings file.
    pub fn name(self) -> &'static str {
        Self::NAMED
            .iter()
            .find(|(column, _)| *column == self)
            .map_or("total", |(_, name)| name)
    }

    /// The column of that word.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(column, _)| *column)
    }
}

/// The screen of the whole server.
#[derive(Clone, Debug)]
pub struct ServerView {
    pub sort: ServerColumn,
    pub is_reversed: bool,
}

impl Default for ServerView {
    fn default() -> Self {
        Self {
            sort: ServerColumn::Total,
            is_reversed: false,
        }
    }
}

/// What the user does about tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum TokensAction {
    Use(Tokenizer),
    /// Read a tokenizer file and use it; `None` asks for its path.
    OpenFile(Option<PathBuf>),
    Part(TokensPart),
    /// Explain the difference between two formats.
    Saving {
        from: &'static str,
        to: &'static str,
    },
    ShowServer,
    /// Sort by a column; the same again turns the order round.
    Sort(ServerColumn),
    /// The model whose cost is shown; `None` ends it.
    Model(Option<String>),
}

impl State {
    pub(super) fn tokens(&mut self, action: TokensAction, effects: &mut Vec<Effect>) {
        match action {
            TokensAction::Use(tokenizer) => {
                self.settings.tokenizer = tokenizer;
            }
            TokensAction::OpenFile(Some(path)) => {
                self.dialog = None;
                self.saved_settings.opening = Some(path.clone());
                effects.push(Effect::Tokens(TokensEffect::Tokenizer(path)));
            }
            TokensAction::OpenFile(None) => {
                self.dialog = Some(Dialog::Path {
                    purpose: PathPurpose::OpenTokenizer,
                    text: String::new(),
                });
            }
            TokensAction::Part(part) => self.view.tokens.part = part,
            TokensAction::Saving { from, to } => {
                self.view.tokens.from = Some(from);
                self.view.tokens.to = Some(to);
            }
            TokensAction::ShowServer => {
                self.view.screen = Screen::Server;
            }
            TokensAction::Sort(column) => {
                let view = &mut self.server_view;
                view.is_reversed = view.sort == column && !view.is_reversed;
                view.sort = column;
            }
            TokensAction::Model(model) => self.settings.model = model,
        }
    }

    pub(super) fn tokenizer_read(&mut self, file: Arc<TokenizerFile>, effects: &mut Vec<Effect>) {
        self.toast(&format!(
            "Counting with {} ({}, SHA-256 {}…)",
            file.name,
            file.kind.title(),
            &file.sha256[..12]
        ));
        self.tokenizer_file = Some(Arc::clone(&file));
        self.saved_settings.tokenizer = self.saved_settings.opening.take();
        self.tokens(TokensAction::Use(Tokenizer::File(file)), effects);
    }

    /// A row's tokens by a tokenizer, where they are known; the problem where they cannot be counted.
    pub fn count_of(
        &self,
        capture: &CaptureId,
        row: &Row,
        tokenizer: &Tokenizer,
    ) -> Option<Result<Count, &Problem>> {
        if !row.is_available() {
            return None;
        }
        if let Some(count) = tokenizer.from_tokens(row.tokens) {
            return Some(Ok(count));
        }
        match self.query_results.get(
            capture,
            CountQuery {
                format: row.format,
                tokenizer: tokenizer.clone(),
            },
        )? {
            QueryState::Ready(count) => Some(Ok(*count)),
            QueryState::Failed(problem) => Some(Err(problem)),
            QueryState::Working { .. } | QueryState::NeedsConfirmation { .. } => None,
        }
    }

    /// Every row of a capture that is there, with its count by the tokenizer chosen.
    pub fn counted_rows(&self, capture: &CaptureId) -> Vec<CountedRow<'_>> {
        let row = |id| match self.query_results.get(capture, RowQuery(id))? {
            QueryState::Ready(row) => Some(&**row),
            _ => None,
        };
        let count = |row| {
            self.count_of(capture, row, &self.settings.tokenizer)
                .and_then(Result::ok)
        };
        FORMATS
            .iter()
            .filter_map(|format| row(format.id()))
            .map(|row| CountedRow {
                row,
                count: count(row),
                why: None,
            })
            .collect()
    }

    /// What the host that one views the result as sends of a capture; `None` until that is counted, nothing where no such
    /// host is chosen.
    pub fn model_reads(&self, capture: &CaptureId) -> Option<ModelReads<'_>> {
        let part = self.view.hosts.reads;
        let by_part = part.map_or(ModelReads::Most(&self.hosts), |part| {
            ModelReads::Part(part, &self.hosts)
        });
        let Some(host) = self.view.hosts.view_as else {
            return Some(by_part);
        };
        let row = match self.query_results.get(capture, HostsQuery)? {
            QueryState::Ready(report) => report.row(host),
            QueryState::Failed(_) => None,
            QueryState::Working { .. } | QueryState::NeedsConfirmation { .. } => return None,
        };
        let tokenizer = &self.settings.tokenizer;
        let Some(row) = row else { return Some(by_part) };
        let sent = HostCost::new(row, tokenizer);
        if sent.count.is_some() || row.tokens.is_none() {
            return Some(ModelReads::Host(sent));
        }
        match self.query_results.get(
            capture,
            HostCountQuery {
                host,
                tokenizer: tokenizer.clone(),
            },
        )? {
            QueryState::Ready(count) => Some(ModelReads::Host(HostCost {
                count: Some(*count),
                ..sent
            })),
            QueryState::Failed(_) => Some(ModelReads::Host(sent)),
            QueryState::Working { .. } | QueryState::NeedsConfirmation { .. } => None,
        }
    }

    /// What was chosen to compare by.
    pub fn read_choice(&self) -> ReadChoice {
        let part = self
            .view
            .hosts
            .reads
            .map_or(ReadChoice::Most, ReadChoice::Part);
        self.view.hosts.view_as.map_or(part, ReadChoice::Host)
    }

    /// The model whose cost is wanted.
    pub fn model(&self) -> Option<&Model> {
        self.prices.prices.get(self.settings.model.as_deref()?)
    }

    pub(super) fn prices_read(&mut self, read: Result<Prices, Problem>) {
        match read {
            Ok(prices) => self.prices.prices = std::mem::take(&mut self.prices.prices).with(prices),
            Err(problem) => self.prices.problem = Some(problem),
        }
    }

    /// What counts for a model; `None` where the file it needs is not open.
    pub fn tokenizer_of(&self, model: &Model) -> Option<Tokenizer> {
        let file = || {
            self.tokenizer_file
                .as_ref()
                .filter(|file| file.name == model.tokenizer)
        };
        model
            .tokenizer()
            .or_else(|| file().map(|file| Tokenizer::File(Arc::clone(file))))
    }
}
