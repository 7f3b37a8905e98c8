//! The probe of a host: the tools it was asked with at the left, what it gave its model for one of them in the middle,
//! what that says of it and the entry to keep at the right.

use egui::{Frame, Id, Label, Margin, Rect, RichText, Role, ScrollArea, Sense, Stroke, TextEdit, Ui, WidgetInfo, pos2, vec2};

use super::theme::{self, ThemeTokens};
use super::widgets::{self, Button, Tone};
use super::{Cx, icons};
use crate::host::probe::{Confidence, Naming, ProbeFinding, SERVER};
use crate::source::{PROBE_TOOLS, ProbeTool};
use crate::state::{Action, ProbeAction};

const ROW: f32 = 30.0;
const SIDE: f32 = 16.0;
/// From this width on the three parts stand side by side.
const WIDE: f32 = 980.0;
/// The command a host starts, as it stands in its configuration.
const COMMAND: &str = "mcp-loupe sample-server --probe";

fn act(cx: &Cx<'_>, action: ProbeAction) {
    cx.send(Action::Probe(action));
}

pub fn probe_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = ThemeTokens::of(ui);
    let probing = &cx.state.probing;
    let rest = widgets::mode_head(ui, cx, "Probe a host", |ui| {
        let has_any = !probing.pasted.is_empty();
        if Button::new("Copy the pasted texts")
            .icon(icons::COPY)
            .enabled(has_any)
            .tip("As `hosts --from-probe` reads it")
            .show(ui)
            .clicked()
        {
            act(cx, ProbeAction::CopyPasted);
        }
        if Button::new("Clear").icon(icons::TRASH).enabled(has_any).tip("Forgets every text").show(ui).clicked() {
            act(cx, ProbeAction::Clear);
        }
    });
    if rest.width() >= WIDE {
        let (left, middle) = ((rest.left() + 276.0).round(), (rest.left() + 276.0 + (rest.width() - 276.0) * 0.46).round());
        for x in [left, middle] {
            ui.painter().vline(x - 0.5, rest.y_range(), Stroke::new(1.0, t.line));
        }
        part(ui, rest.with_max_x(left - 1.0), "tools", |ui| {
            ScrollArea::vertical().id_salt("probe tools").auto_shrink(false).show(ui, |ui| tools_ui(ui, cx));
        });
        part(ui, Rect::from_min_max(pos2(left, rest.top()), pos2(middle - 1.0, rest.bottom())), "paste", |ui| paste_ui(ui, cx));
        part(ui, rest.with_min_x(middle), "found", |ui| found_ui(ui, cx));
    } else {
        part(ui, rest, "all", |ui| {
            ScrollArea::vertical().id_salt("probe").auto_shrink(false).show(ui, |ui| {
                tools_ui(ui, cx);
                paste_ui(ui, cx);
                found_ui(ui, cx);
            });
        });
    }
}

fn part(ui: &mut Ui, rect: Rect, salt: &str, paint: impl FnOnce(&mut Ui)) {
    ui.scope_builder(widgets::region(ui, salt).max_rect(rect), |ui| {
        ui.set_clip_rect(rect.intersect(ui.clip_rect()));
        paint(ui);
    });
}

fn words(ui: &mut Ui, text: &str, font: egui::FontId, color: egui::Color32) {
    ui.add(Label::new(RichText::new(text).font(font).color(color)).wrap());
}

fn heading(ui: &mut Ui, text: &str) {
    let response = ui.label(RichText::new(text).font(theme::title()).color(ThemeTokens::of(ui).strong));
    response.widget_info(|| WidgetInfo::labeled(Role::Heading, true, text));
}

fn tools_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = ThemeTokens::of(ui);
    Frame::new().inner_margin(Margin { left: 16, right: 12, top: 12, bottom: 8 }).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        heading(ui, "1. Ask the host");
        words(ui, &format!("Give the host this server under the name {SERVER}:"), theme::small(), t.weak);
        ui.horizontal(|ui| {
            ui.label(RichText::new(COMMAND).font(theme::code()).color(t.strong));
            if widgets::icon_button(ui, icons::COPY, "Copy the command").clicked() {
                cx.send(Action::Copy(COMMAND.to_owned()));
            }
        });
        words(ui, "Have it call each tool. What it gave its model is in its log, not on its screen.", theme::small(), t.weak);
    });
    ui.spacing_mut().item_spacing.y = 0.0;
    for (at, tool) in PROBE_TOOLS.iter().enumerate() {
        tool_ui(ui, cx, at, tool);
    }
}

