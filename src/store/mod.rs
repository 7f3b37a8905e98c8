//! Capture folders on disk.
