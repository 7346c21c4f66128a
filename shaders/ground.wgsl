// Paints the ground texture once per scene. RGB: square root of the color under even light; alpha: 0.4 of the factor by which
// the slope of the ground changes the sunlight. Large shapes come first: bars and hollows, then ripples, pebbles and grains.

struct Pixel {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec2<f32>,
}

@vertex
fn full_target(@builtin(vertex_index) index: u32) -> Pixel {
    let corner = vec2<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
    var pixel: Pixel;
    pixel.position = vec4<f32>(corner, 0.0, 1.0);
    pixel.place = vec2<f32>(corner.x, -corner.y) * scene.ground_half_m;
    return pixel;
}

// An ellipse in which a body meets the ground; same layout as `GroundContact` in `src/render/ground_contact.rs`.
struct GroundContact {
    // Center on the ground texture, in meters.
    center_m: vec2<f32>,
    // Half axes in meters; 0 for an empty entry.
    half_m: vec2<f32>,
    // Direction of the first half axis, unit length.
    axis: vec2<f32>,
    // Distance beyond the ellipse up to which there are heaped sand and shade, in meters; 0 for an empty entry.
    reach_m: f32,
    // 0 for a stone, 1 for the root of a plant.
    is_root: f32,
}

// The ground of a terrace; same layout as `TerraceGround` in `src/render/ground_contact.rs`.
struct TerraceGround {
    // Index of the first corner in `terrace_corners_m`, followed by the number of corners; 0 corners mark an empty entry.
    first_corner: u32,
    corner_count: u32,
    // Relative height: 0 for the lowest terrace, 1 for the highest.
    height: f32,
}

@group(1) @binding(0) var<storage, read> contacts: array<GroundContact>;
// The terraces; one empty entry if there are none.
@group(1) @binding(1) var<storage, read> terraces: array<TerraceGround>;
// Corners of the terraces on the ground texture, in meters.
@group(1) @binding(2) var<storage, read> terrace_corners_m: array<vec2<f32>>;

// The effect of all ground contacts on a point of the ground.
struct ContactEffect {
    // Height of the heaped sand, 0..1.
    heap: f32,
    // Share of the light that the bodies do not block.
    open: f32,
    // Closeness to a stone, 0..1. Gravel and algae gather close to stones.
    lee: f32,
}

fn contact_effect(place: vec2<f32>) -> ContactEffect {
    var all = ContactEffect(0.0, 1.0, 0.0);
    for (var i = 0u; i < arrayLength(&contacts); i++) {
        let contact = contacts[i];
        let offset = place - contact.center_m;
        let far = max(contact.half_m.x, contact.half_m.y) + 4.0 * contact.reach_m;
        if dot(offset, offset) > far * far || contact.reach_m <= 0.0 {
            continue;
        }
        let local = vec2<f32>(dot(offset, contact.axis), dot(offset, vec2<f32>(-contact.axis.y, contact.axis.x)));
        let ragged = 0.55 * (noise(place * 9.0 + 5.0) - 0.5) + 0.25 * (noise(place * 31.0) - 0.5);
        let beyond = (length(local / contact.half_m) - 1.0) * min(contact.half_m.x, contact.half_m.y) + ragged * contact.reach_m;
        let near = exp(-max(beyond, 0.0) / contact.reach_m);
        all.heap = max(all.heap, near * min(contact.reach_m * 12.0, 1.0));
        all.open *= 1.0 - mix(0.55, 0.45, contact.is_root) * exp(-max(beyond, 0.0) / (0.5 * contact.reach_m));
        all.lee = max(all.lee, (1.0 - contact.is_root) * (1.0 - smoothstep(0.0, 2.6 * contact.reach_m, beyond)));
    }
    return all;
}

// The terraces near a point of the ground.
struct NearTerraces {
    // Relative height of the ground, 0 for the lowest terrace to 1 for the highest.
    height: f32,
    // Distance to the nearest terrace; 0 inside of the terrace.
    nearest_m: f32,
    // Distance to the second nearest terrace.
    second_m: f32,
}

