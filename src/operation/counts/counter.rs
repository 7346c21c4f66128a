//! Turns visitors into visits, and visits into sums per quarter of an hour.
//!
//! In: the visitors of this moment, again and again, with the time. Out: begins and ends of visits, the number of visitors, sums
//! that are not stored yet. Must not: ask a clock.

use std::collections::BTreeMap;

use glam::Vec2;

use crate::control::{EventKind, FloorPlace};
use crate::geometry::Visitor;

/// Length of an interval of the counts.
pub const INTERVAL_SECS: i64 = 900;
/// Upper limits of the classes of times of stay; the last class has no limit.
pub const DWELL_LIMITS_SECS: [u32; 8] = [5, 15, 30, 60, 120, 300, 600, 1200];
/// Number of classes of times of stay.
pub(super) const DWELL_CLASSES: usize = DWELL_LIMITS_SECS.len() + 1;
/// Side of a cell of the occupancy map.
const CELL_M: f32 = 0.1;
/// Largest index of a cell. No surface is larger than 200 m.
const CELL_MAX: f32 = 1000.0;
/// Time on the surface from which a visitor counts. A shorter track may be a flicker.
const STAY_MIN_SECS: f64 = 1.0;
/// Time without a track after which its visit is over. A track that returns earlier has the same number, so its visit goes on.
const GONE_SECS: f64 = 10.0;
/// Time without a move from which a visitor stands. People who walk on pause for less.
const STANDS_SECS: f64 = 3.0;
/// Agitation on the spot from which a visitor stamps. One who stands has less than 0.02 m/s, one who stamps 0.03 to 0.15.
const STAMPS_MPS: f32 = 0.04;
/// Time for which a visitor has to be restless without a pause to count as stamping. One who stops walking is restless for less.
const STAMPS_SECS: f64 = 1.0;
/// Agitation on the spot below which a visitor has stopped stamping: the upper end of standing.
const CALM_MPS: f32 = 0.02;
/// Longest time that counts between two samples. A longer pause (the machine was stopped) is no presence.
const SAMPLE_MAX_SECS: f64 = 2.0;
/// Largest number of intervals that wait for a file that cannot be written: two days.
const PENDING_MAX: usize = 192;

/// Sums of one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountSums {
    /// Visitors who arrived.
    pub arrivals: u32,
    /// Visits that ended.
    pub departures: u32,
    /// Total time of the visits that ended.
    pub dwell_secs: f64,
    /// Number of ended visits in each class of times of stay.
    pub dwell: [u32; DWELL_CLASSES],
    /// Largest number of visitors at once.
    pub peak: u32,
    /// Total time that visitors spent on the surface in this interval.
    pub visitor_secs: f64,
    /// Time in seconds that visitors spent in each cell of 10 cm, `(x, z)`, counted from the middle of the surface.
    pub cells: BTreeMap<(i32, i32), f64>,
}

impl CountSums {
    /// Adds other sums, except the occupancy map.
    pub fn add(&mut self, other: &Self) {
        self.arrivals += other.arrivals;
        self.departures += other.departures;
        self.dwell_secs += other.dwell_secs;
        for (count, more) in self.dwell.iter_mut().zip(other.dwell) {
            *count += more;
        }
        self.peak = self.peak.max(other.peak);
        self.visitor_secs += other.visitor_secs;
    }

    /// Returns the mean time of the visits that ended; `None` if none did.
    pub fn mean_dwell_secs(&self) -> Option<f64> {
        (self.departures > 0).then(|| self.dwell_secs / f64::from(self.departures))
    }

    /// Whether there were visitors, but fewer than `hide_below`. Means and classes of a few visitors would describe single
    /// persons.
    pub fn is_hidden(&self, hide_below: u32) -> bool {
        let most = self.arrivals.max(self.departures).max(self.peak);
        most > 0 && most < hide_below
    }
}

/// A visit that goes on.
#[derive(Clone, Copy, Debug)]
struct Visit {
    first_secs: f64,
    last_secs: f64,
    is_counted: bool,
    stands: bool,
    stamps: bool,
    /// Start of the time in which the visitor was restless; `None` for one who is not.
    restless_secs: Option<f64>,
}

impl Visit {
    /// Returns what the visitor began to do at the time `secs`.
    fn begun(&mut self, visitor: &Visitor, secs: f64) -> impl Iterator<Item = EventKind> + use<> {
        let (id, foot) = (visitor.id, visitor.foot_m);
        let at = FloorPlace::new(foot.x, foot.y);
        let agitation_mps = visitor.restlessness_mps();
        self.restless_secs = match self.restless_secs {
            Some(since) if agitation_mps >= CALM_MPS && self.stamps => Some(since),
            since if agitation_mps >= STAMPS_MPS => since.or(Some(secs)),
            _ => None,
        };
        let restless_since = self.restless_secs;
        let stamps = restless_since.is_some_and(|since| secs - since >= STAMPS_SECS);
        let stands = visitor.still_secs >= STANDS_SECS;
        let began = |was: &mut bool, is: bool| !std::mem::replace(was, is) && is;
        let stood = began(&mut self.stands, stands);
        let stamped = began(&mut self.stamps, stamps);
        let stood = stood.then_some(EventKind::VisitorStands { id, at });
        let stamped = stamped.then_some(EventKind::VisitorStamps { id, at });
        stood.into_iter().chain(stamped)
    }
}

