//! The command `shoal tune`: its options, and what it runs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::Context as _;
use clap::Args;

use super::keep_inputs;
use crate::app::tune::{Found, Search};
use crate::config::{self, Problems};
use crate::control::DocumentName;
use crate::files::{OutputKind, check_output, save_file};
use crate::life::Figure;
use crate::runtime::{print_message, processor_secs, stop_on_signals, text_output};
use crate::site::{self, Editor};
use crate::tuning::{Comparison, Task, TuningFile, Verdict, unified};

/// `shoal tune`.
#[derive(Debug, Args)]
pub(in crate::app) struct TuneArguments {
    /// Tuning file: scene, species, genes and wishes
    #[arg(value_name = "TUNING.toml")]
    file: PathBuf,
    /// Site file; default: the one that the tuning file names, or the built-in demo site
    #[arg(long, value_name = "SITE.toml")]
    site: Option<PathBuf>,
    /// Write the found numbers into the species file, if they are better on unseen seeds; without this, they are only printed
    #[arg(long)]
    apply: bool,
    /// Write the difference of the species file to a file that `patch` and `git apply` read
    #[arg(long, value_name = "D.diff")]
    out: Option<PathBuf>,
    /// Only check the tuning file, and print the range of each gene
    #[arg(long, conflicts_with_all = ["apply", "out"])]
    check: bool,
    /// Number of generations; default: that of the tuning file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    generations: Option<u32>,
    /// Number of runs at the same time; default: the number of processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Seed of the candidates; another seed tries other candidates
    #[arg(long, value_name = "K", default_value_t = 1)]
    seed: u64,
}

/// Help text after the options: a tuning file, and all figures.
pub(in crate::app) fn tune_help() -> String {
    let names: Vec<String> = Figure::ALL.iter().map(|figure| figure.name()).collect();
    format!(
        "A tuning file:\n\n\
         \x20 scene = \"aquarium\"\n\
         \x20 species = \"herring\"\n\
         \x20 visitors = [\"none\", \"walkers\"]\n\
         \x20 [[genes]]\n\
         \x20 key = \"actions.school.weight\"   # from a quarter to four times the present value, or from = and to =\n\
         \x20 [[wishes]]\n\
         \x20 figure = \"polarization\"\n\
         \x20 at_least = 0.8\n\
         \x20 visitors = \"none\"\n\n\
         It searches the numbers of the genes with which the simulated life fulfills the wishes, compares them with the present numbers \
         on seeds that the search has not seen, and prints the difference of the species file. Ctrl-C prints the best so far.\n\
         `shoal explain NAME` explains a key. Figures: {}.\n\
         Example: shoal tune herring.toml --check\n\
         Example: shoal tune herring.toml --site my/site.toml --apply\n\
         docs/tuning.md says more. Exits with 1 if the found numbers are not better.",
        names.join(", ")
    )
}

