//! A sound of an answer, decoded on request and within bounds: how long it is, what it is made of, and how loud it is
//! where. It is not played: that would take a sound system, which not every machine has. Uses `format`, `problem`, `cancel`.

use super::query::{Ctx, Query, Weigh};
use std::io::{Cursor, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use symphonia::core::audio::GenericAudioBufferRef;
use symphonia::core::codecs::audio::{AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, TrackType};
use symphonia::core::io::MediaSourceStream;
use symphonia::core::meta::MetadataOptions;

use super::Stop;
use crate::cancel::Cancel;
use crate::format::Subject;
use crate::problem::{Kind, Problem};

/// A larger file is not decoded.
pub const MAX_BYTES: usize = 16 << 20;
/// So many moments of a channel are decoded, ten minutes of a good recording; what comes after is not.
pub const MAX_FRAMES: u64 = 600 * 48_000;
/// Columns that the loudness is told in.
const COLUMNS: usize = 400;
/// Moments that are one measure of loudness at first.
const STRETCH: usize = 16;

/// A decoded sound.
#[derive(Clone, Debug, PartialEq)]
pub struct Sound {
    /// What it is kept and written in, such as `wave, pcm_s16le`.
    pub made_of: String,
    /// Moments a second.
    pub rate: u32,
    pub channels: usize,
    /// Of what was decoded.
    pub length: Duration,
    /// How loud it is, from 0 to 1, in columns from its begin to its end; at most 400 of them.
    pub loudness: Vec<f32>,
    /// What is odd: declared as something else, cut off, broken in the middle.
    pub notes: Vec<String>,
}

impl Sound {
    /// Decodes the sound of a block, by its position in `content`.
    pub(super) fn of(subject: &Subject, index: usize, cancel: &Cancel) -> Result<Self, Stop> {
        let block = subject.reading.blocks.get(index);
        let size = block.and_then(|block| block.data_bytes).unwrap_or_default();
        if size > MAX_BYTES {
            let what = format!("the sound has {size} bytes, more than the {MAX_BYTES} that are decoded");
            return Err(other_program(Kind::Usage, what, index).into());
        }
        let bytes = subject.reading.block_bytes(index)?.to_vec();
        Self::decode(bytes, block.and_then(|block| block.mime_type.as_deref()), index, cancel)
    }

    fn decode(bytes: Vec<u8>, declared: Option<&str>, index: usize, cancel: &Cancel) -> Result<Self, Stop> {
        let size = bytes.len();
        let unknown = |error: Error| match error {
            Error::Unsupported(_) | Error::IoError(_) => {
                other_program(Kind::Malformed, format!("{size} bytes that are no sound in WAV, MP3 or FLAC"), index)
            }
            error => other_program(Kind::Malformed, format!("the sound cannot be decoded: {error}"), index),
        };
        let source = MediaSourceStream::new(Box::new(Cursor::new(bytes)), Default::default());
        let mut reader = symphonia::default::get_probe()
            .probe(&Hint::new(), source, FormatOptions::default(), MetadataOptions::default())
            .map_err(unknown)?;
        let none = || other_program(Kind::Malformed, "there is no sound in it".into(), index);
        let track = reader.default_track(TrackType::Audio).ok_or_else(none)?;
        let id = track.id;
        let codec = track.codec_params.as_ref().and_then(|parameters| parameters.audio()).ok_or_else(none)?;
        let mut decoder =
            symphonia::default::get_codecs().make_audio_decoder(codec, &AudioDecoderOptions::default()).map_err(unknown)?;
        let container = reader.format_info().short_name;
        let made_of = format!("{container}, {}", decoder.codec_info().short_name);
        let mut heard = Heard::default();
        heard.hear(&mut *reader, &mut *decoder, id, cancel)?;
        if heard.rate == 0 || heard.frames == 0 {
            return Err(none().into());
        }
        let mut notes = heard.notes;
        if let (Some(declared), Some((kind, names))) = (declared, type_of(container))
            && !names.iter().any(|name| declared.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(name))
        {
            notes.push(format!("declared as {declared}, but it is {kind}"));
        }
        Ok(Self {
            made_of,
            rate: heard.rate,
            channels: heard.channels,
            // Far below 2^53.
            length: Duration::from_secs_f64(heard.frames as f64 / f64::from(heard.rate)),
            loudness: columns(&heard.stretches),
            notes,
        })
    }
}

/// What was decoded so far.
#[derive(Default)]
struct Heard {
    rate: u32,
    channels: usize,
    frames: u64,
    stretches: Vec<f32>,
    notes: Vec<String>,
}

impl Heard {
    fn hear(
        &mut self,
        reader: &mut dyn FormatReader,
        decoder: &mut dyn AudioDecoder,
        track: u32,
        cancel: &Cancel,
    ) -> Result<(), Stop> {
        let mut broken = 0_u64;
        loop {
            cancel.check()?;
            if self.frames >= MAX_FRAMES {
                self.notes.push("only its first part was decoded".into());
                break;
            }
            let packet = match reader.next_packet() {
                Ok(Some(packet)) if packet.track_id == track => packet,
                Ok(Some(_)) => continue,
                Ok(None) => break,
                Err(Error::IoError(error)) if error.kind() == ErrorKind::UnexpectedEof => {
                    // What is written as a stream often declares more than will ever come.
                    self.notes.push("it ends before the length that its header declares".into());
                    break;
                }
                Err(error) => {
                    self.notes.push(format!("it breaks off: {error}"));
                    break;
                }
            };
            match decoder.decode(&packet) {
                Ok(part) => self.take(&part),
                Err(Error::DecodeError(_) | Error::IoError(_)) => broken += 1,
                Err(error) => {
                    self.notes.push(format!("it breaks off: {error}"));
                    break;
                }
            }
        }
        if broken > 0 {
            self.notes.push(format!("{broken} parts of it cannot be decoded"));
        }
        Ok(())
    }

    fn take(&mut self, part: &GenericAudioBufferRef<'_>) {
        self.rate = part.spec().rate();
        self.channels = part.num_planes();
        self.frames += part.frames() as u64;
        let mut samples: Vec<f32> = Vec::new();
        part.copy_to_vec_interleaved(&mut samples);
        let stretch = STRETCH * self.channels.max(1);
        self.stretches.extend(samples.chunks(stretch).map(loudest));
    }
}

fn loudest(samples: &[f32]) -> f32 {
    samples.iter().fold(0.0_f32, |most, sample| most.max(sample.abs())).min(1.0)
}

/// The loudest of each column.
fn columns(stretches: &[f32]) -> Vec<f32> {
    let wide = stretches.len().div_ceil(COLUMNS).max(1);
    stretches.chunks(wide).map(loudest).collect()
}

/// The type of a container, and the names that it goes by; `None` where it is not known what it should be declared as.
fn type_of(container: &str) -> Option<(&'static str, &'static [&'static str])> {
    match container {
        "wave" => Some(("audio/wav", &["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave", "audio/x-pn-wav"])),
        "mp1" | "mp2" | "mp3" => {
            Some(("audio/mpeg", &["audio/mpeg", "audio/mp3", "audio/mpeg3", "audio/x-mp3", "audio/x-mpeg", "audio/mpa"]))
        }
        "flac" => Some(("audio/flac", &["audio/flac", "audio/x-flac"])),
        _ => None,
    }
}

fn other_program(kind: Kind, what: String, index: usize) -> Problem {
    Problem::new(kind, what).at(format!("content[{index}]")).hint("save it and open it with another program")
}

/// The sound at this position in `content`, decoded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SoundQuery(pub usize);

impl Query for SoundQuery {
    type Out = Arc<Sound>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(Sound::of(cx.subject()?, self.0, cx.cancel)?))
    }
}

