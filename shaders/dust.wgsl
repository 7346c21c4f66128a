// Specks that drift in the water: lit by the sun, or glowing at night.

// One speck; same layout as `Speck` in `src/render/dust.rs`.
struct Speck {
    // Center, in world space.
    @location(0) position_m: vec3<f32>,
    @location(1) radius_m: f32,
}

struct Pixel {
    @builtin(position) position: vec4<f32>,
    @location(0) from_center: vec2<f32>,
    @location(1) @interpolate(flat) light: vec4<f32>,
    // Center of the speck, in world space.
    @location(2) @interpolate(flat) world: vec3<f32>,
}

@vertex
fn speck_vertex(speck: Speck, @builtin(vertex_index) corner: u32, @builtin(instance_index) number: u32) -> Pixel {
    // A triangle around the disc; a square would cost twice as much.
    var corners = array<vec2<f32>, 3>(vec2<f32>(-1.7320508, -1.0), vec2<f32>(0.0, 2.0), vec2<f32>(1.7320508, -1.0));
    let offset = corners[corner];
    let chance = hash2(vec2<i32>(i32(number), 17));
    // A glow is wider than the speck.
    let glow = scene.glow;
    let radius = speck.radius_m * (1.0 + 5.0 * min(glow, 1.0));
    var pixel: Pixel;
    pixel.position = clip_from_world(speck.position_m + vec3<f32>(offset.x, 0.0, offset.y) * radius);
    pixel.from_center = offset;
    pixel.world = speck.position_m;
    let lit = under_water(vec3<f32>(0.75), speck.position_m, 0.7, 0.8);
    // A multiple of 0.002, so that the pulse does not jump when the time restarts.
    let rate = 0.002 * round(500.0 * (0.5 + chance.x));
    let pulse = 0.55 + 0.45 * sin(scene.time_secs * rate + 40.0 * chance.y);
    // Most specks glow faintly and few brightly, like the organisms of real plankton.
    let rare = hash2(vec2<i32>(i32(number), 91)).x;
    let strength = 0.05 + 1.1 * pow(rare, 7.0);
    let shine = mix(vec3<f32>(0.06, 0.55, 1.0), vec3<f32>(0.25, 1.0, 0.60), chance.x) * (glow * pulse * strength);
    pixel.light = vec4<f32>(lit * 0.35 + shine, 0.35 * (1.0 - min(glow, 1.0)));
    return pixel;
}

@fragment
fn speck_light(pixel: Pixel) -> Drawn {
    let soft = max(1.0 - dot(pixel.from_center, pixel.from_center), 0.0);
    // A glow can be brighter than the encoding allows for a small cover. In that case the cover is increased.
    let light = pixel.light * (soft * soft * soft);
    let cover = max(light.a, 0.25 * max(light.r, max(light.g, light.b)));
    // A smaller cover cannot hold a color in 8 bits: the rim of the speck would be dark.
    if cover < 0.016 {
        discard;
    }
    return drawn(encode_light(light.rgb / cover, cover), pixel.world);
}
