//! Paths to values inside a document: `actions.evade.flee_distance_m`, `needs[2].actions[0]`.
//!
//! In: text. Out: steps. Must not: know whether such a value exists.

use std::fmt;

/// Deepest path that is followed; no parameter lies deeper.
const STEPS_MAX: usize = 16;

/// One step down into a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Into the value of a key.
    Key(String),
    /// Into an item of a list, counted from 0.
    Item(usize),
}

/// The way from a document's root to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// Reads a path: names with points between them, `[n]` for the item n of a list, counted from 0, and quotation marks
    /// around a name that holds other characters than letters, digits, `_` and `-`.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refuse = |why: &str| {
            let shown: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
            Err(format!(
                "'{shown}' is no path: {why}; write it like needs[2].actions[0]"
            ))
        };
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if steps.len() == STEPS_MAX {
                return refuse("it is too deep");
            }
            if let Some(inner) = rest.strip_prefix('[') {
                let Some((number, after)) = inner.split_once(']') else {
                    return refuse("a ']' is missing");
                };
                match number.parse() {
                    Ok(index) => steps.push(Step::Item(index)),
                    Err(_) => return refuse("between '[' and ']' stands no whole number"),
                }
                rest = after;
                continue;
            }
            rest = match rest.strip_prefix('.') {
                Some("") => return refuse("a name is missing"),
                Some(after) if !steps.is_empty() => after,
                Some(_) => return refuse("it begins with a point"),
                None if steps.is_empty() => rest,
                None => return refuse("a point is missing"),
            };
            let (name, after) = if let Some(inner) = rest.strip_prefix('"') {
                match inner.split_once('"') {
                    Some(found) => found,
                    None => return refuse("a quotation mark is missing"),
                }
            } else {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
                let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
                if name.is_empty() {
                    return refuse("a name is missing");
                }
                (name, after)
            };
            steps.push(Step::Key(name.into()));
            rest = after;
        }
        if steps.is_empty() {
            return refuse("it is empty");
        }
        Ok(Self(steps))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            match step {
                Step::Item(index) => write!(f, "[{index}]")?,
                Step::Key(name) => {
                    if place > 0 {
                        f.write_str(".")?;
                    }
                    let is_bare = !name.is_empty()
                        && name
                            .chars()
                            .all(|c| c.is_alphanumeric() || c == '_' || c == '-');
                    if is_bare {
                        f.write_str(name)?;
                    } else {
                        write!(f, "\"{name}\"")?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_read_and_written() {
        let key = |name: &str| Step::Key(name.into());
        let path = Path::parse("needs[2].actions[0]").unwrap();
        assert_eq!(
            path.0,
            [key("needs"), Step::Item(2), key("actions"), Step::Item(0)]
        );
        for text in [
            "needs[2].actions[0]",
            "title",
            "population.\"koi, large\"",
            "at_m[1]",
        ] {
            assert_eq!(Path::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for (text, why) in [
            ("", "empty"),
            (".a", "begins with a point"),
            ("a..b", "a name is missing"),
            ("a.", "a name is missing"),
            ("a b", "a point is missing"),
            ("a[x]", "no whole number"),
            ("a[1", "']' is missing"),
            ("a[-1]", "no whole number"),
            ("a.\"b", "quotation mark"),
        ] {
            let message = Path::parse(text).expect_err(text);
            assert!(message.contains(why), "{text}: {message}");
        }
        assert!(Path::parse(&"a.".repeat(100)).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}") {
            if let Ok(path) = Path::parse(&text) {
                prop_assert_eq!(Path::parse(&path.to_string()), Ok(path));
            }
        }
    }
}
