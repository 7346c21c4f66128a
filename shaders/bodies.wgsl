// Bodies: fish, stones, trunks, corals, plants and waterfalls, drawn to the body texture with `encode_light`. Alpha is the
// share of the pixel that the body covers; where it is below 1, the output pass shows the ground behind the body.

// One drawn body; same layout as `BodyInstance` in `src/render/draw_list.rs`.
struct BodyInstance {
    // Index of the body's first matrix in `joints`.
    first_joint: u32,
    // Layer of the body's skin in `skins`; -1 if only its vertices are colored.
    skin_layer: i32,
    // Length of a fish, largest half axis of a static body, distance of falling water along its sill, in meters.
    size_m: f32,
    // Fish: cosine of the rotation of the hue, followed by its sine.
    hue_cos: f32,
    hue_sin: f32,
    // Fish: factor on the color.
    brightness: f32,
    // Fish: strength of the reflections; 0 if the fish glows. Falling water: its amount at one end, 0..1.
    shine: f32,
    // Fish: strength of the light that the fish emits. Falling water: its amount at the other end, 0..1.
    glow: f32,
    // Random number 0..1 that varies the color and pattern of the body.
    tone: f32,
    // Static body: its material. Fish: its color variety, 0 for the colors of the model. One of the constants below.
    substance: u32,
    // Fish: color (square roots) of its marks, and the share of places at which one grows, in four bytes.
    mark_color: u32,
    // Fish: places for marks along the body as a share of 64, size as a share of the largest, stretch as a share of 8, and reach down
    // the sides, in four bytes.
    mark_shape: u32,
    // Fish: strength of cloudy patches, 0..1.
    mottling: f32,
}

// Values of `BodyInstance::substance`; same numbers as in `Substance` in `src/render/static_bodies.rs`.
const STONE = 0u;
const WOOD = 1u;
const GROWN = 2u;
const LEAF = 3u;
const FLOWER = 4u;

// Color varieties of fish in `BodyInstance::substance`; same numbers as in `Variety` in `src/render/look.rs`.
const KOHAKU = 1u;
const SANKE = 2u;
const SHOWA = 3u;
const OGON = 4u;
const ASAGI = 5u;

// The three rows of an affine matrix; same layout as `AffineRows` in `src/render/pose.rs`.
struct AffineRows {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
}

@group(1) @binding(0) var focused_light: texture_2d<f32>;
@group(1) @binding(1) var smooth_sampler: sampler;
@group(1) @binding(2) var skins: texture_2d_array<f32>;
@group(1) @binding(3) var<storage, read> instances: array<BodyInstance>;
@group(1) @binding(4) var<storage, read> joints: array<AffineRows>;
// Tileable pattern of weathered stone: tone, slopes of bumps along two axes, lichen.
@group(1) @binding(5) var weathering: texture_2d<f32>;
@group(1) @binding(6) var tiling_sampler: sampler;

// Largest number of joints that move one vertex in this scene.
override INFLUENCES: i32 = 4;

// Whether a species has color varieties. A software adapter executes every branch for every pixel of a fish, so the patterns of koi
// are compiled only where they are drawn.
override HAS_VARIETIES: bool = false;

// Whether a species has markings, which are compiled only where they are drawn.
override HAS_MARKINGS: bool = false;

// Returns the sunlight at a world point, as a multiple of the sunlight without caustics.
fn sunlight(world: vec3<f32>) -> f32 {
    let depth = depth_of(world);
    // The texture of focused light belongs to the water surface, so the position is moved along the sunlight up to the surface.
    var at = world.xz - scene.sun_shift * depth;
    if SURFACE_KIND == WALL {
        at = vec2<f32>(world.x + 0.4 * depth, 1.3 * world.y);
    }
    let light = textureSampleLevel(focused_light, smooth_sampler, at / scene.water_half_m * 0.5 + 0.5, 0.0).r;
    if SURFACE_KIND == FLOOR {
        // Light from all sides reaches a body above the ground, so it stands out from ground in the shade.
        return focused_sunlight(light, depth) * mix(1.0, clearing_light(world.xz), 0.45);
    }
    return focused_sunlight(light, depth);
}

// A vertex of a model; same layout as `ModelVertex` in `src/render/model/data.rs`.
struct ModelVertex {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) uv: vec2<f32>,
    @location(3) color: vec4<f32>,
    @location(4) joints: vec4<u32>,
    @location(5) weights: vec4<f32>,
}

// Inputs of the fragment shaders of static bodies.
struct BodyPixel {
    @builtin(position) position: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) uv: vec2<f32>,
    @location(3) @interpolate(flat) instance: u32,
    @location(4) at_rest: vec3<f32>,
}

// Inputs of the fragment shader of fish. They are packed into few vectors, because each varying costs time per triangle on a
// machine without a graphics card.
struct FishPixel {
    @builtin(position) position: vec4<f32>,
    // World position; in w the y of the normal at rest (1 on the back, 0 on the flanks).
    @location(0) world: vec4<f32>,
    // Normal; in w the distance from the plane of symmetry at rest, positive on the left side.
    @location(1) normal: vec4<f32>,
    // With a skin: position on the skin, brightness and opacity of the vertex. Without a skin: color of the vertex.
    @location(2) paint: vec4<f32>,
    // Cosine and sine of the hue rotation, brightness, shine minus glow (one of the two is 0).
    @location(3) @interpolate(flat) finish: vec4<f32>,
    // Layer of the skin plus 1, color variety in bits 16 to 23, and mottling in bits 24 to 31; seed of the pattern as the bits of a
    // float; color and amount of marks; shape of marks.
    @location(4) @interpolate(flat) coat: vec4<u32>,
}

// A vertex moved by its joints.
struct Posed {
    world: vec3<f32>,
    normal: vec3<f32>,
}

fn posed(vertex: ModelVertex, index: u32) -> Posed {
    let first = instances[index].first_joint;
    var x = vec4<f32>(0.0);
    var y = vec4<f32>(0.0);
    var z = vec4<f32>(0.0);
    for (var i = 0; i < INFLUENCES; i++) {
        let weight = vertex.weights[i];
        let joint = joints[first + vertex.joints[i]];
        x += joint.x * weight;
        y += joint.y * weight;
        z += joint.z * weight;
    }
    let place = vec4<f32>(vertex.position, 1.0);
    let normal = vec3<f32>(dot(x.xyz, vertex.normal), dot(y.xyz, vertex.normal), dot(z.xyz, vertex.normal));
    return Posed(vec3<f32>(dot(x, place), dot(y, place), dot(z, place)), normal);
}

// Returns how far the breath of a koi pushes a point of its skin outwards, as a share of its length: the gill covers open and
// close, and the mouth moves against them. `skin` is the position on the skin, `seed` sets the phase.
fn breath_of(skin: vec2<f32>, seed: f32) -> f32 {
    // 6.2 radians per second restart without a jump after `DRIFT_PERIOD_SECS`.
    let phase = sin(6.2 * scene.time_secs + 6.28318 * seed);
    let behind = (skin.x - 0.195) / 0.022;
    let on_flank = smoothstep(0.15, 0.30, skin.y) * (1.0 - smoothstep(0.60, 0.72, skin.y));
    let mouth = 1.0 - smoothstep(0.0, 0.03, skin.x);
    return 0.0065 * ((0.5 + 0.5 * phase) * exp(-behind * behind) * on_flank - 0.6 * phase * mouth) * (1.0 - step(0.765, skin.y));
}

