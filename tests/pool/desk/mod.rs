//! A running pool with its desk, for tests of edits. The desk opens a copy of the shipped site and receives commands.

use std::path::{Path, PathBuf};

use glam::{Vec2, Vec3};
use serde_json::{Value, json};
use shoal::app::Desk;
use shoal::config::Problems;
use shoal::control::{DocumentName, PoolCommand};
use shoal::geometry::Visitor;
use shoal::simulation::{Simulation, SimulationParams};
use shoal::site::Editor;
use shoal::world::Observation;

/// A pool with its desk.
pub(crate) struct Pool {
    pub(crate) desk: Desk,
    pub(crate) simulation: Simulation,
    pub(crate) visitors: Observation,
    /// Temporary folder of the site. `None` if the test did not create one.
    pub(crate) folder: Option<tempfile::TempDir>,
}

/// Creates a temporary folder with the shipped site and an additional scene `bare`. Returns the folder and the path of the
/// site file.
pub(crate) fn shipped_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    for kind in ["scenes", "species"] {
        std::fs::create_dir(folder.path().join(kind)).unwrap();
        for file in std::fs::read_dir(config.join(kind)).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), folder.path().join(kind).join(file.file_name())).unwrap();
        }
    }
    std::fs::write(
        folder.path().join("scenes/bare.toml"),
        "# Only herrings.\ntitle = \"Bare\"\n\n[population]\nherring = 5\n",
    )
    .unwrap();
    let site = folder.path().join("site.toml");
    let demo = std::fs::read_to_string(config.join("demo.toml")).unwrap();
    std::fs::write(&site, demo.replace("\"koi\"", "\"pool\"")).unwrap();
    (folder, site)
}

impl Pool {
    pub(crate) fn new() -> Self {
        let (folder, site) = shipped_folder();
        let mut pool = Self::open(Some(&site), 7);
        pool.folder = Some(folder);
        pool
    }

    pub(crate) fn open(site: Option<&Path>, seed: u64) -> Self {
        // Without a site file, the built-in site with the scene `pool`.
        let scene = site.is_none().then_some("pool");
        let editor = Editor::open(site, scene).unwrap_or_else(|problems| panic!("{problems}"));
        let params = SimulationParams {
            seed,
            ..SimulationParams::default()
        };
        let simulation = Simulation::new(&editor.site().description(), &params).unwrap();
        Self {
            desk: Desk::new(editor),
            simulation,
            visitors: Observation::default(),
            folder: None,
        }
    }

    pub(crate) fn site(&self) -> PathBuf {
        self.folder.as_ref().unwrap().path().join("site.toml")
    }

    pub(crate) fn try_command(&mut self, command: Value) -> Result<(), Problems> {
        let command: PoolCommand =
            serde_json::from_value(command.clone()).unwrap_or_else(|e| panic!("{e}: {command}"));
        self.desk.apply_to(&command, &mut self.simulation)
    }

    pub(crate) fn command(&mut self, command: Value) {
        self.try_command(command.clone())
            .unwrap_or_else(|problems| panic!("{command} was rejected: {problems}"));
    }

    pub(crate) fn edit(&mut self, document: &str, path: &str, change: Value) {
        self.command(edit(document, path, change));
    }

    pub(crate) fn set(&mut self, document: &str, path: &str, value: Value) {
        self.command(set(document, path, value));
    }

    pub(crate) fn step(&mut self) {
        self.simulation.run_tick(&self.visitors);
    }

    pub(crate) fn run(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.step();
        }
    }

    /// Replaces all visitors by one visitor. It has stood still for `still_secs`; if this is 0, it moves at 1 m/s.
    pub(crate) fn visitor(&mut self, at: Vec2, still_secs: f32) {
        let velocity_mps = if still_secs > 0.0 {
            Vec2::ZERO
        } else {
            Vec2::X
        };
        self.visitors.shadows = vec![Visitor {
            id: 1,
            centroid_m: at,
            foot_m: at,
            radius_m: 0.3,
            velocity_mps,
            area_m2: 0.28,
            age_secs: 10.0,
            still_secs: f64::from(still_secs),
            ..Visitor::default()
        }];
    }

    /// Returns the indices of all individuals of a species.
    pub(crate) fn all(&self, species: &str) -> Vec<usize> {
        let world = self.simulation.world();
        (0..world.agents.len())
            .filter(|&i| world.species[usize::from(world.agents.species[i])].name == species)
            .collect()
    }

    pub(crate) fn count(&self, species: &str) -> usize {
        self.all(species).len()
    }

    pub(crate) fn id(&self, index: usize) -> u32 {
        self.simulation.world().agents.ids[index]
    }

    pub(crate) fn index(&self, id: u32) -> Option<usize> {
        self.simulation.world().agents.ids.binary_search(&id).ok()
    }

    pub(crate) fn does(&self, index: usize, action: &str) -> bool {
        self.simulation
            .active_actions(index)
            .any(|name| name == action)
    }

    /// Returns the number of individuals of a species that execute an action.
    pub(crate) fn doing(&self, species: &str, action: &str) -> usize {
        let all = self.all(species);
        all.iter().filter(|&&i| self.does(i, action)).count()
    }

    pub(crate) fn place(&mut self, index: usize, at: Vec3) {
        assert!(self.simulation.place(index, at, Vec3::X));
    }

    /// Returns the name and the text of every document.
    pub(crate) fn texts(&self) -> Vec<(DocumentName, String)> {
        let editor = self.desk.editor();
        let text = |name: DocumentName| {
            let text = editor.text(&name).unwrap().to_owned();
            (name, text)
        };
        editor.documents().into_iter().map(text).collect()
    }

    /// Returns the configuration of the running pool and the parsed documents as one text. Tests compare such texts.
    pub(crate) fn configured(&self) -> String {
        let world = self.simulation.world();
        let site = self.desk.editor().site();
        let mut counts = std::collections::BTreeMap::new();
        for kind in &world.agents.species {
            *counts.entry(*kind).or_insert(0) += 1;
        }
        format!(
            "{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}",
            site.file,
            site.scene,
            site.species
                .iter()
                .map(|s| (&s.name, s.count, &s.file))
                .collect::<Vec<_>>(),
            world.water,
            world.solids,
            world.species,
            world.director,
            counts,
        )
    }
}

/// Returns a document name as JSON. `name` is for example `site`, `scene:pool` or `species:trout`.
pub(crate) fn document(name: &str) -> Value {
    match name.split_once(':') {
        Some((kind, name)) => json!({"kind": kind, "name": name}),
        None => json!({"kind": name}),
    }
}

pub(crate) fn edit(name: &str, path: &str, change: Value) -> Value {
    json!({"command": "edit", "edits": [{"document": document(name), "path": path, "change": change}]})
}

/// Returns the command that sets one value.
pub(crate) fn set(name: &str, path: &str, value: Value) -> Value {
    edit(name, path, json!({"do": "set", "value": value}))
}
