//! Tests of the textures of models that other tools export.

use serde_json::{Value, json};
use shoal_testing::assert_message;

use crate::model_file::File;

/// Gives the quad texture coordinates and a material with a red texture.
fn textured(uvs: [[f32; 2]; 4]) -> File {
    textured_with_alpha(uvs, |_| 255)
}

/// As [`textured`]; `alpha` returns the alpha of a column of the texture, 0 to 3.
fn textured_with_alpha(uvs: [[f32; 2]; 4], alpha: fn(u32) -> u8) -> File {
    with_texture(
        uvs,
        &image::RgbaImage::from_fn(4, 4, |x, _| image::Rgba([255, 0, 0, alpha(x)])).into(),
    )
}

fn with_texture(uvs: [[f32; 2]; 4], texture: &image::DynamicImage) -> File {
    let mut file = File::quad();
    let mut png = std::io::Cursor::new(Vec::new());
    texture.write_to(&mut png, image::ImageFormat::Png).unwrap();
    // Adds an accessor only because this also adds the buffer view that the image needs.
    let png = png.into_inner();
    let at = file.accessor(5121, "SCALAR", png.len(), &png);
    let view = file.json["accessors"][at]["bufferView"].clone();
    let uv = file.floats("VEC2", 4, uvs.as_flattened());
    let primitive = &mut file.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["TEXCOORD_0"] = json!(uv);
    primitive["material"] = json!(0);
    file.json["materials"] = json!([{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]);
    file.json["textures"] = json!([{"source": 0}]);
    file.json["images"] = json!([{"bufferView": view, "mimeType": "image/png"}]);
    file
}

const UNIT: [[f32; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

#[test]
fn texture_coordinates_are_transformed_and_brought_into_the_image() {
    let uvs = |file: &File| -> Vec<[f32; 2]> {
        let model = file.model();
        let near = |v: f32| (v * 1000.0).round() / 1000.0 + 0.0;
        model.vertices.iter().map(|v| v.uv.map(near)).collect()
    };
    assert_eq!(uvs(&textured(UNIT)), UNIT);
    // With an offset to the lower edge and a quarter turn counter-clockwise, the texture coordinates stay inside the image.
    let mut file = textured(UNIT);
    let texture = |file: &mut File, of: Value| {
        file.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["extensions"] =
            json!({"KHR_texture_transform": of});
    };
    let turn = std::f32::consts::FRAC_PI_2;
    texture(
        &mut file,
        json!({"offset": [0, 1], "rotation": turn, "scale": [0.5, 0.5]}),
    );
    assert_eq!(uvs(&file), [[0.0, 1.0], [0.0, 0.5], [0.5, 0.5], [0.5, 1.0]]);
    // A texture repeats. Texture coordinates in another repetition therefore show the same image.
    let shifted = UNIT.map(|[u, v]| [u - 2.0, v + 1.0]);
    assert_eq!(uvs(&textured(shifted)), UNIT);
    let mut clamped = textured(shifted);
    clamped.json["textures"][0]["sampler"] = json!(0);
    clamped.json["samplers"] = json!([{"wrapS": 33071, "wrapT": 33071}]);
    assert_eq!(uvs(&clamped), shifted);
    let often = textured(UNIT.map(|[u, v]| [3.0 * u, v])).model();
    assert_eq!(
        often.notes,
        ["is drawn without the repetition of a texture"]
    );
}

/// A texture of a shop was "damaged; export it again", because it had more than 2048 pixels along a side.
#[test]
fn a_large_texture_is_reduced_and_named() {
    let stripe = image::RgbImage::from_pixel(4096, 64, image::Rgb([200, 10, 10]));
    let model = with_texture(UNIT, &stripe.into()).model();
    let skin = model.skin.as_ref().unwrap();
    assert_eq!(skin.dimensions(), (2048, 32));
    assert_eq!(skin.get_pixel(1000, 16).0, [200, 10, 10, 255]);
    assert_message(model.notes.join("; "), &["4096 × 64 pixels"]);
    let huge = image::RgbImage::new(4200, 4);
    let error = with_texture(UNIT, &huge.into()).refusal();
    assert_message(error, &["at most 4096 × 4096 pixels"]);
}

/// The alpha of a texture was its opacity, whatever the material said.
#[test]
fn the_alpha_mode_decides_what_the_alpha_of_a_texture_means() {
    for (material, factor_alpha, wanted) in [
        (json!({}), 0.5, [255; 4]),
        (json!({"alphaMode": "OPAQUE"}), 0.5, [255; 4]),
        (json!({"alphaMode": "BLEND"}), 0.5, [0, 100, 160, 255]),
        (json!({"alphaMode": "MASK"}), 1.0, [0, 0, 255, 255]),
        (json!({"alphaMode": "MASK"}), 0.5, [0, 0, 0, 255]),
        (
            json!({"alphaMode": "MASK", "alphaCutoff": 0.2}),
            1.0,
            [0, 255, 255, 255],
        ),
        (
            json!({"alphaMode": "MASK", "alphaCutoff": 1.5}),
            1.0,
            [0; 4],
        ),
    ] {
        let alpha = |x: u32| [0, 100, 160, 255][x as usize];
        let mut file = textured_with_alpha(UNIT, alpha);
        let mut described = file.json["materials"][0].clone();
        described["pbrMetallicRoughness"]["baseColorFactor"] = json!([1, 1, 1, factor_alpha]);
        for (key, value) in material.as_object().unwrap() {
            described[key] = value.clone();
        }
        file.json["materials"] = json!([described]);
        let model = file.model();
        let skin = model.skin.as_ref().unwrap();
        let opacity = [0, 1, 2, 3].map(|x| skin.get_pixel(x, 1).0[3]);
        assert_eq!(opacity, wanted, "{described}");
        let of_vertices = if described["alphaMode"] == "BLEND" {
            128
        } else {
            255
        };
        assert!(
            model.vertices.iter().all(|v| v.color[3] == of_vertices),
            "{described}"
        );
    }
    let mut file = textured(UNIT);
    file.json["materials"] = json!([{
        "alphaMode": "BLEND",
        "pbrMetallicRoughness": {"baseColorFactor": [1, 1, 1, 0.3]},
        "emissiveFactor": [1, 0, 0],
    }]);
    let notes = file.model().notes.join("; ");
    assert_message(&notes, &["transparency of a material"]);
    assert!(notes.contains("emissive colors"), "{notes}");
    file.json["materials"][0]["alphaMode"] = json!("DIM");
    assert!(file.refusal().contains("damaged"), "{}", file.refusal());
}

#[test]
fn textures_and_plain_colors_of_several_materials_are_packed_into_one_skin() {
    let mut file = textured(UNIT);
    let mut plain = file.json["meshes"][0]["primitives"][0].clone();
    plain["material"] = json!(1);
    file.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(plain);
    let blue = json!({"pbrMetallicRoughness": {"baseColorFactor": [0, 0, 1, 1]}});
    file.json["materials"].as_array_mut().unwrap().push(blue);
    let model = file.model();
    let skin = model.skin.as_ref().unwrap();
    for (i, vertex) in model.vertices.iter().enumerate() {
        let x = (vertex.uv[0] * skin.width() as f32 - 0.5).round() as u32;
        let y = (vertex.uv[1] * skin.height() as f32 - 0.5).round() as u32;
        let expected = if i < 4 {
            [255, 0, 0, 255]
        } else {
            [0, 0, 255, 255]
        };
        assert_eq!(skin.get_pixel(x, y).0, expected, "vertex {i}");
        assert_eq!(vertex.color, [255; 4], "vertex {i}");
    }
    // The same file with too many textures is rejected.
    let copies = vec![file.json["images"][0].clone(); 20];
    file.json["images"] = json!(copies);
    file.json["textures"] = (0..20).map(|i| json!({"source": i})).collect();
    file.json["materials"] = (0..20)
        .map(|i| json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": i}}}))
        .collect();
    let part = file.json["meshes"][0]["primitives"][0].clone();
    file.json["meshes"][0]["primitives"] = (0..20)
        .map(|i| {
            let mut part = part.clone();
            part["material"] = json!(i);
            part
        })
        .collect();
    assert!(file.refusal().contains("textures"), "{}", file.refusal());
}

/// A fixed bug: a JPEG texture that is cut off was drawn with a grey part, without a warning.
#[test]
fn a_jpeg_texture_without_end_is_reported() {
    let mut jpeg = std::io::Cursor::new(Vec::new());
    image::RgbImage::from_fn(64, 64, |x, y| image::Rgb([(4 * x) as u8, (4 * y) as u8, 9]))
        .write_to(&mut jpeg, image::ImageFormat::Jpeg)
        .unwrap();
    let whole = jpeg.into_inner();
    // A preview inside of a segment has an end of its own.
    let with_preview = |jpeg: &[u8]| {
        let preview = [0xFF, 0xE1, 0, 6, 0xFF, 0xD8, 0xFF, 0xD9];
        [&jpeg[..2], preview.as_slice(), &jpeg[2..]].concat()
    };
    let warning = |jpeg: &[u8]| {
        let mut file = textured(UNIT);
        let at = file.accessor(5121, "SCALAR", jpeg.len(), jpeg);
        file.json["images"][0]["bufferView"] = file.json["accessors"][at]["bufferView"].clone();
        file.json["images"][0]["mimeType"] = json!("image/jpeg");
        file.model().notes.join("; ")
    };
    let cut = &whole[..whole.len() - 100];
    for jpeg in [
        cut.to_vec(),
        with_preview(cut),
        whole[..whole.len() - 2].to_vec(),
    ] {
        assert!(warning(&jpeg).contains("cut off"), "{} bytes", jpeg.len());
    }
    for jpeg in [
        whole.clone(),
        with_preview(&whole),
        [&whole[..], &[0; 9]].concat(),
    ] {
        assert_eq!(warning(&jpeg), "", "{} bytes", jpeg.len());
    }
}

#[test]
fn texture_coordinates_that_are_not_finite_are_reported() {
    let mut uvs = UNIT;
    uvs[2][1] = f32::NAN;
    let model = textured(uvs).model();
    assert!(
        model
            .vertices
            .iter()
            .all(|v| v.uv.iter().all(|uv| uv.is_finite()))
    );
    assert_message(model.notes.join("; "), &["texture coordinates"]);
}
