use proptest::prelude::*;

use super::*;
use crate::sound::{Fall, SoundKind, gain_from_db};

const RATE_HZ: u32 = 48_000;
const STEREO: [[f32; 2]; 2] = [[-2.0, 0.0], [2.0, 0.0]];

fn event(kind: SoundKind, x: f32) -> SoundEvent {
    SoundEvent {
        kind,
        at_m: [x, 0.0],
        strength: 1.0,
        size_m: 0.05,
    }
}

/// An engine whose pool is faded in.
fn open(bed: f32) -> Engine {
    let mut engine = Engine::new(RATE_HZ, &STEREO, 7);
    engine.set_levels(Levels {
        bed,
        ..Levels::default()
    });
    let fall = Fall {
        at_m: [1.0, 0.0],
        height_m: 0.4,
        width_m: 1.0,
    };
    engine.set_waters(Waters::new(1.0, [2.0, 1.5], [fall]));
    engine.render(&mut vec![0.0; 2 * 5 * RATE_HZ as usize]);
    engine
}

fn seconds(engine: &mut Engine, secs: f32) -> Vec<f32> {
    let mut out = vec![0.0; 2 * (secs * RATE_HZ as f32) as usize];
    engine.render(&mut out);
    out
}

/// Roots of the mean squares of left and right.
fn powers(samples: &[f32]) -> [f32; 2] {
    [0, 1].map(|channel| {
        let own = samples.iter().skip(channel).step_by(2);
        let sum: f32 = own.map(|sample| sample * sample).sum();
        (sum / (samples.len() / 2) as f32).sqrt()
    })
}

fn peak(samples: &[f32]) -> f32 {
    samples.iter().fold(0.0, |peak, s| peak.max(s.abs()))
}

#[test]
fn the_same_seed_gives_the_same_samples_in_pieces_of_any_size() {
    let run = |piece: usize| {
        let mut engine = open(1.0);
        engine.begin(event(SoundKind::Splash, 1.0));
        let mut samples = vec![0.0; 2 * 20_000];
        for part in samples.chunks_mut(piece) {
            engine.render(part);
        }
        samples
    };
    let whole = run(40_000);
    for piece in [2, 14, 128, 1000] {
        assert!(run(piece) == whole, "{piece}");
    }
}

#[test]
fn a_dark_pool_is_digital_silence_and_an_open_one_is_not() {
    let mut engine = open(1.0);
    assert!(powers(&seconds(&mut engine, 1.0))[0] > 1e-3);
    engine.set_levels(Levels {
        is_heard: false,
        ..Levels::default()
    });
    seconds(&mut engine, FADE_SECS + 0.1);
    for kind in [SoundKind::Splash, SoundKind::Step] {
        engine.begin(event(kind, 0.0));
    }
    assert_eq!(peak(&seconds(&mut engine, 1.0)), 0.0);
    engine.set_levels(Levels::default());
    assert!(peak(&seconds(&mut engine, 4.0)) > 1e-3);
}

/// A pool that became dark while sound was switched off was heard for a moment when it was switched on.
#[test]
fn a_dark_pool_stays_silent_when_sound_is_switched_on() {
    let mut engine = open(1.0);
    let levels = |is_heard, is_muted| Levels {
        is_heard,
        is_muted,
        ..Levels::default()
    };
    engine.set_levels(levels(true, true));
    seconds(&mut engine, 1.0);
    assert_eq!(peak(&seconds(&mut engine, 0.1)), 0.0);
    engine.set_levels(levels(false, true));
    seconds(&mut engine, 1.0);
    engine.set_levels(levels(false, false));
    engine.test(0);
    let tone = seconds(&mut engine, 2.0);
    assert!(tone.iter().skip(1).step_by(2).all(|right| *right == 0.0));
    assert!(peak(&tone) > 0.1);
    assert_eq!(peak(&seconds(&mut engine, 1.0)), 0.0);
}

#[test]
fn a_leap_is_heard_within_80_ms_on_its_side() {
    for (x, near) in [(-1.8, 0), (1.8, 1)] {
        let mut engine = open(0.0);
        let before = powers(&seconds(&mut engine, 0.08))[near];
        engine.begin(event(SoundKind::Splash, x));
        let after = powers(&seconds(&mut engine, 0.08));
        let far = 1 - near;
        assert!(after[near] > 20.0 * before.max(1e-3), "{before} {after:?}");
        // 12 dB
        assert!(after[near] > 4.0 * after[far], "{after:?}");
    }
}

#[test]
fn every_event_is_heard_and_ends() {
    for kind in [
        SoundKind::Splash,
        SoundKind::Gulp,
        SoundKind::Swish,
        SoundKind::Step,
    ] {
        let mut engine = open(0.0);
        engine.begin(event(kind, 0.0));
        let loudest = peak(&seconds(&mut engine, 1.0));
        assert!(
            (0.02..=Levels::default().limit).contains(&loudest),
            "{kind:?} {loudest}"
        );
        seconds(&mut engine, 3.0);
        // Single bubbles of the bed have no level here.
        assert!(peak(&seconds(&mut engine, 1.0)) < 1e-4, "{kind:?}");
    }
}

#[test]
fn a_change_of_volume_makes_no_step() {
    let mut engine = open(0.0);
    engine.test(0);
    let largest_step = |samples: &[f32]| {
        let left: Vec<f32> = samples.iter().step_by(2).copied().collect();
        left.windows(2)
            .fold(0.0_f32, |most, w| most.max((w[1] - w[0]).abs()))
    };
    let usual = largest_step(&seconds(&mut engine, 0.3));
    engine.set_levels(Levels {
        volume: 0.1,
        bed: 0.0,
        ..Levels::default()
    });
    assert!(largest_step(&seconds(&mut engine, 0.3)) < 1.1 * usual);
}

fn any_number() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -3.0_f32..3.0,
        1 => prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(-1e30), Just(0.0), Just(1e-40)],
    ]
}

fn any_event() -> impl Strategy<Value = SoundEvent> {
    let kind = prop_oneof![
        Just(SoundKind::Splash),
        Just(SoundKind::Gulp),
        Just(SoundKind::Swish),
        Just(SoundKind::Step)
    ];
    (kind, any_number(), any_number(), any_number(), any_number()).prop_map(
        |(kind, x, z, strength, size_m)| SoundEvent {
            kind,
            at_m: [x, z],
            strength,
            size_m,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever happens, however much at once, and whatever numbers come.
    #[test]
    fn no_event_exceeds_the_limit(
        events in prop::collection::vec((any_event(), 1_usize..40, 0_usize..2000), 1..30),
        (limit_db, volume, bed) in (-40.0_f32..0.0, any_number(), any_number()),
        fall in any_number(),
        seed in any::<u32>(),
    ) {
        let mut engine = Engine::new(RATE_HZ, &STEREO, seed);
        let limit = gain_from_db(limit_db);
        engine.set_levels(Levels { volume, bed, limit, ..Levels::default() });
        let fall = Fall { at_m: [fall, 1.0], height_m: fall.abs() * 10.0, width_m: 50.0 };
        engine.set_waters(Waters::new(4.0, [2.0, fall.at_m[0]], [fall; 12]));
        engine.render(&mut vec![0.0; 2 * 24_000]);
        for (event, times, wait) in events {
            for _ in 0..times {
                engine.begin(event);
            }
            let mut out = vec![0.0; 2 * wait];
            engine.render(&mut out);
            for sample in out {
                prop_assert!(sample.abs() <= limit, "{sample} {limit}");
            }
        }
    }
}
