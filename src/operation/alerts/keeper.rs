//! Remembers which faults were reported.

use std::collections::BTreeMap;

use serde::Serialize;

use super::params::AlertParams;
use crate::control::names_fault;
use crate::runtime::FaultStatus;

/// Largest number of reported faults that are remembered. There are far fewer kinds.
const REPORTED_MAX: usize = 256;

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AlertKind {
    /// A fault lasts.
    Fault,
    /// A reported fault is over.
    Recovered,
    /// A test of the way of the messages.
    Test,
    /// The report of a day.
    Report,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Alert {
    /// What the message is about.
    pub kind: AlertKind,
    /// Name of the fault.
    pub fault: String,
    /// Description: the problem, its place, and the remedy.
    pub detail: String,
    /// Date and time at which the fault began.
    pub since: String,
    /// Duration of the fault so far, in seconds.
    pub lasted_secs: u64,
}

impl Alert {
    /// Returns a test message.
    pub(super) fn test() -> Self {
        Self {
            kind: AlertKind::Test,
            fault: "test".to_owned(),
            detail: "This is a test. Messages about faults come this way.".to_owned(),
            since: String::new(),
            lasted_secs: 0,
        }
    }

    /// Returns the report of a day.
    pub(super) fn report(detail: String) -> Self {
        Self {
            kind: AlertKind::Report,
            fault: String::new(),
            detail,
            since: String::new(),
            lasted_secs: 0,
        }
    }
}

/// A fault that was reported and whose end was not.
#[derive(Clone, Debug)]
struct Reported {
    detail: String,
    since: String,
    began_secs: f64,
    last_secs: f64,
}

/// Decides about messages.
#[derive(Clone, Debug, Default)]
pub(super) struct AlertKeeper {
    reported: BTreeMap<String, Reported>,
}

impl AlertKeeper {
    /// Returns the messages that are due. `now_secs` is a time that never jumps. Messages wait while `is_quiet`.
    pub(super) fn step(
        &mut self,
        params: &AlertParams,
        faults: &[FaultStatus],
        now_secs: f64,
        is_quiet: bool,
    ) -> Vec<Alert> {
        for fault in faults {
            if let Some(reported) = self.reported.get_mut(&fault.name) {
                reported.last_secs = now_secs;
            }
        }
        if is_quiet {
            return Vec::new();
        }
        let mut alerts = self.recovered(f64::from(params.recovered_after_secs), now_secs);
        for fault in faults {
            let is_due = fault.for_secs >= f64::from(params.after_secs);
            let is_ignored = params
                .ignore
                .iter()
                .any(|name| names_fault(name, &fault.name));
            let is_known = self.reported.contains_key(&fault.name);
            if !is_due || is_ignored || is_known || self.reported.len() >= REPORTED_MAX {
                continue;
            }
            self.reported.insert(
                fault.name.clone(),
                Reported {
                    detail: fault.detail.clone(),
                    since: fault.since.clone(),
                    began_secs: now_secs - fault.for_secs,
                    last_secs: now_secs,
                },
            );
            alerts.push(Alert {
                kind: AlertKind::Fault,
                fault: fault.name.clone(),
                detail: fault.detail.clone(),
                since: fault.since.clone(),
                lasted_secs: fault.for_secs as u64,
            });
        }
        alerts
    }

    /// Removes the faults that are over, and returns their messages.
    fn recovered(&mut self, after_secs: f64, now_secs: f64) -> Vec<Alert> {
        let mut alerts = Vec::new();
        self.reported.retain(|name, reported| {
            let is_over = now_secs - reported.last_secs > after_secs;
            if is_over {
                alerts.push(Alert {
                    kind: AlertKind::Recovered,
                    fault: name.clone(),
                    detail: std::mem::take(&mut reported.detail),
                    since: std::mem::take(&mut reported.since),
                    lasted_secs: (reported.last_secs - reported.began_secs).max(0.0) as u64,
                });
            }
            !is_over
        });
        alerts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::QuietHours;

    /// Steps through time in seconds. `is_active` says when the fault lasts. Returns time, kind and duration of each message.
    fn messages(
        params: &AlertParams,
        secs: u32,
        is_active: impl Fn(u32) -> bool,
        is_quiet: impl Fn(u32) -> bool,
    ) -> Vec<(u32, AlertKind, u64)> {
        let mut keeper = AlertKeeper::default();
        let mut began = None;
        let mut found = Vec::new();
        for now in 0..secs {
            let since = is_active(now).then(|| *began.get_or_insert(now));
            if since.is_none() {
                began = None;
            }
            let fault = since.map(|since| FaultStatus {
                name: "camera.black".to_owned(),
                for_secs: f64::from(now - since),
                ..FaultStatus::default()
            });
            let faults: Vec<FaultStatus> = fault.into_iter().collect();
            for alert in keeper.step(params, &faults, f64::from(now), is_quiet(now)) {
                found.push((now, alert.kind, alert.lasted_secs));
            }
        }
        found
    }

    #[test]
    fn a_fault_that_lasts_is_reported_once_and_its_end_too() {
        let params = AlertParams::default();
        let found = messages(&params, 1000, |t| (100..400).contains(&t), |_| false);
        assert_eq!(
            found,
            [
                (160, AlertKind::Fault, 60),
                (460, AlertKind::Recovered, 299)
            ]
        );
        assert_eq!(
            messages(&params, 1000, |t| (100..150).contains(&t), |_| false),
            []
        );
    }

    #[test]
    fn a_fault_that_comes_and_goes_is_one_message() {
        let params = AlertParams::default();
        let flaps = |t: u32| (100..300).contains(&t) || ((300..900).contains(&t) && t % 50 < 10);
        let found = messages(&params, 1200, flaps, |_| false);
        let kinds: Vec<AlertKind> = found.iter().map(|message| message.1).collect();
        assert_eq!(kinds, [AlertKind::Fault, AlertKind::Recovered]);
    }

    #[test]
    fn messages_wait_for_the_end_of_the_quiet_hours() {
        let params = AlertParams::default();
        let found = messages(&params, 2000, |t| t >= 100, |t| t < 1000);
        assert_eq!(found, [(1000, AlertKind::Fault, 900)]);
        assert_eq!(
            messages(&params, 2000, |t| (100..500).contains(&t), |t| t < 1000),
            []
        );
    }

    #[test]
    fn ignored_names_stand_for_themselves_and_for_what_begins_with_them() {
        let ignoring = |name: &str| AlertParams {
            ignore: vec![name.to_owned()],
            ..AlertParams::default()
        };
        let count = |name| messages(&ignoring(name), 300, |_| true, |_| false).len();
        assert_eq!([count("camera"), count("camera.black")], [0, 0]);
        assert_eq!([count("cam"), count("camera.bla")], [1, 1]);
    }

    #[test]
    fn quiet_hours_can_include_midnight() {
        let quiet = |from: &str, to: &str| QuietHours {
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let night = quiet("20:00", "07:00");
        assert!(night.contains(23 * 60) && night.contains(0) && !night.contains(7 * 60));
        let noon = quiet("12:00", "13:00");
        assert!(noon.contains(12 * 60) && !noon.contains(13 * 60));
        assert!(!QuietHours::default().contains(0));
        let params = AlertParams {
            quiet: quiet("8 pm", ""),
            ..AlertParams::default()
        };
        assert_eq!(params.problems().len(), 2);
    }
}
