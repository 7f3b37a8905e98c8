//! A picture of a result, decoded on request and within bounds: what a server sends as one may be anything.

use std::io::Cursor;
use std::sync::Arc;

use image::{DynamicImage, ImageFormat, ImageReader, Limits};

use loupe_analysis::queries::{Ctx, Query, Stop, Weigh};
use loupe_core::format::ParsedCapture;
use loupe_core::number::{grouped, number_of};
use loupe_core::problem::{Problem, ProblemKind};

/// A larger file is not decoded.
pub const MAX_BYTES: usize = 16 << 20;
/// A picture with more pixels is not decoded.
pub const MAX_PIXELS: u64 = 24_000_000;
/// A side beyond this is not decoded either, whatever the other is.
const MAX_SIDE: u32 = 16_384;
/// Kinds that are decoded; of one that moves the first picture is shown.
const DRAWN: &[ImageFormat] = &[
    ImageFormat::Png,
    ImageFormat::Jpeg,
    ImageFormat::Gif,
    ImageFormat::WebP,
];
/// A longer side is shown scaled down to this.
const SHOWN_SIDE: u32 = 1_280;

/// A decoded picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Size as sent, in pixels.
    pub size: [u32; 2],
    /// Size of `pixels`: the same, or scaled down.
    pub shown: [u32; 2],
    /// Red, green, blue and alpha of each, row by row.
    pub pixels: Arc<[u8]>,
    /// What is odd: declared as something else.
    pub note: Option<String>,
}

impl Picture {
    /// Decodes the picture of a block, by its position in `content`.
    pub(super) fn new(subject: &ParsedCapture, index: usize) -> Result<Self, Problem> {
        let block = subject.response.blocks.get(index);
        let size = block.and_then(|block| block.data_bytes).unwrap_or_default();
        if size > MAX_BYTES {
            return Err(too_large(
                index,
                format!(
                    "the picture has {} bytes, more than the {} that are decoded",
                    grouped(size as u64),
                    grouped(MAX_BYTES as u64)
                ),
            ));
        }
        let bytes = subject.response.block_bytes(index)?;
        Self::decode(
            &bytes,
            block.and_then(|block| block.mime_type.as_deref()),
            index,
        )
    }

    fn decode(bytes: &[u8], declared: Option<&str>, index: usize) -> Result<Self, Problem> {
        let place = format!("content[{index}]");
        let format = image::guess_format(bytes).map_err(|_| {
            Problem::new(
                ProblemKind::Malformed,
                format!(
                    "not a known kind of picture, {}",
                    number_of(bytes.len() as u64, "bytes")
                ),
            )
            .at(&place)
            .hint("save it and look at it with another program")
        })?;
        if !DRAWN.contains(&format) {
            let drawn: Vec<_> = DRAWN.iter().map(ImageFormat::to_mime_type).collect();
            let what = format!(
                "{} is not drawn here, only {} are",
                format.to_mime_type(),
                drawn.join(", ")
            );
            return Err(Problem::new(ProblemKind::Usage, what)
                .at(&place)
                .hint("save it and open it with another program"));
        }
        let bad = |error: image::ImageError| {
            Problem::new(
                ProblemKind::Malformed,
                format!("the picture cannot be decoded: {error}"),
            )
            .at(&place)
        };
        let reader = || ImageReader::with_format(Cursor::new(bytes), format);
        let (width, height) = reader().into_dimensions().map_err(bad)?;
        if u64::from(width) * u64::from(height) > MAX_PIXELS
            || width > MAX_SIDE
            || height > MAX_SIDE
        {
            return Err(too_large(
                index,
                format!(
                    "the picture has {width} by {height} pixels, more than the {MAX_PIXELS} that are decoded"
                ),
            ));
        }
        let mut reader = reader();
        let mut limits = Limits::default();
        limits.max_image_width = Some(MAX_SIDE);
        limits.max_image_height = Some(MAX_SIDE);
        // Up to 8 bytes a pixel, and room for the decoder.
        limits.max_alloc = Some(MAX_PIXELS * 10);
        reader.limits(limits);
        let decoded = reader.decode().map_err(bad)?;
        let shown = if width.max(height) > SHOWN_SIDE {
            decoded.thumbnail(SHOWN_SIDE, SHOWN_SIDE)
        } else {
            decoded
        };
        let shown = DynamicImage::into_rgba8(shown);
        let note = declared
            .filter(|declared| !is_named(format, declared))
            .map(|declared| {
                format!(
                    "declared as {declared}, but it is {}",
                    format.to_mime_type()
                )
            });
        Ok(Self {
            size: [width, height],
            shown: [shown.width(), shown.height()],
            pixels: shown.into_raw().into(),
            note,
        })
    }
}

