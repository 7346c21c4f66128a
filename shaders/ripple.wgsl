// One step of the wave equation on the height field; run several times a frame between two buffers.
// Cells hold height, its velocity, and the presence of shadows at the last step.
// Source: h'' = c² ∇²h − damping; explicit in time, stable for c·dt/cell < 1/√2.

@group(1) @binding(0) var<storage, read> before: array<vec3<f32>>;
@group(1) @binding(1) var<storage, read_write> after: array<vec3<f32>>;
@group(1) @binding(2) var presence_now: texture_2d<f32>;

const STEP_SECS = 1.0 / 120.0;
const SPEED_MPS = 0.72;

// Cells along x that one thread works out: what neighbors have in common is read once. Without a graphics card reading
// is most of what a step costs.
const CELLS = 8;

// Height of a cell, and of the ones above and below it together.
fn column(x: i32, z: i32) -> vec2<f32> {
    let columns = i32(frame.field.w);
    let rows = i32(frame.steps.w);
    let at = clamp(x, 0, columns - 1);
    let above = before[max(z - 1, 0) * columns + at].x;
    let below = before[min(z + 1, rows - 1) * columns + at].x;
    return vec2<f32>(before[z * columns + at].x, above + below);
}

@compute @workgroup_size(8, 8)
fn step(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = i32(id.x) * CELLS;
    let z = i32(id.y);
    let columns = i32(frame.field.w);
    let rows = i32(frame.steps.w);
    if first >= columns || z >= rows {
        return;
    }
    let courant = min(SPEED_MPS * STEP_SECS / frame.field.z, 0.6);
    var left = column(first - 1, z);
    var middle = column(first, z);
    for (var x = first; x < min(first + CELLS, columns); x++) {
        let right = column(x + 1, z);
        // Nine-point Laplacian: rings stay round.
        let sides = left.x + right.x + middle.y;
        let laplacian = (4.0 * sides + left.y + right.y - 20.0 * middle.x) / 6.0;
        let cell = z * columns + x;
        let old = before[cell].yz;
        // Water calms within seconds, sooner around somebody who stands still, at once at the field's rim.
        let rim = min(min(f32(x), f32(columns - 1 - x)), min(f32(z), f32(rows - 1 - z))) / 14.0;
        let absorbing = 9.0 * (1.0 - min(rim, 1.0)) * (1.0 - min(rim, 1.0));
        let target_presence = textureLoad(presence_now, vec2<i32>(x, z), 0).r;
        let presence = mix(old.y, target_presence, 1.0 / max(frame.steps.x, 1.0));
        let damping = 1.15 + 1.6 * presence + absorbing;
        // A shadow that arrives pushes water up, one that leaves draws it down.
        let push = (presence - old.y) * frame.steps.y * 0.011;
        var velocity = old.x + courant * courant * laplacian / STEP_SECS;
        velocity = velocity * exp(-damping * STEP_SECS);
        var height = middle.x + velocity * STEP_SECS + push;
        height = clamp(height * exp(-0.35 * STEP_SECS), -0.08, 0.08);
        after[cell] = vec3<f32>(height, clamp(velocity, -2.0, 2.0), presence);
        left = middle;
        middle = right;
    }
}
