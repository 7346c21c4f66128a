//! Looks at one animal: the draw setup, the poses of a sheet, and the description of its model. This is `shoal preview`.
//!
//! Every animal is drawn one meter long, whatever its size, in the middle of a tile; the water streams past it. The upper row shows
//! it from above, the lower one from its left side.

use std::fmt::Write as _;

use glam::{Quat, Vec2, Vec3};

use crate::geometry::Surface;
use crate::render::{Model, OutputParams, OverlayOptions, PictureQuality, RenderSetup, SceneLook};
use crate::site::Animal;
use crate::world::{AgentPose, FastStart, OverlayItem, OverlayLayer, OverlayShape, Snapshot};

/// Width of a tile in body lengths, or in widths of the body if it is wider than long.
const TILE_LENGTHS: f32 = 1.6;
/// Depth of the animals. Closer to the surface, they would leap.
const DEPTH_M: f32 = 0.4;
/// Depth of the ground below the animals, so that it shows their shadows beside them.
const GROUND_M: f32 = 1.0;
/// Time between two snapshots.
const TICK_SECS: f64 = 1.0 / 60.0;
/// Angle of the climb in the lower row.
const CLIMB_RAD: f32 = 0.5;

/// What an animal does in a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Rest,
    Glide,
    Cruise,
    Turn,
    Climb,
    Sprint,
}

/// The tiles of the upper row, then those of the lower one.
const ROWS: [[Doing; 5]; 2] = [
    [
        Doing::Rest,
        Doing::Glide,
        Doing::Cruise,
        Doing::Turn,
        Doing::Sprint,
    ],
    [
        Doing::Rest,
        Doing::Glide,
        Doing::Cruise,
        Doing::Climb,
        Doing::Sprint,
    ],
];

impl Doing {
    fn name(self) -> &'static str {
        match self {
            Self::Rest => "rests",
            Self::Glide => "glides",
            Self::Cruise => "cruises",
            Self::Turn => "turns",
            Self::Climb => "climbs",
            Self::Sprint => "sprints",
        }
    }
}

/// One animal in all tiles.
#[derive(Debug)]
pub(super) struct Preview {
    animal: Animal,
    tick: u64,
}

impl Preview {
    pub(super) fn new(animal: Animal) -> Self {
        Self { animal, tick: 0 }
    }

    /// Width of a tile.
    fn tile_m(&self) -> f32 {
        let size = self.animal.model.size;
        TILE_LENGTHS * size.max_element() / size.z.max(f32::MIN_POSITIVE)
    }

    /// Returns the render setup. Its picture has `height_px` rows.
    pub(super) fn setup(&self, height_px: u32) -> RenderSetup {
        let (columns, rows) = (ROWS[0].len() as f32, ROWS.len() as f32);
        let mut look = self.animal.file.look.clone();
        look.length_m = 1.0;
        (look.length_variation, look.girth_variation) = (0.0, 0.0);
        let bright = crate::render::Tint::new(0.35, 0.37, 0.38);
        RenderSetup {
            scene: String::new(),
            fade_secs: 0.0,
            surface: Surface {
                width_m: columns * self.tile_m(),
                height_m: rows * self.tile_m(),
                // From far above, so that no tile is seen at an angle.
                eye_height_m: 50.0,
                ..Surface::default()
            },
            outputs: vec![OutputParams {
                width_px: (height_px as f32 * columns / rows) as u32,
                height_px,
                ..OutputParams::default()
            }],
            look: SceneLook {
                sand: bright,
                sun_tilt_deg: Some(15.0),
                caustics: Some(0.0),
                clarity_m: Some(50.0),
                haze: Some(0.0),
                reflection: Some(0.0),
                litter: Some(0.0),
                swell: 0.0,
                stir: 0.0,
                foam: 0.0,
                dust: 0.0,
                plants: 0.0,
                relief: 0.0,
                pebbles: 0.0,
                ..SceneLook::default()
            },
            depth_m: DEPTH_M + GROUND_M,
            species: vec![(look, (*self.animal.model).clone())],
            static_models: Vec::new(),
            static_shapes: Vec::new(),
            terraces: Vec::new(),
            overlay_options: OverlayOptions::default(),
            quality: PictureQuality::High,
        }
    }

    /// Writes the next snapshot.
    pub(super) fn advance(&mut self, snapshot: &mut Snapshot) {
        self.tick += 1;
        snapshot.tick = self.tick;
        snapshot.time_secs = self.tick as f64 * TICK_SECS;
        snapshot.agents.clear();
        snapshot.overlay.clear();
        let (tile_m, columns) = (self.tile_m(), ROWS[0].len());
        for (row, doings) in ROWS.iter().enumerate() {
            for (column, &doing) in doings.iter().enumerate() {
                let place = Vec2::new(column as f32, row as f32) + 0.5
                    - Vec2::new(columns as f32, ROWS.len() as f32) / 2.0;
                let middle = (tile_m * place).extend(-DEPTH_M);
                let middle = Vec3::new(middle.x, middle.z, middle.y);
                let id = (row * columns + column) as u32;
                let pose = self.pose(doing, row == 1);
                snapshot.agents.push(AgentPose {
                    id,
                    position_m: middle,
                    ..pose
                });
                let corner = middle + Vec3::new(-0.48, 0.0, -0.48) * tile_m;
                snapshot.overlay.push(label(corner, doing.name()));
            }
        }
        self.add_length(snapshot);
    }

