// What every shader knows of a frame. Put in front of the other files; its twin is `render::draw::SceneUniforms`.
// Spaces: world (meters, surface at y = 0, below it negative); picture (0..1, y down); cell (of the height field).

struct SceneUniforms {
    // half width, half height of the surface, height of the eye, depth of the ground
    surface: vec4<f32>,
    // half extent of the height field along x and z, overscan of the picture below; unused
    field: vec4<f32>,
    // half extent of the ground's picture along x and z, share of their room that the pictures of bodies and of light on
    // the ground fill, glow of specks
    ground: vec4<f32>,
    // shift of sunlight per meter of depth along x and z, cosine in the water, strength
    sun: vec4<f32>,
    // color of sun and sky; w: caustics, reflection
    sun_color: vec4<f32>,
    sky_color: vec4<f32>,
    // absorption per meter; w: exposure
    absorption: vec4<f32>,
    // color of the sand; w: share of pebbles
    sand: vec4<f32>,
    // time, seed of the ground, share of foam, share of shafts of light
    time: vec4<f32>,
    // from a place on the surface to the picture of what lies below (x, y) and to the ground's picture (z, w), to be
    // added to a half
    maps: vec4<f32>,
    // what is up in the water; depth of the water's surface along it, from the origin
    up: vec4<f32>,
    // direction towards the sun; by how much less a level plane faces it, as a factor
    to_sun: vec4<f32>,
    // light that the water scatters up, before its color; share of it per meter
    haze: vec4<f32>,
    // share of fallen leaves, of rust on plants, of relief of the sand; unused
    scene: vec4<f32>,
}

@group(0) @binding(0) var<uniform> frame: SceneUniforms;

// What the picture lies on: 0 a floor, seen from above; 1 a wall, from the side; 2 a ceiling, from below.
override KIND: u32 = 0u;

// Clip position of a world point in the picture below the surface, which is drawn a little larger than it is shown.
fn clip_from_world(world: vec3<f32>) -> vec4<f32> {
    let eye = frame.surface.z;
    let away = eye - world.y;
    let near = eye * 0.5;
    let far = eye + frame.surface.w + 2.0;
    let xy = vec2<f32>(world.x, -world.z) * eye / frame.surface.xy / frame.field.z;
    let z = far * (away - near) / (far - near);
    return vec4<f32>(xy, z, away);
}

// Light of what covers a share of a pixel, as it is kept: eight bits are fine for roots, up to four times white.
fn kept(light: vec3<f32>, cover: f32) -> vec4<f32> {
    return vec4<f32>(sqrt(clamp(light * 0.25, vec3<f32>(0.0), vec3<f32>(1.0))) * cover, cover);
}

// Light that water of this length lets through.
fn transmitted(length_m: f32) -> vec3<f32> {
    return exp(-frame.absorption.xyz * length_m);
}

// How deep under the water's surface a point lies.
fn depth_of(world: vec3<f32>) -> f32 {
    return max(frame.up.w - dot(world, frame.up.xyz), 0.0);
}

// What the water scatters into the eye on a way of this length.
fn scattered(length_m: f32) -> vec3<f32> {
    return frame.haze.xyz * (1.0 - exp(-frame.haze.w * length_m)) * (frame.sky_color.xyz + 0.4 * frame.sun_color.xyz);
}

// Color that a thing of this color sends to the eye: sun and sky down through the water, and to the surface.
fn under_water(color: vec3<f32>, world: vec3<f32>, sun: f32, sky: f32) -> vec3<f32> {
    let depth = depth_of(world);
    let way = max(-world.y, 0.0);
    let lit = frame.sun_color.xyz * (sun * frame.sun.w) * transmitted(depth / frame.sun.z + way) + frame.sky_color.xyz * sky * transmitted(depth * 1.2 + way);
    return color * lit + scattered(way);
}

// Sunlight at a depth, of a net of caustics (as `render::caustics` writes it) against even light: softer where the water is shallow above it (the waves
// have not gathered the light yet) and where it is deep (they have spread it again).
fn gathered(root: f32, depth: f32) -> f32 {
    let net = 4.0 * root * root;
    let share = smoothstep(0.0, 0.35, depth) * mix(1.0, 0.45, smoothstep(0.6, 2.0, depth));
    // Between the threads it is less dark than they are bright: light also comes from beside. Tuned by eye, 2026-11-22.
    let apart = min(net, 3.0) - 1.0;
    return max(1.0 + max(apart, 0.8 * apart) * share * 0.92 * frame.sun_color.w, 0.12);
}

fn hash2(p: vec2<i32>) -> vec2<f32> {
    var h = bitcast<vec2<u32>>(p) * vec2<u32>(0x9E3779B1u, 0x85EBCA77u);
    var k = h.x ^ (h.y + (h.x << 6u));
    k = (k ^ (k >> 16u)) * 0x7FEB352Du;
    k = (k ^ (k >> 15u)) * 0x846CA68Bu;
    k = k ^ (k >> 16u);
    return vec2<f32>(f32(k & 0xFFFFu), f32(k >> 16u)) / 65535.0;
}

// Smooth noise in 0..1; lattice over whole numbers, so it repeats nowhere within 2^31 cells.
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

fn fbm(p: vec2<f32>) -> f32 {
    let turn = mat2x2<f32>(0.8, 0.6, -0.6, 0.8);
    let q = turn * p * 2.03 + 17.1;
    let r = turn * q * 2.01 + 5.3;
    return 0.53 * noise(p) + 0.30 * noise(q) + 0.17 * noise(r);
}
