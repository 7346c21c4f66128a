//! The site file with all available scenes and species: the files in the folders beside it, and the built-in
//! documents that no file replaces.
//!
//! In: a folder, or none. Out: parsed files by name, with the positions of their values. The library is cheap to copy, so a
//! change can be tried on a copy. Must not: check the files against each other (`check` does).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::ErrorKind::NotFound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::builtin;
use super::files::{SceneFile, SiteFile, SpeciesFile};
use super::findings::unknown;
use super::inheritance::Texts;
use super::source::{Entries, Entry, SourceText};
use crate::calibration::Calibration;
use crate::config::{self, Problem, Spans, is_blank, schema_of};
use crate::control::DocumentName;
use crate::files::{FileKind, copied_name, document_name_problem, file_kind, is_conflict_copy};

/// Maximum number of files that are read from one folder. A larger number is probably a mistake.
const FILES_MAX: usize = 256;

/// All files of a site.
#[derive(Clone, Debug, Default)]
pub(super) struct Library {
    /// Path of the site file; `None` for the built-in demo.
    pub(super) path: Option<PathBuf>,
    pub(super) site: Option<Arc<Entry<SiteFile>>>,
    pub(super) scenes: Entries<SceneFile>,
    pub(super) species: Entries<SpeciesFile>,
    /// Texts of all scenes, from which `scenes` is parsed. A scene can extend another one.
    pub(super) scene_texts: Texts<SceneFile>,
    /// Texts of all species, from which `species` is parsed. A species can extend another one.
    pub(super) species_texts: Texts<SpeciesFile>,
    /// Files beside the documents that look like documents, but are not read.
    pub(super) left_out: Vec<LeftOut>,
}

/// A file that looks like a document, but is not read.
#[derive(Clone, Debug)]
pub(super) struct LeftOut {
    folder: &'static str,
    stem: String,
    /// The warning about the file.
    pub(super) warning: Problem,
}

impl LeftOut {
    /// Returns the file, if it looks like a document in the folder `folder`, but is not read.
    fn new(folder: &'static str, path: &Path) -> Option<Self> {
        let FileKind::LeftOut { stem, reason } = file_kind(path.file_name()?) else {
            return None;
        };
        let file = path.display().to_string();
        Some(Self {
            folder,
            stem,
            warning: Problem::of_file(file, format!("is not read: {reason}")),
        })
    }

    /// Returns the warning about a document that looks like a copy of another one. It is read: its name can be intended.
    fn copy(folder: &'static str, name: &str, path: &Path, names: &BTreeSet<&str>) -> Option<Self> {
        let original = copied_name(name).find(|original| names.contains(original))?;
        let message = format!(
            "looks like a copy of {original}.toml that a sync program made after a conflict; compare it with the original, then \
             remove or rename it"
        );
        Some(Self {
            folder,
            stem: name.to_owned(),
            warning: Problem::of_file(path.display().to_string(), message),
        })
    }
}

impl Library {
    /// Reads a site file with `scenes/*.toml` and `species/*.toml` beside it, and adds the built-in scenes and species.
    pub(super) fn read(path: Option<&Path>, problems: &mut Vec<Problem>) -> Self {
        let site = match path {
            None => {
                let demo = SourceText::built_in(builtin::SITE, "built-in demo.toml".to_owned());
                parse_document(&demo, problems)
            }
            Some(path) => match read_site(path) {
                Ok(text) => {
                    let file = path.display().to_string();
                    parse_document(&own_text(&text, file, problems), problems)
                }
                // The files beside it are not those of a site.
                Err((problem, IsSite(false))) => {
                    problems.push(problem);
                    return Self::default();
                }
                Err((problem, IsSite(true))) => {
                    problems.push(problem);
                    None
                }
            },
        };
        let (mut scenes, mut species) = (Folder::default(), Folder::default());
        if let Some(path) = path {
            scenes = Folder::read(folder_of(path), SCENES, problems);
            species = Folder::read(folder_of(path), SPECIES, problems);
        }
        let copies = path.map_or_else(Vec::new, conflict_copies_beside);
        let scene_texts: Texts<SceneFile> =
            read_texts(&scenes.documents, (SCENES, builtin::SCENES), problems)
                .into_iter()
                .collect();
        let scene_entries = scene_texts.parse_all(problems);
        let species_texts: Texts<SpeciesFile> =
            read_texts(&species.documents, (SPECIES, builtin::SPECIES), problems)
                .into_iter()
                .collect();
        let species_entries = species_texts.parse_all(problems);
        Self {
            path: path.map(Path::to_path_buf),
            site,
            scenes: scene_entries,
            species: species_entries,
            scene_texts,
            species_texts,
            left_out: (copies.into_iter())
                .chain(scenes.left_out)
                .chain(species.left_out)
                .collect(),
        }
    }