@vertex
fn fish_vertex(vertex: ModelVertex, @builtin(instance_index) index: u32) -> FishPixel {
    var pose = posed(vertex, index);
    let instance = instances[index];
    if instance.substance != 0u {
        pose.world += normalize(pose.normal) * (instance.size_m * breath_of(vertex.uv, instance.tone));
    }
    var pixel: FishPixel;
    pixel.position = clip_from_world(pose.world);
    pixel.world = vec4<f32>(pose.world, vertex.normal.y);
    pixel.normal = vec4<f32>(pose.normal, vertex.position.x);
    let layer = u32(instance.skin_layer + 1) | (instance.substance << 16u) | (u32(255.0 * instance.mottling) << 24u);
    pixel.coat = vec4<u32>(layer, bitcast<u32>(instance.tone), instance.mark_color, instance.mark_shape);
    let brightness = dot(vertex.color.rgb, vec3<f32>(0.3333));
    pixel.paint = select(vertex.color, vec4<f32>(vertex.uv, brightness, vertex.color.a), instance.skin_layer >= 0);
    pixel.finish = vec4<f32>(instance.hue_cos, instance.hue_sin, instance.brightness, instance.shine - instance.glow);
    return pixel;
}

@vertex
fn body_vertex(vertex: ModelVertex, @builtin(instance_index) index: u32) -> BodyPixel {
    let pose = posed(vertex, index);
    var pixel: BodyPixel;
    pixel.position = clip_from_world(pose.world);
    pixel.world = pose.world;
    pixel.normal = pose.normal;
    pixel.uv = vertex.uv;
    pixel.instance = index;
    pixel.at_rest = vertex.position;
    return pixel;
}

// Plants sway with the swell. Higher points of a leaf sway more.
@vertex
fn plant_vertex(vertex: ModelVertex, @builtin(instance_index) index: u32) -> BodyPixel {
    let rows = joints[instances[index].first_joint];
    let tone = instances[index].tone;
    let place = vec4<f32>(vertex.position, 1.0);
    var world = vec3<f32>(dot(rows.x, place), dot(rows.y, place), dot(rows.z, place));
    let high = vertex.position.y * vertex.position.y * length(rows.x.xyz);
    let t = scene.time_secs;
    let sway = vec3<f32>(
        sin(0.9 * t + 9.0 * tone + 1.7 * world.x) + 0.4 * sin(2.3 * t + 4.0 * world.z),
        0.3 * sin(1.3 * t + 20.0 * tone),
        cos(0.7 * t + 14.0 * tone + 1.9 * world.z) + 0.4 * sin(1.9 * t + 5.0 * world.x),
    );
    world += (sway - scene.up * dot(sway, scene.up)) * (0.11 * high);
    var pixel: BodyPixel;
    pixel.position = clip_from_world(world);
    pixel.world = world;
    pixel.normal = vec3<f32>(dot(rows.x.xyz, vertex.normal), dot(rows.y.xyz, vertex.normal), dot(rows.z.xyz, vertex.normal));
    pixel.uv = vertex.uv;
    pixel.instance = index;
    pixel.at_rest = vertex.position;
    return pixel;
}

// Returns the light of a lily leaf or flower on the water.
fn lily_light(pixel: BodyPixel, tone: f32, is_flower: bool) -> vec4<f32> {
    let normal = normalize(pixel.normal);
    var color: vec3<f32>;
    if is_flower {
        // White or pink petals, deeper at the root; a yellow middle.
        let petal = mix(vec3<f32>(0.86, 0.82, 0.78), vec3<f32>(0.82, 0.34, 0.44), step(0.5, tone));
        let rib = 1.0 - 0.12 * smoothstep(0.12, 0.0, abs(pixel.uv.x - 0.5));
        color = mix(petal * vec3<f32>(0.80, 0.62, 0.66), petal, smoothstep(0.1, 0.7, pixel.uv.y)) * rib;
        color = select(color, vec3<f32>(0.85, 0.52, 0.05), pixel.uv.y < -0.5);
    } else {
        // Olive to fresh green; ribs from the stem, a pale rim, brown spots on old leaves.
        let out = length(pixel.at_rest.xz);
        let spot = noise(pixel.at_rest.xz * 5.0 + 60.0 * tone) * 0.7 + noise(pixel.at_rest.xz * 17.0 + 9.0) * 0.3;
        color = mix(vec3<f32>(0.075, 0.130, 0.038), vec3<f32>(0.190, 0.255, 0.078), fract(3.0 * tone));
        // The face is darker towards the stem, and rises between the ribs.
        let rib = smoothstep(0.84, 1.0, pixel.uv.x);
        color *= (0.58 + 0.42 * smoothstep(0.05, 0.8, out)) * (0.86 + 0.30 * rib - 0.14 * pixel.uv.x) + 0.25 * spot + 0.16 * (noise(pixel.at_rest.xz * 47.0) - 0.5);
        color = mix(color, vec3<f32>(0.19, 0.11, 0.035), smoothstep(0.62, 0.74, spot + 0.2 * (tone - 0.5)) * smoothstep(0.4, 0.95, out));
        color = mix(color * (1.0 - 0.40 * smoothstep(0.86, 0.93, out)), vec3<f32>(0.40, 0.45, 0.22), 0.8 * smoothstep(0.965, 0.985, pixel.uv.y));
    }
    let facing = (0.25 + 0.75 * abs(dot(normal, scene.to_sun))) * scene.facing_scale;
    let light = color * (scene.sun_color * (facing * scene.sun_strength) + scene.sky_color * 0.9);
    return encode_light(light, 1.0);
}

@fragment
fn plant_light(pixel: BodyPixel) -> Drawn {
    // On a wall, sand is heaped against the base of the leaves, and the leaves are dark just above the sand.
    var base_shade = 1.0;
    if SURFACE_KIND == WALL {
        let heap = 0.010 + 0.034 * smoothstep(0.16, 0.0, abs(pixel.at_rest.x)) + 0.006 * sin(130.0 * pixel.world.x + 70.0 * pixel.at_rest.x);
        let out = scene.surface_half_m.y - pixel.world.z - heap;
        if out < 0.0 {
            discard;
        }
        base_shade = 0.45 + 0.55 * smoothstep(0.0, 0.09, out);
    }
    if pixel.uv.y > 1.0 {
        // The water is bent up to the rim of a floating leaf, and mirrors the dark sides of the pool there.
        if SURFACE_KIND == CEILING {
            discard;
        }
        let seam = 1.0 - smoothstep(1.0, 1.036, pixel.uv.y);
        return drawn_on_water(encode_light(scene.sky_color * 0.01, 0.85 * seam * seam));
    }
    let tone = instances[pixel.instance].tone;
    if instances[pixel.instance].substance >= LEAF {
        return drawn(lily_light(pixel, tone, instances[pixel.instance].substance == FLOWER), pixel.world);
    }
    let up = pixel.uv.y;
    // A pale rib along the middle of each leaf.
    let rib = 1.0 - smoothstep(0.0, 0.16, abs(pixel.uv.x - 0.5));
    // Leaves are olive at the base and yellow-green at the tip. A share of the plants is rust-colored.
    var color = mix(vec3<f32>(0.040, 0.052, 0.022), vec3<f32>(0.155, 0.190, 0.060), up);
    color = mix(color, vec3<f32>(0.22, 0.155, 0.06), smoothstep(0.55 - 0.5 * scene.rust_share, 1.0 - 0.4 * scene.rust_share, tone) * 0.75);
    color = color * (0.80 + 0.45 * rib) * (0.75 + 0.5 * fract(7.0 * tone)) * base_shade;
    if SURFACE_KIND == CEILING {
        // A floating leaf seen against the sky: red near the rim, veins between the ribs, dark at the stem.
        let out = length(pixel.at_rest.xz);
        color = mix(color, vec3<f32>(0.17, 0.075, 0.045), 0.7 * smoothstep(0.62, 0.98, out + 0.25 * (noise(pixel.at_rest.xz * 6.0 + 40.0 * tone) - 0.5)));
        color *= (0.55 + 0.75 * lace(pixel.at_rest.xz * 9.0 + 40.0 * tone)) * (0.70 + 0.60 * noise(pixel.at_rest.xz * 2.5 + 17.0 * tone)) * mix(0.35, 1.0, smoothstep(0.02, 0.09, out));
    }
    var normal = normalize(pixel.normal);
    // Leaves are translucent: light on the back side is visible on the front side.
    let facing = (0.35 + 0.65 * abs(dot(normal, scene.to_sun))) * scene.facing_scale;
    // A leaf that is thinner than a pixel covers only a part of the pixel; without this, its tip would be a row of dots.
    let thin = max(abs(dpdx(pixel.uv.x)), abs(dpdy(pixel.uv.x)));
    return drawn(encode_light(under_water(color, pixel.world, facing * sunlight(pixel.world), 0.35 + 0.6 * up), clamp(1.9 - 1.2 * thin, 0.25, 1.0)), pixel.world);
}

