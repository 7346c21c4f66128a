//! Tests that overlay vertices are at their floor positions and that text has its glyphs.

use super::*;
use crate::render::output_params::OutputParams;
use shoal_testing::assert_near;

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
    overlay.line_m = 0.01;
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
    assert_near(middle, Vec2::new(0.25, 0.25 / 1.5), 1e-4);
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
        Pattern::Outputs,
    ] {
        let mut overlay = overlay();
        overlay.pattern(pattern, None, std::iter::once((0, &view)));
        assert!(overlay.vertices.len() > 6 * 64, "{pattern:?}");
    }
}

#[test]
fn a_marked_corner_is_at_the_corner_of_its_output() {
    let surface = Surface::default();
    let half = surface.half_extent_m();
    let view = View::new(&surface, &OutputParams::default()).unwrap();
    let drawn = |corner| {
        let mut overlay = overlay();
        overlay.pattern(Pattern::Grid, corner, std::iter::once((1, &view)));
        overlay.vertices
    };
    let plain = drawn(None).len();
    for (is_right, is_lower) in [(false, false), (true, false), (true, true), (false, true)] {
        let corner = OutputCorner {
            output: 1,
            is_right,
            is_lower,
        };
        let vertices = drawn(Some(corner));
        let at = half
            * Vec2::new(f32::from(u8::from(is_right)), f32::from(u8::from(is_lower)))
                .mul_add(Vec2::splat(2.0), Vec2::splat(-1.0));
        let marks = &vertices[plain..];
        let middle =
            marks.iter().map(|v| Vec2::from(v.position)).sum::<Vec2>() / marks.len() as f32;
        assert!(
            middle.distance(at) < 0.5 * half.length(),
            "{middle} near {at}"
        );
    }
    let other = OutputCorner {
        output: 0,
        is_right: false,
        is_lower: false,
    };
    assert_eq!(drawn(Some(other)).len(), plain);
}

#[test]
fn a_notice_is_broken_between_words_and_keeps_clear_of_the_target() {
    let mut lettering = Lettering::default();
    let mut glyphs = |text: &str, width: f32| -> Vec<usize> {
        let lines = lettering.lines(text, width);
        lines.iter().map(|line| line.glyphs.len()).collect()
    };
    let text = "Ziel 3 von 16. Scheibe auf das Kreuz legen";
    assert_eq!(glyphs(text, 6.4), [11, 13, 10]);
    let long = glyphs("Überspringentaste", 3.2);
    assert!(
        long.len() >= 2 && long.iter().sum::<usize>() == 17,
        "{long:?}"
    );
    assert_eq!(glyphs("  ", 3.0).iter().sum::<usize>(), 0);
    let surface = Surface::default();
    for z in [-1.35, 1.35] {
        let mut overlay = Overlay::default();
        overlay.clear(&surface);
        overlay.notice(&FloorNotice {
            text: "Put the disc on the cross and step away. ".repeat(9),
            free_of_m: Some(Vec2::new(1.8, z)),
            code: None,
        });
        assert!(!overlay.vertices.is_empty());
        for vertex in &overlay.vertices {
            let at = Vec2::from(vertex.position);
            assert!(at.abs().cmple(surface.half_extent_m()).all(), "{at}");
            assert!(at.y * z < 0.0, "{at} is on the side of the target");
        }
    }
}

#[test]
fn a_qr_code_has_its_modules_on_a_bright_square() {
    let surface = Surface::default();
    let mut overlay = Overlay::default();
    overlay.clear(&surface);
    let dark = [true, true, false, false, false, true, true, false, true];
    overlay.notice(&FloorNotice {
        code: Some(QrModules {
            width: 3,
            dark: dark.to_vec(),
        }),
        ..FloorNotice::default()
    });
    let side_m = QR_SHARE * surface.height_m.min(surface.width_m);
    let module_m = side_m / 11.0;
    // The color of a place is that of the last triangle that covers it.
    let is_dark = |place: Vec2| {
        let corner = |vertex: &OverlayVertex| Vec2::from(vertex.position);
        let covers = |triangle: &&&[OverlayVertex]| {
            let [a, b, c] = [&triangle[0], &triangle[1], &triangle[2]].map(corner);
            let side = |from: Vec2, to: Vec2| (to - from).perp_dot(place - from);
            let sides = [side(a, b), side(b, c), side(c, a)];
            sides.iter().all(|s| *s >= 0.0) || sides.iter().all(|s| *s <= 0.0)
        };
        let triangles: Vec<&[OverlayVertex]> = overlay.vertices.chunks_exact(3).collect();
        let top = triangles.iter().rev().find(covers);
        top.map(|triangle| triangle[0].color[0] == 0.0)
    };
    for row in 0..11_u8 {
        for column in 0..11_u8 {
            let place =
                (Vec2::new(f32::from(column), f32::from(row)) + 0.4) * module_m - side_m / 2.0;
            let inner = |n: u8| usize::from(n).checked_sub(4).filter(|n| *n < 3);
            let wanted = match (inner(column), inner(row)) {
                (Some(column), Some(row)) => dark[3 * row + column],
                _ => false,
            };
            assert_eq!(is_dark(place), Some(wanted), "module {column}, {row}");
        }
    }
    assert_eq!(is_dark(Vec2::splat(0.6 * side_m)), None, "beside the code");
}
