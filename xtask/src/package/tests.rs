//! What is packed of a program that is a few words long: all of it, with the sums that were promised, each day the same.

use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

const PROGRAM: &[u8] = b"#!/bin/sh\necho standin\n";

/// By name: what was made for a platform.
fn made(triple: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    fs::write(&program, PROGRAM).unwrap();
    let out = folder.path().join("dist");
    let paths = pack(&program, platform(triple).unwrap(), crate::root(), &out).unwrap();
    let named =
        |path: PathBuf| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap());
    paths.into_iter().map(named).collect()
}

/// By path: the bytes of a file in an archive, and whether it can be run.
fn unpacked(bytes: &[u8]) -> BTreeMap<String, (Vec<u8>, bool)> {
    let mut archive = tar::Archive::new(GzDecoder::new(bytes));
    let files = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let (path, mode) = (entry.path().unwrap().display().to_string(), entry.header().mode().unwrap());
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (path, (bytes, mode & 0o111 != 0))
    });
    files.collect()
}

fn manifest(files: &BTreeMap<String, (Vec<u8>, bool)>) -> Value {
    serde_json::from_slice(&files["package/package.json"].0).unwrap()
}

#[test]
fn the_same_program_gives_the_same_bytes() {
    let triple = "x86_64-unknown-linux-musl";
    let (first, second) = (made(triple), made(triple));
    assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());
    assert!(first == second, "a package differs from the one before");
}

#[test]
fn the_sums_are_those_of_the_files() {
    for known in PLATFORMS {
        let made = made(known.triple);
        let sums = String::from_utf8(made[&format!("SHA256SUMS-{}", known.triple)].clone()).unwrap();
        assert_eq!(sums.lines().count(), made.len() - 1);
        for line in sums.lines() {
            let (sum, name) = line.split_once("  ").unwrap();
            assert_eq!(sum, hex(&Sha256::digest(&made[name])), "{name}");
        }
    }
}

#[test]
fn an_archive_has_the_program_and_its_texts() {
    let triple = "aarch64-apple-darwin";
    let files = unpacked(&made(triple)[&format!("standin-{VERSION}-{triple}.tar.gz")]);
    let names: Vec<&str> = files.keys().map(|path| path.rsplit_once('/').unwrap().1).collect();
    assert_eq!(names, ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "standin"]);
    let (bytes, runs) = files.values().next_back().unwrap();
    assert!(bytes == PROGRAM && *runs);
}

#[test]
fn npm_gets_a_package_of_the_platform_and_one_that_finds_it() {
    let made = made("aarch64-unknown-linux-musl");
    let of_platform = unpacked(&made[&format!("standin-cli-linux-arm64-{VERSION}.tgz")]);
    let (program, runs) = &of_platform["package/bin/standin"];
    assert!(program == PROGRAM && *runs);
    let own = manifest(&of_platform);
    assert_eq!((&own["os"][0], &own["cpu"][0]), (&"linux".into(), &"arm64".into()));
    let launcher = unpacked(&made[&format!("standin-cli-{VERSION}.tgz")]);
    let everybody = manifest(&launcher);
    assert_eq!(everybody["optionalDependencies"][own["name"].as_str().unwrap()], own["version"]);
    let command = everybody["bin"]["standin"].as_str().unwrap();
    let (script, runs) = &launcher[&format!("package/{command}")];
    assert!(*runs && script.starts_with(b"#!/usr/bin/env node\n"));
}

#[test]
fn a_wheel_records_each_of_its_files() {
    let made = made("x86_64-apple-darwin");
    let (name, bytes) = made.iter().find(|(name, _)| name.ends_with(".whl")).unwrap();
    assert_eq!(*name, format!("standin_cli-{VERSION}-py3-none-macosx_10_12_x86_64.whl"));
    let mut wheel = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut files = BTreeMap::new();
    for index in 0..wheel.len() {
        let mut file = wheel.by_index(index).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        files.insert(file.name().unwrap().into_owned(), (bytes, file.unix_mode().unwrap() & 0o111 != 0));
    }
    let stem = format!("standin_cli-{VERSION}");
    let record = String::from_utf8(files[&format!("{stem}.dist-info/RECORD")].0.clone()).unwrap();
    assert_eq!(record.lines().count(), files.len());
    for line in record.lines().filter(|line| !line.ends_with(",,")) {
        let [path, sum, length] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (bytes, _) = &files[path];
        assert_eq!(sum, format!("sha256={}", URL_SAFE_NO_PAD.encode(Sha256::digest(bytes))), "{path}");
        assert_eq!(length, bytes.len().to_string());
    }
    let (program, runs) = &files[&format!("{stem}.data/scripts/standin")];
    assert!(program == PROGRAM && *runs);
    let tags = String::from_utf8(files[&format!("{stem}.dist-info/WHEEL")].0.clone()).unwrap();
    assert!(
        tags.contains("Tag: py3-none-macosx_10_12_x86_64\n") && tags.contains("Root-Is-Purelib: false\n")
    );
}

#[test]
fn every_platform_is_said_and_built() {
    let root = crate::root();
    let page = fs::read_to_string(root.join("docs/release.md")).unwrap();
    let workflow = fs::read_to_string(root.join(".github/workflows/release.yml")).unwrap();
    for known in PLATFORMS {
        assert!(page.contains(known.triple), "docs/release.md does not know {}", known.triple);
        // Those of gnu are for the machine that built them.
        let is_released = workflow.contains(&format!("target: {}", known.triple));
        assert_eq!(is_released, !known.triple.ends_with("-gnu"), "{}", known.triple);
    }
    assert!(
        platform("x86_64-pc-windows-msvc").unwrap_err().starts_with("nothing is packed for it; there are: ")
    );
}