// Rotates the hue of a color, with Rodrigues' rotation around the gray axis (1, 1, 1). `cosine` and `sine` are those of the angle,
// multiplied by a factor on the saturation.
fn rotated_hue(color: vec3<f32>, cosine: f32, sine: f32) -> vec3<f32> {
    let axis = vec3<f32>(0.57735);
    return max(color * cosine + cross(axis, color) * sine + axis * dot(axis, color) * (1.0 - cosine), vec3<f32>(0.0));
}

// Returns the normal for the lighting of a visible point. An interpolated normal that points slightly away from the eye is bent
// to the side, because flipping it would light the rim of a belly like a back. A normal that points far away from the eye
// belongs to the other side of a fin and is flipped.
fn facing_normal(normal: vec3<f32>, view: vec3<f32>) -> vec3<f32> {
    let outward = normalize(normal);
    let towards = dot(outward, view);
    return select(normalize(outward - view * min(towards, 0.0)), -outward, towards < -0.45);
}

// Distance to the edge of a patch on the skin, negative inside. `place` is on the skin, in body lengths.
fn patch_distance(place: vec2<f32>, center: vec2<f32>, radius: f32, stretch: f32) -> f32 {
    return length((place - center) * vec2<f32>(1.0 / stretch, 1.0)) - radius;
}

// Number of scales of a koi along the body, and from the back to the belly.
const KOI_SCALES = vec2<f32>(34.0, 9.0);

// Returns the color of a koi as a factor on its white skin; alpha is the strength of the metallic sheen. `skin` is the position
// on the skin, `across` the distance from the plane of symmetry, `px` the size of a pixel on the unrolled skin.
fn koi_coat(variety: u32, seed: f32, skin: vec2<f32>, across: f32, px: f32) -> vec4<f32> {
    let white = vec3<f32>(1.0);
    let salt = i32(seed * 60000.0);
    let is_eye = skin.y > 0.765 && skin.x > 0.865;
    if is_eye {
        return vec4<f32>(white, 0.0);
    }
    // Red varies from orange to crimson, black from ink to soot.
    let dye = hash2(vec2<i32>(salt, 5));
    let red = mix(vec3<f32>(0.86, 0.13, 0.018), vec3<f32>(0.66, 0.035, 0.028), dye.x);
    let black = vec3<f32>(0.022, 0.022, 0.027);
    if variety == OGON {
        let gold = mix(vec3<f32>(0.98, 0.56, 0.10), vec3<f32>(0.95, 0.93, 0.86), step(0.72, dye.y));
        return vec4<f32>(mix(gold, vec3<f32>(1.0, 0.33, 0.03), 0.8 * step(dye.y, 0.25)), 0.9);
    }
    if skin.y > 0.765 {
        // Fins: root color that fades towards the edge.
        let out = clamp((skin.y - 0.78) / 0.2, 0.0, 1.0);
        let root = 1.0 - smoothstep(0.15, 0.55, out + 0.25 * (noise(vec2<f32>(skin.x * 14.0, seed * 90.0)) - 0.5));
        if variety == SHOWA {
            return vec4<f32>(mix(white, black, root), 0.0);
        }
        if variety == ASAGI {
            return vec4<f32>(mix(white, red, 0.9 * root), 0.0);
        }
        return vec4<f32>(white, 0.0);
    }
    let down = min(skin.y / 0.75, 1.0);
    // The skin, unrolled: along the body, and across the back from one flank to the other.
    let flat = vec2<f32>(skin.x, sign(across) * down * 0.19);
    let drift = vec2<f32>(f32(salt % 97), f32(salt % 89)) * 1.7;
    let wide = vec2<f32>(noise(flat * 9.0 + drift), noise(flat * 9.0 + drift + 31.0)) - 0.5;
    let fine = vec2<f32>(noise(flat * 42.0 + drift), noise(flat * 42.0 + drift + 57.0)) - 0.5;
    // Color ends at the rims of scales.
    let scale_at = vec2<f32>(skin.x, down) * KOI_SCALES + vec2<f32>(0.0, 0.5);
    let scale_row = floor(scale_at.y);
    let row_shift = 0.5 * (scale_row - 2.0 * floor(scale_row * 0.5));
    let scale_middle = (vec2<f32>(floor(scale_at.x + row_shift) + 0.5 - row_shift, scale_row + 0.5) - vec2<f32>(0.0, 0.5)) / KOI_SCALES;
    let snapped = vec2<f32>(scale_middle.x, sign(across) * min(scale_middle.y, 1.0) * 0.19);
    let place = mix(flat, snapped, 0.6 * smoothstep(0.20, 0.24, skin.x)) + 0.065 * wide + 0.013 * fine;
    // The edge of a patch is as sharp as a row of scales.
    let soft = max(px, 0.0035);
    // The red patches form a row along the back.
    var to_red = 1.0;
    for (var i = 0; i < 4; i++) {
        let chance = hash2(vec2<i32>(salt + 7 * i, 11));
        let more = hash2(vec2<i32>(salt - 3 * i, 23));
        if i > 0 && more.y < 0.16 {
            continue;
        }
        let center = vec2<f32>(0.115 + 0.195 * f32(i) + 0.07 * (chance.x - 0.5), 0.085 * (chance.y - 0.5) * step(0.5, f32(i)));
        let radius = select(0.055 + 0.055 * more.x, 0.048 + 0.022 * more.x, i == 0);
        to_red = min(to_red, patch_distance(place, center, radius, 1.15 + 0.5 * more.y));
    }
    // A koi with one patch on its head only.
    let is_tancho = variety != SHOWA && dye.y > 0.86;
    if is_tancho {
        to_red = patch_distance(flat + 0.01 * fine, vec2<f32>(0.115, 0.0), 0.042, 1.1);
    }
    // The nose, the belly and the root of the tail stay white.
    let bare = max(max(0.032 - skin.x, skin.x - 0.775), 1.3 * (down - 0.74));
    to_red = max(to_red, bare);
    // Red is thin at the edge of a patch. White skin is ivory, and pink where blood shines through.
    let thin = smoothstep(-0.022, 0.0, to_red);
    let red_skin = mix(red, red * vec3<f32>(1.15, 1.9, 2.2), 0.45 * thin) * (1.0 + 0.40 * fine.y);
    let white_skin = mix(vec3<f32>(0.94, 0.91, 0.84), vec3<f32>(0.92, 0.80, 0.74), smoothstep(-0.05, 0.25, wide.x)) * (0.98 + 0.2 * fine.x);
    var color = mix(red_skin, white_skin, smoothstep(-soft, soft, to_red));
    if variety == SANKE {
        var to_black = 1.0;
        let grid = flat / 0.085 + drift;
        let home = vec2<i32>(floor(grid));
        for (var i = 0; i < 9; i++) {
            let cell = home + vec2<i32>(i % 3 - 1, i / 3 - 1);
            let chance = hash2(cell * 5 + salt);
            let more = hash2(cell * 3 - salt);
            if more.x > 0.34 {
                continue;
            }
            let center = vec2<f32>(cell) + 0.2 + 0.6 * chance;
            to_black = min(to_black, length((grid + 0.35 * wide + 0.22 * fine - center) * vec2<f32>(0.8, 1.0)) * 0.085 - (0.008 + 0.024 * more.y * more.y));
        }
        to_black = max(to_black, max(0.17 - skin.x, abs(flat.y) - 0.10));
        color = mix(black, color, smoothstep(-soft, soft, to_black));
    } else if variety == SHOWA {
        // Broad black bands wind around the body, and one crosses the head.
        let band = noise(flat * vec2<f32>(6.0, 7.5) + drift + 1.4 * wide) - 0.50;
        let head = abs(place.y - 1.1 * (place.x - 0.10) * sign(dye.y - 0.5)) - 0.012;
        let to_black = min(-0.14 * band, select(1.0, head, skin.x < 0.20));
        color = mix(black, color, smoothstep(-soft, soft, to_black));
    } else if variety == ASAGI {
        // Every scale of the back is blue-gray with a pale rim.
        let scale = vec2<f32>(skin.x, down) * KOI_SCALES + vec2<f32>(0.0, 0.5);
        let row = floor(scale.y);
        let cell = vec2<f32>(fract(scale.x + 0.5 * (row - 2.0 * floor(row * 0.5))), fract(scale.y)) - 0.5;
        let rim = smoothstep(0.30, 0.52, length(cell));
        let blue = mix(vec3<f32>(0.115, 0.195, 0.285), vec3<f32>(0.50, 0.62, 0.70), rim * smoothstep(0.16, 0.21, skin.x));
        let pale_head = mix(vec3<f32>(0.74, 0.80, 0.84), blue, smoothstep(0.17, 0.20, skin.x + 0.03 * fine.x));
        let to_flank = 0.60 - down + 0.9 * wide.x;
        color = mix(mix(red, white, 0.12), pale_head, smoothstep(-0.02, 0.02, to_flank));
        color = mix(white, color, smoothstep(0.96, 0.84, down));
    }
    return vec4<f32>(color, 0.0);
}

