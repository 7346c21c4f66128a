//! The mesh of a fish: a skin over cross sections along the spine, fins as thin curved sheets, and eyes as domes.
//!
//! A station `s` is a position along the spine: 0 at the nose and 1 at the tip of the tail. The model has a length of 1, and
//! z = 0.5 − s.

use glam::{Vec2, Vec3};

use super::mesh::{Mesh, Vertex};
use super::paint::EyeSpot;
use super::skeleton::{Hinge, Joint, Part};

/// Cross section at a station: half width, and height above and below the spine.
#[derive(Clone, Copy)]
pub(super) struct Section {
    pub s: f32,
    pub width: f32,
    pub top: f32,
    pub bottom: f32,
}

/// A fin: a curved sheet between a root line on the body and a free edge. Both lines run from front to back.
#[derive(Clone)]
pub(super) struct Fin {
    /// Front and back end of the root line, as (x, y, s).
    pub root: [Vec3; 2],
    /// Points of the free edge from front to back, as (x, y, s). A smooth curve connects them.
    pub edge: Vec<Vec3>,
    /// The joint that moves the fin.
    pub hinge: Hinge,
    /// Whether the fish also has the mirrored fin on the other side.
    pub paired: bool,
    /// Height of the bulge in the middle of the sheet, in body lengths.
    pub bulge: f32,
    /// Half the thickness in the middle of the root, in body lengths; 0 for a membrane, which seen along its plane is invisible.
    pub thickness: f32,
}

/// A barbel: a thin tapered tube beside the mouth. The fish has the mirrored barbel on the other side.
#[derive(Clone)]
pub(super) struct Barbel {
    /// Points from the root to the tip, as (x, y, s).
    pub line: [Vec3; 3],
    /// Radius at the root, in body lengths.
    pub radius: f32,
}

/// The shape of a species.
pub(super) struct Shape {
    pub sections: Vec<Section>,
    pub fins: Vec<Fin>,
    /// Center of the left eye as (x, y, s), and radius of the eye.
    pub eye: (Vec3, f32),
    pub barbels: Vec<Barbel>,
}

impl Shape {
    /// Scales the shape so that its rearmost point is at station 1.
    pub(super) fn fit(&mut self) {
        let edges = self.fins.iter().flat_map(|fin| &fin.edge);
        let end = edges.fold(0.0f32, |end, point| end.max(point.z));
        if end <= 0.0 {
            return;
        }
        for section in &mut self.sections {
            for value in [
                &mut section.s,
                &mut section.width,
                &mut section.top,
                &mut section.bottom,
            ] {
                *value /= end;
            }
        }
        for fin in &mut self.fins {
            fin.root
                .iter_mut()
                .chain(&mut fin.edge)
                .for_each(|p| *p /= end);
        }
        for barbel in &mut self.barbels {
            barbel.line.iter_mut().for_each(|p| *p /= end);
        }
        self.eye = (self.eye.0 / end, self.eye.1 / end);
    }
}

/// Station of the root, which is joint 0.
pub(super) const ROOT_S: f32 = 0.32;
/// Station of the head, which is joint 1.
pub(super) const HEAD_S: f32 = 0.26;
/// Stations of the tail, which are joints 2 to 6.
pub(super) const TAIL_S: [f32; 5] = [0.42, 0.54, 0.65, 0.76, 0.86];

/// Level of detail of a mesh.
#[derive(Clone, Copy)]
pub(super) struct Detail {
    rings: usize,
    segments: usize,
    fin_rows: usize,
    /// Number of columns of a fin; a fin never has more columns than this.
    fin_columns: usize,
    /// Number of rings and segments of a domed eye; 0 leaves the eyes out.
    eye: [usize; 2],
    has_barbels: bool,
    /// Maximum number of fins, counted from the tail.
    fins: usize,
}

/// Detail of the mesh for bodies that appear large.
pub(super) const NEAR: Detail = Detail {
    rings: 40,
    segments: 24,
    fin_rows: 6,
    fin_columns: 13,
    eye: [4, 12],
    has_barbels: true,
    fins: usize::MAX,
};

