// The slopes of the visible region of the water: the waves of the height field and the swell.
// Red and green: slope along x and z. Blue: strength of the gust, 0..1. Alpha: steepness of the waves of the height field.

// Height and potential of each cell; see `water_field.wgsl`.
@group(1) @binding(0) var<storage, read> water: array<vec2<f32>>;

@vertex
fn full_target(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

fn height_at(cell: vec2<i32>) -> f32 {
    let last = i32(field.cells) - 1;
    let at = clamp(cell, vec2<i32>(0), vec2<i32>(last));
    return water[u32(at.y) * field.cells + u32(at.x)].x;
}

// Returns the strength of the gust at a place, 0..1. A gust covers a few meters and drifts over the pool. Short waves are high
// inside of a gust.
fn gust_at(place: vec2<f32>) -> f32 {
    let t = field.time_secs;
    let p = place + 0.35 * vec2<f32>(sin(1.9 * place.y + 0.11 * t), sin(1.6 * place.x - 0.09 * t + 2.0));
    return clamp(0.5 + 0.30 * sin(1.45 * p.x + 1.1 * p.y - 0.13 * t) + 0.30 * sin(1.7 * p.y - 0.8 * p.x + 0.10 * t + 1.0), 0.0, 1.0);
}

@fragment
fn water_slopes(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let pixel = vec2<i32>(position.xy);
    let cell = pixel + (vec2<i32>(i32(field.cells)) - vec2<i32>(field.region)) / 2;
    let place = (position.xy / vec2<f32>(field.region) * 2.0 - 1.0) * field.half_m;
    let rings = vec2<f32>(
        height_at(cell + vec2<i32>(1, 0)) - height_at(cell - vec2<i32>(1, 0)),
        height_at(cell + vec2<i32>(0, 1)) - height_at(cell - vec2<i32>(0, 1)),
    ) / (2.0 * field.cell_m);
    let gust = gust_at(place);
    var slope = vec2<f32>(0.0);
    for (var i = 0u; i < SWELL_WAVES; i++) {
        let wave = field.swell[i];
        // The first waves are the longest. The shorter a wave, the more it depends on the gust.
        let share = f32(i) / f32(SWELL_WAVES);
        let local = mix(1.0, 0.25 + 1.5 * gust, share);
        slope += wave.xy * (wave.w * local * cos(dot(wave.xy, place) + wave.z));
    }
    let steep = length(rings);
    // Steep waves are flattened, so that the picture stays readable.
    return vec4<f32>(slope + rings / (1.0 + 1.5 * steep), gust, steep);
}
