//! The command `shoal calibrate`: its options, and what it runs.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use glam::DVec3;

use super::arguments::{size_m, size_px};
use super::keep_inputs;
use crate::app::calibrate::{self, CalibrateOptions};
use crate::calibration::CalibrationParams;

/// `shoal calibrate`.
#[derive(Debug, Args)]
pub(in crate::app) struct CalibrateArguments {
    /// Table with the columns camera_x_px,camera_y_px,floor_x_m,floor_z_m; at least 6 points, better 16
    #[arg(value_name = "POINTS.csv")]
    points: PathBuf,
    /// Size of the camera's picture in pixels
    #[arg(long, value_name = "WxH", value_parser = size_px)]
    camera_size: (u32, u32),
    /// Size of the projected surface in meters
    #[arg(long, value_name = "WxH", value_parser = size_m)]
    surface: (f64, f64),
    /// Position of the infrared lamp in meters, with y upwards from the surface; needed to find the visitors' feet
    #[arg(long, value_name = "x,y,z", value_parser = position_m, allow_hyphen_values = true)]
    lamp: Option<DVec3>,
    /// Position of the camera in meters; default: estimated from the points. For a camera that looks into a mirror, the position
    /// of its mirror image
    #[arg(long, value_name = "x,y,z", value_parser = position_m, allow_hyphen_values = true)]
    camera: Option<DVec3>,
    /// Output file, - for standard output; a rejected calibration does not change it
    #[arg(long, value_name = "C.toml")]
    out: PathBuf,
}

fn position_m(text: &str) -> Result<DVec3, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|n| n.trim().parse()).collect();
    match numbers.as_deref() {
        Ok([x, y, z]) if [x, y, z].iter().all(|v| v.is_finite() && v.abs() <= 1000.0) => {
            Ok(DVec3::new(*x, *y, *z))
        }
        _ => Err("expected x,y,z in meters, such as 0.2,4.2,-0.3".to_owned()),
    }
}

pub(in crate::app) fn calibrate(arguments: CalibrateArguments) -> anyhow::Result<ExitCode> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_positions_are_parsed_and_checked() {
        assert_eq!(size_px("640x480"), Ok((640, 480)));
        assert!(size_px("640").is_err());
        assert!(size_px("0x480").is_err());
        assert_eq!(size_m("4x2.5"), Ok((4.0, 2.5)));
        assert!(size_m("nanx3").is_err());
        assert_eq!(position_m("0.2,4.2,-0.3"), Ok(DVec3::new(0.2, 4.2, -0.3)));
        assert!(position_m("1,2").is_err());
        assert!(position_m("1,inf,3").is_err());
    }
}
