//! The site file with all available scenes and species: the files in the folders beside it, and the built-in
//! documents that no file replaces.
//!
//! In: a folder, or none. Out: parsed files by name, with the positions of their values. The library is cheap to copy, so a
//! change can be tried on a copy. Must not: check the files against each other (`check` does).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::builtin;
use super::files::{SceneFile, SiteFile, SpeciesFile};
use super::inheritance::{DocumentText, SpeciesTexts};
use crate::config::{self, Problem, Spans};
use crate::control::DocumentName;

/// Maximum number of files that are read from one folder. A larger number is probably a mistake.
const FILES_MAX: usize = 256;

/// A parsed file. If the file has problems, its value is used only to check other files against it.
#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    pub(super) value: T,
    pub(super) spans: Spans,
    /// Whether the file is built into the program.
    pub(super) is_built_in: bool,
}

/// Files by name. `None`: the file exists, but could not be parsed. Its problems are in the list of problems.
pub(super) type Entries<T> = BTreeMap<String, Option<Arc<Entry<T>>>>;

/// All files of a site.
#[derive(Clone, Debug, Default)]
pub(super) struct Library {
    /// Path of the site file; `None` for the built-in demo.
    pub(super) path: Option<PathBuf>,
    pub(super) site: Option<Arc<Entry<SiteFile>>>,
    pub(super) scenes: Entries<SceneFile>,
    pub(super) species: Entries<SpeciesFile>,
    /// Texts of all species, from which `species` is parsed. A species can extend another one.
    pub(super) species_texts: SpeciesTexts,
}

impl Library {
    /// Reads a site file with `scenes/*.toml` and `species/*.toml` beside it, and adds the built-in scenes and species.
    pub(super) fn read(path: Option<&Path>, problems: &mut Vec<Problem>) -> Self {
        let site = match path.map(config::read_text) {
            None => parse_built_in(builtin::SITE, "built-in demo.toml", problems),
            Some(Ok(text)) => {
                let file = path.map_or(String::new(), |p| p.display().to_string());
                parse(&text, &file, problems)
            }
            Some(Err(problem)) => {
                problems.push(problem);
                None
            }
        };
        let folder = path.map(folder_of);
        let scenes = read_kind(folder, "scenes", builtin::SCENES, problems);
        let species_texts: SpeciesTexts = read_texts(folder, "species", builtin::SPECIES, problems)
            .into_iter()
            .map(|(name, text)| (name, Arc::new(text)))
            .collect();
        let species = species_texts.keys();
        let species = species.map(|name| (name.clone(), species_texts.parse(name, problems)));
        let species = species.collect();
        Self {
            path: path.map(Path::to_path_buf),
            site,
            scenes,
            species,
            species_texts,
        }
    }

    /// Returns the base folder of relative paths; empty (the working folder) for the built-in site.
    pub(super) fn folder(&self) -> PathBuf {
        self.path
            .as_deref()
            .map_or_else(PathBuf::new, |p| folder_of(p).to_path_buf())
    }

    /// Returns the path of a document's file, even if the file does not exist. `None` for the built-in site, which
    /// has no folder.
    pub(super) fn file_of(&self, name: &DocumentName) -> Option<PathBuf> {
        let path = self.path.as_deref()?;
        Some(match name {
            DocumentName::Site => path.to_path_buf(),
            DocumentName::Scene { name } => file_in(folder_of(path), "scenes", name),
            DocumentName::Species { name } => file_in(folder_of(path), "species", name),
        })
    }

    /// Returns the names of all documents.
    pub(super) fn names(&self) -> Vec<DocumentName> {
        let scene = |name: &String| DocumentName::Scene { name: name.clone() };
        let species = |name: &String| DocumentName::Species { name: name.clone() };
        std::iter::once(DocumentName::Site)
            .chain(self.scenes.keys().map(scene))
            .chain(self.species.keys().map(species))
            .collect()
    }

    /// Returns the text of a document; `None` if the document does not exist or could not be parsed.
    pub(super) fn text(&self, name: &DocumentName) -> Option<&str> {
        self.text_and_origin(name).map(|(text, _)| text)
    }

    /// Returns the text of a document; `None` if the document is built in or does not exist.
    pub(super) fn own_text(&self, name: &DocumentName) -> Option<&str> {
        let found = self.text_and_origin(name);
        found.and_then(|(text, is_built_in)| (!is_built_in).then_some(text))
    }

