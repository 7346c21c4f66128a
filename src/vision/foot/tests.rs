use super::*;

const LAMP: Vec3 = Vec3::new(-0.5, 4.5, -1.0);
const CAMERA: Vec3 = Vec3::new(1.0, 5.0, 0.3);

/// Returns samples on a grid of the shadow and body stripes of a pole.
fn pole(foot: Vec2, radius: f32, height: f32) -> Vec<Sample> {
    let mut samples = Vec::new();
    for i in -150..150 {
        for j in -150..150 {
            let position_m = Vec2::new(i as f32, j as f32) * 0.02;
            let dark = [LAMP, CAMERA].iter().any(|source| {
                let below = Vec2::new(source.x, source.z);
                let away = foot - below;
                let length = away.length() * height / (source.y - height);
                let t = (position_m - foot).dot(away.normalize()).clamp(0.0, length);
                let widened = radius * (1.0 + t / away.length());
                position_m.distance(foot + away.normalize() * t) < widened
            });
            if dark {
                samples.push(Sample {
                    position_m,
                    area_m2: 0.0004,
                    at_edge: false,
                });
            }
        }
    }
    samples
}

#[test]
fn the_foot_point_of_a_pole_is_where_its_stripes_cross() {
    let finder = FootFinder::new(Some(LAMP), Some(CAMERA), &TrackingParams::default());
    for foot in [
        Vec2::new(0.8, 0.9),
        Vec2::new(-1.2, 0.5),
        Vec2::new(0.2, -0.3),
    ] {
        for height in [1.0, 1.8] {
            let samples = pole(foot, 0.12, height);
            let centroid =
                samples.iter().map(|s| s.position_m).sum::<Vec2>() / samples.len() as f32;
            let guess = finder.guess(&samples, centroid);
            let measured = finder.measure(samples.iter().copied(), centroid, guess);
            let off = measured.position_m.distance(foot);
            assert!(
                off < 0.08,
                "{foot} {height}: {off}, centroid {}",
                centroid.distance(foot)
            );
        }
    }
}

#[test]
fn a_foot_point_below_the_camera_does_not_slide_along_the_shadow() {
    let finder = FootFinder::new(Some(LAMP), Some(CAMERA), &TrackingParams::default());
    let below = Vec2::new(CAMERA.x, CAMERA.z);
    let mut worst = 0.0_f32;
    for (x, z) in [
        (0.1, 0.05),
        (0.2, 0.1),
        (0.15, 0.2),
        (0.0, 0.2),
        (0.25, 0.25),
    ] {
        let foot = below + Vec2::new(x, z);
        let samples = pole(foot, 0.12, 1.7);
        let centroid = samples.iter().map(|s| s.position_m).sum::<Vec2>() / samples.len() as f32;
        // The guess is 0.25 m too far from the lamp.
        let guess = foot + 0.25 * (foot - Vec2::new(LAMP.x, LAMP.z)).normalize();
        let measured = finder.measure(samples.iter().copied(), centroid, guess);
        worst = worst.max(measured.position_m.distance(foot));
    }
    assert!(worst < 0.25, "{worst}");
}

#[test]
fn samples_without_floor_area_do_not_affect_the_guess() {
    let finder = FootFinder::new(Some(LAMP), Some(CAMERA), &TrackingParams::default());
    let mut samples = pole(Vec2::new(0.8, 0.9), 0.12, 1.7);
    let guess_m = finder.guess(&samples, Vec2::ONE);
    for no_position in [f32::NAN, -100.0, 0.0] {
        samples.push(Sample {
            position_m: Vec2::splat(no_position),
            area_m2: 0.0,
            at_edge: false,
        });
    }
    assert_eq!(finder.guess(&samples, Vec2::ONE), guess_m);
}

#[test]
fn without_a_lamp_the_foot_point_is_the_centroid() {
    let finder = FootFinder::new(None, Some(CAMERA), &TrackingParams::default());
    let samples = pole(Vec2::ONE, 0.1, 1.0);
    let at = finder
        .measure(samples.iter().copied(), Vec2::X, Vec2::Y)
        .position_m;
    assert_eq!(at, Vec2::X);
}