/// Detail of the mesh for bodies of medium size.
pub(super) const MEDIUM: Detail = Detail {
    rings: 20,
    segments: 14,
    fin_rows: 3,
    fin_columns: 6,
    eye: [3, 8],
    has_barbels: false,
    fins: usize::MAX,
};

/// Detail of the mesh for bodies that appear small.
pub(super) const SMALL: Detail = Detail {
    rings: 14,
    segments: 8,
    fin_rows: 2,
    fin_columns: 5,
    eye: [2, 6],
    has_barbels: false,
    fins: usize::MAX,
};

/// Detail of the low-detail mesh of large species.
pub(super) const LIGHT: Detail = Detail {
    rings: 10,
    segments: 6,
    fin_rows: 2,
    fin_columns: 4,
    eye: [0, 0],
    has_barbels: false,
    fins: usize::MAX,
};

/// Detail of the low-detail mesh of small species in schools.
pub(super) const TINY: Detail = Detail {
    rings: 8,
    segments: 4,
    fin_rows: 2,
    fin_columns: 4,
    eye: [0, 0],
    has_barbels: false,
    fins: 2,
};

/// Builds the mesh of a species. `joints` is its skeleton.
pub(super) fn build(shape: &Shape, joints: &[Joint], detail: Detail) -> Mesh {
    let mut mesh = Mesh::default();
    let end = shape.sections.last().map_or(1.0, |section| section.s);
    mesh.sheet(detail.rings, detail.segments + 1, |row, column| {
        // Rings are denser at the nose, where the outline has the largest curvature.
        let along = row as f32 / (detail.rings - 1) as f32;
        let s = end * (0.50 * along + 0.50 * along * along);
        body_point(shape, s, column as f32 / detail.segments as f32)
    });
    if detail.eye[0] > 0 {
        for side in [1.0, -1.0] {
            eye(&mut mesh, shape, side, detail.eye);
        }
    }
    if detail.has_barbels {
        for side in [1.0, -1.0] {
            for barbel in &shape.barbels {
                tube(&mut mesh, barbel, side);
            }
        }
    }
    let fins = |mesh: &mut Mesh, is_thick: bool| {
        for fin in shape.fins.iter().rev().take(detail.fins) {
            let sides: &[f32] = if fin.paired { &[1.0, -1.0] } else { &[0.0] };
            for &side in sides.iter().filter(|_| (fin.thickness > 0.0) == is_thick) {
                let joint = joints
                    .iter()
                    .position(|joint| joint.part == Part::Fin(fin.hinge, side));
                sheet_fin(mesh, fin, (side, 1.0), joint, detail);
                if is_thick {
                    sheet_fin(mesh, fin, (side, -1.0), joint, detail);
                }
            }
        }
    };
    fins(&mut mesh, true);
    let first_membrane = mesh.indices.len();
    fins(&mut mesh, false);
    mesh.smooth_normals();
    mesh.both_sides(first_membrane);
    mesh
}

/// Exponent of the outline of cross sections. With 1, the outline is an ellipse; with a smaller value, the flanks are flatter.
const ROUNDNESS: f32 = 0.85;

/// Returns a point of the skin at station `s`. `around` is 0 at the back, increases down the left side, is 0.5 at the belly and
/// increases up the right side to 1 at the back.
fn body_point(shape: &Shape, s: f32, around: f32) -> Vertex {
    let section = section_at(&shape.sections, s);
    let angle = around * std::f32::consts::TAU;
    let (sin, cos) = angle.sin_cos();
    let height = if cos > 0.0 {
        section.top
    } else {
        section.bottom
    };
    let round = |v: f32| v.signum() * v.abs().powf(ROUNDNESS);
    let position = Vec3::new(section.width * round(sin), height * round(cos), 0.5 - s);
    let down = (around * 2.0).min(2.0 - around * 2.0);
    spine_vertex(position, Vec2::new(s, down * 0.75), s)
}