fn near_terraces(place: vec2<f32>) -> NearTerraces {
    var found = NearTerraces(0.0, 99.0, 99.0);
    // Between terraces, the height is the mean of their heights, weighted by closeness.
    var sum = vec2<f32>(0.0, 1e-6);
    for (var i = 0u; i < arrayLength(&terraces); i++) {
        let terrace = terraces[i];
        let first = terrace.first_corner;
        let count = terrace.corner_count;
        if count == 0u {
            continue;
        }
        var inside = false;
        var near = 99.0;
        for (var j = 0u; j < count; j++) {
            let a = terrace_corners_m[first + j];
            let b = terrace_corners_m[first + (j + 1u) % count];
            inside = inside != ((a.y > place.y) != (b.y > place.y) && place.x < a.x + (place.y - a.y) / (b.y - a.y) * (b.x - a.x));
            let side = b - a;
            near = min(near, distance(place, a + side * clamp(dot(place - a, side) / max(dot(side, side), 1e-6), 0.0, 1.0)));
        }
        let far = select(near, 0.0, inside);
        sum += vec2<f32>(terrace.height, 1.0) * exp(-far / 0.07);
        if far < found.nearest_m {
            found = NearTerraces(terrace.height, far, found.nearest_m);
        } else {
            found.second_m = min(found.second_m, far);
        }
    }
    found.height = select(found.height, sum.x / sum.y, found.nearest_m < 0.7);
    return found;
}

// A pebble, leaf or twig at a point of the ground.
struct GroundItem {
    // Pebble: height above the sand, in meters. Leaf or twig: cover, 0..1. Outside of the item: 0.
    height: f32,
    // Pebble: distance from the center relative to the radius. Leaf or twig: strength of the shadow beside it.
    rim: f32,
    color: vec3<f32>,
    // Slope of the surface of the item.
    slope: vec2<f32>,
}

// Returns the highest pebble at a point, from a layer with at most one pebble per cell of `size_m`.
fn pebble(place: vec2<f32>, size_m: f32, share: f32, salt: i32) -> GroundItem {
    var stone = GroundItem(0.0, 9.0, vec3<f32>(0.0), vec2<f32>(0.0));
    let p = place / size_m;
    let home = vec2<i32>(floor(p));
    for (var dz = -1; dz <= 1; dz++) {
        for (var dx = -1; dx <= 1; dx++) {
            let cell = home + vec2<i32>(dx, dz);
            let chance = hash2(cell * 3 + salt);
            let more = hash2(cell * 7 - salt);
            let middle = vec2<f32>(cell) + 0.12 + 0.76 * chance;
            // Pebbles are concentrated in drifts.
            let drift = smoothstep(0.50, 0.66, fbm(middle * size_m * 0.85 + 40.0 + f32(salt) * 0.02) + 0.30 * (share - 0.35));
            if more.x > 0.004 + drift * (0.55 + share) {
                continue;
            }
            let angle = more.y * 6.28318;
            let axis = vec2<f32>(cos(angle), sin(angle));
            let offset = p - middle;
            let local = vec2<f32>(dot(offset, axis), dot(offset, vec2<f32>(-axis.y, axis.x)));
            let radius = 0.16 + 0.28 * chance.y * chance.y;
            let lumpy = 1.0 + 0.22 * (noise(local * 5.0 / radius * 0.3 + chance * 90.0) - 0.5);
            let reach = length(local * vec2<f32>(1.0, 1.25 + 0.5 * chance.x)) / (radius * lumpy);
            let dome = sqrt(max(1.0 - reach * reach, 0.0)) * radius * size_m;
            if dome > stone.height {
                let tone = fract(chance.x * 7.0 + more.y * 3.0);
                var color = mix(vec3<f32>(0.20, 0.19, 0.175), vec3<f32>(0.50, 0.46, 0.39), tone * tone + 0.1);
                color = mix(color, vec3<f32>(0.42, 0.31, 0.19), step(0.66, tone) * 0.85);
                color = mix(color, vec3<f32>(0.35, 0.19, 0.115), step(0.93, tone));
                color = mix(color, scene.sand_color * 0.8, 0.38);
                // Some pebbles have a vein of quartz.
                let vein = abs(local.y / radius + 0.5 * (noise(local * 3.0 / radius + chance * 31.0) - 0.5) - 0.3 * (chance.x - 0.5));
                color = mix(color, vec3<f32>(0.52, 0.49, 0.43), step(0.82, more.x * 7.0 - floor(more.x * 7.0)) * smoothstep(0.14, 0.05, vein) * 0.7);
                let speckle = noise(local * 30.0 / radius * 0.3 + chance.yx * 70.0);
                let fall = reach / sqrt(max(1.0 - reach * reach, 0.16));
                stone = GroundItem(dome, reach, color * (0.82 + 0.36 * speckle), -normalize(offset + 1e-5) * fall * 0.55);
            } else {
                stone.rim = min(stone.rim, reach);
            }
        }
    }
    return stone;
}

