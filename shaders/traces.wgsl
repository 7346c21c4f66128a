// The traces that visitors leave: light of plankton that was moved, silt that was stirred up, footprints in the bed, and wet stones.
// This file is put after `output.wgsl`.

// Square roots of the shares of `Trace` in `src/render/traces.rs`. Red: moved a moment ago. Green: silt. Blue: somebody stood
// there. Alpha: footprint.
@group(1) @binding(9) var traces: texture_2d<f32>;
// The halo of bright bodies; see `bloom.wgsl`.
@group(1) @binding(10) var bloom: texture_2d<f32>;

// Whether visitors leave light in the water.
override HAS_WAKE: bool = false;
// Whether they stir up silt.
override HAS_SILT: bool = false;
// Whether they leave footprints.
override HAS_PRINTS: bool = false;
// Whether bright bodies have a halo.
override HAS_BLOOM: bool = false;

// Returns the traces at a position on the surface.
fn traces_at(place: vec2<f32>) -> vec4<f32> {
    let root = textureSampleLevel(traces, smooth_sampler, place / scene.water_half_m * 0.5 + 0.5, 0.0);
    return root * root;
}

// Returns the light of single organisms: one point per cell of a lattice at most. `share` is the share of the points that shine.
fn organisms(place: vec2<f32>, cell_m: f32, radius_m: f32, share: f32) -> f32 {
    let at = place / cell_m;
    let cell = vec2<i32>(floor(at));
    let chance = hash2(cell * 3 + 11);
    let own = hash2(cell * 5 - 7);
    let away = (fract(at) - 0.12 - 0.76 * chance) * (cell_m / radius_m);
    let blink = 0.65 + 0.35 * sin(scene.time_secs * 0.002 * round(500.0 * (1.0 + 2.5 * own.y)) + 40.0 * chance.x);
    let shines = smoothstep(own.x, own.x + 0.12, share);
    let far = dot(away, away);
    return shines * blink * (exp(-far) + 0.10 * exp(-0.12 * far)) * (0.35 + own.y * own.y);
}

// Returns two independent values of smooth noise, -0.5 to 0.5.
fn noise_pair(p: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(noise(p), noise(p + vec2<f32>(37.2, -61.7))) - 0.5;
}

// Returns the light of plankton that glows where visitors moved the water, and where somebody stands.
fn wake_light(place: vec2<f32>) -> vec3<f32> {
    let t = scene.time_secs;
    let here = traces_at(place);
    // Eddies tear the border of a trail and wind it up while it ages.
    let eddy = noise_pair(place * 3.6 + vec2<f32>(0.05 * t, -0.04 * t));
    let curl = noise_pair((place + 0.20 * eddy) * 11.0 + vec2<f32>(0.0, 0.06 * t));
    let bent = place + 0.24 * eddy + 0.10 * curl;
    let torn = traces_at(place + (0.05 + 0.16 * (1.0 - here.r)) * eddy + 0.045 * curl).r;
    let billow = noise(bent * 7.0) * 0.6 + noise(bent * 17.0 + 5.0) * 0.4;
    // The trail breaks up from its thin places.
    let fresh = clamp(torn * 1.15 - 0.62 * (1.0 - torn) * (1.0 - billow) - 0.15 * (1.0 - billow), 0.0, 1.0);
    let ridge = 1.0 - abs(2.0 * noise(bent * vec2<f32>(13.0, 17.0) + 19.0) - 1.0);
    let strand = 1.0 - abs(2.0 * noise(bent * 31.0 + curl * 2.0) - 1.0);
    let threads = pow(ridge, 7.0) * (0.35 + 0.65 * strand * strand);
    // A trail flashes, then threads are left, and at last single organisms.
    let flash = smoothstep(0.62, 1.0, fresh);
    let cloud = billow * billow;
    let young = vec3<f32>(0.30, 1.0, 0.84);
    let grown = vec3<f32>(0.06, 0.52, 1.0);
    let old = vec3<f32>(0.04, 0.26, 0.95);
    var light = young * (flash * (0.17 * cloud * cloud + 0.24 * threads * billow));
    light += grown * (fresh * (0.15 * cloud * fresh + 0.30 * threads * billow));
    let swarm = smoothstep(0.0, 0.7, torn * (0.55 + 0.9 * billow));
    let at = place + 0.10 * (1.0 - torn) * eddy;
    let dots = organisms(at, 0.021, 0.0026, 0.75 * swarm) + 1.6 * organisms(at + 5.0, 0.062, 0.0042, 0.75 * swarm);
    light += mix(old, mix(grown, young, 0.8), torn) * ((0.75 + 0.5 * flash) * dots);
    // Where somebody stands, they gather one by one.
    let near = 0.5 * smoothstep(0.02, 0.45, here.b);
    let embers = organisms(place + 0.03 * eddy, 0.034, 0.0030, near);
    light += mix(grown, young, 0.5) * (embers * (0.7 + 0.3 * sin(0.9 * t + 9.0 * eddy.x)));
    return light * scene.wake_glow;
}

