//! The window's glue to the system: owns the state and the engine, carries events in and actions out.
//!
//! Decides nothing: what a click means is `state`'s, what it takes is `engine`'s, how it looks is `ui`'s. Four effects
//! end here, since only the window can carry them out: pictures, the clipboard, the browser, the end.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use chrono::DateTime;
use eframe::egui;
use time::{OffsetDateTime, UtcOffset};

use crate::engine::Engine;
use crate::state::settings::window_size;
use crate::state::{
    Action, AppEffect, ConnectAction, Effect, Event, ExportEvent, ExportPicture, FindingsAction,
    HistoryAction, LocalTime, ServersAction, SettingsAction, State,
};
use crate::{shot, store, ui};
use loupe_core::host::Hosts;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::settings::Theme;
use loupe_core::source::{Source, is_web};

/// What a [`Problem`] says where there is no display to open a window on; the command line then answers in the terminal.
pub const NO_DISPLAY: &str = "there is no display to open a window on";

/// The size of a pane's picture, in points.
const PANE: (u32, u32) = (900, 1000);

/// How often the time shown moves on while something runs.
const TICK: Duration = Duration::from_millis(100);

/// Opens the window and returns when it is closed. Without a source it is connected to the sample server. The user's own
/// files (hosts, prices) are read from `data_dir`, or from the folder for settings.
///
/// # Errors
/// [`NO_DISPLAY`], or why the window or the engine could not start.
pub fn run(source: Option<Source>, data_dir: Option<&Path>) -> Result<(), Problem> {
    let hosts = store::load_hosts(data_dir);
    let folder = data_dir.map(Path::to_owned).or_else(store::settings_folder);
    let (table, unread) = match folder.as_deref().map(store::read_settings).transpose() {
        Ok(table) => (table.unwrap_or_default(), None),
        Err(problem) => (toml::Table::new(), Some(problem)),
    };
    let size = window_size(&table).unwrap_or([1600.0, 1000.0]);
    let kept = data_dir.map(Path::to_owned).or_else(store::data_folder);
    if !has_display(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())) {
        return Err(Problem::new(ProblemKind::NotFound, NO_DISPLAY).hint(
            "set DISPLAY or WAYLAND_DISPLAY, or use a subcommand such as `tools` or `call`",
        ));
    }
    let icon = eframe::icon_data::from_png_bytes(include_bytes!("../assets/icon/mcp-loupe.png"))
        .map_err(|error| {
            Problem::new(
                ProblemKind::Internal,
                format!("the icon cannot be read: {error}"),
            )
        })?;
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("Loupe")
            // The name of the desktop entry, by which desktops find the icon.
            .with_app_id("mcp-loupe")
            .with_icon(icon)
            .with_inner_size(size)
            .with_min_inner_size([640.0, 520.0]),
        persist_window: false,
        // Only shadows shade off, and without a graphics card every pixel of every frame would pay for it.
        dithering: false,
        ..Default::default()
    };
    // Outlives the window, which is gone while the engine still ends sessions and keeps the last answers.
    let engine = OnceCell::new();
    let held = &engine;
    let create: eframe::AppCreator<'_> = Box::new(move |cc| {
        // First, since they say how to connect.
        let settings = folder
            .clone()
            .map(|folder| SettingsAction::UseSettings { folder, table }.into());
        let starts_in = std::env::current_dir()
            .ok()
            .map(|here| ServersAction::StartIn(here).into());
        let (rules, misread) = match std::env::current_dir()
            .ok()
            .map(|here| store::nearest_file(&here, "loupe.toml"))
        {
            Some(Ok(rules)) => (
                rules.map(|(file, text)| FindingsAction::UseRules { file, text }.into()),
                None,
            ),
            Some(Err(problem)) => (None, Some(problem)),
            None => (None, None),
        };
        let settings = settings.into_iter().chain(starts_in).chain(rules).collect();
        let mut app = App::start(cc, source, None, settings)?;
        app.state.local_time = LocalTime(here);
        app.state.began_at = Some(OffsetDateTime::now_utc());
        if let Some(folder) = folder {
            app.perform(&cc.egui_ctx, vec![SettingsAction::UseFolder(folder).into()]);
        }
        for problem in unread.into_iter().chain(misread) {
            app.state.apply(Event::Problem(problem), &mut Vec::new());
        }
        app.perform(
            &cc.egui_ctx,
            kept.into_iter()
                .map(|folder| Action::History(HistoryAction::Use(folder)))
                .collect(),
        );
        app.use_hosts(&hosts);
        held.get_or_init(|| Rc::clone(&app.engine));
        Ok(Box::new(app))
    });
    eframe::run_native("mcp-loupe", options, create).map_err(|error| match error {
        eframe::Error::Winit(_) | eframe::Error::WinitEventLoop(_) => {
            Problem::new(ProblemKind::NotFound, NO_DISPLAY).at(error.to_string())
        }
        eframe::Error::AppCreation(inner) => match inner.downcast::<Problem>() {
            Ok(problem) => *problem,
            Err(other) => Problem::new(ProblemKind::Internal, other.to_string()),
        },
        other => Problem::new(ProblemKind::Internal, "the window could not be opened")
            .at(other.to_string())
            .hint("OpenGL 2 or later is needed; LIBGL_ALWAYS_SOFTWARE=1 draws without a graphics card"),
    })
}

