//! What the user chose, as plain data; `state::kept` says which of it outlasts the run.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::token::{Encoding, Tokenizer};

#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Theme {
    /// As the system says.
    #[default]
    System,
    Dark,
    Light,
}

impl Theme {
    /// System, dark, light, and round again.
    pub fn next(self) -> Self {
        match self {
            Self::System => Self::Dark,
            Self::Dark => Self::Light,
            Self::Light => Self::System,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub theme: Theme,
    /// The tokenizer of ratios and of every number shown alone.
    pub tokenizer: Tokenizer,
    /// Format id that ratios are against; `None` is what is sent.
    pub baseline: Option<&'static str>,
    /// Whether long lines of the text pane wrap.
    pub wrap: bool,
    /// Whether nothing turns or slides while something is waited for.
    pub reduce_motion: bool,
    /// Whether text and borders stand out more from their ground.
    pub more_contrast: bool,
    /// Whether the ledger shows bytes and characters.
    pub ledger_sizes: bool,
    /// How large everything is, in percent.
    pub zoom: u16,
    pub waits: TimeLimits,
    pub sidebar_open: bool,
    pub drawer_open: bool,
    /// Sizes that panels were given by hand.
    pub panels: Panels,
    /// The model whose price and context are shown, by name; `None` while nobody wants money.
    pub model: Option<String>,
}

/// How long is waited at most, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    pub connect: u32,
    pub call: u32,
}

impl TimeLimits {
    /// What makes sense: up to a day.
    pub const RANGE: std::ops::RangeInclusive<u32> = 1..=86_400;

    pub fn connect(self) -> Duration {
        Duration::from_secs(self.connect.into())
    }

    pub fn call(self) -> Duration {
        Duration::from_secs(self.call.into())
    }
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            connect: 90,
            call: 60,
        }
    }
}

/// Sizes that panels were given by hand, in points; `None` where nobody did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Panels {
    pub sidebar: Option<u16>,
    /// The list of captures in the sidebar.
    pub captures: Option<u16>,
    pub drawer: Option<u16>,
    /// How the three panes share their room, in parts of any size.
    pub panes: Option<[u16; 3]>,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelSize {
    Sidebar(u16),
    Captures(u16),
    Drawer(u16),
    Panes([u16; 3]),
}

impl Panels {
    pub fn set(&mut self, size: PanelSize) {
        match size {
            PanelSize::Sidebar(points) => self.sidebar = Some(points),
            PanelSize::Captures(points) => self.captures = Some(points),
            PanelSize::Drawer(points) => self.drawer = Some(points),
            PanelSize::Panes(shares) => self.panes = Some(shares),
        }
    }
}

/// What was changed, by the path of its keys; `None` takes a key away.
pub type Changes = BTreeMap<Vec<String>, Option<toml::Value>>;

impl Theme {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The word in the settings file.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The theme of that word.
    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

impl Settings {
    /// The sizes in percent that make sense.
    pub const ZOOM: std::ops::RangeInclusive<u16> = 50..=300;

    /// The encoding of what is counted in the built-in ones alone: tree, definitions, selections.
    pub fn encoding(&self) -> Encoding {
        self.tokenizer.nearest_encoding()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::System,
            tokenizer: Tokenizer::default(),
            baseline: None,
            wrap: true,
            reduce_motion: false,
            more_contrast: false,
            ledger_sizes: false,
            zoom: 100,
            waits: TimeLimits::default(),
            sidebar_open: true,
            drawer_open: true,
            panels: Panels::default(),
            model: None,
        }
    }
}
