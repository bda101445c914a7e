//! Goal: flags mean what they mean to Kilo CLI 7.7.7 and OpenCode 1.18.33. Each line was tried with both of them.

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn flags(line: &str) -> Flags {
    match read(&words(line)) {
        Wish::Serve(flags) => flags,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn whatever_is_no_port_still_gives_one() {
    for (line, port) in [
        ("serve", Port::Usual),
        ("serve --port", Port::Usual),
        ("serve --port=", Port::Usual),
        ("serve --port 0", Port::Usual),
        ("serve --port=5123", Port::This(5123)),
        ("serve --port 5123", Port::This(5123)),
        ("--port 5123 serve", Port::This(5123)),
        ("serve --port 99999", Port::This(65535)),
        ("serve --port 1.5", Port::This(1)),
        ("serve --port 0x1500", Port::This(5376)),
        ("serve --port abc", Port::Any),
        ("serve --port -1", Port::Any),
        ("serve --port 0 --port 5124", Port::Any),
        ("serve -- --port 5135", Port::Usual),
    ] {
        assert_eq!(flags(line).port, port, "{line}");
    }
}

#[test]
fn hosts_and_sites_are_taken() {
    assert_eq!(flags("serve").hostname, "127.0.0.1");
    assert_eq!(flags("serve --hostname=").hostname, "");
    assert_eq!(flags("serve --mdns").hostname, "0.0.0.0");
    assert_eq!(flags("serve --no-mdns --mdns-domain x.local").hostname, "127.0.0.1");
    assert_eq!(flags("serve --mdns --hostname localhost").hostname, "localhost");
    let both = flags("serve --cors http://a http://b --port 1 --cors http://c");
    assert_eq!((both.cors, both.port), (words("http://a http://b http://c"), Port::This(1)));
}

#[test]
fn what_changes_nothing_is_taken() {
    for line in
        ["--print-logs serve", "serve --pure --log-level ERROR", "serve --logLevel WARN --printLogs false"]
    {
        assert_eq!(flags(line), flags("serve"), "{line}");
    }
}

#[test]
fn what_is_not_known_is_said() {
    for line in ["serve --nonsense", "serve extra", "serve -p 1", "serve --Port 1", "serve --log-level LOUD"]
    {
        assert!(matches!(read(&words(line)), Wish::Wrong(_)), "{line}");
    }
    assert_eq!(read(&words("-v serve")), Wish::Version);
    assert_eq!(read(&words("--version")), Wish::Version);
    assert_eq!(read(&words("serve --help")), Wish::Help);
    assert_eq!(read(&words("run hello")), Wish::Other("run".to_owned()));
}
