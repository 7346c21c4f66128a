//! Probable mistakes of a model that can be drawn, as clauses for warnings, each with a remedy.
//!
//! In: the vertices, triangles and clips of a model. Out: clauses such as "lies across …". Must not: change a model.

use glam::Vec3;

use super::clip::{CLIP_NAMES, Clip};
use super::data::ModelVertex;

/// Distance of the middle of a model from the origin of its file, as a share of its largest extent, from which it is reported.
const OFF_CENTER_SHARE: f32 = 0.25;
/// Ratio of height to length from which a model seems to stand on its tail. High fish are up to one and a half times as high as long.
const UPRIGHT_RATIO: f32 = 1.6;
/// Ratio of width to length from which a model that is not symmetric from left to right seems to lie across.
const ACROSS_RATIO: f32 = 1.1;
/// Gap in a model along an axis, as a share of its extent, from which its parts seem to be separate animals.
const GAP_SHARE: f32 = 0.2;
/// Share of the volumes between the surface and the origin by which a surface encloses less than nothing, from which it seems to face
/// inwards. A thin sheet encloses nearly nothing.
const INWARDS_SHARE: f32 = 0.5;
/// Number of slices along an axis in which the surface of a model is compared with its mirror image.
const SLICES: usize = 16;
/// Largest number of clips that one clause names.
const MAX_NAMES: usize = 8;

/// Returns clauses about place, direction and parts of a model with the extent `size`.
pub(super) fn shape(vertices: &[ModelVertex], indices: &[u32], size: Vec3) -> Vec<String> {
    let triangles = triangles(vertices, indices);
    let low = (triangles.iter().flatten()).fold(Vec3::INFINITY, |low, &p| low.min(p));
    let high = (triangles.iter().flatten()).fold(Vec3::NEG_INFINITY, |high, &p| high.max(p));
    let mut clauses = Vec::new();
    if let Some((axis, from, to)) = gap(&triangles, low, high) {
        // Whatever else would be said about separate parts is a consequence of the gap.
        clauses.push(format!(
            "has parts that are far apart: between {axis} = {from:.2} and {axis} = {to:.2} there is nothing; remove what does not belong to the animal"
        ));
        return clauses;
    }
    let asymmetry = |axis: usize| asymmetry(&triangles, axis, low[axis], high[axis]);
    let lies_across = size.x > ACROSS_RATIO * size.z && asymmetry(0) > asymmetry(2);
    if size.y > UPRIGHT_RATIO * size.z && !(lies_across && size.x > size.y) {
        clauses.push(format!(
            "is higher (along y: {:.2}) than long (along z: {:.2}), as if it stood on its tail; turn its nose towards +z and its back \
             towards +y (export with y up)",
            size.y, size.z
        ));
    } else if lies_across {
        clauses.push(format!(
            "is wider (along x: {:.2}) than long (along z: {:.2}), and its left and right differ, as if it lay across; turn its nose \
             towards +z",
            size.x, size.z
        ));
    }
    let middle = (low + high) / 2.0;
    if middle.abs().max_element() > OFF_CENTER_SHARE * size.max_element() {
        clauses.push(format!(
            "has its middle at {:.2}, {:.2}, {:.2}, so it is drawn beside the place where it swims; move it to the origin",
            middle.x, middle.y, middle.z
        ));
    }
    clauses.extend(facing(&triangles, middle));
    clauses
}

/// Returns a clause about a surface that faces inwards: its near side is not drawn. The two sides of a double-sided material cancel out.
fn facing(triangles: &[[Vec3; 3]], middle: Vec3) -> Option<String> {
    let (mut volume, mut parts) = (0.0, 0.0);
    for corners in triangles {
        let [a, b, c] = corners.map(|corner| corner - middle);
        let part = a.dot(b.cross(c));
        volume += part;
        parts += part.abs();
    }
    (volume < -INWARDS_SHARE * parts).then(|| {
        "faces inwards, so its near side is not drawn; turn its normals outwards (in Blender: Mesh, Normals, Recalculate Outside), or \
         make its material double-sided"
            .to_owned()
    })
}

