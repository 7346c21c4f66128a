//! What the pool sounds like: events from its snapshots, wind and falls from its site.
//!
//! In: the snapshot after every tick. Out: sound events. Must not: change the pool, make it wait, allocate memory in a tick.

use glam::{Vec2, Vec3};

use crate::geometry::{Surface, Visitor};
use crate::render::fall_places;
use crate::site::Site;
use crate::sound::{Fall, SoundEvent, SoundKind, Waters};
use crate::world::{Snapshot, SoundEffect, Splash, WaterSound};

/// Time in which fish that start count as one school. Shorter: several rushes. Longer: the rush is late.
const START_SECS: f64 = 0.06;
/// Number of fish that start at once in the loudest rush.
const LOUDEST_STARTS: f32 = 14.0;
/// Vertical speed in m/s of the loudest splash: a leap of 0.5 m.
const LOUDEST_SPLASH_MPS: f32 = 3.2;
/// Distance that a visitor walks between two steps.
const STEP_M: f32 = 0.6;
/// Least time between two steps of a visitor: a child that runs.
const STEP_SECS: f64 = 0.22;
/// Speed in m/s of the loudest step.
const LOUDEST_STEP_MPS: f32 = 1.6;
/// Least agitation of a visitor who stamps on the spot, and that of the loudest stamp. A visitor who sways stays below.
const STAMP_MPS: [f32; 2] = [0.04, 0.15];
/// Time between two stamps.
const STAMP_SECS: f64 = 0.4;
/// Radius of a foot, as the size of a step.
const FOOT_M: f32 = 0.1;
/// Largest number of visitors whose steps are heard.
const WALKERS_MAX: usize = 64;
/// Radius of a body whose splash has no fish near.
const USUAL_RADIUS_M: f32 = 0.05;

/// The steps of one visitor.
#[derive(Clone, Copy, Debug)]
struct Walker {
    id: u32,
    last_m: Vec2,
    last_secs: f64,
    is_here: bool,
}

/// Fish that start together.
#[derive(Clone, Copy, Debug, Default)]
struct Starts {
    since_secs: f64,
    count: f32,
    middle_m: Vec3,
    radius_m: f32,
}

/// Listens to a pool.
#[derive(Clone, Debug)]
pub(super) struct Listener {
    surface: Surface,
    walkers: Vec<Walker>,
    starts: Starts,
    /// Time of the last snapshot; `None` before the first.
    last_secs: Option<f64>,
}

impl Listener {
    pub(super) fn new(surface: &Surface) -> Self {
        Self {
            surface: surface.clone(),
            walkers: Vec::with_capacity(WALKERS_MAX),
            starts: Starts::default(),
            last_secs: None,
        }
    }

    /// Passes what began since the last snapshot to `add`.
    pub(super) fn listen(&mut self, snapshot: &Snapshot, add: &mut dyn FnMut(SoundEvent)) {
        let now = snapshot.time_secs;
        let last = self.last_secs.replace(now);
        let Some(dt_secs) = last.map(|last| now - last).filter(|dt| *dt > 0.0) else {
            // A pool that begins, stands still, or began again.
            self.starts = Starts::default();
            return;
        };
        let is_new = |age_secs: f32| f64::from(age_secs) < 0.5 * dt_secs;
        for splash in snapshot.splashes.iter().filter(|s| is_new(s.age_secs)) {
            add(self.splash(splash, snapshot));
        }
        for catch in snapshot.catches.iter().filter(|c| is_new(c.age_secs)) {
            add(SoundEvent {
                kind: SoundKind::Gulp,
                at_m: self.floor(catch.at_m),
                strength: (catch.prey_length_m / 0.15).clamp(0.35, 1.0),
                size_m: 0.25 * catch.prey_length_m,
            });
        }
        for sound in &snapshot.sounds {
            add(cue(sound));
        }
        self.listen_to_starts(snapshot, now, add);
        self.listen_to_steps(snapshot, now, add);
    }

    fn floor(&self, at_m: Vec3) -> [f32; 2] {
        self.surface.floor_from_world(at_m).to_array()
    }

    fn splash(&self, splash: &Splash, snapshot: &Snapshot) -> SoundEvent {
        let near = snapshot.agents.iter().filter_map(|agent| {
            let distance_m = agent.position_m.distance(splash.at_m);
            (distance_m < 0.5).then_some((distance_m, agent.radius_m))
        });
        let nearest = near.min_by(|a, b| a.0.total_cmp(&b.0));
        SoundEvent {
            kind: SoundKind::Splash,
            at_m: self.floor(splash.at_m),
            strength: (splash.speed_mps / LOUDEST_SPLASH_MPS).clamp(0.2, 1.0),
            size_m: nearest.map_or(USUAL_RADIUS_M, |(_, radius_m)| radius_m),
        }
    }

