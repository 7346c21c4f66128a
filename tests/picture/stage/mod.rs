//! A synthetic pool for tests of rendering. The fish follow smooth paths that depend only on the time and the fish.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    dead_code,
    reason = "an unexpected result ends a test"
)]

use glam::{Vec2, Vec3};
use shoal::geometry::{Solid, Surface, SurfaceKind, Visitor};
use shoal::render::{
    Gpu, Markings, Model, OutputParams, PictureQuality, RenderError, RenderSetup, SceneLook,
    SpeciesLook, StaticShape,
};
use shoal::world::{AgentPose, Snapshot};

pub(crate) const SPECIES: [(&str, f32, f32); 4] = [
    ("shark", 1.1, 0.06),
    ("salmon", 0.45, 0.45),
    ("trout", 0.32, 0.25),
    ("herring", 0.16, 0.95),
];
pub(crate) const DEPTH_M: f32 = 1.2;

pub(crate) fn surface() -> Surface {
    Surface {
        width_m: 4.0,
        height_m: 2.25,
        ..Surface::default()
    }
}

pub(crate) fn static_shapes() -> Vec<StaticShape> {
    [
        (-1.25, 0.12, 0.55, 0.34),
        (-0.82, 0.06, 0.78, 0.19),
        (1.45, 0.10, -0.62, 0.27),
        (0.35, 0.04, -0.85, 0.13),
        (1.72, 0.03, -0.30, 0.12),
    ]
    .into_iter()
    .flat_map(|(x, over_m, z, radius_m)| {
        let center_m = Vec3::new(x, over_m - DEPTH_M, z);
        let solid = Solid::Sphere { center_m, radius_m };
        StaticShape::all_of(&solid, SurfaceKind::Floor)
    })
    .collect()
}

pub(crate) fn model(name: &str) -> Model {
    Model::from_glb(name, &std::fs::read(format!("models/{name}.glb")).unwrap()).unwrap()
}

/// Spots on salmon, bars on trout, none on the others.
fn markings(name: &str) -> Markings {
    let amount = match name {
        "salmon" | "trout" => 0.7,
        _ => 0.0,
    };
    let (per_length, stretch) = if name == "trout" {
        (8.0, 3.0)
    } else {
        (22.0, 1.0)
    };
    Markings {
        amount,
        per_length,
        stretch,
        mottling: amount / 2.0,
        ..Markings::default()
    }
}

pub(crate) fn setup(size: [u32; 2]) -> RenderSetup {
    let species = SPECIES.map(|(name, length_m, shine)| {
        let max_beat_hz = if name == "shark" {
            1.2
        } else {
            0.9 / length_m + 2.0
        };
        (
            SpeciesLook {
                model: name.to_owned(),
                length_m,
                shine,
                max_beat_hz,
                markings: markings(name),
                ..SpeciesLook::default()
            },
            model(name),
        )
    });
    RenderSetup {
        scene: String::new(),
        fade_secs: 0.0,
        surface: surface(),
        outputs: vec![OutputParams {
            width_px: size[0],
            height_px: size[1],
            ..OutputParams::default()
        }],
        look: SceneLook::default(),
        depth_m: DEPTH_M,
        species: species.to_vec(),
        static_models: [
            "rock_round",
            "rock_flat",
            "rock_split",
            "rock_sharp",
            "log",
            "coral_finger",
            "coral_brain",
            "weed",
            "lily",
            "flower",
            "fall",
        ]
        .map(model)
        .to_vec(),
        static_shapes: static_shapes(),
        terraces: Vec::new(),
        overlay_options: shoal::render::OverlayOptions::default(),
        quality: PictureQuality::Low,
    }
}