// Returns the fallen leaf or twig at a point, from two layers of leaves and one layer of twigs.
fn litter(place: vec2<f32>, share: f32) -> GroundItem {
    var found = GroundItem(0.0, 0.0, vec3<f32>(0.0), vec2<f32>(0.0));
    for (var layer = 0; layer < 3; layer++) {
        let is_twig = layer == 2;
        let size_m = select(0.085 + 0.03 * f32(layer), 0.24, is_twig);
        let p = place / size_m + 13.7 * f32(layer);
        let home = vec2<i32>(floor(p));
        for (var i = 0; i < 9; i++) {
            let cell = home + vec2<i32>(i % 3 - 1, i / 3 - 1);
            let chance = hash2(cell * 5 + 211 * (layer + 1));
            let more = hash2(cell * 11 - 97 * (layer + 1));
            // Leaves are concentrated in heaps.
            let heap = smoothstep(0.42, 0.66, fbm(vec2<f32>(cell) * size_m * 1.1 + 300.0));
            if more.x > share * (0.12 + 1.3 * heap) * select(1.0, 0.35, is_twig) {
                continue;
            }
            let offset = p - (vec2<f32>(cell) + 0.2 + 0.6 * chance);
            let angle = 6.28318 * more.y;
            let axis = vec2<f32>(cos(angle), sin(angle));
            var local = vec2<f32>(dot(offset, axis), dot(offset, vec2<f32>(-axis.y, axis.x)));
            // The leaf or twig is bent along its rib.
            local.y += (chance.x - 0.5) * 0.9 * local.x * local.x;
            let half_length = select(0.30 + 0.22 * chance.y, 0.45 + 0.25 * chance.y, is_twig);
            let t = local.x / half_length;
            let round = max(1.0 - t * t, 0.0);
            let half_width = select(half_length * (0.26 + 0.22 * chance.x) * round * (1.0 + 0.35 * t), 0.022 * (0.4 + round), is_twig);
            let soft = 0.10 * half_length;
            let cover = smoothstep(soft * 0.5, -soft * 0.5, abs(local.y) - half_width) * step(abs(t), 1.0);
            // The shadow of the item falls away from the sun.
            let thrown = offset - normalize(scene.sun_shift + 1e-5) * (0.012 / size_m);
            let local_shadow = vec2<f32>(dot(thrown, axis), dot(thrown, vec2<f32>(-axis.y, axis.x)));
            let under = smoothstep(soft * 1.5, -soft * 1.5, abs(local_shadow.y + (chance.x - 0.5) * 0.9 * local_shadow.x * local_shadow.x) - half_width) * step(abs(local_shadow.x / half_length), 1.0);
            found.rim = max(found.rim, under);
            if cover > 0.02 {
                let tone = fract(chance.y * 5.0 + more.y * 3.0);
                var color = mix(vec3<f32>(0.30, 0.17, 0.065), vec3<f32>(0.155, 0.095, 0.05), smoothstep(0.2, 0.6, tone));
                color = mix(color, vec3<f32>(0.40, 0.25, 0.07), smoothstep(0.68, 0.8, tone));
                color = mix(color, vec3<f32>(0.27, 0.095, 0.045), smoothstep(0.88, 0.94, tone));
                color = select(color, vec3<f32>(0.115, 0.08, 0.05), is_twig);
                let rib = smoothstep(0.05, 0.0, abs(local.y) / half_length) * select(0.35, 0.0, is_twig);
                let vein = 0.5 + 0.5 * sin(40.0 * (abs(local.y) * 0.8 - local.x) / half_length * 0.5);
                color *= (0.80 + 0.4 * noise(local * 24.0 + chance * 50.0)) * (1.0 + rib) * (0.92 + 0.16 * vein);
                found.color = mix(found.color, color, step(found.height, 0.01) + cover * step(0.01, found.height));
                found.height = max(found.height, cover);
                found.slope = vec2<f32>(-axis.y, axis.x) * (local.y / max(half_width, 0.02)) * 0.5;
            }
        }
    }
    return found;
}

