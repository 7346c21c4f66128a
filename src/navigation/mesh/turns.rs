//! Searches of all climbers, one after another: they share a budget of expansions a tick.
//!
//! In: what everybody asks, every tick until it is answered. Out: outcomes and paths. Who has waited longest goes first, then
//! who asked first; a search that is not done goes on in the next tick. Must not: ask a clock.

use serde::{Deserialize, Serialize};

use super::climber::Grounds;
use super::links::Links;
use super::search::{MeshPath, MeshSearch, Outcome, Query};
use super::surface::NavMesh;

/// Who asks for a way, and may not have it in this tick.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asker {
    id: u32,
    /// Place of its costs.
    kind: u16,
    query: Query<'static>,
    /// Whether it asked in this tick; who does not is forgotten.
    asks: bool,
}

/// All climbers' searches. What is written of it is enough to go on bit for bit, after [`Turns::resume`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turns {
    /// In the order of their turns.
    askers: Vec<Asker>,
    /// Whether the first one's search has begun.
    is_running: bool,
    search: MeshSearch,
    #[serde(skip)]
    path: MeshPath,
}

impl Turns {
    /// Asks for a way. The costs of its kind count as they are when its turn comes.
    pub fn ask(&mut self, id: u32, kind: u16, query: Query<'static>) {
        let asker = Asker {
            id,
            kind,
            query,
            asks: true,
        };
        match self.askers.iter_mut().find(|asker| asker.id == id) {
            Some(known) => *known = asker,
            None => self.askers.push(asker),
        }
    }

