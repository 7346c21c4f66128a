//! Generates `models/*.glb`, the built-in models. Run it from the root of the repository after a change in this folder:
//! `cargo run --example generate_models`. A test generates the files and compares them with the committed ones.

mod clips;
mod coral;
mod drifter;
mod fish;
mod glb;
mod mesh;
mod paint;
mod rock;
mod species;
mod still;

fn main() -> std::io::Result<()> {
    for (name, bytes) in species::all() {
        std::fs::write(format!("models/{name}.glb"), bytes)?;
    }
    Ok(())
}
