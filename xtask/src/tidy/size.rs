//! Rule: no large files. Everyone who clones the repository pays for them, for ever.

use super::Finding;
use super::repo::Repo;

const LARGEST: u64 = 1024 * 1024;

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let large = repo.files().iter().filter(|file| file.size > LARGEST);
    large
        .map(|file| {
            let wrong = format!("the file has {} bytes, {LARGEST} are allowed", file.size);
            Finding::whole(
                &file.path,
                wrong,
                "make it smaller, or fetch it where it is needed; don't commit it",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::told;

    #[test]
    fn one_byte_over_a_mebibyte() {
        let text = "x".repeat(1024 * 1024);
        assert_eq!(told(check, &[("a.bin", &text)]).len(), 0);
        assert_eq!(
            told(check, &[("a.bin", &format!("{text}x"))]),
            ["a.bin: the file has 1048577 bytes, 1048576 are allowed; \
             make it smaller, or fetch it where it is needed; don't commit it"]
        );
    }
}
