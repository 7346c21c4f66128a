//! `shoal generate`: writes the man pages and the completions of shells, for a package, and the reference of the book.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use clap_complete::Shell;

use crate::panel::command_schema_with_roles;
use crate::site::reference_pages;

/// Width of the help of the commands on the page about the command line, in characters.
const WIDTH: usize = 100;

/// `shoal generate`.
#[derive(Debug, Args)]
pub(in crate::app) struct GenerateArguments {
    /// Folder for the man pages
    #[arg(long, value_name = "DIR")]
    man: Option<PathBuf>,
    /// Folder for the completions of bash, zsh and fish
    #[arg(long, value_name = "DIR")]
    completions: Option<PathBuf>,
    /// Folder for the pages of the reference
    #[arg(long, value_name = "DIR")]
    reference: Option<PathBuf>,
}

/// Writes the files for the command line that `command` defines.
pub(in crate::app) fn generate(
    arguments: &GenerateArguments,
    mut command: clap::Command,
) -> anyhow::Result<ExitCode> {
    if let Some(folder) = &arguments.completions {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            clap_complete::generate_to(shell, &mut command, "shoal", folder)
                .with_context(|| format!("{} cannot be written", folder.display()))?;
        }
    }
    if let Some(folder) = &arguments.reference {
        let program = ("program.md".to_owned(), program_page(&command));
        let mut pages = reference_pages(&command_schema_with_roles());
        pages.push(program);
        for (name, text) in pages {
            let file = folder.join(name);
            std::fs::write(&file, text)
                .with_context(|| format!("{} cannot be written", file.display()))?;
        }
    }
    if let Some(folder) = &arguments.man {
        clap_mangen::generate_to(command, folder)
            .with_context(|| format!("{} cannot be written", folder.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The help of the program and of all its commands as a page.
fn program_page(command: &clap::Command) -> String {
    let mut text = String::from(
        "# Command line\n\nWritten by `shoal generate --reference`. [All pages](README.md)\n",
    );
    let mut command = command.clone().term_width(WIDTH).bin_name("shoal");
    command.build();
    add_help(&mut text, &mut command);
    text
}

fn add_help(text: &mut String, command: &mut clap::Command) {
    let name = command.get_bin_name().unwrap_or_default().to_owned();
    let help = command.render_long_help().to_string();
    // Lines of blanks between the options.
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = writeln!(
        text,
        "\n## {name}\n\n```text\n{}\n```",
        lines.join("\n").trim()
    );
    for inner in command.get_subcommands_mut() {
        if !inner.is_hide_set() && inner.get_name() != "help" {
            add_help(text, inner);
        }
    }
}
