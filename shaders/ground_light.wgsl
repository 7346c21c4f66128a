// Sunlight on the ground: the net of caustics, then the soft shadows of fish and stones drawn flat over it.
// Written as roots, so that eight bits are enough: sun against even light, up to four times (r); light of the sky (g).

@group(1) @binding(0) var silhouettes: texture_2d_array<f32>;
@group(1) @binding(1) var smooth_sampler: sampler;
@group(1) @binding(2) var caustics: texture_2d<f32>;

struct Ground {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec2<f32>,
}

@vertex
fn whole(@builtin(vertex_index) index: u32) -> Ground {
    let corner = vec2<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
    var pixel: Ground;
    pixel.position = vec4<f32>(corner, 0.0, 1.0);
    pixel.place = vec2<f32>(corner.x, -corner.y) * scene.ground_half_m;
    return pixel;
}

@fragment
fn net(pixel: Ground) -> @location(0) vec4<f32> {
    let depth = scene.ground_depth_m;
    let at = pixel.place - scene.sun_shift * depth;
    let light = textureSampleLevel(caustics, smooth_sampler, at / scene.water_half_m * 0.5 + 0.5, 0.0).r;
    return vec4<f32>(sqrt(gathered(light, depth)) * 0.5, 1.0, 0.0, 1.0);
}

struct Corner {
    @location(0) place: vec2<f32>,
    @location(1) uv: vec2<f32>,
    // layer of the silhouette, its level, strength
    @location(2) kind: vec3<f32>,
}

struct Pixel {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) kind: vec3<f32>,
}

@vertex
fn lay(corner: Corner) -> Pixel {
    var pixel: Pixel;
    let ndc = corner.place / scene.ground_half_m;
    pixel.position = vec4<f32>(ndc.x, -ndc.y, 0.0, 1.0);
    pixel.uv = corner.uv;
    pixel.kind = corner.kind;
    return pixel;
}

@fragment
fn darken(pixel: Pixel) -> @location(0) vec4<f32> {
    let layer = i32(pixel.kind.x + 0.5);
    let cover = textureSampleLevel(silhouettes, smooth_sampler, pixel.uv, layer, floor(pixel.kind.y + 0.5)).r;
    return vec4<f32>(sqrt(max(1.0 - cover * pixel.kind.z, 0.0)));
}
