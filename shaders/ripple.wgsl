// One step of the wave equation on the height field; run several times a frame between two buffers.
// Cells hold height, its velocity, and the presence of shadows at the last step.
// Source: h'' = c² ∇²h − damping; explicit in time, stable for c·dt/cell < 1/√2.

@group(1) @binding(0) var<storage, read> before: array<vec4<f32>>;
@group(1) @binding(1) var<storage, read_write> after: array<vec4<f32>>;
@group(1) @binding(2) var presence_now: texture_2d<f32>;

const STEP_SECS = 1.0 / 120.0;
const SPEED_MPS = 0.72;

fn cell(x: i32, z: i32) -> vec4<f32> {
    let columns = i32(frame.field.w);
    let rows = i32(frame.steps.w);
    return before[clamp(z, 0, rows - 1) * columns + clamp(x, 0, columns - 1)];
}

@compute @workgroup_size(8, 8)
fn step(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = i32(id.x);
    let z = i32(id.y);
    let columns = i32(frame.field.w);
    let rows = i32(frame.steps.w);
    if x >= columns || z >= rows {
        return;
    }
    let here = cell(x, z);
    let sides = cell(x - 1, z).x + cell(x + 1, z).x + cell(x, z - 1).x + cell(x, z + 1).x;
    let corners = cell(x - 1, z - 1).x + cell(x + 1, z - 1).x + cell(x - 1, z + 1).x + cell(x + 1, z + 1).x;
    // Nine-point Laplacian: rings stay round.
    let laplacian = (4.0 * sides + corners - 20.0 * here.x) / 6.0;
    let courant = min(SPEED_MPS * STEP_SECS / frame.field.z, 0.6);
    // Water calms within seconds, sooner around somebody who stands still, at once at the field's rim.
    let rim = min(min(f32(x), f32(columns - 1 - x)), min(f32(z), f32(rows - 1 - z))) / 14.0;
    let absorbing = 9.0 * (1.0 - min(rim, 1.0)) * (1.0 - min(rim, 1.0));
    let target_presence = textureLoad(presence_now, vec2<i32>(x, z), 0).r;
    let presence = mix(here.z, target_presence, 1.0 / max(frame.steps.x, 1.0));
    let damping = 1.15 + 1.6 * presence + absorbing;
    // A shadow that arrives pushes water up, one that leaves draws it down.
    let push = (presence - here.z) * frame.steps.y * 0.011;
    var velocity = here.y + courant * courant * laplacian / STEP_SECS;
    velocity = velocity * exp(-damping * STEP_SECS);
    var height = here.x + velocity * STEP_SECS + push;
    height = clamp(height * exp(-0.35 * STEP_SECS), -0.08, 0.08);
    after[z * columns + x] = vec4<f32>(height, clamp(velocity, -2.0, 2.0), presence, 0.0);
}
