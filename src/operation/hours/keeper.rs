//! Decides which state applies: the one set by hand, the one of the plan, or `attract` while the clock cannot be trusted.
//!
//! In: a plan, a time, whether the clock can be trusted. Out: a decision. Must not: ask a clock, apply a state.

use jiff::{SignedDuration, Timestamp};

use super::plan::SchedulePlan;
use super::timeline::PlanNow;
use crate::control::ShowState;

/// Longest time for which a computed state is used again. After that, the database of time zones may have changed.
const RECOMPUTE: SignedDuration = SignedDuration::from_secs(60);

/// A state that was set by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByHand {
    /// The state.
    pub state: ShowState,
    /// Time at which the plan applies again; `None` if it has no change to wait for.
    pub until: Option<Timestamp>,
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

/// Remembers the state that was set by hand.
#[derive(Clone, Debug, Default)]
pub(super) struct ScheduleKeeper {
    by_hand: Option<ByHand>,
    /// The last computed state of the plan, and the time for which it was computed.
    computed: Option<(Timestamp, PlanNow)>,
}

impl ScheduleKeeper {
    /// Returns the state that was set by hand; `None` if there is none.
    pub(super) fn by_hand(&self) -> Option<ByHand> {
        self.by_hand
    }

    /// Sets a state until the next change of the plan.
    pub(super) fn set_by_hand(
        &mut self,
        state: ShowState,
        plan: &SchedulePlan,
        time: Timestamp,
        is_trusted: bool,
    ) {
        let next = plan.at(time).next.filter(|_| is_trusted);
        self.by_hand = Some(ByHand {
            state,
            until: next.map(|(at, _)| at),
        });
    }

    /// Returns to the plan.
    pub(super) fn resume(&mut self) {
        self.by_hand = None;
    }

    /// Forgets what was computed from an old plan.
    pub(super) fn forget_plan(&mut self) {
        self.computed = None;
    }

    /// Decides what is to be shown.
    pub(super) fn decide(
        &mut self,
        plan: &SchedulePlan,
        time: Timestamp,
        is_trusted: bool,
    ) -> ScheduleDecision {
        let is_trusted = is_trusted || !plan.is_planned();
        let is_over = |by_hand: ByHand| by_hand.until.is_some_and(|until| time >= until);
        if self.by_hand.is_some_and(is_over) {
            self.by_hand = None;
        }
        let now = self.state_of_plan(plan, time);
        // A state that was set while the clock was wrong has no end yet.
        if is_trusted
            && let Some(by_hand) = &mut self.by_hand
            && by_hand.until.is_none()
        {
            by_hand.until = now.next.as_ref().map(|(at, _)| *at);
        }
        if let Some(by_hand) = self.by_hand {
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
    use crate::operation::{DayName, HoursParams, ScheduleParams, WeeklyParams};

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

    fn at(clock: &str) -> Timestamp {
        format!("2026-06-01T{clock}Z").parse().unwrap()
    }

    #[test]
    fn a_state_set_by_hand_lasts_until_the_next_planned_change() {
        let (plan, mut keeper) = (plan(), ScheduleKeeper::default());
        assert_eq!(
            keeper.decide(&plan, at("09:00:00"), true).state,
            ShowState::Closed
        );
        keeper.set_by_hand(ShowState::Dark, &plan, at("09:30:00"), true);
        let decided = keeper.decide(&plan, at("09:59:59"), true);
        assert_eq!(
            (decided.state, decided.wants_power),
            (ShowState::Dark, true)
        );
        let decided = keeper.decide(&plan, at("10:00:00"), true);
        assert_eq!(decided.state, ShowState::Open);
        assert_eq!(decided.scene.as_deref(), Some("reef"));
        assert_eq!(keeper.by_hand(), None);
        keeper.set_by_hand(ShowState::Closed, &plan, at("11:00:00"), true);
        assert!(!keeper.decide(&plan, at("11:00:01"), true).wants_power);
        keeper.resume();
        assert_eq!(
            keeper.decide(&plan, at("11:00:02"), true).state,
            ShowState::Open
        );
    }

    /// A fixed bug: a state that was set while the clock was wrong lasted for good.
    #[test]
    fn a_state_set_while_the_clock_is_wrong_ends_with_the_next_planned_change() {
        let (plan, mut keeper) = (plan(), ScheduleKeeper::default());
        keeper.set_by_hand(ShowState::Dark, &plan, at("03:00:00"), false);
        let decided = keeper.decide(&plan, at("09:30:00"), true);
        assert_eq!(decided.state, ShowState::Dark);
        let decided = keeper.decide(&plan, at("10:00:00"), true);
        assert_eq!(decided.state, ShowState::Open);
    }

    #[test]
    fn a_clock_that_is_not_set_shows_attract_until_it_is() {
        let (plan, mut keeper) = (plan(), ScheduleKeeper::default());
        let in_1970: Timestamp = "1970-01-01T00:03:00Z".parse().unwrap();
        assert_eq!(
            keeper.decide(&plan, in_1970, false).state,
            ShowState::Attract
        );
        assert_eq!(
            keeper.decide(&plan, at("09:00:00"), true).state,
            ShowState::Closed
        );
        // Without a plan, the clock does not matter.
        let free = SchedulePlan::compile(&ScheduleParams::default()).unwrap();
        keeper.forget_plan();
        assert_eq!(keeper.decide(&free, in_1970, false).state, ShowState::Open);
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
            assert_eq!(
                keeper.decide(&plan, at(clock), true).state,
                state,
                "{clock}"
            );
        }
    }
}