    /// Returns a hint if a file with this name exists, but is not read; otherwise an empty text.
    pub(super) fn left_out_hint(&self, name: &DocumentName) -> String {
        let (folder, name) = match name {
            DocumentName::Site => return String::new(),
            DocumentName::Scene { name } => (SCENES, name),
            DocumentName::Species { name } => (SPECIES, name),
        };
        let mut files = self.left_out.iter();
        files
            .find(|file| file.folder == folder && file.stem == *name)
            .map_or(String::new(), |file| {
                format!("; {} {}", file.warning.file, file.warning.message)
            })
    }

    /// Returns the scene that uses a document, if the document must not disappear because of that. A deleted species or scene
    /// file with a built-in document of the same name is needed only by the shown scene.
    pub(super) fn scene_that_needs(&self, document: &DocumentName) -> Option<&str> {
        let shown = self.site.as_ref().map(|site| site.value.scene.as_str());
        match document {
            DocumentName::Site => None,
            DocumentName::Scene { name } => {
                let is_base = |shown: &&str| self.scene_texts.depends_on(shown, name);
                shown.filter(is_base)
            }
            DocumentName::Species { name } => {
                let is_user = |(scene, entry): &(&String, &Option<Arc<Entry<SceneFile>>>)| {
                    let population = entry.as_ref().map(|entry| &entry.value.population);
                    let needs = |user: &String| self.species_texts.depends_on(user, name);
                    population.is_some_and(|population| population.keys().any(needs))
                        && (self.built_in(document).is_none() || shown == Some(scene.as_str()))
                };
                self.scenes
                    .iter()
                    .find(is_user)
                    .map(|(scene, _)| scene.as_str())
            }
        }
    }

    /// Returns the problem of a scene that an option of the command line names, if there is no such scene: the site file is not to
    /// blame for an option.
    pub(super) fn unknown_scene_option(&self, scene: &str) -> Option<Problem> {
        if self.site.is_none() || self.scenes.contains_key(scene) {
            return None;
        }
        let name = DocumentName::Scene { name: scene.into() };
        let message = unknown("scene", scene, self.scenes.keys()) + &self.left_out_hint(&name);
        Some(Problem::of_file("--scene", message))
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
        Some(file_of(self.path.as_deref()?, name))
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
        let (spans, is_built_in) = self.spans_and_origin(name)?;
        Some((spans.text(), is_built_in))
    }

    /// Returns the positions in a document, and whether it is built in; `None` if it does not exist or could not be parsed.
    fn spans_and_origin(&self, name: &DocumentName) -> Option<(&Spans, bool)> {
        fn of<T>(entry: &Entry<T>) -> (&Spans, bool) {
            (&entry.spans, entry.is_built_in)
        }
        match name {
            DocumentName::Site => self.site.as_deref().map(of),
            DocumentName::Scene { name } => self.scenes.get(name)?.as_deref().map(of),
            DocumentName::Species { name } => self.species.get(name)?.as_deref().map(of),
        }
    }

    /// Creates a problem with the position of a value in a document.
    pub(super) fn problem(&self, name: &DocumentName, path: &str, message: String) -> Problem {
        match self.spans_and_origin(name) {
            Some((spans, _)) => spans.problem(path, message),
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
        let file = (self.file_of(name))
            .map_or_else(|| format!("{name}.toml"), |path| path.display().to_string());
        let document = match (text, self.built_in(name)) {
            (Some(text), _) => Some(own_text(text, file.clone(), problems)),
            (None, Some(text)) => {
                let file = format!("built-in {name}.toml");
                Some(SourceText::built_in(text, file))
            }
            (None, None) => None,
        };
        match (name, document) {
            (DocumentName::Site, Some(document)) => self.site = parse_document(&document, problems),
            (DocumentName::Site, None) => {
                let message = "the site file was deleted; restore it";
                problems.push(Problem::of_file(file, message));
            }
            (DocumentName::Scene { name }, document) => {
                (self.scene_texts).replace_in(&mut self.scenes, name, document, problems);
            }
            (DocumentName::Species { name }, document) => {
                (self.species_texts).replace_in(&mut self.species, name, document, problems);
            }
        }
    }
}

/// Returns the schema of the kind of this document.
pub(super) fn schema_of_kind(name: &DocumentName) -> &'static Value {
    match name {
        DocumentName::Site => schema_of::<SiteFile>(),
        DocumentName::Scene { .. } => schema_of::<SceneFile>(),
        DocumentName::Species { .. } => schema_of::<SpeciesFile>(),
    }
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn file_in(folder: &Path, kind: &str, name: &str) -> PathBuf {
    folder.join(kind).join(format!("{name}.toml"))
}

fn file_of(site: &Path, name: &DocumentName) -> PathBuf {
    match name {
        DocumentName::Site => site.to_path_buf(),
        DocumentName::Scene { name } => file_in(folder_of(site), SCENES, name),
        DocumentName::Species { name } => file_in(folder_of(site), SPECIES, name),
    }
}

/// Returns the problem of a document's name, which is also used as file name; `None` for a valid name.
pub(super) fn name_problem(name: &DocumentName) -> Option<&'static str> {
    let (DocumentName::Scene { name } | DocumentName::Species { name }) = name else {
        return None;
    };
    document_name_problem(name)
}

