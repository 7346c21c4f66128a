//! Species that extend other species: the texts of all species, the chain of texts that each of them extends, and what an edit of
//! an inherited value must write.
//!
//! In: texts by name. Out: parsed species with everything that they inherit. Must not: read files.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::builtin::SPECIES;
use super::files::{SPECIES_RULES, SpeciesFile};
use super::source::{Entry, SourceText};
use crate::config::{
    self, PathSegment, Problem, TextChange, ValuePath, is_toml, parse_extending, suggestion,
    top_level_text, whole_table,
};

/// Most species that extend each other in a chain. A longer chain is probably a mistake.
const CHAIN_MAX: usize = 8;

/// The texts of all species by name.
#[derive(Clone, Debug, Default)]
pub(super) struct SpeciesTexts(BTreeMap<String, Arc<SourceText>>);

impl FromIterator<(String, Arc<SourceText>)> for SpeciesTexts {
    fn from_iter<I: IntoIterator<Item = (String, Arc<SourceText>)>>(texts: I) -> Self {
        Self(texts.into_iter().collect())
    }
}

impl SpeciesTexts {
    /// Names of all species.
    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// Replaces or removes a text.
    pub(super) fn replace(&mut self, name: &str, text: Option<SourceText>) {
        match text {
            Some(text) => self.0.insert(name.to_owned(), Arc::new(text)),
            None => self.0.remove(name),
        };
    }

    /// Whether a species is `base`, or extends it directly or indirectly.
    pub(super) fn depends_on(&self, name: &str, base: &str) -> bool {
        let mut current = name.to_owned();
        for _ in 0..=CHAIN_MAX {
            if current == base {
                return true;
            }
            let text = self.0.get(&current);
            match text.and_then(|text| top_level_text(&text.text, "extends")) {
                Some(next) => current = next,
                None => return false,
            }
        }
        false
    }

    /// Returns the texts that a species extends, the nearest first, as (text, file).
    ///
    /// # Errors
    /// A message, if a text does not exist or is not valid TOML, or if the species extend each other in a circle.
    fn bases(&self, name: &str) -> Result<Vec<(&str, &str)>, String> {
        let mut chain = vec![name.to_owned()];
        let mut bases = Vec::new();
        let mut text = self.0.get(name).map(Arc::as_ref);
        while let Some(next) = text.and_then(|text| top_level_text(&text.text, "extends")) {
            if chain.contains(&next) {
                chain.push(next);
                return Err(format!(
                    "the species extend each other in a circle: {}; remove one extends",
                    chain.join(" → ")
                ));
            }
            if chain.len() > CHAIN_MAX {
                return Err(format!(
                    "more than {CHAIN_MAX} species extend each other: {} …; extend one of the first instead",
                    chain.join(" → ")
                ));
            }
            let Some(base) = self.0.get(&next) else {
                let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
                let meant = suggestion(&next, known.iter().copied());
                return Err(format!(
                    "there is no species \"{next}\"; existing: {}{meant}",
                    known.join(", ")
                ));
            };
            if !is_toml(&base.text) {
                return Err(format!("{} is not valid TOML; correct it first", base.file));
            }
            bases.push((base.text.as_str(), base.file.as_str()));
            chain.push(next);
            text = Some(base);
        }
        Ok(bases)
    }