/// A time as the clocks on this computer show it; UTC where the system does not say.
fn here(at: OffsetDateTime) -> OffsetDateTime {
    let seconds = DateTime::from_timestamp(at.unix_timestamp(), 0).map_or(0, |utc| {
        utc.with_timezone(&chrono::Local).offset().local_minus_utc()
    });
    UtcOffset::from_whole_seconds(seconds).map_or(at, |offset| at.to_offset(offset))
}

/// Asked before the toolkit is, since it would otherwise search for libraries first.
fn has_display(is_set: impl Fn(&str) -> bool) -> bool {
    let needs_variable = cfg!(all(
        unix,
        not(target_os = "macos"),
        not(target_os = "android")
    ));
    !needs_variable
        || ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
            .into_iter()
            .any(is_set)
}

/// What came of painting a picture.
enum Painted {
    Event(Event),
    /// To be put into the clipboard.
    Copy(egui::ColorImage),
}

/// The state, the engine, and the clock between them.
pub struct App {
    pub state: State,
    engine: Rc<Engine>,
    started: Instant,
    /// The window's size that was told last.
    window: Option<egui::Vec2>,
    /// How large everything was told to be, in percent.
    zoom: u16,
    /// What came of pictures, which are painted on threads of their own.
    painted: (Sender<Painted>, Receiver<Painted>),
}

impl App {
    /// Starts the engine and connects. Needs a context and nothing else of the window, so that tests can drive it.
    ///
    /// # Errors
    /// Why the engine could not start.
    pub fn new(cc: &eframe::CreationContext<'_>, source: Option<Source>) -> Result<Self, Problem> {
        Self::with_guard(cc, source, None)
    }

    /// As [`App::new`], with the program that guards child processes; for tests, whose own binary is no Loupe.
    ///
    /// # Errors
    /// Why the engine could not start.
    pub fn with_guard(
        cc: &eframe::CreationContext<'_>,
        source: Option<Source>,
        guard: Option<PathBuf>,
    ) -> Result<Self, Problem> {
        Self::start(cc, source, guard, Vec::new())
    }

    fn start(
        cc: &eframe::CreationContext<'_>,
        source: Option<Source>,
        guard: Option<PathBuf>,
        settings: Vec<Action>,
    ) -> Result<Self, Problem> {
        let ctx = &cc.egui_ctx;
        ui::theme::install(ctx);
        ctx.add_plugin(OnlyWebLinks);
        ctx.add_plugin(ui::Composition::default());
        let wake = {
            let ctx = ctx.clone();
            Arc::new(move || ctx.request_repaint())
        };
        let mut app = Self {
            state: State::default(),
            engine: Rc::new(Engine::with_guard(wake, guard)?),
            started: Instant::now(),
            window: None,
            zoom: 100,
            painted: channel(),
        };
        let connect = Action::from(ConnectAction::Connect(Box::new(
            source.unwrap_or_else(Source::sample),
        )));
        app.perform(ctx, settings.into_iter().chain([connect]).collect());
        Ok(app)
    }

    /// From here on questions about hosts are about these; what is wrong with a user's own file is shown.
    pub fn use_hosts(&mut self, hosts: &Arc<Hosts>) {
        self.engine.use_hosts(Arc::clone(hosts));
        let mut effects = Vec::new();
        for problem in &hosts.problems {
            self.state
                .apply(Event::Problem(problem.clone()), &mut effects);
        }
    }

    /// Changes the state as the actions say, and sees to what follows from them.
    pub fn perform(&mut self, ctx: &egui::Context, actions: Vec<Action>) {
        let mut effects = Vec::new();
        for action in actions {
            self.state.perform(action, &mut effects);
        }
        self.state.keep(&mut effects);
        self.carry_out(ctx, effects);
    }

    fn carry_out(&self, ctx: &egui::Context, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::App(AppEffect::CopyText(text)) => ctx.copy_text(text),
                Effect::App(AppEffect::OpenUrl(url)) => ctx.open_url(egui::OpenUrl::new_tab(url)),
                Effect::App(AppEffect::Paint {
                    picture,
                    theme,
                    path,
                }) => self.paint(ctx, picture, theme, path),
                Effect::App(AppEffect::CopyRegion(region)) => self.copy_region(ctx, region),
                Effect::App(AppEffect::Quit) => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
                other => self.engine.execute(other),
            }
        }
    }
}

impl App {
    /// Keeps the size of everything in step: what the settings say is used, what the keys changed becomes the setting.
    fn zoom(&mut self, ctx: &egui::Context) -> Option<SettingsAction> {
        let wanted = self.state.settings.zoom;
        if self.zoom != wanted {
            ctx.set_zoom_factor(f32::from(wanted) / 100.0);
            self.zoom = wanted;
            return None;
        }
        // A size that the keys lead to is a few hundred percent at most.
        let now = (ctx.zoom_factor() * 100.0).round() as u16;
        (now != wanted).then(|| {
            self.zoom = now;
            SettingsAction::SetZoom(now)
        })
    }