// Returns the height of the sand, in meters. `heap` is the height of the sand that bodies heap up, 0..1.
fn sand_height(place: vec2<f32>, heap: f32) -> f32 {
    let seed = vec2<f32>(scene.ground_seed * 13.7, scene.ground_seed * 7.1);
    let p = place + seed;
    let bars = fbm(p * 0.45);
    // Parallel ripples. The warped phase makes the ripples fork and end.
    let warp = vec2<f32>(fbm(p * 0.8 + 3.0), fbm(p * 0.8 + 31.0)) - 0.5;
    let along = dot(p + 0.75 * warp, normalize(vec2<f32>(0.86, 0.5)));
    let phase = along / 0.235 + 1.1 * (noise(p * 2.6 + 9.0) - 0.5);
    let wave = 0.5 + 0.5 * sin(phase * 6.28318);
    let strength = smoothstep(0.22, 0.55, fbm(p * 0.7 + 77.0));
    let ripple = 0.024 * strength * pow(wave, 1.6);
    return scene.relief * (0.20 * bars + ripple * (1.0 - heap)) + 0.05 * heap * heap + 0.0035 * fbm(p * 11.0);
}

// A stone of a layer of packed stones.
struct PackedStone {
    // Height above the bed, in meters; 0 in the gap between stones or where the layer has no stone.
    height: f32,
    // Random numbers of the stone.
    chance: vec2<f32>,
}

// Returns the stone at a point, from a layer of stones that touch each other: cells of points on a jittered lattice with a mean
// distance of `size_m`, with rounded edges. `share` is the share of the cells that contain a stone.
fn packed_stone(place: vec2<f32>, size_m: f32, share: f32, salt: i32) -> PackedStone {
    let flat = place / size_m;
    let p = flat + 0.34 * (vec2<f32>(noise(flat * 1.7 + 3.0), noise(flat * 1.7 + 41.0)) - 0.5);
    let home = vec2<i32>(floor(p));
    var near = vec2<f32>(0.0);
    var near_cell = home;
    var nearest = 9.0;
    for (var i = 0; i < 9; i++) {
        let cell = home + vec2<i32>(i % 3 - 1, i / 3 - 1);
        let offset = vec2<f32>(cell) + 0.08 + 0.84 * hash2(cell * 3 + salt) - p;
        let far = dot(offset, offset);
        if far < nearest {
            nearest = far;
            near = offset;
            near_cell = cell;
        }
    }
    // Distance to the borders of the cell. The soft minimum over all borders rounds the corners of the stone.
    var closeness = 0.0;
    for (var i = 0; i < 25; i++) {
        let cell = near_cell + vec2<i32>(i % 5 - 2, i / 5 - 2);
        let offset = vec2<f32>(cell) + 0.08 + 0.84 * hash2(cell * 3 + salt) - p;
        let across = offset - near;
        if dot(across, across) > 1e-4 {
            closeness += exp(-14.0 * dot(0.5 * (near + offset), normalize(across)));
        }
    }
    let border = -log(closeness) / 14.0;
    let chance = hash2(near_cell * 7 - salt);
    let round = clamp((border - 0.02) / (0.17 + 0.14 * chance.y), 0.0, 1.0);
    let dome = sqrt(round * (2.0 - round));
    let is_here = step(hash2(near_cell * 13 + salt).x, share);
    return PackedStone(is_here * dome * size_m * (0.30 + 0.30 * chance.x), chance);
}

