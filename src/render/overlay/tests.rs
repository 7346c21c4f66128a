//! Tests that overlay vertices are at their floor positions and that text has its glyphs.

use super::*;
use crate::render::output_params::OutputParams;

fn overlay() -> Overlay {
    let mut overlay = Overlay::default();
    overlay.clear(&Surface::default());
    overlay
}

#[test]
fn a_number_has_one_glyph_per_digit() {
    for (number, digits) in [(0, 1), (7, 1), (42, 2), (u32::MAX, 10)] {
        let mut overlay = overlay();
        overlay.number(Vec2::ZERO, 0.1, number, [1.0; 4]);
        // Two triangles for the background and two per digit.
        assert_eq!(overlay.vertices.len(), 6 * (1 + digits), "{number}");
    }
}

#[test]
fn vertices_map_to_their_floor_positions() {
    let mut overlay = overlay();
    overlay.set_line_width(0.01);
    overlay.cross(Vec2::new(0.5, -0.25), 0.02, [1.0; 4]);
    let output = OutputParams {
        width_px: 800,
        height_px: 600,
        ..OutputParams::default()
    };
    let view = View::new(&Surface::default(), &output).unwrap();
    let mut mapped = Vec::new();
    overlay.clip_vertices(&view, &mut mapped);
    let sum: Vec2 = mapped.iter().map(|c| Vec2::from(c.position)).sum();
    let middle = sum / mapped.len() as f32;
    assert!(
        middle.distance(Vec2::new(0.25, 0.25 / 1.5)) < 1e-4,
        "{middle}"
    );
}

#[test]
fn non_finite_positions_draw_nothing() {
    let mut overlay = overlay();
    overlay.line(Vec2::NAN, Vec2::ZERO, [1.0; 4]);
    overlay.text_line(Vec2::new(f32::INFINITY, 0.0), 0.1, "x", [1.0; 4]);
    assert!(overlay.vertices.is_empty());
}

#[test]
fn every_pattern_draws_something() {
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

#[test]
fn a_notice_is_broken_between_words_and_keeps_clear_of_the_target() {
    let lines: Vec<&str> = wrapped("Ziel 3 von 16. Scheibe auf das Kreuz legen", 15).collect();
    assert_eq!(lines, ["Ziel 3 von 16.", "Scheibe auf das", "Kreuz legen"]);
    let long: Vec<&str> = wrapped("Überspringentaste", 8).collect();
    assert_eq!(long, ["Überspri", "ngentast", "e"]);
    assert_eq!(wrapped("  ", 8).count(), 0);
    let surface = Surface::default();
    for z in [-1.35, 1.35] {
        let mut overlay = Overlay::default();
        overlay.clear(&surface);
        overlay.notice(&FloorNotice {
            text: "Put the disc on the cross and step away. ".repeat(9),
            free_of_m: Some(Vec2::new(1.8, z)),
        });
        assert!(!overlay.vertices.is_empty());
        for vertex in &overlay.vertices {
            let at = Vec2::from(vertex.position);
            assert!(at.abs().cmple(surface.half_extent_m()).all(), "{at}");
            assert!(at.y * z < 0.0, "{at} is on the side of the target");
        }
    }
}
