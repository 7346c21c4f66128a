//! Calibrating by Gray code: stripes over the surface, for a camera that sees visible light.

use crate::calibration::{GrayAxis, GrayPattern, GrayScan};
use crate::camera::Frame;
use crate::world::{FloorStripes, StripeAxis};

use super::{Calibrating, NO_PICTURE, Procedure};

impl Calibrating {
    /// The stripes to show instead of the pool.
    pub fn stripes(&self) -> Option<FloorStripes> {
        let Some(Procedure::Scanning(scan)) = &self.procedure else {
            return None;
        };
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

    pub(super) fn start_scan(&mut self) -> Result<(), String> {
        let picture_px = self.picture_px.ok_or(NO_PICTURE)?;
        let surface_m = self.setup(picture_px).surface_m;
        let scan = GrayScan::new(surface_m, picture_px).ok_or_else(|| {
            let (width, height) = surface_m;
            format!(
                "a surface of {width} x {height} m is too slender for stripes; use touch targets"
            )
        })?;
        self.procedure = Some(Procedure::Scanning(Box::new(scan)));
        Ok(())
    }

    pub(super) fn scan(&mut self, frame: &Frame, mut scan: Box<GrayScan>) {
        if scan.picture_px() != (frame.width_px, frame.height_px) {
            self.size_changed();
            return;
        }
        let fitted = match scan.observe(frame.time_secs, &self.levels) {
            Ok(None) => {
                self.procedure = Some(Procedure::Scanning(scan));
                Ok(())
            }
            Ok(Some(points)) => self.fit(&points),
            Err(error) => Err(format!("{error}. The old calibration stays.")),
        };
        if let Err(sentence) = fitted {
            self.sentence = sentence;
        }
        self.publish();
    }
}
