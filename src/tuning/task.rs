//! A tuning file that was checked against its site: the genes with their ranges, and the wishes.

use super::file::{GeneParams, TuningFile, WishParams};
use super::gene::Gene;
use super::wish::{Wish, total_miss};
use crate::config::{Problems, Spans, suggestion};
use crate::life::{LifeReport, VisitorProgram};
use crate::site::{Editor, SpeciesNumber};

/// Added to the sum of squared misses if every gene moves over its whole range: as much as one wish that is missed by 0.1. So genes without
/// effect on the result keep their present value.
const MOVE_COST: f64 = 0.01;
/// Most keys that a message names.
const NAMED_MAX: usize = 6;

/// A checked tuning file.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The file.
    pub file: TuningFile,
    /// The genes.
    pub genes: Vec<Gene>,
    /// The wishes.
    pub wishes: Vec<Wish>,
    /// All programs that are simulated.
    pub programs: Vec<VisitorProgram>,
}

impl Task {
    /// Checks a tuning file against the site that the editor has open with the scene of the file.
    ///
    /// # Errors
    /// All problems with their positions.
    pub fn new(file: TuningFile, spans: &Spans, editor: &Editor) -> Result<Self, Problems> {
        let mut found = Vec::new();
        let site = editor.site();
        let living: Vec<&str> = site.species.iter().map(|own| own.name.as_str()).collect();
        let absent = |species: &str, at: &str| {
            let message = format!(
                "no \"{species}\" lives in the scene \"{}\"; it has {}{}",
                file.scene,
                living.join(", "),
                suggestion(species, living.iter().copied())
            );
            spans.problem(at, message)
        };
        let mut genes = Vec::new();
        if living.contains(&file.species.as_str()) {
            let numbers = editor.species_numbers(&file.species).unwrap_or_default();
            for (i, params) in file.genes.iter().enumerate() {
                match find_gene(params, &file, &numbers) {
                    Ok(gene) if genes.iter().any(|own: &Gene| own.path == gene.path) => {
                        let message = "this key is listed twice; remove one";
                        found.push(spans.problem(&format!("genes[{i}].key"), message));
                    }
                    Ok(gene) => genes.push(gene),
                    Err((key, message)) => {
                        found.push(spans.problem(&format!("genes[{i}].{key}"), message));
                    }
                }
            }
        } else {
            found.push(absent(&file.species, "species"));
        }
        let mut wishes = Vec::new();
        for (i, params) in file.wishes.iter().enumerate() {
            let at = |key: &str| format!("wishes[{i}].{key}");
            let species = params.species.as_ref().unwrap_or(&file.species);
            if params.species.is_some() && !living.contains(&species.as_str()) {
                found.push(absent(species, &at("species")));
            }
            let wish = wish_of(params, &file, species);
            found.extend(
                faults(&wish)
                    .into_iter()
                    .map(|(key, message)| spans.problem(&at(key), message)),
            );
            wishes.push(wish);
        }
        let mut programs: Vec<VisitorProgram> = wishes
            .iter()
            .flat_map(|wish| wish.programs.iter().copied())
            .collect();
        programs.sort();
        programs.dedup();
        if found.is_empty() {
            return Ok(Self {
                genes,
                wishes,
                programs,
                file,
            });
        }
        let mut problems = Problems(found);
        problems.sort();
        problems.limit("problems");
        Err(problems)
    }

    /// Returns the place of the present numbers.
    pub fn start(&self) -> Vec<f64> {
        self.genes.iter().map(Gene::start).collect()
    }

    /// Returns the changed numbers of a candidate, as paths and values.
    pub fn changes(&self, candidate: &[f64]) -> Vec<(String, serde_json::Value)> {
        let genes = self.genes.iter().zip(candidate);
        let values = genes.map(|(gene, &place)| (gene, gene.value(place)));
        let changed = values.filter(|(gene, value)| is_changed(gene, *value));
        changed
            .map(|(gene, value)| (gene.path.clone(), gene.written(value)))
            .collect()
    }

    /// Returns the candidate with one gene at its present value; `None` if it has that value already.
    pub fn without(&self, candidate: &[f64], gene: usize) -> Option<Vec<f64>> {
        let own = self.genes.get(gene)?;
        is_changed(own, own.value(*candidate.get(gene)?)).then(|| {
            let mut other = candidate.to_vec();
            other[gene] = own.start();
            other
        })
    }

    /// By how much reports miss the wishes: 0 to 1.
    pub fn miss(&self, reports: &[LifeReport]) -> f64 {
        total_miss(&self.wishes, reports)
    }

    /// The value that the search makes small: the miss, and a little for each change. Candidates outside of the ranges are worse by
    /// their distance.
    pub fn cost(&self, candidate: &[f64], reports: &[LifeReport]) -> f64 {
        let moved = candidate.iter().zip(self.start());
        let moved: f64 = moved
            .map(|(place, start)| (place.clamp(0.0, 1.0) - start).powi(2))
            .sum();
        let outside: f64 = candidate
            .iter()
            .map(|place| (place - place.clamp(0.0, 1.0)).powi(2))
            .sum();
        let miss = self.miss(reports);
        miss * miss + MOVE_COST * moved / candidate.len().max(1) as f64 + outside
    }
}

/// Whether a value differs from the present one by more than its rounding.
fn is_changed(gene: &Gene, value: f64) -> bool {
    (value - gene.present).abs() > 0.006 * gene.present.abs().max(1e-9)
}

fn find_gene(
    params: &GeneParams,
    file: &TuningFile,
    numbers: &[SpeciesNumber],
) -> Result<Gene, (&'static str, String)> {
    if let Some(number) = numbers.iter().find(|number| number.path == params.key) {
        return Gene::new(params, number);
    }
    let paths = || numbers.iter().map(|number| number.path.as_str());
    let mut hint = suggestion(&params.key, paths());
    if hint.is_empty() {
        let last = params.key.rsplit('.').next().unwrap_or_default();
        let like: Vec<&str> = paths()
            .filter(|path| path.split('.').any(|word| word == last))
            .take(NAMED_MAX)
            .collect();
        let stem: Vec<&str> = paths()
            .map(|path| path.rsplit('.').next().unwrap_or(path))
            .collect();
        hint = match like.as_slice() {
            [] => suggestion(last, stem),
            like => format!("; did you mean {}?", like.join(" or ")),
        };
    }
    let message = format!(
        "\"{}\" is no number of the species \"{}\"{hint} (an action and its key are written actions.NAME.KEY)",
        params.key, file.species
    );
    Err(("key", message))
}

fn wish_of(params: &WishParams, file: &TuningFile, species: &str) -> Wish {
    let programs = params
        .visitors
        .map_or_else(|| file.visitors.clone(), |own| vec![own]);
    Wish {
        figure: params.figure,
        species: species.to_owned(),
        programs,
        at_least: params.at_least,
        at_most: params.at_most,
        importance: params.importance,
    }
}

fn faults(wish: &Wish) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    match (wish.at_least, wish.at_most) {
        (None, None) => found.push((
            "figure",
            "the wish has no range; write at_least, at_most or both".to_owned(),
        )),
        (Some(least), Some(most)) if least > most => found.push((
            "at_least",
            format!("at_least = {least} is above at_most = {most}, so no value fulfills the wish"),
        )),
        _ => {}
    }
    for &program in &wish.programs {
        if let Some(needs) = wish.figure.lacks(program) {
            let message = format!(
                "{} has no value with the visitors \"{}\"; {needs}",
                wish.figure.name(),
                program.name()
            );
            found.push(("figure", message));
        }
    }
    found
}
