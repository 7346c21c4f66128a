// The soft shadows of bodies on the ground, as flat shapes. A texel stores the square root of the share of light that is left;
// where shadows overlap, their shares are multiplied.

@group(1) @binding(0) var shadow_masks: texture_2d_array<f32>;
@group(1) @binding(1) var smooth_sampler: sampler;

// A vertex of a ground shadow; same layout as `GroundShadowVertex` in `src/render/ground_shadow.rs`.
struct GroundShadowVertex {
    // Position on the ground texture, in meters.
    @location(0) position_m: vec2<f32>,
    // Position on the shadow mask.
    @location(1) uv: vec2<f32>,
    // Layer of the mask in `shadow_masks`.
    @location(2) mask_layer: f32,
    // Mip level of the mask.
    @location(3) mask_level: f32,
    // Share of the light that a fully covered point loses.
    @location(4) strength: f32,
}

// Inputs of the shadow pass.
struct Pixel {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    // Layer of the mask, level of the mask, strength. They are packed into one vector, because every varying costs time on a
    // machine without a graphics card.
    @location(1) shadow: vec3<f32>,
}

@vertex
fn shadow_vertex(vertex: GroundShadowVertex) -> Pixel {
    var pixel: Pixel;
    let ndc = vertex.position_m / scene.ground_half_m;
    pixel.position = vec4<f32>(ndc.x, -ndc.y, 0.0, 1.0);
    pixel.uv = vertex.uv;
    pixel.shadow = vec3<f32>(vertex.mask_layer, vertex.mask_level, vertex.strength);
    return pixel;
}

@fragment
fn shadow_light(pixel: Pixel) -> @location(0) vec4<f32> {
    let layer = i32(pixel.shadow.x + 0.5);
    let cover = textureSampleLevel(shadow_masks, smooth_sampler, pixel.uv, layer, floor(pixel.shadow.y + 0.5)).r;
    return vec4<f32>(sqrt(max(1.0 - cover * pixel.shadow.z, 0.0)));
}
