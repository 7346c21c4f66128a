//! Shaders are valid, agree with Rust on layouts, and a steady frame takes no memory.

use naga::proc::Layouter;
use shoal::render::caustics::Caustics;
use shoal::render::draw;
use shoal::render::frame::{self, Scenery};
use shoal::render::gpu::SHADERS;
use shoal::render::overlay::Overlay;
use shoal::render::pose::Body;
use shoal::render::ripples::Ripples;
use shoal::render::water::Stir;
use shoal::render::{Edges, View};
use shoal::world::Snapshot;

use crate::stage;

fn module(name: &str) -> naga::Module {
    let text = SHADERS.iter().find(|shader| shader.0 == name).unwrap().1;
    naga::front::wgsl::parse_str(text)
        .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(text)))
}

#[test]
fn every_shader_is_valid() {
    for (name, text) in SHADERS {
        let module = module(name);
        let mut validator = naga::valid::Validator::new(
            naga::valid::ValidationFlags::all(),
            naga::valid::Capabilities::default(),
        );
        validator
            .validate(&module)
            .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(text)));
    }
}

/// Size of a struct in a shader and its members with their offsets.
fn layout(shader: &str, name: &str) -> (u32, Vec<(String, u32)>) {
    let module = module(shader);
    let mut layouter = Layouter::default();
    layouter.update(module.to_ctx()).unwrap();
    let (handle, kind) = module
        .types
        .iter()
        .find(|(_, kind)| kind.name.as_deref() == Some(name))
        .unwrap();
    let naga::TypeInner::Struct { members, .. } = &kind.inner else {
        panic!("{name} is no struct")
    };
    let members = members
        .iter()
        .map(|m| (m.name.clone().unwrap_or_default(), m.offset))
        .collect();
    (layouter[handle].size, members)
}

#[test]
fn rust_and_shaders_agree_on_layouts() {
    let (size, members) = layout("below", "Frame");
    assert_eq!(size as usize, size_of::<frame::Frame>());
    let expected = frame::frame_offsets();
    assert_eq!(
        members,
        expected.map(|(name, offset)| (name.to_owned(), offset as u32))
    );
    assert_eq!(
        layout("below", "Instance").0 as usize,
        size_of::<draw::Instance>()
    );
    assert_eq!(
        layout("below", "Rows").0 as usize,
        size_of::<shoal::render::pose::Rows>()
    );
}

/// A steady frame asks for no memory: everything is laid out in buffers that are there.
#[test]
fn laying_out_a_steady_frame_allocates_nothing() {
    let setup = stage::setup([480, 270], Edges::Hard);
    let scenery = Scenery::new(&setup.look, &setup.surface, [480, 270], setup.depth_m);
    let bodies: Vec<Body> = setup
        .species
        .iter()
        .cloned()
        .map(|(look, model)| Body::new(model, look))
        .collect();
    let snapshots: Vec<_> = (0..20)
        .map(|tick| stage::snapshot(tick, 300, true))
        .collect();
    let mut list = draw::DrawList::default();
    let mut stir = Stir::new(scenery.grid);
    let mut ripples = Ripples::new(scenery.grid);
    let mut caustics = Caustics::new(scenery.grid);
    let view = View::new(&setup.surface, &setup.outputs[0]).unwrap();
    let (mut overlay, mut carried) = (Overlay::default(), Vec::new());
    let mut frame = |pair: &[Snapshot]| {
        list.lay_out(&pair[0], &pair[1], 0.3, &bodies, &scenery);
        overlay.clear(&setup.surface);
        overlay.shadows(&pair[1].shadows);
        overlay.vectors(list.agents());
        overlay.carried(&view, &mut carried);
        let steps = stir.advance(0.016, &pair[1].shadows);
        ripples.advance(steps, &stir.presence, 1.0);
        caustics.bend(&ripples, pair[1].time_secs, 1.0);
    };
    snapshots.windows(2).take(3).for_each(&mut frame);
    let allocated =
        allocation_counter::measure(|| snapshots.windows(2).skip(3).for_each(&mut frame));
    assert_eq!(allocated.count_total, 0);
}
