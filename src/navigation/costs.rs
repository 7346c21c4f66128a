//! The cost layer of the path searches: where water is dangerous or attractive for the agents of one species.
//!
//! In: places with what is there. Out: the cost per meter of each polygon of a mesh. The layer knows only places in the water,
//! so that a search on grids can read it too; the cells of a grid are only free or blocked. **Source**: Lischka 2014, §7.5.

use glam::Vec2;

use super::mesh::NavMesh;

/// Additional cost per meter for every enemy in a polygon. Tuned by eye, 2026-11-21.
const ENEMY_COST: f32 = 4.0;
/// Factor on the cost per meter for every friend in a polygon. Tuned by eye, 2026-11-22.
const FRIEND_FACTOR: f32 = 0.85;
/// Minimum cost per meter in a polygon with many friends. Tuned by eye, 2026-11-22.
const MIN_COST: f32 = 0.6;

/// Everything that changes the costs of the water for one species.
#[derive(Clone, Debug, Default)]
pub struct CostLayer {
    sources: Vec<CostSource>,
}

/// One thing that changes the costs of the water around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostSource {
    /// Index of the terrace that it is in.
    pub terrace: u16,
    /// Its position, (x, z).
    pub at_m: Vec2,
    /// Whether it is an enemy, which raises the costs. Otherwise it is a friend, which lowers them.
    pub is_enemy: bool,
}

impl CostLayer {
    /// Removes all sources but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.sources.clear();
    }

    /// Adds a source.
    pub fn add(&mut self, source: CostSource) {
        self.sources.push(source);
    }

    /// Writes the cost per meter of each polygon of a mesh to `costs`. Without sources, all costs are 1.
    pub fn write_polygon_costs(&self, mesh: &NavMesh, costs: &mut Vec<f32>) {
        costs.clear();
        costs.resize(mesh.len(), 1.0);
        for source in &self.sources {
            // An agent at the border of the water may be off a mesh that is made for larger bodies.
            let is_here = |polygon: u32| mesh.polygon(polygon).terrace == source.terrace;
            let nearest = || mesh.nearest_point(source.at_m, is_here);
            let polygon = mesh
                .polygon_at(source.terrace, source.at_m)
                .or_else(|| nearest().map(|(polygon, _)| polygon));
            if let Some(polygon) = polygon {
                let cost = &mut costs[polygon as usize];
                *cost = cost_with(*cost, source.is_enemy);
            }
        }
    }
}

/// Returns the cost per meter after one more agent is added to a polygon. As soon as a polygon has an enemy, its friends do not
/// lower the cost; the result does not depend on the order of the agents.
fn cost_with(cost: f32, is_enemy: bool) -> f32 {
    if is_enemy {
        cost.max(1.0) + ENEMY_COST
    } else if cost <= 1.0 {
        (cost * FRIEND_FACTOR).max(MIN_COST)
    } else {
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friends_lower_the_cost_and_enemies_raise_it_in_any_order() {
        let cost_of = |enemies: &[bool]| {
            let each = enemies.iter();
            each.fold(1.0, |cost, &is_enemy| cost_with(cost, is_enemy))
        };
        assert_eq!(cost_of(&[]), 1.0);
        assert!(cost_of(&[false]) < 1.0 && cost_of(&[false, false]) < cost_of(&[false]));
        assert!(cost_of(&[false; 99]) >= MIN_COST);
        assert!(cost_of(&[true]) > 1.0 && cost_of(&[true, true]) > cost_of(&[true]));
        assert_eq!(cost_of(&[false, true]), cost_of(&[true, false]));
    }

    #[test]
    fn a_source_counts_for_the_polygon_of_its_terrace() {
        let square = |x: f32| [(x, 0.0), (x + 1.0, 0.0), (x + 1.0, 1.0), (x, 1.0)];
        let corners = [square(0.0), square(2.0)].concat();
        let vertices = corners.into_iter().map(Vec2::from).collect();
        let rings = [(vec![0, 1, 2, 3], 0), (vec![4, 5, 6, 7], 1)];
        let mesh = NavMesh::new(vertices, &rings).unwrap();
        let mut layer = CostLayer::default();
        let mut costs = Vec::new();
        layer.write_polygon_costs(&mesh, &mut costs);
        assert_eq!(costs, [1.0, 1.0]);
        // The enemy is beside the mesh, nearer to the other terrace.
        layer.add(CostSource {
            terrace: 0,
            at_m: Vec2::new(1.8, 0.5),
            is_enemy: true,
        });
        layer.write_polygon_costs(&mesh, &mut costs);
        assert!(costs[0] > 1.0 && costs[1] == 1.0, "{costs:?}");
    }
}
