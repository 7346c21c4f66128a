// Turns the bundles that arrived at the ground into a smooth picture of light: 1 where it is even. Written as roots of
// up to four times that, so that eight bits are enough.

@group(1) @binding(0) var<storage, read> light: array<u32>;
@group(1) @binding(1) var caustics: texture_storage_2d<rgba8unorm, write>;

// Cells along x that one thread works out.
const CELLS = 8;

fn arrived(x: i32, z: i32) -> f32 {
    let columns = i32(frame.field.w);
    let rows = i32(frame.steps.w);
    return f32(light[clamp(z, 0, rows - 1) * columns + clamp(x, 0, columns - 1)]) / 4096.0;
}

// A column of three cells, the middle one twice.
fn column(x: i32, z: i32) -> f32 {
    return arrived(x, z - 1) + 2.0 * arrived(x, z) + arrived(x, z + 1);
}

@compute @workgroup_size(8, 8)
fn gather(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = i32(id.x) * CELLS;
    let z = i32(id.y);
    let columns = i32(frame.field.w);
    if first >= columns || z >= i32(frame.steps.w) {
        return;
    }
    var left = column(first - 1, z);
    var middle = column(first, z);
    for (var x = first; x < min(first + CELLS, columns); x++) {
        let right = column(x + 1, z);
        // A binomial blur hides the grid of bundles.
        let even = (left + 2.0 * middle + right) / 16.0;
        // Threads of light, dim between them: what a finer grid of bundles would show. Tuned by eye, 2026-11-22.
        let drawn = even * (0.45 + 0.55 * even);
        // Near the field's rim some light is missing; there it fades to even light.
        let rim = min(min(f32(x), frame.field.w - 1.0 - f32(x)), min(f32(z), frame.steps.w - 1.0 - f32(z))) / 12.0;
        textureStore(caustics, vec2<i32>(x, z), vec4<f32>(sqrt(0.25 * mix(1.0, drawn, clamp(rim - 0.3, 0.0, 1.0))), 0.0, 0.0, 1.0));
        left = middle;
        middle = right;
    }
}
