//! The questions that the start page asks, one click each.

use super::{DrawerTab, PaneView};

/// The cards of the start page that work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartQuestion {
    /// "Markdown or JSON?"
    MarkdownOrJson,
    /// "What does each host's model see?"
    HostViews,
    /// "Does my text match my data?"
    TextMatchesData,
    /// "What do hostile records break?"
    HostileRecords,
}

impl StartQuestion {
    pub const ALL: &'static [StartQuestion] = &[
        StartQuestion::MarkdownOrJson,
        StartQuestion::HostViews,
        StartQuestion::TextMatchesData,
        StartQuestion::HostileRecords,
    ];

    pub fn title(self) -> &'static str {
        match self {
            StartQuestion::MarkdownOrJson => "Markdown or JSON?",
            StartQuestion::HostViews => "What does each host's model see?",
            StartQuestion::TextMatchesData => "Does my text match my data?",
            StartQuestion::HostileRecords => "What do hostile records break?",
        }
    }

    /// What a click does, in one line.
    pub fn explanation(self) -> &'static str {
        match self {
            StartQuestion::HostViews => {
                "Calls dual_search_companies on the sample: one result as each known host shows it to its model, and where it is cut."
            }
            StartQuestion::MarkdownOrJson => {
                "Calls strict_search_companies on the sample twice, once for JSON and once for Markdown: what each costs, and what it leaves out. 2 read-only calls."
            }
            StartQuestion::TextMatchesData => {
                "Calls dual_search_companies on the sample: its Markdown text and its structuredContent should say the same."
            }
            StartQuestion::HostileRecords => {
                "Calls strict_search_companies on the sample with pipes, fences, markup and invisible characters in its records: which formats do not give them back."
            }
        }
    }

    /// The tab of the drawer that answers it.
    pub fn drawer(self) -> DrawerTab {
        match self {
            StartQuestion::HostViews => DrawerTab::Hosts,
            StartQuestion::MarkdownOrJson
            | StartQuestion::TextMatchesData
            | StartQuestion::HostileRecords => DrawerTab::Cost,
        }
    }

    /// What the panes show of its result: where records break is seen in a format that they break.
    pub fn panes(self) -> [PaneView; 3] {
        match self {
            StartQuestion::HostileRecords => [
                PaneView::Rendered("markdown-table"),
                PaneView::Text("markdown-table"),
                PaneView::Tree,
            ],
            _ => PaneView::FIRST,
        }
    }

    pub fn tool(self) -> &'static str {
        match self {
            StartQuestion::HostViews | StartQuestion::TextMatchesData => "dual_search_companies",
            StartQuestion::MarkdownOrJson | StartQuestion::HostileRecords => {
                "strict_search_companies"
            }
        }
    }
}
