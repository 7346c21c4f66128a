// Definitions that all shaders share. This file is put in front of each of the other shader files.
//
// Coordinate spaces: world in meters (the water surface of a floor pool is at y = 0, points under water have a negative y);
// picture from 0 to 1 with y downwards; textures from 0 to 1. Light values are linear; 1 is white.

// Values of a scene; same layout as `SceneUniforms` in `src/render/uniforms.rs`.
struct SceneUniforms {
    // Half width and half height of the surface, in meters.
    surface_half_m: vec2<f32>,
    // Height of the eye above the center of the surface, in meters.
    eye_height_m: f32,
    // Depth of the ground below the surface, in meters.
    ground_depth_m: f32,
    // Half extent of the height field of the water along x and z, in meters.
    water_half_m: vec2<f32>,
    // Size of the body texture relative to the picture.
    overscan: f32,
    // Used part of the textures of bodies and of their shadows on the ground, as a share of their sides.
    target_scale: f32,
    // Half extent of the ground texture along its two axes, in meters.
    ground_half_m: vec2<f32>,
    // Horizontal shift of sunlight per meter of depth, along x and z.
    sun_shift: vec2<f32>,
    // Color of the sunlight.
    sun_color: vec3<f32>,
    // Factor on the sunlight.
    sun_strength: f32,
    // Color and strength of the light from the sky.
    sky_color: vec3<f32>,
    // Strength of the sky's reflections on the water.
    reflection: f32,
    // Absorption coefficients of the water for red, green and blue, per meter.
    absorption_per_m: vec3<f32>,
    // Factor on the light, applied before the tone curve.
    exposure: f32,
    // Color of the sand.
    sand_color: vec3<f32>,
    // Share of the ground that is covered by pebbles.
    pebble_share: f32,
    // Direction up, unit length: +y on a floor, -z on a wall, -y on a ceiling.
    up: vec3<f32>,
    // Position of the water surface along `up`, in meters from the origin.
    water_level_m: f32,
    // Direction towards the sun, unit length.
    to_sun: vec3<f32>,
    // Factor on the cosine between a normal and `to_sun`: the inverse of the cosine between `to_sun` and `up`, so that a level
    // plane has sunlight 1.
    facing_scale: f32,
    // Color of the light that the water scatters at infinite distance, relative to the light that enters it.
    haze_color: vec3<f32>,
    // Rate at which scattered light approaches `haze_color` with distance, per meter.
    haze_per_m: f32,
    // Scale from surface meters to body texture coordinates; the offset is 0.5.
    body_uv_per_m: vec2<f32>,
    // Scale from surface meters to ground texture coordinates; the offset is 0.5.
    ground_uv_per_m: vec2<f32>,
    // Time of drifting patterns in seconds. It restarts after `DRIFT_PERIOD_SECS`.
    time_secs: f32,
    // Cosine of the angle between sunlight in the water and the vertical.
    sun_cosine: f32,
    // Strength of the caustics.
    caustics: f32,
    // Amount of foam where waves break, 0..1.
    foam: f32,
    // Strength of the shafts of sunlight.
    shafts: f32,
    // Strength of the light that specks emit.
    glow: f32,
    // Amount of fallen leaves, 0..1.
    litter: f32,
    // Share of rust-colored plants, 0..1.
    rust_share: f32,
    // Strength of the relief of the sand, 0..1.
    relief: f32,
    // Seed of the ground's pattern.
    ground_seed: f32,
    // Share of the ground that packed gravel covers, 0..1.
    gravel: f32,
    // Strength of the trees: their reflection on the water, and their shade, 0..1.
    canopy: f32,
    // Share of the ground that a crust of coral covers, 0..1.
    crust: f32,
    // Strength of the shade around a sunlit clearing in the middle, 0..1.
    clearing: f32,
    // Light of the traces of visitors.
    wake_glow: f32,
    // Amount of silt that visitors stir up, 0..1.
    silt: f32,
    // Depth of the footprints of visitors, 0..1.
    prints: f32,
    // Strength of the halo of bright bodies.
    bloom: f32,
    // 1 while a trace is on the floor, otherwise 0: the number of times that the traces are read. Mesa's software driver leaves out a
    // loop without a pass, but no `if`.
    has_traces: u32,
    padding: f32,
}

@group(0) @binding(0) var<uniform> scene: SceneUniforms;

// Kinds of surfaces: a floor is seen from above, a wall from the side, a ceiling from below.
const FLOOR = 0u;
const WALL = 1u;
const CEILING = 2u;

override SURFACE_KIND: u32 = FLOOR;

// Returns the clip position of a world point in the body texture. The texture is larger than the picture by the factor
// `overscan`.
fn clip_from_world(world: vec3<f32>) -> vec4<f32> {
    let eye = scene.eye_height_m;
    let away = eye - world.y;
    let near = eye * 0.5;
    let far = eye + scene.ground_depth_m + 2.0;
    let xy = vec2<f32>(world.x, -world.z) * eye / scene.surface_half_m / scene.overscan;
    let z = far * (away - near) / (far - near);
    return vec4<f32>(xy, z, away);
}

// Encodes light of a body that covers a share of a pixel (`cover`) for an 8-bit texture: the square root of a quarter of the
// light (up to four times white), multiplied by the cover.
fn encode_light(light: vec3<f32>, cover: f32) -> vec4<f32> {
    return vec4<f32>(sqrt(clamp(light * 0.25, vec3<f32>(0.0), vec3<f32>(1.0))) * cover, cover);
}

