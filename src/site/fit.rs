//! Adaptation of a scene to the projected surface of the site. **Source**: Jockel 2005, §1.2.3.
//!
//! In: a scene that was designed for one surface. Out: the scene for another surface, and warnings about what does not
//! fit. Must not: change depths, or the size of the fish.

use std::sync::Arc;

use glam::{Vec2, Vec3};

use super::files::{Fit, SceneFile};
use super::library::Library;
use crate::geometry::{Surface, SurfaceKind};
use crate::world::{AreaParams, BarrierShape, Effect, ObstacleParams, Water};

/// Share of the water that obstacles may fill without a warning.
const FILLED_PERCENT_MAX: u32 = 50;

impl SceneFile {
    /// Returns the scene for a surface.
    pub fn fitted(&self, surface: &Surface) -> Self {
        let designed = Vec2::from(self.designed_for_m);
        let size = Vec2::new(surface.width_m, surface.height_m);
        let ratio = size / designed.max(Vec2::splat(1e-3));
        if self.fit == Fit::Fixed || (ratio - 1.0).abs().max_element() < 1e-4 {
            return self.clone();
        }
        let mut scene = self.clone();
        let terraces = scene.pool.terraces.iter_mut().map(|one| &mut one.outline_m);
        let areas = scene.pool.areas.iter_mut().map(|one| &mut one.outline_m);
        for corner in terraces.chain(areas).flatten() {
            *corner = (Vec2::from(*corner) * ratio).into();
        }
        for obstacle in &mut scene.obstacles {
            scale(obstacle, ratio);
        }
        for barrier in &mut scene.barriers {
            stretch(&mut barrier.shape, ratio);
        }
        for field in &mut scene.fields {
            field.stretch(ratio);
        }
        for point_m in scene.paths.iter_mut().flat_map(|path| &mut path.points_m) {
            *point_m = moved(*point_m, ratio);
        }
        for individual in &mut scene.individuals {
            individual.position_m = individual.position_m.map(|at| moved(at, ratio));
        }
        for rule in &mut scene.director {
            if let Effect::Gather(gather) = &mut rule.then {
                gather.point_m = moved(gather.point_m, ratio);
            }
        }
        scene
    }

