// The light of walls and ceilings. This file is put after `output.wgsl`.
//
// On a wall, the plane of the picture is a glass pane. The water surface is at the upper edge of the pane, the ground at its
// lower edge, and distant parts fade into scattered light. A ceiling shows the water surface from below.

// Returns the strength 0..1 of a shaft of sunlight at a distance behind the picture.
fn shaft(at: vec2<f32>, distance: f32) -> f32 {
    let along = at.x * (1.0 + distance / scene.eye_height_m) + 0.42 * at.y + 3.1 * distance;
    let t = scene.time_secs;
    // Many thin threads of light in soft groups, as small waves focus the light. They run apart, and each ends at a depth of
    // its own.
    let apart = along + 0.09 * at.x * at.y - 0.14 * at.y;
    let group = 0.5 + 0.5 * sin(apart * 1.7 + 0.12 * t + 1.3 * sin(apart * 0.53 - 0.08 * t));
    let wide = textureSampleLevel(ripple_noise, tiling_sampler, vec2<f32>(apart * 0.20, 0.03 * at.y + 31.0 / DRIFT_PERIOD_SECS * t), 0.0).x;
    let thin = textureSampleLevel(ripple_noise, tiling_sampler, vec2<f32>(apart * 0.75 + 0.5, 0.02 * at.y - 47.0 / DRIFT_PERIOD_SECS * t), 0.0).y;
    let end = noise(vec2<f32>(apart * 2.3, 7.0)) - 0.5;
    let lasts = smoothstep(-0.75, 0.75, end - at.y / scene.surface_half_m.y);
    // Threads are soft at their sides, and a few are much brighter than the others.
    let bundle = smoothstep(-0.10, 0.30, wide - 0.5);
    let thread = 0.45 + 1.1 * smoothstep(0.0, 0.34, thin - 0.5);
    return 0.42 * group * group * lasts * bundle * thread;
}

// Returns a texture position for a texture that repeats. Every second repetition is mirrored, so that no seam is visible.
fn mirrored_uv(uv: vec2<f32>) -> vec2<f32> {
    return 1.0 - abs(fract(uv * 0.5) * 2.0 - 1.0);
}

// Returns the light of a pool that is seen from the side.
fn wall_light(pixel: Pixel) -> vec3<f32> {
    let place = pixel.place;
    let eye = scene.eye_height_m;
    let half = scene.surface_half_m.y;
    // Distance behind the glass at which the view ray meets the ground or the water surface.
    let away = eye * (half / max(abs(place.y), 1e-3) - 1.0);
    let meets = min(away, 9.0);
    let scale = (eye + meets) / eye;
    let at = vec2<f32>(place.x * scale, meets);
    // Share of scattered light. It reaches 1 where ground and water surface meet, so that no seam is visible.
    let reach = 1.025 * (1.0 - exp(-scene.haze_per_m * meets));
    let height = 0.5 - 0.5 * place.y / half;
    let open = scattered(9.0) * mix(0.24, 1.75, height * height);

    // The ground and its light.
    let uv = vec2<f32>(at.x / scene.ground_half_m.x * 0.5, at.y / scene.ground_half_m.y * 0.5) + 0.5;
    let painted = textureSampleLevel(ground_picture, smooth_sampler, mirrored_uv(uv), 0.0);
    let root = textureSampleLevel(ground_shadow, smooth_sampler, mirrored_uv(uv) * scene.target_scale, 0.0).r;
    let under = vec3<f32>(0.0, -meets, half);
    let sun = painted.a * 2.5 * root * root * ground_sunlight(mirrored_uv(uv)).g;
    let sand = under_water(painted.rgb * painted.rgb, under, sun, 0.8);

    // The water surface seen from below is a mirror with bright wavelets.
    let water = textureSampleLevel(slopes, smooth_sampler, mirrored_uv(vec2<f32>(at.x, at.y) / scene.water_half_m * 0.35 + 0.5), 0.0);
    let bright = smoothstep(-0.02, 0.16, dot(water.xy, vec2<f32>(1.0, 0.7)));
    let mirror = mix(open * 0.9, (scene.sky_color * 1.2 + scene.sun_color * (0.9 * scene.sun_strength)) * transmitted(1.5), bright * 0.8);

    let solid = select(mirror, sand, place.y > 0.0);
    var light = mix(solid, open, clamp(max(reach, smoothstep(4.0, 8.8, meets)), 0.0, 1.0));
    // Shafts of sunlight behind and in front of the fish.
    // Shafts fade out toward the ground.
    let low = smoothstep(-0.75, 0.75, -place.y / half);
    // Sunlight is nearly white in the first meters of water.
    let gray = vec3<f32>(dot(scene.haze_color, vec3<f32>(0.33)));
    let beam = scene.sun_color * (scene.sun_strength * scene.shafts * low) * mix(scene.haze_color, gray, 0.35);
    light += beam * (1.3 * shaft(place, 2.4));
    light = with_bodies(place, light, 1.0);
    return light + beam * (0.7 * shaft(place + vec2<f32>(1.7, 0.0), 0.3));
}

// Returns the light of a pool that is seen from below.
fn ceiling_light(pixel: Pixel) -> vec3<f32> {
    let place = pixel.place;
    let depth = scene.ground_depth_m;
    let scale = (scene.eye_height_m + depth) / scene.eye_height_m;
    let water = textureSampleLevel(slopes, smooth_sampler, place * scale / scene.water_half_m * 0.5 + 0.5, 0.0);
    // Refraction compresses the sky into a bright window. Outside of the window, the surface reflects the dark water.
    let bent = place * scale / (scene.eye_height_m + depth) + 2.2 * water.xy;
    let sun = normalize(scene.to_sun).xz / max(abs(scene.to_sun.y), 0.2);
    let glow = exp(-9.0 * dot(bent - 0.5 * sun, bent - 0.5 * sun));
    let window = 1.0 - smoothstep(0.22, 0.60, length(bent));
    let crests = smoothstep(-0.01, 0.07, dot(water.xy, vec2<f32>(0.8, 0.6)));
    let sky = scene.sky_color * (0.34 + 0.20 * water.z + 0.45 * crests) + scene.sun_color * (scene.sun_strength * 1.9 * glow * (0.4 + 0.8 * crests));
    let behind = mix(scattered(9.0) * (0.55 + 0.5 * crests), sky, 0.12 + 0.88 * window);
    let light = behind * transmitted(1.6 * depth) * vec3<f32>(0.55, 0.92, 1.0) + 0.6 * scattered(depth);
    return with_bodies(place, light, 1.0) + scene.sun_color * scene.haze_color * (scene.sun_strength * scene.shafts * 0.5 * shaft(place.yx, 0.6));
}
