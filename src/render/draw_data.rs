//! Everything that a scene draws, as plain data on the CPU.
//!
//! In: a render setup, snapshots. Out: the data of one picture, from which the GPU draws. Must not: know the GPU. A picture of the
//! same bodies as the last one allocates no memory.

use super::blossoms::Blossoms;
use super::draw_list::DrawList;
use super::dust::Dust;
use super::floating::{Floating, cast_shadows};
use super::light::{Foliage, apply_run_color};
use super::look::{SceneLook, SpeciesLook};
use super::model::{Model, STATIC_MODEL_COUNT};
use super::pose::Body;
use super::scenery::Scenery;
use super::setup::RenderSetup;
use super::static_bodies::StaticBodies;
use super::static_shape::StaticShape;
use super::traces::Traces;
use super::water::WaterPressure;
use super::waterfalls::{FallPiece, Waterfalls, drops};
use crate::geometry::Surface;
use crate::world::{LightShares, Season, SeasonShares, Snapshot};

/// The data of a scene and of its last picture.
#[derive(Debug)]
pub(super) struct DrawData {
    // The scene.
    pub(super) surface: Surface,
    pub(super) look: SceneLook,
    pub(super) scenery: Scenery,
    /// The species.
    pub(super) bodies: Vec<Body>,
    pub(super) static_bodies: StaticBodies,
    /// Stones and trunks.
    pub(super) shapes: Vec<StaticShape>,
    /// Falling water between terraces.
    falls: Vec<FallPiece>,
    // The picture.
    pub(super) list: DrawList,
    pub(super) pressure: WaterPressure,
    pub(super) traces: Traces,
    pub(super) dust: Dust,
    pub(super) blossoms: Blossoms,
    pub(super) floating: Floating,
    /// Light of other times of day in the picture.
    pub(super) light: LightShares,
    /// Other seasons in the picture.
    season: SeasonShares,
    /// Time of the picture.
    pub(super) time_secs: f64,
    /// Time since the picture before.
    pub(super) since_secs: f32,
}

impl DrawData {
    /// Takes the species of the setup, and places everything that stands still, for a picture of `picture_px`.
    pub(super) fn new(setup: &mut RenderSetup, picture_px: [u32; 2]) -> Self {
        let species = std::mem::take(&mut setup.species);
        let RenderSetup {
            surface,
            look,
            depth_m,
            terraces,
            ..
        } = setup;
        let scenery =
            Scenery::new(look, surface, picture_px, *depth_m).with_terraces(terraces, surface);
        let Waterfalls { pieces, stones } = Waterfalls::new(terraces);
        let shapes = [&setup.static_shapes[..], &stones].concat();
        let floating = Floating::new(look, surface, &shapes);
        let has_models = setup.static_models.len() >= STATIC_MODEL_COUNT;
        let place = || StaticBodies::new(&shapes, surface, look, &scenery).with_falls(&pieces);
        Self {
            bodies: bodies(species, look.season),
            static_bodies: has_models.then(place).unwrap_or_default(),
            list: DrawList::default(),
            pressure: WaterPressure::new(scenery.grid),
            traces: Traces::new(look, surface.kind, scenery.grid),
            dust: Dust::new(look, surface, *depth_m),
            blossoms: Blossoms::new(look, surface, &floating.obstacles),
            floating,
            light: LightShares::default(),
            season: SeasonShares::default(),
            time_secs: 0.0,
            since_secs: 0.0,
            surface: surface.clone(),
            look: look.clone(),
            scenery,
            shapes,
            falls: pieces,
        }
    }

    /// Computes the data of the picture at `alpha` (0..1) between two snapshots.
    pub(super) fn advance(&mut self, previous: &Snapshot, next: &Snapshot, alpha: f32) {
        let shares = previous.season.iter().zip(&next.season);
        for (season, (before, after)) in self.season.iter_mut().zip(shares) {
            *season = before + (after - before) * alpha;
        }
        self.floating.turn(self.foliage());
        let Self { list, scenery, .. } = self;
        let (time_secs, since_secs) = list.update(previous, next, alpha, &self.bodies, scenery);
        (self.time_secs, self.since_secs) = (time_secs, since_secs);
        let shares = previous.light.iter().zip(&next.light);
        for (light, (before, after)) in self.light.iter_mut().zip(shares) {
            *light = before + (after - before) * alpha;
        }
        let drops = drops(&self.falls, time_secs, &self.surface);
        self.pressure
            .set_splashes(&next.splashes, drops, &self.surface);
        self.pressure.advance(since_secs, &next.shadows);
        let pressure = &self.pressure.pressure;
        self.traces
            .advance(since_secs, time_secs, pressure, &next.shadows);
        self.dust.advance(since_secs, time_secs, &next.shadows);
        self.dust.burst(&next.catches);
        self.floating
            .advance(since_secs, time_secs, &next.shadows, list.agents());
        let near = (&next.shadows[..], list.agents());
        self.blossoms
            .advance(since_secs, time_secs, &self.traces, near);
        let shadows = &mut list.ground_shadows;
        cast_shadows(&self.floating.leaves, scenery, shadows);
        cast_shadows(&self.blossoms.open, scenery, shadows);
    }

    /// What the season of the picture does to plants and leaves.
    pub(super) fn foliage(&self) -> Foliage {
        Foliage::mixed(self.look.season, self.season)
    }

    /// Continues from the data of another scene: everything that moves keeps its state.
    pub(super) fn continue_from(&mut self, old: &mut Self) {
        self.list = std::mem::take(&mut old.list);
        self.pressure.continue_from(&old.pressure);
        self.traces.continue_from(&old.traces);
        self.dust.continue_from(&old.dust);
        self.blossoms.continue_from(&old.blossoms);
        self.floating.continue_from(&old.floating);
    }
}

/// Returns the bodies of all species, with the colors of a season.
fn bodies(species: Vec<(SpeciesLook, Model)>, season: Season) -> Vec<Body> {
    let body = |(look, mut model): (SpeciesLook, Model)| {
        if season == Season::Run {
            apply_run_color(&mut model, look.run_pink);
        }
        Body::new(model, look)
    };
    species.into_iter().map(body).collect()
}
