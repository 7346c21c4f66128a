//! The schedule stage: reads the clock, lets the keeper decide, and applies the state: it fades and rests through
//! [`ShowControl`], switches scenes and the pace of the director through the desk, and switches the projectors.
//!
//! In: the table `[schedule]` and steps of operators, from the desk. Out: the state, its status, events, the preview. Must not:
//! decide about a state, make another stage wait.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::board::{Inbox, ScheduleBoard};
use super::clock_trust::{ClockJudge, EARLIEST_SECS, ask_systemd};
use super::keeper::{ByHand, ScheduleDecision, ScheduleKeeper};
use super::kept::{HandFile, HandSettings, ShowFile};
use super::params::ScheduleParams;
use super::plan::SchedulePlan;
use crate::control::{
    Board, ByHandStatus, Command, CommandSender, DirectorEvent, EventKind, Journal, NextShow,
    PoolEdit, ScheduleStatus, ScheduleStep, ShowState,
};
use crate::operation::hold::{Hold, Moment};
use crate::operation::retries::Retries;
use crate::operation::show::ShowControl;
use crate::operation::site_program::run;
use crate::runtime::{Heartbeat, now};

/// Longest pause after the program that switches the projectors failed.
const POWER_PAUSE: Duration = Duration::from_secs(60);
/// Time between two looks at the clock. The largest delay of a planned change.
const STEP_INTERVAL: Duration = Duration::from_millis(250);
/// Time after which the plan is compiled again, because the time zone of the machine may have changed.
const COMPILE_INTERVAL: Duration = Duration::from_secs(60);
/// Longest time between two looks at the clock after which the rules of this time still start.
const MISSED_MAX: SignedDuration = SignedDuration::from_secs(60);
/// Longest time between two looks at the clock whose missed rules are logged.
const LOGGED_MAX: SignedDuration = SignedDuration::from_hours(24);
/// Number of days of the preview. Later days with a plan of their own follow.
const PREVIEW_DAYS: u16 = 21;
/// Factor on the frequency of the director's rules in the state `attract`.
const ATTRACT_PACE: f32 = 4.0;

/// Inputs and outputs of the schedule stage.
pub struct ScheduleLinks {
    /// The table and the steps; receives the status.
    pub schedule: Arc<ScheduleBoard>,
    /// Receives the preview.
    pub board: Arc<Board>,
    /// Receives the state.
    pub show: ShowControl,
    /// Receives scenes and the pace of the director.
    pub commands: CommandSender,
    /// Receives events and faults.
    pub journal: Journal,
    /// Keeps what was set by hand over a restart; `None` keeps nothing.
    pub kept: Option<ShowFile>,
}

/// The schedule stage.
pub struct ScheduleStage {
    links: ScheduleLinks,
    judge: ClockJudge,
    keeper: ScheduleKeeper,
    params: ScheduleParams,
    plan: Option<SchedulePlan>,
    compiled: Option<Instant>,
    /// Day of the published preview; empty if the plan changed since.
    previewed: String,
    /// State and scene that were applied last.
    shown: Option<(ShowState, Option<String>)>,
    /// Time of the last look at the rules that start at a time of the clock, and whether the clock was set.
    rules_until: Option<(Timestamp, bool)>,
    /// Rules that are due and are not sent yet.
    due_rules: Vec<String>,
    /// Pace that was sent last.
    pace: f32,
    /// Whether the projectors were switched on; `None` if it is unknown.
    is_power_on: Option<bool>,
    power: Retries,
    hand_file: HandFile,
}

impl ScheduleStage {
    /// Creates the stage.
    pub fn new(mut links: ScheduleLinks) -> Self {
        let hand_file = HandFile::new(links.kept.take(), &links.journal);
        let HandSettings {
            states,
            pause,
            rehearsal,
        } = hand_file.settings();
        let mut keeper = ScheduleKeeper::default();
        keeper.continue_by_hand(states);
        let at = Moment {
            time: now(),
            now: Instant::now(),
            is_clock_set: false,
        };
        links.show.continue_holds(pause, rehearsal, at);
        Self {
            judge: ClockJudge::new(Box::new(ask_systemd)),
            hand_file,
            keeper,
            params: ScheduleParams::default(),
            plan: None,
            compiled: None,
            previewed: String::new(),
            shown: None,
            rules_until: None,
            due_rules: Vec::new(),
            pace: 1.0,
            is_power_on: None,
            power: Retries::new(
                "schedule.projectors.command",
                links.journal.fault("projectors"),
                POWER_PAUSE,
            ),
            links,
        }
    }

