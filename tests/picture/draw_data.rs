//! Test that building the draw data on the CPU allocates no memory.

use shoal::render::{Body, DrawList, Overlay, Scenery, View, WaterPressure};
use shoal::world::Snapshot;

use crate::stage;

/// The draw data of each image is written into the same buffers, so no memory is allocated.
#[test]
fn building_draw_data_of_an_unchanged_scene_allocates_nothing() {
    let setup = stage::setup([480, 270]);
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
    let mut list = DrawList::default();
    let mut pressure = WaterPressure::new(scenery.grid);
    let view = View::new(&setup.surface, &setup.outputs[0]).unwrap();
    let (mut overlay, mut carried) = (Overlay::default(), Vec::new());
    let mut build = |pair: &[Snapshot]| {
        list.update(&pair[0], &pair[1], 0.3, &bodies, &scenery);
        overlay.clear(&setup.surface);
        overlay.shadows(&pair[1].shadows);
        overlay.items(&pair[1].overlay);
        overlay.clip_vertices(&view, &mut carried);
        pressure.advance(0.016, &pair[1].shadows);
    };
    snapshots.windows(2).take(3).for_each(&mut build);
    let allocated =
        allocation_counter::measure(|| snapshots.windows(2).skip(3).for_each(&mut build));
    assert_eq!(allocated.count_total, 0, "number of allocations");
}
