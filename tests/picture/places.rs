//! Tests that objects appear at the expected pixels, with keystone, warp and blended edges.

use shoal::render::{
    CalibrationPattern, Corner, Corners, FloorStripes, Individual, Renderer, StaticForm,
    StaticShape, StripeAxis,
};
use shoal::world::Snapshot;

use crate::golden::warped;
use crate::{linear, stage};

/// The shaders map a point of the surface to the same pixel as [`shoal::render::View`], through a keystone.
#[test]
fn shaders_and_view_map_points_to_the_same_pixels() {
    let Some(gpu) = stage::gpu() else { return };
    let mut setup = stage::setup([640, 360]);
    let corner = |x, y| Corner { x, y };
    setup.outputs[0].corners = Corners {
        top_left: corner(0.12, 0.06),
        top_right: corner(0.95, 0.02),
        bottom_right: corner(0.99, 0.93),
        bottom_left: corner(0.03, 0.97),
    };
    setup.look.reflection = Some(0.0);
    let mut renderer = Renderer::new(gpu, setup).unwrap();
    let mut snapshot = stage::snapshot(0, 0, true);
    let place = glam::Vec2::new(0.83, -0.41);
    let shadow = &mut snapshot.shadows[0];
    shadow.outline_m.clear();
    (shadow.centroid_m, shadow.foot_m, shadow.radius_m) = (place, place, 0.001);
    let mut rgba = [Vec::new(), Vec::new()];
    for (rgba, is_marked) in rgba.iter_mut().zip([false, true]) {
        snapshot.marks_shadows = is_marked;
        renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
        renderer.read(0, rgba).unwrap();
    }
    let expected = renderer
        .views()
        .next()
        .unwrap()
        .pixel_from_world(glam::Vec3::new(place.x, 0.0, place.y));
    // The two images differ by the cross of the overlay and by the number beside the cross. The center of the cross is the
    // point.
    let (mut sum, mut count) = (glam::Vec2::ZERO, 0.0);
    for (i, (a, b)) in rgba[0]
        .chunks_exact(4)
        .zip(rgba[1].chunks_exact(4))
        .enumerate()
    {
        let at = glam::Vec2::new((i % 640) as f32 + 0.5, (i / 640) as f32 + 0.5);
        let differs = a[0].abs_diff(b[0]) > 30 || a[2].abs_diff(b[2]) > 30;
        if differs && at.distance(expected) < 8.5 {
            sum += at;
            count += 1.0;
        }
    }
    assert!(count > 20.0, "the overlay drew {count} pixels");
    assert!(
        (sum / count).distance(expected) < 0.5,
        "{} instead of {expected}",
        sum / count
    );
    // The output is black outside the keystone quadrilateral.
    assert_eq!(rgba[0][..3], [0, 0, 0]);
}

/// The stripes of the Gray code cover the whole surface at their exact positions.
#[test]
fn stripes_cover_the_surface() {
    let Some(gpu) = stage::gpu() else { return };
    let mut renderer = Renderer::new(gpu, stage::setup([320, 180])).unwrap();
    let fish = stage::snapshot(0, 30, false).agents;
    for axis in [StripeAxis::Columns, StripeAxis::Rows] {
        let stripes = FloorStripes {
            axis,
            count: 10,
            bright: 0b10_0011_0101,
        };
        let snapshot = Snapshot {
            agents: fish.clone(),
            ..Snapshot::default()
        };
        renderer.calibration_pattern = Some(CalibrationPattern::Stripes(stripes));
        let mut rgba = Vec::new();
        // Draws 200 images, because the flash limiter changes the brightness only slowly.
        for step in 0..200 {
            let snapshot = Snapshot {
                time_secs: f64::from(step) / 30.0,
                ..snapshot.clone()
            };
            renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
        }
        renderer.read(0, &mut rgba).unwrap();
        let view = renderer.views().next().unwrap();
        for stripe in 0..10 {
            let share = (f64::from(stripe) + 0.5) / 10.0;
            let at = match axis {
                StripeAxis::Columns => glam::Vec3::new(4.0 * (share as f32 - 0.5), 0.0, 0.3),
                StripeAxis::Rows => glam::Vec3::new(0.7, 0.0, 2.25 * (share as f32 - 0.5)),
            };
            let pixel = view.pixel_from_world(at);
            let first = (pixel.y as usize * 320 + pixel.x as usize) * 4;
            let wanted = if stripes.bright >> stripe & 1 == 1 {
                255
            } else {
                0
            };
            assert_eq!(
                rgba[first..first + 3],
                [wanted; 3],
                "stripe {stripe} of {axis:?}"
            );
        }
    }
}

/// A body is drawn at the pixel to which [`shoal::render::View`] maps it, if the water surface is flat.
#[test]
fn a_fish_is_drawn_at_its_position() {
    let Some(gpu) = stage::gpu() else { return };
    let mut setup = stage::setup([640, 360]);
    (setup.look.swell, setup.look.reflection) = (0.0, Some(0.0));
    setup.static_shapes.clear();
    let look = setup.species[0].0.clone();
    let mut renderer = Renderer::new(gpu, setup).unwrap();
    let mut fish = stage::snapshot(0, 1, false).agents[0];
    // The fish is near the water surface, so that its shadow is far from its body.
    (fish.position_m, fish.forward, fish.up) = (
        glam::Vec3::new(-0.9, -0.2, 0.3),
        glam::Vec3::X,
        glam::Vec3::Y,
    );
    (fish.velocity_mps, fish.turn_rate_rps) = (glam::Vec3::ZERO, 0.0);
    let mut rgba = [Vec::new(), Vec::new()];
    for (rgba, agents) in rgba.iter_mut().zip([vec![], vec![fish]]) {
        let snapshot = Snapshot {
            agents,
            ..Snapshot::default()
        };
        renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
        renderer.read(0, rgba).unwrap();
    }
    let nose = renderer.views().next().unwrap().pixel_from_world(
        fish.position_m + glam::Vec3::X * Individual::new(fish.id, &look).length_m / 2.0,
    );
    let differs = |x: f32, y: f32| {
        let at = (y as usize * 640 + x as usize) * 4;
        rgba[0][at].abs_diff(rgba[1][at]) > 25
    };
    assert!(
        (0..12).all(|i| differs(nose.x - 3.0 - 8.0 * i as f32, nose.y)),
        "the body is behind the nose at {nose} px"
    );
    assert!(
        (4..12).all(|i| !differs(nose.x + i as f32, nose.y)),
        "nothing is in front of the nose at {nose} px"
    );
}

