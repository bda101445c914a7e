//! The password of the server is the runner's to use, and nobody's to read: what is written stays on a disk, and is sent to others
//! with the logs.

use super::{list, looks, named};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "secrets",
    about: "The server's password stands in no file of the repository, in no word to git or docker, and in nothing that the runner says.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for look in looks(story, &["held", "killed", "gone", "swept", "swept-back"]) {
        let files = named(list(&look.value["sayingSecrets"]).iter().filter_map(|it| it.as_str()));
        examined.fact(files.is_empty(), || format!("the password of the server stands in {files}"));
        // Whoever can list what runs on a machine reads what it was started with.
        for (program, calls) in
            [("docker", &look.value["containers"]["saying"]), ("git", &look.value["gitSaying"])]
        {
            let told = named(list(calls).iter().filter_map(|it| it.as_str()));
            examined.fact(told.is_empty(), || {
                format!("the password of the server is among the words that {program} was told: {told} …")
            });
        }
    }
    for (secret, place) in story.said_secrets() {
        examined.fact(false, || format!("the runner says the {secret}, in {place}"));
    }
    examined
}
