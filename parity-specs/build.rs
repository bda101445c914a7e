//! The matrix is compiled into the crate; a new or changed file must rebuild it.

fn main() {
    for place in
        ["requirements", "cases", "commands", "plans", "kits", "phases.toml", "triggers.toml", "debt.toml"]
    {
        println!("cargo::rerun-if-changed={place}");
    }
}
