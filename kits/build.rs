//! The cases are compiled into the crate; a new or changed file must rebuild it.

fn main() {
    println!("cargo::rerun-if-changed=cases");
}
