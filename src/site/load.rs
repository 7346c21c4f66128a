//! Loads a site: its file, its scenes and species, its models and its calibration, and checks all of them.
//!
//! In: the path of a site file, or `None` for the built-in demo. Out: a [`Site`] that can run, or all problems of all
//! files. Must not: run anything, replace a faulty value by a default.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::Vec3;

use super::check::{check_scene, check_site, check_species};
use super::files::{SceneFile, SiteFile, SpeciesFile};
use super::findings::Findings;
use super::library::Library;
use super::models::Models;
use super::outside::warn_missing;
use super::source::Entry;
use crate::calibration::Calibration;
use crate::camera::{SourceKind, SourceSpec};
use crate::config::{self, Problem, Problems};
use crate::control::DocumentName;
use crate::geometry::Surface;
use crate::render::{Model, OutputParams, SpeciesLook};
use crate::simulation::{
    IndividualDescription, PoolPlan, SceneDescription, SimulationError, SpeciesDescription,
};

/// One species of the scene.
#[derive(Clone, Debug)]
pub struct SiteSpecies {
    /// Name of the species.
    pub name: String,
    /// Number of individuals.
    pub count: u32,
    /// The species file.
    pub file: SpeciesFile,
    /// The 3D model.
    pub model: Arc<Model>,
}

/// The look of a named individual.
#[derive(Clone, Debug)]
pub struct NamedLook {
    /// Name of the individual.
    pub name: String,
    /// Its look.
    pub look: SpeciesLook,
    /// The 3D model.
    pub model: Arc<Model>,
}

/// The complete, checked configuration of one installation.
#[derive(Clone, Debug)]
pub struct Site {
    /// The site file.
    pub file: SiteFile,
    /// Base folder of relative paths; empty (the working folder) for the built-in site.
    pub folder: PathBuf,
    /// Name of the shown scene.
    pub scene_name: String,
    /// The shown scene, fitted to the surface.
    pub scene: SceneFile,
    /// Species of the scene, sorted by name.
    pub species: Vec<SiteSpecies>,
    /// The named individuals with a look of their own.
    pub individual_looks: Vec<NamedLook>,
    /// Models of stones, in the order that rendering expects.
    pub stones: Arc<[Model]>,
    /// The calibration of each camera, if the site file names one.
    pub calibrations: Vec<Option<Calibration>>,
    /// Warnings: values that are allowed, but probably a mistake.
    pub warnings: Vec<Problem>,
}

impl Site {
    /// Whether the shown scene has fish of a species or a group, or an individual, with this name.
    pub fn has_fish_named(&self, name: &str) -> bool {
        let is_named =
            |own: &String, groups: &[String]| own == name || groups.contains(&name.to_owned());
        (self.species.iter()).any(|species| is_named(&species.name, &species.file.groups))
            || (self.scene.individuals.iter()).any(|one| is_named(&one.name, &one.groups))
    }

    /// Says that a calibration is for a surface of another size; `None` if all fit.
    pub fn calibration_misfit(&self) -> Option<String> {
        let mut calibrations = self.used_calibrations();
        calibrations.find_map(|calibration| misfit(calibration, &self.file.surface))
    }

    /// Returns the calibrations of the cameras. One that is left from before has no effect on a tracker, which reports places on the floor.
    fn used_calibrations(&self) -> impl Iterator<Item = &Calibration> {
        let cameras = self.file.all_cameras().into_iter().zip(&self.calibrations);
        cameras.filter_map(|(camera, calibration)| {
            let source = SourceSpec::parse(&camera.source);
            let is_tracker =
                source.is_ok_and(|source| matches!(source.kind, SourceKind::Tracker(_)));
            calibration.as_ref().filter(|_| !is_tracker)
        })
    }

    /// Says that the projected picture was moved after a calibration; `None` if it was not, or that is unknown.
    pub fn projection_misfit(&self) -> Option<String> {
        let now = self.projection_digest();
        let mut known = self
            .used_calibrations()
            .filter_map(|c| c.projection.as_ref());
        known.any(|then| *then != now).then(|| {
            "the corners, the crop or the mesh of an output, or the number of outputs, changed after the calibration, so the picture lies at \
             another place of the floor; calibrate the camera again, or undo the change"
                .to_owned()
        })
    }

