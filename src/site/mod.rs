//! Puts every room's parameter structs together: load, check, schema; and changes them while a pool runs: edit, undo, save.
//!
//! In: a site file with the scenes and species beside it, or nothing; commands. Out: a [`Site`] that is checked as a
//! whole, every problem of every file at once, the schema of all of them, and what a living pool has to change. Must not:
//! run anything, hold a parameter of its own, ask a clock.

mod builtin;
mod check;
pub mod edit;
pub mod editor;
pub mod files;
mod library;
mod load;
mod models;
mod report;
mod restart;
pub mod watch;

pub use editor::{Applied, Editor};
pub use files::{IndividualParams, SceneFile, SiteFile, SpeciesFile};
pub use load::{Site, SiteSpecies, load};
pub use report::{CheckReport, check_report, schemas};
pub use watch::{DiskWatch, POLL_SECS};
