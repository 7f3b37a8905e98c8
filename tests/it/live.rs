//! The whole program but the window, with its engine: opened, and stepped until it is as wanted.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use egui_kittest::Harness;
use loupe_core::source::Source;
use mcp_loupe::app::App;

pub type Window = Harness<'static, App>;

pub fn open_sized(source: Option<Source>, size: [f32; 2]) -> Window {
    let guard = Some(PathBuf::from(env!("CARGO_BIN_EXE_mcp-loupe")));
    Harness::builder()
        .with_size(size)
        .with_max_steps(4)
        // The sample's records hold Chinese and Arabic, which the system's fonts draw; a test has none.
        .allow_missing_glyphs()
        .build_eframe(move |cc| {
            App::with_guard(cc, source, guard).unwrap_or_else(|problem| panic!("{problem}"))
        })
}

/// Frames until the window is as wanted; the engine works meanwhile.
#[track_caller]
pub fn until(window: &mut Window, what: &str, wanted: impl Fn(&Window) -> bool) {
    let began = Instant::now();
    loop {
        window.step();
        assert!(
            !shares_an_identity(window),
            "two widgets share an identity, before {what}"
        );
        if wanted(window) {
            return;
        }
        let state = &window.state().state;
        let seen = (&state.view.screen, &state.view.capture, &state.view.open);
        let waited = began.elapsed();
        assert!(
            waited < Duration::from_secs(120),
            "waited too long until {what}; {:?}, {seen:?}, toasts {:?}",
            state.session().connection,
            state.toasts
        );
        // Frames must not take the processor from what they wait for.
        std::thread::sleep((waited / 40).min(Duration::from_millis(100)));
    }
}

/// Whether egui paints its complaint over two widgets that share one identity: a click on one of them is lost.
pub fn shares_an_identity(window: &Window) -> bool {
    fn complains(shape: &egui::Shape) -> bool {
        match shape {
            egui::Shape::Text(text) => text.galley.text().contains(" use of widget ID "),
            egui::Shape::Vec(shapes) => shapes.iter().any(complains),
            _ => false,
        }
    }
    window
        .output()
        .shapes
        .iter()
        .any(|shape| complains(&shape.shape))
}
