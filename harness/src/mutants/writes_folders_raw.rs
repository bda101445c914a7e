//! The name of a folder is put into the address as it is, and the letters that mean something there cut it.

use super::Mutant;
use crate::reference::Strategies;

pub(super) const MUTANT: Mutant = Mutant {
    name: "writes_folders_raw",
    about: "Writes `&`, `+` and `%` of a folder's name into the query as they are, where they mean something else.",
    strategies: || Strategies { written, ..Strategies::default() },
};

fn written(folder: &str) -> String {
    let as_it_is = ['/', '&', '+', '%'];
    folder.chars().fold(String::new(), |mut written, letter| {
        let mut bytes = [0; 4];
        match letter {
            letter if letter.is_ascii_alphanumeric() || as_it_is.contains(&letter) => written.push(letter),
            letter => {
                let encoded = letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}"));
                written.extend(encoded);
            }
        }
        written
    })
}
