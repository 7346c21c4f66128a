//! Rooms whose surface, lamp, camera and lens are chosen by a pseudorandom generator.

/// Returns the arguments of `ir-scene` for the random room `number`. The same number always gives the same room.
///
/// The surface is 3 × 2.4 to 5 × 3.4 m. The lamp is at a height of 3 to 4.8 m and the camera at 3.3 to 4.8 m, both near the
/// center of the surface. The field of view is 5 to 60 % larger than the surface (the default of `ir-scene` is 50 %). The
/// visitors walk up to 0.7 m beyond the edge of the surface before they turn round.
pub(crate) fn random_room(number: u32) -> String {
    let mut random = Random(u64::from(number));
    loop {
        let (width, height) = (random.between(3.0, 5.0), random.between(2.4, 3.4));
        let lamp = [
            random.between(-1.5, 1.5),
            random.between(3.0, 4.8),
            random.between(-2.0, 2.0),
        ];
        let camera = [
            random.between(-0.8, 0.8),
            random.between(3.3, 4.8),
            random.between(-0.8, 0.8),
        ];
        let wider = random.between(1.05, 1.6);
        let k1 = random.between(-0.3, 0.0);
        let noise = random.between(1.5, 4.0);
        let fps = 5 * random.between(4.0, 7.0) as u32;
        let tangent = wider * tangent_to_see(camera, width, height);
        let fov = 2.0 * tangent.atan().to_degrees();
        if fov > MAX_FOV_DEGREES {
            continue;
        }
        let k2 = -0.32 * k1;
        let [lamp, camera] = [lamp, camera].map(|[x, y, z]| format!("{x:.2},{y:.2},{z:.2}"));
        return format!(
            "--surface {width:.1}x{height:.1} --lamp={lamp} --camera={camera} --fov {fov:.0} --k1={k1:.2} --k2={k2:.3} \
             --noise {noise:.1} --fps {fps}"
        );
    }
}

/// Largest horizontal field of view, in degrees. The lens model of `ir-scene` is not valid for wider lenses.
const MAX_FOV_DEGREES: f64 = 95.0;

/// Returns the tangent of half the horizontal field of view that the 4:3 camera of `ir-scene` needs to see the whole surface.
fn tangent_to_see([x, y, z]: [f64; 3], width: f64, height: f64) -> f64 {
    // The camera of ir-scene does not point exactly at the center of the surface.
    let forward = glam::DVec3::new(-0.8 * x, -y, -0.8 * z).normalize();
    let right = forward.cross(glam::DVec3::NEG_Z).normalize();
    let down = forward.cross(right);
    let mut most: f64 = 0.0;
    for (right_of, below) in [(-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)] {
        let ray = glam::DVec3::new(right_of * width - x, -y, below * height - z);
        let depth = ray.dot(forward);
        most = most.max((ray.dot(right) / depth).abs());
        most = most.max((ray.dot(down) / depth).abs() * 4.0 / 3.0);
    }
    most
}

/// Pseudorandom number generator (SplitMix64; Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn between(&mut self, least: f64, most: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        least + share * (most - least)
    }
}
