//! What each key and each kind of table of the configuration files means, as text for designers.
//!
//! In: a name, such as `evade_shadow`, `evade_shadow.weight` or `look`. Out: meaning, unit, range, default, who uses it among the
//! shipped files, and a short example. Everything comes from the schemas and the shipped files.
//!
//! Must not: know any parameter.

mod editor_schema;
mod example;
mod markdown;
mod text;
mod tree;

pub use editor_schema::editor_schema;
pub use markdown::reference_pages;

use std::collections::BTreeMap;

use crate::config::nearest_name;
use text::Meaning;
use tree::{Node, nodes, shipped_uses};

/// Most meanings of one name that are explained in full. More are listed with their first sentence.
const FULL_MAX: usize = 6;

/// The nodes of all schemas that are explained alike, in the order of their first place.
fn meanings<'a>(found: &[&'a Node<'a>]) -> Vec<Meaning<'a>> {
    let mut all: Vec<Meaning<'a>> = Vec::new();
    for node in found {
        match all.iter_mut().find(|m| m.is_like(node)) {
            Some(meaning) => meaning.places.push(node),
            None => all.push(Meaning::new(node)),
        }
    }
    // The place with the shortest way is the usual one.
    for meaning in &mut all {
        meaning.places.sort_by_key(|node| node.steps.len());
    }
    all
}

/// Explains a name. `None` lists what can be explained.
///
/// # Errors
/// A message, if nothing has this name.
pub fn explain(name: Option<&str>) -> Result<String, String> {
    let schemas = super::schemas();
    let nodes = nodes(&schemas);
    let uses = shipped_uses(&schemas);
    let Some(name) = name else {
        return Ok(text::contents(&nodes));
    };
    let words: Vec<&str> = name
        .split('.')
        .map(|word| word.trim_matches(['[', ']', '"', ' ']))
        .filter(|word| !word.is_empty())
        .collect();
    let mut found: Vec<&Node<'_>> = nodes.iter().filter(|node| node.is_named(&words)).collect();
    if found.is_empty()
        && let [word] = words.as_slice()
    {
        found = nodes.iter().filter(|node| node.accepts(word)).collect();
    }
    if found.is_empty() && words.len() > 1 {
        found = nodes.iter().filter(|node| node.is_below(&words)).collect();
    }
    let all = meanings(&found);
    match all.as_slice() {
        [] => Err(unknown(name, &words, &nodes)),
        few if few.len() <= FULL_MAX => {
            let texts: Vec<String> = few.iter().map(|m| m.text(&uses)).collect();
            Ok(texts.join("\n"))
        }
        many => Ok(text::list(name, many)),
    }
}

/// Words of the panel and of everyday commands, each with the name that is explained.
const OTHER_WORDS: [(&str, &str); 3] = [
    ("event", "director"),
    ("rule", "director"),
    ("show", "director"),
];

fn unknown(name: &str, words: &[&str], nodes: &[Node<'_>]) -> String {
    let last = words.last().copied().unwrap_or_default();
    let known: BTreeMap<&str, ()> = nodes.iter().map(|node| (node.name(), ())).collect();
    let mut other_words = OTHER_WORDS.iter();
    let other = other_words.find(|(word, _)| *word == last.to_lowercase());
    let meant = other.map_or_else(
        || nearest_name(last, known.keys().copied()),
        |(_, name)| Some(*name),
    );
    let longer: Vec<&str> = known
        .keys()
        .copied()
        .filter(|name| name.contains(last))
        .collect();
    let hint = match meant {
        Some(near) => format!("; did you mean \"{near}\"?"),
        None if last.is_empty() || longer.is_empty() => String::new(),
        None => format!("; names that contain it: {}", longer.join(", ")),
    };
    format!(
        "no key, action, condition or effect is named \"{}\"{hint} (`shoal explain` lists them)",
        crate::config::visible(name)
    )
}

#[cfg(test)]
mod tests;
