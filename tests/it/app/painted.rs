//! What can be read on the screen, and not only in the accessibility tree.

use egui::{Rect, Shape};
use loupe_analysis::finding::Severity;
use mcp_loupe::state::{DrawerTab, ViewAction};
use mcp_loupe::ui::theme;

use super::{Window, called, until};
use crate::window::painted;

pub fn paints(window: &Window, text: &str) -> bool {
    painted(window.output(), window.ctx.content_rect()).contains(text)
}

/// The texts that stand on the marks of findings of this severity.
pub fn marked(window: &Window, severity: Severity) -> Vec<String> {
    fn each(shape: &Shape, see: &mut impl FnMut(&Shape)) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| each(shape, see)),
            shape => see(shape),
        }
    }
    let t = theme::of(&window.ctx);
    let fill = match severity {
        Severity::Error => t.bad_bg,
        Severity::Warning => t.warn_bg,
        Severity::Info | Severity::Cost => t.accent_bg,
    };
    let shapes = &window.output().shapes;
    let (mut grounds, mut glyphs) = (Vec::new(), Vec::new());
    for clipped in shapes {
        each(&clipped.shape, &mut |shape| match shape {
            Shape::Rect(rect) if rect.fill == fill => {
                grounds.push(rect.rect.intersect(clipped.clip_rect))
            }
            Shape::Text(text) => glyphs.extend(text.galley.rows.iter().flat_map(|row| {
                let left = text.pos + row.pos.to_vec2();
                row.row.glyphs.iter().map(move |glyph| {
                    let at = left + glyph.pos.to_vec2();
                    (
                        Rect::from_two_pos(
                            at,
                            at + egui::vec2(glyph.advance_width, -glyph.font_ascent),
                        )
                        .center(),
                        glyph.chr,
                    )
                })
            })),
            _ => {}
        });
    }
    let on = |ground: &Rect| {
        glyphs
            .iter()
            .filter(|(at, _)| ground.contains(*at))
            .map(|(_, glyph)| *glyph)
            .collect()
    };
    grounds.iter().map(on).collect()
}

#[test]
fn the_saving_is_read_in_every_window() {
    for size in [
        [640.0, 520.0],
        [960.0, 700.0],
        [1_280.0, 800.0],
        [1_366.0, 768.0],
        [1_600.0, 1_000.0],
    ] {
        let mut window = called(size, "strict_search_companies");
        until(&mut window, "the panes are filled", |window| {
            window.state().state.query_results.working() == 0
        });
        for tab in [DrawerTab::Cost, DrawerTab::Hosts, DrawerTab::Tokens] {
            window
                .state_mut()
                .state
                .perform(ViewAction::ShowDrawer(tab), &mut Vec::new());
            // The closed drawer tells the cost, whatever its tab is; the open one is that of its tab.
            if tab == DrawerTab::Cost || size[1] < 820.0 {
                let what = format!("the saving is read at {size:?} with the tab {tab:?}");
                until(&mut window, &what, |window| paints(window, "proved"));
            }
        }
    }
}
