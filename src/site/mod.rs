//! Combines the parameter structs of all rooms (top-level modules) into the files of a site. Loads and checks these
//! files, returns their schemas, and edits and saves them while a pool runs.
//!
//! In: a site file with the scenes and species beside it, or nothing; commands. Out: a completely checked [`Site`], or all
//! problems of all files at once; the schemas of the files; the changes for the running pool. Must not: run anything, hold a
//! parameter of its own, ask a clock.

mod builtin;
mod cameras;
mod check;
mod dead_configuration;
mod disk_texts;
mod documents;
mod edit;
mod editor;
mod file_watcher;
mod files;
mod findings;
mod fit;
mod guarded;
mod history;
mod inhabitants;
mod inheritance;
mod language;
mod library;
mod load;
mod models;
mod numbers;
mod outside;
mod preview;
mod programs;
mod reasons;
mod reference;
mod report;
mod restart;
mod rules;
mod source;
mod take_over;
mod targets;
mod trial;

pub use cameras::CameraEntry;
pub use documents::DocumentsView;
pub use edit::SpeciesLookup;
pub use editor::{Applied, Editor, EditorState, NEEDS_DRAFT};
pub use file_watcher::{FileWatcher, POLL_INTERVAL};
pub use files::{Fit, IndividualParams, SceneFile, SiteFile, SpeciesFile};
pub use guarded::GuardedValues;
pub use inhabitants::inhabitants;
pub use inheritance::built_in_species;
pub use language::Language;
pub use library::document_file;
pub use load::{NamedLook, Site, SiteSpecies, load, load_suited};
pub use numbers::SpeciesNumber;
pub use preview::{Animal, animal};
pub use reasons::reasons;
pub use reference::{editor_schema, explain, reference_pages};
pub use report::{CheckReport, check_report, schemas};
pub use trial::PopulationTrial;
