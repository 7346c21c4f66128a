//! Loads a site, and builds the inputs of the stages from it: simulation, render setup, windows and live configuration.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::frame_tracker::TrackerConfig;
use super::live::{LiveCamera, LiveConfig};
use super::population_trial::population_trial;
use crate::calibration::Calibration;
use crate::camera::{AtEnd, CameraParams, SourceSpec, hide_passwords};
use crate::config::Problems;
use crate::records::{LastValidSite, RecordConfig};
use crate::render::{OutputParams, OverlayOptions, RenderSetup, StaticShape};
use crate::runtime::print_message;
use crate::screen::WindowSettings;
use crate::simulation::{Simulation, SimulationParams};
use crate::site::{self, CameraEntry, Editor, FileWatcher, Site};
use crate::world::ObstacleParams;

/// Loads a site file, or the built-in demo if `path` is `None`. `scene` replaces the scene that the site names. Prints the
/// warnings of the site.
///
/// # Errors
/// All problems of the site.
pub(super) fn load_site(path: Option<&Path>, scene: Option<&str>) -> anyhow::Result<Site> {
    let site = site::load(path, scene).map_err(|problems| anyhow!("{problems}"))?;
    print_warnings(&site);
    Ok(site)
}

/// Does the same as [`load_site`], but returns the documents of the site, so that they can be edited.
///
/// # Errors
/// All problems of the site.
pub(super) fn load_documents(path: Option<&Path>, scene: Option<&str>) -> anyhow::Result<Editor> {
    let editor = Editor::open(path, scene).map_err(|problems| anyhow!("{problems}"))?;
    print_warnings(editor.site());
    Ok(editor)
}

/// The documents of a site that are edited while a pool runs, and the watcher of their files.
pub(super) struct WatchedDocuments {
    /// The documents.
    pub(super) editor: Editor,
    /// Absolute path of the site file; `None` for the built-in site.
    pub(super) path: Option<PathBuf>,
    /// The watcher, created before the documents were loaded, so that no change is missed; `None` for the built-in site.
    pub(super) watcher: Option<FileWatcher>,
}

/// Does the same as [`load_documents`], and also watches the files of the site.
///
/// # Errors
/// All problems of the site.
pub(super) fn load_watched_documents(
    path: Option<PathBuf>,
    scene: Option<&str>,
) -> anyhow::Result<WatchedDocuments> {
    // The absolute path leads to the new folder if the working folder is moved away and another one takes its place.
    let path = path.map(|path| std::path::absolute(&path).unwrap_or(path));
    let mut watcher = path.as_deref().map(FileWatcher::new);
    let opened = Editor::open(path.as_deref(), scene);
    let opened = opened.and_then(|mut editor| {
        editor.try_populations(population_trial())?;
        Ok(editor)
    });
    let editor = match (opened, path.as_deref(), &mut watcher) {
        (Ok(editor), ..) => editor,
        (Err(problems), Some(site), Some(watcher)) => {
            // The desk rejects the files once more, so that the panel shows them with their errors.
            watcher.report_all();
            let mut editor = last_valid_documents(site, &problems)?;
            (editor.try_populations(population_trial()))
                .map_err(|problems| anyhow!("{problems}"))?;
            editor
        }
        (Err(problems), ..) => return Err(anyhow!("{problems}")),
    };
    print_warnings(editor.site());
    Ok(WatchedDocuments {
        editor,
        path,
        watcher,
    })
}

/// Returns the last valid documents of a site whose files are broken, and prints what is wrong.
///
/// # Errors
/// The problems, if the site was never valid before.
fn last_valid_documents(site: &Path, problems: &Problems) -> anyhow::Result<Editor> {
    let editor = match LastValidSite::of_site(site).open() {
        Ok(Some(editor)) => editor,
        Ok(None) => return Err(anyhow!("{problems}")),
        Err(error) => return Err(anyhow!("{problems}\n{error:#}")),
    };
    print_message(&format!(
        "warning: the files of the site have errors, so the last valid site is shown; correct them in the panel or on the disk\n{problems}"
    ));
    Ok(editor)
}

fn print_warnings(site: &Site) {
    for warning in &site.warnings {
        print_message(&format!("warning: {warning}"));
    }
}

/// A camera of a site, or the one that the command line names instead.
pub(super) struct CameraInput {
    /// Name of the camera; empty if the site has only one.
    pub(super) name: String,
    /// The source.
    pub(super) source: String,
    /// Folder to which relative paths in the source refer: the folder of the site file, or the working folder for a source from the
    /// command line.
    pub(super) folder: PathBuf,
    /// Settings of the camera.
    pub(super) params: CameraParams,
    /// Vision parameters, calibration and surface.
    pub(super) tracker: TrackerConfig,
}

