//! Rule: dependencies between our crates only point down the ladder. A crate that reaches up can no longer be
//! understood, or replaced, by itself.

use super::Finding;
use super::manifest::{self, Dependency, Manifest};
use super::repo::Repo;

/// Each crate, with the crates it may depend on.
const LADDER: &[(&str, &[&str])] = &[
    ("fixtures", &[]),
    ("parity-specs", &["fixtures"]),
    ("mock-server", &["fixtures", "parity-specs"]),
    ("recorder", &["fixtures", "parity-specs"]),
    ("harness", &["mock-server", "recorder", "parity-specs", "fixtures"]),
    ("kits", &["harness", "mock-server", "recorder", "parity-specs", "fixtures"]),
    ("cli", &["kits", "harness", "mock-server", "recorder", "parity-specs", "fixtures"]),
    ("xtask", &["kits", "harness", "mock-server", "recorder", "parity-specs", "fixtures"]),
];

/// The ladder for the eye; arrows point down.
const PICTURE: &str = "
    cli      xtask
      \\      /
        kits
         |
      harness
      /     \\
mock-server recorder
      \\     /
    parity-specs
         |
      fixtures";

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    manifest::members(repo).iter().flat_map(check_member).collect()
}

fn check_member(member: &Manifest) -> Vec<Finding> {
    let Some((_, below)) = LADDER.iter().find(|(name, _)| *name == member.package) else {
        let wrong = format!("the crate `{}` is not on the ladder", member.package);
        return vec![Finding::whole(
            &member.file,
            wrong,
            "give it a rung in xtask/src/tidy/ladder.rs, with a reason",
        )];
    };
    let bound = member.dependencies.iter().filter(|dependency| is_bound(member, dependency));
    let ours = bound.filter(|dependency| LADDER.iter().any(|(name, _)| *name == dependency.package));
    let wrong = ours.filter(|dependency| !below.contains(&dependency.package.as_str()));
    wrong.map(|dependency| finding(member, dependency)).collect()
}

/// Tests may look across the ladder, except those of recorder: it must be able to record without a stand-in.
fn is_bound(member: &Manifest, dependency: &Dependency) -> bool {
    member.package == "recorder" || !dependency.section.ends_with("dev-dependencies")
}

fn finding(member: &Manifest, dependency: &Dependency) -> Finding {
    let wrong =
        format!("`{}` may not depend on `{}` ({})", member.package, dependency.package, dependency.section);
    let mend = format!("move what both need to a crate below them; arrows point down only:{PICTURE}");
    Finding::at(&member.file, dependency.line, wrong, mend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::told;

    fn told_of(name: &str, dependencies: &str) -> Vec<String> {
        let root = format!("[workspace]\nmembers = [\"{name}\"]\n");
        let manifest = format!("[package]\nname = \"{name}\"\n{dependencies}");
        told(check, &[("Cargo.toml", &root), (&format!("{name}/Cargo.toml"), &manifest)])
    }

    #[test]
    fn an_edge_that_points_up_or_across_is_shown_with_the_ladder() {
        let told =
            told_of("mock-server", "[dependencies]\nfixtures.workspace = true\nrecorder.workspace = true\n");
        assert_eq!(
            told,
            [format!(
                "mock-server/Cargo.toml:5: `mock-server` may not depend on `recorder` (dependencies); \
             move what both need to a crate below them; arrows point down only:{PICTURE}"
            )]
        );
        assert_eq!(told_of("fixtures", "[build-dependencies]\nparity-specs = \"0\"\n").len(), 1);
        assert_eq!(told_of("cli", "[dependencies]\nxtask.workspace = true\n").len(), 1);
    }

    #[test]
    fn another_name_for_a_crate_does_not_hide_it() {
        assert_eq!(
            told_of("fixtures", "[dependencies]\nx = { package = \"harness\", path = \"../harness\" }\n")
                .len(),
            1
        );
    }

    #[test]
    fn the_tests_of_recorder_may_not_look_across_and_others_may() {
        let tests = "[dev-dependencies]\nmock-server.workspace = true\n";
        assert_eq!(told_of("recorder", tests).len(), 1);
        assert_eq!(told_of("parity-specs", tests).len(), 0);
    }

    #[test]
    fn a_new_crate_needs_a_rung() {
        assert_eq!(
            told_of("acp", ""),
            ["acp/Cargo.toml: the crate `acp` is not on the ladder; \
             give it a rung in xtask/src/tidy/ladder.rs, with a reason"]
        );
    }
}
