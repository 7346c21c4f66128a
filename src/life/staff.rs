//! The staff of a run, who start the director's rules that only a command starts. So every rule of a scene can be judged.

use crate::simulation::Simulation;

/// The starts of one run: each rule once in each half, at the same time of the half, so that the halves can be compared.
#[derive(Clone, Debug)]
pub struct StaffScript {
    /// Time and name of the rule, in the order of time.
    starts: Vec<(f64, String)>,
    next: usize,
}

impl StaffScript {
    /// Creates the starts for a run of this duration.
    pub fn new(simulation: &Simulation, run_secs: f64) -> Self {
        let by_hand = simulation
            .rules()
            .filter(|(rule, _)| rule.when.is_by_hand());
        let names: Vec<&str> = by_hand.map(|(rule, _)| rule.name.as_str()).collect();
        let half_secs = run_secs / 2.0;
        let step_secs = half_secs / (names.len() + 1) as f64;
        let start = |half: usize, number: usize| {
            let at_secs = half as f64 * half_secs + (number + 1) as f64 * step_secs;
            (at_secs, names[number].to_owned())
        };
        let halves = (0..2).flat_map(|half| (0..names.len()).map(move |number| (half, number)));
        Self {
            starts: halves.map(|(half, number)| start(half, number)).collect(),
            next: 0,
        }
    }

    /// Returns the name of a rule that the staff start at this time. Call it again until it returns `None`.
    pub fn due(&mut self, time_secs: f64) -> Option<&str> {
        let (at_secs, name) = self.starts.get(self.next)?;
        if time_secs < *at_secs {
            return None;
        }
        self.next += 1;
        Some(name)
    }
}