/// Returns the position and size of the painted eye on the skin. It is larger than the domed eye, so that it is visible from
/// far away.
pub(super) fn eye_spot(shape: &Shape) -> EyeSpot {
    let (middle, radius) = shape.eye;
    let section = section_at(&shape.sections, middle.z);
    let (top, width) = (section.top, section.width);
    let angle = (middle.y / top)
        .clamp(-1.0, 1.0)
        .powf(ROUNDNESS.recip())
        .acos();
    let half_girth = std::f32::consts::PI * 0.5 * (width + top);
    EyeSpot {
        middle: Vec2::new(middle.z, angle / std::f32::consts::PI),
        radii: 1.5 * radius * Vec2::new(1.0, 1.0 / half_girth),
    }
}

/// Returns the interpolated cross section at a station.
fn section_at(sections: &[Section], s: f32) -> Section {
    let next = sections
        .iter()
        .position(|section| section.s >= s)
        .unwrap_or(sections.len() - 1)
        .max(1);
    let at = |i: usize| sections[i.min(sections.len() - 1)];
    let (a, b, c, d) = (
        at(next.saturating_sub(2)),
        at(next - 1),
        at(next),
        at(next + 1),
    );
    let t = ((s - b.s) / (c.s - b.s)).clamp(0.0, 1.0);
    // Catmull-Rom interpolation between stations with different distances. The result is at least 0.
    let curve = |f: fn(&Section) -> f32| {
        let slope = |p: &Section, q: &Section| {
            if q.s > p.s {
                (f(q) - f(p)) / (q.s - p.s)
            } else {
                0.0
            }
        };
        let step = c.s - b.s;
        let (m0, m1) = (slope(&a, &c) * step, slope(&b, &d) * step);
        let (t2, t3) = (t * t, t * t * t);
        ((2.0 * t3 - 3.0 * t2 + 1.0) * f(&b)
            + (t3 - 2.0 * t2 + t) * m0
            + (3.0 * t2 - 2.0 * t3) * f(&c)
            + (t3 - t2) * m1)
            .max(0.0)
    };
    Section {
        s,
        width: curve(|p| p.width),
        top: curve(|p| p.top),
        bottom: curve(|p| p.bottom),
    }
}

/// Adds the domed eye on one side (`side` is 1 for left, −1 for right). The dome stands out of the skin, so that an eye on the
/// upper half of the head is visible from above.
fn eye(mesh: &mut Mesh, shape: &Shape, side: f32, [rings, segments]: [usize; 2]) {
    let (middle, radius) = shape.eye;
    let section = section_at(&shape.sections, middle.z);
    let out_of_skin = Vec2::new(
        middle.x / section.width.powi(2),
        middle.y / section.top.powi(2),
    )
    .normalize_or(Vec2::X);
    mesh.sheet(rings, segments + 1, |row, column| {
        let out = row as f32 / (rings - 1) as f32 * 1.35;
        let turn = side * column as f32 / segments as f32 * std::f32::consts::TAU;
        let (sin, cos) = (out.sin(), out.cos());
        let across = out_of_skin.perp() * sin * turn.sin();
        let dome = middle.truncate() + radius * (out_of_skin * 0.7 * (cos - 0.45) + across);
        let position = Vec3::new(
            side * dome.x,
            dome.y,
            0.5 - middle.z + radius * sin * turn.cos(),
        );
        let uv = Vec2::new(0.9375, 0.875)
            + Vec2::new(turn.cos() * 0.055, turn.sin() * 0.11) * (out / 1.35);
        spine_vertex(position, uv, middle.z)
    });
}

/// Adds a barbel on one side (`side` is 1 for left, −1 for right).
fn tube(mesh: &mut Mesh, barbel: &Barbel, side: f32) {
    let (rings, segments) = (6, 5);
    let [root, middle, tip] = barbel.line;
    mesh.sheet(rings, segments + 1, |row, column| {
        let along = row as f32 / (rings - 1) as f32;
        let p = root
            .lerp(middle, along)
            .lerp(middle.lerp(tip, along), along);
        let turn = side * column as f32 / segments as f32 * std::f32::consts::TAU;
        let radius = barbel.radius * (1.0 - 0.8 * along);
        let around = Vec3::new(0.0, turn.cos(), turn.sin()) * radius;
        let position = Vec3::new(p.x * side, p.y, 0.5 - p.z) + around;
        spine_vertex(position, Vec2::new(0.05, 0.40), 0.0)
    });
}

