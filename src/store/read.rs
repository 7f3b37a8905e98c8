//! Reading files that others put there: only what is a file, and no more of it than is taken. A device, a pipe or a link
//! to one would be read for ever.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use super::Error;

/// Reads a file whole.
///
/// # Errors
/// [`Error::Io`], where it is something else than a file and where it has more than `most` bytes, too.
pub fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let fail = |source: io::Error| Error::io("cannot read", path)(source);
    let data = fs::metadata(path).map_err(fail)?;
    if !data.is_file() {
        return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, "it is no file")));
    }
    let too_long = || fail(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    if data.len() > most {
        return Err(too_long());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or_default());
    // It may grow while it is read.
    File::open(path).map_err(fail)?.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) }
}

/// The same of a file that need not be there.
///
/// # Errors
/// As [`read_file`].
pub(super) fn read_optional(path: &Path, most: u64) -> Result<Option<Vec<u8>>, Error> {
    match read_file(path, most) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
