//! Builds the mapping from the camera's picture to the floor.

use glam::DVec3;

use crate::calibration::Calibration;
use crate::camera::Frame;
use crate::geometry::{FloorFromCamera, Surface};
use crate::runtime::print_message;
use crate::vision::FloorView;

/// Returns the mapping from frames of this size to the floor, according to the calibration. Without a calibration, the whole
/// picture is mapped onto the whole surface. Prints the values that are missing to locate the feet of visitors.
///
/// # Errors
/// When the calibration was made with pictures of another size.
pub(super) fn floor_view(
    calibration: Option<&Calibration>,
    surface: &Surface,
    frame: &Frame,
) -> anyhow::Result<FloorView> {
    let surface = surface.clone();
    let Some(calibration) = calibration else {
        print_message(&format!(
            "no calibration: the whole picture is mapped onto the surface of {} x {} m, and the center of a shadow is used as \
             the visitor's foot point",
            surface.width_m, surface.height_m
        ));
        return Ok(FloorView {
            map: FloorFromCamera::whole_frame(frame.width_px, frame.height_px, &surface),
            lamp_m: None,
            camera_m: None,
            surface,
        });
    };
    let map = calibration.floor_from_camera(frame.width_px, frame.height_px)?;
    if calibration.lamp_m.is_none() {
        print_message(
            "the calibration contains no lamp position: the center of a shadow is used as the visitor's foot point",
        );
    }
    Ok(FloorView {
        map,
        lamp_m: calibration.lamp_m.map(DVec3::from_array),
        camera_m: calibration.camera_m.map(DVec3::from_array),
        surface,
    })
}
