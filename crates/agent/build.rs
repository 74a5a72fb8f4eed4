//! Lets an ordinary `cargo build` or `clippy` of the workspace link the agent too. The agent that
//! is measured with is built by the `vm` crate's build script.

fn main() {
    for flag in ["-nostartfiles", "-nostdlib", "-static", "-no-pie"] {
        println!("cargo::rustc-link-arg-bins={flag}");
    }
}
