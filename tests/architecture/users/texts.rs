//! The texts in which users of a thing are found: documents, scripts and the pages of the panel.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{files, root};

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn joined(paths: &[std::path::PathBuf]) -> String {
    paths.iter().map(|path| read(path) + "\n").collect()
}

/// Returns the README and the documents in `docs`, without the reference: it lists everything, also what has no user.
pub(super) fn documents() -> String {
    let mut paths = files(&root().join("docs"), &[".md"]);
    paths.retain(|path| {
        !path
            .components()
            .any(|part| part.as_os_str() == "reference")
    });
    paths.push(root().join("README.md"));
    joined(&paths)
}

/// Returns the scripts, and the files of the package.
pub(super) fn scripts() -> String {
    let mut paths = files(&root().join("scripts"), &[""]);
    paths.extend(files(&root().join("packaging"), &[""]));
    joined(&paths)
}

/// Returns the code of the panel's pages. Their messages are left out, because they also name what no page uses.
pub(super) fn pages() -> String {
    let mut paths = files(&root().join("src/panel/assets"), &[".js", ".html"]);
    paths.retain(|path| !path.components().any(|part| part.as_os_str() == "messages"));
    joined(&paths)
}

/// Returns the parts of documents between backticks: single words and whole examples.
pub(super) fn code_of(documents: &str) -> String {
    let parts = documents.split("```").enumerate();
    let code = parts.map(|(number, part)| match number % 2 {
        1 => part.to_owned(),
        _ => part
            .split('`')
            .skip(1)
            .step_by(2)
            .collect::<Vec<_>>()
            .join("\n"),
    });
    code.collect::<Vec<_>>().join("\n")
}

/// Returns the TOML examples in documents.
pub(super) fn toml_examples(documents: &str) -> Vec<String> {
    let parts = documents.split("```").skip(1).step_by(2);
    let examples = parts.filter_map(|part| part.strip_prefix("toml\n"));
    examples.map(str::to_owned).collect()
}

/// Returns the words of a text.
pub(super) fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect()
}
