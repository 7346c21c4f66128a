//! Calibration by Gray code: stripes are projected on the surface. Needs a camera that sees visible light.

use crate::calibration::{GrayAxis, GrayPattern, GrayScan};
use crate::camera::Frame;
use crate::render::{FloorStripes, StripeAxis};

use super::{LiveCalibration, NO_PICTURE, Procedure, rejected};

/// Returns the stripes that a scan shows at present; `None` if it shows none.
pub(super) fn stripes(scan: &GrayScan) -> Option<FloorStripes> {
    let pattern = scan.pattern()?;
    let (bright, count) = scan.bright_stripes(pattern);
    let axis = match pattern {
        GrayPattern::Stripes {
            axis: GrayAxis::Row,
            ..
        } => StripeAxis::Rows,
        _ => StripeAxis::Columns,
    };
    Some(FloorStripes {
        axis,
        count,
        bright,
    })
}

impl LiveCalibration {
    pub(super) fn start_scan(&mut self) -> Result<(), String> {
        let picture_px = self.picture_px.ok_or(NO_PICTURE)?;
        let surface_m = self.setup(picture_px).surface_m;
        let scan = GrayScan::new(surface_m, picture_px).ok_or_else(|| {
            let (width, height) = surface_m;
            format!(
                "a surface of {width} x {height} m is too narrow for stripes; use touch targets"
            )
        })?;
        self.procedure = Some(Procedure::Scanning(Box::new(scan)));
        Ok(())
    }

    /// Processes a frame for the running scan. After the last pattern, fits a calibration.
    pub(super) fn scan(&mut self, frame: &Frame, mut scan: Box<GrayScan>) {
        if scan.frame_px() != (frame.width_px, frame.height_px) {
            self.size_changed();
            return;
        }
        let fitted = match scan.observe(frame.time_secs, &self.levels) {
            Ok(None) => {
                self.procedure = Some(Procedure::Scanning(scan));
                Ok(())
            }
            Ok(Some(points)) => self.fit(&points),
            Err(error) => Err(rejected(
                "stripes",
                format!("{error}. The old calibration stays in use."),
            )),
        };
        if let Err(rejection) = fitted {
            self.fail(rejection);
        }
        self.publish();
    }
}