// Returns which share of a point of the skin marks cover. The skin is divided into cells, and a share of the cells (`amount`) holds one
// mark at a random place, so that a point needs only its own cell. `flat` is the position on the unrolled skin, `down` the way from
// back to belly, `px` the size of a pixel on the unrolled skin.
fn marks_cover(packed_shape: u32, amount: f32, seed: f32, flat: vec2<f32>, down: f32, px: f32) -> f32 {
    let shape = unpack4x8unorm(packed_shape);
    let places = 64.0 * shape.x;
    let height = 8.0 * shape.z / places;
    let grid = vec2<f32>(flat.x * places, flat.y / height + 0.5);
    let row = floor(grid.y);
    let column = grid.x + 0.5 * (row - 2.0 * floor(0.5 * row)) + seed;
    let salt = i32(seed * 60000.0);
    let cell = vec2<i32>(i32(floor(column)), i32(row) + salt);
    let chance = hash2(cell);
    let more = hash2(cell + vec2<i32>(4001, 977));
    let radius = 0.5 * shape.y * (0.45 + 0.55 * more.y);
    let center = 0.5 + (2.0 * chance - 1.0) * (0.5 - radius);
    var from_center = (vec2<f32>(fract(column), fract(grid.y)) - center) / radius;
    // Marks are no circles.
    from_center += 0.24 * sin(2.6 * from_center.yx + 6.28318 * chance);
    let rarer = 1.0 - smoothstep(0.3 * shape.w, shape.w, abs(row + center.y - 0.5) * height / 0.19);
    let soft = max(px * places / radius, 0.22);
    let inside = 1.0 - smoothstep(-soft, soft, length(from_center) - 1.0);
    // Bars leave the head free, so that the eyes stand out.
    let behind_head = select(smoothstep(0.13, 0.18, flat.x), 1.0, shape.z < 0.2);
    return select(0.0, inside * behind_head * (1.0 - smoothstep(shape.w, shape.w + 0.12, down)), more.x < amount * rarer);
}

// Relief of the skin of a koi: the normal, and the light that reaches the bottom of its grooves (1: all).
struct Relief {
    normal: vec3<f32>,
    open: f32,
}

// Station at which a koi's head ends at a height (`down`: 0 on the back, 1 on the belly): on the flank the rear edge of the gill
// cover, on the back the nape. Both are bows that bulge to the rear.
fn gill_edge(down: f32) -> f32 {
    let height = (max(down, 0.22) - 0.50) / 0.42;
    let back = down / 0.22;
    return 0.222 - 0.060 * height * height + 0.018 * max(1.0 - back * back, 0.0);
}

// Returns the relief of a koi's skin. `skin` is the position on the skin; `along` and `across` are the directions on the body in
// which it increases; `px` is the size of a pixel on the skin. Details smaller than two pixels are left out.
fn koi_relief(normal: vec3<f32>, skin: vec2<f32>, along: vec3<f32>, across: vec3<f32>, px: f32) -> Relief {
    let down = min(skin.y / 0.75, 1.0);
    var tilt = vec2<f32>(0.0);
    var open = 1.0;
    // The scales are rows of plates, one row in the middle of the back. Each plate rises towards its round rear edge, which covers
    // the front of the next, and lies at a slightly different angle, so that scales glint one by one.
    let place = vec2<f32>(skin.x, down) * KOI_SCALES + vec2<f32>(0.0, 0.5);
    let row = floor(place.y);
    let column = place.x + 0.5 * (row - 2.0 * floor(0.5 * row));
    let cell = vec2<f32>(fract(column), fract(place.y)) - 0.5;
    let lie = hash2(vec2<i32>(i32(floor(column)), i32(row))) - 0.5;
    let rear = cell.x + 1.7 * cell.y * cell.y;
    let rim = smoothstep(0.20, 0.46, rear);
    let from_gill = skin.x - gill_edge(down);
    let scaled = smoothstep(0.0, 0.03, from_gill) * (1.0 - smoothstep(0.78, 0.83, skin.x)) * (1.0 - smoothstep(0.9, 1.8, px * KOI_SCALES.x));
    tilt += scaled * (vec2<f32>(0.12 * rear - 0.06 + 0.30 * rim, 0.34 * cell.y * (1.0 - rim)) + vec2<f32>(0.24, 0.20) * lie);
    open -= scaled * (0.42 * rim);
    // The gill cover is a smooth plate with a rounded rear edge and a groove behind it.
    let is_flank = smoothstep(0.16, 0.30, down);
    let shown = (1.0 - smoothstep(0.004, 0.016, px)) * mix(0.6, 1.0, is_flank);
    let edge = from_gill / 0.011;
    tilt.x += shown * 0.75 * exp(-edge * edge);
    let groove = (from_gill - 0.007) / max(0.006, 0.8 * px);
    open -= shown * 0.42 * exp(-groove * groove);
    // Two nostrils, each with a pale flap in front.
    let near = 1.0 - smoothstep(0.004, 0.012, px);
    let nostril = length((skin - vec2<f32>(0.042, 0.165)) / vec2<f32>(0.007, 0.026));
    let flap = length((skin - vec2<f32>(0.034, 0.165)) / vec2<f32>(0.006, 0.030));
    open += near * 0.12 * (1.0 - smoothstep(0.4, 1.0, flap));
    open -= near * 0.65 * (1.0 - smoothstep(0.5, 1.0, nostril));
    // The socket of the eye, and the bony brow between the eye and the nostril.
    let socket = (length((vec2<f32>(skin.x, down) - vec2<f32>(0.086, 0.325)) / vec2<f32>(0.022, 0.100)) - 1.0) / 0.28;
    open -= near * 0.42 * exp(-socket * socket);
    let brow = (down - 0.225 - 0.8 * (0.075 - skin.x)) / 0.045;
    let on_brow = near * smoothstep(0.045, 0.065, skin.x) * (1.0 - smoothstep(0.11, 0.16, skin.x));
    tilt.y -= on_brow * 0.9 * brow * exp(-brow * brow);
    // The lips: a groove around the tip of the snout.
    let lip = (skin.x - 0.014) / max(0.0035, px);
    open -= near * 0.40 * exp(-lip * lip);
    // The cheek: a faint bow between the eye and the gill cover.
    let cheek = (skin.x - 0.135 + 0.5 * (down - 0.5) * (down - 0.5)) / max(0.008, px);
    open -= shown * 0.16 * exp(-cheek * cheek) * smoothstep(0.30, 0.42, down);
    return Relief(normalize(normal + tilt.x * along + tilt.y * across), open);
}

