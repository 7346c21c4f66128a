//! Generates `models/*.glb`, the built-in models. After a change in this folder, run this program from the root of the
//! repository: `cargo run --example generate_models`. A test generates the files and compares them with the committed files.

mod clips;
mod coral;
mod crab;
mod drifter;
mod fish;
mod glb;
mod mesh;
mod paint;
mod ray;
mod rock;
mod skeleton;
mod species;
mod still;

fn main() -> std::io::Result<()> {
    for (name, bytes) in species::all() {
        std::fs::write(format!("models/{name}.glb"), bytes)?;
    }
    Ok(())
}