    /// Applies the schedule until the program ends.
    pub fn run(&mut self, heartbeat: &Heartbeat) {
        while heartbeat.sleep(STEP_INTERVAL) {
            self.step_and_switch(now(), Instant::now());
        }
    }

    /// Applies the state of this moment, but does not switch the projectors, which can take long.
    pub fn step(&mut self) {
        self.step_at(now(), Instant::now());
    }

    fn step_and_switch(&mut self, time: Timestamp, now: Instant) {
        if let Some(is_on) = self.step_at(time, now) {
            self.apply_power(is_on, now);
        }
    }

    /// Applies the state of a moment. Returns whether the projectors are to be on; `None` without a plan.
    fn step_at(&mut self, time: Timestamp, now: Instant) -> Option<bool> {
        let Inbox { params, steps } = self.links.schedule.take();
        self.compile(params, now);
        let plan = self.plan.as_ref()?;
        let (is_clock_set, clock) = self.judge.judge(self.params.clock, time, now);
        let is_trusted = is_clock_set || !plan.is_planned();
        for step in steps {
            match step {
                ScheduleStep::ByHand { state, until } => {
                    let hold = Hold::new(until, now);
                    self.keeper.set_by_hand(ByHand { state, hold });
                }
                ScheduleStep::End => self.keeper.end(),
                ScheduleStep::Resume => self.keeper.resume(),
            }
        }
        let at = Moment {
            time,
            now,
            is_clock_set,
        };
        let decision = self.keeper.decide(plan, at);
        let day = plan.date_of(time).to_string();
        if self.previewed != day {
            let mut days = plan.preview(time, PREVIEW_DAYS);
            days.extend(plan.special_days(time, PREVIEW_DAYS));
            self.links.board.publish_preview(days);
            self.previewed = day;
        }
        let status = status(plan, &decision, time);
        self.find_due_rules(time, (is_clock_set, clock), decision.state.is_lit());
        self.apply(&decision, now);
        self.start_due_rules();
        let plan = self.plan.as_ref()?;
        self.links
            .show
            .follow(at, |ends, from| plan.end_of(ends, from));
        let states = self.keeper.all_by_hand();
        let (pause, rehearsal) = self.links.show.holds();
        let local = |hold: Hold| hold.until().map(|until| plan.local(until));
        let (is_clock_trusted, clock) = match plan.needs_clock() {
            true => (is_clock_set, clock),
            false => (
                true,
                "not needed, because no hours and no events are planned",
            ),
        };
        let mut status = ScheduleStatus {
            next_event: plan.next_rule(time),
            is_clock_trusted,
            clock: clock.to_owned(),
            by_hand: states.split_last().map(|(last, before)| ByHandStatus {
                state: last.state,
                until: local(last.hold),
                then: then(plan, last.hold, before).map(|then| {
                    match then.is_by_hand || is_trusted {
                        true => then,
                        // The plan does not apply.
                        false => NextShow {
                            state: ShowState::Attract,
                            ..then
                        },
                    }
                }),
            }),
            lit_again: lit_again(plan, &decision, states, (time, is_trusted))
                .map(|lit| plan.local(lit)),
            paused_until: pause.and_then(local),
            rehearsal_until: (rehearsal.as_ref()).and_then(|(_, hold)| local(*hold)),
            // The plan does not end what it does not begin.
            until: status.until.filter(|_| is_trusted || !states.is_empty()),
            ..status
        };
        // The status says it when it would survive a power cut, or says that it would not.
        let settings = HandSettings {
            states: states.to_vec(),
            pause,
            rehearsal,
        };
        status.is_unkept = !self.hand_file.keep(settings, now);
        self.links.schedule.publish(status, plan.zone());
        Some(decision.wants_power)
    }

