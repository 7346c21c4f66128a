//! Tests of the traces that visitors leave in the picture: light, silt, blossoms and rings, from the first to the last moment.

use glam::Vec2;
use shoal::geometry::Visitor;
use shoal::render::{PictureQuality, RenderSetup, Renderer};
use shoal::world::Light;
use shoal::world::Snapshot;

use crate::{linear, stage};

/// Size of the pictures in pixels.
const SIZE: [u32; 2] = [320, 180];
/// Pictures per second.
const FPS: u32 = 20;

/// A pool without fish, and its visitors.
struct Pool {
    renderer: Renderer,
    picture: u32,
    before: Snapshot,
}

impl Pool {
    fn new(change: impl Fn(&mut RenderSetup)) -> Option<Self> {
        let mut setup = stage::setup(SIZE);
        (setup.look.swell, setup.look.dust) = (0.0, 0.0);
        change(&mut setup);
        Some(Self {
            renderer: Renderer::new(stage::gpu()?, setup).unwrap(),
            picture: 0,
            before: Snapshot::default(),
        })
    }

    /// Draws pictures for a time. `place` is where a visitor stands at a share of this time.
    fn run(&mut self, secs: f32, place: impl Fn(f32) -> Option<Vec2>) {
        let pictures = (secs * FPS as f32) as u32;
        for index in 0..pictures {
            self.picture += 1;
            let at = place(index as f32 / pictures as f32);
            let next = Snapshot {
                time_secs: f64::from(self.picture) / f64::from(FPS),
                shadows: at.map(visitor).into_iter().collect(),
                ..Snapshot::default()
            };
            self.renderer.draw(&self.before, &next, 1.0).unwrap();
            self.before = next;
        }
    }

    fn rgba(&mut self) -> Vec<u8> {
        let mut rgba = Vec::new();
        self.renderer.read(0, &mut rgba).unwrap();
        rgba
    }

    /// Returns the mean linear light of a channel within `radius_m` of a place.
    fn light(&mut self, channel: usize, place: Vec2, radius_m: f32) -> f64 {
        let rgba = self.rgba();
        let surface = stage::surface();
        let size = Vec2::new(SIZE[0] as f32, SIZE[1] as f32);
        let (mut sum, mut count) = (0.0, 0);
        for (index, pixel) in rgba.chunks_exact(4).enumerate() {
            let at = Vec2::new(index as f32 % size.x, (index / SIZE[0] as usize) as f32) + 0.5;
            let at = (at / size - 0.5) * Vec2::new(surface.width_m, surface.height_m);
            if at.distance(place) < radius_m {
                (sum, count) = (sum + linear(pixel[channel]), count + 1);
            }
        }
        sum / f64::from(count)
    }
}

fn visitor(at: Vec2) -> Visitor {
    Visitor {
        id: 1,
        centroid_m: at,
        foot_m: at,
        radius_m: 0.25,
        ..Visitor::default()
    }
}

/// A way across the pool.
fn walk(share: f32) -> Option<Vec2> {
    Some(Vec2::new(4.0 * share - 2.0, 0.0))
}

fn nobody(_: f32) -> Option<Vec2> {
    None
}

/// Nothing marked where visitors had walked.
#[test]
fn a_visitor_who_walked_by_leaves_light_that_fades_in_time() {
    let night = |setup: &mut RenderSetup| {
        (setup.look.light, setup.look.wake_glow) = (Light::Night, 1.0);
    };
    let Some(mut pool) = Pool::new(night) else {
        return;
    };
    pool.run(0.2, nobody);
    let dark = pool.light(2, Vec2::ZERO, 0.2);
    let dark_aside = pool.light(2, Vec2::new(0.0, 0.9), 0.15);
    pool.run(4.0, walk);
    let fresh = pool.light(2, Vec2::ZERO, 0.2);
    let aside = pool.light(2, Vec2::new(0.0, 0.9), 0.15);
    pool.run(4.0, nobody);
    let old = pool.light(2, Vec2::ZERO, 0.2);
    pool.run(9.0, nobody);
    let gone = pool.light(2, Vec2::ZERO, 0.2);
    println!(
        "blue light {dark:.4}, {fresh:.4} behind the visitor, {old:.4} 4 s later, {gone:.4} at the end; aside {aside:.4}"
    );
    assert!(fresh > 1.3 * dark && fresh > old && old > 1.02 * dark);
    assert!((gone / dark - 1.0).abs() < 0.05);
    assert!(aside - dark_aside < 0.2 * (fresh - dark), "{dark_aside}");
}

