//! Species and scenes that extend others of their kind: the texts of all, the chain of texts that each of them extends, and what an
//! edit of an inherited value must write.
//!
//! In: texts by name. Out: parsed files with everything that they inherit. Must not: read files.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::builtin::SPECIES;
use super::files::{SceneFile, SpeciesFile};
use super::source::{Entry, SourceText};
use crate::config::{
    self, ExtendRules, KeyedList, PathSegment, Preset, Problem, TextChange, ValuePath, is_toml,
    parse_extending, suggestion, top_level_text, whole_table,
};

/// Most files that extend each other in a chain. A longer chain is probably a mistake.
const CHAIN_MAX: usize = 8;

/// A kind of file that can extend another file of its kind.
pub(super) trait Extending: JsonSchema + DeserializeOwned {
    /// Name of the kind in messages.
    const ONE: &'static str;
    /// The same for several files.
    const SEVERAL: &'static str;
    /// The list whose items are combined.
    const LIST: KeyedList;
    /// All rules, with the list.
    const RULES: ExtendRules;
}

/// How a species file changes the file that it extends.
impl Extending for SpeciesFile {
    const ONE: &'static str = "species";
    const SEVERAL: &'static str = "species";
    const LIST: KeyedList = KeyedList {
        list: "needs",
        key: "name",
        replaces: "own_needs",
        without: "without_needs",
    };
    const RULES: ExtendRules = ExtendRules {
        keyed_lists: &[Self::LIST],
        kind_keys: &["action"],
        presets: &[],
    };
}

/// How a scene file changes the file that it extends. The clarity of the water is a property of the pond, not of its light.
impl Extending for SceneFile {
    const ONE: &'static str = "scene";
    const SEVERAL: &'static str = "scenes";
    const LIST: KeyedList = KeyedList {
        list: "director",
        key: "name",
        replaces: "own_director",
        without: "without_rules",
    };
    const RULES: ExtendRules = ExtendRules {
        keyed_lists: &[Self::LIST],
        kind_keys: &["condition", "effect"],
        presets: &[
            Preset {
                table: "look",
                key: "light",
                sets: &[
                    "exposure",
                    "sun_tilt_deg",
                    "sun_heading_deg",
                    "sun_strength",
                    "sun_warmth",
                    "sky_strength",
                    "sky",
                    "caustics",
                    "haze",
                    "reflection",
                    "glow",
                ],
            },
            Preset {
                table: "look",
                key: "season",
                sets: &["litter"],
            },
        ],
    };
}

/// The texts of all files of one kind by name.
#[derive(Clone, Debug)]
pub(super) struct Texts<T>(BTreeMap<String, Arc<SourceText>>, PhantomData<T>);

impl<T> Default for Texts<T> {
    fn default() -> Self {
        Self(BTreeMap::new(), PhantomData)
    }
}

impl<T> FromIterator<(String, SourceText)> for Texts<T> {
    fn from_iter<I: IntoIterator<Item = (String, SourceText)>>(texts: I) -> Self {
        let texts = texts.into_iter().map(|(name, text)| (name, Arc::new(text)));
        Self(texts.collect(), PhantomData)
    }
}

impl<T: Extending> Texts<T> {
    /// Parses all files.
    pub(super) fn parse_all(
        &self,
        problems: &mut Vec<Problem>,
    ) -> BTreeMap<String, Option<Arc<Entry<T>>>> {
        (self.0.keys())
            .map(|name| (name.clone(), self.parse(name, problems)))
            .collect()
    }

    /// Gives a file a new text, or removes it, and parses it again in `entries` with all files that extend it.
    pub(super) fn replace_in(
        &mut self,
        entries: &mut BTreeMap<String, Option<Arc<Entry<T>>>>,
        name: &str,
        text: Option<SourceText>,
        problems: &mut Vec<Problem>,
    ) {
        self.replace(name, text);
        entries.remove(name);
        for other in self.0.keys().filter(|other| self.depends_on(other, name)) {
            entries.insert(other.clone(), self.parse(other, problems));
        }
    }

    /// Replaces or removes a text.
    fn replace(&mut self, name: &str, text: Option<SourceText>) {
        match text {
            Some(text) => self.0.insert(name.to_owned(), Arc::new(text)),
            None => self.0.remove(name),
        };
    }

    /// Whether a file is `base`, or extends it directly or indirectly.
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

