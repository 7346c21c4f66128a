//! `shoal calibrate`: a table of points in, a calibration file out, or a refusal that says what to do.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use glam::DVec3;

use crate::calibration::{CalibrationParams, Report, Setup, calibrate as fit, read_points};
use crate::config::{read_text, write_atomically};

/// What `shoal calibrate` is asked for.
#[derive(Clone, Debug)]
pub struct CalibrateOptions {
    /// Table of points.
    pub points: PathBuf,
    /// Width and height of the camera's pictures.
    pub camera_size_px: (u32, u32),
    /// Width and height of the projected surface.
    pub surface_m: (f64, f64),
    /// Position of the infrared lamp, if it is known.
    pub lamp_m: Option<DVec3>,
    /// Position of the camera, if it is known better than the fit can tell.
    pub camera_m: Option<DVec3>,
    /// What is good enough.
    pub limits: CalibrationParams,
    /// The calibration file; untouched when the fit is refused.
    pub out: PathBuf,
}

/// Fits, proves, tells the person at the terminal, and writes the file if the fit is accepted.
///
/// # Errors
/// When the table cannot be read, when the fit is refused (with the reasons), or when the file cannot be written.
pub fn calibrate(options: &CalibrateOptions) -> anyhow::Result<ExitCode> {
    let text = read_text(&options.points).map_err(|problem| anyhow!("{problem}"))?;
    let points = read_points(&text)
        .with_context(|| format!("{} cannot be used", options.points.display()))?;
    let setup = Setup {
        picture_px: options.camera_size_px,
        surface_m: options.surface_m,
        lamp_m: options.lamp_m,
        camera_m: options.camera_m,
        date: today(),
    };
    match fit(&points, &setup, &options.limits) {
        Ok((calibration, report)) => {
            write_atomically(&options.out, calibration.to_toml().as_bytes())
                .with_context(|| format!("{} cannot be written", options.out.display()))?;
            let camera = calibration.camera_m.map_or(String::new(), |[x, y, z]| {
                let deviation = report
                    .camera_deviation_m
                    .map_or("as typed".to_owned(), |d| {
                        format!("from the fit, give or take {d:.2} m")
                    });
                format!("camera at {x:.2}, {y:.2}, {z:.2} m ({deviation})\n")
            });
            tell(&format!(
                "{}{camera}accepted: {}\n",
                told(&report),
                options.out.display()
            ));
            Ok(ExitCode::SUCCESS)
        }
        Err(rejection) => {
            if let Some(report) = &rejection.report {
                tell(&told(report));
            }
            let kept = if options.out.exists() {
                format!("\n{} is left as it was", options.out.display())
            } else {
                String::new()
            };
            Err(anyhow!("the calibration is refused:\n{rejection}{kept}"))
        }
    }
}

/// A report in lines.
fn told(report: &Report) -> String {
    let mm = |m: f64| format!("{:.1} mm", m * 1e3);
    let errors = &report.errors;
    let mut text = format!(
        "model: {} ({} points)\nRMS: {}\nleave-one-out: RMS {}, worst {} ({})\npredicted over the surface: RMS {}, worst {}\n\
         coverage: {:.0} % of the surface\n",
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
    let tried: Vec<String> = report
        .candidates
        .iter()
        .map(|(model, error)| format!("{model} {}", mm(*error)))
        .collect();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "leave-one-out of the models tried: {}",
        tried.join("; ")
    );
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// A closed terminal is no reason to stop.
fn tell(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// The date and time of now, ISO 8601 in universal time.
pub(super) fn today() -> String {
    date_of(SystemTime::now())
}

/// ISO 8601 in universal time. **Source**: Hinnant 2013, 'chrono-compatible low-level date algorithms', `civil_from_days`.
fn date_of(time: SystemTime) -> String {
    let secs = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, rest) = (secs / 86_400, secs % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates() {
        for (secs, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_186_799, "2026-11-20T14:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(
                date_of(UNIX_EPOCH + Duration::from_secs(secs)),
                date,
                "{secs}"
            );
        }
    }
}
