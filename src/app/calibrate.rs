//! Fits a calibration to a table of measured points, and writes it to a file if it is good enough. This is
//! `shoal calibrate`.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use glam::DVec3;

use crate::calibration::{
    Calibration, CalibrationParams, CalibrationReport, CalibrationSetup, calibrate as fit,
    read_points,
};
use crate::config::read_text;
use crate::files::{OutputKind, check_output, write_atomically};
use crate::records::is_standard_output;
use crate::runtime::{now_iso, text_output};

/// Options of [`calibrate`].
#[derive(Clone, Debug)]
pub struct CalibrateOptions {
    /// File with the table of measured points.
    pub points: PathBuf,
    /// Width and height of the camera's pictures, in pixels.
    pub camera_size_px: (u32, u32),
    /// Width and height of the projected surface, in meters.
    pub surface_m: (f64, f64),
    /// Position of the infrared lamp, in meters; `None` if unknown.
    pub lamp_m: Option<DVec3>,
    /// Position of the camera, in meters, if it was measured more exactly than the fit can estimate it; otherwise `None`.
    pub camera_m: Option<DVec3>,
    /// Largest errors of an accepted calibration.
    pub limits: CalibrationParams,
    /// File to which an accepted calibration is written; `-` is standard output. A rejected calibration does not change it.
    pub out: PathBuf,
}

/// Fits a calibration, prints its errors, and writes the file if the calibration is accepted.
///
/// # Errors
/// When the table cannot be read, the calibration is rejected (with the reasons), or the file cannot be written.
pub fn calibrate(options: &CalibrateOptions) -> anyhow::Result<ExitCode> {
    let prints = is_standard_output(&options.out);
    if !prints {
        check_output(&options.out, OutputKind::File).with_context(|| cannot_be_written(options))?;
        check_replaced(&options.out).with_context(|| cannot_be_written(options))?;
    }
    let text = read_text(&options.points).map_err(|problem| anyhow!("{problem}"))?;
    let points = read_points(&text).with_context(|| options.points.display().to_string())?;
    let setup = CalibrationSetup {
        frame_px: options.camera_size_px,
        surface_m: options.surface_m,
        lamp_m: options.lamp_m,
        camera_m: options.camera_m,
        date: now_iso(),
    };
    match fit(&points, &setup, &options.limits) {
        Ok((calibration, report)) => {
            let toml = calibration.to_toml();
            if prints {
                text_output().write_all(toml.as_bytes())?;
            } else {
                write_atomically(&options.out, toml.as_bytes())
                    .with_context(|| cannot_be_written(options))?;
            }
            let camera = calibration.camera_m.map_or(String::new(), |[x, y, z]| {
                let deviation = report
                    .camera_deviation_m
                    .map_or("as given".to_owned(), |d| {
                        format!("estimated by the fit, ± {d:.2} m")
                    });
                format!("camera at {x:.2}, {y:.2}, {z:.2} m ({deviation})\n")
            });
            let text = format!(
                "{}{camera}accepted: {}\n",
                report_text(&report),
                options.out.display()
            );
            print_report(&text, prints);
            Ok(ExitCode::SUCCESS)
        }
        Err(rejection) => {
            if let Some(report) = &rejection.report {
                print_report(&report_text(report), prints);
            }
            let kept = if !prints && options.out.exists() {
                format!("\n{} is unchanged", options.out.display())
            } else {
                String::new()
            };
            Err(anyhow!("the calibration is rejected:\n{rejection}{kept}"))
        }
    }
}

/// Checks that nothing but a calibration or an empty file is replaced.
fn check_replaced(path: &Path) -> anyhow::Result<()> {
    let Ok(text) = std::fs::read_to_string(path) else {
        let is_new = !path.exists();
        return if is_new { Ok(()) } else { Err(other_file()) };
    };
    let is_calibration = Calibration::parse(&text, "").is_ok();
    anyhow::ensure!(is_calibration || text.trim().is_empty(), other_file());
    Ok(())
}

fn other_file() -> anyhow::Error {
    anyhow!("it exists and is no calibration; give another name, or remove it")
}

fn report_text(report: &CalibrationReport) -> String {
    let mm = |m: f64| format!("{:.1} mm", m * 1e3);
    let errors = &report.errors;
    let mut text = format!(
        "model: {} ({} points)\nRMS error: {}\nleave-one-out error: RMS {}, maximum {} ({})\n\
         predicted error over the surface: RMS {}, maximum {}\ncoverage: {:.0} % of the surface\n",
        report.model,
        report.points,
        mm(errors.rms_m),
        mm(errors.left_out_rms_m),
        mm(errors.left_out_worst_m),
        report.worst_point,
        mm(errors.predicted_rms_m),
        mm(errors.predicted_worst_m),
        errors.coverage * 100.0
    );
    let candidates: Vec<String> = report
        .candidates
        .iter()
        .map(|(model, error)| format!("{model} {}", mm(*error)))
        .collect();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "leave-one-out RMS error of each model: {}",
        candidates.join("; ")
    );
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// Prints to standard output, or to standard error if the calibration itself is printed. A closed terminal is no error.
fn print_report(text: &str, prints_calibration: bool) {
    let _ = if prints_calibration {
        std::io::stderr().lock().write_all(text.as_bytes())
    } else {
        text_output().write_all(text.as_bytes())
    };
}

fn cannot_be_written(options: &CalibrateOptions) -> String {
    format!("{}: cannot be written", options.out.display())
}
