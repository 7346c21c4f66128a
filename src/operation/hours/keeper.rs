//! Decides which state applies: the one set by hand, the one of the plan, or `attract` while the clock cannot be trusted.
//!
//! In: a plan, a time, whether the clock can be trusted. Out: a decision. Must not: ask a clock, apply a state.

use jiff::{SignedDuration, Timestamp};

use super::plan::SchedulePlan;
use super::timeline::PlanNow;
use crate::control::{HandEnd, ShowState};
use crate::operation::hold::{Hold, Moment};

/// Longest time for which a computed state is used again. After that, the database of time zones may have changed.
const RECOMPUTE: SignedDuration = SignedDuration::from_secs(60);

/// Largest number of states set by hand of which each interrupts the one before.
const INTERRUPTED_MAX: usize = 4;

/// A state that was set by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByHand {
    /// The state.
    pub state: ShowState,
    /// When the plan applies again.
    pub hold: Hold,
}

/// The state and scene to show, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScheduleDecision {
    /// The state.
    pub state: ShowState,
    /// Scene that the plan shows; `None` if it names none, or if the plan does not apply.
    pub scene: Option<String>,
    /// Reason for the state.
    pub reason: String,
    /// Whether the projectors are to be on.
    pub wants_power: bool,
    /// The state of the plan at this time.
    pub plan: PlanNow,
}

/// Remembers the states that were set by hand.
#[derive(Clone, Debug, Default)]
pub(super) struct ScheduleKeeper {
    /// The state that was set last is the last one. One set for a duration leaves those before it, which apply again after it if their
    /// own end has not come. At most [`INTERRUPTED_MAX`].
    by_hand: Vec<ByHand>,
    /// The last computed state of the plan, and the time for which it was computed.
    computed: Option<(Timestamp, PlanNow)>,
}

impl ScheduleKeeper {
    /// Returns the state that was set by hand; `None` if there is none.
    pub(super) fn by_hand(&self) -> Option<ByHand> {
        self.by_hand.last().copied()
    }

    /// Returns the states that were set by hand and have not ended, the one that applies last.
    pub(super) fn all_by_hand(&self) -> &[ByHand] {
        &self.by_hand
    }

    /// Sets a state. For a duration, it interrupts the state that was set by hand before; otherwise it replaces all of them.
    pub(super) fn set_by_hand(&mut self, by_hand: ByHand) {
        match by_hand.hold.ends() {
            // The same state again is a correction of its end.
            HandEnd::Secs(_) => {
                self.by_hand.pop_if(|last| last.state == by_hand.state);
            }
            HandEnd::NextChange | HandEnd::Tomorrow | HandEnd::Never => self.by_hand.clear(),
        }
        if self.by_hand.len() >= INTERRUPTED_MAX {
            self.by_hand.remove(INTERRUPTED_MAX - 1);
        }
        self.by_hand.push(by_hand);
    }

    /// Continues with the states that an earlier run of the program kept.
    pub(super) fn continue_by_hand(&mut self, by_hand: Vec<ByHand>) {
        self.by_hand = by_hand;
    }

    /// Ends the state that was set by hand last. The one before it applies again, or the plan.
    pub(super) fn end(&mut self) {
        self.by_hand.pop();
    }

    /// Returns to the plan.
    pub(super) fn resume(&mut self) {
        self.by_hand.clear();
    }

    /// Forgets what was computed from an old plan.
    pub(super) fn forget_plan(&mut self) {
        self.computed = None;
    }