// Returns the light around a fish on a wall or ceiling from a direction (`up`: 0 is down, 1 is up): scattered light from the
// sides, skylight from above, light from the ground below. A ceiling has no ground.
fn surrounding_light(up: f32, through: vec3<f32>) -> vec3<f32> {
    let beside = scattered(9.0);
    let above = mix(beside, scene.sky_color * through, smoothstep(0.5, 1.0, up));
    let ground = scene.sand_color * through * (0.12 * scene.sun_color);
    let below = select(0.5 * beside + ground, 0.8 * beside, SURFACE_KIND == CEILING);
    return mix(below, above, smoothstep(0.0, 0.5, up));
}

// Factor on the way of light through the water to a fish and from there to the eye. It is exaggerated, so that fish in a pool of a meter
// are seen in three layers.
const DEPTH_CUE = 1.45;

@fragment
fn fish_light(pixel: FishPixel) -> Drawn {
    let world = pixel.world.xyz;
    let eye = vec3<f32>(0.0, scene.eye_height_m, 0.0);
    let view = normalize(eye - world);
    var normal = facing_normal(pixel.normal.xyz, view);
    let towards_eye = dot(normal, view);
    // The negative bias selects a sharper mip level, because the eyes and spots on the skin are small.
    let painted = textureSampleBias(skins, smooth_sampler, pixel.paint.xy, max(i32(pixel.coat.x & 0xFFFFu) - 1, 0), -0.75);
    // Skins store the square roots of colors.
    let skin = vec4<f32>(painted.rgb * painted.rgb, painted.a);
    let has_skin = select(0.0, 1.0, (pixel.coat.x & 0xFFFFu) != 0u);
    let is_body = has_skin * step(pixel.paint.y, 0.765);
    let seed = bitcast<f32>(pixel.coat.y);
    // Width of a pixel on the skin, and in body lengths on the unrolled skin, for edges of patterns without steps.
    let skin_step = fwidth(pixel.paint.xy);
    let skin_px = length(skin_step);
    let edge_px = 0.7 * length(skin_step * vec2<f32>(1.0, 0.19 / 0.75));
    let base = mix(pixel.paint, skin * pixel.paint.zzzw, has_skin);
    var color = rotated_hue(base.rgb, pixel.finish.x, pixel.finish.y) * pixel.finish.z;
    let variety = (pixel.coat.x >> 16u) & 0xFFu;
    if HAS_MARKINGS {
        let down = min(pixel.paint.y / 0.75, 1.0);
        let flat = vec2<f32>(pixel.paint.x, sign(pixel.normal.w) * down * 0.19);
        let drift = vec2<f32>(97.0, 61.0) * seed;
        let cloud = 0.6 * noise(flat * vec2<f32>(13.0, 19.0) + drift) + 0.4 * noise(flat * vec2<f32>(41.0, 47.0) + drift) - 0.5;
        let mottling = f32(pixel.coat.x >> 24u) / 255.0;
        color *= 1.0 + is_body * mottling * 2.2 * cloud * (1.0 - down * down);
        let mark = unpack4x8unorm(pixel.coat.z);
        let cover = is_body * marks_cover(pixel.coat.w, mark.a, seed, flat, down, edge_px);
        color = mix(color, mark.rgb * mark.rgb, 0.9 * cover);
    }
    var metal = 0.0;
    var wet = 0.10;
    if HAS_VARIETIES {
        // Directions on the body in which the position on the skin increases.
        let skin_dx = dpdx(pixel.paint.xy);
        let skin_dy = dpdy(pixel.paint.xy);
        let turned = sign(skin_dx.x * skin_dy.y - skin_dx.y * skin_dy.x);
        let along = turned * (dpdx(world) * skin_dy.y - dpdy(world) * skin_dx.y);
        let across = turned * (dpdy(world) * skin_dx.x - dpdx(world) * skin_dy.x);
        if variety != 0u {
            let coat = koi_coat(variety, seed, pixel.paint.xy, pixel.normal.w, edge_px);
            color *= coat.rgb;
            metal = coat.a;
        }
        if variety != 0u && pixel.paint.y < 0.765 {
            let relief = koi_relief(normal, pixel.paint.xy, normalize(along + 1e-9), normalize(across + 1e-9), skin_px);
            normal = relief.normal;
            color *= relief.open;
            wet = 0.60;
        }
    }

    let sun_dir = scene.to_sun;
    let light = sunlight(world);
    // Sunlight also reaches points slightly beyond the lit side, because skin is translucent.
    let facing = max((dot(normal, sun_dir) + 0.25) / 1.25, 0.0) * scene.facing_scale;
    let up = 0.5 + 0.5 * dot(normal, scene.up);
    let from_ground = (1.0 - up) * 0.45;
    let cue = select(1.0, DEPTH_CUE, SURFACE_KIND == FLOOR);
    let depth = depth_of(world);
    let way = max(-world.y, 0.0) * cue;
    // Skylight takes about the same path as sunlight.
    let through = transmitted(depth * cue / scene.sun_cosine + way);
    var around = scene.sky_color * (0.25 + 0.75 * up + from_ground) * through;
    if SURFACE_KIND != FLOOR {
        around = surrounding_light(up, through);
    }
    if SURFACE_KIND == CEILING {
        // Fins are thin: light comes through a fin that is seen against the sky.
        around += (scene.sky_color + 0.5 * scene.sun_color) * through * (0.4 * has_skin * step(0.765, pixel.paint.y));
    }
    let lit = scene.sun_color * (facing * light * scene.sun_strength) * through + around;
    let squared = towards_eye * towards_eye;
    // A glowing body emits less light near its rim.
    let glow = -min(pixel.finish.w, 0.0) * (0.02 + 1.1 * squared * squared * squared);
    var out = color * (lit + glow) + scattered(way);

    // Silver flanks reflect dark water or bright sky, depending on their direction. They flash where they reflect the sun into
    // the eye.
    let half_way = normalize(view + sun_dir);
    let flank = 1.0 - smoothstep(0.35, 0.95, pixel.world.w);
    // On a wall the whole flank is visible; the reflection is weaker there, so that it does not cover the colors of the flank.
    let silver = max(max(pixel.finish.w, 0.0) * flank, metal) * select(1.0, 0.5, SURFACE_KIND == WALL);
    let mirrored = reflect(-view, normal);
    let sky_seen = smoothstep(-0.25, 0.75, dot(mirrored, scene.up));
    let cosine = max(dot(normal, half_way), 0.0);
    // The 14th and the 70th power of the cosine.
    let second = cosine * cosine;
    let fourth = second * second;
    let sixth = fourth * second;
    let eighth = fourth * fourth;
    let broad = sixth * eighth;
    let sixteenth = eighth * eighth;
    let thirty_second = sixteenth * sixteenth;
    let sharp = thirty_second * thirty_second * sixth;
    var sky = mix(scene.sky_color, vec3<f32>(dot(scene.sky_color, vec3<f32>(0.33))), 0.55) * mix(0.12, 0.95, sky_seen) * through;
    if SURFACE_KIND != FLOOR {
        sky = surrounding_light(sky_seen, through);
    }
    let sun = scene.sun_color * scene.sun_strength * light;
    let mirror = sky + sun * broad * 1.1 * through;
    out = mix(out, mirror * mix(vec3<f32>(1.0), normalize(color + 0.15) * 1.5, 0.5), clamp(silver * 0.45, 0.0, 0.75));
    // A narrow highlight along the back.
    // On the scales of a koi it breaks up into dots.
    let dots = select(sharp, min(2.4 * sharp * sharp, 1.0), wet > 0.2);
    out += sun * through * dots * (wet + 0.55 * silver);
    // The rim of a body is soft, and softer the deeper it is in the water. It is also dark, so that bodies look round and keep their
    // outlines where they cross.
    let rim = mix(0.24, 0.60, clamp(-world.y / max(scene.ground_depth_m, 0.01), 0.0, 1.0));
    out *= mix(1.0, mix(0.45, 1.0, smoothstep(0.0, rim + 0.22, towards_eye)), is_body);
    let opacity = mix(1.0, base.a, has_skin) * mix(1.0, smoothstep(0.0, rim, towards_eye), is_body);
    return drawn(encode_light(out, opacity), world);
}