    /// Returns the texts that a file extends, the nearest first, as (text, file).
    ///
    /// # Errors
    /// A message, if a text does not exist or is not valid TOML, or if the files extend each other in a circle.
    fn bases(&self, name: &str) -> Result<Vec<(&str, &str)>, String> {
        let mut chain = vec![name.to_owned()];
        let mut bases = Vec::new();
        let mut text = self.0.get(name).map(Arc::as_ref);
        while let Some(next) = text.and_then(|text| top_level_text(&text.text, "extends")) {
            if chain.contains(&next) {
                chain.push(next);
                return Err(format!(
                    "the {} extend each other in a circle: {}; remove one extends",
                    T::SEVERAL,
                    chain.join(" → ")
                ));
            }
            if chain.len() > CHAIN_MAX {
                return Err(format!(
                    "more than {CHAIN_MAX} {} extend each other: {} …; extend one of the first instead",
                    T::SEVERAL,
                    chain.join(" → ")
                ));
            }
            let Some(base) = self.0.get(&next) else {
                let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
                let meant = suggestion(&next, known.iter().copied());
                return Err(format!(
                    "there is no {} \"{next}\"; existing: {}{meant}",
                    T::ONE,
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

    /// Parses a file with everything that it inherits, and adds its problems to `problems`. `None` if there is no usable
    /// value.
    pub(super) fn parse(&self, name: &str, problems: &mut Vec<Problem>) -> Option<Arc<Entry<T>>> {
        let own = self.0.get(name).filter(|text| !text.is_unusable())?;
        let bases = match self.bases(name) {
            Ok(bases) => bases,
            Err(message) => {
                problems.push(config::problem_in(&own.text, &own.file, "extends", message));
                // Problems of a valid text may be consequences of the missing base.
                if !is_toml(&own.text) {
                    let (_, found) = config::parse_lenient::<T>(&own.text, &own.file);
                    problems.extend(found.0);
                }
                return None;
            }
        };
        let (read, found) = parse_extending(&own.text, &own.file, &bases, &T::RULES);
        problems.extend(found.0);
        let (value, spans) = read?;
        Some(Arc::new(Entry {
            value,
            spans,
            is_built_in: own.is_built_in,
        }))
    }

    /// Returns the table of a file with everything that it inherits, if its own text is `text`. `None` if a text is invalid.
    pub(super) fn whole(&self, name: &str, text: &str) -> Option<toml::Table> {
        let bases = self.bases(name).ok()?;
        let mut whole = whole_table(text, &bases, &T::RULES)?;
        whole.remove("extends");
        whole.remove(T::LIST.replaces);
        whole.remove(T::LIST.without);
        Some(whole)
    }
}

/// Returns a built-in species with everything that it inherits; `None` if there is no such species.
pub fn built_in_species(name: &str) -> Option<SpeciesFile> {
    let text = |(name, text): &(&str, &str)| {
        let text = SourceText::built_in(text, format!("built-in species/{name}.toml"));
        ((*name).to_owned(), text)
    };
    let texts: Texts<SpeciesFile> = SPECIES.iter().map(text).collect();
    let entry = texts.parse(name, &mut Vec::new())?;
    Some(entry.value.clone())
}

/// Rewrites changes of a file that extends another one, so that they apply to its own text: an inherited need or rule is changed by
/// its name, and an inherited list is copied before one of its items changes. The paths of `changes` refer to the whole file.
pub(super) fn changes_of_own_text<T: Extending>(
    texts: &Texts<T>,
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
    let KeyedList { list, replaces, .. } = T::LIST;
    // The own text after the changes so far, as far as it concerns its lists.
    let mut own = serde_json::to_value(own).unwrap_or_default();
    let key = |key: &str| ValuePath(vec![PathSegment::Key(key.into())]);
    let mut has_own_list = own[replaces] == true;
    let names = own[list].as_array().into_iter().flatten();
    let mut own_names: Vec<Value> = names.map(|item| item[T::LIST.key].clone()).collect();
    let mut new = Vec::new();
    for (path, change) in changes {
        let mut own_path = path.clone();
        if path.0.first() == Some(&PathSegment::Key(list.into())) && !has_own_list {
            let is_inside = path.0.len() > 2;
            let name = match path.0.get(1).filter(|_| is_inside) {
                Some(PathSegment::Item(index)) => &whole[list][*index][T::LIST.key],
                _ => &Value::Null,
            };
            if name.is_null() {
                // The order or the number of needs changes, which only a list of its own can express.
                has_own_list = true;
                new.push((key(replaces), TextChange::Set(true.into())));
                new.push((key(list), TextChange::Set(whole[list].clone())));
            } else {
                let place = own_names.iter().position(|own| own == name);
                let place = place.unwrap_or_else(|| {
                    // At the beginning, where no new need stands before it: a new need belongs before the need that follows it.
                    let value = serde_json::json!({ T::LIST.key: name });
                    let index = Some(0);
                    match own[list].as_array_mut() {
                        Some(items) => items.insert(0, value.clone()),
                        None => own[list] = Value::Array(vec![value.clone()]),
                    }
                    new.push((key(list), TextChange::Insert { index, value }));
                    own_names.insert(0, name.clone());
                    0
                });
                own_path.0[1] = PathSegment::Item(place);
            }
        }
        if let Some(length) = length_of_list_path(&path, &change, list)
            && !(has_own_list && path.0.first() == Some(&PathSegment::Key(list.into())))
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
/// only the list `combined`.
fn length_of_list_path(path: &ValuePath, change: &TextChange, combined: &str) -> Option<usize> {
    let is_in_combined = path.0.first() == Some(&PathSegment::Key(combined.into()));
    let skip = if is_in_combined { 2 } else { 0 };
    let is_item = |segment: &PathSegment| matches!(segment, PathSegment::Item(_));
    let item = path.0.iter().skip(skip).position(is_item);
    let whole = matches!(change, TextChange::Insert { .. }).then_some(path.0.len());
    item.map(|position| position + skip)
        .or(whole)
        .filter(|&length| length > usize::from(is_in_combined))
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
