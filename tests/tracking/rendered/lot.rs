//! Rooms that nobody chose: surface, lamp, camera and lens drawn by lot.

/// ir-scene's arguments of the room that a number stands for: the same number, the same room.
///
/// Surfaces of 3 × 2.4 to 5 × 3.4 m, lamps at 3 to 4.8 m and cameras at 3.3 to 4.8 m, both anywhere over the middle of the
/// surface or beside it, lenses that see the whole surface and up to three fifths more: ir-scene's own sees half as much
/// more, and its walkers turn round up to 0.7 m beside the surface.
pub(crate) fn room_by_lot(number: u32) -> String {
    let mut lot = Lot(u64::from(number));
    loop {
        let (width, height) = (lot.between(3.0, 5.0), lot.between(2.4, 3.4));
        let lamp = [
            lot.between(-1.5, 1.5),
            lot.between(3.0, 4.8),
            lot.between(-2.0, 2.0),
        ];
        let camera = [
            lot.between(-0.8, 0.8),
            lot.between(3.3, 4.8),
            lot.between(-0.8, 0.8),
        ];
        let wider = lot.between(1.05, 1.6);
        let k1 = lot.between(-0.3, 0.0);
        let noise = lot.between(1.5, 4.0);
        let fps = 5 * lot.between(4.0, 7.0) as u32;
        let tangent = wider * tangent_to_see(camera, width, height);
        let fov = 2.0 * tangent.atan().to_degrees();
        if fov > WIDEST_DEGREES {
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

/// Wider lenses need another model than that of ir-scene.
const WIDEST_DEGREES: f64 = 95.0;

/// Half the horizontal field of view in which ir-scene's camera, of 4 : 3, sees the whole surface, as a tangent.
fn tangent_to_see([x, y, z]: [f64; 3], width: f64, height: f64) -> f64 {
    // ir-scene's camera looks past the middle of the surface a little.
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

/// A stream of numbers without a pattern.
///
/// **Source**: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators" (SplitMix64).
struct Lot(u64);

impl Lot {
    fn between(&mut self, least: f64, most: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        least + share * (most - least)
    }
}
