//! Paths to values inside a document: `actions.evade.flee_distance_m`, `needs[2].actions[0]`.
//!
//! In: text. Out: path segments. Must not: check whether there is a value at the path.

use std::fmt;

/// Maximum number of segments of a path. No parameter is nested deeper.
const SEGMENTS_MAX: usize = 16;

/// One segment of a path. It leads one level down in a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathSegment {
    /// The value of a key.
    Key(String),
    /// An item of a list, by its index, counted from 0.
    Item(usize),
}

/// The path from the root of a document to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValuePath(pub Vec<PathSegment>);

impl ValuePath {
    /// Parses a path: names separated by points, and `[n]` for item `n` of a list, counted from 0. A name that
    /// contains characters other than letters, digits, `_` and `-` must be in quotation marks.
    ///
    /// # Errors
    /// A message that says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let reject = |why: &str| {
            let shown: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
            Err(format!(
                "\"{shown}\" is not a path: {why}; write it like needs[2].actions[0]"
            ))
        };
        let mut segments = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if segments.len() == SEGMENTS_MAX {
                return reject("it is too deep");
            }
            if let Some(inner) = rest.strip_prefix('[') {
                let Some((number, after)) = inner.split_once(']') else {
                    return reject("a closing bracket is missing");
                };
                match number.parse() {
                    Ok(index) => segments.push(PathSegment::Item(index)),
                    Err(_) => return reject("the text in brackets is not a whole number"),
                }
                rest = after;
                continue;
            }
            rest = match rest.strip_prefix('.') {
                Some("") => return reject("a name is missing"),
                Some(after) if !segments.is_empty() => after,
                Some(_) => return reject("it starts with a point"),
                None if segments.is_empty() => rest,
                None => return reject("a point is missing"),
            };
            let (name, after) = if let Some(inner) = rest.strip_prefix('"') {
                match inner.split_once('"') {
                    Some(found) => found,
                    None => return reject("a quotation mark is missing"),
                }
            } else {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
                let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
                if name.is_empty() {
                    return reject("a name is missing");
                }
                (name, after)
            };
            segments.push(PathSegment::Key(name.into()));
            rest = after;
        }
        if segments.is_empty() {
            return reject("it is empty");
        }
        Ok(Self(segments))
    }
}

impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            match segment {
                PathSegment::Item(item) => write!(f, "[{item}]")?,
                PathSegment::Key(name) => {
                    if index > 0 {
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
    fn paths_are_parsed_and_displayed() {
        let key = |name: &str| PathSegment::Key(name.into());
        let path = ValuePath::parse("needs[2].actions[0]").unwrap();
        assert_eq!(
            path.0,
            [
                key("needs"),
                PathSegment::Item(2),
                key("actions"),
                PathSegment::Item(0)
            ]
        );
        for text in [
            "needs[2].actions[0]",
            "title",
            "population.\"koi, large\"",
            "at_m[1]",
        ] {
            assert_eq!(ValuePath::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn invalid_paths_are_rejected() {
        for (text, why) in [
            ("", "empty"),
            (".a", "starts with a point"),
            ("a..b", "a name is missing"),
            ("a.", "a name is missing"),
            ("a b", "a point is missing"),
            ("a[x]", "not a whole number"),
            ("a[1", "closing bracket is missing"),
            ("a[-1]", "not a whole number"),
            ("a.\"b", "quotation mark"),
        ] {
            let message = ValuePath::parse(text).unwrap_err();
            assert!(message.contains(why), "{text}: {message}");
        }
        assert!(ValuePath::parse(&"a.".repeat(100)).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in "\\PC{0,40}") {
            if let Ok(path) = ValuePath::parse(&text) {
                prop_assert_eq!(ValuePath::parse(&path.to_string()), Ok(path));
            }
        }
    }
}