    /// Returns warnings about the scene on a surface, each as (path in the scene file, message).
    pub(super) fn fit_warnings(&self, surface: &Surface) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let fitted = self.fitted(surface);
        let water = Water {
            surface: surface.clone(),
            params: fitted.pool.clone(),
        };
        let off_m = |at: Vec3| {
            let half = water.visible_half_m(at.y) + fitted.pool.margin_m.max(0.0);
            (Vec2::new(at.x, at.z).abs() - half).max_element()
        };
        let individuals = (fitted.individuals.iter().enumerate())
            .filter_map(|(i, one)| Some((format!("individuals[{i}].position_m"), one.position_m?)));
        let gatherings =
            (fitted.director.iter().enumerate()).filter_map(|(i, rule)| match &rule.then {
                Effect::Gather(gather) => {
                    Some((format!("director[{i}].then.point_m"), gather.point_m))
                }
                _ => None,
            });
        for (path, point) in individuals.chain(gatherings) {
            let off_m = off_m(Vec3::from(point));
            if off_m > 0.0 {
                found.push((
                    path,
                    format!(
                        "the point is {off_m:.1} m outside the pool of {} x {} m; move it into the pool",
                        surface.width_m, surface.height_m
                    ),
                ));
            }
        }
        for (index, obstacle) in fitted.obstacles.iter().enumerate() {
            let Some(solid) = obstacle.solid() else {
                continue;
            };
            let off_m = off_m(solid.center_m()) - solid.bounding_radius_m();
            if off_m > 0.0 {
                found.push((
                    format!("obstacles[{index}]"),
                    format!(
                        "the obstacle is {off_m:.1} m outside the pool of {} x {} m; move it into the picture, or remove it",
                        surface.width_m, surface.height_m
                    ),
                ));
            }
        }
        let areas = self.areas_outside(surface).into_iter().map(|index| {
            let message = format!(
                "the area is outside the surface of {} x {} m, so no visitor is ever there; move it onto the surface, or remove it",
                surface.width_m, surface.height_m
            );
            (format!("pool.areas[{index}].outline_m"), message)
        });
        found.extend(areas);
        found.extend(filled_warning(&fitted, &water));
        found
    }

    /// Returns the indices of the areas that lie wholly beside a surface: no visitor can be there. Fish that leave the picture can be
    /// in an area with a cost.
    pub(super) fn areas_outside(&self, surface: &Surface) -> Vec<usize> {
        let fitted = self.fitted(surface);
        let margins = fitted.pool.margins_m.values().copied();
        let margin_m = margins.fold(fitted.pool.margin_m.max(0.0), f32::max);
        let areas = fitted.pool.areas.iter().enumerate();
        let is_outside = |(_, area): &(usize, &AreaParams)| {
            let reach_m = if area.cost == 0.0 { 0.0 } else { margin_m };
            let half = surface.half_extent_m() + reach_m;
            let corners = area.corners();
            let low = corners.iter().copied().fold(Vec2::INFINITY, Vec2::min);
            let high = corners.iter().copied().fold(Vec2::NEG_INFINITY, Vec2::max);
            (low - half).max_element() > 0.0 || (-high - half).max_element() > 0.0
        };
        areas.filter(is_outside).map(|(index, _)| index).collect()
    }

    /// Whether the scene is made for this kind of surface.
    fn suits(&self, kind: SurfaceKind) -> bool {
        self.surfaces.is_empty() || self.surfaces.contains(&kind)
    }

    /// Replaces a surface of a kind that the scene does not suit by one of a kind that it suits, with the size of the design.
    pub(super) fn suit(&self, surface: &mut Surface) {
        if let (false, Some(&kind)) = (self.suits(surface.kind), self.surfaces.first()) {
            surface.kind = kind;
            [surface.width_m, surface.height_m] = self.designed_for_m;
        }
    }

    /// Returns a warning if the scene is not made for this kind of surface.
    pub(super) fn kind_warning(&self, kind: SurfaceKind) -> Option<String> {
        if self.suits(kind) {
            return None;
        }
        let suited: Vec<&str> = self.surfaces.iter().map(|kind| kind.name()).collect();
        Some(format!(
            "the scene suits a {}, but surface.kind = \"{}\"; choose another scene, or add the kind to this list",
            suited.join(" or a "),
            kind.name()
        ))
    }
}

impl Library {
    /// Makes the site show a scene, on a surface that suits it.
    pub(super) fn suit(&mut self, scene: &str) {
        let shown = self.scenes.get(scene).and_then(Option::as_ref).cloned();
        if let Some(site) = &mut self.site {
            let file = &mut Arc::make_mut(site).value;
            scene.clone_into(&mut file.scene);
            if let Some(shown) = shown {
                shown.value.suit(&mut file.surface);
            }
        }
    }
}

/// Returns a warning if obstacles fill most of the water that visitors see: the fish are then pushed out of the picture.
fn filled_warning(scene: &SceneFile, water: &Water) -> Option<(String, String)> {
    /// Number of samples along each axis.
    const SAMPLES: u8 = 12;
    let solids: Vec<_> = (scene.obstacles.iter())
        .map(ObstacleParams::solid)
        .collect();
    let (low_m, high_m) = water.y_range_m(0.0);
    let mut inside = vec![0_u32; solids.len()];
    let (mut filled, mut all) = (0_u32, 0_u32);
    let steps = || (0..SAMPLES).map(|step| (f32::from(step) + 0.5) / f32::from(SAMPLES));
    for height in steps() {
        let y = low_m + (high_m - low_m) * height;
        let half = water.visible_half_m(y);
        for (x, z) in steps().flat_map(|x| steps().map(move |z| (x, z))) {
            let at = Vec3::new(half.x * (2.0 * x - 1.0), y, half.y * (2.0 * z - 1.0));
            let mut is_filled = false;
            for (solid, inside) in solids.iter().zip(&mut inside) {
                if solid
                    .as_ref()
                    .is_some_and(|solid| solid.signed_distance_m(at) < 0.0)
                {
                    *inside += 1;
                    is_filled = true;
                }
            }
            filled += u32::from(is_filled);
            all += 1;
        }
    }
    let percent = filled * 100 / all;
    let largest =
        (0..inside.len()).max_by_key(|&index| (inside[index], std::cmp::Reverse(index)))?;
    (percent >= FILLED_PERCENT_MAX).then(|| {
        let message = format!(
            "the obstacles fill {percent} % of the water, this one {} %; the fish have no room; make the obstacles smaller",
            inside[largest] * 100 / all
        );
        (format!("obstacles[{largest}]"), message)
    })
}

