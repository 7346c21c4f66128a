//! 'Did you mean …': the known name nearest to one that is not known.

/// Longer names are not compared: nobody mistypes them, and a hostile file shall not cost time.
const LENGTH_MAX: usize = 64;

/// The candidate that fewest single-character edits (insert, delete, replace, swap of neighbors) away from `word`;
/// `None` when even that one differs in more than a third of its letters.
///
/// **Source**: optimal string alignment distance (Damerau 1964).
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.chars().count() > LENGTH_MAX {
        return None;
    }
    candidates
        .into_iter()
        .map(|c| (distance(word, c), c))
        .filter(|(edits, c)| *edits <= (c.chars().count().max(3)) / 3)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, c)| c)
}

fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (
        a.to_lowercase().chars().collect(),
        b.to_lowercase().chars().collect(),
    );
    // Three rows of the table are enough: the one before the last is needed for swaps.
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        let known = ["width_m", "height_m", "kind"];
        assert_eq!(nearest("widht_m", known), Some("width_m"));
        assert_eq!(nearest("Kind", known), Some("kind"));
        assert_eq!(nearest("heigth", known), None);
        assert_eq!(nearest("banana", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest(&"x".repeat(100_000), known), None);
    }

    #[test]
    fn distances() {
        assert_eq!(distance("abc", "acb"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
