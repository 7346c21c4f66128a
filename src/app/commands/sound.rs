//! The command `shoal sound`: its options, and what it runs.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::Context as _;
use clap::Args;

use super::arguments::{PoolArguments, SiteArguments, seconds};
use super::keep_inputs;
use crate::app::listener::{Listener, waters};
use crate::app::site_setup::{load_site, simulation};
use crate::app::visitor_source::VisitorSource;
use crate::files::{OutputKind, check_output};
use crate::runtime::{print_message, stop_on_signals};
use crate::sound::{Engine, WavWriter, db_from_gain};
use crate::world::Snapshot;

/// Rate of the samples of the file.
const RATE_HZ: u32 = 48_000;

/// `shoal sound`.
#[derive(Debug, Args)]
pub(in crate::app) struct SoundArguments {
    #[command(flatten)]
    site: SiteArguments,
    #[command(flatten)]
    pool: PoolArguments,
    /// Simulated time in seconds
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: f64,
    /// Output: a WAV file with a channel for each loudspeaker of the site
    #[arg(long, value_name = "FILE.wav")]
    out: PathBuf,
}

pub(in crate::app) fn sound(arguments: &SoundArguments) -> anyhow::Result<ExitCode> {
    let pool = &arguments.pool;
    let site = load_site(arguments.site.site.as_deref(), pool.scene.as_deref())?;
    keep_inputs(
        [Some(&arguments.out)],
        [pool.shadows.as_deref(), arguments.site.site.as_deref()],
    )?;
    let cannot = || format!("{}: the sound cannot be written", arguments.out.display());
    check_output(&arguments.out, OutputKind::File).with_context(cannot)?;
    let stop = stop_on_signals()?;
    let mut visitors = VisitorSource::open(
        pool.shadows.as_deref(),
        pool.visitors(),
        &site.file.surface,
        (pool.seed, arguments.seconds),
        &stop,
    )?;
    let mut simulation = simulation(&site, pool.seed, pool.threads)?;
    let half_m = site.file.surface.half_extent_m().to_array();
    let speakers: Vec<_> = (site.file.sound.all_speakers(half_m).iter())
        .map(|speaker| speaker.at_m)
        .collect();
    let mut engine = Engine::new(RATE_HZ, &speakers, pool.seed as u32);
    engine.set_levels(site.file.sound.levels(true, 0.0));
    engine.set_waters(waters(&site));
    let mut listener = Listener::new(&site.file.surface);
    let file = std::fs::File::create(&arguments.out).with_context(cannot)?;
    let file = std::io::BufWriter::new(file);
    let mut writer = WavWriter::new(file, engine.channels(), RATE_HZ).with_context(cannot)?;
    let mut snapshot = Snapshot::default();
    let (mut samples, mut frames) = (Vec::new(), 0);
    let (mut events, mut peak) = (0_u64, 0.0_f32);
    while simulation.time_secs() < arguments.seconds && !stop.load(Ordering::Relaxed) {
        let reached_secs = simulation.time_secs() + simulation.dt_secs();
        simulation.run_tick(visitors.at(reached_secs)?);
        simulation.snapshot(&mut snapshot);
        listener.listen(&snapshot, &mut |event| {
            events += 1;
            engine.begin(event);
        });
        let until = (simulation.time_secs() * f64::from(RATE_HZ)).round() as usize;
        samples.resize((until - frames) * engine.channels(), 0.0);
        engine.render(&mut samples);
        frames = until;
        peak = samples
            .iter()
            .fold(peak, |peak, sample| peak.max(sample.abs()));
        writer.write(&samples).with_context(cannot)?;
    }
    writer.finish().with_context(cannot)?;
    print_message(&format!(
        "{:.1} s for {} loudspeakers, {events} events, largest sample {:.1} dB: {}",
        frames as f64 / f64::from(RATE_HZ),
        engine.channels(),
        db_from_gain(peak),
        arguments.out.display()
    ));
    Ok(ExitCode::SUCCESS)
}