    /// Parses a species with everything that it inherits, and adds its problems to `problems`. `None` if there is no usable
    /// value.
    pub(super) fn parse(
        &self,
        name: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<Arc<Entry<SpeciesFile>>> {
        let own = self.0.get(name).filter(|text| !text.is_unusable())?;
        let bases = match self.bases(name) {
            Ok(bases) => bases,
            Err(message) => {
                let (read, found) = config::parse_lenient::<SpeciesFile>(&own.text, &own.file);
                match read {
                    Some((_, spans)) => problems.push(spans.problem("extends", message)),
                    // The file has problems of its own. They may be consequences of the missing base.
                    None => {
                        problems.push(Problem {
                            path: "extends".into(),
                            ..Problem::of_file(own.file.clone(), message)
                        });
                        problems.extend(found.0.into_iter().filter(|_| !is_toml(&own.text)));
                    }
                }
                return None;
            }
        };
        let (read, found) = parse_extending(&own.text, &own.file, &bases, &SPECIES_RULES);
        problems.extend(found.0);
        let (value, spans) = read?;
        Some(Arc::new(Entry {
            value,
            spans,
            is_built_in: own.is_built_in,
        }))
    }

    /// Returns the table of a species with everything that it inherits, if its own text is `text`. `None` if a text is invalid.
    pub(super) fn whole(&self, name: &str, text: &str) -> Option<toml::Table> {
        let bases = self.bases(name).ok()?;
        let mut whole = whole_table(text, &bases, &SPECIES_RULES)?;
        whole.remove("extends");
        whole.remove("own_needs");
        Some(whole)
    }
}

/// Returns a built-in species with everything that it inherits; `None` if there is no such species.
pub fn built_in_species(name: &str) -> Option<SpeciesFile> {
    let text = |(name, text): &(&str, &str)| {
        let text = SourceText::built_in(text, format!("built-in species/{name}.toml"));
        ((*name).to_owned(), Arc::new(text))
    };
    let texts: SpeciesTexts = SPECIES.iter().map(text).collect();
    let entry = texts.parse(name, &mut Vec::new())?;
    Some(entry.value.clone())
}

/// Rewrites changes of a species that extends another one, so that they apply to its own text: an inherited need is changed by
/// its name, and an inherited list is copied before one of its items changes. The paths of `changes` refer to the whole species.
pub(super) fn changes_of_own_text(
    texts: &SpeciesTexts,
    name: &str,
    text: &str,
    changes: Vec<(ValuePath, TextChange)>,
) -> Vec<(ValuePath, TextChange)> {
    let own: toml::Table = text.parse().unwrap_or_default();
    let whole = texts
        .whole(name, text)
        .filter(|_| own.contains_key("extends"));
    let Some(whole) = whole.and_then(|whole| serde_json::to_value(whole).ok()) else {
        return changes;
    };
    // The own text after the changes so far, as far as it concerns needs and lists.
    let mut own = serde_json::to_value(own).unwrap_or_default();
    let key = |key: &str| ValuePath(vec![PathSegment::Key(key.into())]);
    let mut has_own_needs = own["own_needs"] == true;
    let names = own["needs"].as_array().into_iter().flatten();
    let mut own_needs: Vec<Value> = names.map(|need| need["name"].clone()).collect();
    let mut new = Vec::new();
    for (path, change) in changes {
        let mut own_path = path.clone();
        if path.0.first() == Some(&PathSegment::Key("needs".into())) && !has_own_needs {
            let is_inside = path.0.len() > 2;
            let name = match path.0.get(1).filter(|_| is_inside) {
                Some(PathSegment::Item(index)) => &whole["needs"][*index]["name"],
                _ => &Value::Null,
            };
            if name.is_null() {
                // The order or the number of needs changes, which only a list of its own can express.
                has_own_needs = true;
                new.push((key("own_needs"), TextChange::Set(true.into())));
                new.push((key("needs"), TextChange::Set(whole["needs"].clone())));
            } else {
                let place = own_needs.iter().position(|own| own == name);
                let place = place.unwrap_or_else(|| {
                    // At the beginning, where no new need stands before it: a new need belongs before the need that follows it.
                    let value = serde_json::json!({ "name": name });
                    let index = Some(0);
                    match own["needs"].as_array_mut() {
                        Some(needs) => needs.insert(0, value.clone()),
                        None => own["needs"] = Value::Array(vec![value.clone()]),
                    }
                    new.push((key("needs"), TextChange::Insert { index, value }));
                    own_needs.insert(0, name.clone());
                    0
                });
                own_path.0[1] = PathSegment::Item(place);
            }
        }
        if let Some(length) = length_of_list_path(&path, &change)
            && !(has_own_needs && path.0.first() == Some(&PathSegment::Key("needs".into())))
            && value_at(&own, &own_path.0[..length]).is_none()
            && let Some(list) = value_at(&whole, &path.0[..length])
        {
            let list_path = ValuePath(own_path.0[..length].to_vec());
            if let Some(place) = place_at(&mut own, &list_path.0) {
                *place = list.clone();
            }
            new.push((list_path, TextChange::Set(list.clone())));
        }
        new.push((own_path, change));
    }
    new
}

/// Returns the number of segments of the path of the list that a change modifies; `None` if it modifies no item of a list, or
/// only the list of needs.
fn length_of_list_path(path: &ValuePath, change: &TextChange) -> Option<usize> {
    let is_in_needs = path.0.first() == Some(&PathSegment::Key("needs".into()));
    let skip = if is_in_needs { 2 } else { 0 };
    let is_item = |segment: &PathSegment| matches!(segment, PathSegment::Item(_));
    let item = path.0.iter().skip(skip).position(is_item);
    let whole = matches!(change, TextChange::Insert { .. }).then_some(path.0.len());
    item.map(|position| position + skip)
        .or(whole)
        .filter(|&length| length > usize::from(is_in_needs))
}

fn value_at<'v>(root: &'v Value, path: &[PathSegment]) -> Option<&'v Value> {
    path.iter().try_fold(root, |value, segment| match segment {
        PathSegment::Key(key) => value.get(key),
        PathSegment::Item(index) => value.get(index),
    })
}

/// Returns the place of a value, and creates the tables around it.
fn place_at<'v>(root: &'v mut Value, path: &[PathSegment]) -> Option<&'v mut Value> {
    path.iter().try_fold(root, |value, segment| match segment {
        PathSegment::Key(key) => {
            if value.is_null() {
                *value = Value::Object(serde_json::Map::new());
            }
            Some(value.as_object_mut()?.entry(key).or_insert(Value::Null))
        }
        PathSegment::Item(index) => value.get_mut(index),
    })
}
