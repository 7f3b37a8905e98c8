//! The pictures in `screenshots`: written with a palette, and compared with what that leaves of a colour.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use image::RgbaImage;

/// What two colours differ by, squared and summed, that become one in a palette.
const ALIKE: u32 = 144;
/// Colours that are kept exactly, as the most frequent ones.
const EXACT: usize = 16;
/// How far a channel may be from what is expected: as far as a colour is from its place in the palette.
const NEAR: u8 = 12;
/// How many pixels may be farther: a glyph's edge may be rounded differently by another compiler; a moved one changes
/// hundreds.
const FAR: usize = 20;

/// What is wrong with a picture, if anything; with `UPDATE_EXPECT` it is written anew.
pub fn differs(picture: &RgbaImage, name: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("screenshots");
    let path = folder.join(format!("{name}.png"));
    let wrong = match image::open(&path).map(|expected| expected.to_rgba8()) {
        Err(error) => error.to_string(),
        Ok(expected) if expected.dimensions() != picture.dimensions() => "it has another size".to_owned(),
        Ok(expected) => {
            let far = expected.pixels().zip(picture.pixels()).filter(|(a, b)| a != b && is_far(a.0, b.0)).count();
            if far <= FAR {
                return None;
            }
            format!("{far} pixels differ")
        }
    };
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        write(&path, picture);
        return None;
    }
    let new = folder.join(format!("{name}.new.png"));
    write(&new, picture);
    Some(format!("{}: {wrong}; see {}, and renew by UPDATE_EXPECT=1", path.display(), new.display()))
}

fn is_far(a: [u8; 4], b: [u8; 4]) -> bool {
    a.iter().zip(b).any(|(a, b)| a.abs_diff(b) > NEAR)
}

/// From the most frequent colour on, each that is not like one before it, as many as a palette takes.
fn palette(picture: &RgbaImage) -> Vec<[u8; 4]> {
    let mut counts = HashMap::<[u8; 4], usize>::new();
    for run in picture.as_raw().as_chunks().0.chunk_by(|a, b| a == b) {
        *counts.entry(run[0]).or_default() += run.len();
    }
    let mut colours: Vec<_> = counts.keys().copied().collect();
    colours.sort_by_key(|colour| (Reverse(counts[colour]), *colour));
    let mut palette = Vec::new();
    for colour in colours {
        if palette.len() < EXACT || palette.iter().all(|of| distance(*of, colour) > ALIKE) {
            palette.push(colour);
        }
    }
    palette.truncate(256);
    palette
}

fn distance(a: [u8; 4], b: [u8; 4]) -> u32 {
    a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

fn write(path: &Path, picture: &RgbaImage) {
    let palette = palette(picture);
    let mut known = HashMap::new();
    let nearest = |colour| palette.iter().enumerate().min_by_key(|(_, of)| distance(**of, colour)).unwrap().0;
    let index = |colour: &[u8; 4]| *known.entry(*colour).or_insert_with_key(|colour| u8::try_from(nearest(*colour)).unwrap());
    let indices: Vec<u8> = picture.as_raw().as_chunks().0.iter().map(index).collect();
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path).unwrap()), picture.width(), picture.height());
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(palette.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect::<Vec<_>>());
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.write_header().unwrap().write_image_data(&indices).unwrap();
}