    /// Decides what is to be shown.
    pub(super) fn decide(&mut self, plan: &SchedulePlan, at: Moment) -> ScheduleDecision {
        let time = at.time;
        let is_trusted = at.is_clock_set || !plan.is_planned();
        let now = self.state_of_plan(plan, time);
        // Also by a clock that is not set: otherwise what was set would have no end.
        let end_of = |ends, from| plan.end_of(ends, from);
        self.by_hand
            .retain_mut(|by_hand| !by_hand.hold.follow(at, end_of));
        if let Some(by_hand) = self.by_hand() {
            return ScheduleDecision {
                state: by_hand.state,
                scene: None,
                reason: "set by hand".to_owned(),
                wants_power: by_hand.state != ShowState::Closed,
                plan: now,
            };
        }
        if !is_trusted {
            return ScheduleDecision {
                state: ShowState::Attract,
                scene: None,
                reason: "the clock is not set yet".to_owned(),
                wants_power: true,
                plan: now,
            };
        }
        ScheduleDecision {
            state: now.state,
            scene: now.scene.clone(),
            reason: now.reason.clone(),
            wants_power: plan.wants_power(time),
            plan: now,
        }
    }

    fn state_of_plan(&mut self, plan: &SchedulePlan, time: Timestamp) -> PlanNow {
        if let Some((at, now)) = &self.computed {
            let is_before_next = now.next.as_ref().is_none_or(|(next, _)| time < *next);
            let age = at.duration_until(time);
            if is_before_next && (SignedDuration::ZERO..RECOMPUTE).contains(&age) {
                return now.clone();
            }
        }
        let now = plan.at(time);
        self.computed = Some((time, now.clone()));
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    use crate::operation::{DayName, DayParams, HoursParams, ScheduleParams, WeeklyParams};

    fn plan() -> SchedulePlan {
        let hours = HoursParams {
            from: "10:00".to_owned(),
            to: "18:00".to_owned(),
            scene: Some("reef".to_owned()),
            ..HoursParams::default()
        };
        SchedulePlan::compile(&ScheduleParams {
            time_zone: "UTC".to_owned(),
            weekly: vec![WeeklyParams {
                days: DayName::ALL.to_vec(),
                hours: vec![hours],
            }],
            ..ScheduleParams::default()
        })
        .unwrap()
    }

    fn at(clock: &str) -> Moment {
        let time: Timestamp = format!("2026-06-01T{clock}Z").parse().unwrap();
        let since_midnight = Timestamp::from_second(1_780_272_000)
            .unwrap()
            .duration_until(time);
        Moment {
            time,
            // Each test counts from its own begin, so that all moments have one base.
            now: base() + since_midnight.unsigned_abs(),
            is_clock_set: true,
        }
    }

    fn unset(at: Moment) -> Moment {
        Moment {
            is_clock_set: false,
            ..at
        }
    }

    fn base() -> Instant {
        static BASE: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        *BASE.get_or_init(Instant::now)
    }

    fn by_hand(state: ShowState, ends: HandEnd, clock: &str) -> ByHand {
        ByHand {
            state,
            hold: Hold::new(ends, at(clock).now),
        }
    }

    #[test]
    fn a_state_set_by_hand_lasts_until_the_next_planned_change() {
        let (plan, mut keeper) = (plan(), ScheduleKeeper::default());
        assert_eq!(
            keeper.decide(&plan, at("09:00:00")).state,
            ShowState::Closed
        );
        keeper.set_by_hand(by_hand(ShowState::Dark, HandEnd::NextChange, "09:30:00"));
        keeper.decide(&plan, at("09:30:00"));
        let decided = keeper.decide(&plan, at("09:59:59"));
        assert_eq!(
            (decided.state, decided.wants_power),
            (ShowState::Dark, true)
        );
        let decided = keeper.decide(&plan, at("10:00:00"));
        assert_eq!(decided.state, ShowState::Open);
        assert_eq!(decided.scene.as_deref(), Some("reef"));
        assert_eq!(keeper.by_hand(), None);
        keeper.set_by_hand(by_hand(ShowState::Closed, HandEnd::NextChange, "11:00:00"));
        assert!(!keeper.decide(&plan, at("11:00:01")).wants_power);
        keeper.resume();
        assert_eq!(keeper.decide(&plan, at("11:00:02")).state, ShowState::Open);
    }

    /// A fixed bug: *Dark* for ten minutes ended an *Open* that was set by hand, and its end was lost.
    #[test]
    fn a_state_for_a_duration_returns_to_the_state_set_by_hand_before_with_its_end() {
        use ShowState::{Attract, Closed, Dark, Open};
        let (plan, mut keeper) = (plan(), ScheduleKeeper::default());
        let mut set = |state, ends, clock| {
            keeper.set_by_hand(by_hand(state, ends, clock));
            keeper.decide(&plan, at(clock));
        };
        set(Open, HandEnd::Secs(3 * 3600), "19:00:00");
        set(Dark, HandEnd::Secs(600), "20:00:00");
        set(Attract, HandEnd::Secs(60), "20:01:00");
        let state = |keeper: &mut ScheduleKeeper, clock| keeper.decide(&plan, at(clock)).state;
        for (clock, shown) in [
            ("20:01:59", Attract),
            ("20:02:00", Dark),
            ("20:09:59", Dark),
            ("20:10:00", Open),
            ("21:59:59", Open),
            ("22:00:00", Closed),
        ] {
            assert_eq!(state(&mut keeper, clock), shown, "{clock}");
        }
        assert_eq!(keeper.by_hand(), None);
        // An end that comes meanwhile counts, and so does a hand that ends the later state.
        keeper.set_by_hand(by_hand(Open, HandEnd::Secs(300), "22:00:00"));
        keeper.set_by_hand(by_hand(Dark, HandEnd::Secs(600), "22:01:00"));
        assert_eq!(state(&mut keeper, "22:01:00"), Dark);
        assert_eq!(state(&mut keeper, "22:11:00"), Closed);
        keeper.set_by_hand(by_hand(Open, HandEnd::Never, "22:20:00"));
        keeper.set_by_hand(by_hand(Dark, HandEnd::Secs(600), "22:21:00"));
        keeper.set_by_hand(by_hand(Dark, HandEnd::Secs(60), "22:22:00"));
        keeper.end();
        assert_eq!(state(&mut keeper, "22:22:01"), Open);
        // What is set until tomorrow is a new decision.
        keeper.set_by_hand(by_hand(Closed, HandEnd::Tomorrow, "22:23:00"));
        assert_eq!(keeper.all_by_hand().len(), 1);
    }

    /// A fixed bug: a state that was set while the clock was wrong lasted for good.
    #[test]
    fn a_state_set_while_the_clock_is_wrong_ends_with_the_next_planned_change() {
        let (plan, mut keeper) = (plan(), ScheduleKeeper::default());
        keeper.set_by_hand(by_hand(ShowState::Dark, HandEnd::NextChange, "03:00:00"));
        keeper.decide(&plan, unset(at("03:00:00")));
        let decided = keeper.decide(&plan, at("09:30:00"));
        assert_eq!(decided.state, ShowState::Dark);
        let decided = keeper.decide(&plan, at("10:00:00"));
        assert_eq!(decided.state, ShowState::Open);
    }

    #[test]
    fn a_clock_that_is_not_set_shows_attract_until_it_is() {
        let (plan, mut keeper) = (plan(), ScheduleKeeper::default());
        let in_1970 = Moment {
            time: "1970-01-01T00:03:00Z".parse().unwrap(),
            ..unset(at("00:00:00"))
        };
        assert_eq!(keeper.decide(&plan, in_1970).state, ShowState::Attract);
        assert_eq!(
            keeper.decide(&plan, at("09:00:00")).state,
            ShowState::Closed
        );
        // Without a plan, the clock does not matter.
        let free = SchedulePlan::compile(&ScheduleParams::default()).unwrap();
        keeper.forget_plan();
        assert_eq!(keeper.decide(&free, in_1970).state, ShowState::Open);
    }

    #[test]
    fn a_clock_that_jumps_shows_the_state_of_the_new_time() {
        let (plan, mut keeper) = (plan(), ScheduleKeeper::default());
        for (clock, state) in [
            ("12:00:00", ShowState::Open),
            ("20:00:00", ShowState::Closed),
            ("12:00:01", ShowState::Open),
            ("09:59:59", ShowState::Closed),
        ] {
            assert_eq!(keeper.decide(&plan, at(clock)).state, state, "{clock}");
        }
    }

    /// A fixed bug: "the pool opens again by itself at the next opening hour" was said, and did not happen.
    #[test]
    fn each_end_is_the_time_that_the_status_says() {
        use ShowState::{Closed, Dark, Open};
        let planned = plan();
        let free = SchedulePlan::compile(&ScheduleParams {
            time_zone: "UTC".to_owned(),
            ..ScheduleParams::default()
        })
        .unwrap();
        for (plan, state, ends, until) in [
            (
                &planned,
                Dark,
                HandEnd::Secs(600),
                Some("2026-06-01T12:10:00Z"),
            ),
            (
                &planned,
                Dark,
                HandEnd::NextChange,
                Some("2026-06-01T18:00:00Z"),
            ),
            (
                &planned,
                Closed,
                HandEnd::Tomorrow,
                Some("2026-06-02T10:00:00Z"),
            ),
            (
                &planned,
                Open,
                HandEnd::Tomorrow,
                Some("2026-06-02T10:00:00Z"),
            ),
            (&planned, Closed, HandEnd::Never, None),
            (
                &free,
                Dark,
                HandEnd::Secs(600),
                Some("2026-06-01T12:10:00Z"),
            ),
            (&free, Dark, HandEnd::NextChange, None),
            (
                &free,
                Closed,
                HandEnd::Tomorrow,
                Some("2026-06-02T06:00:00Z"),
            ),
            (&free, Closed, HandEnd::Never, None),
        ] {
            let mut keeper = ScheduleKeeper::default();
            keeper.set_by_hand(by_hand(state, ends, "12:00:00"));
            let begin = at("12:00:00");
            assert_eq!(keeper.decide(plan, begin).state, state);
            let found = keeper.by_hand().unwrap().hold.until();
            let wanted = until.map(|until| until.parse::<Timestamp>().unwrap());
            assert_eq!(found, wanted, "{ends:?}");
            let mut state_after = |secs: i64| {
                let begin_at = wanted.unwrap_or_else(|| "2027-06-01T00:00:00Z".parse().unwrap());
                let time = begin_at + SignedDuration::from_secs(secs);
                let passed = begin.time.duration_until(time).unsigned_abs();
                let at = Moment {
                    time,
                    now: begin.now + passed,
                    is_clock_set: true,
                };
                keeper.decide(plan, at);
                keeper.by_hand().is_some()
            };
            assert!(state_after(-1), "{ends:?}");
            assert_eq!(state_after(0), until.is_none(), "{ends:?}");
        }
    }

    /// A fixed bug: with holidays only and a clock that no network sets, "until tomorrow" lasted until somebody ended it.
    #[test]
    fn each_end_comes_also_by_a_clock_that_is_never_set() {
        let closed = DayParams {
            date: "12-24".to_owned(),
            ..DayParams::default()
        };
        let holidays = SchedulePlan::compile(&ScheduleParams {
            time_zone: "UTC".to_owned(),
            yearly: vec![closed],
            ..ScheduleParams::default()
        })
        .unwrap();
        for (ends, until) in [
            (HandEnd::Secs(600), "2026-06-01T12:10:00Z"),
            (HandEnd::Tomorrow, "2026-06-02T06:00:00Z"),
            (HandEnd::NextChange, "2026-12-24T00:00:00Z"),
        ] {
            let mut keeper = ScheduleKeeper::default();
            keeper.set_by_hand(by_hand(ShowState::Closed, ends, "12:00:00"));
            let begin = unset(at("12:00:00"));
            keeper.decide(&holidays, begin);
            let until: Timestamp = until.parse().unwrap();
            assert_eq!(keeper.by_hand().unwrap().hold.until(), Some(until));
            let over = Moment {
                time: until,
                now: begin.now + begin.time.duration_until(until).unsigned_abs(),
                ..begin
            };
            assert_eq!(
                keeper.decide(&holidays, over).state,
                ShowState::Attract,
                "{ends:?}"
            );
        }
    }
}
