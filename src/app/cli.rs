//! The command line: its commands with their help texts, and which function runs each. The options of a command are in its file in
//! `commands`.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

#[cfg(unix)]
use super::commands::CtlArguments;
use super::commands::{
    self, CalibrateArguments, CamerasArguments, CaptureWorkerArguments, CheckArguments,
    ChildGuardArguments, ClusterArguments, DemoArguments, ExplainArguments, GenerateArguments,
    LifeArguments, PlanArguments, PreviewArguments, RenderArguments, RunArguments,
    ScheduleArguments, SchemaArguments, SimulateArguments, SoundArguments, TrackArguments,
    TuneArguments, VisitorsArguments,
};
use crate::runtime::ensure_runtime_dir;

/// Arguments of the whole program.
#[derive(Debug, Parser)]
#[command(
    name = "shoal",
    version,
    about = "An interactive projection: a pool of living fish that visitors play with by their own shadow",
    after_help = "Without SITE.toml, every command uses the built-in demo site.\n\
                  `shoal help COMMAND` explains a command and shows an example.\n\
                  Exit codes: 0 done, 1 rejected with a reason, 2 wrong usage.",
    propagate_version = true
)]
pub(super) struct Arguments {
    /// Log level on standard error: error, warn, info, debug or trace
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn")]
    pub(super) log: tracing::Level,

    #[command(subcommand)]
    pub(super) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the installation: camera, fish, and pictures on the projectors
    #[command(after_help = "Example: shoal run my/site.toml --log info\n\
                            Ends with Escape and then Q, with Ctrl-C or SIGTERM. Changed files of the site are applied while it runs.")]
    Run(RunArguments),
    /// Ask a running instance for its status, send it commands, read its events
    #[cfg(unix)]
    #[command(after_help = commands::ctl_help())]
    Ctl(CtlArguments),
    /// Show the built-in pool with synthetic visitors, in a window or, without a display, as pictures in a folder
    #[command(after_help = "Example: shoal demo --windowed\n\
                            Example: shoal demo --out demo-output --seconds 5")]
    Demo(DemoArguments),
    /// Track the shadows of visitors in a camera source, and write the tracks to a file
    #[command(after_help = "Example: shoal track --camera file:walk.y4m --fast --out tracks.jsonl")]
    Track(TrackArguments),
    /// Simulate the fish without a picture, and write what each of them does to a file
    #[command(
        after_help = "Example: shoal simulate --shadows tracks.jsonl --seconds 20 --out agents.jsonl"
    )]
    Simulate(SimulateArguments),
    /// Simulate every scene with different visitors and seeds for a long time, and report what is wrong with the life in it
    #[command(
        after_help = "Example: shoal life my/site.toml --scenes pool,reef --minutes 5 --seeds 1\n\
                      Exits with 1 if it finds a problem."
    )]
    Life(LifeArguments),
    /// Search numbers of a species with which the life in a scene is as you wish
    #[command(after_help = commands::tune_help())]
    Tune(TuneArguments),
    /// Simulate the fish and render pictures without a window
    #[command(
        after_help = "Example: shoal render --shadows tracks.jsonl --seconds 20 --out pool.y4m"
    )]
    Render(RenderArguments),
    /// Simulate the fish and write what the pool sounds like to a file
    #[command(
        after_help = "Example: shoal sound --scene cascade --visitors walkers --seconds 60 --out cascade.wav\n\
                      The same synthesis, loudspeakers and levels as in `shoal run`. docs/sound.md says what is heard."
    )]
    Sound(SoundArguments),
    /// Look at one animal from above and from the side: resting, gliding, cruising, turning, climbing, sprinting
    #[command(after_help = "Example: shoal preview koi --out koi.png\n\
                            Example: shoal preview models/manta.glb --seconds 6 --out manta.y4m\n\
                            The arrow points to the nose. docs/models.md says how a model is built.")]
    Preview(PreviewArguments),
    /// Plan a set-up: what a camera above the surface would see of it, and what to change
    #[command(
        after_help = "Example: shoal plan --camera 640x480 --lens 68 --height 4.2 --surface 4x3\n\
                      `--lens` is the horizontal angle of view. If a data sheet names only the focal length: \
                      angle = 2 · atan(width of the sensor / 2 / focal length)."
    )]
    Plan(PlanArguments),
    /// Calibrate the camera with a table of measured points, and report how exact the calibration is
    #[command(
        after_help = "Example: shoal calibrate points.csv --camera-size 640x480 --surface 4x3 --lamp 0.2,4.2,-0.3 \
                      --out calibration.toml"
    )]
    Calibrate(CalibrateArguments),
    /// Check a site with its species, scenes and models, and report all problems
    #[command(after_help = "Example: shoal check my/site.toml")]
    Check(CheckArguments),
    /// Print what the installation shows on the next days: opening hours, holidays, changes of the clocks
    #[command(after_help = "Example: shoal schedule my/site.toml --days 21")]
    Schedule(ScheduleArguments),
    /// Print how many visitors came, how long they stayed, and where they were
    #[command(
        after_help = "Example: shoal visitors my/site.toml --from 2026-12-01 --to 2026-12-31 --csv > december.csv"
    )]
    Visitors(VisitorsArguments),
    /// Make, invite, list and revoke the machines of a hall: one pool on several machines
    #[command(after_help = "Example: shoal cluster invite right my/site.toml\n\
                            docs/hall.md explains a hall from the first machine to the replacement of one.")]
    Cluster(ClusterArguments),
    /// Explain a key, action, condition or effect of the configuration files, with its users and an example
    #[command(after_help = "Example: shoal explain evade_shadow\n\
                            Example: shoal explain evade_shadow.weight")]
    Explain(ExplainArguments),
    /// Print the JSON Schema of the configuration files, for text editors
    #[command(after_help = "Example: shoal schema species > species.schema.json\n\
                            With `#:schema ./species.schema.json` as the first line of a species file, Taplo and VS Code \
                            (Even Better TOML) complete keys, show their help and mark mistakes.")]
    Schema(SchemaArguments),
    /// List the cameras with their source names, formats, sizes, frame rates and controls
    #[command(after_help = "Example: shoal cameras\n\
                            The first line of each camera is what --camera and `camera.source` take.")]
    Cameras(CamerasArguments),
    /// List the monitors with name, position, size and refresh rate, as JSON lines
    #[command(after_help = "Example: shoal monitors\n\
                            `outputs.monitor` in a site file takes the name.")]
    Monitors,
    /// Write the man pages and the completions of shells, for a package
    #[command(hide = true)]
    Generate(GenerateArguments),
    /// Read one camera and write its frames to standard output, until standard input is closed (started by Shoal itself)
    #[command(hide = true)]
    CaptureWorker(CaptureWorkerArguments),
    /// Run a camera program and end it when standard input closes
    #[command(hide = true)]
    ChildGuard(ChildGuardArguments),
}

