//! The visitors of a run without a camera: from a file of tracks, from a program, or none.

use std::path::Path;

use crate::geometry::Surface;
use crate::life::{VisitorProgram, VisitorScript};
use crate::records::TracksFile;
use crate::runtime::StopFlag;
use crate::world::Observation;

/// The visitors of one run.
pub(super) enum VisitorSource {
    File(TracksFile),
    Script(VisitorScript),
}

impl VisitorSource {
    /// Opens a file of tracks if there is one; otherwise starts a program, or uses no visitors. `surface`, `seed` and `run_secs`
    /// are for the program. When `stop` is set, a file that another program still writes ends.
    ///
    /// # Errors
    /// When the file cannot be read, or its first line is no track line.
    pub(super) fn open(
        file: Option<&Path>,
        program: Option<VisitorProgram>,
        surface: &Surface,
        (seed, run_secs): (u64, f64),
        stop: &StopFlag,
    ) -> anyhow::Result<Self> {
        Ok(match (file, program) {
            (None, Some(program)) => {
                Self::Script(VisitorScript::new(program, surface, seed, run_secs))
            }
            (file, _) => Self::File(TracksFile::open(file, stop)?),
        })
    }

    /// Returns the observation at a time. The time must not be earlier than in the previous call.
    ///
    /// # Errors
    /// When a line of the file is no track line, or is earlier than the line before it.
    pub(super) fn at(&mut self, time_secs: f64) -> anyhow::Result<&Observation> {
        match self {
            Self::File(file) => file.at(time_secs),
            Self::Script(script) => Ok(script.at(time_secs)),
        }
    }
}
