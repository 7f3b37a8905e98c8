//! Reading files that others put there: only what is a file, and no more of it than is taken. A device, a pipe or a link
//! to one would be read for ever.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use super::StoreError;

/// The most of a file with answers that is read: twice what a message may have.
pub const MOST_OF_ANSWERS: u64 = 512 << 20;
/// The most of a file of settings that is read, a client's configuration among them.
pub const MOST_OF_SETTINGS: u64 = 16 << 20;

/// Reads a file whole.
///
/// # Errors
/// [`StoreError::Io`], where it is something else than a file and where it has more than `most` bytes, too.
pub fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, StoreError> {
    file_bytes(path, most).map_err(StoreError::io("cannot read", path))
}

/// The same for those who say themselves what cannot be read.
///
/// # Errors
/// As [`read_file`].
pub fn file_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, bytes) = open_file(path)?;
    let too_long = || {
        io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {most} bytes"),
        )
    };
    if bytes > most {
        return Err(too_long());
    }
    let mut read = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default());
    // It may grow while it is read.
    file.take(most.saturating_add(1)).read_to_end(&mut read)?;
    if read.len() as u64 > most {
        Err(too_long())
    } else {
        Ok(read)
    }
}

/// The same as text.
///
/// # Errors
/// As [`read_file`], and where it is not UTF-8.
pub fn file_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(file_bytes(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Opens a file, and says how long it is. What is no file is refused before it is opened, since that alone may wait for
/// ever or set a device going, and once more afterwards, since something else may have come into its place.
fn open_file(path: &Path) -> io::Result<(File, u64)> {
    let is_file = |data: &fs::Metadata| match data.is_file() {
        true => Ok(data.len()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file")),
    };
    is_file(&fs::metadata(path)?)?;
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nix::libc::O_NONBLOCK);
    let file = options.open(path)?;
    let bytes = is_file(&file.metadata()?)?;
    Ok((file, bytes))
}

/// The same of a file that need not be there.
///
/// # Errors
/// As [`read_file`].
pub(super) fn read_optional(path: &Path, most: u64) -> Result<Option<Vec<u8>>, StoreError> {
    match read_file(path, most) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(StoreError::Io { source, .. })
            if source.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_is_read_and_no_more_of_it_than_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "abc").unwrap();
        assert_eq!(file_text(&path, 3).unwrap(), "abc");
        assert!(
            read_file(&path, 2)
                .unwrap_err()
                .to_string()
                .contains("more than 2 bytes")
        );
        fs::write(&path, b"\xff").unwrap();
        assert!(
            file_text(&path, 3)
                .unwrap_err()
                .to_string()
                .contains("it is not UTF-8")
        );
        assert!(
            read_file(folder.path(), 3)
                .unwrap_err()
                .to_string()
                .contains("not a file")
        );
        assert_eq!(read_optional(&folder.path().join("none"), 3).unwrap(), None);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [pipe.as_path(), &link, Path::new("/dev/zero")] {
            assert!(
                read_file(path, u64::MAX)
                    .unwrap_err()
                    .to_string()
                    .contains("not a file"),
                "{}",
                path.display()
            );
            assert!(read_optional(path, 3).is_err());
        }
    }
}
