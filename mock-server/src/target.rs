//! A request's path as the servers' routers read it: case and spare slashes aside; a slash that is written as `%2F`
//! belongs to its segment.

use percent_encoding::percent_decode_str;

/// The path can't be read: what is behind a percent sign is no byte, or the bytes are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// The segments of a path as it was sent, decoded.
pub(crate) fn read(raw: &str) -> Result<Vec<String>, Unreadable> {
    raw.split('/').filter(|segment| !segment.is_empty()).map(decode).collect()
}

/// Does another slash follow that which ends so many segments of a path as it was sent?
pub(crate) fn has_spare_slash(raw: &str, segments: usize) -> bool {
    let mut parts = raw.split('/');
    for _ in 0..segments {
        parts.find(|part| !part.is_empty());
    }
    parts.next() == Some("")
}

/// A path of these segments. What would be taken for more than one is escaped.
pub(crate) fn path_of<'a>(segments: impl IntoIterator<Item = &'a str>) -> String {
    let escaped = segments.into_iter().map(|segment| segment.replace('%', "%25").replace('/', "%2F"));
    let path = escaped.fold(String::new(), |path, segment| format!("{path}/{segment}"));
    if path.is_empty() { "/".to_owned() } else { path }
}

/// The segments of such a path.
pub(crate) fn segments(path: &str) -> Vec<String> {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    segments.map(unescaped).collect()
}

/// What a segment of such a path says.
pub(crate) fn unescaped(segment: &str) -> String {
    segment.replace("%2F", "/").replace("%25", "%")
}

/// The name of a folder as a query or a header has it, which the servers decode once more; what can't be decoded is the name.
pub(crate) fn folder(named: &str) -> String {
    decode(named).unwrap_or_else(|_| named.to_owned())
}

/// So a folder is named that is to be read by [`folder`].
pub(crate) fn folder_named(folder: &str) -> String {
    folder.replace('%', "%25")
}

fn decode(segment: &str) -> Result<String, Unreadable> {
    let bytes = segment.as_bytes();
    let is_hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    if (0..bytes.len()).any(|at| bytes[at] == b'%' && !(is_hex(at + 1) && is_hex(at + 2))) {
        return Err(Unreadable);
    }
    percent_decode_str(segment).decode_utf8().map(|text| text.into_owned()).map_err(|_| Unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_read_by_segment() {
        assert_eq!(read("//a/b%20c/").unwrap(), ["a", "b c"]);
        assert_eq!(read("/a%2Fb").unwrap(), ["a/b"]);
        assert!(has_spare_slash("/a/b//c", 2) && has_spare_slash("//a//b", 1));
        assert!(!has_spare_slash("//a/b/c", 2) && !has_spare_slash("/a/b", 2));
        assert!(read("").unwrap().is_empty());
        for broken in ["/%", "/%2", "/%zz", "/%ff", "/a/%c3"] {
            assert_eq!(read(broken), Err(Unreadable), "{broken}");
        }
    }

    #[test]
    fn a_folder_is_decoded_once_more_if_it_can_be() {
        for (named, folder_is) in
            [("/a%2Bb", "/a+b"), ("/100%25", "/100%"), ("/100%", "/100%"), ("/%FF", "/%FF")]
        {
            assert_eq!(folder(named), folder_is);
        }
        assert_eq!(folder(&folder_named("/100%25 %")), "/100%25 %");
    }

    proptest! {
        #[test]
        fn a_path_has_its_segments(wanted in prop::collection::vec("[a-z/%25F ]{1,6}", 0..4)) {
            prop_assert_eq!(segments(&path_of(wanted.iter().map(String::as_str))), wanted);
        }
    }
}