/// Counts the visitors.
#[derive(Debug, Default)]
pub struct VisitorCounter {
    visits: BTreeMap<u32, Visit>,
    /// Time of the last sample on the monotonic clock.
    last_secs: Option<f64>,
    /// Sums that are not stored yet, by the start of the interval in seconds since 1970.
    pending: BTreeMap<i64, CountSums>,
    /// Whether a visit began or ended since the last [`Self::clear_pending`].
    has_unstored_visits: bool,
    /// Begins and ends of visits since the last [`Self::take_events`].
    events: Vec<EventKind>,
}

impl VisitorCounter {
    /// Records the visitors of a moment. `secs` is a time that never jumps, `unix_secs` the time of the clock.
    pub fn observe<'a>(
        &mut self,
        secs: f64,
        unix_secs: i64,
        visitors: impl IntoIterator<Item = &'a Visitor>,
    ) {
        let mut visitors = visitors.into_iter().peekable();
        let start = unix_secs.div_euclid(INTERVAL_SECS) * INTERVAL_SECS;
        let since = self.last_secs.map_or(0.0, |last| secs - last);
        let since = since.clamp(0.0, SAMPLE_MAX_SECS);
        self.last_secs = Some(secs);
        if visitors.peek().is_some() || !self.visits.is_empty() {
            let sums = self.pending.entry(start).or_default();
            let mut here = 0;
            for visitor in visitors {
                let visit = self.visits.entry(visitor.id).or_insert(Visit {
                    first_secs: secs,
                    last_secs: secs,
                    is_counted: false,
                    stands: false,
                    stamps: false,
                    restless_secs: None,
                });
                visit.last_secs = secs;
                let mut since = since;
                if !visit.is_counted && secs - visit.first_secs >= STAY_MIN_SECS {
                    visit.is_counted = true;
                    since = secs - visit.first_secs;
                    sums.arrivals += 1;
                    self.has_unstored_visits = true;
                    self.events
                        .push(EventKind::VisitorArrived { id: visitor.id });
                }
                if !visit.is_counted {
                    continue;
                }
                here += 1;
                self.events.extend(visit.begun(visitor, secs));
                if let Some(cell) = cell(visitor.foot_m).filter(|_| since > 0.0) {
                    *sums.cells.entry(cell).or_default() += since;
                    sums.visitor_secs += since;
                }
            }
            sums.peak = sums.peak.max(here);
        }
        self.end_visits(secs - GONE_SECS, start);
        while self.pending.len() > PENDING_MAX {
            self.pending.pop_first();
        }
    }

    /// Ends all visits, at the end of the program.
    pub fn end_all(&mut self, unix_secs: i64) {
        let start = unix_secs.div_euclid(INTERVAL_SECS) * INTERVAL_SECS;
        self.end_visits(f64::INFINITY, start);
    }

    /// Ends the visits that were last seen before `before_secs`.
    fn end_visits(&mut self, before_secs: f64, start: i64) {
        let pending = &mut self.pending;
        let (events, has_unstored_visits) = (&mut self.events, &mut self.has_unstored_visits);
        self.visits.retain(|id, visit| {
            let is_over = visit.last_secs < before_secs;
            if is_over && visit.is_counted {
                let stay_secs = visit.last_secs - visit.first_secs;
                let sums = pending.entry(start).or_default();
                sums.departures += 1;
                sums.dwell_secs += stay_secs;
                let class =
                    DWELL_LIMITS_SECS.partition_point(|limit| f64::from(*limit) <= stay_secs);
                if let Some(count) = sums.dwell.get_mut(class) {
                    *count += 1;
                }
                *has_unstored_visits = true;
                events.push(EventKind::VisitorLeft {
                    id: *id,
                    stayed_secs: stay_secs,
                });
            }
            !is_over
        });
    }

    /// Returns the sums that are not stored yet, by the start of their interval.
    pub fn pending(&self) -> &BTreeMap<i64, CountSums> {
        &self.pending
    }

    /// Whether a visit began or ended since the last [`Self::clear_pending`].
    pub(super) fn has_unstored_visits(&self) -> bool {
        self.has_unstored_visits
    }

    /// Returns the begins and ends of visits since the last call, as events.
    pub(super) fn take_events(&mut self) -> Vec<EventKind> {
        std::mem::take(&mut self.events)
    }

    /// Returns the number of visitors who count and were there at the last moment.
    pub(super) fn present(&self) -> u32 {
        let is_here = |visit: &&Visit| visit.is_counted && Some(visit.last_secs) == self.last_secs;
        let count = self.visits.values().filter(is_here).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Forgets the sums, because they are stored.
    pub fn clear_pending(&mut self) {
        self.pending.clear();
        self.has_unstored_visits = false;
    }
}