// Returns a random number 0..1 for a lattice point.
fn hash3(p: vec3<i32>) -> f32 {
    var h = bitcast<vec3<u32>>(p) * vec3<u32>(0x9E3779B1u, 0x85EBCA77u, 0xC2B2AE3Du);
    var k = h.x ^ h.y ^ h.z;
    k = (k ^ (k >> 15u)) * 0x2C1B3C6Du;
    k = (k ^ (k >> 12u)) * 0x297A2D39u;
    return f32((k ^ (k >> 15u)) & 0xFFFFu) / 65535.0;
}

// Returns smooth noise 0..1 in three dimensions.
fn noise3(p: vec3<f32>) -> f32 {
    let cell = vec3<i32>(floor(p));
    let f = fract(p);
    let w = f * f * (3.0 - 2.0 * f);
    var sum = 0.0;
    for (var corner = 0; corner < 8; corner++) {
        let step = vec3<i32>(corner & 1, (corner >> 1) & 1, corner >> 2);
        let share = mix(1.0 - w, w, vec3<f32>(step));
        sum += share.x * share.y * share.z * hash3(cell + step);
    }
    return sum;
}

@fragment
fn stone_light(pixel: BodyPixel) -> Drawn {
    if SURFACE_KIND == WALL && pixel.world.z > scene.surface_half_m.y + 0.010 * sin(61.0 * pixel.world.x) {
        discard;
    }
    let instance = instances[pixel.instance];
    let size = instance.size_m;
    let view = vec3<f32>(0.0, scene.eye_height_m, 0.0) - pixel.world;
    let outward = facing_normal(pixel.normal, normalize(view));
    // The pattern is projected along y, the direction of view, so that it is not stretched. The normal offsets the pattern
    // between faces, and each stone rotates it by a different angle.
    let turn = 6.28318 * instance.tone;
    let axis = vec2<f32>(cos(turn), sin(turn));
    let flat = pixel.world.xz + 0.11 * outward.xz + 7.0 * vec2<f32>(instance.tone, 1.0 - instance.tone);
    let place = vec2<f32>(dot(flat, axis), dot(flat, vec2<f32>(-axis.y, axis.x)));
    let broad = textureSampleLevel(weathering, tiling_sampler, place * 1.3, 0.0);
    let fine = textureSampleLevel(weathering, tiling_sampler, place * 4.7, 0.0);
    let bump = (broad.yz - 0.5) * 0.9 + (fine.yz - 0.5) * 1.3;
    let across = vec2<f32>(axis.x * bump.x - axis.y * bump.y, axis.y * bump.x + axis.x * bump.y);
    let normal = normalize(outward - vec3<f32>(across.x, 0.0, across.y));
    let up = dot(normal, scene.up);
    // What grows on the stones of a reef makes their outlines ragged.
    let overgrown = min(1.6 * scene.crust, 1.0) * step(f32(instance.substance), 0.5);
    let knob = textureSampleLevel(weathering, tiling_sampler, place * 9.0, 0.0);
    let towards_eye = dot(outward, normalize(view)) - overgrown * (0.20 + 1.3 * (0.45 * knob.x + 0.35 * fine.x + 0.2 * broad.x - 0.42));
    if towards_eye < 0.0 && overgrown > 0.0 {
        discard;
    }
    var color: vec3<f32>;
    if instance.substance == GROWN {
        // Coral: one of four colors, pale at the tips and ridges.
        let kind = instance.tone * 4.0;
        color = mix(vec3<f32>(0.64, 0.22, 0.18), vec3<f32>(0.64, 0.42, 0.17), step(1.0, kind));
        color = mix(color, vec3<f32>(0.62, 0.30, 0.26), step(2.0, kind));
        color = mix(color, vec3<f32>(0.58, 0.46, 0.30), step(3.0, kind));
        let furrow = smoothstep(0.03, 0.13, abs(noise3(pixel.at_rest * 9.0 + instance.tone * 40.0) - 0.5));
        color *= mix(0.62, 1.12, furrow) * (0.75 + 0.5 * fine.x);
        // A coral is dark between the branches and pale at the tips.
        color *= 0.22 + 0.78 * smoothstep(0.0, 0.75, pixel.uv.y);
        color = mix(color, vec3<f32>(0.80, 0.68, 0.56), smoothstep(0.84, 1.0, pixel.uv.y) * 0.5);
    } else if instance.substance == WOOD {
        // Wood: brown with the grain along the trunk, moss on top.
        let grain = noise3(vec3<f32>(pixel.at_rest.x * 1.6, pixel.at_rest.yz * 9.0) + 3.0);
        color = mix(vec3<f32>(0.085, 0.058, 0.036), vec3<f32>(0.27, 0.185, 0.115), smoothstep(0.25, 0.8, 0.6 * grain + 0.4 * fine.x));
        color = mix(color, vec3<f32>(0.10, 0.115, 0.045), 0.45 * smoothstep(0.4, 0.9, up) * smoothstep(0.45, 0.65, broad.x));
    } else {
        // Stone: from slate to sandstone, speckled; each stone has its own tone.
        let tone = smoothstep(0.30, 0.68, 0.55 * broad.x + 0.45 * fine.x);
        let pale = mix(vec3<f32>(0.36, 0.36, 0.35), vec3<f32>(0.44, 0.35, 0.24), smoothstep(0.25, 0.85, 1.0 - instance.tone));
        color = mix(pale * 0.30, pale * 1.05, tone);
        color *= 0.72 + 0.56 * fine.x;
        // Moss on surfaces that face up, pale patches of lichen where there is no moss.
        let moss = smoothstep(0.45, 0.90, up) * smoothstep(0.48, 0.60, broad.w + 0.12 * (fine.x - 0.5) + 0.10 * (instance.tone - 0.5));
        color = mix(color, vec3<f32>(0.085, 0.098, 0.034) * (0.5 + fine.x), 0.8 * moss);
        let lichen = smoothstep(0.60, 0.68, fine.w) * (1.0 - moss);
        color = mix(color, vec3<f32>(0.46, 0.44, 0.36), 0.45 * lichen);
        // A reef grows over its stones.
        let knobs = mix(0.22, 1.35, smoothstep(0.28, 0.72, 0.5 * knob.x + 0.5 * fine.x)) * (0.6 + 0.6 * smoothstep(0.25, 0.7, broad.x + 0.3 * fine.w));
        let grown = mix(vec3<f32>(0.20, 0.105, 0.05), vec3<f32>(0.50, 0.30, 0.115), smoothstep(0.35, 0.65, broad.w)) * knobs;
        color = mix(color, grown, min(1.3 * scene.crust, 1.0) * smoothstep(0.22, 0.36, 0.5 * broad.x + 0.5 * broad.w + 0.25 * up));
    }
    color *= mix(1.0, mix(0.22, 1.0, smoothstep(0.0, 0.45, towards_eye)), overgrown);
    let sun_dir = scene.to_sun;
    let facing = max(dot(normal, sun_dir), 0.0) * scene.facing_scale;
    // Less skylight reaches points near the ground.
    let over = select(clamp((pixel.world.y + scene.ground_depth_m) / max(size, 0.05), 0.0, 1.0), clamp((scene.surface_half_m.y - pixel.world.z) / max(size, 0.05), 0.0, 1.0), SURFACE_KIND == WALL);
    // Light from the ground brightens the flanks, so that the rim of a stone is no dark line.
    let sky = mix(0.30, 1.0, over) * (0.62 + 0.38 * up);
    // From below, only the dark side is visible; reflected light brightens it.
    let least = select(0.08, 0.42, SURFACE_KIND == CEILING);
    return drawn(encode_light(under_water(color, pixel.world, facing * sunlight(pixel.world), max(sky, least)), 1.0), pixel.world);
}