/// Returns a position with its horizontal part multiplied by `ratio`.
fn moved(at_m: [f32; 3], ratio: Vec2) -> [f32; 3] {
    let [x, y, z] = at_m;
    [x * ratio.x, y, z * ratio.y]
}

/// Scales an obstacle horizontally.
fn scale(obstacle: &mut ObstacleParams, ratio: Vec2) {
    let round = ratio.min_element();
    match obstacle {
        ObstacleParams::Sphere(sphere) => {
            let grown_m = sphere.radius_m * (round - 1.0);
            sphere.center_m = moved(sphere.center_m, ratio);
            // The top of a larger boulder and the bottom of a smaller one stay where they are: no boulder rises out of the
            // water or floats above the ground.
            sphere.center_m[1] -= grown_m.abs();
            sphere.radius_m += grown_m;
        }
        ObstacleParams::Capsule(capsule) => {
            let grown_m = capsule.radius_m * (round - 1.0);
            for end in [&mut capsule.from_m, &mut capsule.to_m] {
                *end = moved(*end, ratio);
                end[1] -= grown_m.abs();
            }
            capsule.radius_m += grown_m;
        }
        ObstacleParams::Box(cuboid) => {
            cuboid.center_m = moved(cuboid.center_m, ratio);
            let (sin, cos) = cuboid.yaw_deg.to_radians().sin_cos();
            // The ratio along each of the cuboid's own axes. A turned cuboid stays a cuboid.
            let along = |axis: Vec2| (axis * ratio).length();
            cuboid.half_extents_m[0] *= along(Vec2::new(cos, sin));
            cuboid.half_extents_m[2] *= along(Vec2::new(sin, cos));
        }
        ObstacleParams::Polygon(polygon) => {
            for corner in &mut polygon.outline_m {
                *corner = (Vec2::from(*corner) * ratio).into();
            }
        }
    }
}

/// Scales a barrier horizontally.
fn stretch(shape: &mut BarrierShape, ratio: Vec2) {
    let round = ratio.min_element();
    match shape {
        BarrierShape::Sphere(sphere) => {
            sphere.center_m = moved(sphere.center_m, ratio);
            sphere.radius_m *= round;
        }
        BarrierShape::Box(cuboid) => {
            cuboid.center_m = moved(cuboid.center_m, ratio);
            let [x, y, z] = cuboid.half_extents_m;
            cuboid.half_extents_m = [x * ratio.x, y, z * ratio.y];
        }
        BarrierShape::Plane(plane) => {
            plane.point_m = moved(plane.point_m, ratio);
            plane.normal = turned(plane.normal, ratio);
        }
        BarrierShape::Rectangle(rectangle) => {
            rectangle.center_m = moved(rectangle.center_m, ratio);
            let [x, _, z] = rectangle.normal;
            // The horizontal side, at right angles to the normal.
            let side = Vec2::new(-z, x).normalize_or(Vec2::X);
            rectangle.half_extents_m[0] *= (side * ratio).length();
            rectangle.normal = turned(rectangle.normal, ratio);
        }
        BarrierShape::Capsule(capsule) => {
            for end in [&mut capsule.from_m, &mut capsule.to_m] {
                *end = moved(*end, ratio);
            }
            capsule.radius_m *= round;
        }
    }
}