// Returns the highest stone of three layers of packed gravel.
fn gravel_at(place: vec2<f32>) -> PackedStone {
    let drift = fbm(place * 0.9 + 120.0);
    var top = PackedStone(0.0, vec2<f32>(0.0));
    for (var i = 0; i < 3; i++) {
        let is_large = i == 2;
        let offset = select(select(0.0, 5.1, i == 1), -2.7, is_large);
        let size_m = select(select(0.034, 0.080, i == 1), 0.19, is_large);
        let amount = select(0.20 + 0.75 * smoothstep(0.40, 0.65, drift), 0.05 + 0.50 * smoothstep(0.55, 0.75, drift), is_large);
        let layer = packed_stone(place + offset, size_m, select(amount, 1.0, i == 0), select(select(17, 43, i == 1), 71, is_large));
        if i == 0 {
            top = layer;
        } else if layer.height > 0.0 {
            // A large black stone would look like a hole in the ground.
            let chance = select(layer.chance, vec2<f32>(layer.chance.x, 0.42 + 0.5 * layer.chance.y), is_large);
            top = PackedStone(layer.height + select(0.010, 0.022, is_large), chance);
        }
    }
    return top;
}

// Returns the color of gravel: most stones are dark, few are pale or rust-colored.
fn gravel_color(place: vec2<f32>, stone: PackedStone) -> vec3<f32> {
    let bright = dot(scene.sand_color, vec3<f32>(0.2126, 0.7152, 0.0722));
    let tint = mix(vec3<f32>(1.0), scene.sand_color / max(bright, 1e-3), 0.5);
    let tone = 0.10 + 2.6 * stone.chance.y * stone.chance.y * stone.chance.y;
    var color = bright * tone * tint;
    color *= mix(vec3<f32>(0.92, 1.0, 1.06), vec3<f32>(1.16, 0.98, 0.78), fract(5.0 * stone.chance.x));
    color = mix(color, bright * vec3<f32>(1.35, 0.62, 0.26), step(0.95, fract(9.0 * stone.chance.x)));
    let speckle = 0.70 + 0.60 * noise(place * 210.0) * (0.5 + noise(place * 61.0));
    return color * speckle;
}

// A crust of coral at a point of the ground.
struct Crust {
    // Height above the sand, in meters; 0 in pockets of sand.
    height: f32,
    // Height of the knob at this point, relative to a typical knob: 0 in the gap between knobs.
    knob: f32,
    // Height of the coral head at this point, relative to a large head: 0 in the gap between heads.
    head: f32,
    // Random numbers of the coral head.
    chance: vec2<f32>,
}

// Returns the highest dome at a point, from a layer of domes that overlap: one in each cell of `size_m`, with a random center and
// radius.
fn coral_dome(place: vec2<f32>, size_m: f32, salt: i32) -> PackedStone {
    let p = place / size_m;
    let home = vec2<i32>(floor(p));
    var top = PackedStone(0.0, vec2<f32>(0.0));
    for (var i = 0; i < 9; i++) {
        let cell = home + vec2<i32>(i % 3 - 1, i / 3 - 1);
        let chance = hash2(cell * 7 - salt);
        let offset = vec2<f32>(cell) + 0.1 + 0.8 * hash2(cell * 3 + salt) - p;
        let radius = 0.42 + 0.40 * chance.y;
        let height = sqrt(max(radius * radius - dot(offset, offset), 0.0)) * size_m;
        if height > top.height {
            top = PackedStone(height, chance);
        }
    }
    return top;
}