/// Returns the cameras of a site. A source from the command line replaces a single one.
///
/// # Errors
/// When the site has several cameras, and the command line names a source.
pub(super) fn camera_inputs(
    site: &Site,
    from_command_line: Option<&str>,
) -> anyhow::Result<Vec<CameraInput>> {
    let cameras = site.file.all_cameras();
    anyhow::ensure!(
        cameras.len() == 1 || from_command_line.is_none(),
        "--camera names one source, but the site has {} cameras; change their sources in [[cameras]] of the site file",
        cameras.len()
    );
    let with_calibration = cameras.into_iter().zip(&site.calibrations);
    let input = |(camera, calibration): (CameraEntry, &Option<Calibration>)| CameraInput {
        source: from_command_line.unwrap_or(&camera.source).to_owned(),
        folder: match from_command_line {
            Some(_) => PathBuf::new(),
            None => site.folder.clone(),
        },
        params: camera.params(),
        tracker: TrackerConfig {
            vision: camera.vision(&site.file.vision),
            calibration: calibration.clone(),
            surface: site.file.surface.clone(),
        },
        name: camera.name,
    };
    Ok(with_calibration.map(input).collect())
}

/// Returns the camera of a site for a command that uses only one.
///
/// # Errors
/// As for [`camera_inputs`], and when the site has several cameras.
pub(super) fn single_camera(
    site: &Site,
    from_command_line: Option<&str>,
) -> anyhow::Result<CameraInput> {
    let mut cameras = camera_inputs(site, from_command_line)?;
    match (cameras.pop(), cameras.is_empty()) {
        (Some(camera), true) => Ok(camera),
        _ => Err(anyhow!(
            "this command uses one camera, but the site has several; use shoal run or shoal track"
        )),
    }
}

/// Returns the configuration of the live pool. Prints the scene with its fish, the camera source, and the date of the
/// calibration.
///
/// # Errors
/// When the camera source is invalid.
pub(super) fn live_config(
    site: &Site,
    camera: Option<&str>,
    at_end: AtEnd,
    record: Option<RecordConfig>,
) -> anyhow::Result<LiveConfig> {
    let is_own_source = camera.is_none();
    let inputs = camera_inputs(site, camera)?;
    let fish: Vec<String> = site
        .species
        .iter()
        .map(|species| format!("{} {}", species.count, species.name))
        .collect();
    print_message(&format!("scene: {} ({})", site.scene_name, fish.join(", ")));
    let mut cameras = Vec::new();
    for input in inputs {
        let named = match input.name.as_str() {
            "" => String::new(),
            name => format!(" {name}"),
        };
        let source = SourceSpec::parse(&input.source)?.relative_to(&input.folder);
        print_message(&format!("camera{named}: {}", hide_passwords(&input.source)));
        if let Some(calibration) = &input.tracker.calibration {
            print_message(&format!("calibration{named}: made at {}", calibration.date));
        }
        cameras.push(LiveCamera {
            name: input.name,
            source,
            folder: is_own_source.then_some(input.folder),
            params: input.params,
            vision: input.tracker.vision,
            calibration: input.tracker.calibration,
        });
    }
    Ok(LiveConfig {
        cameras,
        at_end,
        record,
        mapping: site.file.remote.osc_visitors.clone(),
        surface: site.file.surface.clone(),
        projection: site.projection_digest(),
        scene: site.description(),
        simulation: site.file.simulation.clone(),
        hall: None,
    })
}

/// Returns the settings of the windows of all outputs. A window that is not fullscreen has the size `size_px`; with `None` it
/// has the size of its output.
pub(super) fn window_settings(
    site: &Site,
    size_px: Option<(u32, u32)>,
    fullscreen: bool,
) -> Vec<WindowSettings> {
    let settings = |output: OutputParams| WindowSettings {
        size_px: size_px.map_or([output.width_px, output.height_px], <[u32; 2]>::from),
        monitor: output.monitor,
        fullscreen,
    };
    site.outputs().into_iter().map(settings).collect()
}

/// Builds the simulation of a site.
///
/// # Errors
/// When the scene cannot be simulated.
pub(super) fn simulation(site: &Site, seed: u64, threads: u16) -> anyhow::Result<Simulation> {
    let params = SimulationParams {
        seed,
        threads,
        ..site.file.simulation.clone()
    };
    Ok(Simulation::new(&site.description(), &params)?)
}

/// Builds the render setup of all outputs of a site.
pub(super) fn render_setup(site: Site) -> RenderSetup {
    let kind = site.file.surface.kind;
    let looks = site.looks();
    let species = looks.map(|(look, model)| (look.clone(), (**model).clone()));
    RenderSetup {
        scene: site.scene_name.clone(),
        fade_secs: site.file.picture.fade_secs,
        species: species.collect(),
        outputs: site.outputs(),
        surface: site.file.surface,
        look: site.scene.look,
        depth_m: site.scene.pool.ground_depth_m,
        static_models: site.stones.to_vec(),
        static_shapes: site
            .scene
            .obstacles
            .iter()
            .filter(|obstacle| obstacle.is_visible())
            .filter_map(ObstacleParams::solid)
            .flat_map(|solid| StaticShape::all_of(&solid, kind))
            .collect(),
        terraces: site.scene.pool.terraces,
        quality: site.file.picture.quality,
        overlay_options: OverlayOptions::default(),
    }
}

/// Builds the render setup of the first output of a site, with another picture size.
pub fn first_output_setup(site: Site, (width_px, height_px): (u32, u32)) -> RenderSetup {
    let mut setup = render_setup(site);
    setup.outputs.truncate(1);
    for output in &mut setup.outputs {
        (output.width_px, output.height_px) = (width_px, height_px);
    }
    setup
}
