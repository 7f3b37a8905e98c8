//! Writing files, all of them: whole or not at all, for their owner alone where they may hold answers, and never through a
//! symbolic link. Such a link is refused rather than replaced: whoever made it wanted the file it leads to, or somebody
//! else wants that overwritten, and the user has to say which.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use super::{StoreError, TEMPORARY, parent, sync_folder};

/// Who may read what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// Whoever the process's umask leaves: settings, in which no result stands.
    All,
    /// Its owner: folders are 0700, files 0600.
    Owner,
}

impl Readers {
    #[cfg(unix)]
    fn mode(self, all: u32) -> u32 {
        if self == Self::Owner {
            all & 0o700
        } else {
            all
        }
    }

    /// Makes a folder, and those above it that are not there.
    pub(super) fn make_folder(self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, self.mode(0o777));
        builder.create(path)
    }

    /// How a file is opened for writing that may be made by it; a link is not.
    pub(super) fn open(self) -> fs::OpenOptions {
        let mut options = File::options();
        options.write(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options
                .mode(self.mode(0o666))
                .custom_flags(nix::libc::O_NOFOLLOW);
        }
        options
    }

    /// How a temporary file is made that stays.
    fn temporary(self) -> tempfile::Builder<'static, 'static> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(
            self.mode(0o666),
        ));
        builder
    }
}

/// What there is where something is to be written.
enum Place {
    /// Nothing, or a file; a folder is refused by the system.
    File,
    /// A pipe or a terminal, also by a link such as `/dev/stdout`: what is written there replaces nothing.
    Stream,
}

impl Place {
    /// # Errors
    /// [`StoreError::Link`].
    fn of(path: &Path) -> Result<Self, StoreError> {
        let is_link = path.is_symlink();
        match fs::metadata(path) {
            Ok(data) if is_stream(data.file_type()) => Ok(Self::Stream),
            _ if is_link => Err(StoreError::Link {
                path: path.to_owned(),
            }),
            _ => Ok(Self::File),
        }
    }
}

#[cfg(unix)]
fn is_stream(kind: fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    kind.is_fifo() || kind.is_char_device()
}

#[cfg(not(unix))]
fn is_stream(_kind: fs::FileType) -> bool {
    false
}

/// Writes a file whole or not at all; one that is there is replaced and keeps its readers, a new one is its owner's alone.
///
/// # Errors
/// [`StoreError::Link`], [`StoreError::Io`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_for(path, bytes, Readers::Owner)
}

/// The same of a file that people keep by hand and share: settings, in which no result stands. It may be a link, of which
/// the file that it leads to is written.
///
/// # Errors
/// [`StoreError::Io`].
pub(super) fn write_settings(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let target = fs::canonicalize(path)
        .ok()
        .filter(|target| target.is_file());
    write_for(target.as_deref().unwrap_or(path), bytes, Readers::All)
}

fn write_for(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), StoreError> {
    if let Place::Stream = Place::of(path)? {
        let written = File::options()
            .write(true)
            .open(path)
            .and_then(|mut stream| stream.write_all(bytes));
        return written.map_err(StoreError::io("cannot write", path));
    }
    let parent = parent(path);
    let mut temporary = readers
        .temporary()
        .tempfile_in(&parent)
        .map_err(StoreError::io("cannot create the file", path))?;
    let file = temporary.as_file_mut();
    let kept = fs::metadata(path).map_or(Ok(()), |old| file.set_permissions(old.permissions()));
    let written = kept
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all());
    written.map_err(StoreError::io("cannot write", path))?;
    temporary
        .persist(path)
        .map_err(|error| StoreError::io("cannot put the file in place", path)(error.error))?;
    sync_folder(&parent)
}

/// Opens a file that is written while its content comes, empty; a new one is its owner's alone.
///
/// # Errors
/// [`StoreError::Link`], [`StoreError::Io`].
pub fn create_file(path: &Path) -> Result<File, StoreError> {
    let opened = match Place::of(path)? {
        Place::Stream => File::options().write(true).open(path),
        Place::File => Readers::Owner.open().create(true).truncate(true).open(path),
    };
    opened.map_err(StoreError::io("cannot create the file", path))
}

/// Writes a file that is not there yet.
///
/// # Errors
/// [`StoreError::Io`].
pub(super) fn write_new_file(
    path: &Path,
    bytes: &[u8],
    readers: Readers,
) -> Result<(), StoreError> {
    let mut file = readers
        .open()
        .create_new(true)
        .open(path)
        .map_err(StoreError::io("cannot create the file", path))?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(StoreError::io("cannot write", path))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_file_is_its_owners_and_one_that_is_there_keeps_its_readers() {
        let folder = tempfile::tempdir().unwrap();
        let [whole, stream] = ["whole", "stream"].map(|name| folder.path().join(name));
        for _ in 0..2 {
            write_whole(&whole, b"one").unwrap();
            create_file(&stream).unwrap().write_all(b"two").unwrap();
            assert_eq!([mode(&whole), mode(&stream)], [0o600, 0o600]);
        }
        for path in [&whole, &stream] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
        }
        write_whole(&whole, b"1").unwrap();
        create_file(&stream).unwrap();
        assert_eq!([mode(&whole), mode(&stream)], [0o640, 0o640]);
        assert_eq!(
            (fs::read(&whole).unwrap(), fs::read(&stream).unwrap()),
            (b"1".to_vec(), Vec::new())
        );
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, dangling] =
            ["file", "link", "dangling"].map(|name| folder.path().join(name));
        fs::write(&file, "mine").unwrap();
        symlink(&file, &link).unwrap();
        symlink(folder.path().join("nothing"), &dangling).unwrap();
        for link in [&link, &dangling] {
            assert!(matches!(
                write_whole(link, b"x"),
                Err(StoreError::Link { .. })
            ));
            assert!(matches!(create_file(link), Err(StoreError::Link { .. })));
            assert!(
                Readers::Owner
                    .open()
                    .create(true)
                    .append(true)
                    .open(link)
                    .is_err()
            );
            assert!(link.is_symlink());
        }
        assert_eq!(fs::read(&file).unwrap(), b"mine");
        assert!(!folder.path().join("nothing").exists());
        // Settings that the user keeps elsewhere stay there.
        write_settings(&link, b"theirs").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"theirs");
    }

    #[test]
    fn a_stream_is_written_into() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("null");
        symlink("/dev/null", &link).unwrap();
        for path in [&link, Path::new("/dev/null")] {
            write_whole(path, b"x").unwrap();
            create_file(path).unwrap().write_all(b"x").unwrap();
        }
        assert!(
            fs::metadata("/dev/null").unwrap().permissions().mode() & 0o666 == 0o666
                && !Path::new("/dev/null").is_file()
        );
    }
}
