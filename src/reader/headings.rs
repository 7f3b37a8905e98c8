//! Records under headings: each heading with labelled values below it is one, the heading its `title`.

use super::build::{Builder, Record, Value, lines};
use super::label::{heading, labelled};
use super::{Certainty, Reader, TextBlock, TextData, build, first_block};

pub(super) static HEADINGS: Reader =
    Reader { id: "headings", title: "Headings", certainty: Certainty::Layout, read: |blocks| first_block(blocks, read) };

fn read(block: TextBlock<'_>) -> Option<TextData> {
    if !block.text.contains('#') && !block.text.contains("**") {
        return None;
    }
    let mut builder = Builder::new(&block);
    let mut envelope = Record::new();
    let mut records: Vec<Record> = Vec::new();
    let mut open: Option<(Record, std::ops::Range<usize>)> = None;
    let mut close = |open: &mut Option<(Record, std::ops::Range<usize>)>, builder: &mut Builder| {
        if let Some((record, title)) = open.take().filter(|(record, _)| record.len() > 1) {
            builder.cover(title);
            records.push(record);
        }
    };
    for line in lines(block.text).filter(|line| !line.is_blank()) {
        let body = line.text.trim();
        let title = heading(body).map(|(_, text)| text).or_else(|| bold_line(body));
        if let Some(title) = title {
            close(&mut open, &mut builder);
            let title = build::cell(line.text, title, line.at);
            open = Some((vec![("title".to_owned(), Value::Cell(title))], line.range()));
        } else if let Some(labelled) = labelled(&line).filter(|labelled| !labelled.value.text.is_empty()) {
            builder.cover(labelled.start..labelled.value.at.end);
            let member = (labelled.label, Value::Cell(labelled.value));
            match &mut open {
                Some((record, _)) => record.push(member),
                None => envelope.push(member),
            }
        }
    }
    close(&mut open, &mut builder);
    let records: Vec<Value> = records.into_iter().map(Value::Record).collect();
    builder.records(&envelope, &records, true)
}

/// A line that is bold as a whole, and no label.
fn bold_line(body: &str) -> Option<&str> {
    let inner = body.strip_prefix("**")?.strip_suffix("**")?;
    (!inner.is_empty() && !inner.contains("**") && !inner.ends_with(':')).then_some(inner)
}