/// Opens the graphics device. If there is no graphics adapter, prints a message and returns `None`; the test is then skipped.
pub(crate) fn gpu() -> Option<Gpu> {
    match Gpu::headless() {
        Ok(gpu) => Some(gpu),
        Err(error @ RenderError::NoAdapter(_)) => {
            eprintln!("SKIPPED, this machine lacks a graphics adapter: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn wave(seed: u32, k: u32) -> f32 {
    let mut h = (seed * 31 + k).wrapping_mul(0x9E37_79B1);
    h = (h ^ (h >> 15)).wrapping_mul(0x846C_A68B);
    ((h ^ (h >> 13)) & 0xFFFF) as f32 / 65535.0
}

/// Returns the position of fish `i` at time `t` in seconds. Herring swim as a school along one slow curve. Each other fish has
/// its own closed path.
fn place(i: u32, species: u16, t: f32) -> Vec3 {
    let r = |k| wave(i, k);
    let tau = std::f32::consts::TAU;
    match species {
        3 => {
            let a = 0.20 * t + 0.4;
            let lead = Vec3::new(1.05 * (a * 1.3).cos(), -0.30, 0.58 * (a * 2.1 + 0.5).sin());
            let own =
                Vec3::new(r(1) - 0.5, 0.28 * (r(2) - 0.5), r(3) - 0.5) * Vec3::new(0.95, 1.0, 0.62);
            let drift = 0.05
                * Vec3::new(
                    (t * (0.5 + r(4)) + r(5) * tau).sin(),
                    0.2 * (t * 0.7 + r(6) * tau).sin(),
                    (t * (0.6 + r(7)) + r(8) * tau).cos(),
                );
            lead + own + drift
        }
        0 => Vec3::new(
            1.25 * (0.16 * t + 2.6).cos(),
            -0.52,
            0.62 * (0.32 * t + 5.3).sin(),
        ),
        _ => {
            let speed = 0.16 + 0.16 * r(1);
            let middle = Vec3::new(2.6 * (r(2) - 0.5), -0.35 - 0.6 * r(3), 1.3 * (r(4) - 0.5));
            let size = 0.35 + 0.55 * r(5);
            let a = speed / size * t * if r(6) > 0.5 { 1.0 } else { -1.0 } + r(7) * tau;
            middle
                + Vec3::new(
                    size * a.cos(),
                    0.07 * (a * 1.3).sin(),
                    0.7 * size * (a + 0.5 * (a * 0.7).sin()).sin(),
                )
        }
    }
}

pub(crate) fn snapshot(tick: u64, fish: u32, visitors: bool) -> Snapshot {
    let time_secs = tick as f64 / 60.0;
    let t = time_secs as f32;
    let agents = (0..fish).map(|i| {
        let species = match i % 60 {
            0 => 0,
            1..=9 => 1,
            10..=17 => 2,
            _ => 3,
        };
        let e = 0.02;
        let [before, now, after] = [t - e, t, t + e].map(|t| place(i, species, t));
        let velocity = (after - before) / (2.0 * e);
        let forward = velocity.normalize_or(Vec3::X);
        let change = (after - 2.0 * now + before) / (e * e);
        let left = Vec3::Y.cross(forward).normalize_or(Vec3::X);
        let turn = change.dot(left) / velocity.length().max(0.02);
        let lean = (turn * velocity.length() * 0.8).clamp(-0.7, 0.7);
        let up = (forward.cross(left) + left * lean).normalize_or_zero();
        AgentPose {
            id: i + 1,
            species,
            position_m: now,
            forward,
            up,
            velocity_mps: velocity,
            turn_rate_rps: turn,
            acceleration_mps2: change.dot(forward),
            boost: 0.0,
            start_phase: shoal::world::FastStart::OVER,
            start_bend_rad: 0.0,
            radius_m: SPECIES[usize::from(species)].1 / 4.0,
            teleported: false,
            swallowed: 0.0,
        }
    });
    let agents = agents.collect();
    let shadows = if visitors {
        vec![visitor(t)]
    } else {
        Vec::new()
    };
    Snapshot {
        revision: 0,
        tick,
        time_secs,
        agents,
        shadows,
        ..Snapshot::default()
    }
}

fn visitor(t: f32) -> Visitor {
    let centroid_m = Vec2::new(-2.2 + 0.9 * t, 0.45 * (0.9 * t).sin());
    let outline_m = (0..40).map(|i| {
        let a = i as f32 / 40.0 * std::f32::consts::TAU;
        centroid_m
            + Vec2::new(0.13 * a.cos(), 0.30 * a.sin() - 0.1)
                * (1.0 + 0.15 * (3.0 * a + 2.0 * t).sin())
    });
    Visitor {
        id: 1,
        centroid_m,
        foot_m: centroid_m + Vec2::new(0.0, 0.25),
        radius_m: 0.2,
        velocity_mps: Vec2::new(0.9, 0.0),
        area_m2: 0.12,
        age_secs: f64::from(t),
        outline_m: outline_m.collect(),
        ..Visitor::default()
    }
}
