//! Writes `models/*.glb`: the fish and rocks that Shoal ships. Run it from the repository's root after a change here:
//! `cargo run --example generate_models`. A test regenerates the files and compares them with the committed ones.

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