    /// Collects the fish that start within a short time, and lets them rush together.
    fn listen_to_starts(&mut self, snapshot: &Snapshot, now: f64, add: &mut dyn FnMut(SoundEvent)) {
        let starting = (snapshot.agents.iter()).filter(|agent| {
            agent.start_phase == 0.0 && !agent.teleported && agent.swallowed == 0.0
        });
        for agent in starting {
            let starts = &mut self.starts;
            if starts.count == 0.0 {
                starts.since_secs = now;
            }
            starts.count += 1.0;
            starts.middle_m += (agent.position_m - starts.middle_m) / starts.count;
            starts.radius_m += (agent.radius_m - starts.radius_m) / starts.count;
        }
        let starts = self.starts;
        if starts.count > 0.0 && now - starts.since_secs >= START_SECS {
            self.starts = Starts::default();
            add(SoundEvent {
                kind: SoundKind::Swish,
                at_m: self.floor(starts.middle_m),
                strength: (starts.count / LOUDEST_STARTS).sqrt().clamp(0.2, 1.0),
                size_m: starts.radius_m,
            });
        }
    }

    fn listen_to_steps(&mut self, snapshot: &Snapshot, now: f64, add: &mut dyn FnMut(SoundEvent)) {
        for walker in &mut self.walkers {
            walker.is_here = false;
        }
        for visitor in snapshot.shadows.iter().filter(|visitor| visitor.on_surface) {
            let known = self.walkers.iter().position(|w| w.id == visitor.id);
            let strength = match known.and_then(|index| self.walkers.get_mut(index)) {
                Some(walker) => {
                    walker.is_here = true;
                    walker.step(visitor, now)
                }
                None => self.arrive(visitor, now),
            };
            if let Some(strength) = strength {
                add(SoundEvent {
                    kind: SoundKind::Step,
                    at_m: visitor.foot_m.to_array(),
                    strength,
                    size_m: FOOT_M,
                });
            }
        }
        self.walkers.retain(|walker| walker.is_here);
    }

    /// Notes a visitor who has come. Returns how strong the first step is; `None` if there are too many visitors.
    fn arrive(&mut self, visitor: &Visitor, now: f64) -> Option<f32> {
        if self.walkers.len() >= WALKERS_MAX {
            return None;
        }
        self.walkers.push(Walker {
            id: visitor.id,
            last_m: visitor.foot_m,
            last_secs: now,
            is_here: true,
        });
        Some(0.5)
    }
}

impl Walker {
    /// Returns how strongly the visitor sets a foot down now; `None` if it does not.
    fn step(&mut self, visitor: &Visitor, now: f64) -> Option<f32> {
        let since_secs = now - self.last_secs;
        let walked_m = visitor.foot_m.distance(self.last_m);
        let strength = if walked_m >= STEP_M && since_secs >= STEP_SECS {
            (visitor.velocity_mps.length() / LOUDEST_STEP_MPS).clamp(0.3, 1.0)
        } else if visitor.restlessness_mps() >= STAMP_MPS[0] && since_secs >= STAMP_SECS {
            (visitor.restlessness_mps() / STAMP_MPS[1]).clamp(0.3, 1.0)
        } else {
            return None;
        };
        (self.last_m, self.last_secs) = (visitor.foot_m, now);
        Some(strength)
    }
}

/// Returns the water of a site that sounds all the time: its wind raises the swell of the picture, its falls are those of the picture.
pub(super) fn waters(site: &Site) -> Waters {
    let surface = &site.file.surface;
    let falls = fall_places(&site.scene.pool.terraces).map(|place| Fall {
        at_m: surface.floor_from_world(place.foot_m).to_array(),
        height_m: place.height_m,
        width_m: place.width_m,
    });
    Waters::new(
        site.scene.look.swell,
        surface.half_extent_m().to_array(),
        falls,
    )
}

