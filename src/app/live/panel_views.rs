//! What the stages show to the operator's panel while a client watches: the camera's picture, its foreground mask, tracks with
//! their outlines, agents, outputs.
//!
//! Each function costs one atomic read if no client watches, and a copy at most ten times a second otherwise.

use std::time::Instant;

use glam::Vec2;

use crate::camera::{Frame, Luma};
use crate::geometry::{FloorFromCamera, Visitor};
use crate::panel::{LiveSlot, LiveViews, RawPicture, VisitorOutline, VisitorOutlines};
use crate::render::ThumbnailPixels;
use crate::simulation::Simulation;
use crate::vision::Vision;
use crate::world::Snapshot;

use super::mind_line::mind_line;
use crate::control::TrackLine;
use crate::records::{add_forces, agents_line};
use crate::screen::ScreenSupervisor;

/// Number of outputs that can be watched.
const OUTPUTS: usize = 8;
/// Number of fish whose minds can be watched at the same time. Each takes about as long as a fish takes to decide.
const MINDS: usize = 8;
/// Largest width of a camera picture in pixels. Of a larger picture, only every second or third pixel is shown.
const CAMERA_WIDTH_PX: usize = 960;

/// Number of visitors whose outlines are drawn over the camera's picture. An outline has at most 64 corners, so a message has at
/// most some 100 kB.
const OUTLINES_MAX: usize = 100;

/// Returns slots for all values that the panel can show.
pub(super) fn live_views() -> LiveViews {
    LiveViews {
        outputs: (0..OUTPUTS).map(|_| Default::default()).collect(),
        minds: (0..MINDS).map(|_| Default::default()).collect(),
        ..LiveViews::default()
    }
}

/// Shows a camera frame if it is due. Returns whether it was due.
pub(super) fn show_frame(slot: &LiveSlot<RawPicture>, frame: &Frame, now: Instant) -> bool {
    let is_due = slot.is_due(now);
    if is_due {
        slot.fill(now, |picture| copy_frame(frame, picture));
    }
    is_due
}

fn copy_frame(frame: &Frame, picture: &mut RawPicture) {
    let (width, height) = (frame.width_px as usize, frame.height_px as usize);
    let every = width.div_ceil(CAMERA_WIDTH_PX).max(1);
    (picture.width_px, picture.height_px) =
        (width.div_ceil(every) as u32, height.div_ceil(every) as u32);
    picture.step = u8::try_from(every).unwrap_or_default();
    picture.frame = (frame.sequence & 0xff) as u8;
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

/// Shows the tracks of a frame with this number and time.
pub(super) fn show_tracks(
    views: &LiveViews,
    (number, time_secs): (u64, f64),
    tracks: &[Visitor],
    now: Instant,
) {
    if views.tracks.is_due(now) {
        let line = TrackLine::new(number, time_secs, tracks);
        views.tracks.fill(now, |shown| *shown = line);
    }
}

/// Shows the outlines of the visitors. If the picture of this frame is shown, its outlines are too, so that both match. `rename`
/// gives a track the id of its visitor, or returns false.
pub(super) fn show_outlines(
    views: &LiveViews,
    vision: &Vision,
    (frame, is_frame_shown): (&Frame, bool),
    rename: impl Fn(&mut u32) -> bool,
) {
    let (slot, now) = (&views.outlines, Instant::now());
    if slot.is_due(now) || is_frame_shown && slot.is_wanted(now) {
        let map = &vision.view().map;
        slot.fill(now, |shown| {
            *shown = visitor_outlines(frame, vision.tracks(), map);
            shown.visitors.retain_mut(|visitor| rename(&mut visitor.id));
            shown.visitors.sort_by_key(|visitor| visitor.id);
        });
    }
}

fn visitor_outlines(frame: &Frame, tracks: &[Visitor], map: &FloorFromCamera) -> VisitorOutlines {
    // A tenth of a pixel: further digits are noise.
    let pixel = |floor_m: &Vec2| {
        let at = (map.camera_from_floor(floor_m.as_dvec2()) * 10.0).round() / 10.0;
        at.is_finite().then(|| at.as_vec2().to_array())
    };
    let outline = |visitor: &Visitor| {
        Some(VisitorOutline {
            id: visitor.id,
            foot_px: pixel(&visitor.foot_m)?,
            outline_px: visitor.outline_m.iter().filter_map(pixel).collect(),
        })
    };
    VisitorOutlines {
        frame: frame.sequence,
        size_px: [frame.width_px, frame.height_px],
        visitors: tracks
            .iter()
            .filter_map(outline)
            .take(OUTLINES_MAX)
            .collect(),
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

/// Shows the minds of the fish that clients watch.
pub(super) fn show_minds(views: &LiveViews, simulation: &Simulation, now: Instant) {
    for mind in views.minds.iter().filter(|mind| mind.line.is_due(now)) {
        let line = mind_line(simulation, mind.id());
        mind.line.fill(now, |shown| *shown = line);
    }
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
    (picture.step, picture.frame) = (0, 0);
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
    use crate::geometry::Surface;
    use crate::vision::MAX_CORNERS;

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
    fn outlines_are_in_pixels_of_the_frame_and_their_number_is_bounded() {
        let surface = Surface {
            width_m: 4.0,
            height_m: 3.0,
            ..Surface::default()
        };
        let map = FloorFromCamera::whole_frame(640, 480, &surface);
        let corners_px = [(100.0, 50.0), (140.0, 50.0), (120.24, 90.0)];
        let frame = Frame {
            sequence: 300,
            width_px: 640,
            height_px: 480,
            ..Frame::default()
        };
        let floor = |(x, y)| map.floor_from_camera(glam::DVec2::new(x, y)).as_vec2();
        let visitor = |id| Visitor {
            id,
            foot_m: floor((120.0, 70.0)),
            outline_m: corners_px.map(floor).to_vec(),
            ..Visitor::default()
        };
        let mut tracks: Vec<Visitor> = (1..=250).map(visitor).collect();
        tracks[0].foot_m = Vec2::NAN;
        tracks[1].outline_m.push(Vec2::INFINITY);
        let shown = visitor_outlines(&frame, &tracks, &map);
        assert_eq!((shown.frame, shown.size_px), (300, [640, 480]));
        assert_eq!(shown.visitors.len(), OUTLINES_MAX);
        assert_eq!(
            shown.visitors[0],
            VisitorOutline {
                id: 2,
                foot_px: [120.0, 70.0],
                outline_px: vec![[100.0, 50.0], [140.0, 50.0], [120.2, 90.0]],
            }
        );
        let mut picture = RawPicture::default();
        copy_frame(&frame, &mut picture);
        assert_eq!(picture.frame, 44, "the lowest byte of the frame's number");
        let longest = Visitor {
            outline_m: vec![floor((100.1, 400.1)); MAX_CORNERS],
            ..visitor(u32::MAX)
        };
        let shown = visitor_outlines(&frame, &vec![longest; 250], &map);
        let text = serde_json::to_string(&shown).unwrap();
        assert!(text.len() < 110_000, "{} bytes", text.len());
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
