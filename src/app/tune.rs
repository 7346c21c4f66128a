//! Runs the search of `shoal tune`: simulates candidates on several threads, and compares the found numbers with the present ones on
//! seeds that the search has not seen.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::life::{Crew, run_lives};
use crate::life::{LifeReport, RunName};
use crate::runtime::print_message;
use crate::simulation::SceneDescription;
use crate::site::Editor;
use crate::tuning::{Comparison, Evolution, Task};

/// First seed of the comparison of the found numbers with simpler ones. The search uses the seeds from 1.
const CHOICE_SEED: u64 = 1_000_001;
/// First seed of the comparison with the present numbers.
const CHECK_SEED: u64 = 2_000_001;
/// Standard deviation of the first candidates, as a share of each gene's range.
const FIRST_STEP: f64 = 0.2;
/// The search ends when its standard deviation is below this share of the ranges: the values have three digits.
const LAST_STEP: f64 = 0.01;

/// What a search found.
pub(super) struct Found {
    /// The numbers, on the scales of the genes.
    pub(super) candidate: Vec<f64>,
    /// The comparison with the present numbers; `None` if the search was stopped.
    pub(super) comparison: Option<Comparison>,
    /// Number of simulated runs.
    pub(super) runs: usize,
    /// Simulated time of all runs.
    pub(super) simulated_secs: f64,
}

/// A search.
pub(super) struct Search<'a> {
    /// What is searched.
    pub(super) task: &'a Task,
    /// The site with the scene.
    pub(super) editor: &'a Editor,
    /// Number of runs at the same time.
    pub(super) jobs: usize,
    /// Seed of the candidates.
    pub(super) seed: u64,
    /// Ends the search.
    pub(super) stop: &'a AtomicBool,
}

/// The reports of a candidate, or why it is not possible.
type Outcome = Result<Vec<LifeReport>, String>;

