//! Computing time of the sound, as a share of one core.
//!
//! `cargo bench -p shoal-sound`

#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use cpu_time::ProcessTime;
use shoal_sound::sound::{Engine, Fall, Levels, SoundEvent, SoundKind, Waters};

const RATE_HZ: u32 = 48_000;
const SECS: usize = 60;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        // `cargo test --benches` runs this without `--bench` and only checks that the benchmark compiles.
        return;
    }
    let fall = |n: u8| Fall {
        at_m: [f32::from(n) - 1.0, 0.5],
        height_m: 0.4,
        width_m: 1.0,
    };
    println!("sound, {SECS} s at {RATE_HZ} Hz, share of one core:");
    for (name, speakers, falls, per_sec) in [
        ("a pond, 2 loudspeakers, 3 events/s", 2, 0, 3),
        ("a cascade, 2 loudspeakers, 6 events/s", 2, 6, 6),
        ("a cascade, 8 loudspeakers, 6 events/s", 8, 6, 6),
        ("a cascade, 8 loudspeakers, 60 events/s", 8, 6, 60),
    ] {
        let places: Vec<[f32; 2]> = (0..speakers)
            .map(|n| [f32::from(n as u8) - 3.5, 1.0])
            .collect();
        let mut engine = Engine::new(RATE_HZ, &places, 1);
        engine.set_levels(Levels::default());
        engine.set_waters(Waters::new(1.0, [2.0, 1.5], (0..falls).map(fall)));
        let mut out = vec![0.0; RATE_HZ as usize / 60 * speakers];
        let begun = ProcessTime::now();
        for frame in 0..SECS * 60 {
            if frame * per_sec / 60 != (frame + 1) * per_sec / 60 {
                let kinds = [
                    SoundKind::Splash,
                    SoundKind::Swish,
                    SoundKind::Step,
                    SoundKind::Gulp,
                ];
                engine.begin(SoundEvent {
                    kind: kinds[frame % 4],
                    at_m: [(frame % 7) as f32 - 3.0, 0.3],
                    strength: 0.8,
                    size_m: 0.05,
                });
            }
            engine.render(&mut out);
        }
        let share = begun.elapsed().as_secs_f64() / SECS as f64;
        println!("  {name}: {:.2} %", 100.0 * share);
    }
}
