// The halo of bright bodies: their light above a limit, averaged into a small texture, and blurred along both axes.

@group(1) @binding(0) var source: texture_2d<f32>;
@group(1) @binding(1) var smooth_sampler: sampler;

// Light above which a body has a halo; 1 is white.
const BRIGHT = 0.45;

// The bright part of the bodies, averaged over a texel of the small texture.
@fragment
fn bright_part(pixel: Pixel) -> @location(0) vec4<f32> {
    let extent = vec2<f32>(dpdx(pixel.uv.x), dpdy(pixel.uv.y));
    let size = vec2<f32>(textureDimensions(source)) * scene.target_scale;
    // Each sample is the mean of four pixels.
    let taps = vec2<i32>(clamp(ceil(0.5 * extent * size), vec2<f32>(1.0), vec2<f32>(8.0)));
    var sum = vec3<f32>(0.0);
    for (var y = 0; y < taps.y; y++) {
        for (var x = 0; x < taps.x; x++) {
            let share = (vec2<f32>(f32(x), f32(y)) + 0.5) / vec2<f32>(taps) - 0.5;
            let body = textureSampleLevel(source, smooth_sampler, (pixel.uv + extent * share) * scene.target_scale, 0.0);
            let root = body.rgb / max(body.a, 1e-3);
            sum += max(4.0 * root * root - BRIGHT, vec3<f32>(0.0)) * body.a;
        }
    }
    return vec4<f32>(sum / f32(taps.x * taps.y), 1.0);
}

// Texels to each side over which the halo reaches.
const REACH = 14;

// Returns the light at a texel, spread along an axis: a bright middle and a wide, faint rim.
fn spread_light(at: vec2<i32>, axis: vec2<i32>) -> vec4<f32> {
    let last = vec2<i32>(textureDimensions(source)) - 1;
    var sum = vec4<f32>(0.0);
    var weights = 0.0;
    for (var i = -REACH; i <= REACH; i++) {
        let off = f32(i * i);
        let weight = exp(-off / 5.0) + 0.16 * exp(-off / 60.0);
        sum += textureLoad(source, clamp(at + axis * i, vec2<i32>(0), last), 0) * weight;
        weights += weight;
    }
    return sum / weights;
}

@fragment
fn bloom_along(pixel: Pixel) -> @location(0) vec4<f32> {
    return spread_light(vec2<i32>(pixel.position.xy), vec2<i32>(1, 0));
}

@fragment
fn bloom_across(pixel: Pixel) -> @location(0) vec4<f32> {
    return spread_light(vec2<i32>(pixel.position.xy), vec2<i32>(0, 1));
}