/// Adds one face of a fin. `side` is 1 for left, −1 for right, 0 for the plane of symmetry. A thick fin has two faces (`face` is 1
/// or −1), which meet at the edge of the fin and face away from each other.
fn sheet_fin(
    mesh: &mut Mesh,
    fin: &Fin,
    (side, face): (f32, f32),
    joint: Option<usize>,
    detail: Detail,
) {
    let (rows, columns) = (detail.fin_rows, detail.fin_columns);
    let mirror = if side < 0.0 { -1.0 } else { 1.0 };
    let to_model = |p: Vec3| Vec3::new(p.x * mirror, p.y, -p.z);
    mesh.sheet(rows, columns, |row, column| {
        let along = column as f32 / (columns - 1) as f32;
        // The triangles of a sheet face the other way if its columns are reversed.
        let along = if face < 0.0 { 1.0 - along } else { along };
        let out = row as f32 / (rows - 1) as f32;
        let root = fin.root[0].lerp(fin.root[1], along);
        let edge = curve_point(&fin.edge, along);
        let across = (fin.root[1] - fin.root[0]).cross(edge - root);
        let bulge = across.normalize_or(Vec3::ZERO) * (fin.bulge * 4.0 * out * (1.0 - out));
        let p = root.lerp(edge, out) + bulge;
        let outward = to_model(fin.root[1] - fin.root[0])
            .cross(to_model(edge - root))
            .normalize_or(Vec3::ZERO);
        let thick = fin.thickness * (1.0 - (2.0 * along - 1.0).powi(4)) * (1.0 - out * out);
        let position = Vec3::new(p.x * mirror, p.y, 0.5 - p.z) + outward * (face * thick);
        let uv = Vec2::new(0.02 + 0.82 * along, 0.78 + 0.2 * out);
        let mut vertex = spine_vertex(position, uv, p.z);
        if let Some(joint) = joint {
            let grip = (out * 2.0).min(1.0);
            vertex.joints = [joint as u8, vertex.joints[0]];
            vertex.weight = (grip * 255.0).round() as u8;
        }
        vertex
    });
}

/// Returns a point of a smooth curve through points with equal distances. `at` is 0..1 from the first to the last point.
fn curve_point(points: &[Vec3], at: f32) -> Vec3 {
    let last = points.len() - 1;
    let at = at * last as f32;
    let i = (at as usize).min(last.saturating_sub(1));
    let point = |j: isize| points[j.clamp(0, last as isize) as usize];
    let [a, b, c, d] = [-1, 0, 1, 2].map(|j| point(i as isize + j));
    let t = at - i as f32;
    // Catmull-Rom.
    let slope = |p: Vec3, q: Vec3| 0.5 * (q - p);
    let (m0, m1) = (slope(a, c), slope(b, d));
    let (t2, t3) = (t * t, t * t * t);
    (2.0 * t3 - 3.0 * t2 + 1.0) * b
        + (t3 - 2.0 * t2 + t) * m0
        + (3.0 * t2 - 2.0 * t3) * c
        + (t3 - t2) * m1
}

/// Returns a vertex that the spine moves. In the middle of a bone, only this bone moves the vertex; near a joint, both bones
/// move it.
fn spine_vertex(position: Vec3, uv: Vec2, s: f32) -> Vertex {
    // Bones from nose to tail, each with its joint and the station where the bone begins.
    let bones: [(u8, f32); 7] = [
        (1, 0.0),
        (0, 0.27),
        (2, TAIL_S[0]),
        (3, TAIL_S[1]),
        (4, TAIL_S[2]),
        (5, TAIL_S[3]),
        (6, TAIL_S[4]),
    ];
    let reach = 0.055;
    let mut joints = [1, 0];
    let mut weight = 1.0;
    for pair in bones.windows(2) {
        let from_border = (s - pair[1].1) / reach;
        if from_border > -1.0 {
            joints = [pair[1].0, pair[0].0];
            let t = (from_border * 0.5 + 0.5).clamp(0.0, 1.0);
            weight = t * t * (3.0 - 2.0 * t);
        }
    }
    Vertex {
        position,
        normal: Vec3::Y,
        uv,
        joints,
        weight: (weight * 255.0f32).round() as u8,
    }
}