// Noise that drifts repeats after this number of cells.
const TILE_CELLS = 64.0;

// Returns smooth noise 0..1 like `noise`, but it repeats after `TILE_CELLS` along both axes. A drift by whole tiles within
// `DRIFT_PERIOD_SECS` does not jump when the time restarts.
fn tiling_noise(p: vec2<f32>) -> f32 {
    let last = vec2<i32>(i32(TILE_CELLS) - 1);
    let cell = vec2<i32>(floor(p));
    let f = fract(p);
    let w = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    let a = hash2(cell & last).x;
    let b = hash2((cell + vec2<i32>(1, 0)) & last).x;
    let c = hash2((cell + vec2<i32>(0, 1)) & last).x;
    let d = hash2((cell + vec2<i32>(1, 1)) & last).x;
    return mix(mix(a, b, w.x), mix(c, d, w.x), w.y);
}

// Returns the way that a pattern has drifted: `rate` cells per second, rounded to whole distances of `tile` cells in the period.
fn drifted(rate: vec2<f32>, tile: f32) -> vec2<f32> {
    return round(rate * DRIFT_PERIOD_SECS / tile) * (tile / DRIFT_PERIOD_SECS) * scene.time_secs;
}

// `lace` repeats after this number of cells: 0.8, 1 and 2.3 times this number are whole tiles of the noise.
const LACE_CELLS = 640.0;

// Returns a pattern of foam 0..1: a mesh of thin lines with cells of about size 1.
fn lace(p: vec2<f32>) -> f32 {
    let bent = p + 0.9 * (vec2<f32>(tiling_noise(p * 0.8 + 7.0), tiling_noise(p * 0.8 + 31.0)) - 0.5);
    let wide = 1.0 - abs(2.0 * tiling_noise(bent) - 1.0);
    let fine = 1.0 - abs(2.0 * tiling_noise(bent * 2.3 + 19.0) - 1.0);
    return 0.6 * wide * wide + 0.4 * fine * fine;
}

// Returns the number of cycles 0..1 that a motion of `rate` cycles per second has done, for a rate that is rounded to whole sets of 64
// cycles in the period, so that a count of the cycles up to 64 does not jump when the time restarts.
fn cycles(rate: f32) -> f32 {
    return round(rate * DRIFT_PERIOD_SECS / 64.0) * (64.0 / DRIFT_PERIOD_SECS) * scene.time_secs;
}

// Falling water between two places of a sill. Each end has its own matrix, so that neighbors share their ends on a bowed sill.
@vertex
fn fall_vertex(vertex: ModelVertex, @builtin(instance_index) index: u32) -> BodyPixel {
    let instance = instances[index];
    let left = joints[instance.first_joint];
    let right = joints[instance.first_joint + 1u];
    let u = vertex.uv.x;
    let x = mix(left.x, right.x, u);
    let y = mix(left.y, right.y, u);
    let z = mix(left.z, right.z, u);
    let place = vec4<f32>(0.0, vertex.position.yz, 1.0);
    let down = vec3<f32>(x.z, y.z, z.z);
    let height = y.y;
    let reach = length(down);
    // In the fall, the height is the square of the way.
    let steep = select(0.0, 2.0 * vertex.position.z, vertex.uv.y > 0.0 && vertex.uv.y < 1.001);
    let width = distance(vec3<f32>(left.x.w, left.y.w, left.z.w), vec3<f32>(right.x.w, right.y.w, right.z.w));
    var pixel: BodyPixel;
    pixel.world = vec3<f32>(dot(x, place), dot(y, place), dot(z, place));
    pixel.position = clip_from_world(pixel.world);
    pixel.normal = normalize(vec3<f32>(down.x / reach * height * steep, reach, down.z / reach * height * steep));
    pixel.uv = vec2<f32>(instance.size_m + width * u, vertex.uv.y);
    pixel.instance = index;
    // Amount of water, way downstream from the place where the water strikes, height of the fall.
    pixel.at_rest = vec3<f32>(mix(instance.shine, instance.glow, u), reach * (vertex.position.z - 1.0), height);
    return pixel;
}

// Time in which water reaches a section of a waterfall, in seconds from the sill: `v` is the section, `after` the way downstream from the
// place where the water strikes, in meters. The water is fast where it strikes and slows down after that.
fn flow_secs(v: f32, after: f32, height: f32) -> f32 {
    let falling = sqrt(2.0 * height / 9.81) * clamp(v, 0.0, 1.0);
    return min(v, 0.0) * 0.36 + falling + log(1.0 + 2.6 * max(after, 0.0)) / 1.5;
}

// Returns how bright (x) and how opaque (y) the drops are that spring up around a point where water strikes. One drop springs up in each
// cell at a time, at another place each time.
fn spray(place: vec2<f32>, amount: f32) -> vec2<f32> {
    let at = place / 0.021;
    let cell = vec2<i32>(floor(at));
    let t = cycles(2.3) + 64.0 * hash2(cell).x;
    let turn = i32(t) & 63;
    let chance = hash2(cell * 3 + vec2<i32>(turn, 7 * turn));
    let more = hash2(cell * 5 - vec2<i32>(11 * turn, turn));
    let phase = fract(t);
    let radius = (0.07 + 0.13 * more.x) * (1.0 - phase) * smoothstep(0.0, 0.15, phase);
    let away = length(fract(at) - 0.22 - 0.56 * chance);
    let cover = (1.0 - smoothstep(0.5 * radius, radius + 0.03, away)) * step(more.y, amount);
    return vec2<f32>(0.55 + 0.6 * more.x, cover);
}

