//! The schedule stage: reads the clock, lets the keeper decide, and applies the state: it fades and rests through
//! [`ShowControl`], switches scenes and the pace of the director through the desk, and switches the projectors.
//!
//! In: the table `[schedule]` and steps of operators, from the desk. Out: the state, its status, events, the preview. Must not:
//! decide about a state, make another stage wait.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::clock_trust::{ClockJudge, ask_systemd};
use super::keeper::{ByHand, ScheduleDecision, ScheduleKeeper};
use super::params::ScheduleParams;
use super::plan::SchedulePlan;
use crate::control::{
    Board, ByHandStatus, Command, CommandSender, DirectorEvent, EventKind, HandEnd, Journal,
    PoolEdit, ScheduleStatus, ScheduleStep, ShowState,
};
use crate::operation::hold::{Hold, Moment};
use crate::operation::show::ShowControl;
use crate::operation::site_program::SiteProgram;
use crate::runtime::{Fault, Heartbeat, now};

/// Time between two looks at the clock. The largest delay of a planned change.
const STEP_INTERVAL: Duration = Duration::from_millis(250);
/// Time after which the plan is compiled again, because the time zone of the machine may have changed.
const COMPILE_INTERVAL: Duration = Duration::from_secs(60);
/// Time after which a file that the disk refused is written again.
const KEEP_AGAIN: Duration = Duration::from_secs(5);
/// Number of days of the preview.
const PREVIEW_DAYS: u16 = 21;
/// Factor on the frequency of the director's rules in the state `attract`.
const ATTRACT_PACE: f32 = 4.0;

/// What the schedule stage and others exchange: the desk sends tables and steps, the status and the counts read.
#[derive(Debug)]
pub struct ScheduleBoard {
    inbox: Mutex<Inbox>,
    status: Mutex<ScheduleStatus>,
    zone: Mutex<TimeZone>,
}

impl Default for ScheduleBoard {
    fn default() -> Self {
        Self {
            inbox: Mutex::default(),
            status: Mutex::default(),
            zone: Mutex::new(TimeZone::UTC),
        }
    }
}

#[derive(Debug, Default)]
struct Inbox {
    params: Option<ScheduleParams>,
    step: Option<ScheduleStep>,
}

impl ScheduleBoard {
    /// Creates a board with the table of the site.
    pub fn new(params: ScheduleParams) -> Self {
        let board = Self::default();
        board.set_params(params);
        board
    }

    /// Replaces the table.
    pub fn set_params(&self, params: ScheduleParams) {
        self.inbox.lock().params = Some(params);
    }

    /// Requests a step. A newer request replaces one that was not taken yet.
    ///
    /// # Errors
    /// If the step is impossible now, the reason.
    pub fn request(&self, step: ScheduleStep) -> Result<(), &'static str> {
        let mut inbox = self.inbox.lock();
        let is_by_hand = self.status.lock().by_hand.is_some() || inbox.step.is_some();
        if step == ScheduleStep::Resume && !is_by_hand {
            return Err("no state is set by hand, so the plan applies already");
        }
        inbox.step = Some(step);
        Ok(())
    }

    /// Returns the status.
    pub fn status(&self) -> ScheduleStatus {
        self.status.lock().clone()
    }

    /// Returns the time zone of the hours; UTC before the first step.
    pub fn zone(&self) -> TimeZone {
        self.zone.lock().clone()
    }
}

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

/// The file with what was set by hand.
pub struct ShowFile {
    /// Its text when the program started; `None` if there was none.
    pub text: Option<String>,
    /// Replaces its text, or says why that is impossible.
    pub write: WriteText,
}

/// Replaces the text of a file.
type WriteText = Box<dyn Fn(&str) -> Result<(), String> + Send>;

/// What was set by hand, as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct KeptShow {
    state: Option<(ShowState, KeptHold)>,
    pause: Option<KeptHold>,
    rehearsal: Option<(PathBuf, KeptHold)>,
}

/// An end, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KeptHold {
    ends: HandEnd,
    until: Option<Timestamp>,
}

impl KeptHold {
    fn of(hold: &Hold) -> Self {
        Self {
            ends: hold.ends(),
            until: hold.until(),
        }
    }