/// Runs a command. `words` is the command line without the name of the program.
pub(super) fn dispatch(command: Command, words: &[OsString]) -> anyhow::Result<ExitCode> {
    if matches!(
        command,
        Command::Run(_) | Command::Demo(_) | Command::Render(_) | Command::Preview(_)
    ) {
        ensure_runtime_dir();
    }
    match command {
        Command::Run(arguments) => commands::run(arguments, words),
        #[cfg(unix)]
        Command::Ctl(arguments) => commands::ctl(arguments),
        Command::Demo(arguments) => commands::demo(arguments),
        Command::Track(arguments) => commands::track(&arguments),
        Command::Simulate(arguments) => commands::simulate(arguments),
        Command::Life(arguments) => commands::life(&arguments),
        Command::Tune(arguments) => commands::tune(&arguments),
        Command::Render(arguments) => commands::render(&arguments),
        Command::Sound(arguments) => commands::sound(&arguments),
        Command::Preview(arguments) => commands::preview(&arguments),
        Command::Plan(arguments) => commands::plan(&arguments),
        Command::Calibrate(arguments) => commands::calibrate(arguments),
        Command::Check(arguments) => commands::check(&arguments),
        Command::Schedule(arguments) => commands::schedule(&arguments),
        Command::Visitors(arguments) => commands::visitors(&arguments),
        Command::Generate(arguments) => commands::generate(&arguments, Arguments::command()),
        Command::Cluster(arguments) => commands::cluster(arguments),
        Command::Explain(arguments) => commands::explain(&arguments),
        Command::Schema(arguments) => commands::schema(&arguments),
        Command::Cameras(arguments) => commands::cameras(&arguments),
        Command::Monitors => commands::monitors(),
        Command::CaptureWorker(arguments) => commands::capture_worker(&arguments),
        Command::ChildGuard(arguments) => commands::child_guard(&arguments),
    }
}

#[cfg(test)]
mod tests;
