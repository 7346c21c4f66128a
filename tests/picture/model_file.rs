//! A glTF file in memory that tests edit.

use serde_json::{Value, json};
use shoal::render::Model;

/// A glTF file with one triangle mesh. The mesh is a flat quad in the xz plane, 2 units long and 1 unit wide. It faces up.
pub(crate) struct File {
    pub(crate) json: Value,
    pub(crate) bin: Vec<u8>,
    /// Chunks between the JSON text and the binary data.
    pub(crate) extra: Vec<([u8; 4], Vec<u8>)>,
}

pub(crate) const CORNERS: [[f32; 3]; 4] = [
    [0.5, 0.0, 1.0],
    [0.5, 0.0, -1.0],
    [-0.5, 0.0, -1.0],
    [-0.5, 0.0, 1.0],
];

impl File {
    pub(crate) fn quad() -> Self {
        let mut file = Self {
            json: json!({
                "asset": {"version": "2.0"},
                "buffers": [{"byteLength": 0}], "bufferViews": [], "accessors": [],
                "scenes": [{"nodes": [0]}],
                "nodes": [{"mesh": 0}],
                "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1}, "indices": 2}]}],
            }),
            bin: Vec::new(),
            extra: Vec::new(),
        };
        file.floats("VEC3", 4, CORNERS.as_flattened());
        file.floats("VEC3", 4, [[0.0, 1.0, 0.0]; 4].as_flattened());
        file.indices(&[0, 1, 2, 0, 2, 3]);
        file
    }

    pub(crate) fn accessor(&mut self, kind: u32, shape: &str, count: usize, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let views = self.json["bufferViews"].as_array_mut().unwrap();
        views.push(json!({"buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len()}));
        let view = views.len() - 1;
        self.bin.extend_from_slice(bytes);
        let accessors = self.json["accessors"].as_array_mut().unwrap();
        accessors.push(
            json!({"bufferView": view, "componentType": kind, "type": shape, "count": count}),
        );
        accessors.len() - 1
    }

    pub(crate) fn floats(&mut self, shape: &str, count: usize, values: &[f32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(5126, shape, count, &bytes)
    }

    pub(crate) fn indices(&mut self, indices: &[u16]) -> usize {
        let bytes: Vec<u8> = indices.iter().flat_map(|i| i.to_le_bytes()).collect();
        self.accessor(5123, "SCALAR", indices.len(), &bytes)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text = self.json.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut chunks = vec![(*b"JSON", text)];
        chunks.extend(self.extra.clone());
        chunks.push((*b"BIN\0", self.bin.clone()));
        let mut body = Vec::new();
        for (kind, data) in chunks {
            body.extend((data.len() as u32).to_le_bytes());
            body.extend(kind);
            body.extend(data);
        }
        let mut file = b"glTF\x02\0\0\0".to_vec();
        file.extend((body.len() as u32 + 12).to_le_bytes());
        file.extend(body);
        file
    }

    pub(crate) fn model(&self) -> Model {
        Model::from_glb("x.glb", &self.bytes()).unwrap()
    }

    pub(crate) fn refusal(&self) -> String {
        Model::from_glb("x.glb", &self.bytes())
            .unwrap_err()
            .to_string()
    }
}