fn tool_ui(ui: &mut Ui, cx: &Cx<'_>, at: usize, tool: &ProbeTool) {
    let t = ThemeTokens::of(ui);
    let probing = &cx.state.probing;
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let is_chosen = probing.at == at;
    if is_chosen || response.hovered() {
        ui.painter().rect_filled(rect, 0.0, if is_chosen { t.accent_bg } else { t.hover });
    }
    if is_chosen {
        ui.painter().rect_filled(Rect::from_min_size(rect.min, vec2(2.0, rect.height())), 0.0, t.accent);
    }
    let is_pasted = probing.pasted.contains_key(tool.name);
    let explained = probing.finding.as_ref().and_then(|finding| finding.explains(tool.name));
    let (icon, color, state) = match (is_pasted, explained) {
        (false, _) => (icons::CIRCLE, t.weak, "not tried"),
        (true, None) => (icons::DOT, t.accent, "pasted"),
        (true, Some(true)) => (icons::CHECK_CIRCLE, t.ok, "explained"),
        (true, Some(false)) => (icons::WARNING, t.warn, "not explained"),
    };
    let y = rect.center().y;
    widgets::glyph_at(ui, pos2(rect.left() + SIDE + 8.0, y), icon, theme::icon_font(15.0), color);
    let right = widgets::text_right(ui, pos2(rect.right() - 16.0, y), state, theme::regular(11.5), color);
    let name = tool.name.trim_start_matches("probe_");
    let left = rect.left() + SIDE + 24.0;
    widgets::text_at(ui, pos2(left, y), name, theme::code(), if is_chosen { t.strong } else { t.text }, right - left - 8.0);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_chosen, format!("{}: {state}", tool.name)));
    widgets::focus_ring_inside(ui, &response);
    if response.clicked() {
        act(cx, ProbeAction::Look(at));
    }
    response.on_hover_text(tool.about);
}

fn paste_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = ThemeTokens::of(ui);
    let probing = &cx.state.probing;
    let tool = &PROBE_TOOLS[probing.at];
    Frame::new().inner_margin(Margin::symmetric(16, 12)).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        heading(ui, "2. Paste what its model was given");
        ui.label(RichText::new(tool.name).font(theme::code()).color(t.strong));
        words(ui, &format!("{}.", tool.about), theme::base(), t.text);
        ui.horizontal_wrapped(|ui| {
            let is_nothing = probing.text() == Some("");
            let label = if is_nothing { "Nothing arrived ✓" } else { "Nothing arrived" };
            let nothing = Button::new(label).small().name("The model was given nothing").show(ui);
            if nothing.clicked() {
                act(cx, ProbeAction::Paste(if is_nothing { None } else { Some(String::new()) }));
            }
            if Button::new("Not tried").small().enabled(probing.text().is_some()).name("This tool was not tried").show(ui).clicked() {
                act(cx, ProbeAction::Paste(None));
            }
        });
        let room = (ui.available_height() - 96.0).clamp(160.0, 640.0).min(ui.ctx().content_rect().height() - 240.0);
        let mut text = probing.text().unwrap_or_default().to_owned();
        ScrollArea::vertical().id_salt("pasted").max_height(room).show(ui, |ui| {
            let edit = TextEdit::multiline(&mut text)
                .id(Id::unique(("pasted text", tool.name)))
                .font(theme::code())
                .hint_text("The whole text, unchanged. Texts under lines such as “=== probe_one_text” are told apart, so that a file can be pasted at once.")
                .desired_width(f32::INFINITY)
                .desired_rows((room / 18.0) as usize);
            let response = ui.add(edit);
            response.widget_info(|| WidgetInfo::labeled(Role::MultilineTextInput, true, "What the model was given"));
            if response.changed() {
                act(cx, ProbeAction::Paste((!text.is_empty()).then(|| text.clone())));
            }
        });
        let next = PROBE_TOOLS.iter().position(|tool| !probing.pasted.contains_key(tool.name));
        ui.horizontal(|ui| {
            if let Some(next) = next.filter(|next| *next != probing.at)
                && Button::new("Next tool").icon(icons::ARROW_RIGHT).small().show(ui).clicked()
            {
                act(cx, ProbeAction::Look(next));
            }
            let count = format!("{} of {} tools", probing.pasted.len(), PROBE_TOOLS.len());
            ui.label(RichText::new(count).font(theme::small()).color(t.weak));
        });
    });
}

