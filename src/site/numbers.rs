//! The numbers of a species, with their ranges, and species with other numbers.
//!
//! In: an editor. Out: paths and values of numbers; a scene in which a species has other numbers; the new text of the species file.
//! Must not: change a file.

use std::path::Path;

use serde_json::Value;

use super::editor::Editor;
use super::library::{Library, schema_of_kind};
use super::load::Site;
use crate::config::{Problems, tag_of, unit_of_field, variant_name};
use crate::control::{DocumentName, Edit, EditChange, PoolEdit};

/// A number of a species, as it applies: from the file, inherited, or the default.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeciesNumber {
    /// Path of the key: `actions.school.weight`.
    pub path: String,
    /// The value.
    pub value: f64,
    /// Smallest allowed value.
    pub least: f64,
    /// Largest allowed value.
    pub most: f64,
    /// Whether only whole numbers are allowed.
    pub is_whole: bool,
    /// Unit; `None` for a number without one.
    pub unit: Option<&'static str>,
}

impl Editor {
    /// Opens a site with one of its scenes, on a surface that suits the scene, as [`super::load_suited`] does.
    ///
    /// # Errors
    /// The same errors as [`super::load`].
    pub fn open_suited(site: Option<&Path>, scene: &str) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let mut library = Library::read(site, &mut problems);
        if let Some(problem) = library.unknown_scene_option(scene) {
            problems.insert(0, problem);
            return Err(Problems(problems));
        }
        library.suit(scene);
        Self::of_library(library, std::collections::BTreeMap::new(), problems)
    }

    /// Returns all numbers of a species that have a value. `None` if there is no such species.
    pub fn species_numbers(&self, species: &str) -> Option<Vec<SpeciesNumber>> {
        let entry = self.library.species.get(species)?.as_ref()?;
        // Through a text, so that numbers stay as short as they are in the files.
        let text = serde_json::to_string(&entry.value).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let name = DocumentName::Species {
            name: species.to_owned(),
        };
        let mut numbers = Vec::new();
        collect(schema_of_kind(&name), &value, "", &mut numbers);
        Some(numbers)
    }

    /// Returns the site in which numbers of a species have other values, and the text of the species file with these values. The
    /// editor does not change.
    ///
    /// # Errors
    /// All reasons why the site would be invalid.
    pub fn with_numbers(
        &self,
        species: &str,
        values: &[(String, Value)],
    ) -> Result<(std::sync::Arc<Site>, String), Problems> {
        let document = DocumentName::Species {
            name: species.to_owned(),
        };
        let mut tried = self.clone();
        if !values.is_empty() {
            let edit = |(path, value): &(String, Value)| Edit {
                document: document.clone(),
                path: path.clone(),
                change: EditChange::Set {
                    value: value.clone(),
                },
            };
            let edits = PoolEdit::Edit {
                edits: values.iter().map(edit).collect(),
                joins_last: false,
            };
            tried.apply(&edits.into(), &|_| None)?;
        }
        let text = tried.text(&document).unwrap_or_default().to_owned();
        Ok((std::sync::Arc::clone(tried.site()), text))
    }
}

/// Adds all numbers inside a value.
fn collect(schema: &Value, value: &Value, path: &str, numbers: &mut Vec<SpeciesNumber>) {
    let mut schema = schema;
    if let Some(variants) = schema.get("oneOf").and_then(Value::as_array) {
        let chosen = tag_of(variants).and_then(|tag| {
            let name = value.get(tag)?.as_str()?;
            variants.iter().find(|v| variant_name(v, tag) == Some(name))
        });
        let Some(chosen) = chosen else { return };
        schema = chosen;
    }
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let named = schema.get("properties").and_then(|keys| keys.get(key));
                if let Some(below) = named.or_else(|| schema.get("additionalProperties")) {
                    let point = if path.is_empty() { "" } else { "." };
                    collect(below, inner, &format!("{path}{point}{key}"), numbers);
                }
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                if let Some(below) = schema.get("items") {
                    collect(below, inner, &format!("{path}[{index}]"), numbers);
                }
            }
        }
        Value::Number(number) => {
            let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
            let field = path.rsplit('.').next().unwrap_or(path);
            let field = field.split('[').next().unwrap_or(field);
            numbers.push(SpeciesNumber {
                path: path.to_owned(),
                value: number.as_f64().unwrap_or_default(),
                least: bound("minimum").unwrap_or(f64::MIN),
                most: bound("maximum").unwrap_or(f64::MAX),
                is_whole: schema.get("type").and_then(Value::as_str) == Some("integer"),
                unit: unit_of_field(field),
            });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_numbers_of_a_species_are_found_with_their_ranges() {
        let editor = Editor::open(None, None).unwrap();
        let numbers = editor.species_numbers("herring").unwrap();
        let speed = numbers.iter().find(|n| n.path == "motion.cruise_mps");
        let speed = speed.unwrap();
        assert!(
            speed.least <= speed.value && speed.value <= speed.most,
            "{speed:?}"
        );
        assert_eq!(speed.unit, Some("m/s"));
        // An inherited action.
        assert!(
            numbers
                .iter()
                .any(|n| n.path == "actions.evade_shadow.weight")
        );
        assert!(
            numbers.iter().all(|n| n.least < n.most),
            "a number without a range"
        );
        assert!(editor.species_numbers("unicorn").is_none());
    }

    #[test]
    fn other_numbers_change_the_scene_and_a_copy_of_the_text_only() {
        let editor = Editor::open_suited(None, "aquarium").unwrap();
        let before = editor.site().description();
        let values = [("motion.cruise_mps".to_owned(), json!(0.31))];
        let (site, text) = editor.with_numbers("herring", &values).unwrap();
        let of = |site: &Site| site.species.iter().find(|s| s.name == "herring").cloned();
        assert_eq!(of(&site).unwrap().file.motion.cruise_mps, 0.31);
        assert!(text.contains("cruise_mps = 0.31"), "{text}");
        assert_eq!(editor.site().description(), before);
        assert_eq!(site.file.surface, editor.site().file.surface);
        let wrong = [("motion.cruise_mps".to_owned(), json!(900.0))];
        assert!(editor.with_numbers("herring", &wrong).is_err());
    }
}
