// The water's surface for this frame: slopes of rings and swell together, and the light that they bend to the ground.
// Every cell sends one bundle of sunlight down; where bundles meet, the ground is bright (caustics by area ratio).

@group(1) @binding(0) var<storage, read> field: array<vec3<f32>>;
@group(1) @binding(1) var slopes: texture_storage_2d<rgba8unorm, write>;
@group(1) @binding(2) var<storage, read_write> light: array<atomic<u32>>;

// One bundle in fixed point.
const UNIT = 4096.0;
// How far a slope of one moves a bundle on the ground. More than refraction would (a quarter of the depth): the swell
// is kept low for the eye's sake, and the net must still form. Tuned by eye.
const FOCUS_M = 0.95;

// Height, and presence of shadows.
fn cell_at(x: i32, z: i32) -> vec2<f32> {
    let columns = i32(frame.field.w);
    let rows = i32(frame.steps.w);
    return field[clamp(z, 0, rows - 1) * columns + clamp(x, 0, columns - 1)].xz;
}

// Cells along x that one thread works out: the swell turns on from cell to cell without new cosines.
const CELLS = 8u;

// How lively the water is at a place, 0 to 1. Lengths and speeds have no common period.
fn gusts(place: vec2<f32>) -> f32 {
    let t = frame.time.x;
    let warp = vec2<f32>(sin(1.9 * place.y + 0.11 * t), sin(1.6 * place.x - 0.09 * t + 2.0));
    let p = place + 0.35 * warp;
    return clamp(0.5 + 0.30 * sin(1.45 * p.x + 1.1 * p.y - 0.13 * t) + 0.30 * sin(1.7 * p.y - 0.8 * p.x + 0.10 * t + 1.0), 0.0, 1.0);
}

@compute @workgroup_size(8, 8)
fn bend(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = vec2<u32>(id.x * CELLS, id.y);
    let columns = u32(frame.field.w);
    let rows = u32(frame.steps.w);
    if first.x >= columns || first.y >= rows {
        return;
    }
    let place = (vec2<f32>(first) + 0.5) * frame.field.z - frame.field.xy;
    // Gusts and calm drift over the pool, over meters: where it is lively short waves draw a fine net, where it is calm
    // long ones draw a wide and faint one. Worked out at both ends of this row of cells.
    let lively = gusts(place);
    let livelier = (gusts(place + vec2<f32>(f32(CELLS) * frame.field.z, 0.0)) - lively) / f32(CELLS);
    var swells = array<vec2<f32>, CELLS>();
    for (var i = 0; i < 14; i++) {
        if i == 7 {
            for (var j = 0u; j < CELLS; j++) {
                swells[j] *= 0.50 + 0.85 * (lively + livelier * f32(j));
            }
        }
        let wave = frame.waves[i];
        let turn = frame.turns[i].xy;
        let start = dot(wave.xy, place) + wave.z;
        let steep = wave.xy * wave.w;
        var now = vec2<f32>(cos(start), sin(start));
        for (var j = 0u; j < CELLS; j++) {
            swells[j] += steep * now.x;
            now = vec2<f32>(now.x * turn.x - now.y * turn.y, now.x * turn.y + now.y * turn.x);
        }
    }
    for (var j = 0u; j < CELLS; j++) {
        swells[j] *= 0.72 + 0.5 * (lively + livelier * f32(j));
    }
    let cell = vec2<i32>(first);
    var row = Row(cell_at(cell.x - 1, cell.y), cell_at(cell.x, cell.y));
    // Written out: a loop would look the swells up in memory, one by one where there is no graphics card.
    bend_cell(cell, swells[0], &row);
    bend_cell(cell + vec2<i32>(1, 0), swells[1], &row);
    bend_cell(cell + vec2<i32>(2, 0), swells[2], &row);
    bend_cell(cell + vec2<i32>(3, 0), swells[3], &row);
    bend_cell(cell + vec2<i32>(4, 0), swells[4], &row);
    bend_cell(cell + vec2<i32>(5, 0), swells[5], &row);
    bend_cell(cell + vec2<i32>(6, 0), swells[6], &row);
    bend_cell(cell + vec2<i32>(7, 0), swells[7], &row);
}

// Two neighbors along x.
struct Row {
    left: vec2<f32>,
    middle: vec2<f32>,
}

fn bend_cell(cell: vec2<i32>, swell: vec2<f32>, row: ptr<function, Row>) {
    let x = cell.x;
    let z = cell.y;
    let columns = i32(frame.field.w);
    let rows = i32(frame.steps.w);
    let place = (vec2<f32>(cell) + 0.5) * frame.field.z - frame.field.xy;
    let here = (*row).middle;
    let right = cell_at(x + 1, z);
    let along = right - (*row).left;
    *row = Row(here, right);
    let across = cell_at(x, z + 1) - cell_at(x, z - 1);
    let rings = vec2<f32>(along.x, across.x) / (2.0 * frame.field.z);
    // Where a shadow begins: at its rim only, however small it is and however fast it moves.
    let rim = clamp(2.0 * length(vec2<f32>(along.y, across.y)), 0.0, 1.0);
    // Around somebody who stands still the swell lies down too.
    let slope = swell * (1.0 - 0.5 * here.y) + rings;
    // The sky that this place mirrors: slow clouds, moved aside by the slope.
    let sky = place * 1.3 + slope * 9.0 + vec2<f32>(frame.time.x * 0.02, 3.0);
    let clouds = 0.5 + 0.25 * (sin(sky.x + 0.7 * sky.y) + sin(1.31 * sky.y - 0.4 * sky.x));
    // What the eye sees of a slope: steep ones are broken by wavelets. Below a quarter, so it fits into 0..1.
    textureStore(slopes, vec2<i32>(x, z), vec4<f32>(slope / (1.0 + 4.0 * length(slope)) * 2.0 + 128.0 / 255.0, clouds, rim));

    let steep = swell + rings / (1.0 + 4.0 * length(rings));
    let moved = vec2<f32>(cell) - steep * FOCUS_M / frame.field.z;
    let first = vec2<i32>(floor(moved));
    let part = moved - vec2<f32>(first);
    for (var corner = 0; corner < 4; corner++) {
        let step = vec2<i32>(corner & 1, corner >> 1);
        let at = first + step;
        if all(at >= vec2<i32>(0)) && at.x < columns && at.y < rows {
            let share = mix(1.0 - part, part, vec2<f32>(step));
            atomicAdd(&light[at.y * columns + at.x], u32(share.x * share.y * UNIT));
        }
    }
}
