use std::path::{Path, PathBuf};

use super::*;

#[test]
fn the_definition_of_the_command_line_is_valid() {
    Arguments::command().debug_assert();
}

/// The pages whose command lines are tried.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

/// The words of a command line up to a comment or a redirection.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '#' | '>' | '<' | '|' | '&' | ';') if word.is_none() => return words,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Every command line `shoal …` in the README and in the book has a meaning. None is executed.
#[test]
fn the_command_lines_of_the_book_are_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    pages(&root.join("docs"), &mut found);
    let mut count = 0;
    for page in found {
        let text = std::fs::read_to_string(&page).unwrap();
        let blocks = text.split("```").skip(1).step_by(2);
        let lines = blocks
            .filter_map(|block| block.split_once('\n'))
            .filter(|(language, _)| ["sh", "console", "text"].contains(language))
            .flat_map(|(language, block)| block.lines().map(move |line| (language, line)));
        for (language, line) in lines {
            let line = match (language, line.strip_prefix("$ ")) {
                (_, Some(line)) => line,
                ("text", None) => continue,
                (_, None) => line,
            };
            let line = line.strip_prefix("sudo -u shoal ").unwrap_or(line);
            if !line.starts_with("shoal ") {
                continue;
            }
            count += 1;
            if let Err(error) = Arguments::try_parse_from(words(line)) {
                panic!("{}: {line}\n{error}", page.display());
            }
        }
    }
    assert!(count > 40, "{count}");
}