// Returns the light of the bed under the silt that visitors stirred up. `lit` is the share of the light that shadows leave.
fn silted(place: vec2<f32>, bed: vec3<f32>, pixel: Pixel, lit: f32) -> vec3<f32> {
    let t = scene.time_secs;
    let drift = vec2<f32>(0.012 * t, -0.009 * t);
    let eddy = noise_pair(place * 4.2 - drift);
    let at = place + 0.06 * eddy;
    let billow = noise(at * 8.0 + 1.7 * eddy - 2.0 * drift);
    let puff = abs(2.0 * noise(at * 15.0 + 2.2 * eddy + 3.0 * drift) - 1.0);
    let lumps = 0.62 * billow + 0.38 * puff;
    let cloud = traces_at(at).g;
    // A cloud is thin at its border and thick in the middle.
    let dense = (1.0 - exp(-3.6 * cloud * sqrt(cloud) * (0.15 + 1.5 * lumps))) * scene.silt;
    // The side of a lump that faces the sun is lighter, the other side is in the shade of the cloud.
    let sunward = traces_at(at - pixel.bright.xy * 0.07).g;
    let facing = clamp(1.0 + 1.2 * (cloud - sunward) + 1.3 * (lumps - 0.45), 0.35, 2.0);
    let grain = scene.sand_color * 1.5 + 0.030;
    let light = grain * (pixel.sun * (0.85 * facing * lit * mix(1.0, clearing_light(place), 0.45)) + pixel.sky * (0.45 + 0.55 * lit)) + pixel.haze;
    return mix(bed, light, 0.9 * dense);
}

// Returns the factor on the light of the bed with the footprints of visitors, hollows with a rim that faces the sun; and the factor on
// the light of stones and leaves at the surface, which are dark while they are wet.
fn printed(place: vec2<f32>, sunward: vec2<f32>) -> vec2<f32> {
    let rough = textureSampleLevel(ripple_noise, tiling_sampler, place * 0.6, 0.0).xyz - 0.5;
    let at = place + 0.012 * rough.xy;
    let trace = traces_at(at);
    let deep = smoothstep(0.05, 0.65, trace.a);
    let relief = deep - smoothstep(0.05, 0.65, traces_at(at + sunward * 0.016).a);
    let wet = smoothstep(0.12, 0.5, trace.r + 0.3 * rough.z);
    return vec2<f32>(clamp(1.0 - scene.prints * (0.50 * deep + 0.85 * relief), 0.3, 1.9), 1.0 - 0.5 * scene.prints * wet);
}

// Returns the light of the halo of bright bodies at a position on the surface.
fn halo(place: vec2<f32>) -> vec3<f32> {
    return textureSampleLevel(bloom, smooth_sampler, place * scene.body_uv_per_m + 0.5, 0.0).rgb * scene.bloom;
}
