//! One HTTP/1.1 request on a connection of its own, with nothing added that was not asked for.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::Context;

pub(super) struct Answer {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// Sends `METHOD TARGET` with header lines (each ending in a line end) to `http://ADDRESS:PORT`.
pub(super) fn ask(origin: &str, method: &str, target: &str, headers: &str) -> anyhow::Result<Answer> {
    let address = origin.strip_prefix("http://").unwrap_or(origin);
    let mut stream = TcpStream::connect(address).with_context(|| format!("{origin} does not answer"))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    write!(
        stream,
        "{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n"
    )?;
    let mut bytes = Vec::new();
    stream
        .read_to_end(&mut bytes)
        .with_context(|| format!("{method} {target} has no end"))?;
    let head = bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .with_context(|| {
            format!(
                "{method} {target} is answered with {} bytes and no head",
                bytes.len()
            )
        })?;
    let mut body = bytes.split_off(head + 4);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut lines = text.lines();
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .and_then(|status| status.parse().ok())
        .context("the answer has no status")?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_string()))
        .collect();
    let answer = Answer {
        status,
        headers,
        body: Vec::new(),
    };
    if answer.get("transfer-encoding") == "chunked" {
        body = unchunk(&body).unwrap_or(body);
    }
    Ok(Answer { body, ..answer })
}

fn unchunk(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    loop {
        let end = bytes.windows(2).position(|window| window == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).ok()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(out);
        }
        out.extend(bytes.get(end + 2..end + 2 + size)?);
        bytes = bytes.get(end + 4 + size..)?;
    }
}

impl Answer {
    /// Every value of a header, joined; empty without one.
    pub(super) fn get(&self, name: &str) -> String {
        let values = self.headers.iter().filter(|(known, _)| known == name);
        values
            .map(|(_, value)| value.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<String> = self
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        write!(
            f,
            "{} ({}) and {} bytes",
            self.status,
            headers.join("; "),
            self.body.len()
        )
    }
}
