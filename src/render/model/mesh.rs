//! Reads the primitives of meshes as vertices and triangles in the space of the model.

use std::collections::BTreeMap;

use glam::{Mat3, Mat4, Vec2, Vec3, Vec4};

use super::accessor::Source;
use super::data::ModelVertex;
use super::document::{AlphaMode, Primitive, Shape};
use super::error::{ModelProblem, at_most};
use super::joints::Placement;
use super::left_out::LeftOut;
use super::skin::{SkinAtlas, material, texture_of, tint};

/// Largest number of vertices of a model.
const MAX_VERTICES: usize = 20_000;
/// Largest number of indices of a mesh, three for each triangle.
const MAX_INDICES: usize = 6 * MAX_VERTICES;
/// Smallest square of the length of a normal. A shorter normal has no reliable direction.
const MIN_NORMAL_SQUARED: f32 = 1e-12;
/// Largest coordinate of a vertex.
const MAX_COORDINATE: f32 = 1e6;

/// Collects the vertices of a model.
pub(super) struct MeshReader<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) skin: &'a SkinAtlas,
    pub(super) vertices: Vec<ModelVertex>,
}

/// The data from which the vertices of a primitive are read.
struct Attributes {
    positions: Vec<[f32; 3]>,
    triangles: Vec<[usize; 3]>,
    normals: Option<Vec<[f32; 3]>>,
    uvs: Vec<Vec2>,
    joints: Option<Vec<[f32; 4]>>,
    weights: Option<Vec<[f32; 4]>>,
    colors: Option<Vec<Vec4>>,
    /// Whether the skin contains the color of the material.
    is_painted: bool,
}

