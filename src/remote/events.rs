//! What happens that other machines learn.

/// Names of the events for other machines. Those of commands and of the calibration are for the panel.
pub(super) const EVENT_NAMES: [&str; 13] = [
    "visitor_arrived",
    "visitor_left",
    "visitor_stands",
    "visitor_stamps",
    "hunt_began",
    "prey_caught",
    "fish_leapt",
    "rule_began",
    "rule_ended",
    "scene_changed",
    "schedule_changed",
    "fault_began",
    "fault_ended",
];