impl Search<'_> {
    /// Searches. A search that is stopped returns its best numbers so far.
    ///
    /// # Errors
    /// When a scene cannot be simulated, or the present numbers are not possible.
    pub(super) fn run(&self) -> anyhow::Result<Found> {
        let started = Instant::now();
        let (task, start) = (self.task, self.task.start());
        let mut found = Found {
            candidate: start.clone(),
            comparison: None,
            runs: 0,
            simulated_secs: 0.0,
        };
        let mut evolution = Evolution::new(&start, FIRST_STEP, self.seed);
        self.announce(evolution.candidates());
        for generation in 0..task.file.generations {
            let first = 1 + u64::from(generation) * task.file.seeds;
            let candidates = evolution.ask();
            let mut tried = candidates.clone();
            // The present numbers in the first generation, so that its line says what is to be improved.
            tried.extend((generation == 0).then(|| start.clone()));
            let Some(outcomes) =
                self.simulate(&tried, first..first + task.file.seeds, &mut found)?
            else {
                return Ok(found);
            };
            let costs: Vec<f64> = tried
                .iter()
                .zip(&outcomes)
                .map(|(candidate, outcome)| self.cost(candidate, outcome))
                .collect();
            evolution.tell(&candidates, &costs[..candidates.len()]);
            evolution.mean().clone_into(&mut found.candidate);
            self.report(generation, &outcomes, started);
            if evolution.spread() < LAST_STEP {
                break;
            }
        }
        if let Some(simpler) = self.simplify(&found.candidate.clone(), &mut found)? {
            found.candidate = simpler;
            self.check(&start, &mut found)?;
        }
        Ok(found)
    }

    fn announce(&self, candidates: usize) {
        let file = &self.task.file;
        let runs = candidates * self.task.programs.len() * file.seeds as usize;
        print_message(&format!(
            "{} in {}: {} genes, {} wishes; {} generations of {candidates} candidates, each generation {runs} runs of {} minutes",
            file.species,
            file.scene,
            self.task.genes.len(),
            self.task.wishes.len(),
            file.generations,
            file.minutes
        ));
    }

    /// Simulates candidates with the same seeds. `None` if it was stopped.
    fn simulate(
        &self,
        candidates: &[Vec<f64>],
        seeds: Range<u64>,
        found: &mut Found,
    ) -> anyhow::Result<Option<Vec<Outcome>>> {
        let file = &self.task.file;
        let scenes: Vec<Result<SceneDescription, String>> = candidates
            .iter()
            .map(|candidate| self.describe(candidate))
            .collect();
        let mut runs = Vec::new();
        for scene in scenes.iter().flatten() {
            for &program in &self.task.programs {
                for seed in seeds.clone() {
                    let name = RunName {
                        scene: file.scene.clone(),
                        program: Some(program),
                        seed,
                        seconds: file.minutes * 60.0,
                    };
                    runs.push((name, scene));
                }
            }
        }
        let crew = Crew {
            simulation: &self.editor.site().file.simulation,
            jobs: self.jobs,
            stop: self.stop,
            announce: &|_, _| {},
        };
        let reports = run_lives(&runs, &crew)?;
        if self.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        found.runs += runs.len();
        found.simulated_secs += runs.len() as f64 * file.minutes * 60.0;
        let mut reports = reports.into_iter().flatten();
        let each = self.task.programs.len() * seeds.count();
        let outcome = |scene: Result<SceneDescription, String>| {
            scene.map(|_| reports.by_ref().take(each).collect())
        };
        Ok(Some(scenes.into_iter().map(outcome).collect()))
    }

    fn describe(&self, candidate: &[f64]) -> Result<SceneDescription, String> {
        let changes = self.task.changes(candidate);
        let tried = self.editor.with_numbers(&self.task.file.species, &changes);
        tried
            .map(|(site, _)| site.description())
            .map_err(|problems| problems.to_string())
    }

    fn cost(&self, candidate: &[f64], outcome: &Outcome) -> f64 {
        match outcome {
            Ok(reports) => self.task.cost(candidate, reports),
            Err(_) => f64::INFINITY,
        }
    }

    /// Prints a line about a generation.
    fn report(&self, generation: u32, outcomes: &[Outcome], started: Instant) {
        let miss = |reports: &Vec<LifeReport>| self.task.miss(reports);
        let misses: Vec<f64> = outcomes.iter().flatten().map(miss).collect();
        let best = misses.iter().copied().fold(f64::INFINITY, f64::min);
        let mean = misses.iter().sum::<f64>() / misses.len().max(1) as f64;
        let now = match outcomes.last() {
            Some(Ok(start)) if generation == 0 => {
                format!("; the present numbers {:.3}", miss(start))
            }
            _ => String::new(),
        };
        let impossible = outcomes.len() - misses.len();
        let impossible = match outcomes.iter().find_map(|outcome| outcome.as_ref().err()) {
            Some(reason) => format!("; {impossible} impossible, for example: {reason}"),
            None => String::new(),
        };
        let (done, all) = (
            f64::from(generation + 1),
            f64::from(self.task.file.generations),
        );
        let took_secs = started.elapsed().as_secs_f64();
        print_message(&format!(
            "generation {done} of {all}: miss {best:.3} at best, {mean:.3} on average{now}; {took_secs:.0} s, at most {:.0} s left{impossible}",
            took_secs / done * (all - done)
        ));
    }

    /// Returns the found numbers without the changes that do not help. `None` if it was stopped.
    fn simplify(&self, candidate: &[f64], found: &mut Found) -> anyhow::Result<Option<Vec<f64>>> {
        let task = self.task;
        let seeds = CHOICE_SEED..CHOICE_SEED + task.file.seeds.max(task.file.check_seeds / 2);
        print_message("looking for changes that do not help");
        let genes: Vec<usize> = (0..task.genes.len()).collect();
        let mut tried = vec![candidate.to_vec()];
        let without = genes
            .iter()
            .filter_map(|&gene| Some((gene, task.without(candidate, gene)?)));
        let (names, others): (Vec<usize>, Vec<Vec<f64>>) = without.unzip();
        tried.extend(others);
        let Some(outcomes) = self.simulate(&tried, seeds.clone(), found)? else {
            return Ok(None);
        };
        let costs: Vec<f64> = tried
            .iter()
            .zip(&outcomes)
            .map(|(candidate, outcome)| self.cost(candidate, outcome))
            .collect();
        let mut simpler = candidate.to_vec();
        let start = task.start();
        let mut is_simpler = false;
        for (&gene, &cost) in names.iter().zip(&costs[1..]) {
            if cost <= costs[0] {
                simpler[gene] = start[gene];
                is_simpler = true;
            }
        }
        if !is_simpler {
            return Ok(Some(candidate.to_vec()));
        }
        // Each change alone does not help, but all of them together may.
        let Some(outcomes) = self.simulate(std::slice::from_ref(&simpler), seeds, found)? else {
            return Ok(None);
        };
        let helps = outcomes
            .first()
            .is_some_and(|outcome| self.cost(&simpler, outcome) <= costs[0]);
        Ok(Some(if helps { simpler } else { candidate.to_vec() }))
    }

    /// Compares the found numbers with the present ones on other seeds.
    fn check(&self, start: &[f64], found: &mut Found) -> anyhow::Result<()> {
        let seeds = CHECK_SEED..CHECK_SEED + self.task.file.check_seeds;
        print_message("comparing with the present numbers on unseen seeds");
        let tried = [start.to_vec(), found.candidate.clone()];
        let Some(outcomes) = self.simulate(&tried, seeds.clone(), found)? else {
            return Ok(());
        };
        let by_seed = |outcome: &'_ Outcome| -> anyhow::Result<Vec<Vec<LifeReport>>> {
            let reports = outcome
                .as_ref()
                .map_err(|reason| anyhow::anyhow!("{reason}"))?;
            let of = |seed: u64| {
                reports
                    .iter()
                    .filter(|own| own.seed == seed)
                    .cloned()
                    .collect()
            };
            Ok(seeds.clone().map(of).collect())
        };
        let [before, after] = [by_seed(&outcomes[0])?, by_seed(&outcomes[1])?];
        found.comparison = Some(Comparison::new(self.task, &before, &after));
        Ok(())
    }
}
