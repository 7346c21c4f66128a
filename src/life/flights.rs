//! Measures flights, and agents that leave the picture and come back.

use glam::Vec3;
use serde::Serialize;

use super::histogram::Histogram;

/// An episode of fleeing that is shorter looks like trembling.
pub(super) const SHORT_SECS: f64 = 0.3;
/// A flight begins if a body that is not faster than this multiple of its cruise speed flees.
const CALM_SPEED: f32 = 1.1;
/// Time within which a body that flees has to be faster.
const START_SECS: f64 = 2.0;

/// Flights of a species. A value is `None` if there was nothing to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Flights {
    /// Episodes in which an agent flees or hides, per agent and minute.
    pub per_min: f64,
    /// Median duration of an episode, in seconds.
    pub secs: Option<f64>,
    /// Share of the episodes that are shorter than 0.3 s.
    pub short_share: Option<f64>,
    /// Median distance to the edge of the shadow at which a calm agent begins to flee from a visitor, in meters.
    pub begins_m: Option<f64>,
    /// Median time from this moment until the agent is faster than its cruise speed, in seconds.
    pub start_secs: Option<f64>,
    /// Time that a tenth of these starts exceeds, in seconds.
    pub start_90_secs: Option<f64>,
    /// Median distance between the places at which such a flight begins and ends, in meters.
    pub way_m: Option<f64>,
}

/// Sums over the agents of a species.
#[derive(Clone, Debug, Default)]
pub(super) struct FlightSums {
    episodes: u64,
    short: u64,
    secs: Histogram,
    begins: Histogram,
    starts: Histogram,
    ways: Histogram,
    /// Number of times that an agent left the picture, and came back.
    pub(super) left: u64,
    pub(super) returned: u64,
}

impl FlightSums {
    pub(super) fn summary(&self, minutes: f64) -> Flights {
        Flights {
            per_min: self.episodes as f64 / minutes.max(1e-9),
            secs: self.secs.quantile(0.5),
            short_share: (self.episodes > 0).then(|| self.short as f64 / self.episodes as f64),
            begins_m: self.begins.quantile(0.5),
            start_secs: self.starts.quantile(0.5),
            start_90_secs: self.starts.quantile(0.9),
            way_m: self.ways.quantile(0.5),
        }
    }
}

/// What one agent does in a tick, as far as flights are concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Whether the agent flees.
    pub(super) flees: bool,
    /// Speed, and cruise speed of the species.
    pub(super) speed_mps: f32,
    pub(super) cruise_mps: f32,
    pub(super) at_m: Vec3,
    /// Whether a part of the agent is in the picture; `None` for an agent that is absent.
    pub(super) is_visible: Option<bool>,
    pub(super) dt_secs: f64,
}

/// The flight of one agent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    /// Duration of the current episode; 0 if the agent does not flee.
    episode_secs: f64,
    /// Place where the current flight from a visitor began, and time since then.
    from: Option<(Vec3, f64)>,
    is_started: bool,
    was_visible: Option<bool>,
}

impl Flight {
    /// Adds a tick. `shadow_m` returns the distance to the nearest visitor, if there is one.
    pub(super) fn add(
        &mut self,
        now: Moment,
        sums: &mut FlightSums,
        shadow_m: impl FnOnce() -> Option<f32>,
    ) {
        if let (Some(was), Some(is)) = (self.was_visible, now.is_visible) {
            sums.left += u64::from(was && !is);
            sums.returned += u64::from(!was && is);
        }
        self.was_visible = now.is_visible;
        let is_fast = now.speed_mps > now.cruise_mps * CALM_SPEED;
        if now.flees {
            if self.episode_secs == 0.0 {
                sums.episodes += 1;
                if self.from.is_none()
                    && !is_fast
                    && let Some(distance_m) = shadow_m().filter(|m| *m < VISITOR_M)
                {
                    sums.begins.add(f64::from(distance_m.max(0.0)));
                    self.from = Some((now.at_m, 0.0));
                    self.is_started = false;
                }
            }
            self.episode_secs += now.dt_secs;
        } else if self.episode_secs > 0.0 {
            sums.short += u64::from(self.episode_secs < SHORT_SECS - now.dt_secs / 2.0);
            sums.secs.add(self.episode_secs);
            self.episode_secs = 0.0;
        }
        let Some((from_m, secs)) = &mut self.from else {
            return;
        };
        *secs += now.dt_secs;
        if is_fast && !self.is_started {
            self.is_started = true;
            sums.starts.add(*secs);
        }
        let is_over = !now.flees && !is_fast;
        if is_over && self.is_started {
            sums.ways.add(f64::from(from_m.distance(now.at_m)));
        }
        if is_over || (!self.is_started && *secs > START_SECS) {
            self.from = None;
        }
    }
}

/// Farther away from a visitor an agent flees from something else.
const VISITOR_M: f32 = 1.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flight_has_a_distance_a_start_and_a_way_and_trembling_is_counted() {
        let mut sums = FlightSums::default();
        let mut flight = Flight::default();
        let mut x = 0.0;
        for tick in 0..240 {
            // It flees from 1 s to 2 s, is fast from 1.1 s to 3 s, and flees again for 0.1 s at 3.5 s.
            let secs = tick as f32 / 60.0;
            let is_fast = (1.1..3.0).contains(&secs);
            let speed_mps = if is_fast { 1.0 } else { 0.2 };
            x += speed_mps / 60.0;
            let now = Moment {
                flees: (1.0..2.0).contains(&secs) || (3.5..3.6).contains(&secs),
                speed_mps,
                cruise_mps: 0.5,
                at_m: Vec3::X * x,
                is_visible: Some(x < 1.0),
                dt_secs: 1.0 / 60.0,
            };
            let shadow_m = if secs < 3.0 { Some(0.4) } else { None };
            flight.add(now, &mut sums, || shadow_m);
        }
        let found = sums.summary(1.0);
        assert_eq!((found.per_min, found.short_share), (2.0, Some(0.5)));
        let is = |value: Option<f64>, wanted: f64, within: f64| {
            assert!(
                (value.unwrap() - wanted).abs() < within,
                "{value:?} is not {wanted}"
            );
        };
        is(found.begins_m, 0.4, 0.01);
        is(found.start_secs, 0.11, 0.02);
        is(found.way_m, 1.93, 0.04);
        assert_eq!((sums.left, sums.returned), (1, 0));
    }
}
