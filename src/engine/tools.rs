//! Lists of tools that were kept as files, and the tools that captures name.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::state::server_diff::{ToolListing, ToolsRead};
use crate::store;
use loupe_core::capture::{Capture, Tool, listed_tools};
use loupe_core::problem::{Problem, ProblemKind};

/// A larger file is no list of tools.
const MOST: u64 = 256 << 20;

/// The tools of a file; a folder is told to be one.
pub(super) fn read(path: &Path) -> Result<ToolsRead, Problem> {
    if path.is_dir() {
        return Ok(ToolsRead::Folder(path.to_owned()));
    }
    let place = path.display().to_string();
    let bytes = Bytes::from(store::read_file(path, MOST)?);
    let name = path
        .file_name()
        .map_or_else(|| place.clone(), |name| name.to_string_lossy().into_owned());
    if let Some(tools) = listed_tools(&bytes) {
        let tools = tools.into_iter().map(Arc::new).collect();
        return Ok(ToolsRead::List(ToolListing {
            name,
            place,
            tools,
            note: None,
        }));
    }
    let captures = store::read_all_bytes(&bytes, &name, None)?;
    let tools = called_tools(&captures);
    if tools.is_empty() {
        return Err(Problem::new(ProblemKind::Usage, "the file holds no definition of a tool").at(place).hint(
            "choose what `mcp-loupe tools --json SOURCE` prints, a `tools/list` result, a folder of captures, or a record of a session",
        ));
    }
    let note = "Only the tools that were called in this file are known: the others count as if that server had none";
    Ok(ToolsRead::List(ToolListing {
        name,
        place,
        tools,
        note: Some(note.to_owned()),
    }))
}

/// The tools of captures whose definition is known, each once.
fn called_tools(captures: &[Capture]) -> Vec<Arc<Tool>> {
    let mut tools: Vec<Arc<Tool>> = Vec::new();
    for tool in captures
        .iter()
        .map(|capture| &capture.tool)
        .filter(|tool| tool.input_schema.is_some())
    {
        if !tools.iter().any(|known| known.name == tool.name) {
            tools.push(Arc::new(tool.clone()));
        }
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_folders_and_files_without_tools_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tools.json");
        std::fs::write(&file, r#"{"tools":[{"name":"a","inputSchema":{}}]}"#).unwrap();
        let Ok(ToolsRead::List(list)) = read(&file) else {
            panic!("no list")
        };
        assert_eq!(
            (list.name.as_str(), list.tools.len(), list.note),
            ("tools.json", 1, None)
        );
        assert_eq!(
            read(folder.path()).unwrap(),
            ToolsRead::Folder(folder.path().to_owned())
        );
        std::fs::write(&file, r#"{"some":"data"}"#).unwrap();
        let problem = read(&file).unwrap_err();
        assert!(
            problem.what.contains("no definition") && problem.hint.is_some(),
            "{problem:?}"
        );
        assert!(read(&folder.path().join("missing")).is_err());
    }
}