impl MeshReader<'_> {
    /// Appends the vertices of a primitive to the model, and its triangles to `indices`.
    pub(super) fn add(
        &mut self,
        primitive: &Primitive,
        placement: &Placement,
        indices: &mut Vec<u32>,
        left_out: &mut LeftOut,
    ) -> Result<(), ModelProblem> {
        let Some(mut attributes) = self.attributes(primitive, left_out)? else {
            return Ok(());
        };
        let first = self.vertices.len();
        let material = material(self.source, primitive.material)?;
        let mut tint = if attributes.is_painted {
            Vec4::ONE
        } else {
            tint(material)
        };
        let is_blended = material.is_some_and(|m| m.alpha_mode == AlphaMode::Blend);
        if !is_blended {
            // Only the texture of a mask contains its opacity, and an opaque material ignores alpha.
            tint.w = 1.0;
            for color in attributes.colors.iter_mut().flatten() {
                color.w = 1.0;
            }
        }
        let count = attributes.positions.len();
        for i in 0..count {
            let vertex = vertex(&attributes, i, placement, tint)?;
            self.vertices.push(vertex);
        }
        let mut triangles = std::mem::take(&mut attributes.triangles);
        if placement.transform.determinant() < 0.0 {
            // A transform that mirrors turns the front of a triangle to the back.
            for triangle in &mut triangles {
                triangle.swap(1, 2);
            }
        }
        let double_sided = material.is_some_and(|material| material.double_sided);
        let sides = if double_sided { 2 } else { 1 };
        at_most(
            "triangle indices",
            indices.len() + 3 * sides * triangles.len(),
            MAX_INDICES,
        )?;
        match &attributes.normals {
            None => self.compute_normals(first, &mut triangles, left_out),
            Some(normals) if normals.iter().any(|normal| !is_normal(normal)) => {
                let computed = self.smooth_normals(first, &triangles);
                let vertices = self.vertices.iter_mut().skip(first);
                for ((vertex, normal), computed) in vertices.zip(normals).zip(computed) {
                    if !is_normal(normal) {
                        vertex.normal = computed;
                    }
                }
            }
            Some(_) => {}
        }
        for triangle in triangles {
            let triangle = triangle.map(|i| (first + i) as u32);
            indices.extend(triangle);
            // Triangles are drawn from their front only, so a double-sided one is added a second time in reverse order.
            if double_sided {
                indices.extend(triangle.iter().rev());
            }
        }
        Ok(())
    }

    /// Reads the attributes of a primitive. Returns `None` if the primitive is not drawn.
    fn attributes(
        &self,
        primitive: &Primitive,
        left_out: &mut LeftOut,
    ) -> Result<Option<Attributes>, ModelProblem> {
        if !is_drawn(primitive, left_out)? {
            return Ok(None);
        }
        let source = self.source;
        let of = |name: &str| primitive.attributes.get(name).copied();
        let Some(position) = of("POSITION") else {
            left_out.add("a mesh without positions");
            return Ok(None);
        };
        let accessor = source.accessor(position)?;
        if primitive.extensions.draco.is_some() && accessor.buffer_view.is_none() {
            return Err(ModelProblem::unsupported_extension(
                "KHR_draco_mesh_compression",
            ));
        }
        let (triangles, used) = self.triangles(primitive, accessor.count)?;
        let vertex_count = self.vertices.len().saturating_add(used.len());
        at_most("vertices", vertex_count, MAX_VERTICES)?;
        let positions = source.rows_at::<3>(position, &used)?;
        let mut is_short = false;
        let mut of = |name: &str| {
            let index = of(name)?;
            let count = source.document.accessors.get(index).map(|a| a.count);
            let is_complete = count.is_none_or(|count| count >= accessor.count);
            is_short |= !is_complete;
            is_complete.then_some(index)
        };
        if primitive.targets.is_some() {
            left_out.add("morph targets and their animation");
        }
        for (name, what) in [
            ("JOINTS_1", "joints of a vertex beyond the first four"),
            ("COLOR_1", "a second set of vertex colors"),
        ] {
            if of(name).is_some() {
                left_out.add(what);
            }
        }
        let texture = texture_of(source, primitive.material)?;
        let set = texture.map_or(0, |texture| {
            let transform = texture.extensions.transform.as_ref();
            transform
                .and_then(|t| t.tex_coord)
                .unwrap_or(texture.tex_coord)
        });
        let mut uvs = match of(&format!("TEXCOORD_{set}")) {
            Some(accessor) => source.rows_at::<2>(accessor, &used)?,
            None => vec![[0.0; 2]; used.len()],
        }
        .into_iter()
        .map(Vec2::from_array)
        .collect::<Vec<_>>();
        for uv in uvs.iter_mut().filter(|uv| !uv.is_finite()) {
            left_out.add("texture coordinates that are not finite numbers");
            *uv = Vec2::ZERO;
        }
        if self.skin.image.is_some() && of("COLOR_0").is_some() {
            left_out.add("the hue of vertex colors on a texture");
        }
        let material = primitive.material;
        let islands = islands(&triangles, used.len());
        let is_painted = (self.skin).place(source, material, (&mut uvs, &islands), left_out)?;
        let quad = |accessor: usize| source.rows_at::<4>(accessor, &used);
        let mut normals = match of("NORMAL") {
            Some(accessor) => Some(source.rows_at::<3>(accessor, &used)?),
            None => None,
        };
        if let Some(read) = &normals
            && !read.iter().all(is_normal)
        {
            left_out.add("normals that are zero or not finite (computed ones replace them)");
            if !read.iter().any(is_normal) {
                normals = None;
            }
        }
        let attributes = Attributes {
            normals,
            uvs,
            joints: of("JOINTS_0").map(quad).transpose()?,
            weights: of("WEIGHTS_0").map(quad).transpose()?,
            colors: of("COLOR_0")
                .map(|a| colors(source, a, &used))
                .transpose()?,
            positions,
            triangles,
            is_painted,
        };
        if is_short {
            left_out.add("data of vertices that has fewer rows than there are positions");
        }
        Ok(Some(attributes))
    }

    /// Returns the triangles of a primitive, and the rows of its vertices in ascending order. The triangles refer to these rows.
    /// Rows without a triangle are not read: many primitives can share one list of positions.
    fn triangles(
        &self,
        primitive: &Primitive,
        count: usize,
    ) -> Result<(Vec<[usize; 3]>, Vec<usize>), ModelProblem> {
        let listed: Vec<usize> = match primitive.indices {
            Some(index) => {
                let accessor = self.source.accessor(index)?;
                at_most("triangle indices", accessor.count, MAX_INDICES)?;
                let rows = self.source.rows::<1>(index)?;
                rows.into_iter().map(|[i]| i as usize).collect()
            }
            None => {
                let vertex_count = self.vertices.len().saturating_add(count);
                at_most("vertices", vertex_count, MAX_VERTICES)?;
                (0..count).collect()
            }
        };
        let mut triangles: Vec<[usize; 3]> = match primitive.mode {
            // A strip: the vertices of every second triangle are in reverse order.
            Some(5) => listed
                .windows(3)
                .enumerate()
                .map(|(i, c)| {
                    if i % 2 == 0 {
                        [c[0], c[1], c[2]]
                    } else {
                        [c[0], c[2], c[1]]
                    }
                })
                // Exporters join strips with triangles that have no area; these are removed.
                .filter(|[a, b, c]| a != b && b != c && c != a)
                .collect(),
            // A fan around its first vertex.
            Some(6) => {
                let around = listed.get(1..).unwrap_or(&[]);
                around.windows(2).map(|c| [c[0], c[1], listed[0]]).collect()
            }
            _ => listed.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
        };
        if triangles.iter().flatten().any(|&i| i >= count) {
            return Err(ModelProblem::Damaged(
                "a triangle refers to a vertex that does not exist".to_owned(),
            ));
        }
        let mut used = triangles.as_flattened().to_vec();
        used.sort_unstable();
        used.dedup();
        for vertex in triangles.as_flattened_mut() {
            *vertex = used.binary_search(vertex).unwrap_or_default();
        }
        Ok((triangles, used))
    }

    /// Returns the mean normal of the triangles around each vertex, weighted by area, for the vertices from index `first` on.
    fn smooth_normals(&self, first: usize, triangles: &[[usize; 3]]) -> Vec<[f32; 3]> {
        let vertices = self.vertices.get(first..).unwrap_or(&[]);
        let mut sums = vec![Vec3::ZERO; vertices.len()];
        for triangle in triangles {
            let area = area(vertices, triangle);
            for &i in triangle {
                sums[i] += area;
            }
        }
        let unit = |sum: Vec3| sum.normalize_or(Vec3::Y).to_array();
        sums.into_iter().map(unit).collect()
    }

    /// Computes the flat normals that glTF requires for meshes without normals, for the vertices from index `first` on. A
    /// vertex between triangles that face in different directions is duplicated.
    fn compute_normals(
        &mut self,
        first: usize,
        triangles: &mut [[usize; 3]],
        left_out: &mut LeftOut,
    ) {
        let count = self.vertices.len() - first;
        let smooth = self.smooth_normals(first, triangles);
        for (vertex, normal) in self.vertices.iter_mut().skip(first).zip(smooth) {
            vertex.normal = normal;
        }
        if self.vertices.len() + 3 * triangles.len() > MAX_VERTICES + count {
            left_out.add("flat shading (it has no normals, and too many triangles for flat ones)");
            return;
        }
        // Vertices by their index and the bits of their normal.
        let mut known: BTreeMap<(usize, [u32; 3]), usize> = BTreeMap::new();
        let mut is_taken = vec![false; count];
        for triangle in triangles.iter_mut() {
            let normal = area(self.vertices.get(first..).unwrap_or(&[]), triangle)
                .normalize_or(Vec3::Y)
                .to_array();
            for i in triangle {
                let original = *i;
                let bits = normal.map(f32::to_bits);
                *i = *known.entry((original, bits)).or_insert_with(|| {
                    let at = if is_taken[original] {
                        self.vertices
                            .extend(self.vertices.get(first + original).copied());
                        self.vertices.len() - 1
                    } else {
                        is_taken[original] = true;
                        first + original
                    };
                    self.vertices[at].normal = normal;
                    at - first
                });
            }
        }
    }
}

