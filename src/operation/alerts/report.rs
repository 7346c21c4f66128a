//! The report of a day: whether all is well, the visitors, and the faults since the last report.

use std::collections::BTreeMap;

use jiff::civil::DateTime;

use crate::control::{Event, EventKind, Status};

/// Collects what the next report says.
#[derive(Clone, Debug, Default)]
pub(super) struct DayReport {
    /// Local time of the last step.
    before: Option<DateTime>,
    /// Local time of the last report.
    sent: Option<DateTime>,
    /// Number of times that each fault began.
    faults: BTreeMap<String, u32>,
    /// Number of visitors who arrived.
    arrived: u32,
}

impl DayReport {
    /// Takes an event.
    pub(super) fn add(&mut self, event: &Event) {
        match &event.kind {
            EventKind::FaultBegan { fault, .. } => {
                *self.faults.entry(fault.clone()).or_default() += 1;
            }
            EventKind::VisitorArrived { .. } => self.arrived = self.arrived.saturating_add(1),
            _ => {}
        }
    }

    /// Returns the report if its time of the day `at`, in minutes since midnight, has come since the last call. `now` is the local time.
    pub(super) fn take_if_due(
        &mut self,
        at: u16,
        now: DateTime,
        status: &Status,
    ) -> Option<String> {
        let before = self.before.replace(now)?;
        let is_past = |time: DateTime| minute_of(time) >= at;
        let is_new = is_past(now) && !(before.date() == now.date() && is_past(before));
        // A clock that is set back sends no second report.
        let is_sent = self.sent.is_some_and(|sent| sent.date() == now.date());
        if !is_new || is_sent {
            return None;
        }
        self.sent = Some(now);
        let faults = std::mem::take(&mut self.faults);
        let arrived = std::mem::take(&mut self.arrived);
        Some(report_text(status, &faults, arrived))
    }
}

/// Returns the minutes since midnight.
pub(super) fn minute_of(time: DateTime) -> u16 {
    let [hour, minute] = [time.hour(), time.minute()].map(i8::unsigned_abs);
    u16::from(hour) * 60 + u16::from(minute)
}

fn report_text(status: &Status, faults: &BTreeMap<String, u32>, arrived: u32) -> String {
    let faults: Vec<_> = (faults.iter())
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    let faults = match faults.as_slice() {
        [] => "none".to_owned(),
        faults => faults.join(", "),
    };
    let days = status.uptime_secs / 86_400.0;
    format!(
        "{}\nVisitors today: {}, since the last report: {arrived}.\nFaults since the last report: {faults}.\nShoal {} has been running for {days:.1} days.",
        status.sentence, status.visitors.today, status.versions.shoal
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_due_once_a_day_and_names_the_faults() {
        let mut report = DayReport::default();
        let event = |kind| Event {
            number: 1,
            time: String::new(),
            uptime_secs: 0.0,
            kind,
        };
        let began = |fault: &str| {
            event(EventKind::FaultBegan {
                fault: fault.to_owned(),
                detail: String::new(),
            })
        };
        let status = Status::default();
        let at =
            |day: i8, hour: i8, minute: i8| jiff::civil::date(2026, 6, day).at(hour, minute, 0, 0);
        let due = |report: &mut DayReport, now| report.take_if_due(18 * 60 + 30, now, &status);
        assert_eq!(due(&mut report, at(1, 18, 40)), None, "started later");
        report.add(&began("camera.black"));
        report.add(&began("camera.black"));
        report.add(&event(EventKind::VisitorArrived { id: 1 }));
        for now in [at(1, 18, 41), at(1, 23, 59), at(2, 0, 0), at(2, 18, 29)] {
            assert_eq!(due(&mut report, now), None, "{now}");
        }
        let text = due(&mut report, at(2, 18, 30)).unwrap();
        assert!(text.contains("camera.black (2)"), "{text}");
        assert!(text.contains("since the last report: 1."), "{text}");
        // The same minute, a clock that is set back, and the rest of the day.
        for now in [at(2, 18, 30), at(2, 18, 29), at(2, 18, 31), at(3, 1, 0)] {
            assert_eq!(due(&mut report, now), None, "{now}");
        }
        let text = due(&mut report, at(3, 18, 32)).unwrap();
        assert!(
            text.contains("Faults since the last report: none"),
            "{text}"
        );
    }
}
