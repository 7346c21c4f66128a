//! What an event consists of: bursts of water, bubbles, showers of drops.
//!
//! Levels are those at full volume. They were tuned by the measured peaks and the spectrograms: a splash of a large fish is the loudest,
//! a step is a few decibels above the bed.

use super::bubble::BubbleSpec;
use super::burst::BurstSpec;
use super::event::{SoundEvent, SoundKind};
use super::noise::Random;
use super::shower::ShowerSpec;
use super::speakers::Speakers;
use super::voices::Voices;

/// Adds the parts of an event.
pub(super) fn begin(
    event: &SoundEvent,
    speakers: &Speakers,
    voices: &mut Voices,
    random: &mut Random,
) {
    match event.kind {
        SoundKind::Splash => splash(event, speakers, voices, random),
        SoundKind::Gulp => gulp(event, speakers, voices, random),
        SoundKind::Swish => swish(event, speakers, voices, random),
        SoundKind::Step => step(event, speakers, voices, random),
    }
}

/// Share of the size of a body that its cavity of air has.
const CAVITY_SHARE: f32 = 0.11;

/// A slap of water, spray, the plop of the cavity that closes behind the body, and drops that fall back.
fn splash(event: &SoundEvent, speakers: &Speakers, voices: &mut Voices, random: &mut Random) {
    let (at_m, strength, size_m) = (event.at_m, event.strength, event.size_m);
    let gains = speakers.gains(at_m);
    // A body of 5 cm radius is a salmon.
    let large = (size_m / 0.05).clamp(0.3, 3.0);
    let loud = strength * large.powf(0.5);
    let burst = BurstSpec {
        from_hz: random.between(1500.0, 2200.0) / large.powf(0.4),
        to_hz: 420.0 / large.powf(0.4),
        width: 1.3,
        level: 0.34 * loud,
        attack_secs: 0.002,
        decay_secs: 0.05 + 0.03 * large,
        wait_secs: 0.0,
        gains,
    };
    voices.burst(&burst, random);
    let spray = BurstSpec {
        from_hz: 4200.0,
        to_hz: 1800.0,
        width: 1.6,
        level: 0.10 * loud,
        attack_secs: 0.02,
        decay_secs: 0.22,
        wait_secs: 0.012,
        ..burst
    };
    voices.burst(&spray, random);
    let radius_m = (CAVITY_SHARE * size_m).clamp(0.003, 0.016) * random.between(0.85, 1.2);
    let plop = BubbleSpec {
        radius_m,
        level: 0.42 * loud,
        rise: 0.22,
        attack_secs: 0.004,
        wait_secs: random.between(0.025, 0.05),
        gains,
    };
    voices.bubble(&plop);
    voices.bubble(&BubbleSpec {
        radius_m: 0.62 * radius_m,
        level: 0.5 * plop.level,
        wait_secs: plop.wait_secs + random.between(0.04, 0.09),
        ..plop
    });
    voices.shower(&ShowerSpec {
        at_m,
        reach_m: 0.1 + 0.25 * strength,
        per_sec: 30.0 + 130.0 * strength,
        decay_secs: 0.15 + 0.25 * strength,
        radius_m: [0.0008, 0.0035],
        level: 0.16 * loud,
        wait_secs: 0.06,
    });
}

/// Two bubbles, the second one smaller and later, and a few that follow.
fn gulp(event: &SoundEvent, speakers: &Speakers, voices: &mut Voices, random: &mut Random) {
    let gains = speakers.gains(event.at_m);
    let radius_m = (0.16 * event.size_m).clamp(0.003, 0.014) * random.between(0.9, 1.1);
    let first = BubbleSpec {
        radius_m,
        level: 0.24 * event.strength,
        rise: 0.3,
        attack_secs: 0.006,
        wait_secs: 0.0,
        gains,
    };
    voices.bubble(&first);
    voices.bubble(&BubbleSpec {
        radius_m: 0.7 * radius_m,
        level: 0.7 * first.level,
        wait_secs: random.between(0.07, 0.11),
        ..first
    });
    voices.shower(&ShowerSpec {
        at_m: event.at_m,
        reach_m: 0.05,
        per_sec: 22.0,
        decay_secs: 0.25,
        radius_m: [0.001, 0.0035],
        level: 0.09 * event.strength,
        wait_secs: 0.1,
    });
}

/// Water that rushes along many bodies: a band that swells, and small bubbles.
fn swish(event: &SoundEvent, speakers: &Speakers, voices: &mut Voices, random: &mut Random) {
    let gains = speakers.gains(event.at_m);
    let deep = (event.size_m / 0.03).clamp(0.4, 3.0).powf(0.5);
    let rush = BurstSpec {
        from_hz: random.between(1100.0, 1500.0) / deep,
        to_hz: 480.0 / deep,
        width: 1.1,
        level: 0.15 * event.strength,
        attack_secs: 0.045,
        decay_secs: 0.16 + 0.14 * event.strength,
        wait_secs: 0.0,
        gains,
    };
    voices.burst(&rush, random);
    voices.shower(&ShowerSpec {
        at_m: event.at_m,
        reach_m: 0.4,
        per_sec: 60.0 * event.strength,
        decay_secs: 0.2,
        radius_m: [0.0007, 0.002],
        level: 0.05 * event.strength,
        wait_secs: 0.03,
    });
}

/// A deep bubble that begins softly, a lap of water, and few drops.
fn step(event: &SoundEvent, speakers: &Speakers, voices: &mut Voices, random: &mut Random) {
    let gains = speakers.gains(event.at_m);
    let strength = event.strength;
    let ring = BubbleSpec {
        radius_m: random.between(0.0065, 0.0105),
        level: 0.11 * strength,
        rise: 0.09,
        attack_secs: 0.012,
        wait_secs: 0.0,
        gains,
    };
    voices.bubble(&ring);
    voices.bubble(&BubbleSpec {
        radius_m: ring.radius_m * random.between(0.55, 0.75),
        level: 0.5 * ring.level,
        wait_secs: random.between(0.06, 0.14),
        ..ring
    });
    let lap = BurstSpec {
        from_hz: 520.0,
        to_hz: 240.0,
        width: 1.2,
        level: 0.06 * strength,
        attack_secs: 0.03,
        decay_secs: 0.14,
        wait_secs: 0.0,
        gains,
    };
    voices.burst(&lap, random);
    voices.shower(&ShowerSpec {
        at_m: event.at_m,
        reach_m: 0.2,
        per_sec: 14.0 * strength,
        decay_secs: 0.2,
        radius_m: [0.0012, 0.004],
        level: 0.06 * strength,
        wait_secs: 0.08,
    });
}
