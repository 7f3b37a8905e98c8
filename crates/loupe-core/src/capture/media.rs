//! The bytes that a block of `content` carries as base64: pictures, sounds, files.
//!
//! Decoded leniently, as clients do: either alphabet, with or without padding, white space left out.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{Block, ParsedResponse};
use crate::problem::{Problem, ProblemKind};

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

impl ParsedResponse {
    /// The decoded `data` or `blob` of a block, by its position in `content`.
    ///
    /// # Errors
    /// There is no such block, it carries no data, or the data is not base64.
    pub fn block_bytes(&self, index: usize) -> Result<Vec<u8>, Problem> {
        let place = format!("content[{index}]");
        let block = self.blocks.get(index).and_then(|block| self.encoded(block));
        let data = block.ok_or_else(|| {
            Problem::new(ProblemKind::NotFound, "the block carries no data").at(&place)
        })?;
        let plain: Vec<u8> = data
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                byte => byte,
            })
            .collect();
        LENIENT.decode(plain).map_err(|error| {
            Problem::new(
                ProblemKind::Malformed,
                format!("the data is not base64: {error}"),
            )
            .at(&place)
            .hint("look at what was sent with *On the wire*")
        })
    }

    /// Width and height of the image in a block, from its head; `None` of what is no image of a known kind.
    pub fn image_size(&self, index: usize) -> Option<(u32, u32)> {
        let size = imagesize::blob_size(&self.block_bytes(index).ok()?).ok()?;
        Some((size.width.try_into().ok()?, size.height.try_into().ok()?))
    }

    fn encoded(&self, block: &Block) -> Option<std::borrow::Cow<'_, str>> {
        let node = self.doc.node(block.node)?;
        let member = node
            .get("data")
            .or_else(|| node.get("blob"))
            .or_else(|| node.get("resource")?.get("blob"))?;
        member.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(content: &str, index: usize) -> Result<Vec<u8>, Problem> {
        ParsedResponse::read(
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{content}]}}}}"#).into(),
        )
        .block_bytes(index)
    }

    #[test]
    fn either_alphabet_with_and_without_padding() {
        for data in ["-_-_aGk=", "+/+/aGk", "+/\\n+/ aGk="] {
            let found = bytes(
                &format!(r#"{{"type":"image","mimeType":"image/png","data":"{data}"}}"#),
                0,
            );
            assert_eq!(found.unwrap(), [0xfb, 0xff, 0xbf, b'h', b'i'], "{data}");
        }
        let embedded = r#"{"type":"text","text":"a"},{"type":"resource","resource":{"uri":"a:b","blob":"aGk="}}"#;
        assert_eq!(bytes(embedded, 1).unwrap(), b"hi");
    }

    #[test]
    fn what_is_no_data_says_so() {
        assert_eq!(
            bytes(r#"{"type":"text","text":"a"}"#, 0).unwrap_err().kind,
            ProblemKind::NotFound
        );
        assert_eq!(bytes("", 3).unwrap_err().place, "content[3]");
        assert_eq!(
            bytes(r#"{"type":"image","mimeType":"a","data":"a*b"}"#, 0)
                .unwrap_err()
                .kind,
            ProblemKind::Malformed
        );
    }
}
