//! `shoal generate`: writes the man pages and the completions of shells, for a package.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use clap_complete::Shell;

/// `shoal generate`.
#[derive(Debug, Args)]
pub(in crate::app) struct GenerateArguments {
    /// Folder for the man pages
    #[arg(long, value_name = "DIR")]
    man: Option<PathBuf>,
    /// Folder for the completions of bash, zsh and fish
    #[arg(long, value_name = "DIR")]
    completions: Option<PathBuf>,
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
    if let Some(folder) = &arguments.man {
        clap_mangen::generate_to(command, folder)
            .with_context(|| format!("{} cannot be written", folder.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