    /// Goes on with the searches of those who have asked, and takes what that costs from the budget. `answer` is told who
    /// asked, what for, and what came of it; it may take the path.
    pub fn advance(
        &mut self,
        Grounds { mesh, links }: Grounds<'_>,
        costs: &[Vec<f32>],
        budget: &mut u32,
        mut answer: impl FnMut(u32, &Query<'_>, Outcome, &mut MeshPath),
    ) {
        // Whoever no longer asks has other things to do.
        self.is_running &= self.askers.first().is_some_and(|asker| asker.asks);
        self.askers.retain(|asker| asker.asks);
        let mut done = 0;
        while let Some(asker) = self.askers.get(done)
            && *budget > 0
        {
            let begun = if self.is_running {
                None
            } else {
                let query = Query {
                    costs: costs
                        .get(usize::from(asker.kind))
                        .map_or(&[], Vec::as_slice),
                    ..asker.query
                };
                self.search.begin(mesh, links, &query)
            };
            self.is_running = true;
            let Some(outcome) = begun.or_else(|| self.search.advance(mesh, links, budget)) else {
                break;
            };
            self.search.path(mesh, links, &mut self.path);
            answer(asker.id, self.search.query(), outcome, &mut self.path);
            self.is_running = false;
            done += 1;
        }
        self.askers.drain(..done);
        self.askers.iter_mut().for_each(|asker| asker.asks = false);
    }

    /// Goes on with what was saved.
    pub fn resume(&mut self, mesh: &NavMesh, links: &Links) {
        if self.is_running {
            self.search.resume(mesh, links);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigation::Footprints;
    use crate::navigation::mesh::{Place, TerraceGround, build};
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
        let ground = TerraceGround {
            outline_m: &POOL,
            obstacles: &obstacles,
            grow_m: 0.1,
        };
        build(&[ground]).unwrap()
    }

    fn query(from: Vec2, to: Vec2) -> Query<'static> {
        let place = |at_m| Place { terrace: 0, at_m };
        Query {
            start: place(from),
            goal: place(to),
            speed_mps: 1.0,
            ..Query::default()
        }
    }

    type Told = Vec<(u32, Outcome, MeshPath)>;

    /// Asks for all until all are answered; what was told, and after how many ticks.
    fn answers(
        mesh: &NavMesh,
        queries: &[Query<'static>],
        costs: &[Vec<f32>],
        (budget, saved_at): (u32, Option<usize>),
    ) -> (Told, usize) {
        let links = &Links::default();
        let (mut turns, mut told) = (Turns::default(), Told::new());
        for tick in 0.. {
            if saved_at == Some(tick) {
                let text = serde_json::to_string(&turns).unwrap();
                turns = serde_json::from_str(&text).unwrap();
                turns.resume(mesh, links);
            }
            for (id, &query) in queries.iter().enumerate() {
                if told.iter().all(|&(known, ..)| known != id as u32) {
                    turns.ask(id as u32, 0, query);
                }
            }
            turns.advance(
                Grounds { mesh, links },
                costs,
                &mut budget.clone(),
                |id, _, outcome, path| {
                    told.push((id, outcome, path.clone()));
                },
            );
            if told.len() == queries.len() {
                return (told, tick);
            }
        }
        (told, usize::MAX)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn slices_find_what_one_go_finds_and_go_on_after_saving(
            boxes in prop::collection::vec((-3.0f32..3.0, -2.0f32..2.0, 0.1f32..0.9, 0.0f32..6.3), 0..7),
            asked in prop::collection::vec((-2.9f32..2.9, -2.9f32..2.9), 1..5),
            prices in prop::collection::vec(0.4f32..5.0, 40), budget in 1u32..12, saved_at in 0usize..12,
        ) {
            let mesh = mesh(&boxes);
            let each = asked.iter().map(|&(a, b)| query(Vec2::new(-3.9, a), Vec2::new(3.9, b)));
            let queries: Vec<_> = each.collect();
            let costs = [prices];
            let (whole, _) = answers(&mesh, &queries, &costs, (u32::MAX, None));
            let (sliced, _) = answers(&mesh, &queries, &costs, (budget, None));
            prop_assert_eq!(&whole, &sliced);
            let (saved, _) = answers(&mesh, &queries, &costs, (budget, Some(saved_at)));
            prop_assert_eq!(&whole, &saved);
            // And what turns find is what a search alone finds.
            let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
            for (query, told) in queries.iter().zip(&whole) {
                let query = Query { costs: &costs[0], ..*query };
                let outcome = search.find(&mesh, &Links::default(), &query, &mut path);
                prop_assert_eq!((outcome, &path), (told.1, &told.2));
            }
        }
    }

    #[test]
    fn a_search_takes_as_many_ticks_as_its_budget_lets_it_and_gives_way_when_it_is_not_wanted() {
        let boxes = [
            (-1.5, 0.5, 0.9, 1.5),
            (0.0, -0.5, 0.9, 1.4),
            (1.5, 0.4, 0.9, 1.6),
        ];
        let mesh = mesh(&boxes);
        let way = query(Vec2::new(-3.9, 0.0), Vec2::new(3.9, 0.0));
        let (told, ticks) = answers(&mesh, &[way], &[], (2, None));
        let (_, at_once) = answers(&mesh, &[way], &[], (u32::MAX, None));
        assert_eq!((told[0].1, at_once), (Outcome::Found, 0));
        assert!(ticks >= 2, "{ticks}");
        let (mesh, links) = (&mesh, &Links::default());
        let mut turns = Turns::default();
        turns.ask(1, 0, way);
        turns.advance(Grounds { mesh, links }, &[], &mut 2, |_, _, _, _| {
            panic!("it is not done")
        });
        // The first has turned to other things: the second does not get its search.
        let mut told = Vec::new();
        for _ in 0..50 {
            turns.ask(2, 0, query(Vec2::new(3.9, 2.0), Vec2::new(3.5, 2.0)));
            turns.advance(
                Grounds { mesh, links },
                &[],
                &mut 2,
                |id, query, outcome, _| {
                    told.push((id, query.start.at_m.x, outcome));
                },
            );
        }
        assert_eq!(told.first(), Some(&(2, 3.9, Outcome::Found)));
    }

    #[test]
    fn the_distance_to_be_swum_leads_round_walls_and_ends_at_its_limit() {
        let mesh = mesh(&[(0.0, 0.0, 1.0, std::f32::consts::FRAC_PI_2)]);
        let place = |x, y| Place {
            terrace: 0,
            at_m: Vec2::new(x, y),
        };
        let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
        let mut distance = |ends, most| search.distance_m(&mesh, ends, most, &mut path);
        let open = distance((place(-1.0, 0.0), place(-1.0, 1.0)), 5.0);
        assert_eq!(open, Some((1.0, Vec2::new(-1.0, 1.0))));
        let (length, first) = distance((place(-1.0, 0.1), place(1.0, 0.1)), 5.0).unwrap();
        assert!(length > 2.5 && length < 3.1, "{length}");
        assert!(first.y.abs() > 1.0, "{first}");
        assert_eq!(distance((place(-1.0, 0.1), place(1.0, 0.1)), 2.5), None);
        assert_eq!(distance((place(-1.0, 0.1), place(9.0, 0.1)), 25.0), None);
    }
}