// Returns the crust of coral at a point: heads of many sizes, each covered by knobs, which are covered by smaller knobs.
fn crust_at(place: vec2<f32>) -> Crust {
    // Coral grows thinner toward a pocket of sand and breaks up into single heads.
    let pocket = 0.5 + 2.1 * (fbm(place * 0.75 + 19.0) - 0.5) + 0.30 * (noise(place * 7.0) - 0.5) + 0.22 * (noise(place * 19.0 + 7.0) - 0.5);
    let cover = smoothstep(-0.06, 0.14, scene.crust - pocket);
    let bent = place + 0.06 * (vec2<f32>(noise(place * 6.0), noise(place * 6.0 + 23.0)) - 0.5) + 0.018 * (vec2<f32>(noise(place * 38.0), noise(place * 38.0 + 61.0)) - 0.5);
    var head: PackedStone;
    var knob: PackedStone;
    var bud: PackedStone;
    for (var i = 0; i < 3; i++) {
        let is_bud = i == 2;
        let at = select(bent, place, is_bud);
        let dome = coral_dome(at, select(select(0.36, 0.075, i == 1), 0.026, is_bud), select(select(29, 53, i == 1), 83, is_bud));
        if i == 0 {
            head = dome;
        } else if i == 1 {
            knob = dome;
        } else {
            bud = dome;
        }
    }
    let height = 0.50 * head.height + 0.75 * knob.height + 0.65 * bud.height;
    return Crust(cover * (0.02 + height), clamp(knob.height / 0.050 * 0.70 + bud.height / 0.017 * 0.35, 0.0, 1.3), head.height / 0.25, head.chance);
}

// Returns the color of the crust: one family from brown to ochre, pale on the knobs, with rare heads of another color.
fn crust_color(place: vec2<f32>, crust: Crust) -> vec3<f32> {
    var color = mix(vec3<f32>(0.195, 0.098, 0.046), vec3<f32>(0.56, 0.31, 0.110), crust.chance.x);
    let accent = mix(vec3<f32>(0.62, 0.17, 0.11), vec3<f32>(0.60, 0.27, 0.20), step(0.5, fract(7.0 * crust.chance.x)));
    color = mix(color, accent, 0.75 * step(0.94, crust.chance.y));
    color = mix(color * 0.55, color * 1.25 + 0.02, smoothstep(0.25, 1.10, crust.knob));
    return color * (0.75 + 0.5 * noise(place * 170.0));
}

// Returns the shallowness 0..1 of a place; `p` is the place in the pattern of the ground. A pond has one deeper, darker hollow with an
// irregular outline. It lies beside the center, in another place for each seed of the ground.
fn shallowness(place: vec2<f32>, p: vec2<f32>) -> f32 {
    let beside = 0.9 * (hash2(vec2<i32>(i32(scene.ground_seed), 5)) - 0.5);
    let from_hollow = length(place / scene.ground_half_m - beside);
    return smoothstep(0.25, 1.0, from_hollow + 1.2 * (fbm(p * 0.7) - 0.5));
}

// Returns the direction to the place beside a point at which a slope is measured: none, along x, along z.
fn beside(i: i32) -> vec2<f32> {
    return vec2<f32>(select(0.0, 1.0, i == 1), select(0.0, 1.0, i == 2));
}