// The two targets of the pass that draws bodies.
struct Drawn {
    // Light and cover; see `encode_light`.
    @location(0) light: vec4<f32>,
    // Red: depth below the surface relative to the depth of the ground, multiplied by the cover. Green: the cover again, so that
    // both are read at once.
    @location(1) depth: vec4<f32>,
}

// Returns the pixel of a body at a world point.
fn drawn(light: vec4<f32>, world: vec3<f32>) -> Drawn {
    let share = clamp(-world.y / max(scene.ground_depth_m, 0.01), 0.0, 1.0);
    return Drawn(light, vec4<f32>(share * light.a, light.a, 0.0, light.a));
}

// Returns the share of light that is left after a distance in water.
fn transmitted(length_m: f32) -> vec3<f32> {
    return exp(-scene.absorption_per_m * length_m);
}

// Returns the depth of a point below the water surface, along `up`, in meters.
fn depth_of(world: vec3<f32>) -> f32 {
    return max(scene.water_level_m - dot(world, scene.up), 0.0);
}

// Returns the light that the water scatters towards the eye along a distance.
fn scattered(length_m: f32) -> vec3<f32> {
    return scene.haze_color * (1.0 - exp(-scene.haze_per_m * length_m)) * (scene.sky_color + 0.4 * scene.sun_color);
}

// Returns the pixel of a body that lies on the water or falls into it: waves do not bend the view of it.
fn drawn_on_water(light: vec4<f32>) -> Drawn {
    return Drawn(light, vec4<f32>(0.0, light.a, 0.0, light.a));
}

// Returns the light that reaches the picture from a point of a color. Sunlight (factor `sun`) and skylight (factor `sky`) go
// down through the water to the point, and from there to the plane of the picture. Scattered light is added.
fn under_water(color: vec3<f32>, world: vec3<f32>, sun: f32, sky: f32) -> vec3<f32> {
    let depth = depth_of(world);
    let way = max(-world.y, 0.0);
    let lit = scene.sun_color * (sun * scene.sun_strength) * transmitted(depth / scene.sun_cosine + way) + scene.sky_color * sky * transmitted(depth * 1.2 + way);
    return color * lit + scattered(way);
}

// Returns the sunlight at a depth, relative to even light, from the light that the waves focus. The contrast is lower in shallow
// water, where waves have not focused the light yet, and in deep water, where the light has spread again.
fn focused_sunlight(light: f32, depth: f32) -> f32 {
    let share = smoothstep(0.0, 0.30, depth) * mix(0.75, 0.4, smoothstep(0.8, 2.5, depth));
    return max(1.0 + (min(light, 8.0) - 1.0) * share * scene.caustics, 0.10);
}

// Sunlight under the trees and in the gaps between them, relative to the mean.
const UNDER_TREES = 0.62;
const BETWEEN_TREES = 1.38;

// Returns the sunlight that reaches a place on the surface between the trees, relative to the mean: patches of light and shade where
// trees are reflected (`canopy`), and the shade around a clearing.
fn clearing_light(place: vec2<f32>) -> f32 {
    let bent = place + 0.16 * sin(2.9 * place.yx + vec2<f32>(0.4, 2.1)) + 0.06 * sin(8.3 * place.yx + vec2<f32>(1.7, 0.3));
    let at = 2.1 * bent + scene.ground_seed * vec2<f32>(2.3, 3.9);
    let crowns = sin(at.x + 0.6 * at.y) + sin(0.9 * at.y - 0.7 * at.x + 2.0) + 0.30 * sin(3.1 * at.x + 1.0) * sin(3.7 * at.y);
    let trees = mix(UNDER_TREES, BETWEEN_TREES, smoothstep(-0.45, 0.75, crowns));
    let around = 1.0 - 0.85 * scene.clearing * smoothstep(0.36, 0.86, length(bent / scene.surface_half_m));
    return around * mix(1.0, trees, min(1.6 * scene.canopy, 1.0));
}

// Period after which `SceneUniforms::time_secs` restarts, in seconds; same value as in `src/render/drift.rs`. A tileable pattern that
// drifts by whole tiles in this period does not jump.
const DRIFT_PERIOD_SECS: f32 = 3141.5927;

// Returns two random numbers 0..1 for a lattice point.
fn hash2(p: vec2<i32>) -> vec2<f32> {
    var h = bitcast<vec2<u32>>(p) * vec2<u32>(0x9E3779B1u, 0x85EBCA77u);
    var k = h.x ^ (h.y + (h.x << 6u));
    k = (k ^ (k >> 16u)) * 0x7FEB352Du;
    k = (k ^ (k >> 15u)) * 0x846CA68Bu;
    k = k ^ (k >> 16u);
    return vec2<f32>(f32(k & 0xFFFFu), f32(k >> 16u)) / 65535.0;
}

// Returns smooth noise 0..1 on the lattice of integers. The noise does not repeat within 2^31 cells.
fn noise(p: vec2<f32>) -> f32 {
    let cell = vec2<i32>(floor(p));
    let f = fract(p);
    let w = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    let a = hash2(cell).x;
    let b = hash2(cell + vec2<i32>(1, 0)).x;
    let c = hash2(cell + vec2<i32>(0, 1)).x;
    let d = hash2(cell + vec2<i32>(1, 1)).x;
    return mix(mix(a, b, w.x), mix(c, d, w.x), w.y);
}

// Returns fractal noise 0..1: three octaves, each rotated relative to the one before.
fn fbm(p: vec2<f32>) -> f32 {
    let turn = mat2x2<f32>(0.8, 0.6, -0.6, 0.8);
    let q = turn * p * 2.03 + 17.1;
    let r = turn * q * 2.01 + 5.3;
    return 0.53 * noise(p) + 0.30 * noise(q) + 0.17 * noise(r);
}