/// Returns a clause about clips: a skeleton that no clip moves, or clips that are not played. Nothing if all are played, or if a single
/// clip takes the place of `cruise`.
pub(super) fn clips(clips: &[Clip], joints: usize) -> Option<String> {
    let moves = |clip: &Clip| {
        let rows = clip.table.chunks_exact(joints.max(1));
        let pairs = rows.clone().zip(rows.skip(1));
        pairs.into_iter().any(|(a, b)| a != b)
    };
    if joints > 0 && !clips.iter().any(moves) {
        return Some(
            "has a skeleton, but no clip that moves it, so it swims without a beat; animate the clip cruise, or export it without the skeleton"
                .to_owned(),
        );
    }
    let unknown = clips.iter().map(|clip| clip.name.as_str());
    let mut unknown: Vec<&str> = unknown.filter(|name| !CLIP_NAMES.contains(name)).collect();
    if unknown.is_empty() || clips.len() == 1 {
        return None;
    }
    let more = if unknown.len() > MAX_NAMES {
        " …"
    } else {
        ""
    };
    unknown.truncate(MAX_NAMES);
    Some(format!(
        "has clips that are not played ({}{more}); the names of played clips are {}",
        unknown.join(", "),
        CLIP_NAMES.join(", ")
    ))
}

fn triangles(vertices: &[ModelVertex], indices: &[u32]) -> Vec<[Vec3; 3]> {
    let corner = |index: u32| {
        let vertex = vertices.get(index as usize);
        vertex.map_or(Vec3::ZERO, |vertex| Vec3::from_array(vertex.position))
    };
    (indices.as_chunks::<3>().0.iter())
        .map(|triangle| triangle.map(corner))
        .collect()
}

/// Returns the widest gap along an axis that is wide enough to be reported: the name of the axis and both ends.
fn gap(triangles: &[[Vec3; 3]], low: Vec3, high: Vec3) -> Option<(char, f32, f32)> {
    let mut widest: Option<(f32, (char, f32, f32))> = None;
    for (axis, name) in ['x', 'y', 'z'].into_iter().enumerate() {
        let mut spans: Vec<[f32; 2]> = (triangles.iter())
            .map(|corners| {
                let along = corners.map(|corner| corner[axis]);
                [
                    along.into_iter().fold(f32::INFINITY, f32::min),
                    along.into_iter().fold(f32::NEG_INFINITY, f32::max),
                ]
            })
            .collect();
        spans.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let mut reached = low[axis];
        for [from, to] in spans {
            let share = (from - reached) / (high[axis] - low[axis]).max(f32::MIN_POSITIVE);
            if share > widest.map_or(GAP_SHARE, |(share, _)| share) {
                widest = Some((share, (name, reached, from)));
            }
            reached = reached.max(to);
        }
    }
    widest.map(|(_, found)| found)
}

