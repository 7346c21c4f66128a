//! Mesh searches of all agents. They run one after another and share one budget of expansions per tick.
//!
//! In: queries; each must be repeated every tick until it is answered. Out: outcomes and paths. The oldest query is
//! served first; an unfinished search continues in the next tick. Must not: read a clock.

use serde::{Deserialize, Serialize};

use super::search::{MeshOutcome, MeshPath, MeshQuery, MeshSearch};
use super::terrace_route::NavGraph;
use crate::navigation::costs::CostLayer;

/// A query that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PendingQuery {
    id: u64,
    /// Species of the agent. It selects the mesh and the cost layer of the search.
    species: u16,
    query: MeshQuery<'static>,
    /// Whether the query was repeated in this tick. A query that was not repeated is removed.
    is_current: bool,
}

/// Mesh searches of all agents. The serialized fields are enough to continue with identical results after
/// [`MeshPlanner::resume`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshPlanner {
    /// Queries in the order in which they are served.
    pending: Vec<PendingQuery>,
    /// Whether the search for the first query has begun.
    is_running: bool,
    search: MeshSearch,
    #[serde(skip)]
    path: MeshPath,
}

impl MeshPlanner {
    /// Requests a path. `id` identifies the route, `species` selects the mesh and the cost layer. The search uses the
    /// costs at the time at which it begins.
    pub fn request(&mut self, id: u64, species: u16, query: MeshQuery<'static>) {
        let entry = PendingQuery {
            id,
            species,
            query,
            is_current: true,
        };
        match self.pending.iter_mut().find(|entry| entry.id == id) {
            Some(known) => *known = entry,
            None => self.pending.push(entry),
        }
    }

    /// Continues the searches and subtracts their expansions from `budget`. `graph_of` returns the mesh of a species;
    /// `costs` has one layer for each species. Calls `answer` with the id, query, outcome and path of each finished
    /// search. `answer` may move the path out.
    pub fn advance<'g>(
        &mut self,
        graph_of: impl Fn(u16) -> NavGraph<'g>,
        costs: &[CostLayer],
        budget: &mut u32,
        mut answer: impl FnMut(u64, &MeshQuery<'_>, MeshOutcome, &mut MeshPath),
    ) {
        // A query that was not repeated is not needed any more.
        self.is_running &= self.pending.first().is_some_and(|entry| entry.is_current);
        self.pending.retain(|entry| entry.is_current);
        let mut done = 0;
        while let Some(entry) = self.pending.get(done)
            && *budget > 0
        {
            let NavGraph { mesh, links } = graph_of(entry.species);
            let begun = if self.is_running {
                None
            } else {
                let query = MeshQuery {
                    costs: costs.get(usize::from(entry.species)).unwrap_or_default(),
                    ..entry.query
                };
                self.search.begin(mesh, links, &query)
            };
            self.is_running = true;
            let Some(outcome) = begun.or_else(|| self.search.advance(mesh, links, budget)) else {
                break;
            };
            self.search.path(mesh, links, &mut self.path);
            answer(entry.id, self.search.query(), outcome, &mut self.path);
            self.is_running = false;
            done += 1;
        }
        self.pending.drain(..done);
        self.pending
            .iter_mut()
            .for_each(|entry| entry.is_current = false);
    }

