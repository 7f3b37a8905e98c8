//! The way from an exported test to the fixture that it reads.

use std::path::{Component, Path, PathBuf};

use loupe_analysis::fixture::export::Place;

/// Where the fixture is, seen from the exported file.
pub fn place(fixture: &Path, out: &Path) -> Place {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let fixture = absolute(fixture);
    let folder = if out == Path::new("-") {
        absolute(Path::new("."))
    } else {
        absolute(out)
            .parent()
            .map_or_else(PathBuf::new, Path::to_owned)
    };
    let package = folder
        .ancestors()
        .find(|folder| folder.join("Cargo.toml").is_file());
    // Tests are in a folder of their package, usually `tests`.
    let package = package
        .or_else(|| folder.parent())
        .unwrap_or(&folder)
        .to_owned();
    Place {
        from_file: relative(&folder, &fixture),
        from_package: relative(&package, &fixture),
    }
}

/// The way from one folder to another, with `/` between names; the absolute path where there is none.
fn relative(from: &Path, to: &Path) -> String {
    let plain = |path: &Path| {
        let mut parts: Vec<String> = Vec::new();
        for part in path.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => drop(parts.pop()),
                part => parts.push(part.as_os_str().to_string_lossy().into_owned()),
            }
        }
        parts
    };
    let (from, to) = (plain(from), plain(to));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return to.join("/");
    }
    let up = std::iter::repeat_n("..".to_owned(), from.len() - shared);
    let way: Vec<String> = up.chain(to.into_iter().skip(shared)).collect();
    if way.is_empty() {
        ".".to_owned()
    } else {
        way.join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_fixture() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(way("/a/tests", "/a/fixtures/x"), "../fixtures/x");
        assert_eq!(way("/a", "/a/fixtures/x"), "fixtures/x");
        assert_eq!(way("/a/b/../c", "/a/c"), ".");
    }
}