    /// A part of the window, once it is painted the next time.
    fn copy_region(&self, ctx: &egui::Context, [left, top, right, bottom]: [f32; 4]) {
        let (sink, scale, again) = (self.painted.0.clone(), ctx.pixels_per_point(), ctx.clone());
        let region = egui::Rect::from_min_max(egui::pos2(left, top), egui::pos2(right, bottom));
        ctx.request_screenshot(move |window| {
            // Nobody listens once the window is closed.
            sink.send(Painted::Copy(window.region(&region, Some(scale))))
                .ok();
            again.request_repaint();
        });
    }

    /// Paints without the window's own context, for a file or the clipboard; the window goes on meanwhile.
    fn paint(
        &self,
        ctx: &egui::Context,
        picture: ExportPicture,
        theme: Theme,
        path: Option<PathBuf>,
    ) {
        let (sink, ctx) = (self.painted.0.clone(), ctx.clone());
        thread::spawn(move || {
            let painted = match picture {
                ExportPicture::Drawing(drawing) => Ok(shot::draw(&drawing, theme)),
                ExportPicture::Pane { capture, shows } => shot::pane(capture, shows, theme, PANE),
            };
            let done = painted.and_then(|picture| match path {
                Some(path) => {
                    store::write_whole(&path, &shot::png(&picture)?)?;
                    Ok(Painted::Event(Event::Export(ExportEvent::Saved(path))))
                }
                None => {
                    let size = [picture.width() as usize, picture.height() as usize];
                    Ok(Painted::Copy(egui::ColorImage::from_rgba_unmultiplied(
                        size,
                        picture.as_raw(),
                    )))
                }
            });
            // Nobody listens once the window is closed.
            sink.send(done.unwrap_or_else(|problem| Painted::Event(Event::Problem(problem))))
                .ok();
            ctx.request_repaint();
        });
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.state.tick(self.started.elapsed());
        let mut effects = Vec::new();
        while let Some(event) = self.engine.try_event() {
            self.state.apply(event, &mut effects);
        }
        while let Ok(painted) = self.painted.1.try_recv() {
            let event = match painted {
                Painted::Event(event) => event,
                Painted::Copy(picture) => {
                    ctx.copy_image(picture);
                    Event::Export(ExportEvent::PictureCopied)
                }
            };
            self.state.apply(event, &mut effects);
        }
        self.state.keep(&mut effects);
        self.carry_out(ctx, effects);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        set_theme(ui, self.state.settings.theme);
        let zoom = self.zoom(ui);
        let cx = ui::Cx::new(&self.state);
        zoom.into_iter().for_each(|zoom| cx.send(zoom));
        ui::window(ui, &cx);
        // While a size is being dragged it changes with every frame, and only the last one is worth keeping.
        let is_dragged = ui.input(|input| input.pointer.any_down());
        let size = ui
            .input(|input| input.viewport().inner_rect)
            .filter(|_| !is_dragged)
            .map(|rect| rect.size());
        if let Some(size) = size.filter(|size| self.window != Some(*size)) {
            self.window = Some(size);
            cx.send(SettingsAction::KeepWindow([size.x, size.y]));
        }
        let actions = cx.into_actions();
        // What the user did shows at once; what panes ask for shows when its answer wakes the window.
        if actions
            .iter()
            .any(|action| !matches!(action, Action::Want(_)))
        {
            ui.request_repaint();
        }
        let ctx = ui.ctx().clone();
        self.perform(&ctx, actions);
        if self.state.is_waiting() {
            ctx.request_repaint_after(TICK);
        }
    }
}

fn set_theme(ctx: &egui::Context, theme: Theme) {
    let wanted = match theme {
        Theme::System => egui::ThemePreference::System,
        Theme::Dark => egui::ThemePreference::Dark,
        Theme::Light => egui::ThemePreference::Light,
    };
    if ctx.options(|options| options.theme_preference) != wanted {
        ctx.set_theme(wanted);
    }
}

/// Lets only web links out, whoever asks: an answer's Markdown is not to open files or run handlers.
struct OnlyWebLinks;

impl egui::Plugin for OnlyWebLinks {
    fn debug_name(&self) -> &'static str {
        "only web links"
    }

    fn output_hook(&mut self, _ctx: &egui::Context, output: &mut egui::FullOutput) {
        output
            .platform_output
            .commands
            .retain(|command| match command {
                egui::OutputCommand::OpenUrl(open) => is_web_link(&open.url),
                _ => true,
            });
    }
}

fn is_web_link(url: &str) -> bool {
    is_web(url.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_links_pass() {
        assert!(is_web_link("https://example.org/a"));
        assert!(is_web_link("HTTP://example.org"));
        for url in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "mailto:a@b",
            "httpx://a",
            "",
        ] {
            assert!(!is_web_link(url), "{url}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_display_is_looked_for_before_the_toolkit_is_asked() {
        assert!(has_display(|name| name == "WAYLAND_DISPLAY"));
        assert!(!has_display(|_| false));
    }
}
