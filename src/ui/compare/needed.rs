//! Which fields the model needs: a tick list of the records' fields that decides who wins.

use std::collections::BTreeSet;

use egui::{RichText, ScrollArea, Ui};

use super::stays;
use crate::analysis::sweep::{ColumnOrigin, Field, SweepPage};
use crate::state::{Action, CompareAction};
use crate::ui::Cx;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button};

/// What is ticked; `None` where all are.
fn needed<'a>(cx: &Cx<'a>) -> Option<&'a BTreeSet<String>> {
    let compare = cx.state.comparisons.current.as_ref()?;
    cx.state.needed(&compare.server, &compare.tool.name)
}

pub fn needed_ui(ui: &mut Ui, cx: &Cx<'_>, page: &SweepPage) {
    let fields = page.sweep.choosable_fields();
    if fields.is_empty() {
        Button::new("Needed fields").enabled(false).tip("No answer has data with fields in it").show(ui);
        return;
    }
    let needed = needed(cx);
    let is_needed = |field: &Field| needed.is_none_or(|needed| needed.contains(&field.pattern));
    let count = fields.iter().filter(|field| is_needed(field)).count();
    let label = if count == fields.len() {
        "Needed fields: all".to_owned()
    } else {
        format!("Needed fields: {count} of {}", fields.len())
    };
    let send = |fields: Option<BTreeSet<String>>| cx.send(Action::Compare(CompareAction::Need(fields)));
    let button = Button::new(&label).menu().name("Needed fields").tip("What the model has to know of each record").show(ui);
    stays(&button).width(300.0).show(|ui| {
        let t = ThemeTokens::of(ui);
        ui.label(RichText::new("A column that loses a ticked field is out of the race").font(theme::small()).color(t.weak));
        for column in
            page.sweep.columns.iter().filter(|column| matches!(column.origin, ColumnOrigin::Call(_)) && column.is_answer())
        {
            let kept: BTreeSet<String> = page.sweep.kept_fields(column).into_iter().collect();
            let kept: BTreeSet<String> =
                fields.iter().map(|field| &field.pattern).filter(|pattern| kept.contains(*pattern)).cloned().collect();
            if kept.len() < fields.len() {
                let label = format!("Only what {} has", column.title.trim_end_matches(" as sent"));
                if widgets::Button::new(&label).small().show(ui).clicked() {
                    send(Some(kept));
                }
            }
        }
        if widgets::Button::new("All").small().show(ui).clicked() {
            send(None);
        }
        ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
            for field in &fields {
                let mut is_ticked = is_needed(field);
                let name = field_name(page, field);
                if ui.checkbox(&mut is_ticked, RichText::new(&name).font(theme::mono(12.0)).color(t.text)).changed() {
                    let all = || fields.iter().map(|field| field.pattern.clone()).collect();
                    let mut next: BTreeSet<String> = needed.cloned().unwrap_or_else(all);
                    if is_ticked {
                        next.insert(field.pattern.clone());
                    } else {
                        next.remove(&field.pattern);
                    }
                    let is_all = fields.iter().all(|field| next.contains(&field.pattern));
                    send(if is_all { None } else { Some(next) });
                }
            }
        });
    });
}

/// The name alone where it is the only one of its kind, else the whole path.
fn field_name(page: &SweepPage, field: &Field) -> String {
    let name = crate::diff::pattern::name(&field.pattern);
    let same = page.sweep.fields.iter().filter(|other| crate::diff::pattern::name(&other.pattern) == name).count();
    if same == 1 { name } else { crate::analysis::sweep::readable(&field.pattern) }
}
