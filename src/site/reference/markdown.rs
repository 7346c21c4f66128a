//! The explanations as Markdown pages, for the book.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::example::example;
use super::meanings;
use super::text::{
    Meaning, description, first_sentence, is_table, keys_of, limits, paragraphs, place,
};
use super::tree::{Node, Step, Use, inside, nodes, shipped_uses};

/// Kinds of tables that have a page of their own: the key that names the kind, and the title of the page.
const OWN_PAGES: [(&str, &str); 3] = [
    ("action", "Actions"),
    ("condition", "Conditions of the director"),
    ("effect", "Effects of the director"),
];

/// Name of the page of the commands.
const COMMANDS: &str = "commands";

/// Returns the pages of the reference: for each the name of its file, and its text. `commands` is the schema of the commands.
pub fn reference_pages(commands: &Value) -> Vec<(String, String)> {
    let schemas = crate::site::schemas();
    let uses = shipped_uses(&schemas);
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    add(&schemas, &uses, &mut pages);
    let commands = serde_json::json!({ COMMANDS: commands });
    add(&commands, &BTreeMap::new(), &mut pages);
    let files = pages.into_iter();
    files
        .map(|(name, text)| (format!("{name}.md"), text))
        .collect()
}

/// Adds the tables of these schemas to the pages.
fn add(schemas: &Value, uses: &BTreeMap<String, Vec<Use>>, pages: &mut BTreeMap<String, String>) {
    for (kind, root) in schemas.as_object().into_iter().flatten() {
        let text = pages.entry(kind.clone()).or_default();
        *text = title(kind);
        add_keys(text, root);
    }
    let all = nodes(schemas);
    let explained: Vec<&Node<'_>> = all.iter().filter(|node| is_explained(node)).collect();
    for meaning in meanings(&explained) {
        let Some(node) = meaning.places.first() else {
            continue;
        };
        let (page, heading) = page_and_heading(node);
        let text = pages.entry(page.to_owned()).or_insert_with(|| title(page));
        add_meaning(text, &heading, &meaning, uses);
    }
}

/// Whether a node has a section of its own: tables and lists of tables with keys, and kinds of tables.
fn is_explained(node: &Node<'_>) -> bool {
    let is_variant = matches!(node.steps.last(), Some((Step::Variant(..), _)));
    is_variant || is_table(node.schema()) && !keys_of(node.schema()).is_empty()
}

/// The title of a page.
fn title(page: &str) -> String {
    let own = OWN_PAGES.iter().find(|(tag, _)| *tag == page);
    let title = match (own, page) {
        (Some((_, title)), _) => (*title).to_owned(),
        (None, COMMANDS) => "Commands".to_owned(),
        (None, kind) => {
            let mut letters = kind.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>() + " files"
        }
    };
    format!("# {title}\n\nWritten by `shoal generate --reference`. [All pages](README.md)\n")
}

/// The page of a node, and its heading: the names on the way below the page.
fn page_and_heading<'a>(node: &Node<'a>) -> (&'a str, String) {
    let mut page = node.kind;
    let mut names = Vec::new();
    for (step, _) in &node.steps {
        match step {
            Step::Variant(tag, name) if OWN_PAGES.iter().any(|(own, _)| own == tag) => {
                page = tag;
                names = vec![*name];
            }
            Step::Key(name) | Step::Variant(_, name) => names.push(*name),
            Step::Item | Step::Chosen => {}
        }
    }
    (page, names.join("."))
}

fn add_meaning(
    text: &mut String,
    heading: &str,
    meaning: &Meaning<'_>,
    uses: &BTreeMap<String, Vec<Use>>,
) {
    let Some(node) = meaning.places.first() else {
        return;
    };
    let _ = writeln!(text, "\n## {heading}\n");
    match node.schema().get("x-role").and_then(Value::as_str) {
        Some(role) => {
            let _ = writeln!(text, "Role: `{role}`.\n");
        }
        None if node.kind == COMMANDS => {}
        None => {
            let places: Vec<String> = meaning.places.iter().map(|node| place(node)).collect();
            let _ = writeln!(text, "In {}.\n", places.join("; ").replace('[', "\\["));
        }
    }
    let sentences = paragraphs(description(node.schema()));
    let sentences: Vec<String> = sentences.iter().map(|paragraph| plain(paragraph)).collect();
    let _ = writeln!(text, "{}", sentences.join("\n\n"));
    add_keys(text, node.schema());
    let is_own = matches!(node.steps.last(), Some((Step::Variant(tag, _), _))
        if OWN_PAGES.iter().any(|(own, _)| own == tag));
    if !is_own {
        return;
    }
    let _ = writeln!(text, "\n{}", plain(&meaning.users(uses)));
    if let Some(example) = example(node, uses) {
        let _ = writeln!(text, "\n```toml\n{}\n```", example.trim_end());
    }
}

/// Adds the table of the keys.
fn add_keys(text: &mut String, schema: &Value) {
    let keys = keys_of(schema);
    if keys.is_empty() {
        return;
    }
    text.push_str("\n| key | values | meaning |\n|---|---|---|\n");
    for (name, schema) in keys {
        let meaning = match is_table(schema) || inside(schema).len() > 1 {
            true => first_sentence(description(schema)),
            false => paragraphs(description(schema)).join(" "),
        };
        let _ = writeln!(
            text,
            "| `{name}` | {} | {} |",
            plain(&limits(schema)),
            plain(&meaning)
        );
    }
}

/// A text without what Markdown would read as marks of a table or a link.
fn plain(text: &str) -> String {
    text.replace('|', "\\|")
        .replace("[`", "`")
        .replace("`]", "`")
}
