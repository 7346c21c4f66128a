//! Marks land where the floor does, and words can be read.

use super::*;
use crate::render::projector::OutputParams;

#[test]
fn words_at_fish_keep_clear_of_each_other_and_inside() {
    let mut overlay = overlay();
    let half = overlay.surface.half_extent_m();
    let mark = |x: f32| Annotation {
        layer: Layer::Mind,
        shape: Shape::Point(Vec3::new(x, 0.0, 0.2)),
        text: "school: flock".to_owned(),
    };
    let marks: Vec<_> = (0..12).map(|i| mark(half.x - 0.02 * i as f32)).collect();
    overlay.annotations(&marks);
    assert_eq!(overlay.taken.len(), marks.len());
    for (i, [low, high]) in overlay.taken.iter().enumerate() {
        assert!(low.abs().cmple(half).all() && high.abs().cmple(half).all());
        for [a, b] in &overlay.taken[i + 1..] {
            assert!(!(low.cmplt(*b).all() && high.cmpgt(*a).all()), "{low} {a}");
        }
    }
}

/// Fish that tremble on the spot: their words, placed anew in every frame, would change lines all the time.
#[test]
fn words_stay_in_their_lines_while_they_can() {
    let frame = |time: f32| -> Vec<Annotation> {
        let mark = |i: usize| {
            let angle = i as f32 * 2.4 + time;
            let trembling = Vec3::new(angle.sin(), 0.0, (1.7 * angle).cos()) * 0.02;
            let home = Vec3::new((i % 4) as f32 * 0.22, 0.0, (i / 4) as f32 * 0.05);
            Annotation {
                layer: Layer::Mind,
                shape: Shape::Point(home + trembling),
                text: "school: flock".to_owned(),
            }
        };
        (0..12).map(mark).collect()
    };
    let rows = |overlay: &Overlay| overlay.rows.iter().map(|r| r.1).collect::<Vec<_>>();
    let (mut kept, mut jumps, mut jumps_anew) = (overlay(), 0, 0);
    let (mut before, mut before_anew) = (Vec::new(), Vec::new());
    for tick in 0..240 {
        let marks = frame(tick as f32 / 10.0);
        let mut anew = overlay();
        kept.annotations(&marks);
        anew.annotations(&marks);
        let changed = |a: &[i8], b: &[i8]| a.iter().zip(b).filter(|(a, b)| a != b).count();
        jumps += changed(&before, &rows(&kept));
        jumps_anew += changed(&before_anew, &rows(&anew));
        (before, before_anew) = (rows(&kept), rows(&anew));
    }
    assert!(
        jumps_anew > 200 && 8 * jumps < jumps_anew,
        "{jumps} of {jumps_anew}"
    );
}

fn overlay() -> Overlay {
    let mut overlay = Overlay::default();
    overlay.clear(&Surface::default());
    overlay
}

#[test]
fn a_number_is_written_with_its_digits() {
    for (number, digits) in [(0, 1), (7, 1), (42, 2), (u32::MAX, 10)] {
        let mut overlay = overlay();
        overlay.number(Vec2::ZERO, 0.1, number, [1.0; 4]);
        // The ground, then a square a digit.
        assert_eq!(overlay.corners.len(), 6 * (1 + digits), "{number}");
    }
}

#[test]
fn marks_land_where_the_floor_does() {
    let mut overlay = overlay();
    overlay.set_line_width(0.01);
    overlay.cross(Vec2::new(0.5, -0.25), 0.02, [1.0; 4]);
    let output = OutputParams {
        width_px: 800,
        height_px: 600,
        ..OutputParams::default()
    };
    let view = View::new(&Surface::default(), &output).unwrap();
    let mut carried = Vec::new();
    overlay.carried(&view, &mut carried);
    let sum: Vec2 = carried.iter().map(|c| Vec2::from(c.place)).sum();
    let middle = sum / carried.len() as f32;
    assert!(
        middle.distance(Vec2::new(0.25, 0.25 / 1.5)) < 1e-4,
        "{middle}"
    );
}

#[test]
fn broken_places_draw_nothing() {
    let mut overlay = overlay();
    overlay.line(Vec2::NAN, Vec2::ZERO, [1.0; 4]);
    overlay.words(Vec2::new(f32::INFINITY, 0.0), 0.1, "x", [1.0; 4]);
    assert!(overlay.corners.is_empty());
}

#[test]
fn every_pattern_has_marks() {
    let view = View::new(&Surface::default(), &OutputParams::default()).unwrap();
    for pattern in [
        Pattern::Corners,
        Pattern::Grid,
        Pattern::Targets {
            columns: 4,
            rows: 4,
        },
        Pattern::Blend,
        Pattern::Rulers,
    ] {
        let mut overlay = overlay();
        overlay.pattern(pattern, std::iter::once(&view));
        assert!(overlay.corners.len() > 6 * 64, "{pattern:?}");
    }
}