    /// Restores the running search after a saved state was loaded.
    pub fn resume<'g>(&mut self, graph_of: impl Fn(u16) -> NavGraph<'g>) {
        if let Some(entry) = self.pending.first().filter(|_| self.is_running) {
            let NavGraph { mesh, links } = graph_of(entry.species);
            self.search.resume(mesh, links);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigation::Footprints;
    use crate::navigation::mesh::{MeshLinks, MeshPoint, NavMesh, TerraceInput, build_mesh};
    use glam::Vec2;
    use proptest::prelude::*;

    const POOL: [Vec2; 4] = [
        Vec2::new(-4.0, -3.0),
        Vec2::new(4.0, -3.0),
        Vec2::new(4.0, 3.0),
        Vec2::new(-4.0, 3.0),
    ];

    fn mesh(boxes: &[(f32, f32, f32, f32)]) -> NavMesh {
        let mut obstacles = Footprints::default();
        for &(x, y, half, turn) in boxes {
            let half = Vec2::new(half, 0.15);
            obstacles.push_box(Vec2::new(x, y), half, Vec2::from_angle(turn));
        }
        let ground = TerraceInput {
            outline_m: &POOL,
            obstacles: &obstacles,
            grow_m: 0.1,
            piece_m: f32::INFINITY,
        };
        build_mesh(&[ground]).unwrap()
    }

    fn query(from: Vec2, to: Vec2) -> MeshQuery<'static> {
        let point = |at_m| MeshPoint { terrace: 0, at_m };
        MeshQuery {
            start: point(from),
            goal: point(to),
            speed_mps: 1.0,
            ..MeshQuery::default()
        }
    }

    type Answers = Vec<(u64, MeshOutcome, MeshPath)>;

    /// Repeats each query in every tick until it is answered. Returns the answers and the number of ticks before the
    /// last answer.
    fn answer_all(
        mesh: &NavMesh,
        queries: &[MeshQuery<'static>],
        costs: &[CostLayer],
        (budget, saved_at): (u32, Option<usize>),
    ) -> (Answers, usize) {
        let links = &MeshLinks::default();
        let (mut planner, mut answers) = (MeshPlanner::default(), Answers::new());
        for tick in 0.. {
            if saved_at == Some(tick) {
                let text = serde_json::to_string(&planner).unwrap();
                planner = serde_json::from_str(&text).unwrap();
                planner.resume(|_| NavGraph { mesh, links });
            }
            for (id, &query) in queries.iter().enumerate() {
                if answers.iter().all(|&(known, ..)| known != id as u64) {
                    planner.request(id as u64, 0, query);
                }
            }
            planner.advance(
                |_| NavGraph { mesh, links },
                costs,
                &mut budget.clone(),
                |id, _, outcome, path| {
                    answers.push((id, outcome, path.clone()));
                },
            );
            if answers.len() == queries.len() {
                return (answers, tick);
            }
        }
        (answers, usize::MAX)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn sliced_and_saved_searches_find_the_same_paths(
            boxes in prop::collection::vec((-3.0f32..3.0, -2.0f32..2.0, 0.1f32..0.9, 0.0f32..6.3), 0..7),
            asked in prop::collection::vec((-2.9f32..2.9, -2.9f32..2.9), 1..5),
            prices in prop::collection::vec(-0.4f32..5.0, 48), budget in 1u32..12, saved_at in 0usize..12,
        ) {
            let mesh = mesh(&boxes);
            let each = asked.iter().map(|&(a, b)| query(Vec2::new(-3.9, a), Vec2::new(3.9, b)));
            let queries: Vec<_> = each.collect();
            let mut layer = CostLayer::default();
            layer.reset(Vec2::new(-4.0, -3.0), Vec2::new(4.0, 3.0));
            for (n, &price) in prices.iter().enumerate() {
                let at = Vec2::new((n % 8) as f32 - 3.5, (n / 8) as f32 - 2.5);
                layer.add((at, at), 0.5, |cell| if (cell - at).abs().max_element() < 0.5 { price } else { 0.0 });
            }
            let costs = [layer];
            let (whole, _) = answer_all(&mesh, &queries, &costs, (u32::MAX, None));
            let (sliced, _) = answer_all(&mesh, &queries, &costs, (budget, None));
            prop_assert_eq!(&whole, &sliced);
            let (saved, _) = answer_all(&mesh, &queries, &costs, (budget, Some(saved_at)));
            prop_assert_eq!(&whole, &saved);
            // The planner must find the same path as a search without interruption.
            let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
            for (query, answers) in queries.iter().zip(&whole) {
                let query = MeshQuery { costs: &costs[0], ..*query };
                let outcome = search.find_path(&mesh, &MeshLinks::default(), &query, &mut path);
                prop_assert_eq!((outcome, &path), (answers.1, &answers.2));
            }
        }
    }

    #[test]
    fn a_search_spreads_over_ticks_and_is_dropped_when_not_repeated() {
        let boxes = [
            (-1.5, 0.5, 0.9, 1.5),
            (0.0, -0.5, 0.9, 1.4),
            (1.5, 0.4, 0.9, 1.6),
        ];
        let mesh = mesh(&boxes);
        let query_across = query(Vec2::new(-3.9, 0.0), Vec2::new(3.9, 0.0));
        let (answers, ticks) = answer_all(&mesh, &[query_across], &[], (2, None));
        let (_, at_once) = answer_all(&mesh, &[query_across], &[], (u32::MAX, None));
        assert_eq!((answers[0].1, at_once), (MeshOutcome::Found, 0));
        assert!(ticks >= 2, "{ticks}");
        let (mesh, links) = (&mesh, &MeshLinks::default());
        let mut planner = MeshPlanner::default();
        planner.request(1, 0, query_across);
        planner.advance(
            |_| NavGraph { mesh, links },
            &[],
            &mut 2,
            |_, _, _, _| panic!("the search must not be finished yet"),
        );
        // The first agent does not repeat its query. The second query must not continue the search of the first.
        let mut answers = Vec::new();
        for _ in 0..50 {
            planner.request(2, 0, query(Vec2::new(3.9, 2.0), Vec2::new(3.5, 2.0)));
            planner.advance(
                |_| NavGraph { mesh, links },
                &[],
                &mut 2,
                |id, query, outcome, _| {
                    answers.push((id, query.start.at_m.x, outcome));
                },
            );
        }
        assert_eq!(answers.first(), Some(&(2, 3.9, MeshOutcome::Found)));
    }

    #[test]
    fn the_swimming_distance_leads_around_walls_and_is_limited() {
        let mesh = mesh(&[(0.0, 0.0, 1.0, std::f32::consts::FRAC_PI_2)]);
        let point = |x, y| MeshPoint {
            terrace: 0,
            at_m: Vec2::new(x, y),
        };
        let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
        let mut distance = |ends, most| search.distance_m(&mesh, ends, most, &mut path);
        let open = distance((point(-1.0, 0.0), point(-1.0, 1.0)), 5.0);
        assert_eq!(open, Some((1.0, Vec2::new(-1.0, 1.0))));
        let (length, first) = distance((point(-1.0, 0.1), point(1.0, 0.1)), 5.0).unwrap();
        assert!(length > 2.5 && length < 3.1, "{length}");
        assert!(first.y.abs() > 1.0, "{first}");
        assert_eq!(distance((point(-1.0, 0.1), point(1.0, 0.1)), 2.5), None);
        assert_eq!(distance((point(-1.0, 0.1), point(9.0, 0.1)), 25.0), None);
    }
}