/// Returns the sound that a rule of the director asks for.
fn cue(sound: &SoundEffect) -> SoundEvent {
    SoundEvent {
        kind: match sound.play {
            WaterSound::Splash => SoundKind::Splash,
            WaterSound::Gulp => SoundKind::Gulp,
            WaterSound::Swish => SoundKind::Swish,
            WaterSound::Step => SoundKind::Step,
        },
        at_m: sound.at_m,
        strength: sound.strength,
        size_m: sound.size_m,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{AgentPose, Catch};

    fn snapshot(tick: u64) -> Snapshot {
        Snapshot {
            tick,
            time_secs: tick as f64 / 60.0,
            ..Snapshot::default()
        }
    }

    fn fish(x: f32, start_phase: f32) -> AgentPose {
        AgentPose {
            id: 1,
            species: 0,
            position_m: Vec3::new(x, 0.0, 0.5),
            forward: Vec3::X,
            up: Vec3::Y,
            velocity_mps: Vec3::ZERO,
            turn_rate_rps: 0.0,
            acceleration_mps2: 0.0,
            boost: 0.0,
            start_phase,
            start_bend_rad: 0.0,
            radius_m: 0.02,
            teleported: false,
            swallowed: 0.0,
        }
    }

    fn heard(listener: &mut Listener, snapshot: &Snapshot) -> Vec<SoundEvent> {
        let mut events = Vec::new();
        listener.listen(snapshot, &mut |event| events.push(event));
        events
    }

    #[test]
    fn a_sound_of_a_rule_is_heard_once_at_its_place() {
        let mut listener = Listener::new(&Surface::default());
        heard(&mut listener, &snapshot(1));
        let mut with_cue = snapshot(2);
        with_cue.sounds = vec![SoundEffect {
            play: WaterSound::Gulp,
            at_m: [1.0, -0.5],
            strength: 0.5,
            size_m: 0.2,
        }];
        let cue = SoundEvent {
            kind: SoundKind::Gulp,
            at_m: [1.0, -0.5],
            strength: 0.5,
            size_m: 0.2,
        };
        assert_eq!(heard(&mut listener, &with_cue), [cue]);
        assert_eq!(heard(&mut listener, &snapshot(3)), []);
    }

    #[test]
    fn a_splash_and_a_catch_are_heard_once() {
        let mut listener = Listener::new(&Surface::default());
        heard(&mut listener, &snapshot(1));
        let mut after = snapshot(2);
        after.splashes.push(Splash {
            at_m: Vec3::new(1.0, 0.0, 0.5),
            speed_mps: 3.2,
            age_secs: 0.0,
        });
        after.catches.push(Catch {
            at_m: Vec3::new(-1.0, 0.0, 0.0),
            prey_length_m: 0.2,
            age_secs: 0.0,
        });
        after.agents.push(fish(1.0, 2.0));
        let events = heard(&mut listener, &after);
        assert_eq!(
            events.iter().map(|e| e.kind).collect::<Vec<_>>(),
            [SoundKind::Splash, SoundKind::Gulp]
        );
        assert_eq!(
            (events[0].at_m, events[0].strength, events[0].size_m),
            ([1.0, 0.5], 1.0, 0.02)
        );
        let mut later = snapshot(3);
        later.splashes = after.splashes.clone();
        later.splashes[0].age_secs = 1.0 / 60.0;
        assert_eq!(heard(&mut listener, &later), []);
    }

    #[test]
    fn a_school_that_starts_at_once_is_one_rush() {
        let mut listener = Listener::new(&Surface::default());
        heard(&mut listener, &snapshot(1));
        let mut events = Vec::new();
        for tick in 2..20 {
            let mut now = snapshot(tick);
            let phase = if tick < 5 { 0.0 } else { 0.5 };
            now.agents = (0..4).map(|n| fish(n as f32 * 0.2, phase)).collect();
            events.extend(heard(&mut listener, &now));
        }
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].kind, SoundKind::Swish);
        assert!(
            events[0].strength > 0.9 && (events[0].at_m[0] - 0.3).abs() < 0.01,
            "{events:?}"
        );
    }

    #[test]
    fn a_visitor_who_walks_steps_and_one_who_stands_does_not() {
        let mut listener = Listener::new(&Surface::default());
        let mut counts = [0; 3];
        for tick in 1..=600 {
            let mut now = snapshot(tick);
            let visitor = |id: u32, x: f32, speed: f32, agitation_mps: f32| Visitor {
                id,
                foot_m: Vec2::new(x, 0.0),
                velocity_mps: Vec2::new(speed, 0.0),
                agitation_mps,
                ..Visitor::default()
            };
            let secs = tick as f32 / 60.0;
            now.shadows = vec![
                visitor(0, secs, 1.0, 0.6),
                visitor(1, 0.02 * (3.0 * secs).sin(), 0.0, 0.015),
                visitor(2, 0.5, 0.0, 0.12),
            ];
            for event in heard(&mut listener, &now) {
                assert_eq!(event.kind, SoundKind::Step);
                let id = if event.at_m[0] == 0.5 {
                    2
                } else {
                    usize::from(event.at_m[0].abs() < 0.05)
                };
                counts[id] += 1;
            }
        }
        // Ten seconds at one meter per second, a visitor who stands, one who stamps.
        assert!((14..=18).contains(&counts[0]), "{counts:?}");
        assert!(
            // Visitor 0 starts where visitor 1 stands, so a step of visitor 0 can be counted for visitor 1.
            counts[1] <= 2 && (20..=26).contains(&counts[2]),
            "{counts:?}"
        );
    }

    #[test]
    fn a_tick_allocates_nothing() {
        let mut listener = Listener::new(&Surface::default());
        let mut now = snapshot(1);
        now.agents = vec![fish(0.0, 0.0); 30];
        now.shadows = (0..70)
            .map(|id| Visitor {
                id,
                ..Visitor::default()
            })
            .collect();
        let counted = allocation_counter::measure(|| {
            for tick in 1..100 {
                (now.tick, now.time_secs) = (tick, tick as f64 / 60.0);
                listener.listen(&now, &mut |_| {});
            }
        });
        assert_eq!(counted.count_total, 0, "number of allocations");
    }
}
