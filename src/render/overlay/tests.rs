//! Marks land where the floor does, and words can be read.

use super::*;
use crate::render::output_params::OutputParams;

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
        assert_eq!(overlay.vertices.len(), 6 * (1 + digits), "{number}");
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
    overlay.clip_vertices(&view, &mut carried);
    let sum: Vec2 = carried.iter().map(|c| Vec2::from(c.position)).sum();
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
    assert!(overlay.vertices.is_empty());
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
        assert!(overlay.vertices.len() > 6 * 64, "{pattern:?}");
    }
}