/// Returns the normal of a plane that is scaled horizontally.
fn turned(normal: [f32; 3], ratio: Vec2) -> [f32; 3] {
    let [x, y, z] = normal;
    [x / ratio.x, y, z / ratio.y]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::load;
    use glam::Vec3;
    use shoal_testing::assert_message;

    fn surface(width_m: f32, height_m: f32) -> Surface {
        Surface {
            width_m,
            height_m,
            ..Surface::default()
        }
    }

    fn scene(name: &str) -> SceneFile {
        load(None, Some(name)).unwrap().scene
    }

    #[test]
    fn rocks_of_a_scaled_scene_cover_the_same_shares_of_a_larger_and_a_smaller_picture() {
        let pool = scene("pool");
        for (width_m, height_m) in [(8.0, 6.0), (2.0, 1.5), (8.0, 3.0)] {
            let fitted = pool.fitted(&surface(width_m, height_m));
            let ratio = Vec2::new(width_m / 4.0, height_m / 3.0);
            for (before, after) in pool.obstacles.iter().zip(&fitted.obstacles) {
                let (before, after) = (before.solid().unwrap(), after.solid().unwrap());
                let flat = |at: Vec3| Vec2::new(at.x, at.z);
                let wanted = flat(before.center_m()) * ratio;
                assert!(flat(after.center_m()).distance(wanted) < 1e-4, "{after:?}");
                // The water above an obstacle is as deep as in the design.
                let top = |solid: &crate::geometry::Solid| {
                    let above = solid.center_m().with_y(5.0);
                    5.0 - solid.signed_distance_m(above)
                };
                assert!(top(&after) <= top(&before) + 1e-3, "{after:?}");
            }
        }
        assert_eq!(pool.fitted(&surface(4.0, 3.0)), pool);
        let fixed = SceneFile {
            fit: Fit::Fixed,
            ..pool.clone()
        };
        assert_eq!(fixed.fitted(&surface(8.0, 6.0)), fixed);
    }

    #[test]
    fn the_sills_of_a_scaled_cascade_still_separate_its_terraces() {
        let fitted = scene("cascade").fitted(&surface(6.0, 2.0));
        let solids: Vec<_> = fitted
            .obstacles
            .iter()
            .filter_map(ObstacleParams::solid)
            .collect();
        for (index, terrace) in fitted.pool.terraces.iter().enumerate().take(2) {
            let edge_x = terrace.outline_m[1][0];
            let next_x = fitted.pool.terraces[index + 1].outline_m[0][0];
            let sill = Vec3::new((edge_x + next_x) / 2.0, -terrace.ground_depth_m, 0.0);
            assert!(
                solids
                    .iter()
                    .any(|solid| solid.signed_distance_m(sill) < 0.0)
            );
        }
    }

    #[test]
    fn barriers_of_a_fitted_scene_move_and_grow_with_the_rocks_beside_them() {
        let read = |shape: &str| -> BarrierShape { toml::from_str(shape).unwrap() };
        let sphere = "kind = 'sphere'\ncenter_m = [1.0, -0.5, 0.5]\nradius_m = 0.2";
        let net = "kind = 'rectangle'\ncenter_m = [1.0, -0.5, 0.5]\nnormal = [1, 0, 0]\nhalf_extents_m = [0.4, 0.3]";
        let plane = "kind = 'plane'\npoint_m = [1.0, -0.5, 0.5]\nnormal = [1, 0, 1]";
        let scene = SceneFile {
            fit: Fit::Scale,
            barriers: [sphere, net, plane]
                .map(|shape| crate::world::BarrierParams {
                    shape: read(shape),
                    ..Default::default()
                })
                .into(),
            ..SceneFile::default()
        };
        let fitted = scene.fitted(&surface(8.0, 9.0));
        let wanted = [
            "kind = 'sphere'\ncenter_m = [2.0, -0.5, 1.5]\nradius_m = 0.4",
            "kind = 'rectangle'\ncenter_m = [2.0, -0.5, 1.5]\nnormal = [0.5, 0, 0]\nhalf_extents_m = [1.2, 0.3]",
            "kind = 'plane'\npoint_m = [2.0, -0.5, 1.5]\nnormal = [0.5, 0, 0.33333334]",
        ];
        for (barrier, wanted) in fitted.barriers.iter().zip(wanted) {
            assert_eq!(barrier.shape, read(wanted));
        }
    }

    #[test]
    fn an_obstacle_far_outside_and_another_kind_of_surface_cause_warnings() {
        let mut pool = scene("pool");
        assert_eq!(pool.fit_warnings(&Surface::default()), []);
        assert_eq!(pool.kind_warning(SurfaceKind::Floor), None);
        let warning = pool.kind_warning(SurfaceKind::Wall).unwrap();
        assert_message(&warning, &["floor", "wall"]);
        if let ObstacleParams::Sphere(sphere) = &mut pool.obstacles[1] {
            sphere.center_m[0] = 30.0;
        }
        let found = pool.fit_warnings(&Surface::default());
        assert_eq!(found.len(), 1);
        assert!(
            found[0].0 == "obstacles[1]" && found[0].1.contains("outside"),
            "{found:?}"
        );
    }
}
