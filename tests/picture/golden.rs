//! Tests that rendered images equal the reviewed reference images in tests/picture/goldens, within a tolerance.

use shoal::geometry::SurfaceKind;
use shoal::render::{Corner, Corners, Mask, Pattern, PictureQuality, RenderSetup, Renderer};
use shoal::simulation::Simulation;
use shoal::world::{AgentPose, Observation, OverlayItem, OverlayLayer, OverlayShape, Snapshot};

use crate::stage;

/// Compares an image with the reference image `name`. If they differ, writes both images and their difference to files and
/// panics.
fn compare(name: &str, size: (u32, u32), rgba: Vec<u8>) {
    let (width, height) = size;
    let made = image::RgbaImage::from_raw(width, height, rgba).unwrap();
    let path = format!("tests/picture/goldens/{name}.png");
    if std::env::var_os("SHOAL_GOLDEN").is_some() {
        image::DynamicImage::from(made.clone())
            .into_rgb8()
            .save(&path)
            .unwrap();
    }
    let golden = image::open(&path).unwrap().into_rgba8();
    assert_eq!(golden.dimensions(), made.dimensions());
    let apart = |a: &image::Rgba<u8>, b: &image::Rgba<u8>| {
        (0..3).map(|i| a[i].abs_diff(b[i])).max().unwrap()
    };
    let pairs = || golden.pixels().zip(made.pixels());
    let mean =
        pairs().map(|(a, b)| f64::from(apart(a, b))).sum::<f64>() / f64::from(width * height);
    let far = pairs().filter(|(a, b)| apart(a, b) > 32).count() as f64 / f64::from(width * height);
    if mean > 2.0 || far > 0.01 {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
        std::fs::create_dir_all(folder.join("scenes")).unwrap();
        golden
            .save(folder.join(format!("{name}-expected.png")))
            .unwrap();
        made.save(folder.join(format!("{name}-made.png"))).unwrap();
        let difference = image::RgbaImage::from_fn(width, height, |x, y| {
            let d = apart(golden.get_pixel(x, y), made.get_pixel(x, y)).saturating_mul(4);
            image::Rgba([d, d, d, 255])
        });
        difference
            .save(folder.join(format!("{name}-difference.png")))
            .unwrap();
        panic!(
            "{name}: mean difference {mean:.2} of 255, {:.2} % of the pixels differ by more than 32; see {} (SHOAL_GOLDEN=1 replaces the reference picture)",
            far * 100.0,
            folder.display()
        );
    }
}

/// Draws half a second of the synthetic pool and compares the last image with the reference image.
fn golden(name: &str, change: impl Fn(&mut RenderSetup)) {
    golden_of(name, change, |_| {});
}

/// Does the same with a change of each snapshot.
fn golden_of(
    name: &str,
    change: impl Fn(&mut RenderSetup),
    change_snapshot: impl Fn(&mut Snapshot),
) {
    let Some(gpu) = stage::gpu() else { return };
    let size = (480, 270);
    let mut setup = stage::setup([size.0, size.1]);
    change(&mut setup);
    let mut renderer = Renderer::new(gpu, setup).unwrap();
    let mut rgba = Vec::new();
    for tick in (60..90).step_by(2) {
        let mut pair = [tick, tick + 2].map(|tick| stage::snapshot(tick, 60, true));
        pair[1].overlay = overlay_items(&pair[1]);
        change_snapshot(&mut pair[1]);
        renderer.draw(&pair[0], &pair[1], 1.0).unwrap();
    }
    renderer.read(0, &mut rgba).unwrap();
    compare(name, size, rgba);
}

/// Returns a label at the first fish and an arrow that starts there.
fn overlay_items(snapshot: &Snapshot) -> Vec<OverlayItem> {
    let shark = &snapshot.agents[0];
    let word = OverlayItem {
        layer: OverlayLayer::Mind,
        shape: OverlayShape::Point(shark.position_m),
        text: "hunt: hunt_prey".to_owned(),
    };
    let force = OverlayItem {
        layer: OverlayLayer::Force,
        shape: OverlayShape::Arrow {
            from_m: shark.position_m,
            to_m: shark.position_m + shark.forward,
        },
        text: "seek".to_owned(),
    };
    vec![word, force]
}

/// The pool on each kind of surface at full resolution, as on a graphics card. The other pictures have the resolution of a machine
/// without one.
#[test]
fn each_kind_of_surface_matches_its_reference() {
    for (name, kind) in [
        ("floor", SurfaceKind::Floor),
        ("wall", SurfaceKind::Wall),
        ("ceiling", SurfaceKind::Ceiling),
    ] {
        golden(name, |setup| {
            setup.quality = PictureQuality::High;
            setup.surface.kind = kind;
        });
    }
}

