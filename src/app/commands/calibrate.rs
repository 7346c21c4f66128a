//! `shoal calibrate`.

use std::process::ExitCode;

use super::keep_inputs;
use crate::app::calibrate::{self, CalibrateOptions};
use crate::app::cli::CalibrateArguments;
use crate::calibration::CalibrationParams;

pub(super) fn calibrate(arguments: CalibrateArguments) -> anyhow::Result<ExitCode> {
    keep_inputs([Some(&arguments.out)], [Some(&arguments.points)])?;
    calibrate::calibrate(&CalibrateOptions {
        points: arguments.points,
        camera_size_px: arguments.camera_size,
        surface_m: arguments.surface,
        lamp_m: arguments.lamp,
        camera_m: arguments.camera,
        limits: CalibrationParams::default(),
        out: arguments.out,
    })
}