/// Returns the cell of a point; `None` for a point that is on no surface.
fn cell(foot_m: Vec2) -> Option<(i32, i32)> {
    let [x, z] = (foot_m / CELL_M).floor().to_array();
    let is_valid = x.abs() <= CELL_MAX && z.abs() <= CELL_MAX;
    is_valid.then_some((x as i32, z as i32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_near;

    fn at(id: u32, x: f32) -> Visitor {
        Visitor {
            id,
            foot_m: Vec2::new(x, -0.05),
            ..Visitor::default()
        }
    }

    fn total(counter: &VisitorCounter) -> CountSums {
        let mut total = CountSums::default();
        for sums in counter.pending().values() {
            total.arrivals += sums.arrivals;
            total.departures += sums.departures;
            total.dwell_secs += sums.dwell_secs;
            total.visitor_secs += sums.visitor_secs;
        }
        total
    }

    #[test]
    fn a_visit_is_counted_once_also_with_a_gap_and_a_flicker_is_not() {
        let mut counter = VisitorCounter::default();
        for quarter in 0..400 {
            let secs = f64::from(quarter) / 4.0;
            let mut tracks = Vec::new();
            // One visitor for 40 s who is hidden for 5 s, one for 3 s, and a flicker of half a second.
            if secs < 40.0 && !(10.0..15.0).contains(&secs) {
                tracks.push(at(1, 0.31));
            }
            if (20.0..23.0).contains(&secs) {
                tracks.push(at(2, 1.0));
            }
            // A third track, only for half a second: it is no visitor, and the peak stays 2.
            if (21.0..21.5).contains(&secs) {
                tracks.push(at(3, -1.0));
            }
            counter.observe(secs, 1_800_000_000 + secs as i64, &tracks);
        }
        let sums = total(&counter);
        assert_eq!((sums.arrivals, sums.departures), (2, 2));
        assert_near(sums.dwell_secs - 39.75, 2.75, 1e-6);
        let first = counter.pending().values().next().unwrap();
        assert_eq!(first.peak, 2);
        assert_eq!(first.dwell, [1, 0, 0, 1, 0, 0, 0, 0, 0]);
        assert_eq!(first.cells.get(&(-10, -1)), None);
        // Cells are those of the foot points: 0.31 m is in cell 3, -0.05 m in cell -1.
        let here = first.cells[&(3, -1)];
        assert!((here - 34.75).abs() < 1e-6, "{here}");
    }

    #[test]
    fn a_visitor_who_stands_and_one_who_stamps_are_one_event_each() {
        let mut counter = VisitorCounter::default();
        for quarter in 0..80_u32 {
            let secs = f64::from(quarter) / 4.0;
            let stands = Visitor {
                still_secs: secs,
                ..at(1, 0.31)
            };
            // It stamps from 5 s to 10 s, with a pause in which it is still restless, and again from 15 s.
            let agitation_mps = match secs {
                secs if secs < 5.0 => 0.01,
                secs if (7.0..8.0).contains(&secs) => 0.03,
                // Also a visitor who stops walking is restless for a moment.
                11.0 => 0.08,
                secs if (10.0..15.0).contains(&secs) => 0.015,
                _ => 0.08,
            };
            let stamps = Visitor {
                agitation_mps,
                ..at(2, -1.0)
            };
            counter.observe(secs, 1_800_000_000, &[stands, stamps]);
        }
        let place = FloorPlace::new(0.31, -0.05);
        let stood = EventKind::VisitorStands { id: 1, at: place };
        let at = FloorPlace::new(-1.0, -0.05);
        let stamped = EventKind::VisitorStamps { id: 2, at };
        let events = counter.take_events();
        assert_eq!(events[2..], [stood, stamped.clone(), stamped]);
        assert!(matches!(events[1], EventKind::VisitorArrived { id: 2 }));
    }

    #[test]
    fn intervals_begin_at_full_quarters_and_a_pause_is_no_presence() {
        let mut counter = VisitorCounter::default();
        let begin = 1_800_000_000_i64.div_euclid(INTERVAL_SECS) * INTERVAL_SECS;
        for (secs, unix) in [(0.0, begin - 1), (1.5, begin + 1), (3601.5, begin + 3601)] {
            counter.observe(secs, unix, &[at(1, 0.0)]);
        }
        counter.observe(3700.0, begin + 3700, &[]);
        let starts: Vec<i64> = counter.pending().keys().copied().collect();
        assert_eq!(starts, [begin - 900, begin, begin + 3600]);
        let secs: f64 = total(&counter).visitor_secs;
        assert!((secs - 3.5).abs() < 1e-6, "{secs}");
    }

    #[test]
    fn a_file_that_cannot_be_written_for_long_costs_the_oldest_intervals() {
        let mut counter = VisitorCounter::default();
        for n in 0..400_i32 {
            let secs = f64::from(n) * 900.0;
            counter.observe(secs, i64::from(n) * 900, &[at(1, 0.0)]);
        }
        assert_eq!(counter.pending().len(), PENDING_MAX);
    }

    #[test]
    fn points_that_are_on_no_surface_have_no_cell() {
        for x in [f32::NAN, f32::INFINITY, 1e9] {
            assert_eq!(cell(Vec2::new(x, 0.0)), None);
        }
    }
}
