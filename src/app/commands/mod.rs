//! The commands of the command line, one file per command. Each file converts its arguments to the options of the library code
//! that does the work.

mod arguments;
mod calibrate;
mod cameras;
mod capture_worker;
mod check;
mod child_guard;
mod cluster;
#[cfg(unix)]
mod ctl;
mod demo;
mod explain;
mod generate;
mod life;
mod monitors;
mod plan;
mod preview;
mod render;
mod run;
mod schedule;
mod schema;
mod simulate;
mod sound;
mod track;
mod tune;
mod visitors;

pub(super) use calibrate::{CalibrateArguments, calibrate};
pub(super) use cameras::{CamerasArguments, cameras};
pub(super) use capture_worker::{CaptureWorkerArguments, capture_worker};
pub(super) use check::{CheckArguments, check};
pub(super) use child_guard::{ChildGuardArguments, child_guard};
pub(super) use cluster::{ClusterArguments, cluster};
#[cfg(unix)]
pub(super) use ctl::{CtlArguments, ctl, ctl_help};
pub(super) use demo::{DemoArguments, demo};
pub(super) use explain::{ExplainArguments, explain};
pub(super) use generate::{GenerateArguments, generate};
pub(super) use life::{LifeArguments, life};
pub(super) use monitors::monitors;
pub(super) use plan::{PlanArguments, plan};
pub(super) use preview::{PreviewArguments, preview};
pub(super) use render::{RenderArguments, render};
pub(super) use run::{RunArguments, run};
pub(super) use schedule::{ScheduleArguments, schedule};
pub(super) use schema::{SchemaArguments, schema};
pub(super) use simulate::{SimulateArguments, simulate};
pub(super) use sound::{SoundArguments, sound};
pub(super) use track::{TrackArguments, track};
pub(super) use tune::{TuneArguments, tune, tune_help};
pub(super) use visitors::{VisitorsArguments, visitors};

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::camera::{SourceKind, SourceSpec};
use crate::files::check_not_input;

/// Checks that a command replaces none of the files that it reads.
///
/// # Errors
/// When an output is one of the inputs.
fn keep_inputs<const O: usize, const I: usize>(
    outputs: [Option<&Path>; O],
    inputs: [Option<&Path>; I],
) -> anyhow::Result<()> {
    for output in outputs.into_iter().flatten() {
        check_not_input(output, inputs.into_iter().flatten())
            .with_context(|| format!("{}: cannot be written", output.display()))?;
    }
    Ok(())
}

/// Returns the file that a camera source reads, if it reads one.
fn camera_file(source: &str, folder: &Path) -> Option<PathBuf> {
    match SourceSpec::parse(source).ok()?.kind {
        SourceKind::File(path) => Some(folder.join(path)),
        _ => None,
    }
}