/// Returns the file of a document beside a site file, whether it exists or not; `None` if the name cannot be that of a file.
pub fn document_file(site: &Path, name: &DocumentName) -> Option<PathBuf> {
    name_problem(name).is_none().then(|| file_of(site, name))
}

/// Returns the documents that exist on the disk, with their paths. A folder that cannot be read is added to
/// `problems`.
pub(super) fn files_on_disk(
    path: &Path,
    problems: &mut Vec<Problem>,
) -> Vec<(DocumentName, PathBuf)> {
    let mut found = vec![(DocumentName::Site, path.to_path_buf())];
    let scenes = Folder::read(folder_of(path), SCENES, problems);
    let species = Folder::read(folder_of(path), SPECIES, problems);
    let scene = |(name, path)| (DocumentName::Scene { name }, path);
    let one_species = |(name, path)| (DocumentName::Species { name }, path);
    found.extend(scenes.documents.into_iter().map(scene));
    found.extend(species.documents.into_iter().map(one_species));
    found
}

/// Reads the texts of the documents of one folder, and adds the built-in texts that no file replaces. The text of a file that
/// cannot be read is empty, so that no built-in text silently replaces it.
fn read_texts(
    documents: &[(String, PathBuf)],
    (folder, built_in): (&str, &[(&str, &str)]),
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, SourceText> {
    let mut texts = BTreeMap::new();
    for (name, path) in documents {
        let file = path.display().to_string();
        let text = match config::read_text(path) {
            Ok(text) => own_text(&text, file, problems),
            Err(problem) => {
                problems.push(problem);
                SourceText::unusable(file)
            }
        };
        texts.insert(name.clone(), text);
    }
    for (name, text) in built_in {
        texts.entry((*name).to_owned()).or_insert_with(|| {
            SourceText::built_in(text, format!("built-in {folder}/{name}.toml"))
        });
    }
    texts
}

/// Whether a file is that of a site.
struct IsSite(bool);

/// Reads the text of a site file.
///
/// # Errors
/// The problem of the file. A folder and a file of another kind are no site.
fn read_site(path: &Path) -> Result<String, (Problem, IsSite)> {
    let no_site = |message: String| {
        let problem = Problem::of_file(path.display().to_string(), message);
        Err((problem, IsSite(false)))
    };
    if path.is_dir() {
        return no_site(match site_files_in(path).as_slice() {
            [] => "is a folder; name a site file, such as FOLDER/site.toml".to_owned(),
            found => format!(
                "is a folder; name the site file in it: {}",
                found.join(" or ")
            ),
        });
    }
    let text = config::read_text(path).map_err(|mut problem| {
        let beside = site_files_in(folder_of(path));
        if !path.exists() && !beside.is_empty() {
            problem.message += &format!("; site files there: {}", beside.join(", "));
        }
        (problem, IsSite(true))
    })?;
    let Some(kind) = other_kind(&text) else {
        return Ok(text);
    };
    let above = path
        .parent()
        .and_then(Path::parent)
        .map_or_else(Vec::new, site_files_in);
    let hint = match above.as_slice() {
        [] => String::new(),
        found => format!(" that uses it: {}", found.join(" or ")),
    };
    no_site(format!(
        "is a {kind} file, not a site file; name the site file{hint}"
    ))
}

/// Returns the site files in a folder, sorted.
fn site_files_in(folder: &Path) -> Vec<String> {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let documents = entries.map(|entry| entry.path()).filter(|path| {
        let kind = path.file_name().map(file_kind);
        matches!(kind, Some(FileKind::Document(_)))
            && config::read_text(path).is_ok_and(|text| other_kind(&text).is_none())
    });
    let mut found: Vec<String> = documents.map(|path| path.display().to_string()).collect();
    found.sort();
    found
}

/// Returns the kind of document whose keys a text has, if it has more of them than keys of a site.
fn other_kind(text: &str) -> Option<&'static str> {
    let table: toml::Table = text.parse().ok()?;
    let known = |schema: &Value| {
        let properties = schema.get("properties").and_then(Value::as_object);
        let is_known = |key: &&String| properties.is_some_and(|keys| keys.contains_key(*key));
        table.keys().filter(is_known).count()
    };
    let kinds = [
        ("scene", schema_of::<SceneFile>()),
        ("species", schema_of::<SpeciesFile>()),
        ("calibration", schema_of::<Calibration>()),
    ];
    let (count, kind) = (kinds.into_iter())
        .map(|(kind, schema)| (known(schema), kind))
        .max_by_key(|(count, _)| *count)?;
    (count > known(schema_of::<SiteFile>())).then_some(kind)
}

