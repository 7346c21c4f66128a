//! Finds the known name that is most similar to an unknown name, for messages with "did you mean".

/// Longest name that is compared, in characters. A longer name is not a typing mistake, and its comparison would take
/// too long.
const LENGTH_MAX: usize = 64;

/// Returns the candidate that differs from `word` by the fewest edits: insert, delete or replace a character, or swap two
/// neighbors. Upper and lower case count as equal. `None` if more than a third of the characters differ.
///
/// **Source**: optimal string alignment distance (Damerau 1964).
pub fn nearest_name<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if word.chars().count() > LENGTH_MAX {
        return None;
    }
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::osa_distance(&word, &c.to_lowercase()), c))
        .filter(|(edits, c)| *edits <= (c.chars().count().max(3)) / 3)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_mistake_gets_a_suggestion() {
        let known = ["width_m", "height_m", "kind"];
        assert_eq!(nearest_name("widht_m", known), Some("width_m"));
        assert_eq!(nearest_name("Kind", known), Some("kind"));
        assert_eq!(nearest_name("heigth", known), None);
        assert_eq!(nearest_name("banana", known), None);
        assert_eq!(nearest_name("", known), None);
        assert_eq!(nearest_name(&"x".repeat(100_000), known), None);
    }
}
