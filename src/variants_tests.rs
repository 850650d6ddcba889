//! Which files get variants, and what becomes of old ones.

use std::path::PathBuf;
use std::time::SystemTime;

use super::*;
use crate::media::by_name;
use crate::site::Content;

fn file(name: &str) -> File {
    let path = SitePath::new(name);
    let media = by_name(&path);
    File {
        path,
        media,
        size: 0,
        modified: SystemTime::UNIX_EPOCH,
        mode: 0o644,
        editable: true,
        variant_of: None,
        content: Content::Disk,
    }
}

fn page() -> Vec<u8> {
    (0..200)
        .map(|i| format!("<p>page {} with {} words</p>\n", i * i, i * 7 % 31))
        .collect::<String>()
        .into_bytes()
}

fn codings(bytes: &[u8], options: &Options) -> Vec<Coding> {
    make(bytes, options)
        .into_iter()
        .map(|(coding, _)| coding)
        .collect()
}

#[test]
fn wanted_by_name() {
    let options = Options::defaults();
    let check = |name: &str, expected| assert_eq!(wanted(&file(name), &options), expected, "{name}");
    check("index.html", true);
    check("INDEX.HTML", true);
    check("index.html.pt-br", true);
    check("index.html.ja.utf8", true);
    check("map.svg", true);
    check("notes.txt.en", false);
    for packed in [
        "data.json.gz",
        "a.js.br",
        "a.css.zst",
        "map.svgz",
        "all.zip",
        "f.woff2",
        "p.png",
        "clip.mp4",
    ] {
        check(packed, false);
    }
    check("CNAME", false);
    check("", false);
    // Not even when asked for by name.
    let options = Options {
        encode_types: vec!["gz".into(), "bin".into()],
        ..Options::defaults()
    };
    assert!(!wanted(&file("a.gz"), &options));
    assert!(wanted(&file("a.bin"), &options));
    let options = Options {
        gzip_level: None,
        brotli_quality: None,
        ..Options::defaults()
    };
    assert!(!wanted(&file("index.html"), &options));
    assert!(!wanted(
        &File {
            editable: false,
            ..file("a.css")
        },
        &Options::defaults()
    ));
    assert!(!wanted(
        &File {
            variant_of: Some(FileId(0)),
            content: Content::Disk,
            ..file("a.css")
        },
        &Options::defaults()
    ));
}

#[test]
fn all_codings_or_none() {
    let options = Options::defaults();
    assert_eq!(codings(&page(), &options), [Coding::Gzip, Coding::Brotli]);
    assert_eq!(
        codings(
            &page(),
            &Options {
                gzip_level: None,
                ..options.clone()
            }
        ),
        [Coding::Brotli]
    );
    assert_eq!(
        codings(
            &page(),
            &Options {
                brotli_quality: None,
                ..options.clone()
            }
        ),
        [Coding::Gzip]
    );
    assert_eq!(codings(b"", &options), []);
    // Brotli alone would pay here by its dictionary, gzip does not.
    let short = b"<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>Not found</title></head><body>Page</body></html>";
    assert_eq!(codings(short, &options), []);
    assert_eq!(
        codings(
            short,
            &Options {
                gzip_level: None,
                ..options.clone()
            }
        ),
        [Coding::Brotli]
    );
    for (coding, bytes) in make(&page(), &options) {
        assert_eq!(encode::unpack(coding, &bytes, u64::MAX), Some(page()));
    }
}

#[test]
fn sizes_that_do_not_pay() {
    let options = Options {
        min_size: 0,
        gzip_level: Some(12),
        brotli_quality: None,
        ..Options::defaults()
    };
    let gzip = |bytes: &[u8]| encode::pack(Coding::Gzip, bytes, 12).len();
    // The first length at which 40 bytes are won.
    let first = (1..500).find(|&n| gzip(&vec![b'a'; n]) + 40 < n).unwrap();
    assert_eq!(codings(&vec![b'a'; first - 1], &options), []);
    assert_eq!(codings(&vec![b'a'; first], &options), [Coding::Gzip]);
    let options = Options {
        min_size: 1000,
        ..options
    };
    assert_eq!(codings(&[b'a'; 999], &options), []);
    assert_eq!(codings(&[b'a'; 1000], &options), [Coding::Gzip]);
}

#[test]
fn packed_whatever_the_name() {
    let options = Options::defaults();
    let zeros = vec![0; 5000];
    let packed: [&[u8]; 12] = [
        b"\x1F\x8B\x08",
        b"PK\x03\x04",
        b"\x28\xB5\x2F\xFD",
        b"\x89PNG\r\n\x1A\n",
        b"wOFF",
        b"wOF2",
        b"\xFF\xD8\xFF",
        b"%PDF-1.5",
        b"\0\0\0\x20ftypisom",
        b"\x1A\x45\xDF\xA3",
        b"RIFF\0\0\0\0WEBP",
        b"OggS",
    ];
    for magic in packed {
        assert_eq!(codings(&[magic, &zeros].concat(), &options), [], "{magic:02X?}");
    }
    for plain in [b"RIFF\0\0\0\0WAVE".as_slice(), b"\0\0\x01\0", b"BM", b"\0asm"] {
        assert_eq!(
            codings(&[plain, &zeros].concat(), &options).len(),
            2,
            "{plain:02X?}"
        );
    }
}

#[test]
fn own_variants() {
    let site = Site {
        root: PathBuf::new(),
        files: vec![
            file("x.css"),
            file("x.css.br"),
            file("x.css.gz"),
            file("x.css.zst"),
        ],
    };
    let options = Options {
        zstd_level: Some(19),
        ..Options::defaults()
    };
    let plain = page();
    let made = make(&plain, &options);
    let check = |coding: Coding, packed: &[u8], made: &[(Coding, Vec<u8>)], linked, expected: Own| {
        let id = FileId(match coding {
            Coding::Brotli => 1,
            Coding::Gzip => 2,
            Coding::Zstd => 3,
        });
        assert_eq!(
            own_variant(&site, id, packed, &plain, made, linked, &options),
            expected
        );
    };
    for coding in Coding::ALL {
        let best = made.iter().find(|(c, _)| *c == coding).unwrap().1.clone();
        // Of another file, and of this one at the lowest level.
        let weak = encode::pack(coding, &[b"x".as_slice(), &plain].concat(), 1);
        let right = encode::pack(coding, &plain, 1);
        assert!(right.len() > best.len());
        // A variant is made anew, or kept where it is as good as ours.
        check(coding, &weak, &made, false, Own::Rewrite(best.clone()));
        check(coding, b"STALE-COPY", &made, false, Own::Rewrite(best.clone()));
        check(coding, &right, &made, false, Own::Rewrite(best.clone()));
        check(coding, &best, &made, false, Own::Keep);
        // Where we make none, a stale one goes, and a right one stays.
        check(coding, &weak, &[], false, Own::Remove);
        check(coding, b"", &[], false, Own::Remove);
        check(coding, &right, &[], false, Own::Keep);
        // A download stays at its address.
        check(coding, &right, &made, true, Own::Keep);
        check(coding, b"STALE-COPY", &made, true, Own::Rewrite(best.clone()));
        check(coding, &weak, &[], true, Own::Rewrite(best.clone()));
    }
    let tiny = |linked| {
        own_variant(
            &site,
            FileId(2),
            &encode::pack(Coding::Gzip, b"a{}", 9),
            b"a{}",
            &[],
            linked,
            &options,
        )
    };
    assert_eq!(tiny(false), Own::Remove);
    assert_eq!(tiny(true), Own::Keep);
}
