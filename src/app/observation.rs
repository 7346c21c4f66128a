//! Converts the tracks of `vision` to observations for the simulation, and to lines for files. Only this file depends on both
//! `vision` and the simulation.

use glam::Vec2;

use crate::control::{ShadowLine, TrackLine};
use crate::vision::Track;
use crate::world::{Observation, Shadow};

/// Converts a track to a line, with values rounded to 0.1 mm and 0.1 ms; further digits are noise.
pub(super) fn shadow_line_from_track(track: &Track) -> ShadowLine {
    let pair = |p: glam::DVec2| [rounded(p.x), rounded(p.y)];
    ShadowLine {
        id: track.id,
        x_m: rounded(track.centroid_m.x),
        z_m: rounded(track.centroid_m.y),
        foot_m: pair(track.foot_m),
        radius_m: rounded(track.radius_m),
        vx_mps: rounded(track.velocity_mps.x),
        vz_mps: rounded(track.velocity_mps.y),
        area_m2: rounded(track.area_m2),
        age_secs: rounded(track.age_secs),
        still_secs: rounded(track.still_secs),
        contour_m: track.outline_m.iter().copied().map(pair).collect(),
        on_surface: track.on_surface,
    }
}

/// Converts all tracks of a frame to a line.
pub(super) fn track_line(frame: u64, time_secs: f64, tracks: &[Track]) -> TrackLine {
    TrackLine {
        frame,
        time_secs: (time_secs * 1e6).round() / 1e6,
        shadows: tracks.iter().map(shadow_line_from_track).collect(),
    }
}

/// Converts the tracks of a frame to an observation. Tracks outside the surface are left out.
pub(super) fn observation_from_tracks(time_secs: f64, tracks: &[Track]) -> Observation {
    let mut observation = Observation::default();
    update_observation(time_secs, tracks, &mut observation);
    observation
}

/// Converts the tracks of a frame to an observation, and writes it into `to`, whose memory is reused. Tracks outside the
/// surface are left out.
pub fn update_observation(time_secs: f64, tracks: &[Track], to: &mut Observation) {
    to.time_secs = time_secs;
    let mut count = 0;
    for track in tracks.iter().filter(|t| t.on_surface) {
        let outline_m = match to.shadows.get_mut(count) {
            Some(old) => {
                old.outline_m.clear();
                std::mem::take(&mut old.outline_m)
            }
            None => Vec::new(),
        };
        let shadow = shadow_from_track(track, outline_m);
        match to.shadows.get_mut(count) {
            Some(old) => *old = shadow,
            None => to.shadows.push(shadow),
        }
        count += 1;
    }
    to.shadows.truncate(count);
}

/// Moves each visitor to the position that it will reach in `ahead_secs` at its current velocity. This compensates for the
/// latency from camera to projector.
pub(super) fn extrapolate(observation: &mut Observation, ahead_secs: f32) {
    for shadow in &mut observation.shadows {
        let way_m = shadow.velocity_mps * ahead_secs;
        shadow.foot_m += way_m;
        shadow.centroid_m += way_m;
        for corner_m in &mut shadow.outline_m {
            *corner_m += way_m;
        }
    }
}

fn shadow_from_track(track: &Track, mut outline_m: Vec<Vec2>) -> Shadow {
    outline_m.extend(track.outline_m.iter().map(|p| p.as_vec2()));
    Shadow {
        id: track.id,
        centroid_m: track.centroid_m.as_vec2(),
        foot_m: track.foot_m.as_vec2(),
        radius_m: track.radius_m as f32,
        velocity_mps: track.velocity_mps.as_vec2(),
        area_m2: track.area_m2 as f32,
        age_secs: track.age_secs as f32,
        still_secs: track.still_secs as f32,
        outline_m,
    }
}