    /// Compiles a new table, and the same table again from time to time.
    fn compile(&mut self, params: Option<ScheduleParams>, now: Instant) {
        let is_old =
            |compiled: Instant| now.saturating_duration_since(compiled) >= COMPILE_INTERVAL;
        if params.is_none() && !self.compiled.is_none_or(is_old) {
            return;
        }
        self.compiled = Some(now);
        let is_new = params.is_some();
        if let Some(params) = params {
            self.params = params;
        }
        match SchedulePlan::compile(&self.params) {
            Ok(plan) => {
                let is_other_zone =
                    (self.plan.as_ref()).is_some_and(|old| old.zone_name() != plan.zone_name());
                self.plan = Some(plan);
                if is_new || is_other_zone {
                    self.keeper.forget_plan();
                    self.previewed.clear();
                }
            }
            // The site was checked, so only a removed database of time zones can cause this.
            Err(problems) => {
                for (path, message) in problems {
                    tracing::error!("schedule.{path}: {message}; the last plan applies");
                }
            }
        }
    }

    fn apply(&mut self, decision: &ScheduleDecision, now: Instant) {
        self.links.show.set(decision.state, now);
        let shown = (decision.state, decision.scene.clone());
        if self.shown.as_ref() != Some(&shown) {
            let is_first = self.shown.is_none();
            let is_other_scene = self.shown.as_ref().is_none_or(|last| last.1 != shown.1);
            let scene = decision.scene.clone().filter(|_| is_other_scene);
            if scene.is_some_and(|name| !self.send(PoolEdit::SwitchScene { name })) {
                // The desk takes no commands at the moment. The next step tries it again.
                return;
            }
            // The state at the start of a program without a schedule is no change.
            if !is_first || decision.state != ShowState::Open {
                tracing::info!("schedule: {} ({})", decision.state.name(), decision.reason);
                self.links.journal.add(EventKind::ScheduleChanged {
                    state: decision.state,
                    scene: decision.scene.clone(),
                    reason: decision.reason.clone(),
                });
            }
            self.shown = Some(shown);
        }
        let pace = match decision.state {
            ShowState::Attract => ATTRACT_PACE,
            _ => 1.0,
        };
        if self.pace.to_bits() != pace.to_bits() {
            let event = DirectorEvent::Pace { factor: pace };
            if self.send(PoolEdit::Director { event }) {
                self.pace = pace;
            }
        }
    }

    /// Finds the rules that start at a time of the clock since the last look. What was missed for longer than [`MISSED_MAX`] is not
    /// caught up: the machine slept, or the clock was set. A rule that does not start is logged with the reason.
    fn find_due_rules(
        &mut self,
        time: Timestamp,
        (is_clock_set, clock): (bool, &str),
        is_lit: bool,
    ) {
        let before = self.rules_until.replace((time, is_clock_set));
        let (Some((before, was_set)), Some(plan)) = (before, &self.plan) else {
            return;
        };
        if !is_lit {
            self.due_rules.clear();
        }
        let passed = before.duration_until(time);
        if (-MISSED_MAX..SignedDuration::ZERO).contains(&passed) && is_clock_set && was_set {
            // The clock was corrected by some seconds: what it has passed does not start twice.
            self.rules_until = Some((before, true));
            return;
        }
        // After a longer jump, the clock was set.
        if !(SignedDuration::ZERO..=LOGGED_MAX).contains(&passed) {
            return;
        }
        let due = plan.rules_between(before, time).into_iter();
        let reason = match () {
            () if !is_clock_set => clock,
            () if !was_set => "the clock was not set at this time",
            () if passed > MISSED_MAX => "the machine slept, or the clock was set",
            () if is_lit => return self.due_rules.extend(due.map(str::to_owned)),
            () => "the pool is not visible",
        };
        for rule in due {
            tracing::warn!("schedule: rule {rule:?} does not start: {reason}");
        }
    }

