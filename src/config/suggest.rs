//! Finds the known name that is most similar to an unknown name, for messages with "did you mean".

/// Longest name that is compared, in characters. A longer name is not a typing mistake, and its comparison would take
/// too long.
const LENGTH_MAX: usize = 64;

/// Shortest name of which a longer word without a separator is a form, in bytes.
const FORM_LENGTH_MIN: usize = 4;

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

/// Returns the end of a message about a rejected word: the candidate that is probably meant; empty if there is none.
pub fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    meant(word, candidates).map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}

/// Returns the candidate that a word probably means: the most similar one, the only one that begins with the word (`tue`), or the
/// one whose file the word names (`scenes/koi.toml`).
fn meant<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(near) = nearest_name(word, candidates.iter().copied()) {
        return Some(near);
    }
    let file = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let stem = file.split('.').next().unwrap_or(file);
    if stem != word
        && let Some(near) = nearest_name(stem, candidates.iter().copied())
    {
        return Some(near);
    }
    let start = stem.to_lowercase();
    // A longer form of the name: `de_DE`, `climbing`.
    let is_form = |name: &str| {
        let rest = start.strip_prefix(&name.to_lowercase());
        let is_long = name.len() >= FORM_LENGTH_MIN;
        rest.is_some_and(|rest| is_long || !rest.starts_with(char::is_alphanumeric))
    };
    let begins = |name: &str, start: &str| name.to_lowercase().starts_with(start);
    if let Some(name) = candidates.iter().find(|name| is_form(name)) {
        // If other names begin like this one, it says too little: `visitors` is not what `visitors_near` means.
        let start = name.to_lowercase();
        let like = candidates.iter().filter(|name| begins(name, &start));
        return Some(*name).filter(|_| like.count() == 1);
    }
    let mut longer = candidates
        .into_iter()
        .filter(|name| start.len() >= 2 && begins(name, &start));
    longer.next().filter(|_| longer.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::rows;

    #[test]
    fn a_file_and_the_begin_of_a_name_get_a_suggestion() {
        let known = [
            "de",
            "koi",
            "monday",
            "tuesday",
            "thursday",
            "simple_school",
            "climb",
            "visitors",
            "visitors_together",
        ];
        let table = "
            koi.toml | koi
            scenes/Koi.toml | koi
            tue | tuesday
            de_DE | de
            Mon. | monday
            simple | simple_school
            t |
            th | thursday
            tu | tuesday
            climbing | climb
            visitors_near |
            visitors_togethr | visitors_together
            shark.toml |";
        for [word, wanted] in rows(table) {
            assert_eq!(meant(&word, known).unwrap_or_default(), wanted, "{word}");
        }
    }

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