/// Converts a line to an observation. Tracks outside the surface are left out.
pub(super) fn observation_from_line(line: &TrackLine) -> Observation {
    let point = |p: &[f64; 2]| Vec2::new(p[0] as f32, p[1] as f32);
    let shadow = |line: &ShadowLine| Shadow {
        id: line.id,
        centroid_m: Vec2::new(line.x_m as f32, line.z_m as f32),
        foot_m: point(&line.foot_m),
        radius_m: line.radius_m as f32,
        velocity_mps: Vec2::new(line.vx_mps as f32, line.vz_mps as f32),
        area_m2: line.area_m2 as f32,
        age_secs: line.age_secs as f32,
        still_secs: line.still_secs as f32,
        outline_m: line.contour_m.iter().map(point).collect(),
    };
    Observation {
        time_secs: line.time_secs,
        shadows: line
            .shadows
            .iter()
            .filter(|s| s.on_surface)
            .map(shadow)
            .collect(),
    }
}

/// Rounds to four decimals. Never returns −0, which JSON would show with its sign.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec2;

    fn track(id: u32, on_surface: bool) -> Track {
        Track {
            id,
            centroid_m: DVec2::new(0.123_456, -0.000_01),
            foot_m: DVec2::new(1.0, 2.0),
            outline_m: vec![DVec2::ZERO, DVec2::X, DVec2::Y],
            on_surface,
            ..Track::default()
        }
    }

    #[test]
    fn lines_are_rounded_and_mark_tracks_beside_the_surface() {
        let line = track_line(3, 0.1, &[track(1, true), track(2, false)]);
        let text = serde_json::to_string(&line).unwrap();
        assert!(text.contains(r#""frame":3,"time_secs":0.1"#), "{text}");
        assert!(text.contains(r#""x_m":0.1235,"z_m":0.0,"#), "{text}");
        assert_eq!(text.matches("on_surface").count(), 1);
    }

    #[test]
    fn an_updated_observation_contains_nothing_old() {
        let long = Track {
            outline_m: vec![DVec2::ONE; 9],
            ..track(9, true)
        };
        let mut again = observation_from_tracks(0.0, &[long.clone(), long.clone(), long]);
        for tracks in [
            &[track(1, true), track(2, false)][..],
            &[],
            &[track(3, true)],
        ] {
            update_observation(0.5, tracks, &mut again);
            assert_eq!(again, observation_from_tracks(0.5, tracks));
        }
    }

    #[test]
    fn walking_visitors_are_extrapolated() {
        let walking = Track {
            velocity_mps: DVec2::new(1.0, -0.5),
            ..track(1, true)
        };
        let now = observation_from_tracks(0.0, &[walking, track(2, true)]);
        let mut then = now.clone();
        extrapolate(&mut then, 0.1);
        let way_m = Vec2::new(0.1, -0.05);
        let (before, after) = (&now.shadows[0], &then.shadows[0]);
        assert!(after.foot_m.distance(before.foot_m + way_m) < 1e-6);
        assert!(after.centroid_m.distance(before.centroid_m + way_m) < 1e-6);
        assert!(after.outline_m[2].distance(before.outline_m[2] + way_m) < 1e-6);
        assert_eq!(
            then.shadows[1], now.shadows[1],
            "a standing visitor does not move"
        );
    }

    #[test]
    fn tracks_beside_the_surface_are_left_out() {
        let tracks = [track(1, true), track(2, false), track(5, true)];
        let observed = observation_from_tracks(0.1, &tracks);
        let ids: Vec<_> = observed.shadows.iter().map(|s| s.id).collect();
        assert_eq!(ids, [1, 5]);
        let read = observation_from_line(&track_line(3, 0.1, &tracks));
        assert_eq!(read.shadows.len(), 2);
        assert!(
            read.shadows[1]
                .centroid_m
                .distance(observed.shadows[1].centroid_m)
                < 1e-4
        );
        assert_eq!(read.shadows[0].outline_m, observed.shadows[0].outline_m);
    }
}