    /// Returns a digest of where the outputs show the surface in the pictures of their projectors. **Source**: FNV-1a, 64 bits
    /// (Fowler et al. 1991).
    pub fn projection_digest(&self) -> String {
        let outputs = self.outputs();
        let geometry = outputs.iter().map(|o| (&o.crop, &o.corners, &o.mesh));
        let geometry = serde_json::json!(geometry.collect::<Vec<_>>()).to_string();
        let digest = geometry
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
                (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        format!("{digest:016x}")
    }

    /// Returns the description from which the simulation is compiled.
    pub fn description(&self) -> SceneDescription {
        SceneDescription {
            surface: self.file.surface.clone(),
            pool: self.scene.pool.clone(),
            obstacles: self.scene.obstacles.clone(),
            paths: self.scene.paths.clone(),
            barriers: self.scene.barriers.clone(),
            fields: self.scene.fields.clone(),
            species: self
                .species
                .iter()
                .map(|species| self.describe(species))
                .collect(),
            director: self.scene.director.clone(),
        }
    }

    fn describe(&self, species: &SiteSpecies) -> SpeciesDescription {
        let file = &species.file;
        SpeciesDescription {
            name: species.name.clone(),
            count: species.count,
            groups: file.groups.clone(),
            body: file.body.clone(),
            motion: file.motion.clone(),
            perception: file.perception.clone(),
            flock: file.flock.clone(),
            relations: file.relations.clone(),
            mind: file.mind(),
            individuals: self
                .scene
                .individuals
                .iter()
                .filter(|individual| individual.species == species.name)
                .map(|individual| IndividualDescription {
                    name: individual.name.clone(),
                    groups: individual.groups.clone(),
                    relations: individual.all_relations(file),
                    mind: individual.mind(file),
                    size: individual.size,
                    boldness: individual.boldness,
                    look: self.look_of(&individual.name),
                    position_m: individual.position_m,
                })
                .collect(),
        }
    }

    /// Returns look and model of all species, and of the individuals with a look of their own. `AgentPose::species` is an index into this
    /// list.
    pub fn looks(&self) -> impl Iterator<Item = (&SpeciesLook, &Arc<Model>)> {
        let species = self.species.iter().map(|s| (&s.file.look, &s.model));
        let individuals = self.individual_looks.iter();
        species.chain(individuals.map(|one| (&one.look, &one.model)))
    }

    /// Returns the index of the look of a named individual in [`Self::looks`]; `None` if it looks like its species.
    fn look_of(&self, individual: &str) -> Option<u16> {
        let mut own = self.individual_looks.iter();
        let place = own.position(|one| one.name == individual)?;
        u16::try_from(self.species.len() + place).ok()
    }

    /// Returns the projectors' outputs; one default output if the site file has none.
    pub fn outputs(&self) -> Vec<OutputParams> {
        match self.file.outputs.as_slice() {
            [] => vec![OutputParams::default()],
            outputs => outputs.to_vec(),
        }
    }
}

/// Loads a site file, or the built-in demo if `site` is `None`. `scene` replaces the scene of the site file.
///
/// # Errors
/// All problems of the site file, of all scenes and species beside it, of the models and of the calibration.
pub fn load(site: Option<&Path>, scene: Option<&str>) -> Result<Site, Problems> {
    result_of(load_and_check(site, scene))
}

fn result_of(
    (site, warnings, problems): (Option<Site>, Problems, Problems),
) -> Result<Site, Problems> {
    match site {
        Some(mut site) if problems.0.is_empty() => {
            site.warnings = warnings.0;
            Ok(site)
        }
        _ => Err(problems),
    }
}

/// Loads a site with one of its scenes, as [`load`] does. If the scene does not suit the site's kind of surface, the surface becomes
/// one of a kind that the scene suits, with the size for which the scene was designed.
///
/// # Errors
/// As for [`load`].
pub fn load_suited(site: Option<&Path>, scene: &str) -> Result<Site, Problems> {
    let mut problems = Vec::new();
    let mut library = Library::read(site, &mut problems);
    library.suit(scene);
    result_of(validate(&library, &mut Models::default(), problems))
}

/// Loads a site. Returns the site (`None` if it could not be assembled), its warnings and its problems.
pub(super) fn load_and_check(
    path: Option<&Path>,
    scene: Option<&str>,
) -> (Option<Site>, Problems, Problems) {
    let mut problems = Vec::new();
    let mut library = Library::read(path, &mut problems);
    if let Some(problem) = scene.and_then(|scene| library.unknown_scene_option(scene)) {
        problems.insert(0, problem);
        return (None, Problems::default(), Problems(problems));
    }
    if let (Some(scene), Some(site)) = (scene, &mut library.site) {
        scene.clone_into(&mut Arc::make_mut(site).value.scene);
    }
    validate(&library, &mut Models::default(), problems)
}

/// Checks all files against each other. Returns the site (`None` if it could not be assembled), its warnings and its
/// problems.
pub(super) fn validate(
    library: &Library,
    models: &mut Models,
    problems: Vec<Problem>,
) -> (Option<Site>, Problems, Problems) {
    let mut findings = Findings::new(problems);
    if let Some(entry) = &library.site {
        check_site(entry, library, &mut findings);
    }
    for scene in library.scenes.values().flatten() {
        check_scene(scene, library, &mut findings);
    }
    for (name, species) in &library.species {
        if let Some(species) = species {
            check_species(name, species, library, &mut findings);
        }
    }
    findings.add_inherited();
    let site = assemble(library, models, &mut findings);
    // A warning can follow from a problem: an obstacle outside of a surface with a wrong size.
    if !findings.problems.is_empty() {
        findings.warnings.clear();
    }
    let left_out = library.left_out.iter().map(|file| file.warning.clone());
    findings.warnings.extend(left_out);
    let (mut problems, mut warnings) = (Problems(findings.problems), Problems(findings.warnings));
    problems.sort();
    problems.limit("problems");
    warnings.sort();
    warnings.limit("warnings");
    (site, warnings, problems)
}

/// Reads all files that the scenes need, and compiles the pool of every scene, so that neither the start nor a switch to another
/// scene can fail. Returns the site with the shown scene. If something is missing, the result is `None`, and a problem is added
/// to `findings`.
fn assemble(library: &Library, models: &mut Models, findings: &mut Findings) -> Option<Site> {
    let folder = library.folder();
    read_models(library, models, &folder, findings);
    if let Some(entry) = &library.site {
        warn_missing(entry, &folder, findings);
    }
    let calibrations = (library.site.as_ref())
        .map(|entry| read_calibrations(entry, &folder, findings))
        .unwrap_or_default();
    // Only valid numbers are compiled.
    let is_valid = findings.problems.is_empty();
    let mut shown = None;
    for (name, _) in library.scenes.iter().filter(|(_, scene)| scene.is_some()) {
        let site = with_scene(library, models, name);
        if let Some(site) = site.as_ref().filter(|_| is_valid)
            && let Err(error) = PoolPlan::compile(&site.description())
        {
            let document = DocumentName::Scene { name: name.into() };
            findings
                .problems
                .push(compile_problem(library, &document, &error));
        }
        if library.site.as_ref()?.value.scene == *name {
            shown = site;
        }
    }
    let mut shown = shown?;
    shown.calibrations = calibrations;
    shown.stones = models.stones().ok()?;
    Some(shown)
}

/// Returns the site with one of its scenes, without calibration and stones; `None` if a file of the scene is faulty.
fn with_scene(library: &Library, models: &Models, scene_name: &str) -> Option<Site> {
    let site = &library.site.as_ref()?.value;
    let scene = &library.scenes.get(scene_name)?.as_ref()?.value;
    let species = scene
        .population
        .iter()
        .map(|(name, &count)| {
            let mut file = library.species.get(name)?.as_ref()?.value.clone();
            let factors = scene.factors(&site.fish, name);
            factors.apply(&mut file.body, &mut file.motion, &mut file.flock);
            file.look.length_m *= factors.size;
            Some(SiteSpecies {
                name: name.clone(),
                count,
                model: Arc::clone(models.get(&file.look.model)?),
                file,
            })
        })
        .collect::<Option<Vec<_>>>()?;
    let individual_looks = scene
        .individuals
        .iter()
        .filter_map(|one| {
            let of: &SiteSpecies = species.iter().find(|species| species.name == one.species)?;
            Some((one, one.own_look(&of.file.look)?))
        })
        .map(|(one, look)| {
            Some(NamedLook {
                name: one.name.clone(),
                model: Arc::clone(models.get(&look.model)?),
                look,
            })
        })
        .collect::<Option<Vec<_>>>()?;
    Some(Site {
        individual_looks,
        scene_name: scene_name.to_owned(),
        scene: scene.fitted(&site.surface),
        file: site.clone(),
        folder: library.folder(),
        species,
        stones: Arc::default(),
        calibrations: Vec::new(),
        warnings: Vec::new(),
    })
}

/// Returns the reason why the pool of a scene cannot be compiled, with its position in the scene file.
pub(super) fn compile_problem(
    library: &Library,
    scene: &DocumentName,
    error: &SimulationError,
) -> Problem {
    let path = match error {
        SimulationError::InvalidObstacle { index } => format!("obstacles[{index}]"),
        SimulationError::InvalidTerraces { .. } => "pool.terraces".to_owned(),
        SimulationError::TooManyNames { species } => format!("population.{species}"),
        _ => "population".to_owned(),
    };
    library.problem(scene, &path, error.to_string())
}

/// Reads the models of all species, not only those of the shown scene, so that switching to another scene cannot fail.
fn read_models(library: &Library, models: &mut Models, folder: &Path, findings: &mut Findings) {
    if let Err(error) = models.stones() {
        findings
            .problems
            .push(Problem::of_file("built-in models", error.to_string()));
    }
    for species in library.species.values().flatten() {
        let name = &species.value.look.model;
        if let Err(message) = models.read(name, folder) {
            findings
                .problems
                .push(species.spans.problem("look.model", message));
        }
        let Some(model) = models.get(name) else {
            continue;
        };
        for note in &model.notes {
            let message = format!("the model \"{name}\" {note}");
            findings
                .warnings
                .push(species.spans.problem("look.model", message));
        }
        // A model with a mistake may be wide only by this mistake.
        if model.notes.is_empty()
            && let Some(message) = wider_than_body(&species.value, model.size)
        {
            findings
                .warnings
                .push(species.spans.problem("look.model", message));
        }
    }
    for scene in library.scenes.values().flatten() {
        let individuals = scene.value.individuals.iter().enumerate();
        let named = individuals.filter_map(|(i, one)| Some((i, one.look.model.as_ref()?)));
        for (i, name) in named {
            if let Err(message) = models.read(name, folder) {
                let path = format!("individuals[{i}].look.model");
                findings.problems.push(scene.spans.problem(&path, message));
            }
        }
    }
}

/// Ratio of the drawn width of an animal that is wider than long to the width of its body from which it is reported.
const WIDTH_RATIO_MAX: f32 = 3.0;

/// Returns a message about an animal that is drawn much wider than its body is, and wider than long. Wings of a fish that is longer than
/// wide may overlap others.
fn wider_than_body(species: &SpeciesFile, model_size: Vec3) -> Option<String> {
    let drawn_m = model_size.x / model_size.z.max(f32::MIN_POSITIVE) * species.look.length_m;
    let body_m = 2.0 * species.body.half_width_m();
    (drawn_m > species.look.length_m && drawn_m > WIDTH_RATIO_MAX * body_m).then(|| {
        format!(
            "it is drawn {drawn_m:.2} m wide, but its body is {body_m:.2} m wide, so it overlaps stones and other animals; set \
             body.width_m = {drawn_m:.2}"
        )
    })
}

/// Reads the calibrations of all cameras.
fn read_calibrations(
    entry: &Entry<SiteFile>,
    folder: &Path,
    findings: &mut Findings,
) -> Vec<Option<Calibration>> {
    let cameras = entry.value.all_cameras();
    let files = cameras.into_iter().map(|camera| camera.calibration);
    let read = files.enumerate().map(|(i, file)| {
        let at = entry.value.calibration_path(i);
        read_calibration(&folder.join(file?), (entry, &at), findings)
    });
    read.collect()
}

fn read_calibration(
    path: &Path,
    (entry, at): (&Entry<SiteFile>, &str),
    findings: &mut Findings,
) -> Option<Calibration> {
    let text = match config::read_text(path) {
        Ok(text) => text,
        Err(problem) => {
            let message = format!(
                "{}: {}; create it with shoal calibrate, or remove this line: the whole camera image is then mapped onto the surface",
                path.display(),
                problem.message
            );
            findings.problems.push(entry.spans.problem(at, message));
            return None;
        }
    };
    match Calibration::parse(&text, &path.display().to_string()) {
        Ok(calibration) => {
            if let Some(misfit) = misfit(&calibration, &entry.value.surface) {
                let problem = entry.spans.problem(at, misfit);
                findings.warnings.push(problem);
            }
            Some(calibration)
        }
        Err(found) => {
            findings.problems.extend(found.0);
            None
        }
    }
}

/// Says that a calibration is for a surface of another size; `None` if it fits.
fn misfit(calibration: &Calibration, surface: &Surface) -> Option<String> {
    let calibrated = calibration.surface;
    let differs = |a: f64, b: f32| (a - f64::from(b)).abs() > 1e-3;
    (differs(calibrated.width_m, surface.width_m) || differs(calibrated.height_m, surface.height_m))
        .then(|| {
            format!(
                "the calibration is for a surface of {} x {} m, but the site has {} x {} m; calibrate again if the projector was moved",
                calibrated.width_m, calibrated.height_m, surface.width_m, surface.height_m
            )
        })
}