/// Searches, and prints what was found. Returns exit code 0 if the found numbers are better, otherwise 1.
///
/// # Errors
/// When the tuning file or the site is invalid, or an output cannot be written.
pub(in crate::app) fn tune(arguments: &TuneArguments) -> anyhow::Result<ExitCode> {
    let text =
        config::read_text(&arguments.file).map_err(|problem| anyhow::anyhow!("{problem}"))?;
    let opened =
        open(arguments, &text).map_err(|problems| explained(&problems, &arguments.file, &text))?;
    let Opened {
        site,
        editor,
        mut task,
    } = opened;
    let mut out = text_output();
    if arguments.check {
        for gene in &task.genes {
            writeln!(out, "{}", gene.described())?;
        }
        writeln!(out, "{}: no problems", arguments.file.display())?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.apply && site.is_none() {
        anyhow::bail!(
            "--apply: the built-in species cannot be changed; copy the folder of a site, and name its file with --site SITE.toml"
        );
    }
    keep_inputs(
        [arguments.out.as_deref()],
        [Some(arguments.file.as_path()), site.as_deref()],
    )?;
    if let Some(path) = &arguments.out {
        check_output(path, OutputKind::File)
            .with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    task.file.generations = arguments.generations.unwrap_or(task.file.generations);
    let stop = stop_on_signals()?;
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let search = Search {
        task: &task,
        editor: &editor,
        jobs: arguments.jobs.map_or(available, usize::from),
        seed: arguments.seed,
        stop: &stop,
    };
    let found = search.run()?;
    let is_stopped = stop.load(Ordering::Relaxed);
    let result = SpeciesResult::new(&editor, &task, (&found, site.as_deref()))?;
    if let Some(comparison) = &found.comparison {
        writeln!(out, "{comparison}\n")?;
    } else if is_stopped {
        writeln!(
            out,
            "stopped: the best numbers so far, not compared on unseen seeds\n"
        )?;
    }
    writeln!(out, "{}", result.text(&task))?;
    writeln!(
        out,
        "{} runs, {:.0} minutes of simulated life, {} s of processor time",
        found.runs,
        found.simulated_secs / 60.0,
        processor_secs().map_or("?".to_owned(), |secs| format!("{secs:.0}"))
    )?;
    if let Some(path) = &arguments.out {
        save_file(path, result.difference.as_bytes())
            .with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    let verdict = found.comparison.as_ref().map(Comparison::verdict);
    let is_better = verdict == Some(Verdict::Better);
    if arguments.apply {
        result.apply(verdict)?;
    } else if is_better {
        writeln!(out, "{}", how_to_look(&task, site.as_deref()))?;
    }
    Ok(ExitCode::from(u8::from(!is_better)))
}

/// A tuning file with its site.
struct Opened {
    site: Option<PathBuf>,
    editor: Editor,
    task: Task,
}

fn open(arguments: &TuneArguments, text: &str) -> Result<Opened, Problems> {
    let name = arguments.file.display().to_string();
    let (file, spans) = TuningFile::parse(text, &name)?;
    let beside = arguments.file.parent().unwrap_or(Path::new(""));
    let named = file.site.as_ref().map(|site| beside.join(site));
    let site = arguments.site.clone().or(named);
    let editor = Editor::open_suited(site.as_deref(), &file.scene).map_err(|mut problems| {
        // The tuning file names the scene, not an option.
        for problem in &mut problems.0 {
            if problem.file == "--scene" {
                *problem = spans.problem("scene", problem.message.clone());
            }
        }
        problems
    })?;
    let task = Task::new(file, &spans, &editor)?;
    Ok(Opened { site, editor, task })
}

/// Returns problems with the lines of the tuning file, as `shoal check` shows them.
fn explained(problems: &Problems, file: &Path, text: &str) -> anyhow::Error {
    let name = file.display().to_string();
    let lines = problems.0.iter().map(|problem| {
        let excerpt = problem.excerpt(text).filter(|_| problem.file == name);
        excerpt.map_or_else(
            || problem.to_string(),
            |excerpt| format!("{problem}\n{excerpt}"),
        )
    });
    anyhow::anyhow!("{}", lines.collect::<Vec<_>>().join("\n"))
}

/// The species file with the found numbers.
struct SpeciesResult {
    /// The file; `None` for the built-in site.
    path: Option<PathBuf>,
    before: String,
    after: String,
    difference: String,
}

impl SpeciesResult {
    fn new(
        editor: &Editor,
        task: &Task,
        (found, site): (&Found, Option<&Path>),
    ) -> anyhow::Result<Self> {
        let species = &task.file.species;
        let document = DocumentName::Species {
            name: species.clone(),
        };
        let tried = editor.with_numbers(species, &task.changes(&found.candidate));
        let (_, after) = tried.map_err(|problems| anyhow::anyhow!("{problems}"))?;
        let before = editor.text(&document).unwrap_or_default().to_owned();
        let path = site.and_then(|site| site::document_file(site, &document));
        let shown = path.as_ref().map_or_else(
            || format!("config/species/{species}.toml"),
            |path| path.display().to_string(),
        );
        Ok(Self {
            difference: unified(
                shown.trim_start_matches("./").trim_start_matches('/'),
                &before,
                &after,
            ),
            path,
            before,
            after,
        })
    }

    fn text(&self, task: &Task) -> String {
        if self.difference.is_empty() {
            return format!("{}: no other numbers", task.file.species);
        }
        self.difference.clone()
    }

    /// Writes the species file if the found numbers are better. `verdict` is `None` if they were not compared.
    fn apply(&self, verdict: Option<Verdict>) -> anyhow::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let name = path.display();
        let reason = match verdict {
            Some(Verdict::Better) => None,
            Some(_) => Some("the found numbers are not better on unseen seeds"),
            None => Some("the search was stopped before the comparison on unseen seeds"),
        };
        if let Some(reason) = reason {
            print_message(&format!("{name}: not changed, because {reason}"));
            return Ok(());
        }
        let now = path.exists().then(|| config::read_text(path)).transpose();
        let now = now.map_err(|problem| anyhow::anyhow!("{problem}"))?;
        if now.is_some_and(|now| now != self.before) {
            anyhow::bail!(
                "{name}: was changed while the search ran, so it is not written; apply the difference above by hand"
            );
        }
        save_file(path, self.after.as_bytes())
            .with_context(|| format!("{name}: cannot be written"))?;
        print_message(&format!("{name}: written"));
        Ok(())
    }
}

/// Says how to look at the scene with the present and with the found numbers.
fn how_to_look(task: &Task, site: Option<&Path>) -> String {
    let site = site.map_or(String::new(), |site| format!(" {}", site.display()));
    let program = task
        .programs
        .last()
        .map_or("none", |program| program.name());
    format!(
        "To compare by eye, run this before and after the change:\n  shoal render{site} --scene {} --visitors {program} --seconds 12 --fps 1 --size 1000x750 --out sheet.png",
        task.file.scene
    )
}
