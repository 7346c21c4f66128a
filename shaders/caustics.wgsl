// Sunlight on the ground: the water surface is a mesh whose corners move along the refracted rays. Where the mesh is compressed,
// the light is brighter; where it is folded, several layers add up.
//
// Red: light relative to even light. Green and blue: that light times the distance in meters by which its rays were moved, for
// colored fringes.

@group(1) @binding(0) var slopes: texture_2d<f32>;

struct Ray {
    @builtin(position) position: vec4<f32>,
    // Place on the water at which the ray enters, in texels of the target.
    @location(0) origin: vec2<f32>,
    // Distance by which the ray is moved, in meters.
    @location(1) moved_m: vec2<f32>,
}

// Each instance is a strip of triangles between two rows of the mesh.
@vertex
fn ray(@builtin(vertex_index) vertex: u32, @builtin(instance_index) row: u32) -> Ray {
    let last = vec2<i32>(field.region) - 1;
    let cell = min(vec2<i32>(i32((vertex >> 1u) * field.mesh_step), i32((row + (vertex & 1u)) * field.mesh_step)), last);
    let share = vec2<f32>(cell) / vec2<f32>(last);
    // The light is even near the edge of the field, because rays from beyond it are missing.
    let from_edge = min(cell, last - cell);
    let inside = smoothstep(0.0, 16.0, f32(min(from_edge.x, from_edge.y)));
    let moved = -textureLoad(slopes, cell, 0).xy * (field.focus_m * inside);
    let ndc = share * 2.0 - 1.0 + moved / field.half_m;
    var out: Ray;
    out.position = vec4<f32>(ndc.x, -ndc.y, 0.0, 1.0);
    out.origin = share * field.target_px;
    out.moved_m = moved;
    return out;
}

@fragment
fn ray_light(pixel: Ray) -> @location(0) vec4<f32> {
    let across = dpdx(pixel.origin);
    let down = dpdy(pixel.origin);
    // Ratio of the area of a triangle on the water to its area on the ground. The limit hides single bright texels.
    let light = min(abs(across.x * down.y - across.y * down.x), 24.0);
    return vec4<f32>(light, light * pixel.moved_m, 1.0);
}

// Sunlight before the blur along one axis.
@group(1) @binding(0) var sharp_light: texture_2d<f32>;

@vertex
fn full_target(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// Returns the sunlight at a texel, blurred along an axis. The rays of the sun come from a disc and are scattered on their way, so
// a point of the water lights a spot of the ground.
fn spread_light(at: vec2<i32>, axis: vec2<i32>) -> vec4<f32> {
    let last = vec2<i32>(textureDimensions(sharp_light)) - 1;
    let reach = i32(ceil(2.0 * field.spread_texels));
    var sum = vec4<f32>(0.0);
    var weights = 0.0;
    for (var i = -reach; i <= reach; i++) {
        let off = f32(i) / field.spread_texels;
        let weight = exp(-0.5 * off * off);
        sum += textureLoad(sharp_light, clamp(at + axis * i, vec2<i32>(0), last), 0) * weight;
        weights += weight;
    }
    return sum / weights;
}

@fragment
fn spread_along(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    return spread_light(vec2<i32>(position.xy), vec2<i32>(1, 0));
}

@fragment
fn spread_across(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    return spread_light(vec2<i32>(position.xy), vec2<i32>(0, 1));
}