/// Whether a type is a name of this kind.
fn is_named(format: ImageFormat, declared: &str) -> bool {
    let name = declared.split(';').next().unwrap_or_default().trim();
    name.eq_ignore_ascii_case(format.to_mime_type())
        || format == ImageFormat::Jpeg && name.eq_ignore_ascii_case("image/jpg")
}

fn too_large(index: usize, what: String) -> Problem {
    Problem::new(ProblemKind::Usage, what)
        .at(format!("content[{index}]"))
        .hint("save it and open it with another program")
}

/// The picture at this position in `content`, decoded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PictureQuery(pub usize);

impl Query for PictureQuery {
    type Out = Arc<Picture>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(Picture::new(cx.subject()?, self.0)?))
    }
}

impl Weigh for Picture {
    fn weight(&self) -> usize {
        self.pixels.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        written(width, height, ImageFormat::Png)
    }

    fn written(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Vec::new();
        image::RgbImage::new(width, height)
            .write_to(&mut Cursor::new(&mut bytes), format)
            .unwrap();
        bytes
    }

    #[test]
    fn every_kind_that_is_drawn_is_decoded() {
        for format in DRAWN {
            let picture =
                Picture::decode(&written(20, 7, *format), Some(format.to_mime_type()), 0).unwrap();
            assert_eq!(
                (picture.size, picture.pixels.len(), picture.note),
                ([20, 7], 20 * 7 * 4, None),
                "{format:?}"
            );
        }
        let jpeg =
            Picture::decode(&written(2, 2, ImageFormat::Jpeg), Some("image/jpg"), 0).unwrap();
        assert_eq!(jpeg.note, None);
        // A GIF says its size in its first bytes.
        let mut bomb = written(1, 1, ImageFormat::Gif);
        bomb[6..10].copy_from_slice(&[0xff; 4]);
        assert!(
            Picture::decode(&bomb, None, 0)
                .unwrap_err()
                .what
                .contains("65535 by 65535 pixels")
        );
    }

    #[test]
    fn a_picture_is_decoded_and_a_large_one_scaled_down() {
        let small = Picture::decode(&png(3, 2), Some("image/png"), 0).unwrap();
        assert_eq!(
            (small.size, small.shown, small.pixels.len(), small.note),
            ([3, 2], [3, 2], 24, None)
        );
        let wide = Picture::decode(&png(2_560, 10), Some("image/jpeg"), 0).unwrap();
        assert_eq!((wide.size, wide.shown), ([2_560, 10], [1_280, 5]));
        assert_eq!(
            wide.note.as_deref(),
            Some("declared as image/jpeg, but it is image/png")
        );
    }

    #[test]
    fn what_is_too_large_is_refused_by_its_header() {
        // A header that promises 100,000 by 100,000 pixels, with its checksum, and nothing behind it.
        let mut bomb = png(1, 1);
        bomb[16..20].copy_from_slice(&100_000_u32.to_be_bytes());
        bomb[20..24].copy_from_slice(&100_000_u32.to_be_bytes());
        let sum = crc(&bomb[12..29]);
        bomb[29..33].copy_from_slice(&sum.to_be_bytes());
        let problem = Picture::decode(&bomb, None, 0).unwrap_err();
        assert!(
            problem.what.contains("100000 by 100000 pixels"),
            "{problem}"
        );
    }

    fn crc(bytes: &[u8]) -> u32 {
        let step = |sum: u32, _| {
            if sum & 1 == 1 {
                (sum >> 1) ^ 0xedb8_8320
            } else {
                sum >> 1
            }
        };
        !bytes.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), step)
        })
    }

    #[test]
    fn other_kinds_are_named_and_rubbish_is_a_problem() {
        let tiff = Picture::decode(b"II*\0\x08\0\0\0", None, 4).unwrap_err();
        assert!(
            tiff.what
                .starts_with("image/tiff is not drawn here, only image/png, image/jpeg"),
            "{tiff}"
        );
        assert_eq!(tiff.place, "content[4]");
        assert_eq!(
            Picture::decode(&[0xff, 0xd8, 0xff, 0xe0, 0, 0], None, 0)
                .unwrap_err()
                .kind,
            ProblemKind::Malformed
        );
        assert_eq!(
            Picture::decode(b"<html>", None, 0).unwrap_err().kind,
            ProblemKind::Malformed
        );
        let cut = png(30, 30);
        assert_eq!(
            Picture::decode(&cut[..40], None, 0).unwrap_err().kind,
            ProblemKind::Malformed
        );
        let subject = ParsedCapture::from_result(
            r#"{"content":[{"type":"image","mimeType":"image/png","data":"aGk="}]}"#,
        );
        assert_eq!(
            Picture::new(&subject, 0).unwrap_err().kind,
            ProblemKind::Malformed
        );
    }
}
