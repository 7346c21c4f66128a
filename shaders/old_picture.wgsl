// Draws the last picture of an old scene over the new one. The blend constant is its weight.

@group(1) @binding(0) var old_picture: texture_2d<f32>;

@fragment
fn old_color(pixel: Pixel) -> @location(0) vec4<f32> {
    return textureLoad(old_picture, vec2<i32>(pixel.position.xy), 0);
}
