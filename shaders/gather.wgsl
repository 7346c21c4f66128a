// Turns the bundles that arrived at the ground into a smooth picture of light: 1 where it is even. Written as roots of
// up to four times that, so that eight bits are enough.

@group(1) @binding(0) var<storage, read> light: array<u32>;
@group(1) @binding(1) var caustics: texture_storage_2d<rgba8unorm, write>;

fn arrived(x: i32, z: i32) -> f32 {
    let columns = i32(frame.field.w);
    let rows = i32(frame.steps.w);
    return f32(light[clamp(z, 0, rows - 1) * columns + clamp(x, 0, columns - 1)]) / 4096.0;
}

@compute @workgroup_size(8, 8)
fn gather(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = i32(id.x);
    let z = i32(id.y);
    if x >= i32(frame.field.w) || z >= i32(frame.steps.w) {
        return;
    }
    let middle = arrived(x, z);
    let sides = arrived(x - 1, z) + arrived(x + 1, z) + arrived(x, z - 1) + arrived(x, z + 1);
    let corners = arrived(x - 1, z - 1) + arrived(x + 1, z - 1) + arrived(x - 1, z + 1) + arrived(x + 1, z + 1);
    // A binomial blur hides the grid of bundles.
    let even = (4.0 * middle + 2.0 * sides + corners) / 16.0;
    // Threads of light, dim between them: what a finer grid of bundles would show. Tuned by eye, 2026-11-22.
    let drawn = even * (0.45 + 0.55 * even);
    // Near the field's rim some light is missing; there it fades to even light.
    let rim = min(min(f32(x), frame.field.w - 1.0 - f32(x)), min(f32(z), frame.steps.w - 1.0 - f32(z))) / 12.0;
    textureStore(caustics, vec2<i32>(x, z), vec4<f32>(sqrt(0.25 * mix(1.0, drawn, clamp(rim - 0.3, 0.0, 1.0))), 0.0, 0.0, 1.0));
}