impl Weigh for Sound {
    fn weight(&self) -> usize {
        size_of_val(&*self.loudness)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::subject_of;
    use super::*;

    /// A tone in 16 bits, half as loud in its second half.
    fn wave(rate: u32, channels: u16, frames: u32) -> Vec<u8> {
        let size = frames * u32::from(channels) * 2;
        let mut bytes = b"RIFF".to_vec();
        bytes.extend((36 + size).to_le_bytes());
        bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0");
        bytes.extend(channels.to_le_bytes());
        bytes.extend(rate.to_le_bytes());
        bytes.extend((rate * u32::from(channels) * 2).to_le_bytes());
        bytes.extend((channels * 2).to_le_bytes());
        bytes.extend(b"\x10\0data");
        bytes.extend(size.to_le_bytes());
        for frame in 0..frames {
            let high = if frame < frames / 2 { 32_000_i16 } else { 16_000 };
            let sample = if frame % 20 < 10 { high } else { -high };
            (0..channels).for_each(|_| bytes.extend(sample.to_le_bytes()));
        }
        bytes
    }

    fn decode(bytes: Vec<u8>, declared: Option<&str>) -> Result<Sound, Problem> {
        Sound::decode(bytes, declared, 3, &Cancel::new()).map_err(|stop| match stop {
            Stop::Problem(problem) => problem,
            Stop::Cancelled(_) => panic!("nobody looked away"),
        })
    }

    #[test]
    fn a_sound_tells_its_length_and_how_loud_it_is() {
        let sound = decode(wave(8_000, 2, 16_000), Some("audio/x-wav")).unwrap();
        assert_eq!((sound.rate, sound.channels, sound.length), (8_000, 2, Duration::from_secs(2)));
        assert!(sound.made_of.contains("pcm_s16le"), "{}", sound.made_of);
        assert!(sound.notes.is_empty() && sound.loudness.len() <= COLUMNS, "{:?}", sound.notes);
        let (first, last) = (sound.loudness[0], sound.loudness[sound.loudness.len() - 1]);
        assert!((first - 0.977).abs() < 0.01 && (last - 0.488).abs() < 0.01, "{first} {last}");
        assert!(columns(&vec![0.5; 100_000]).len() <= COLUMNS);
    }

    #[test]
    fn what_it_is_not_is_said() {
        let sound = decode(wave(8_000, 1, 800), Some("audio/mpeg")).unwrap();
        assert_eq!(sound.notes, ["declared as audio/mpeg, but it is audio/wav"]);
        let mut cut = wave(8_000, 1, 8_000);
        cut.truncate(4_000);
        let sound = decode(cut, None).unwrap();
        assert!(sound.length < Duration::from_millis(500) && sound.notes[0].contains("its header declares"), "{sound:?}");
        for rubbish in [&b"<html>"[..], b"RIFF\xff\xff\xff\xffWAVE", b"ID3", b"", b"OggS\0\0", &[0xff; 4_000]] {
            let problem = decode(rubbish.to_vec(), None).unwrap_err();
            assert_eq!((problem.kind, problem.place.as_str()), (Kind::Malformed, "content[3]"), "{problem}");
        }
        let subject = subject_of(r#"{"content":[{"type":"audio","mimeType":"audio/wav","data":"aGk="}]}"#);
        assert!(Sound::of(&subject, 0, &Cancel::new()).is_err());
    }
}