/// Whether a normal of a file has a direction.
fn is_normal(normal: &[f32; 3]) -> bool {
    let normal = Vec3::from_array(*normal);
    normal.is_finite() && normal.length_squared() > MIN_NORMAL_SQUARED
}

/// Returns the normal of a triangle. Its length is twice the area of the triangle.
fn area(vertices: &[ModelVertex], triangle: &[usize; 3]) -> Vec3 {
    let position = |i: usize| {
        let vertex = vertices.get(i);
        vertex.map_or(Vec3::ZERO, |vertex| Vec3::from_array(vertex.position))
    };
    let [a, b, c] = triangle.map(position);
    (b - a).cross(c - a)
}

/// Returns, for each vertex, one vertex of its island: the vertices that triangles connect with it.
fn islands(triangles: &[[usize; 3]], count: usize) -> Vec<usize> {
    fn root(parents: &mut [usize], mut vertex: usize) -> usize {
        while parents[vertex] != vertex {
            parents[vertex] = parents[parents[vertex]];
            vertex = parents[vertex];
        }
        vertex
    }
    let mut parents: Vec<usize> = (0..count).collect();
    for &[a, b, c] in triangles {
        let first = root(&mut parents, a);
        for other in [b, c] {
            let other = root(&mut parents, other);
            parents[other] = first;
        }
    }
    (0..count).map(|i| root(&mut parents, i)).collect()
}