    fn hold(&self) -> Hold {
        Hold::continued(self.ends, self.until)
    }
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
    /// Pace that was sent last.
    pace: f32,
    /// Whether the projectors were switched on; `None` if it is unknown.
    is_power_on: Option<bool>,
    power: SiteProgram,
    /// What is on the disk.
    kept: KeptShow,
    unkept: Fault,
    /// Time from which the disk is tried again.
    keep_again: Option<Instant>,
}

impl ScheduleStage {
    /// Creates the stage.
    pub fn new(links: ScheduleLinks) -> Self {
        let mut keeper = ScheduleKeeper::default();
        let kept = links.kept.as_ref().and_then(|file| file.text.as_deref());
        let kept: KeptShow = kept.map_or_else(KeptShow::default, |text| {
            serde_json::from_str(text).unwrap_or_else(|error| {
                tracing::warn!("what was set by hand before the restart is not known: {error}");
                KeptShow::default()
            })
        });
        if let Some((state, hold)) = &kept.state {
            keeper.set_by_hand(ByHand {
                state: *state,
                hold: hold.hold(),
            });
        }
        let rehearsal = kept.rehearsal.clone().filter(|(path, _)| path.is_file());
        let rehearsal = rehearsal.map(|(path, hold)| (path, hold.hold()));
        let pause = kept.pause.as_ref().map(KeptHold::hold);
        (links.show).continue_holds(pause, rehearsal, Instant::now());
        Self {
            judge: ClockJudge::new(Box::new(ask_systemd)),
            kept,
            unkept: links.journal.fault("site_unsaved"),
            keep_again: None,
            keeper,
            params: ScheduleParams::default(),
            plan: None,
            compiled: None,
            previewed: String::new(),
            shown: None,
            pace: 1.0,
            is_power_on: None,
            power: SiteProgram::new("schedule.projectors.command", "projectors", &links.journal),
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
        let Inbox { params, step } = std::mem::take(&mut *self.links.schedule.inbox.lock());
        self.compile(params, now);
        let plan = self.plan.as_ref()?;
        let (is_trusted, clock) = match plan.is_planned() {
            true => self.judge.judge(self.params.clock, time, now),
            false => (true, "not needed, because no hours are planned"),
        };
        match step {
            Some(ScheduleStep::ByHand { state, until }) => {
                let hold = Hold::new(until, now);
                self.keeper.set_by_hand(ByHand { state, hold });
            }
            Some(ScheduleStep::Resume) => self.keeper.resume(),
            None => {}
        }
        let at = Moment { time, now };
        let decision = self.keeper.decide(plan, at, is_trusted);
        let day = plan.date_of(time).to_string();
        if self.previewed != day {
            self.links
                .board
                .publish_preview(plan.preview(time, PREVIEW_DAYS));
            self.previewed = day;
        }
        *self.links.schedule.zone.lock() = plan.zone().clone();
        let status = status(plan, &decision, time);
        self.apply(&decision, now);
        let plan = self.plan.as_ref()?;
        let end_of = |ends| plan.end_of(ends, time).filter(|_| is_trusted);
        self.links.show.follow(at, end_of);
        let by_hand = self.keeper.by_hand();
        let (pause, rehearsal) = self.links.show.holds();
        // The status says it only when it would survive a power cut.
        self.keep(by_hand, pause, rehearsal.clone(), now);
        let plan = self.plan.as_ref()?;
        let local = |hold: Hold| hold.until().map(|until| plan.local(until));
        *self.links.schedule.status.lock() = ScheduleStatus {
            is_clock_trusted: is_trusted,
            clock: clock.to_owned(),
            by_hand: by_hand.map(|by_hand| ByHandStatus {
                state: by_hand.state,
                until: local(by_hand.hold),
            }),
            paused_until: pause.and_then(local),
            rehearsal_until: rehearsal.and_then(|(_, hold)| local(hold)),
            ..status
        };
        Some(decision.wants_power)
    }

    /// Writes what is set by hand to the disk if it has changed. While the disk refuses, it is a fault, and is tried again.
    fn keep(
        &mut self,
        by_hand: Option<ByHand>,
        pause: Option<Hold>,
        rehearsal: Option<(PathBuf, Hold)>,
        now: Instant,
    ) {
        let wanted = KeptShow {
            state: by_hand.map(|by_hand| (by_hand.state, KeptHold::of(&by_hand.hold))),
            pause: pause.as_ref().map(KeptHold::of),
            rehearsal: rehearsal.map(|(path, hold)| (path, KeptHold::of(&hold))),
        };
        let Some(file) = &self.links.kept else { return };
        if self.kept == wanted || self.keep_again.is_some_and(|again| now < again) {
            return;
        }
        let written = serde_json::to_string(&wanted).map_err(|error| error.to_string());
        match written.and_then(|text| (file.write)(&text)) {
            Ok(()) => {
                self.kept = wanted;
                self.keep_again = None;
                self.unkept.clear();
            }
            Err(reason) => {
                self.keep_again = Some(now + KEEP_AGAIN);
                self.unkept
                    .raise(&format!("what was set by hand is not saved: {reason}"));
            }
        }
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
        let switched = self.power.call(command, Some(state), "", now);
        let is_switched = switched.is_ok();
        if is_switched {
            tracing::info!("projectors: switched {state}");
        }
        // After a failure it is unknown whether the projectors are on.
        self.is_power_on = is_switched.then_some(is_on);
    }
}

fn status(plan: &SchedulePlan, decision: &ScheduleDecision, time: Timestamp) -> ScheduleStatus {
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
        tomorrow: plan.local(plan.tomorrow(time)),
        projectors_on: decision.wants_power,
        ..ScheduleStatus::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{DeskEvent, Source, SourceKind, desk_queue};
    use crate::operation::{ClockTrust, DayName, HoursParams, WeeklyParams};

    fn params() -> ScheduleParams {
        let hours = |from: &str, to: &str, state, scene: Option<&str>| HoursParams {
            from: from.to_owned(),
            to: to.to_owned(),
            state,
            scene: scene.map(str::to_owned),
        };
        ScheduleParams {
            time_zone: "UTC".to_owned(),
            clock: ClockTrust::Machine,
            weekly: vec![WeeklyParams {
                days: DayName::ALL.to_vec(),
                hours: vec![
                    hours("09:00", "10:00", ShowState::Attract, None),
                    hours("10:00", "18:00", ShowState::Open, Some("reef")),
                ],
            }],
            ..ScheduleParams::default()
        }
    }

    /// A day in the life of the stage, with a projector that fails at first.
    #[test]
    fn a_day_switches_states_scene_pace_and_projectors() {
        let (client, requests, board) = desk_queue();
        let journal = Journal::new(Arc::clone(&board));
        let mut params = params();
        // The program of the projectors fails at its first `on`, and notes what it is called with.
        let folder = tempfile::tempdir().unwrap();
        let notes = folder.path().join("notes");
        let program = r#"sh -c 'echo "$1" >> "$0"; [ $(grep -c on "$0") != 1 ]'"#;
        params.projectors.command = format!("{program} {}", notes.display());
        let schedule = Arc::new(ScheduleBoard::new(params));
        let links = ScheduleLinks {
            schedule: Arc::clone(&schedule),
            board: Arc::clone(&board),
            show: ShowControl::default(),
            commands: client.sender(Source::of(SourceKind::Schedule)),
            journal: journal.clone(),
            kept: None,
        };
        let show = links.show.clone();
        let mut stage = ScheduleStage::new(links);
        let begin = Instant::now();
        let midnight: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        let mut states = Vec::new();
        let mut commands = Vec::new();
        for secs in (0..86_400).step_by(20) {
            let time = Timestamp::from_second(midnight.as_second() + secs).unwrap();
            stage.step_and_switch(time, begin + Duration::from_secs(secs as u64));
            let state = schedule.status().state;
            if states.last() != Some(&state) {
                states.push(state);
            }
            while let Ok(DeskEvent::Request(incoming)) = requests.try_recv() {
                commands.push(incoming.request.command.summary());
            }
            assert_eq!(show.is_lit(), (32_400..64_800).contains(&secs), "{secs}");
        }
        use ShowState::{Attract, Closed, Open};
        assert_eq!(states, [Closed, Attract, Open, Closed]);
        let pace = |factor: &str| format!("{{\"event\":\"pace\",\"factor\":{factor}}}");
        assert_eq!(commands, [pace("4.0"), "reef".to_owned(), pace("1.0")]);
        let notes = std::fs::read_to_string(&notes).unwrap();
        assert_eq!(notes, "off\non\non\noff\n");
        let events = board.events.after(0, Duration::ZERO).events;
        let names: Vec<&str> = events
            .iter()
            .map(|event| match &event.kind {
                EventKind::ScheduleChanged { state, .. } => state.name(),
                EventKind::FaultBegan { .. } => "fault",
                EventKind::FaultEnded { .. } => "repaired",
                _ => "other",
            })
            .collect();
        assert_eq!(
            names,
            ["closed", "fault", "repaired", "attract", "open", "closed"]
        );
        assert_eq!(board.schedule_preview().len(), usize::from(PREVIEW_DAYS));
    }

    #[test]
    fn a_state_by_hand_applies_at_once_and_resume_needs_one() {
        let (client, _requests, board) = desk_queue();
        let schedule = Arc::new(ScheduleBoard::new(params()));
        let mut stage = ScheduleStage::new(ScheduleLinks {
            schedule: Arc::clone(&schedule),
            journal: Journal::new(Arc::clone(&board)),
            board,
            show: ShowControl::default(),
            commands: client.sender(Source::of(SourceKind::Schedule)),
            kept: None,
        });
        let time: Timestamp = "2026-06-01T12:00:00Z".parse().unwrap();
        let now = Instant::now();
        stage.step_and_switch(time, now);
        assert!(schedule.request(ScheduleStep::Resume).is_err());
        let state = ShowState::Dark;
        let until = HandEnd::NextChange;
        (schedule.request(ScheduleStep::ByHand { state, until })).unwrap();
        stage.step_and_switch(time, now);
        let status = schedule.status();
        assert_eq!(
            (status.state, status.reason.as_str()),
            (state, "set by hand")
        );
        let until = status.by_hand.and_then(|by_hand| by_hand.until);
        assert_eq!(until.as_deref(), Some("2026-06-01T18:00:00+00:00"));
        schedule.request(ScheduleStep::Resume).unwrap();
        stage.step_and_switch(time, now);
        assert_eq!(schedule.status().state, ShowState::Open);
    }

    /// A pool that was closed by hand opened with the next power cut, at night.
    #[test]
    fn what_was_set_by_hand_is_kept_over_a_restart() {
        let text: Arc<Mutex<Option<String>>> = Arc::default();
        let time: Timestamp = "2026-06-01T12:00:00Z".parse().unwrap();
        let now = Instant::now();
        let started = || {
            let (client, _requests, board) = desk_queue();
            let written = Arc::clone(&text);
            let schedule = Arc::new(ScheduleBoard::new(params()));
            let show = ShowControl::default();
            let stage = ScheduleStage::new(ScheduleLinks {
                schedule: Arc::clone(&schedule),
                journal: Journal::new(Arc::clone(&board)),
                board,
                show: show.clone(),
                commands: client.sender(Source::of(SourceKind::Schedule)),
                kept: Some(ShowFile {
                    text: text.lock().clone(),
                    write: Box::new(move |text| {
                        *written.lock() = Some(text.to_owned());
                        Ok(())
                    }),
                }),
            });
            (stage, schedule, show)
        };
        let (mut stage, schedule, show) = started();
        stage.step_at(time, now);
        assert_eq!(*text.lock(), None, "nothing to keep");
        show.pause(Some(HandEnd::Secs(600)), now).unwrap();
        let (state, until) = (ShowState::Attract, HandEnd::Tomorrow);
        (schedule.request(ScheduleStep::ByHand { state, until })).unwrap();
        stage.step_at(time, now);
        let said = schedule.status();
        let (mut stage, schedule, show) = started();
        stage.step_at(time, now);
        let status = schedule.status();
        assert_eq!(status.by_hand, said.by_hand);
        let until = status.by_hand.and_then(|by_hand| by_hand.until);
        assert_eq!(until.as_deref(), Some("2026-06-02T09:00:00+00:00"));
        assert_eq!(
            status.paused_until.as_deref(),
            Some("2026-06-01T12:10:00+00:00")
        );
        assert!(show.paused_since().is_some());
        // What ended while the program did not run is over.
        let (mut stage, schedule, show) = started();
        stage.step_at("2026-06-02T09:00:00Z".parse().unwrap(), now);
        assert_eq!(schedule.status().by_hand, None);
        assert!(show.paused_since().is_none());
        let (mut stage, schedule, _) = started();
        stage.step_at(time, now);
        assert_eq!(schedule.status().by_hand, None, "its end is kept too");
    }
}