/// Returns how much the surface of a model differs from its mirror image along an axis: 0 for a symmetric model, up to 1.
fn asymmetry(triangles: &[[Vec3; 3]], axis: usize, low: f32, high: f32) -> f32 {
    let mut areas = [0.0f32; SLICES];
    for [a, b, c] in triangles {
        let middle = (a[axis] + b[axis] + c[axis]) / 3.0;
        let share = (middle - low) / (high - low).max(f32::MIN_POSITIVE);
        // The area is shared by the two nearest slices, so that a fin in the middle lies in both halves.
        let at = (share * SLICES as f32 - 0.5).clamp(0.0, (SLICES - 1) as f32);
        let (slice, beyond) = (at as usize, at.fract());
        let area = (*b - *a).cross(*c - *a).length();
        areas[slice] += area * (1.0 - beyond);
        areas[(slice + 1).min(SLICES - 1)] += area * beyond;
    }
    let total: f32 = areas.iter().sum();
    let differences = areas.iter().zip(areas.iter().rev());
    let different: f32 = differences.map(|(a, b)| (a - b).abs()).sum();
    different / (2.0 * total).max(f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::model::{Model, SHIPPED_MODELS};
    use bytemuck::Zeroable as _;
    use glam::Quat;

    /// Returns the shape of a shipped model after a change of every position.
    fn changed(name: &str, change: fn(Vec3) -> Vec3) -> Vec<String> {
        let (name, bytes) = SHIPPED_MODELS.iter().find(|(n, _)| *n == name).unwrap();
        let model = Model::from_glb(name, bytes).unwrap();
        let moved = |vertex: &ModelVertex| ModelVertex {
            position: change(Vec3::from_array(vertex.position)).to_array(),
            ..*vertex
        };
        let vertices: Vec<ModelVertex> = model.vertices.iter().map(moved).collect();
        let points = || vertices.iter().map(|v| Vec3::from_array(v.position));
        let size =
            points().fold(Vec3::NEG_INFINITY, Vec3::max) - points().fold(Vec3::INFINITY, Vec3::min);
        shape(&vertices, &model.indices, size)
    }

    #[test]
    fn the_shipped_models_need_no_advice() {
        for (name, bytes) in SHIPPED_MODELS {
            let notes = Model::from_glb(name, bytes).unwrap().notes;
            assert!(notes.is_empty(), "{name}: {notes:?}");
        }
    }

    #[test]
    fn a_model_that_lies_across_stands_on_its_tail_or_is_elsewhere_is_reported() {
        for name in ["koi", "herring", "shark", "pike"] {
            let across = changed(name, |p| Vec3::new(p.z, p.y, -p.x));
            assert!(
                across.len() == 1 && across[0].contains("lay across"),
                "{name}: {across:?}"
            );
            let upright = changed(name, |p| Vec3::new(p.x, p.z, -p.y));
            assert!(
                upright.len() == 1 && upright[0].contains("stood on its tail"),
                "{name}: {upright:?}"
            );
            let away = changed(name, |p| p + Vec3::new(5.0, 3.0, -20.0));
            assert!(
                away.len() == 1 && away[0].contains("beside the place"),
                "{name}: {away:?}"
            );
        }
    }

    /// A ray is wider than long, and rightly so.
    #[test]
    fn a_wide_animal_is_not_reported() {
        let ray = changed("koi", |p| Vec3::new(12.0 * p.x, 0.4 * p.y, p.z));
        assert!(ray.is_empty(), "{ray:?}");
    }

    #[test]
    fn parts_that_are_far_apart_are_reported() {
        let vertex = |x: f32| ModelVertex {
            position: [x, 0.0, 0.0],
            ..ModelVertex::zeroed()
        };
        let vertices: Vec<_> = [0.0, 1.0, 0.5, 3.0, 4.0, 3.5].map(vertex).to_vec();
        let found = shape(&vertices, &[0, 1, 2, 3, 4, 5], Vec3::new(4.0, 0.0, 0.0));
        assert!(
            found[0].contains("between x = 1.00 and x = 3.00"),
            "{found:?}"
        );
    }

    /// The page for designers names every clip, and the largest texture.
    #[test]
    fn the_page_about_models_names_all_clips() {
        let page = include_str!("../../../docs/models.md");
        for name in CLIP_NAMES {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn clips_that_are_not_played_are_named_but_a_single_one_is_played() {
        let clip = |name: &str| Clip {
            name: name.to_owned(),
            duration_secs: 1.0,
            table: Vec::new(),
        };
        assert_eq!(super::clips(&["swim"].map(clip), 0), None);
        assert_eq!(super::clips(&["cruise", "eat"].map(clip), 0), None);
        let found = super::clips(&["cruise", "flap"].map(clip), 0).unwrap();
        assert!(found.contains("not played (flap); the names of played clips are cruise,"));
    }

    #[test]
    fn a_skeleton_that_no_clip_moves_is_reported() {
        let turned = |turn: f32| (Quat::from_rotation_y(turn), Vec3::ZERO);
        let clip = |table: Vec<(Quat, Vec3)>| Clip {
            name: "cruise".to_owned(),
            duration_secs: 1.0,
            table,
        };
        let still = clip(vec![turned(0.1), turned(0.2), turned(0.1), turned(0.2)]);
        let moving = clip(vec![turned(0.1), turned(0.2), turned(0.3), turned(0.2)]);
        for stiff in [&[][..], &[still]] {
            let found = super::clips(stiff, 2).unwrap();
            assert!(found.contains("without a beat"), "{found}");
        }
        assert_eq!(super::clips(&[moving], 2), None);
    }

    #[test]
    fn a_model_with_its_nose_along_x_lies_across_also_if_it_is_higher_than_wide() {
        let across = changed("koi", |p| Vec3::new(p.z, 2.0 * p.y, -p.x));
        assert!(
            across.len() == 1 && across[0].contains("lay across"),
            "{across:?}"
        );
    }

    #[test]
    fn a_model_that_faces_inwards_is_reported() {
        let (_, bytes) = SHIPPED_MODELS
            .iter()
            .find(|(n, _)| *n == "molecule")
            .unwrap();
        let model = Model::from_glb("molecule", bytes).unwrap();
        let mut inwards = model.indices.clone();
        for corners in inwards.chunks_exact_mut(3) {
            corners.swap(1, 2);
        }
        let found = shape(&model.vertices, &inwards, model.size);
        assert!(
            found.len() == 1 && found[0].contains("faces inwards"),
            "{found:?}"
        );
    }
}
