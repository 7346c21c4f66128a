//! Who lives in the scenes of a site: species, named individuals, and the members of each group. Rules, relations and fields use these
//! names.
//!
//! In: the files of a site. Out: text. Must not: check anything.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::files::SceneFile;
use super::library::Library;

/// Returns the names in all scenes of a site, or in the built-in ones, as text.
pub fn inhabitants(site: Option<&Path>) -> String {
    let library = Library::read(site, &mut Vec::new());
    let mut text = String::new();
    for (name, scene) in &library.scenes {
        if let Some(scene) = scene {
            write_scene(&mut text, name, &scene.value, &library);
        }
    }
    text
}

fn write_scene(text: &mut String, name: &str, scene: &SceneFile, library: &Library) {
    let _ = writeln!(text, "scene {name}");
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (species, &count) in scene.population.iter().filter(|(_, count)| **count > 0) {
        let file = library.species.get(species).and_then(Option::as_ref);
        for group in file.iter().flat_map(|file| &file.value.groups) {
            groups.entry(group).or_default().push(species.clone());
        }
        let own = scene
            .individuals
            .iter()
            .filter(|one| one.species == *species);
        let named: Vec<&str> = own
            .clone()
            .take(count as usize)
            .map(|one| one.name.as_str())
            .collect();
        let named = match named.as_slice() {
            [] => String::new(),
            named => format!(", among them {}", named.join(", ")),
        };
        let _ = writeln!(text, "  {count} {species}{named}");
        for one in own.take(count as usize) {
            for group in &one.groups {
                groups.entry(group).or_default().push(one.name.clone());
            }
        }
    }
    for (group, members) in groups {
        let _ = writeln!(text, "  group {group}: {}", members.join(", "));
    }
    let places = scene.pool.areas.iter().map(|area| area.name.as_str());
    let places: Vec<&str> = places.filter(|name| !name.is_empty()).collect();
    if !places.is_empty() {
        let _ = writeln!(text, "  places: {}", places.join(", "));
    }
    let rules: Vec<&str> = scene
        .director
        .iter()
        .map(|rule| rule.name.as_str())
        .collect();
    if !rules.is_empty() {
        let _ = writeln!(text, "  rules: {}", rules.join("; "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_message;

    /// A fixed bug: nothing listed the members of a group.
    #[test]
    fn the_members_of_groups_and_the_named_individuals_are_listed() {
        let text = inhabitants(None);
        let (_, lagoon) = text.split_once("scene lagoon\n").unwrap();
        let (lagoon, _) = lagoon.split_once("scene ").unwrap();
        assert_message(
            lagoon,
            &[
                " trout, among them Old Speckle",
                "  group elders: Old Speckle",
                "  group hunters: shark",
                "  rules: ",
            ],
        );
    }
}