fn found_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = ThemeTokens::of(ui);
    let probing = &cx.state.probing;
    ScrollArea::vertical().id_salt("found").auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(16, 12)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 8.0;
            heading(ui, "3. The rule it follows");
            if let Some(problem) = &probing.problem {
                widgets::problem_ui(ui, problem);
            }
            match (&probing.finding, probing.since) {
                (Some(finding), _) => finding_ui(ui, cx, finding),
                (None, Some(since)) => {
                    widgets::waiting(ui, "Trying every rule on these texts", since, cx);
                }
                (None, None) => {
                    words(ui, "It appears once one text is pasted, and becomes more certain with each.", theme::base(), t.weak);
                }
            }
        });
    });
}

fn finding_ui(ui: &mut Ui, cx: &Cx<'_>, finding: &ProbeFinding) {
    let t = ThemeTokens::of(ui);
    words(ui, &finding.verdict(), theme::base(), t.strong);
    let (tone, why) = match finding.confidence() {
        Confidence::High => (Tone::Ok, "every text of at least 10 tools is explained"),
        Confidence::Medium => (Tone::Warn, "something is open, or fewer than 10 tools were tried"),
        Confidence::Low => (Tone::Bad, "fewer than three in four texts are explained"),
    };
    ui.horizontal_wrapped(|ui| {
        widgets::badge(ui, None, &format!("Confidence: {}", finding.confidence().title()), tone, true);
        ui.label(RichText::new(why).font(theme::small()).color(t.weak));
    });
    if let Some(limit) = finding.limit() {
        words(ui, &limit, theme::base(), t.text);
    }
    if let Some(id) = finding.guess.fits.first()
        && Button::new("Show this host").icon(icons::HOSTS).small().show(ui).clicked()
    {
        cx.send(Action::Hosts(crate::state::HostsAction::Show(Some(*id))));
    }
    let Some(entry) = &cx.state.probing.entry else { return };
    ui.add_space(4.0);
    heading(ui, "4. Keep it");
    naming_ui(ui, cx);
    ui.horizontal_wrapped(|ui| {
        let add = Button::new("Add to my hosts")
            .icon(icons::ADD)
            .primary()
            .tip("Adds the entry to hosts.toml; nothing in it is changed");
        if add.show(ui).clicked() {
            act(cx, ProbeAction::Add);
        }
        if Button::new("Copy entry").icon(icons::COPY).show(ui).clicked() {
            act(cx, ProbeAction::CopyEntry);
        }
    });
    if let Some(path) = &cx.state.probing.added {
        let text = format!("Added to {}. The host is in the list now.", path.display());
        ui.horizontal_top(|ui| {
            ui.label(icons::icon(icons::CHECK_CIRCLE, 15.0, t.ok));
            words(ui, &text, theme::base(), t.ok);
        });
    }
    Frame::new()
        .fill(t.card)
        .stroke(Stroke::new(1.0, t.line))
        .corner_radius(theme::RADIUS_CONTROL)
        .inner_margin(Margin::same(10))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            let response = ui.add(Label::new(RichText::new(entry).font(theme::code()).color(t.text)).wrap().selectable(true));
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, entry));
        });
}

fn naming_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = ThemeTokens::of(ui);
    let naming = &cx.state.probing.naming;
    let field = |ui: &mut Ui, label: &str, value: &str, change: &dyn Fn(String) -> Naming| {
        ui.horizontal(|ui| {
            let (place, _) = ui.allocate_exact_size(vec2(64.0, theme::INPUT), Sense::hover());
            widgets::text_at(ui, place.left_center(), label, theme::small(), t.weak, 64.0);
            let mut text = value.to_owned();
            let edit = TextEdit::singleline(&mut text)
                .id(Id::unique(("naming", label)))
                .font(theme::code())
                .desired_width(f32::INFINITY);
            let response = ui.add(edit);
            response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, format!("{label} of the host")));
            if response.changed() {
                act(cx, ProbeAction::Name(change(text)));
            }
        });
    };
    ui.spacing_mut().item_spacing.y = 4.0;
    field(ui, "Id", &naming.id, &|id| Naming { id, ..naming.clone() });
    field(ui, "Name", &naming.name, &|name| Naming { name, ..naming.clone() });
    field(ui, "Version", &naming.version, &|version| Naming { version, ..naming.clone() });
}
