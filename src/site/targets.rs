//! The targets of an effect of the director: species, groups and named individuals of a scene.

use std::collections::BTreeSet;

use super::files::{SceneFile, SpeciesFile};
use super::library::Library;
use crate::world::Effect;

impl Library {
    /// Returns all names by which the fish of one species of a scene can be addressed.
    fn names_of<'a>(
        &'a self,
        scene: &'a SceneFile,
        species: &'a str,
    ) -> impl Iterator<Item = &'a str> {
        let file: Option<&SpeciesFile> = (self.species.get(species))
            .and_then(|entry| entry.as_ref())
            .map(|entry| &entry.value);
        let groups = file.into_iter().flat_map(|file| &file.groups);
        let individuals = scene.individuals.iter();
        let own = individuals.filter(move |individual| individual.species == species);
        let of_individuals =
            own.flat_map(|individual| std::iter::once(&individual.name).chain(&individual.groups));
        std::iter::once(species).chain(groups.chain(of_individuals).map(String::as_str))
    }

    /// Returns the species of a scene of which an effect concerns at least one fish.
    pub(super) fn targets<'a>(
        &'a self,
        scene: &'a SceneFile,
        effect: &'a Effect,
    ) -> impl Iterator<Item = &'a String> {
        scene.population.keys().filter(move |species| {
            let is_named = |name: &str| effect.species().iter().any(|one| one == name);
            effect.species().is_empty() || self.names_of(scene, species).any(is_named)
        })
    }

    /// Returns all names that an effect can address in a scene.
    pub(super) fn target_names<'a>(&'a self, scene: &'a SceneFile) -> BTreeSet<&'a str> {
        let species = scene.population.keys();
        species
            .flat_map(|species| self.names_of(scene, species))
            .collect()
    }
}