/// In the overlap of two blended outputs, the sum of their light equals the light of a single output.
#[test]
fn two_blended_outputs_add_up_to_one_picture() {
    let Some(gpu) = stage::gpu() else { return };
    let (width, height) = (480, 270);
    let part = |left: f64, right: f64| {
        let mut output = stage::setup([width, height]).outputs.remove(0);
        (output.crop.left, output.crop.right) = (left, right);
        output.width_px = (f64::from(width) * (right - left)).round() as u32;
        output.blend.gamma = 1.8;
        output
    };
    let mut setup = stage::setup([width, height]);
    setup.outputs.extend([part(0.0, 0.6), part(0.4, 1.0)]);
    // The overlap is a third of the width of each crop.
    setup.outputs[1].blend.right = 1.0 / 3.0;
    setup.outputs[2].blend.left = 1.0 / 3.0;
    let mut renderer = Renderer::new(gpu, setup).unwrap();
    let snapshot = stage::snapshot(100, 60, true);
    renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
    let [whole, left, right] = [0, 1, 2].map(|output| {
        let mut rgba = Vec::new();
        renderer.read(output, &mut rgba).unwrap();
        rgba
    });
    let light = |rgba: &[u8], columns: u32, x: u32, y: u32, color: usize| {
        linear(rgba[(y * columns + x) as usize * 4 + color])
    };
    let (mut sum, mut most, mut alone) = (0.0, 0.0f64, 0.0f64);
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        for color in 0..3 {
            let a = (x < 288).then(|| light(&left, 288, x, y, color));
            let b = (x >= 192).then(|| light(&right, 288, x - 192, y, color));
            let both = a.unwrap_or(0.0) + b.unwrap_or(0.0);
            let apart = (both - light(&whole, width, x, y, color)).abs();
            sum += apart;
            most = most.max(apart);
            if (195..285).contains(&x) {
                alone = alone.max(b.unwrap_or(0.0).min(a.unwrap_or(0.0)));
            }
        }
    }
    let mean = sum / f64::from(width * height * 3);
    println!("difference {mean:.5} of white on average, {most:.4} at most");
    assert!(alone > 0.1, "both outputs contribute to the overlap");
    assert!(
        mean < 0.002 && most < 0.03,
        "difference: mean {mean}, largest {most}"
    );
}

/// The warp applies to the whole image and not only to the overlay: the body moves with the center of the control mesh.
#[test]
fn the_warp_applies_to_bodies() {
    let Some(gpu) = stage::gpu() else { return };
    let mut setup = stage::setup([640, 360]);
    (setup.look.swell, setup.look.reflection) = (0.0, Some(0.0));
    setup.look.caustics = Some(0.0);
    setup.look.litter = Some(0.0);
    (setup.look.dust, setup.look.plants, setup.look.pebbles) = (0.0, 0.0, 0.0);
    setup.look.sun_tilt_deg = Some(0.0);
    warped(&mut setup);
    // The body is at the center of the surface. Its shadow is straight below it there.
    let place = glam::Vec3::new(0.0, -0.2, 0.0);
    let mut rgba = [Vec::new(), Vec::new()];
    let mut expected = glam::Vec2::ZERO;
    let mut gpu = Some(gpu);
    for (rgba, radius_m) in rgba.iter_mut().zip([0.0, 0.05]) {
        setup.static_shapes.clear();
        if radius_m > 0.0 {
            setup.static_shapes.push(StaticShape {
                form: StaticForm::Stone,
                center_m: place,
                half_axes_m: glam::Mat3::from_diagonal(glam::Vec3::splat(radius_m)),
            });
        }
        let device = gpu.take().or_else(stage::gpu).unwrap();
        let mut renderer = Renderer::new(device, setup.clone()).unwrap();
        let calm = Snapshot::default();
        renderer.draw(&calm, &calm, 1.0).unwrap();
        renderer.read(0, rgba).unwrap();
        expected = renderer.views().next().unwrap().pixel_from_world(place);
    }
    let (mut low, mut high) = (glam::Vec2::MAX, glam::Vec2::MIN);
    for (i, (a, b)) in rgba[0]
        .chunks_exact(4)
        .zip(rgba[1].chunks_exact(4))
        .enumerate()
    {
        let at = glam::Vec2::new((i % 640) as f32 + 0.5, (i / 640) as f32 + 0.5);
        // Ignores changed pixels that are 30 px or more away from the expected position. They belong to the shadow.
        if (0..3).any(|c| a[c].abs_diff(b[c]) > 24) && at.distance(expected) < 30.0 {
            (low, high) = (low.min(at), high.max(at));
        }
    }
    let middle = low.midpoint(high);
    println!(
        "a stone at {middle} px, expected at {expected} px, extent {}",
        high - low
    );
    assert!((high - low).min_element() > 8.0, "the stone is visible");
    assert!(
        middle.distance(expected) < 3.0,
        "{middle} instead of {expected}"
    );
}
