// Computes the mean color of each cell of the finished picture, for the flash limiter. It takes 36 samples per cell.

@group(1) @binding(0) var finished: texture_2d<f32>;
@group(1) @binding(1) var smooth_sampler: sampler;

// Numbers of cells; same values as `CELLS` in `src/render/flash.rs`.
const CELL_COLUMNS = 32u;
const CELL_ROWS = 18u;

@fragment
fn cell_mean(pixel: Pixel) -> @location(0) vec4<f32> {
    let cells = vec2<f32>(f32(CELL_COLUMNS), f32(CELL_ROWS));
    var sum = vec3<f32>(0.0);
    for (var i = 0; i < 36; i++) {
        let part = (vec2<f32>(f32(i % 6), f32(i / 6)) + 0.5) / 6.0 - 0.5;
        sum += textureSampleLevel(finished, smooth_sampler, (pixel.position.xy + part) / cells, 0.0).rgb;
    }
    return vec4<f32>(sum / 36.0, 1.0);
}
