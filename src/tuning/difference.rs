//! The difference of two texts, as `diff -u` writes it.

/// Number of unchanged lines around a change.
const CONTEXT: usize = 3;
/// Most lines of a text whose longest common subsequence is searched. Larger texts are compared as a whole.
const LINES_MAX: usize = 5000;

/// A line of the difference: kept, removed or added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'t> {
    Kept(&'t str),
    Removed(&'t str),
    Added(&'t str),
}

/// Returns the difference of two texts in the unified format, which `patch` and `git apply` read. Empty if they are equal.
pub fn unified(file: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let lines = lines(&old, &new);
    let is_change = |index: usize| !matches!(lines[index], Line::Kept(_));
    let mut text = format!("--- a/{file}\n+++ b/{file}\n");
    let mut index = 0;
    while let Some(first) = (index..lines.len()).find(|&at| is_change(at)) {
        let begin = first.saturating_sub(CONTEXT);
        let mut last = first;
        while let Some(next) =
            (last + 1..lines.len().min(last + 2 * CONTEXT + 2)).find(|&at| is_change(at))
        {
            last = next;
        }
        let end = (last + 1 + CONTEXT).min(lines.len());
        text += &hunk(&lines, begin, end);
        index = end;
    }
    text
}

fn hunk(lines: &[Line<'_>], begin: usize, end: usize) -> String {
    let count = |part: &[Line<'_>], other: fn(&Line<'_>) -> bool| {
        part.iter().filter(|line| !other(line)).count()
    };
    let is_added = |line: &Line<'_>| matches!(line, Line::Added(_));
    let is_removed = |line: &Line<'_>| matches!(line, Line::Removed(_));
    let (before, own) = (&lines[..begin], &lines[begin..end]);
    let mut text = format!(
        "@@ -{},{} +{},{} @@\n",
        count(before, is_added) + 1,
        count(own, is_added),
        count(before, is_removed) + 1,
        count(own, is_removed)
    );
    for line in own {
        let (mark, line) = match line {
            Line::Kept(line) => (' ', line),
            Line::Removed(line) => ('-', line),
            Line::Added(line) => ('+', line),
        };
        text.push(mark);
        text += line;
        text.push('\n');
    }
    text
}

/// Returns all lines of both texts in order. **Source**: longest common subsequence (Wagner and Fischer 1974).
fn lines<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    if old.len().max(new.len()) > LINES_MAX {
        let removed = old.iter().map(|line| Line::Removed(line));
        return removed
            .chain(new.iter().map(|line| Line::Added(line)))
            .collect();
    }
    let width = new.len() + 1;
    // Length of the longest common subsequence of the ends of both texts.
    let mut common = vec![0_u16; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            found.push(Line::Kept(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len()
            && (j == new.len() || common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            found.push(Line::Removed(old[i]));
            i += 1;
        } else {
            found.push(Line::Added(new[j]));
            j += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_unified() {
        let before = "# head\na = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\ng = 7\nh = 8\ni = 9\nj = 10\nk = 11\n";
        let after = before
            .replace("b = 2", "b = 2.5 ")
            .replace("k = 11\n", "k = 11\nl = 12\n");
        let wanted = "--- a/x.toml\n+++ b/x.toml\n@@ -1,6 +1,6 @@\n # head\n a = 1\n-b = 2\n+b = 2.5 \n c = 3\n d = 4\n e = 5\n\
                      @@ -10,3 +10,4 @@\n i = 9\n j = 10\n k = 11\n+l = 12\n";
        assert_eq!(unified("x.toml", before, &after), wanted);
        assert_eq!(unified("x.toml", before, before), "");
    }
}