@fragment
fn ground_color(pixel: Pixel) -> @location(0) vec4<f32> {
    let place = pixel.place;
    let seed = vec2<f32>(scene.ground_seed * 13.7, scene.ground_seed * 7.1);
    let p = place + seed;
    // The height of the sand at this place and at two places beside it. A driver copies a function to every place that calls it, so
    // what is needed at several places is a loop: a few copies of the whole pattern take seconds to compile.
    let e = 0.006;
    var contact: ContactEffect;
    var h = 0.0;
    var gradient = vec2<f32>(0.0);
    for (var i = 0; i < 3; i++) {
        let at = place + e * beside(i);
        let effect = contact_effect(at);
        let height = sand_height(at, effect.heap);
        if i == 0 {
            contact = effect;
            h = height;
        }
        gradient += beside(i) * ((height - h) / e);
    }
    // There is more gravel near stones.
    let share = scene.pebble_share + 0.5 * contact.lee * step(0.001, scene.pebble_share);

    // Sand: pale on bars, warmer and darker in hollows, with grains of different tones.
    let bars = fbm(p * 0.45);
    let tone = fbm(p * 1.3 + 11.0);
    var color = scene.sand_color * mix(0.92, mix(0.60, 1.18, smoothstep(0.28, 0.72, 0.65 * bars + 0.35 * tone)), scene.relief);
    color = mix(color, color * vec3<f32>(0.80, 0.78, 0.70), smoothstep(0.5, 0.75, fbm(p * 0.9 + 51.0)) * 0.8 * scene.relief);
    let grain = noise(p * 260.0) * 0.6 + noise(p * 120.0) * 0.4;
    color *= 0.86 + 0.28 * grain;
    let dark_grain = step(0.93, noise(p * 190.0 + 7.0));
    color *= 1.0 - 0.25 * dark_grain;

    // Patches with a film of algae.
    let film = smoothstep(0.52, 0.74, fbm(p * 1.05 + 140.0)) * (0.6 + 0.4 * noise(p * 14.0));
    color = mix(color, color * vec3<f32>(0.78, 0.80, 0.62), 0.5 * film * scene.relief);

    var occlusion = contact.open;
    // There are algae and silt near stones.
    color = mix(color, color * vec3<f32>(0.62, 0.66, 0.50), 0.6 * contact.lee * noise(p * 7.0 + 3.0));

    // Lower terraces are darker and bluer. There is shade along the edges of terraces, and wet rock between two waters.
    if terraces[0].corner_count > 0u {
        let here = near_terraces(place);
        color *= mix(vec3<f32>(0.46, 0.66, 0.76), vec3<f32>(1.10, 1.06, 1.0), here.height);
        occlusion *= 1.0 - 0.60 * exp(-max(here.second_m - 0.15, 0.0) / 0.11);
        let is_sill = smoothstep(0.0, 0.03, here.nearest_m) * (1.0 - smoothstep(0.3, 0.5, here.second_m));
        color = mix(color, vec3<f32>(0.16, 0.15, 0.13) * (0.5 + noise(p * 23.0)), is_sill);
    }

    // Small, medium and a few large pebbles. Larger pebbles lie on top.
    var stone = GroundItem(0.0, 9.0, vec3<f32>(0.0), vec2<f32>(0.0));
    var near = 9.0;
    let layers = select(0, 3, scene.pebble_share > 0.0);
    for (var i = 0; i < layers; i++) {
        let is_large = i == 2;
        let offset = select(select(0.0, 3.3, i == 1), -8.1, is_large);
        let size_m = select(select(0.045, 0.11, i == 1), 0.30, is_large);
        let amount = share * select(select(1.1, 1.0, i == 1), 0.8, is_large);
        let layer = pebble(p + offset, size_m, amount, select(select(11, 37, i == 1), 71, is_large));
        near = min(near, layer.rim);
        if i == 0 || layer.height > 0.0 {
            stone = layer;
        }
    }
    if share > 0.0 && stone.height > 0.0 {
        gradient = gradient * 0.3 + stone.slope;
        // The lower edge of a pebble is covered by sand.
        let buried = smoothstep(1.0, 0.80, stone.rim);
        color = mix(color * 0.92, stone.color, buried);
        occlusion *= mix(0.86, 1.0, buried);
    } else if share > 0.0 {
        occlusion *= mix(0.82, 1.0, smoothstep(0.98, 1.7, near + 0.2 * step(1.0, near)));
    }

    if scene.gravel > 0.0 {
        // Silt covers the gravel where the current is weak.
        let cover = smoothstep(0.10, -0.10, fbm(p * 0.55 + 7.0) * 0.8 + 0.1 - scene.gravel);
        let fine = 0.002;
        var here: PackedStone;
        var slope = vec2<f32>(0.0);
        for (var i = 0; i < select(0, 3, scene.gravel > 0.0); i++) {
            let at = gravel_at(p + fine * beside(i));
            if i == 0 {
                here = at;
            }
            slope += beside(i) * ((at.height - here.height) / fine);
        }
        let is_stone = cover * smoothstep(0.0, 0.004, here.height);
        color = mix(color, gravel_color(p, here), is_stone);
        gradient = mix(gradient, clamp(slope, vec2<f32>(-1.6), vec2<f32>(1.6)), cover);
        occlusion *= mix(1.0, mix(0.10, 1.0, smoothstep(0.0, 0.012, here.height)), cover);
    }

    if scene.crust > 0.0 {
        let fine = 0.003;
        var here: Crust;
        var slope = vec2<f32>(0.0);
        for (var i = 0; i < select(0, 3, scene.crust > 0.0); i++) {
            let at = crust_at(p + fine * beside(i));
            if i == 0 {
                here = at;
            }
            slope += beside(i) * ((at.height - here.height) / fine);
        }
        let is_coral = smoothstep(0.004, 0.020, here.height);
        color = mix(color, crust_color(p, here), is_coral);
        gradient = mix(gradient, clamp(slope, vec2<f32>(-1.5), vec2<f32>(1.5)), is_coral);
        // Light reaches the tops of knobs and heads, but hardly the gaps between them.
        occlusion *= mix(1.0, mix(0.30, 1.0, smoothstep(0.1, 0.8, here.knob)) * mix(0.45, 1.3, smoothstep(0.1, 0.9, here.head)), is_coral);
    }

    // Banks are shallow and light, hollows deep and dark.
    if scene.gravel + scene.crust > 0.0 {
        occlusion *= mix(0.46, 1.65, shallowness(place, p));
    }

    // There are more fallen leaves near the rim.
    let rim = smoothstep(0.35, 1.05, length(place / scene.ground_half_m * vec2<f32>(0.95, 0.95)));
    let leaf = litter(p, scene.litter * (0.05 + 0.95 * rim * rim));
    color = mix(color, leaf.color, leaf.height);
    gradient = mix(gradient, leaf.slope, leaf.height);
    occlusion *= mix(1.0, 0.62, leaf.rim);

    // The ground is darker in the center and near the rim.
    let from_middle = length(place / scene.ground_half_m);
    color *= 0.86 + 0.14 * smoothstep(0.1, 0.75, from_middle);
    color *= 1.0 - 0.22 * smoothstep(0.75, 1.25, from_middle);

    let normal = normalize(vec3<f32>(-gradient.x * 1.5, 1.0, -gradient.y * 1.5));
    let towards_sun = normalize(vec3<f32>(-scene.sun_shift.x, 1.0, -scene.sun_shift.y));
    let facing = max(dot(normal, towards_sun), 0.0) / towards_sun.y;
    let sunlit = clearing_light(place / scene.ground_half_m * scene.surface_half_m);
    // Less skylight reaches the ground between trees, too.
    let shaded = color * occlusion * mix(1.0, sunlit, 0.55);
    // The texture stores square roots, so that 8 bits suffice in dark areas.
    return vec4<f32>(sqrt(max(shaded, vec3<f32>(0.0))), clamp(facing * sunlit * 0.4, 0.0, 1.0));
}