// Falling water: glassy where it bends over the sill, threads that draw out in the fall, white where it strikes, and behind that foam that
// drifts off and rings that run out.
@fragment
fn waterfall_light(pixel: BodyPixel) -> Drawn {
    let along = pixel.uv.x;
    let v = pixel.uv.y;
    let flow = clamp(pixel.at_rest.x, 0.0, 1.0);
    let after = pixel.at_rest.y;
    let behind = max(after, 0.0);
    let view = normalize(vec3<f32>(0.0, scene.eye_height_m, 0.0) - pixel.world);
    // The pattern depends on the time at which the water left the sill, so that it is drawn out where the water speeds up.
    let secs = flow_secs(v, after, pixel.at_rest.z);
    let strand = tiling_noise(vec2<f32>(along * 9.0, 1.5 * secs) + drifted(vec2<f32>(0.13, -1.5), TILE_CELLS));
    let thread = 0.6 * tiling_noise(vec2<f32>(along * 36.0, 6.0 * secs) + drifted(vec2<f32>(0.0, -6.0), TILE_CELLS))
        + 0.4 * tiling_noise(vec2<f32>(along * 88.0, 9.0 * secs + 31.0) + drifted(vec2<f32>(0.0, -9.0), TILE_CELLS));
    // Much water is one sheet; little water falls in threads.
    let sheet = smoothstep(0.74 - 0.95 * flow, 0.92 - 0.70 * flow, 0.7 * thread + 0.3 * strand) * smoothstep(0.02, 0.16, flow);
    let in_fall = smoothstep(-0.02, 0.06, v) * (1.0 - smoothstep(0.98, 1.06, v));
    let above = smoothstep(-1.0, -0.05, v) * (1.0 - smoothstep(-0.02, 0.06, v)) * smoothstep(0.1, 0.5, flow);

    // Glass: dark water through which little is seen. It mirrors the sky where it bends, in lines along the stream.
    let bent = normalize(pixel.normal + vec3<f32>(0.0, 0.30 * (thread - 0.5), 0.0) + 0.22 * (strand - 0.5));
    let mirrored = reflect(-view, bent);
    let grazing = 1.0 - clamp(dot(bent, view), 0.0, 1.0);
    let fresnel = 0.04 + 0.55 * grazing * grazing * grazing;
    let shining = pow(max(dot(bent, normalize(view + scene.to_sun)), 0.0), 60.0) * smoothstep(0.35, 0.75, thread);
    let lines = smoothstep(0.52, 0.80, thread);
    let glass = scene.sky_color * (0.030 + fresnel * smoothstep(-0.4, 0.9, mirrored.y) + 0.16 * lines * in_fall)
        + scene.sun_color * scene.sun_strength * (0.85 * shining + 0.05 * lines * in_fall);
    var cover = (0.75 * above + (0.62 + 0.25 * lines) * in_fall) * sheet;
    var light = glass * vec3<f32>(0.86, 1.0, 0.97);

    // Where the water strikes, it breaks into bubbles that rise in heaps; downstream, foam drifts off in threads and dissolves.
    let place = vec2<f32>(along, behind);
    let stirred = place * 4.0;
    let eddy = vec2<f32>(
        tiling_noise(stirred + drifted(vec2<f32>(0.0, -0.35), TILE_CELLS)),
        tiling_noise(stirred + vec2<f32>(41.0, 0.0) + drifted(vec2<f32>(0.0, -0.27), TILE_CELLS)),
    ) - 0.5;
    let swell = tiling_noise(vec2<f32>(along * 7.0, 5.0 * after) + drifted(vec2<f32>(0.5, -1.1), TILE_CELLS));
    // 24 times the drift in the period is whole tiles of the lace.
    let p = place + (0.05 + 0.24 * behind) * eddy + drifted(vec2<f32>(0.0, -0.15), LACE_CELLS / 24.0);
    let bubbles = 0.5 * lace(p * 24.0) + 0.5 * lace(p * 48.0);
    let raft = 0.6 * tiling_noise(p * vec2<f32>(9.0, 4.8) + 0.5 * eddy) + 0.4 * tiling_noise(p * vec2<f32>(23.0, 12.0));
    let strike = smoothstep(0.50, 1.0, v + 0.42 * (thread - 0.5) - 0.25 * (1.0 - flow)) * (1.0 - smoothstep(1.0, 1.12, v)) * sheet;
    let struck = smoothstep(0.90, 1.02, v) * smoothstep(0.03, 0.35, flow);
    let density = struck * (0.30 + 0.70 * flow) * exp(-behind / (0.06 + 0.30 * flow * (0.25 + 1.3 * swell))) * (1.0 - smoothstep(1.55, 1.95, v));
    let heap = 0.50 * raft + 0.55 * bubbles;
    let froth = max(strike * (0.50 + 0.50 * thread), smoothstep(0.86 - 0.84 * density, 1.06 - 0.74 * density, heap));
    // Bubbles are bright on their peaks; between them and below the heaps they are gray and green.
    let peak = mix(0.12, 0.92, smoothstep(0.22, 0.80, 0.55 * bubbles + 0.50 * raft + 0.45 * (thread - 0.5) * (1.0 - smoothstep(0.0, 0.1, behind)) + 0.3 * (swell - 0.5)));
    let white = (scene.sun_color * (scene.sun_strength * 0.66 * peak) + scene.sky_color * (0.12 + 0.54 * peak)) * mix(vec3<f32>(0.68, 0.95, 0.90), vec3<f32>(0.96, 1.0, 0.97), peak);
    light = mix(light, white, froth / max(max(cover, froth), 1e-3));
    cover = max(cover, froth * mix(0.92, 0.60, smoothstep(0.0, 0.35, behind)));

    // Rings run out from the place where the water strikes; their crests mirror the sky.
    let phase = behind / 0.095 + 0.8 * strand + 1.4 * eddy.x - cycles(1.4);
    let crest = 0.5 + 0.5 * sin(6.28318 * phase);
    let ring = crest * crest * crest * exp(-behind / 0.30) * smoothstep(0.05, 0.20, behind) * smoothstep(0.15, 0.7, flow) * (1.0 - smoothstep(1.5, 1.95, v));
    light = mix(light, scene.sky_color * 0.60, (1.0 - cover) * ring / max(cover + ring, 1e-3));
    cover = cover + (1.0 - cover) * 0.34 * ring;

    // Mist over the place where the water strikes, and drops that spring up.
    let near = exp(-abs(after) / 0.10);
    let mist = 0.16 * flow * near * (0.5 + swell);
    light = mix(light, scene.sky_color * 0.75 + scene.sun_color * (0.28 * scene.sun_strength), mist / max(cover + mist, 1e-3));
    cover = cover + (1.0 - cover) * mist;
    let drops = spray(pixel.world.xz, 0.85 * smoothstep(0.05, 0.9, flow) * exp(-abs(after - 0.05) / 0.11) * smoothstep(0.35, 0.8, v));
    light = mix(light, (scene.sun_color * scene.sun_strength + scene.sky_color) * drops.x, drops.y);
    cover = max(cover, 0.9 * drops.y);
    if cover < 0.004 {
        discard;
    }
    return drawn_on_water(encode_light(light, cover));
}