    fn text_and_origin(&self, name: &DocumentName) -> Option<(&str, bool)> {
        fn of<T>(entry: &Entry<T>) -> (&str, bool) {
            (entry.spans.text(), entry.is_built_in)
        }
        match name {
            DocumentName::Site => self.site.as_deref().map(of),
            DocumentName::Scene { name } => self.scenes.get(name)?.as_deref().map(of),
            DocumentName::Species { name } => self.species.get(name)?.as_deref().map(of),
        }
    }

    /// Creates a problem with the position of a value in a document.
    pub(super) fn problem(&self, name: &DocumentName, path: &str, message: String) -> Problem {
        let spans = match name {
            DocumentName::Site => self.site.as_ref().map(|e| &e.spans),
            DocumentName::Scene { name } => {
                let entry = self.scenes.get(name).and_then(Option::as_ref);
                entry.map(|e| &e.spans)
            }
            DocumentName::Species { name } => {
                let entry = self.species.get(name).and_then(Option::as_ref);
                entry.map(|e| &e.spans)
            }
        };
        match spans {
            Some(spans) => spans.problem(path, message),
            None => Problem {
                path: path.into(),
                ..Problem::of_file(name.to_string(), message)
            },
        }
    }

    /// Returns the text of the built-in document with this name; `None` if there is none.
    pub(super) fn built_in(&self, name: &DocumentName) -> Option<&'static str> {
        let find = |list: &[(&str, &'static str)], name: &str| {
            list.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
        };
        match name {
            DocumentName::Site => self.path.is_none().then_some(builtin::SITE),
            DocumentName::Scene { name } => find(builtin::SCENES, name),
            DocumentName::Species { name } => find(builtin::SPECIES, name),
        }
    }