/// Returns whether a primitive consists of triangles.
pub(super) fn is_drawn(
    primitive: &Primitive,
    left_out: &mut LeftOut,
) -> Result<bool, ModelProblem> {
    match primitive.mode.unwrap_or(4) {
        0..=3 => {
            left_out.add("points and lines");
            Ok(false)
        }
        4..=6 => Ok(true),
        mode => Err(ModelProblem::Damaged(format!(
            "the mode of a mesh is {mode}"
        ))),
    }
}

/// Creates one vertex.
fn vertex(
    attributes: &Attributes,
    i: usize,
    placement: &Placement,
    tint: Vec4,
) -> Result<ModelVertex, ModelProblem> {
    let mut position = Vec3::from_array(attributes.positions[i]);
    let normals = attributes.normals.as_ref();
    let normal = normals.and_then(|normals| normals.get(i));
    let mut normal = normal.map_or(Vec3::Y, |&normal| Vec3::from_array(normal));
    if placement.transform != Mat4::IDENTITY {
        position = placement.transform.transform_point3(position);
        let linear = Mat3::from_mat4(placement.transform);
        normal = linear.inverse().transpose() * normal;
        if !normal.is_finite() {
            normal = Vec3::Y;
        }
    }
    if !(position.is_finite() && position.abs().max_element() < MAX_COORDINATE) {
        return Err(ModelProblem::Damaged(format!(
            "the position of vertex {i} is not finite"
        )));
    }
    let uv = attributes.uvs.get(i).copied().unwrap_or_default();
    let colors = attributes.colors.as_ref();
    let color = colors.and_then(|c| c.get(i)).copied().unwrap_or(Vec4::ONE) * tint;
    let first_joint = placement.joints.first().copied().unwrap_or(0);
    let (joints, weights) = match (&attributes.joints, &attributes.weights) {
        (Some(joints), Some(weights)) if placement.is_skinned => bound(
            joints.get(i).copied().unwrap_or_default(),
            weights.get(i).copied().unwrap_or_default(),
            &placement.joints,
        ),
        _ => ([first_joint, 0, 0, 0], [255, 0, 0, 0]),
    };
    Ok(ModelVertex {
        position: position.to_array(),
        normal: normal.normalize_or(Vec3::Y).to_array(),
        uv: uv.clamp(Vec2::splat(-8.0), Vec2::splat(8.0)).to_array(),
        color: color
            .to_array()
            .map(|v| (v.clamp(0.0, 1.0) * 255.0).round() as u8),
        joints,
        weights,
    })
}

fn colors(source: &Source<'_>, index: usize, used: &[usize]) -> Result<Vec<Vec4>, ModelProblem> {
    if source.accessor(index)?.shape == Shape::Vec3 {
        let rows = source.rows_at::<3>(index, used)?;
        return Ok(rows
            .into_iter()
            .map(|c| Vec3::from_array(c).extend(1.0))
            .collect());
    }
    let rows = source.rows_at::<4>(index, used)?;
    Ok(rows.into_iter().map(Vec4::from_array).collect())
}

/// Converts the joints and weights of a vertex to valid joints of the model and byte weights, for any values in the file. The
/// sum of the byte weights is 255. `joints` are indices into the skin; `of_model` has the joint of the model for every joint of
/// the skin.
fn bound(joints: [f32; 4], weights: [f32; 4], of_model: &[u8]) -> ([u8; 4], [u8; 4]) {
    let joint = |i: usize| {
        let index = Some(joints[i]).filter(|&joint| joint >= 0.0)?;
        of_model.get(index as usize).copied()
    };
    let kept = [0, 1, 2, 3].map(|i| {
        if joint(i).is_some() && weights[i] > 0.0 && weights[i].is_finite() {
            weights[i]
        } else {
            0.0
        }
    });
    let sum: f32 = kept.iter().sum();
    if sum <= 0.0 {
        let first = of_model.first().copied().unwrap_or(0);
        return ([first, 0, 0, 0], [255, 0, 0, 0]);
    }
    let mut bytes = kept.map(|weight| (weight / sum * 255.0).floor() as u8);
    let rest = 255 - bytes.iter().map(|&b| u32::from(b)).sum::<u32>().min(255);
    let heaviest = (0..4)
        .max_by(|&a, &b| kept[a].total_cmp(&kept[b]))
        .unwrap_or(0);
    bytes[heaviest] += rest as u8;
    (
        [0, 1, 2, 3].map(|i| {
            if kept[i] > 0.0 {
                joint(i).unwrap_or(0)
            } else {
                0
            }
        }),
        bytes,
    )
}
