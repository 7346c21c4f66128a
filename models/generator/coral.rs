//! Corals with a height of 1 along y and the root at the origin, and the sheet of a waterfall.
//!
//! On corals, the texture coordinate v is 0 at the root and 1 at the tips.

use glam::{Vec2, Vec3};

use super::mesh::Mesh;
use super::paint::noise3;
use super::still::rigid;

/// Builds a coral with blunt fingers that spread from one root.
pub(super) fn finger() -> Mesh {
    let mut mesh = Mesh::default();
    let (rows, columns, fingers) = (6, 7, 17);
    for finger in 0..fingers {
        let chance = |n: f32| noise3(Vec3::new(finger as f32 * 4.3, n * 7.7, 2.9));
        let turn = finger as f32 * 2.399_963;
        let spread = ((finger as f32 + 0.4) / fingers as f32).sqrt() * 0.95;
        let out = Vec3::new(turn.cos(), 0.0, turn.sin());
        let height = (0.62 + 0.38 * chance(1.0)) * (1.0 - 0.30 * spread * spread);
        let thick = 0.075 + 0.045 * chance(2.0);
        mesh.sheet(rows, columns, |row, column| {
            let up = row as f32 / (rows - 2) as f32;
            // The last row of vertices closes the tip of the finger.
            let (up, radius) = if row == rows - 1 {
                (1.03, 0.0)
            } else {
                (up, thick * (1.15 - 0.25 * up - 0.35 * up.powi(6)))
            };
            let around =
                -((column % (columns - 1)) as f32) / (columns - 1) as f32 * std::f32::consts::TAU;
            let bow = out * (spread * 0.62 * up * (0.55 + 0.45 * up));
            let knot = 0.8 + 0.4 * noise3(Vec3::new(up * 4.0, finger as f32, around.cos()));
            let ring = Vec3::new(around.cos(), 0.0, around.sin()) * (radius * knot);
            rigid(
                bow + Vec3::Y * (height * up) + ring,
                Vec2::new(column as f32 / (columns - 1) as f32, up.min(1.0)),
            )
        });
    }
    mesh.smooth_normals();
    mesh
}

/// Builds a brain coral with the shape of a low cushion. The shader adds the furrows.
pub(super) fn brain() -> Mesh {
    let mut mesh = Mesh::default();
    let (rows, columns) = (14, 33);
    mesh.sheet(rows, columns, |row, column| {
        let down = row as f32 / (rows - 1) as f32 * 1.75;
        let around = (column % (columns - 1)) as f32 / (columns - 1) as f32 * std::f32::consts::TAU;
        let p = Vec3::new(
            down.sin() * around.cos(),
            down.cos(),
            down.sin() * around.sin(),
        );
        let lump = 0.66 + 0.50 * noise3(p * 2.3 + 5.0) + 0.20 * noise3(p * 4.9 + 9.0);
        rigid(
            Vec3::new(0.78, 0.52, 0.78) * p * lump + Vec3::Y * 0.10,
            Vec2::new(column as f32 / (columns - 1) as f32, 1.0 - down / 1.75),
        )
    });
    mesh.smooth_normals();
    mesh
}

/// Builds a section of falling water between two places of a sill, from a little above the sill to the water below. z is 0 at the
/// sill and 1 where the water strikes, y is 0 at the sill and −1 at the lower water; x only sets the front of the triangles. The texture coordinate u is 0 at one place and 1
/// at the other; v is −1 to 0 above the sill, 0 to 1 in the fall and 1 to 2 downstream of it.
pub(super) fn fall() -> Mesh {
    let mut mesh = Mesh::default();
    let (rows, columns) = (25, 3);
    mesh.sheet(rows, columns, |row, column| {
        let v = row as f32 / 8.0 - 1.0;
        let z = if v < 0.0 {
            0.6 * v
        } else {
            v + (v - 1.0).max(0.0)
        };
        let fallen = v.clamp(0.0, 1.0);
        let u = column as f32 / (columns - 1) as f32;
        rigid(
            Vec3::new(1.0 - 2.0 * u, -fallen * fallen, z),
            Vec2::new(u, v),
        )
    });
    mesh
}