    /// Gives a document a new text, or removes it. After a removal, the built-in document of the same name applies again.
    pub(super) fn replace(
        &mut self,
        name: &DocumentName,
        text: Option<&str>,
        problems: &mut Vec<Problem>,
    ) {
        fn put<T: JsonSchema + DeserializeOwned>(
            entries: &mut Entries<T>,
            name: &str,
            (text, file): (Text<'_>, &str),
            problems: &mut Vec<Problem>,
        ) {
            let entry = match text {
                Text::Own(text) => parse(text, file, problems),
                Text::BuiltIn(text) => parse_built_in(text, file, problems),
                Text::None => {
                    entries.remove(name);
                    return;
                }
            };
            entries.insert(name.to_owned(), entry);
        }
        let (text, file) = match (text, self.built_in(name)) {
            (Some(text), _) => {
                let own = self.file_of(name).map(|p| p.display().to_string());
                (
                    Text::Own(text),
                    own.unwrap_or_else(|| format!("{name}.toml")),
                )
            }
            (None, Some(text)) => (Text::BuiltIn(text), format!("built-in {name}.toml")),
            (None, None) => (Text::None, own_name(self.path.as_deref())),
        };
        match (name, text) {
            (DocumentName::Site, Text::Own(text)) => self.site = parse(text, &file, problems),
            (DocumentName::Site, Text::BuiltIn(text)) => {
                self.site = parse_built_in(text, &file, problems);
            }
            (DocumentName::Site, Text::None) => {
                problems.push(Problem::of_file(
                    file,
                    "the site file was deleted; restore it",
                ));
            }
            (DocumentName::Scene { name }, text) => {
                put(&mut self.scenes, name, (text, &file), problems);
            }
            (DocumentName::Species { name }, text) => {
                let text = match text {
                    Text::Own(text) => Some((text, false)),
                    Text::BuiltIn(text) => Some((text, true)),
                    Text::None => None,
                };
                let text = text.map(|(text, is_built_in)| DocumentText {
                    text: text.to_owned(),
                    file,
                    is_built_in,
                });
                self.replace_species(name, text, problems);
            }
        }
    }
}

impl Library {
    /// Replaces or removes the text of a species, and parses it and all species that extend it.
    fn replace_species(
        &mut self,
        name: &str,
        text: Option<DocumentText>,
        problems: &mut Vec<Problem>,
    ) {
        self.species_texts.replace(name, text);
        self.species.remove(name);
        for other in self.species_texts.keys() {
            if self.species_texts.depends_on(other, name) {
                let parsed = self.species_texts.parse(other, problems);
                self.species.insert(other.clone(), parsed);
            }
        }
    }
}

/// New text of a document.
enum Text<'t> {
    Own(&'t str),
    BuiltIn(&'t str),
    None,
}

fn own_name(path: Option<&Path>) -> String {
    path.map_or_else(|| "site".to_owned(), |p| p.display().to_string())
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn file_in(folder: &Path, kind: &str, name: &str) -> PathBuf {
    folder.join(kind).join(format!("{name}.toml"))
}

/// Returns the documents that exist on the disk, with their paths. A folder that cannot be read is added to
/// `problems`.
pub(super) fn files_on_disk(
    path: &Path,
    problems: &mut Vec<Problem>,
) -> Vec<(DocumentName, PathBuf)> {
    let folder = folder_of(path);
    let mut found = vec![(DocumentName::Site, path.to_path_buf())];
    for kind in ["scenes", "species"] {
        for path in toml_files(&folder.join(kind), problems) {
            if let Some(name) = path.file_stem().and_then(|n| n.to_str()) {
                let name = name.to_owned();
                let name = match kind {
                    "scenes" => DocumentName::Scene { name },
                    _ => DocumentName::Species { name },
                };
                found.push((name, path));
            }
        }
    }
    found
}

/// Reads and parses all files of a kind that do not depend on each other.
fn read_kind<T: JsonSchema + DeserializeOwned>(
    folder: Option<&Path>,
    kind: &str,
    built_in: &[(&str, &str)],
    problems: &mut Vec<Problem>,
) -> Entries<T> {
    let texts = read_texts(folder, kind, built_in, problems);
    let parse_one = |(name, text): (String, DocumentText)| {
        let entry = match text.is_built_in {
            true => parse_built_in(&text.text, &text.file, problems),
            false => parse(&text.text, &text.file, problems),
        };
        (name, entry)
    };
    texts.into_iter().map(parse_one).collect()
}

/// Reads the texts of all files of a kind, and adds the built-in texts that no file replaces.
fn read_texts(
    folder: Option<&Path>,
    kind: &str,
    built_in: &[(&str, &str)],
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, DocumentText> {
    let mut texts = BTreeMap::new();
    for path in folder.map_or_else(Vec::new, |f| toml_files(&f.join(kind), problems)) {
        let Some(name) = path.file_stem().and_then(|n| n.to_str()) else {
            problems.push(Problem::of_file(
                path.display().to_string(),
                "the file name is not valid Unicode; rename the file",
            ));
            continue;
        };
        let file = path.display().to_string();
        match config::read_text(&path) {
            Ok(text) => {
                let is_built_in = false;
                texts.insert(
                    name.to_owned(),
                    DocumentText {
                        text,
                        file,
                        is_built_in,
                    },
                );
            }
            // The built-in text must not silently replace a file that cannot be read.
            Err(problem) => {
                problems.push(problem);
                let text = String::new();
                texts.insert(
                    name.to_owned(),
                    DocumentText {
                        text,
                        file,
                        is_built_in: false,
                    },
                );
            }
        }
    }
    for (name, text) in built_in {
        texts
            .entry((*name).to_owned())
            .or_insert_with(|| DocumentText {
                text: (*text).to_owned(),
                file: format!("built-in {kind}/{name}.toml"),
                is_built_in: true,
            });
    }
    texts
}

/// Parses a text like [`parse`], and marks the entry as built in.
fn parse_built_in<T: JsonSchema + DeserializeOwned>(
    text: &str,
    file: &str,
    problems: &mut Vec<Problem>,
) -> Option<Arc<Entry<T>>> {
    let entry = parse(text, file, problems)?;
    let mut entry = Arc::into_inner(entry)?;
    entry.is_built_in = true;
    Some(Arc::new(entry))
}

/// Parses one file and adds its problems to `problems`. `None` if the text has no usable value.
fn parse<T: JsonSchema + DeserializeOwned>(
    text: &str,
    file: &str,
    problems: &mut Vec<Problem>,
) -> Option<Arc<Entry<T>>> {
    let (read, found) = config::parse_lenient(text, file);
    problems.extend(found.0);
    let (value, spans) = read?;
    Some(Arc::new(Entry {
        value,
        spans,
        is_built_in: false,
    }))
}

/// Returns the `.toml` files of a folder, sorted by name; empty if the folder does not exist.
fn toml_files(folder: &Path, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(e) => {
            problems.push(Problem::of_file(
                folder.display().to_string(),
                format!("cannot be read: {e}"),
            ));
            return Vec::new();
        }
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    if files.len() > FILES_MAX {
        problems.push(Problem::of_file(
            folder.display().to_string(),
            format!(
                "contains {} files, but at most {FILES_MAX} are read; remove some",
                files.len()
            ),
        ));
        files.truncate(FILES_MAX);
    }
    files
}