    /// Adds an arrow from tail to nose below the first animal, with its length.
    fn add_length(&self, snapshot: &mut Snapshot) {
        let Some(first) = snapshot.agents.first() else {
            return;
        };
        let below = first.position_m + Vec3::Z * 0.42 * self.tile_m();
        let arrow = OverlayShape::Arrow {
            from_m: below - 0.5 * Vec3::X,
            to_m: below + 0.5 * Vec3::X,
        };
        snapshot.overlay.push(OverlayItem {
            layer: OverlayLayer::Path,
            shape: arrow,
            text: format!("nose, {:.2} m", self.animal.file.look.length_m),
        });
    }

    /// Returns the motion of the animal in a tile, in lengths of its body instead of meters.
    fn pose(&self, doing: Doing, from_the_side: bool) -> AgentPose {
        let motion = &self.animal.file.motion;
        let length_m = self.animal.file.body.length_m.max(0.01);
        let (cruise, boost) = (motion.cruise_mps / length_m, motion.boost_mps / length_m);
        let turn_dps = motion
            .cruise
            .max_turn_rate_dps
            .unwrap_or(motion.max_turn_rate_dps);
        let turn_rps = turn_dps.min(180.0).to_radians();
        let secs = (self.tick as f64 * TICK_SECS) as f32;
        let up = if from_the_side { Vec3::NEG_Z } else { Vec3::Y };
        let speed = match doing {
            Doing::Rest => 0.0,
            Doing::Glide => 0.7 * cruise,
            Doing::Cruise | Doing::Turn | Doing::Climb => cruise,
            Doing::Sprint => boost,
        };
        let heading = match doing {
            Doing::Turn => Quat::from_axis_angle(up, turn_rps * secs),
            Doing::Climb => Quat::from_axis_angle(Vec3::NEG_Y, -CLIMB_RAD),
            _ => Quat::IDENTITY,
        };
        let forward = heading * Vec3::X;
        // The animation takes the climb from the vertical speed, wherever the back of the animal points.
        let velocity = match doing {
            Doing::Climb => Vec3::new(CLIMB_RAD.cos(), CLIMB_RAD.sin(), 0.0),
            _ => forward,
        };
        AgentPose {
            id: 0,
            species: 0,
            position_m: Vec3::ZERO,
            forward,
            up: heading * up,
            velocity_mps: speed * velocity,
            turn_rate_rps: if doing == Doing::Turn { turn_rps } else { 0.0 },
            acceleration_mps2: if doing == Doing::Glide { -3.0 } else { 0.0 },
            boost: if doing == Doing::Sprint { 1.0 } else { 0.0 },
            start_phase: FastStart::OVER,
            start_bend_rad: 0.0,
            radius_m: 0.2,
            teleported: false,
            swallowed: 0.0,
        }
    }

    /// Describes the animal and its model.
    pub(super) fn description(&self) -> String {
        let Animal { name, file, model } = &self.animal;
        describe(name, &file.look.model, file.look.length_m, model)
    }
}

fn label(at: Vec3, text: &str) -> OverlayItem {
    OverlayItem {
        layer: OverlayLayer::Mind,
        shape: OverlayShape::Point(at),
        text: text.to_owned(),
    }
}

/// Returns the size, the triangles and the clips of a model as text, and what is wrong with it.
fn describe(name: &str, model_name: &str, length_m: f32, model: &Model) -> String {
    let size = model.size * length_m / model.size.z.max(f32::MIN_POSITIVE);
    let mut text = format!(
        "{name}: model \"{model_name}\", {:.2} m long, {:.2} m wide, {:.2} m high\n",
        size.z, size.x, size.y
    );
    let [fine, medium, small, light] = model.levels().map(|level| level.len() / 3);
    let _ = writeln!(
        text,
        "triangles: {fine}, medium mesh {medium}, small mesh {small}, light mesh {light}; joints: {}",
        model.joints.len()
    );
    let clips: Vec<String> = (model.clips.iter())
        .map(|clip| format!("{} {:.1} s", clip.name, clip.duration_secs))
        .collect();
    let clips = match clips.as_slice() {
        [] if model.joints.is_empty() => {
            "none; a slender body swims with a wave of its own".to_owned()
        }
        [] => "none".to_owned(),
        _ => clips.join(", "),
    };
    let _ = writeln!(text, "clips: {clips}");
    for note in &model.notes {
        let _ = writeln!(text, "warning: the model {note}");
    }
    text
}
