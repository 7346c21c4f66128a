//! The command `shoal preview`: its options, and what it runs.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::arguments::seconds;
use super::keep_inputs;
use crate::app::offscreen::{PictureOutput, RenderOptions, render_offscreen};
use crate::app::preview::Preview;
use crate::runtime::{print_message, stop_on_signals, text_output};
use crate::site::animal;

/// Height of the picture.
const HEIGHT_PX: u32 = 720;
/// Pictures per second of a film, and of the animation before a sheet.
const FPS: f64 = 30.0;

/// `shoal preview`.
#[derive(Debug, Args)]
pub(in crate::app) struct PreviewArguments {
    /// A species, or the .glb file of a model
    #[arg(value_name = "SPECIES|FILE.glb")]
    animal: String,
    /// Site whose species are meant; default: the built-in species
    #[arg(long, value_name = "SITE.toml")]
    site: Option<PathBuf>,
    /// Duration of the film in seconds; a sheet shows its end
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = seconds)]
    seconds: f64,
    /// Output: a sheet FILE.png, a film FILE.y4m, or a folder for 00000.png and so on
    #[arg(long, value_name = "FILE.png|FILE.y4m|DIR")]
    out: PathBuf,
}

pub(in crate::app) fn preview(arguments: &PreviewArguments) -> anyhow::Result<ExitCode> {
    let animal =
        animal(arguments.site.as_deref(), &arguments.animal).map_err(anyhow::Error::msg)?;
    let is_file = arguments
        .animal
        .ends_with(".glb")
        .then(|| PathBuf::from(&arguments.animal));
    keep_inputs(
        [Some(&arguments.out)],
        [is_file.as_deref(), arguments.site.as_deref()],
    )?;
    let stop = stop_on_signals()?;
    let mut preview = Preview::new(animal);
    write!(text_output(), "{}", preview.description())?;
    let setup = preview.setup(HEIGHT_PX);
    let options = RenderOptions {
        fps: FPS,
        seconds: arguments.seconds,
        outputs: vec![PictureOutput {
            path: arguments.out.clone(),
            every: 1,
        }],
    };
    let advance = |snapshot: &mut _| {
        preview.advance(snapshot);
        Ok(())
    };
    render_offscreen(&options, setup, advance, &stop)?;
    print_message(&format!("written: {}", arguments.out.display()));
    Ok(ExitCode::SUCCESS)
}