#[test]
fn steps_stir_up_silt_that_settles() {
    let sandy = |setup: &mut RenderSetup| {
        (setup.look.silt, setup.look.caustics) = (1.0, Some(0.0));
        (setup.look.plants, setup.look.reflection) = (0.0, Some(0.0));
        setup.look.water = shoal::render::Tint::new(0.5, 0.5, 0.5);
    };
    let Some(mut pool) = Pool::new(sandy) else {
        return;
    };
    pool.run(0.2, nobody);
    let before = pool.rgba();
    let changed = |pool: &mut Pool| {
        let pairs = before.clone().into_iter().zip(pool.rgba());
        pairs.filter(|(a, b)| a.abs_diff(*b) > 12).count()
    };
    pool.run(4.0, walk);
    pool.run(3.0, nobody);
    let cloudy = changed(&mut pool);
    pool.run(12.0, nobody);
    let clear = changed(&mut pool);
    println!("{cloudy} values differ in the cloud, {clear} when it has settled");
    assert!(cloudy > 3000 && clear < cloudy / 4);
}

#[test]
fn blossoms_open_around_a_visitor_who_stands_and_close_after() {
    let look = |setup: &mut RenderSetup| setup.look.blossoms = 1.0;
    let Some(mut pool) = Pool::new(look) else {
        return;
    };
    let red = |pool: &mut Pool| pool.light(0, Vec2::ZERO, 0.6);
    pool.run(0.2, nobody);
    let before = red(&mut pool);
    pool.run(9.0, |_| Some(Vec2::ZERO));
    let open = red(&mut pool);
    pool.run(20.0, nobody);
    let after = red(&mut pool);
    println!("red light {before:.4}, {open:.4} with blossoms, {after:.4} after them");
    assert!(open > 1.03 * before && (after / before - 1.0).abs() < 0.05);
}

/// In quality `high`, nothing was visible around two visitors who stood. In quality `low`, a chain of white beads lay around them.
#[test]
fn rings_run_from_a_visitor_who_stands_in_both_qualities() {
    for quality in [PictureQuality::Low, PictureQuality::High] {
        // The change of the picture over a time, and the last picture.
        let moved = |place: Option<Vec2>, foam: f32| {
            let look = |setup: &mut RenderSetup| {
                (setup.quality, setup.look.foam) = (quality, foam);
            };
            let mut pool = Pool::new(look)?;
            pool.run(4.0, |_| place);
            let mut changes = 0.0;
            for _ in 0..12 {
                let before = pool.rgba();
                pool.run(0.15, |_| place);
                let pairs = before.iter().zip(pool.rgba());
                changes += pairs.map(|(a, b)| f64::from(a.abs_diff(b))).sum::<f64>();
            }
            Some((changes, pool.rgba()))
        };
        let all = [
            (None, 1.0),
            (Some(Vec2::ZERO), 1.0),
            (Some(Vec2::ZERO), 0.0),
        ];
        let [Some(alone), Some(stands), Some(bare)] = all.map(|(at, foam)| moved(at, foam)) else {
            return;
        };
        let pairs = stands.1.iter().zip(&bare.1);
        let foam = pairs.filter(|(a, b)| a.abs_diff(**b) > 40).count();
        println!(
            "{quality:?}: changes {} without, {} with a visitor; {foam} values of foam",
            alone.0, stands.0
        );
        assert!(stands.0 > 1.2 * alone.0, "{quality:?}: no rings");
        assert!(foam < 200, "{quality:?}: foam");
    }
}

/// The same input gives the same picture.
#[test]
fn traces_are_the_same_in_every_run() {
    let pictures = [(); 2].map(|()| {
        let look = |setup: &mut RenderSetup| {
            let look = &mut setup.look;
            (look.wake_glow, look.silt, look.prints) = (1.0, 1.0, 1.0);
            (look.blossoms, look.bloom) = (1.0, 1.0);
        };
        let mut pool = Pool::new(look)?;
        pool.run(2.0, walk);
        pool.run(1.0, nobody);
        Some(pool.rgba())
    });
    let [first, second] = pictures;
    assert_eq!(first, second);
}