#[test]
fn drawings_over_the_picture_match_their_reference() {
    golden_of(
        "overlay",
        |_| {},
        |snapshot| {
            snapshot.marks_shadows = true;
            let agents = snapshot.agents.iter();
            snapshot.overlay.extend(agents.flat_map(motion));
        },
    );
}

/// Returns the body of a fish and its way in half a second.
fn motion(agent: &AgentPose) -> [OverlayItem; 2] {
    let (at, way_m) = (agent.position_m, agent.velocity_mps * 0.5);
    let body = OverlayShape::Sector {
        center_m: at,
        forward: agent.forward,
        radius_m: agent.radius_m,
        half_angle_rad: std::f32::consts::PI,
    };
    let way = OverlayShape::Arrow {
        from_m: at,
        to_m: at + way_m,
    };
    [body, way].map(|shape| OverlayItem {
        layer: OverlayLayer::Motion,
        shape,
        text: String::new(),
    })
}

/// All test patterns, one below the other.
#[test]
fn patterns_match_their_reference() {
    let patterns = [
        Pattern::Corners,
        Pattern::Grid,
        Pattern::Targets {
            columns: 4,
            rows: 3,
        },
        Pattern::Blend,
        Pattern::Rulers,
    ];
    let (size, mut all, mut rgba) = ([320, 180], Vec::new(), Vec::new());
    for pattern in patterns {
        let Some(gpu) = stage::gpu() else { return };
        let mut setup = stage::setup(size);
        setup.overlay_options.pattern = Some(pattern);
        let mut renderer = Renderer::new(gpu, setup).unwrap();
        let snapshot = Snapshot::default();
        renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
        renderer.read(0, &mut rgba).unwrap();
        all.extend_from_slice(&rgba);
    }
    let height = size[1] * patterns.len() as u32;
    compare("patterns", (size[0], height), all);
}

/// Four scenes with what no other picture has: lilies, varieties of koi and reflected trees; waterfalls and foam; corals; glowing
/// specks at night. `scenes.rs` measures all scenes.
#[test]
fn scenes_match_their_references() {
    for name in ["koi", "cascade", "reef", "plankton"] {
        let Some(gpu) = stage::gpu() else { return };
        let site = shoal::site::load(None, Some(name)).unwrap();
        let size = (192, 144);
        let mut pool = Simulation::new(&site.description(), &site.file.simulation).unwrap();
        let mut setup = shoal::app::first_output_setup(site, size);
        setup.quality = PictureQuality::High;
        let mut renderer = Renderer::new(gpu, setup).unwrap();
        let mut snapshot = Snapshot::default();
        for _ in 0..4 {
            pool.run_tick(&Observation::default());
            pool.snapshot(&mut snapshot);
            renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
        }
        let mut rgba = Vec::new();
        renderer.read(0, &mut rgba).unwrap();
        compare(&format!("scenes/{name}"), size, rgba);
    }
}

/// Sets a crop, a keystone and a curved control mesh for the first output.
pub(crate) fn warped(setup: &mut RenderSetup) {
    let output = &mut setup.outputs[0];
    let corner = |x, y| Corner { x, y };
    output.crop.right = 0.6;
    output.corners = Corners {
        top_left: corner(0.08, 0.05),
        top_right: corner(0.95, 0.0),
        bottom_right: corner(1.0, 0.96),
        bottom_left: corner(0.02, 1.0),
    };
    (output.mesh.columns, output.mesh.rows) = (3, 3);
    output.mesh.points = (0..9)
        .map(|i| corner(f64::from(i % 3) / 2.0, f64::from(i / 3) / 2.0))
        .collect();
    output.mesh.points[4] = corner(0.56, 0.44);
}

#[test]
fn warped_and_blended_outputs_match_their_references() {
    golden("warp", warped);
    golden("blend", |setup| {
        warped(setup);
        let output = &mut setup.outputs[0];
        (
            output.blend.right,
            output.blend.gamma,
            output.blend.black_lift,
        ) = (0.3, 1.8, 0.01);
        (output.gain.blue, output.gamma) = (0.8, 1.2);
        output.masks.push(Mask {
            corners: [(0.3, 0.6), (0.5, 0.65), (0.45, 0.9), (0.4, 0.75)]
                .map(|(x, y)| Corner { x, y })
                .to_vec(),
        });
    });
}
