// Definitions that the shaders of the water share. This file is put in front of each of them.

// Number of waves in the swell; same number as `SWELL_WAVES` in `src/render/water/swell.rs`.
const SWELL_WAVES = 40u;

// Values of one picture; same layout as `FieldUniforms` in `src/render/water/field.rs`.
struct FieldUniforms {
    // Half extent of the visible region, in meters. The field itself is square.
    half_m: vec2<f32>,
    // Number of cells of the visible region, in the middle of the field.
    region: vec2<u32>,
    // Number of cells along each side of the field, a power of two; and its logarithm.
    cells: u32,
    log2_cells: u32,
    // Side of a cell, in meters.
    cell_m: f32,
    // Time step, in seconds.
    step_secs: f32,
    // Time of drifting patterns in seconds; same value as `SceneUniforms::time_secs`.
    time_secs: f32,
    // Horizontal distance by which a slope of 1 moves a ray of sunlight on the ground, in meters.
    focus_m: f32,
    // Number of cells of the field in a cell of the mesh of sunlight.
    mesh_step: u32,
    // Standard deviation of the blur of the sunlight, in texels.
    spread_texels: f32,
    // Size of the texture of sunlight, in texels.
    target_px: vec2<f32>,
    padding_2: vec2<f32>,
    // The waves of the swell: wave vector in radians per meter, phase in radians, height in meters.
    swell: array<vec4<f32>, SWELL_WAVES>,
}

@group(0) @binding(0) var<uniform> field: FieldUniforms;
