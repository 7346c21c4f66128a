//! Commands and options of the command line.

use std::collections::BTreeSet;
use std::process::Command;

use super::texts;

/// Returns the help of a command.
fn help(words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shoal"));
    let output = command.args(words).arg("--help").output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the commands that a help lists, without `help` itself.
fn commands(help: &str) -> Vec<String> {
    let (_, list) = help.split_once("Commands:").unwrap_or_default();
    let (list, _) = list.split_once("\n\n").unwrap_or((list, ""));
    let names = list.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        (!name.is_empty() && name != "help").then(|| name.to_owned())
    });
    names.collect()
}

/// Returns the options that a help explains, without those that every command has.
fn options(help: &str) -> BTreeSet<&str> {
    let names = help.lines().filter_map(|line| {
        let text = line.trim_start();
        // `-o, --option <VALUE>`
        let long = match text.split_once(", ") {
            Some((short, long)) if short.len() == 2 => long,
            _ => text,
        };
        long.starts_with("--")
            .then(|| long.split([' ', '[']).next())?
    });
    names
        .filter(|name| !["--help", "--version", "--log"].contains(name))
        .collect()
}

/// Returns the examples in a help.
fn examples(help: &str) -> String {
    let is_example = |line: &&str| line.trim_start().starts_with("Example");
    help.lines()
        .filter(is_example)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Whether a text contains a word that no letter, digit or hyphen continues.
fn contains_word(text: &str, word: &str) -> bool {
    let continues = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '-');
    text.match_indices(word)
        .any(|(at, _)| !continues(&text[at + word.len()..]))
}

/// Adds the options of a command and of its own commands that `text` and the examples in the help do not contain.
fn add_without_user(words: &[&str], text: &str, found: &mut BTreeSet<String>) {
    let help = help(words);
    let name = words.join(" ");
    let text = format!("{text}\n{}", examples(&help));
    if !contains_word(&text, &format!("shoal {name}")) {
        found.insert(format!("command line: {name}"));
    }
    for option in options(&help) {
        if !contains_word(&text, option) {
            found.insert(format!("command line: {name} {option}"));
        }
    }
    for command in commands(&help) {
        let mut words = words.to_vec();
        words.push(&command);
        add_without_user(&words, &text, found);
    }
}

pub(super) fn without_user() -> BTreeSet<String> {
    let text = texts::documents() + &texts::scripts();
    let mut found = BTreeSet::new();
    for command in commands(&help(&[])) {
        add_without_user(&[&command], &text, &mut found);
    }
    found
}

#[test]
fn a_made_up_option_is_found() {
    let help = "Usage: shoal dive\n\nOptions:\n      --made-up <N>\n          Not --deep\n  -d, --deep\n  -h, --help\n\nExample: shoal dive --deep\n";
    let without: Vec<_> = options(help)
        .into_iter()
        .filter(|option| !contains_word(&examples(help), option))
        .collect();
    assert_eq!(without, ["--made-up"]);
    assert!(!contains_word("shoal dive --deeper", "--deep"));
}
