//! The pictures in `screenshots`: written with a palette, and compared by it and by what it takes from the colours.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use image::RgbaImage;

/// What two colours differ by, squared and summed, that become one in a palette.
const ALIKE: u32 = 144;
/// Colours that are kept exactly, as the most frequent ones.
const EXACT: usize = 16;
/// How much farther than its nearest colour of the palette a pixel's may be: another compiler may round a channel otherwise.
const ROUNDED: f32 = 2.0;
/// How many pixels may be farther: a glyph's edge may be rounded differently by another compiler; a moved one changes
/// hundreds.
const FAR: usize = 20;
/// The note in a picture of what its palette takes from all its channels together. What changes a colour by less than the
/// palette can tell changes this.
const RESIDUE: &str = "residue";
/// By how much of itself the residue may differ.
const RESIDUE_SHARE: f64 = 0.01;

/// A picture as it was written: a palette and a place in it for each pixel.
struct Written {
    size: (u32, u32),
    palette: Vec<[u8; 4]>,
    indices: Vec<u8>,
    residue: u64,
}

/// What is wrong with a picture, if anything; with `UPDATE_EXPECT` it is written anew.
pub fn differs(picture: &RgbaImage, name: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("screenshots");
    let path = folder.join(format!("{name}.png"));
    let wrong = match read(&path) {
        Err(error) => error,
        Ok(expected) => compare(&expected, picture)?,
    };
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        write(&path, picture);
        return None;
    }
    let new = folder.join(format!("{name}.new.png"));
    write(&new, picture);
    Some(format!(
        "{}: {wrong}; see {}, and renew by UPDATE_EXPECT=1",
        path.display(),
        new.display()
    ))
}

fn compare(expected: &Written, picture: &RgbaImage) -> Option<String> {
    if expected.size != picture.dimensions() {
        return Some("it has another size".to_owned());
    }
    let mut known = HashMap::new();
    let is_far = |(colour, index): &(&[u8; 4], &u8)| {
        *known.entry((**colour, **index)).or_insert_with(|| {
            let off = |of: [u8; 4]| (distance(of, **colour) as f32).sqrt();
            let nearest = expected.palette[nearest(&expected.palette, **colour)];
            off(expected.palette[usize::from(**index)]) > off(nearest) + ROUNDED
        })
    };
    let far = colours(picture)
        .iter()
        .zip(&expected.indices)
        .filter(is_far)
        .count();
    if far > FAR {
        return Some(format!("{far} pixels differ"));
    }
    let found = residue(picture, &expected.palette, &expected.indices);
    let allowed = (expected.residue as f64 * RESIDUE_SHARE) as u64 + (FAR * 3 * 255) as u64;
    (found.abs_diff(expected.residue) > allowed).then(|| {
        format!(
            "its colours are {found} from those of the palette, {} when it was written",
            expected.residue
        )
    })
}

fn colours(picture: &RgbaImage) -> &[[u8; 4]] {
    picture.as_raw().as_chunks().0
}

/// What the palette takes from all channels together.
fn residue(picture: &RgbaImage, palette: &[[u8; 4]], indices: &[u8]) -> u64 {
    let off = |(colour, index): (&[u8; 4], &u8)| -> u64 {
        colour
            .iter()
            .zip(palette[usize::from(*index)])
            .map(|(a, b)| u64::from(a.abs_diff(b)))
            .sum()
    };
    colours(picture).iter().zip(indices).map(off).sum()
}

fn read(path: &Path) -> Result<Written, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut reader = png::Decoder::new(BufReader::new(file))
        .read_info()
        .map_err(|error| error.to_string())?;
    let mut indices = vec![0; reader.output_buffer_size().ok_or("it is too large")?];
    reader
        .next_frame(&mut indices)
        .map_err(|error| error.to_string())?;
    let info = reader.info();
    let palette = info
        .palette
        .as_ref()
        .ok_or("it has no palette")?
        .as_chunks()
        .0
        .iter()
        .map(|[r, g, b]| [*r, *g, *b, 255]);
    let residue = info
        .uncompressed_latin1_text
        .iter()
        .find(|chunk| chunk.keyword == RESIDUE);
    let residue = residue
        .and_then(|chunk| chunk.text.parse().ok())
        .ok_or("it notes no residue")?;
    Ok(Written {
        size: info.size(),
        palette: palette.collect(),
        indices,
        residue,
    })
}

/// From the most frequent colour on, each that is not like one before it, as many as a palette takes.
fn palette(picture: &RgbaImage) -> Vec<[u8; 4]> {
    let mut counts = HashMap::<[u8; 4], usize>::new();
    for run in colours(picture).chunk_by(|a, b| a == b) {
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
    a.iter()
        .zip(b)
        .map(|(a, b)| u32::from(a.abs_diff(b)).pow(2))
        .sum()
}

fn nearest(palette: &[[u8; 4]], colour: [u8; 4]) -> usize {
    (0..palette.len())
        .min_by_key(|at| distance(palette[*at], colour))
        .unwrap_or_default()
}

fn write(path: &Path, picture: &RgbaImage) {
    let palette = palette(picture);
    let mut known = HashMap::new();
    let index = |colour: &[u8; 4]| {
        *known
            .entry(*colour)
            .or_insert_with_key(|colour| nearest(&palette, *colour) as u8)
    };
    let indices: Vec<u8> = colours(picture).iter().map(index).collect();
    let residue = residue(picture, &palette, &indices);
    let mut encoder = png::Encoder::new(
        BufWriter::new(File::create(path).unwrap()),
        picture.width(),
        picture.height(),
    );
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(
        palette
            .iter()
            .flat_map(|[r, g, b, _]| [*r, *g, *b])
            .collect::<Vec<_>>(),
    );
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    encoder
        .add_text_chunk(RESIDUE.to_owned(), residue.to_string())
        .unwrap();
    encoder
        .write_header()
        .unwrap()
        .write_image_data(&indices)
        .unwrap();
}
