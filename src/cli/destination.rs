//! Where a report goes and in which format: `out/report.html`, `md:summary.txt`, `json:-`.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::nearest::nearest;
use crate::report::Format;

/// One `--report`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct Destination {
    /// `None` where neither a prefix nor the extension says it, which a device may leave open.
    pub format: Option<Format>,
    /// `-` is standard output.
    pub path: PathBuf,
    /// The format was said before the path.
    prefixed: bool,
}

impl Destination {
    /// Never fails: whether the path can be written to is for later.
    pub fn parse(text: &OsStr) -> Destination {
        let bytes = text.as_bytes();
        let prefix = bytes.iter().position(|&b| b == b':').and_then(|colon| {
            let name = std::str::from_utf8(&bytes[..colon]).ok()?;
            Some((Format::by_name(name)?, OsStr::from_bytes(&bytes[colon + 1..])))
        });
        if let Some((format, path)) = prefix {
            return Destination {
                format: Some(format),
                path: path.into(),
                prefixed: true,
            };
        }
        let path = PathBuf::from(text);
        let extension = path.extension().and_then(OsStr::to_str);
        Destination {
            format: extension.and_then(Format::by_extension),
            path,
            prefixed: false,
        }
    }

    pub fn is_stdout(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// What the format of a path without one could have been.
    pub fn hint(&self) -> String {
        let names = Format::ALL.map(Format::name);
        let text = self.path.to_string_lossy();
        let prefix = text.split_once(':').map(|(prefix, _)| prefix);
        let near = prefix.and_then(|prefix| nearest(prefix, names, 1).first().copied());
        match near {
            Some(near) => format!("did you mean {near}:FILE?"),
            None => format!(
                "expected a name that ends in .json, .html, .md, .xml (JUnit), .sarif, .har or .csv, or FORMAT:FILE \
                 with one of {}",
                names.join(", ")
            ),
        }
    }

    /// Meant from a folder.
    pub fn below(self, folder: &Path) -> Destination {
        match self.is_stdout() {
            true => self,
            false => Destination {
                path: folder.join(&self.path),
                ..self
            },
        }
    }
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Destination, String> {
        Ok(Destination::parse(OsStr::new(text)))
    }
}

impl From<OsString> for Destination {
    fn from(text: OsString) -> Destination {
        Destination::parse(&text)
    }
}

impl From<Destination> for String {
    fn from(destination: Destination) -> String {
        let path = destination.path.to_string_lossy();
        match destination.format {
            Some(format) if destination.prefixed => format!("{}:{path}", format.name()),
            _ => path.into_owned(),
        }
    }
}

impl<'de> Deserialize<'de> for Destination {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Destination, D::Error> {
        super::value::parsed(deserializer)
    }
}

/// Accepts one thing where a list is meant: a text or a table.
pub(super) fn one_or_many<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Either<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<T>, E> {
            Ok(vec![T::deserialize(StrDeserializer::new(text))?])
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<T>, A::Error> {
            Ok(vec![T::deserialize(MapAccessDeserializer::new(map))?])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
            let mut list = Vec::new();
            while let Some(item) = seq.next_element()? {
                list.push(item);
            }
            Ok(list)
        }
    }

    deserializer.deserialize_any(Either(PhantomData)).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_said_by_prefix_or_extension() {
        let check = |text: &str, format: Option<Format>, path: &str| {
            let found = Destination::parse(OsStr::new(text));
            assert_eq!((found.format, &*found.path), (format, Path::new(path)), "{text}");
            assert_eq!(String::from(found), text);
        };
        check("r.json", Some(Format::Json), "r.json");
        check("a/R.HTML", Some(Format::Html), "a/R.HTML");
        check("a.sarif", Some(Format::Sarif), "a.sarif");
        check("junit.xml", Some(Format::Junit), "junit.xml");
        check("md:/tmp/summary", Some(Format::Markdown), "/tmp/summary");
        check("gitlab:quality.json", Some(Format::Gitlab), "quality.json");
        check("json:-", Some(Format::Json), "-");
        check("-", None, "-");
        check("report", None, "report");
        check("report.gitlab", None, "report.gitlab");
        check("c:report.csv", Some(Format::Csv), "c:report.csv");
        check("./md:x.json", Some(Format::Json), "./md:x.json");
        let hint = |text: &str| Destination::parse(OsStr::new(text)).hint();
        assert_eq!(hint("sarfi:out"), "did you mean sarif:FILE?");
        assert!(hint("report.pdf").contains(".html"));
    }
}
