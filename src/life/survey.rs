//! Judges many runs of several scenes together: what no run shows, and what changes over time.

use std::collections::BTreeMap;
use std::fmt;

use super::measures::Halves;
use super::program::VisitorProgram;
use super::report::{CROWD_COUNT, LifeReport, MAX_TOUCHES_PER_MIN, SpeciesLife};

/// Smallest change of a share that counts as a drift.
const DRIFT_SHARE: f64 = 0.05;
/// Smallest relative change of another measure that counts as a drift.
const DRIFT_RELATIVE: f64 = 0.15;

/// The reports of many runs, and the problems that follow from them.
#[derive(Debug, Default)]
pub struct Survey {
    reports: Vec<LifeReport>,
}

/// Measured values of one measure, with the smallest change that matters.
struct Measure {
    name: String,
    floor: f64,
    values: Vec<Halves>,
}

impl Survey {
    /// Creates a survey of these runs.
    pub fn new(mut reports: Vec<LifeReport>) -> Self {
        reports.sort_by(|a, b| (&a.scene, a.program, a.seed).cmp(&(&b.scene, b.program, b.seed)));
        Self { reports }
    }

    /// The reports, sorted by scene, program and seed.
    pub fn reports(&self) -> &[LifeReport] {
        &self.reports
    }

    /// Returns all problems, in words.
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        for report in &self.reports {
            found.extend(
                report
                    .problems
                    .iter()
                    .map(|problem| format!("{}: {problem}", report.run())),
            );
        }
        self.find_never_executed(&mut found);
        self.find_silent_rules(&mut found);
        self.find_drifts(&mut found);
        found
    }

    /// Reports the actions that no agent of a species, named or not, executed in any run of any scene.
    fn find_never_executed(&self, found: &mut Vec<String>) {
        let mut executions: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for species in self.reports.iter().flat_map(|report| &report.species) {
            for action in species.actions.iter().filter(|action| action.is_on) {
                *executions
                    .entry((&species.species, &action.name))
                    .or_default() += action.executions;
            }
        }
        let mut never: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for ((species, action), _) in executions.into_iter().filter(|(_, count)| *count == 0) {
            never.entry(species).or_default().push(action);
        }
        for (species, actions) in never {
            found.push(format!(
                "{species}: never executed in any run: {}",
                actions.join(", ")
            ));
        }
    }

    /// Reports the rules that never began in any run of their scene. The staff start the rules that only a command starts.
    fn find_silent_rules(&self, found: &mut Vec<String>) {
        let mut begins: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for report in &self.reports {
            for rule in &report.rules {
                *begins.entry((&report.scene, &rule.name)).or_default() += rule.begins;
            }
        }
        for ((scene, rule), _) in begins.into_iter().filter(|(_, count)| *count == 0) {
            found.push(format!(
                "{scene}: the director's rule \"{rule}\" never began in any run"
            ));
        }
    }

    /// Reports measures whose second half differs from the first by more than their spread over the seeds, in the same
    /// direction for every seed. Needs at least three seeds: two agree by chance every other time.
    fn find_drifts(&self, found: &mut Vec<String>) {
        let mut groups: BTreeMap<(&str, Option<VisitorProgram>), Vec<&LifeReport>> =
            BTreeMap::new();
        for report in &self.reports {
            if report.program.is_some_and(VisitorProgram::is_steady) {
                groups
                    .entry((&report.scene, report.program))
                    .or_default()
                    .push(report);
            }
        }
        for reports in groups.values().filter(|reports| reports.len() > 2) {
            for measure in measures(reports) {
                if let Some(change) = measure.drift() {
                    let first = reports[0];
                    let program = first
                        .program
                        .map_or("recorded visitors", VisitorProgram::name);
                    found.push(format!(
                        "{}, {program}: {} drifts from {:.2} in the first half to {:.2} in the second, with every seed",
                        first.scene, measure.name, change.0, change.1
                    ));
                }
            }
        }
    }
}

/// Returns the measures that all reports of one scene and program have in common.
fn measures(reports: &[&LifeReport]) -> Vec<Measure> {
    let mut found: BTreeMap<String, Measure> = BTreeMap::new();
    let mut add = |name: String, floor: f64, value: Halves| {
        let measure = found.entry(name.clone()).or_insert(Measure {
            name,
            floor,
            values: Vec::new(),
        });
        measure.floor = measure.floor.max(floor);
        measure.values.push(value);
    };
    for species in reports.iter().flat_map(|report| &report.species) {
        let own = &species.name;
        for need in &species.needs {
            add(
                format!("{own}: the time in need \"{}\"", need.name),
                DRIFT_SHARE,
                need.share,
            );
        }
        for action in &species.actions {
            add(
                format!("{own}: the time of action \"{}\"", action.name),
                DRIFT_SHARE,
                action.share,
            );
        }
        let relative = |value: Halves| value.whole * DRIFT_RELATIVE;
        let touches = species.touches_per_min;
        add(
            format!("{own}: touches per minute"),
            relative(touches).max(0.5),
            touches,
        );
        add(
            format!("{own}: the speed"),
            relative(species.speed_mps),
            species.speed_mps,
        );
        add(
            format!("{own}: the occupancy"),
            DRIFT_SHARE,
            species.occupancy,
        );
    }
    let complete = |measure: &Measure| measure.values.len() == reports.len();
    found.into_values().filter(complete).collect()
}