/// Returns a text of the user. A text without content is a problem: it is what a power cut or
/// an interrupted copy leaves of a file, and would silently replace everything by defaults.
fn own_text(text: &str, file: String, problems: &mut Vec<Problem>) -> SourceText {
    if is_blank(text) {
        problems.push(Problem::of_file(
            file.clone(),
            "is empty; restore its contents, or write a comment into it if all defaults are wanted",
        ));
        return SourceText::unusable(file);
    }
    SourceText {
        text: text.to_owned(),
        file,
        is_built_in: false,
    }
}

/// Parses a document that extends no other one, and adds its problems to `problems`. `None` if it has no usable value.
fn parse_document<T: JsonSchema + DeserializeOwned>(
    document: &SourceText,
    problems: &mut Vec<Problem>,
) -> Option<Arc<Entry<T>>> {
    if document.is_unusable() {
        return None;
    }
    let (read, found) = config::parse_lenient(&document.text, &document.file);
    problems.extend(found.0);
    let (value, spans) = read?;
    Some(Arc::new(Entry {
        value,
        spans,
        is_built_in: document.is_built_in,
    }))
}

/// Returns the copies that sync programs have made of the site file and of the files beside it. Other names are not checked: the
/// folder can contain any file.
fn conflict_copies_beside(site: &Path) -> Vec<LeftOut> {
    let folder = match folder_of(site) {
        folder if folder.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    // The folder only needs to be listed for this warning.
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<LeftOut> = entries
        .filter(|entry| site.file_name() != Some(&entry.file_name()))
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_name()?.to_string_lossy();
            if is_conflict_copy(&name) {
                return LeftOut::new("", &path);
            }
            let names = site
                .file_stem()
                .and_then(OsStr::to_str)
                .into_iter()
                .collect();
            LeftOut::copy("", name.strip_suffix(".toml")?, &path, &names)
        })
        .collect();
    found.sort_by(|a, b| a.warning.file.cmp(&b.warning.file));
    found
}

/// Name of the folder of scene files, beside the site file.
const SCENES: &str = "scenes";
/// Name of the folder of species files, beside the site file.
const SPECIES: &str = "species";

/// The files of a folder of documents.
#[derive(Debug, Default)]
struct Folder {
    /// Documents by name, with their paths, sorted by name.
    documents: Vec<(String, PathBuf)>,
    left_out: Vec<LeftOut>,
}

impl Folder {
    /// Lists the files of the folder `name` in the folder `site`; none if the folder does not exist.
    fn read(site: &Path, name: &'static str, problems: &mut Vec<Problem>) -> Self {
        let folder = site.join(name);
        let mut found = Self::default();
        let unreadable = |error: std::io::Error| {
            Problem::of_file(
                folder.display().to_string(),
                format!("cannot be read: {error}"),
            )
        };
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            // A link whose target is missing is not the same as no folder.
            Err(error) if error.kind() == NotFound && folder.symlink_metadata().is_err() => {
                return found;
            }
            Err(error) => {
                problems.push(unreadable(error));
                return found;
            }
        };
        for entry in entries {
            let path = match entry {
                Ok(entry) => entry.path(),
                Err(error) => {
                    problems.push(unreadable(error));
                    return found;
                }
            };
            match path.file_name().map(file_kind) {
                Some(FileKind::Document(name)) => found.documents.push((name, path)),
                _ => found.left_out.extend(LeftOut::new(name, &path)),
            }
        }
        found.documents.sort();
        let names: BTreeSet<&str> = found
            .documents
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        let copies = (found.documents.iter())
            .filter_map(|(copy, path)| LeftOut::copy(name, copy, path, &names));
        found.left_out.extend(copies);
        found
            .left_out
            .sort_by(|a, b| a.warning.file.cmp(&b.warning.file));
        let count = found.documents.len();
        if count > FILES_MAX {
            problems.push(Problem::of_file(
                folder.display().to_string(),
                format!("contains {count} files, but at most {FILES_MAX} are read; remove some"),
            ));
            found.documents.truncate(FILES_MAX);
        }
        found
    }
}