    /// Starts the rules that are due. A rule waits while the desk takes no commands, until the pool becomes dark.
    fn start_due_rules(&mut self) {
        while let Some(rule) = self.due_rules.first().cloned() {
            let event = DirectorEvent::Start { rule: rule.clone() };
            if !self.send(PoolEdit::Director { event }) {
                return;
            }
            tracing::info!("schedule: rule {rule:?}");
            self.due_rules.remove(0);
        }
    }

    /// Sends a command to the desk. Returns whether it was sent.
    fn send(&self, command: PoolEdit) -> bool {
        let sent = self.links.commands.send(Command::Pool(command.into()));
        sent.inspect_err(|error| tracing::warn!("schedule: {error}"))
            .is_ok()
    }

    /// Switches the projectors if it is necessary.
    fn apply_power(&mut self, is_on: bool, now: Instant) {
        let command = &self.params.projectors.command;
        if command.is_empty() {
            self.power.forget();
            return;
        }
        if self.is_power_on == Some(is_on) || !self.power.is_due(now) {
            return;
        }
        let state = if is_on { "on" } else { "off" };
        let switched = self.power.take(run(command, Some(state), ""), now);
        let is_switched = switched.is_ok();
        if is_switched {
            tracing::info!("projectors: switched {state}");
        }
        // After a failure it is unknown whether the projectors are on.
        self.is_power_on = is_switched.then_some(is_on);
    }
}

/// Returns the time from which the picture is visible again by itself: when neither what was set by hand nor the plan keeps it dark.
fn lit_again(
    plan: &SchedulePlan,
    decision: &ScheduleDecision,
    by_hand: &[ByHand],
    (time, is_trusted): (Timestamp, bool),
) -> Option<Timestamp> {
    // Without a clock that can be trusted the pool shows itself.
    let by_plan = |from| match is_trusted {
        true => plan.lit_from(from),
        false => Some(from),
    };
    if decision.state.is_lit() {
        return None;
    }
    let Some((last, before)) = by_hand.split_last() else {
        return by_plan(time);
    };
    let mut from = last.hold.until()?;
    for next in after(last.hold, before) {
        if next.state.is_lit() {
            return Some(from);
        }
        from = next.hold.until()?;
    }
    by_plan(from)
}

/// Returns what applies after the state that was set by hand last; `None` if somebody has to end it.
fn then(plan: &SchedulePlan, last: Hold, before: &[ByHand]) -> Option<NextShow> {
    let from = last.until()?;
    Some(match after(last, before).next() {
        Some(next) => NextShow {
            state: next.state,
            is_by_hand: true,
            until: next.hold.until().map(|until| plan.local(until)),
        },
        None => NextShow {
            state: plan.at(from).state,
            ..NextShow::default()
        },
    })
}

/// Returns the states set by hand that apply after one that ends, in this order: those whose own end comes later.
fn after(last: Hold, before: &[ByHand]) -> impl Iterator<Item = ByHand> {
    let mut from = last.until();
    before.iter().rev().copied().filter(move |next| {
        let until = next.hold.until();
        let is_later = from.is_some_and(|from| until.is_none_or(|until| until > from));
        if is_later {
            from = until;
        }
        is_later
    })
}

fn status(plan: &SchedulePlan, decision: &ScheduleDecision, time: Timestamp) -> ScheduleStatus {
    let (tomorrow, opens) = plan.tomorrow(time);
    ScheduleStatus {
        state: decision.state,
        reason: decision.reason.clone(),
        scene: decision.scene.clone(),
        since: decision.plan.since.map(|since| plan.local(since)),
        until: decision.plan.next.map(|(until, _)| plan.local(until)),
        next: decision.plan.next.map(|(_, state)| state),
        time_zone: plan.zone_name(),
        local_time: plan.local(time),
        is_planned: plan.is_planned(),
        tomorrow: match time.as_second() < EARLIEST_SECS {
            true => String::new(),
            false => plan.local(tomorrow),
        },
        tomorrow_opens: opens,
        projectors_on: decision.wants_power,
        ..ScheduleStatus::default()
    }
}

#[cfg(test)]
mod tests;