impl Measure {
    /// Returns the mean of the first and of the second halves, if the measure drifts.
    fn drift(&self) -> Option<(f64, f64)> {
        let count = self.values.len() as f64;
        let mean = |of: fn(&Halves) -> f64| self.values.iter().map(of).sum::<f64>() / count;
        let (first, second) = (mean(|v| v.first), mean(|v| v.second));
        let wholes = || self.values.iter().map(|v| v.whole);
        let spread = wholes().fold(f64::MIN, f64::max) - wholes().fold(f64::MAX, f64::min);
        let change = second - first;
        let agree = self
            .values
            .iter()
            .all(|v| (v.second - v.first) * change > 0.0);
        (agree && change.abs() > spread.max(self.floor)).then_some((first, second))
    }
}

/// One line of the table: the worst values of one scene and program over its seeds.
struct Row {
    runs: usize,
    still_longest_secs: f64,
    touches: f64,
    crowd: Option<f64>,
    occupancy: f64,
    catches: u64,
    leaps: u64,
    rules: (usize, usize),
    problems: usize,
}

impl Row {
    fn new(reports: &[&LifeReport]) -> Self {
        let species = || reports.iter().flat_map(|report| &report.species);
        let worst = |of: fn(&SpeciesLife) -> f64| species().map(of).fold(0.0, f64::max);
        let crowds = species()
            .filter(|species| species.is_judged_as_crowd())
            .filter_map(|species| Some(species.company?.max_share));
        let mut rules: BTreeMap<&str, u64> = BTreeMap::new();
        for rule in reports.iter().flat_map(|report| &report.rules) {
            *rules.entry(&rule.name).or_default() += rule.begins;
        }
        Self {
            runs: reports.len(),
            still_longest_secs: worst(|species| species.stillness.longest_secs),
            touches: worst(|species| species.touches_per_min.whole),
            crowd: crowds.max_by(f64::total_cmp),
            occupancy: species().map(|s| s.occupancy.whole).fold(1.0, f64::min),
            catches: reports
                .iter()
                .map(|report| report.catches + report.meals)
                .sum(),
            leaps: species().map(|species| species.leaps).sum(),
            rules: (rules.values().filter(|&&n| n > 0).count(), rules.len()),
            problems: reports.iter().map(|report| report.problems.len()).sum(),
        }
    }
}

impl fmt::Display for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut groups: BTreeMap<(&str, Option<VisitorProgram>), Vec<&LifeReport>> =
            BTreeMap::new();
        for report in &self.reports {
            groups
                .entry((&report.scene, report.program))
                .or_default()
                .push(report);
        }
        writeln!(
            f,
            "{:<14} {:<9} {:>4} {:>9} {:>8} {:>6} {:>9} {:>14} {:>6} {:>6} {:>8}",
            "scene",
            "visitors",
            "runs",
            "still s",
            "touches",
            "crowd",
            "occupancy",
            "catches+meals",
            "leaps",
            "rules",
            "problems"
        )?;
        for ((scene, program), reports) in groups {
            let row = Row::new(&reports);
            let crowd = row
                .crowd
                .map_or("-".to_owned(), |share| format!("{:.0} %", share * 100.0));
            writeln!(
                f,
                "{scene:<14} {:<9} {:>4} {:>9.0} {:>8.1} {crowd:>6} {:>9.2} {:>14} {:>6} {:>6} {:>8}",
                program.map_or("recorded", VisitorProgram::name),
                row.runs,
                row.still_longest_secs,
                row.touches,
                row.occupancy,
                row.catches,
                row.leaps,
                format!("{}/{}", row.rules.0, row.rules.1),
                row.problems
            )?;
        }
        writeln!(
            f,
            "Worst species over the seeds. still: longest stay within 10 cm without rest (wanted ≤ 30); touches per agent and \
             minute (wanted ≤ {MAX_TOUCHES_PER_MIN}); crowd: largest share of a species of at least {CROWD_COUNT} agents near a \
             still visitor (wanted ≤ 40 %); \
             occupancy: 1 is everywhere; rules: begun of all."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(values: &[(f64, f64)]) -> Measure {
        Measure {
            name: "share".into(),
            floor: DRIFT_SHARE,
            values: values
                .iter()
                .map(|&(first, second)| Halves {
                    whole: (first + second) / 2.0,
                    first,
                    second,
                })
                .collect(),
        }
    }

    #[test]
    fn a_change_beyond_the_spread_over_seeds_is_a_drift_only_if_all_seeds_agree() {
        assert!(
            measure(&[(0.1, 0.5), (0.12, 0.48), (0.1, 0.5)])
                .drift()
                .is_some()
        );
        assert!(
            measure(&[(0.1, 0.5), (0.5, 0.1), (0.1, 0.5)])
                .drift()
                .is_none()
        );
        assert!(
            measure(&[(0.1, 0.2), (0.4, 0.5), (0.7, 0.8)])
                .drift()
                .is_none(),
            "seeds differ more"
        );
        // Too small to matter.
        assert!(measure(&[(0.10, 0.12), (0.11, 0.13)]).drift().is_none());
    }
}
