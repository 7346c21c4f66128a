// The height field of the water. Waves of every length move at their own speed (deep water with surface
// tension: ω² = g·k + σ·k³). Each step is exact for any time step: the field is transformed to wave numbers, every wave is turned
// by its phase, and the field is transformed back (Tessendorf 2014, eWave).
//
// A step is four passes: `rows_forward`, `columns_forward`, `columns_back`, `rows_back`.

// A cell contains the height in meters and the velocity potential at the surface in m²/s.
@group(1) @binding(0) var<storage, read_write> water: array<vec2<f32>>;
// The field after the columns were transformed back.
@group(1) @binding(1) var<storage, read_write> turned: array<vec2<f32>>;
// Rate at which the waves of a cell decay, per second: high inside of a stone, and toward the edge of the field.
@group(1) @binding(2) var<storage, read> calm_per_s: array<f32>;
// The complex roots of unity exp(-2πi·j / cells). The sine of a shader is not exact enough.
@group(1) @binding(3) var<storage, read> roots: array<vec2<f32>>;
// Height in meters by which visitors, fish and splashes raise the water in this step.
@group(1) @binding(4) var pushes: texture_2d<f32>;

// Gravity, in m/s².
const GRAVITY = 9.81;
// Surface tension of water divided by its density, in m³/s².
const TENSION = 0.000073;
// Decay rate of all waves, per second. Tuned by eye.
const DECAY_PER_S = 0.32;
// Decay rate that grows with the square of the wave number, in m²/s. Tuned by eye; water alone is about a hundred times less viscous.
const VISCOSITY = 0.00016;
// Largest height and potential. They keep the field bounded.
const MOST_M = 0.08;
// Invocations per workgroup; see `CARD_LANES` in `src/render/gpu/water/pipelines.rs`. The result does not depend on it.
override LANES: u32 = 128u;

// The row or column that a workgroup transforms.
var<workgroup> line: array<vec2<f32>, 1024>;

fn product(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Returns the position in `line` of element `i` before a transform.
fn scattered_index(i: u32) -> u32 {
    return reverseBits(i) >> (32u - field.log2_cells);
}

// Transforms `line` in place (Cooley and Tukey 1965). `sign` is 1 for the transform to wave numbers, -1 for the way back.
fn transform(lane: u32, sign: f32) {
    let count = field.cells;
    for (var half = 1u; half < count; half *= 2u) {
        workgroupBarrier();
        for (var i = lane; i < count / 2u; i += LANES) {
            let within = i & (half - 1u);
            let first = 2u * i - within;
            let root = roots[within * (count / (2u * half))] * vec2<f32>(1.0, sign);
            let upper = line[first];
            let lower = product(line[first + half], root);
            line[first] = upper + lower;
            line[first + half] = upper - lower;
        }
    }
    workgroupBarrier();
}

// Returns the push at a cell, interpolated between the texels of `pushes`, which cover the visible region.
fn push_at(column: u32, row: u32) -> f32 {
    let size = vec2<f32>(textureDimensions(pushes));
    let place = (vec2<f32>(f32(column), f32(row)) + 0.5 - 0.5 * f32(field.cells)) * field.cell_m;
    let at = (place / field.half_m * 0.5 + 0.5) * size - 0.5;
    if any(at < vec2<f32>(0.0)) || any(at > size - 1.0) {
        return 0.0;
    }
    let first = vec2<i32>(at);
    let next = min(first + 1, vec2<i32>(size) - 1);
    let part = fract(at);
    let upper = mix(textureLoad(pushes, first, 0).r, textureLoad(pushes, vec2<i32>(next.x, first.y), 0).r, part.x);
    let lower = mix(textureLoad(pushes, vec2<i32>(first.x, next.y), 0).r, textureLoad(pushes, next, 0).r, part.x);
    return mix(upper, lower, part.y);
}

@compute @workgroup_size(LANES)
fn rows_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let row = group.x;
    for (var i = lane; i < field.cells; i += LANES) {
        let at = row * field.cells + i;
        var cell = water[at];
        // A value that is not finite (from a fault of the device) must not spread.
        cell = select(vec2<f32>(0.0), cell, abs(cell) <= vec2<f32>(MOST_M));
        cell.x += push_at(i, row);
        line[scattered_index(i)] = cell * exp(-calm_per_s[at] * field.step_secs);
    }
    transform(lane, 1.0);
    for (var i = lane; i < field.cells; i += LANES) {
        water[row * field.cells + i] = line[i];
    }
}

@compute @workgroup_size(LANES)
fn columns_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    for (var i = lane; i < field.cells; i += LANES) {
        line[scattered_index(i)] = water[i * field.cells + group.x];
    }
    transform(lane, 1.0);
    for (var i = lane; i < field.cells; i += LANES) {
        water[i * field.cells + group.x] = line[i];
    }
}

// Returns the signed wave number of an index of a transformed row or column, in radians per meter.
fn wave_number(i: u32) -> f32 {
    let signed_index = select(f32(i), f32(i) - f32(field.cells), i > field.cells / 2u);
    return signed_index * 6.2831853 / (f32(field.cells) * field.cell_m);
}

// Returns the wave with an index after the time step. Height and potential are two real fields in one complex field, so the
// wave and the opposite wave contain both.
fn turned_wave(column: u32, row: u32) -> vec2<f32> {
    let count = field.cells;
    let here = water[row * count + column];
    let opposite = water[((count - row) % count) * count + (count - column) % count];
    let height = 0.5 * vec2<f32>(here.x + opposite.x, here.y - opposite.y);
    let potential = 0.5 * vec2<f32>(here.y + opposite.y, opposite.x - here.x);
    let k = length(vec2<f32>(wave_number(column), wave_number(row)));
    let keeps = exp(-(DECAY_PER_S + VISCOSITY * k * k) * field.step_secs);
    let frequency = sqrt(GRAVITY * k + TENSION * k * k * k);
    // Normalized, so that an inexact cosine of a device never lets a wave grow.
    let turn = normalize(vec2<f32>(cos(frequency * field.step_secs), sin(frequency * field.step_secs)));
    // The ratio of potential to height in a wave.
    let ratio = frequency / max(k, 1e-6);
    let risen = height * turn.x + potential * (turn.y / max(ratio, 1e-6));
    let driven = potential * turn.x - height * (turn.y * ratio);
    // The mean height has no wave: it only decays.
    let is_mean = k < 1e-6;
    let new_height = select(risen, height, is_mean) * keeps;
    let new_potential = select(driven, vec2<f32>(0.0), is_mean) * keeps;
    return vec2<f32>(new_height.x - new_potential.y, new_height.y + new_potential.x);
}

@compute @workgroup_size(LANES)
fn columns_back(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    for (var i = lane; i < field.cells; i += LANES) {
        line[scattered_index(i)] = turned_wave(group.x, i);
    }
    transform(lane, -1.0);
    for (var i = lane; i < field.cells; i += LANES) {
        turned[i * field.cells + group.x] = line[i];
    }
}

@compute @workgroup_size(LANES)
fn rows_back(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let row = group.x * field.cells;
    for (var i = lane; i < field.cells; i += LANES) {
        line[scattered_index(i)] = turned[row + i];
    }
    transform(lane, -1.0);
    let scale = 1.0 / (f32(field.cells) * f32(field.cells));
    for (var i = lane; i < field.cells; i += LANES) {
        water[row + i] = clamp(line[i] * scale, vec2<f32>(-MOST_M), vec2<f32>(MOST_M));
    }
}
