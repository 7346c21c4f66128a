//! What the stages show to the operator's panel while a client watches: the camera's picture, its foreground mask, tracks, agents,
//! outputs.
//!
//! Each function costs one atomic read if no client watches, and a copy at most ten times a second otherwise.

use std::time::Instant;

use crate::camera::{Frame, Luma};
use crate::panel::{LiveSlot, LiveViews, RawPicture};
use crate::render::ThumbnailPixels;
use crate::simulation::Simulation;
use crate::vision::{Track, Vision};
use crate::world::Snapshot;

use super::super::agents_line::{add_forces, agents_line};
use super::super::observation::track_line;
use super::screen_supervisor::ScreenSupervisor;

/// Number of outputs that can be watched.
const OUTPUTS: usize = 8;
/// Largest width of a camera picture in pixels. Of a larger picture, only every second or third pixel is shown.
const CAMERA_WIDTH_PX: usize = 960;

/// Returns slots for all values that the panel can show.
pub(super) fn live_views() -> LiveViews {
    LiveViews {
        outputs: (0..OUTPUTS).map(|_| Default::default()).collect(),
        ..LiveViews::default()
    }
}

/// Shows a camera frame.
pub(super) fn show_frame(slot: &LiveSlot<RawPicture>, frame: &Frame, now: Instant) {
    if slot.is_due(now) {
        slot.fill(now, |picture| copy_frame(frame, picture));
    }
}

fn copy_frame(frame: &Frame, picture: &mut RawPicture) {
    let (width, height) = (frame.width_px as usize, frame.height_px as usize);
    let every = width.div_ceil(CAMERA_WIDTH_PX).max(1);
    (picture.width_px, picture.height_px) =
        (width.div_ceil(every) as u32, height.div_ceil(every) as u32);
    picture.step = u8::try_from(every).unwrap_or_default();
    picture.pixels.clear();
    let width = width.max(1);
    match &frame.luma {
        Luma::U8(levels) if every == 1 => picture.pixels.extend_from_slice(levels),
        Luma::U8(levels) => {
            for row in levels.chunks_exact(width).step_by(every) {
                picture.pixels.extend(row.iter().step_by(every));
            }
        }
        Luma::U16 { bits, levels } => {
            let shift = bits.saturating_sub(8);
            for row in levels.chunks_exact(width).step_by(every) {
                let shown = row
                    .iter()
                    .step_by(every)
                    .map(|level| (level >> shift) as u8);
                picture.pixels.extend(shown);
            }
        }
    }
}

/// Shows the foreground mask of the last frame. `mask` is reused memory.
pub(super) fn show_mask(views: &LiveViews, vision: &Vision, mask: &mut Vec<bool>, now: Instant) {
    if views.mask.is_due(now) {
        let width = vision.write_foreground(mask);
        views
            .mask
            .fill(now, |picture| copy_mask(mask, width, picture));
    }
}

fn copy_mask(mask: &[bool], width: usize, picture: &mut RawPicture) {
    let every = width.div_ceil(CAMERA_WIDTH_PX).max(1);
    let width = width.max(1);
    let height = mask.len() / width;
    (picture.width_px, picture.height_px) =
        (width.div_ceil(every) as u32, height.div_ceil(every) as u32);
    picture.step = u8::try_from(every).unwrap_or_default();
    picture.pixels.clear();
    for row in mask.chunks_exact(width).step_by(every) {
        let shown = row.iter().step_by(every);
        picture
            .pixels
            .extend(shown.map(|is_covered| 255 * u8::from(*is_covered)));
    }
}

/// Shows the tracks of a frame.
pub(super) fn show_tracks(views: &LiveViews, frame: &Frame, tracks: &[Track], now: Instant) {
    if views.tracks.is_due(now) {
        let line = track_line(frame.sequence, frame.time_secs, tracks);
        views.tracks.fill(now, |shown| *shown = line);
    }
}

/// Shows the agents after a tick.
pub(super) fn show_agents(
    views: &LiveViews,
    simulation: &Simulation,
    snapshot: &Snapshot,
    now: Instant,
) {
    let mut line = agents_line(simulation, snapshot);
    add_forces(simulation, &mut line);
    views.agents.fill(now, |shown| *shown = line);
}

/// Shows the outputs of the screen.
pub(super) fn show_outputs(views: &LiveViews, screen: &mut ScreenSupervisor<'_>, now: Instant) {
    let slot = |output: usize| views.outputs.get(output);
    screen.copy_thumbnails(
        &mut |output| slot(output).is_some_and(|slot| slot.is_due(now)),
        &mut |output, pixels| {
            if let Some(slot) = slot(output) {
                slot.fill(now, |picture| copy_pixels(pixels, picture));
            }
        },
    );
}

fn copy_pixels(from: ThumbnailPixels<'_>, picture: &mut RawPicture) {
    let [width, height] = from.size_px;
    (picture.width_px, picture.height_px) = (width, height);
    picture.step = 0;
    picture.pixels.clear();
    for row in from.rgba.chunks_exact(from.row_bytes.max(1)) {
        let pixels = row.chunks_exact(4).take(width as usize);
        picture
            .pixels
            .extend(pixels.flat_map(|pixel| pixel.iter().take(3)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_deep_camera_pictures_are_reduced() {
        let mut picture = RawPicture::default();
        let (width, height) = (1921, 3);
        let levels = (0..width * height).map(|i| (i % 4096) as u16).collect();
        let frame = Frame {
            width_px: width,
            height_px: height,
            luma: Luma::U16 { bits: 12, levels },
            ..Frame::default()
        };
        copy_frame(&frame, &mut picture);
        assert_eq!((picture.width_px, picture.height_px), (641, 1));
        assert_eq!(picture.step, 3);
        assert_eq!(picture.pixels.len(), 641);
        assert_eq!(picture.pixels[640], (1920 >> 4) as u8);
        let frame = Frame {
            width_px: 2,
            height_px: 2,
            luma: Luma::U8(vec![1, 2, 3, 4]),
            ..Frame::default()
        };
        copy_frame(&frame, &mut picture);
        assert_eq!(
            (picture.width_px, picture.step, picture.pixels.as_slice()),
            (2, 1, &[1, 2, 3, 4][..])
        );
    }

    #[test]
    fn a_mask_has_the_size_of_its_camera_picture() {
        let (width, height) = (1921, 3);
        let mut mask = vec![false; width * height];
        mask[1920] = true;
        let mut picture = RawPicture::default();
        copy_mask(&mask, width, &mut picture);
        assert_eq!(
            (picture.width_px, picture.height_px, picture.step),
            (641, 1, 3)
        );
        assert_eq!((picture.pixels[639], picture.pixels[640]), (0, 255));
        copy_mask(&[], 0, &mut picture);
        assert_eq!((picture.height_px, picture.pixels.len()), (0, 0));
    }

    #[test]
    fn the_unused_end_of_a_row_is_left_out() {
        let mut picture = RawPicture::default();
        let rgba: Vec<u8> = (0..24).collect();
        let pixels = ThumbnailPixels {
            size_px: [2, 2],
            row_bytes: 12,
            rgba: &rgba,
        };
        copy_pixels(pixels, &mut picture);
        assert_eq!(picture.pixels, [0, 1, 2, 4, 5, 6, 12, 13, 14, 16, 17, 18]);
    }
}
