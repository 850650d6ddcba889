//! Words and numbers for a terminal: cleaned, grouped, measured in columns (one a character), coloured or not.

/// Whether to write ANSI colours.
pub(super) struct Paint(pub(super) bool);

impl Paint {
    pub(super) fn bold(&self, text: &str) -> String {
        self.with("1", text)
    }
    pub(super) fn red(&self, text: &str) -> String {
        self.with("31", text)
    }
    pub(super) fn green(&self, text: &str) -> String {
        self.with("32", text)
    }
    pub(super) fn yellow(&self, text: &str) -> String {
        self.with("33", text)
    }
    pub(super) fn cyan(&self, text: &str) -> String {
        self.with("36", text)
    }

    fn with(&self, code: &str, text: &str) -> String {
        if self.0 {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_string()
        }
    }
}

/// `text` without anything that moves a terminal's cursor or turns the direction of writing.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || turns {
            out.extend(c.escape_default())
        } else {
            out.push(c)
        }
    }
    out
}

/// At most `width` columns: the middle of a long name says least.
pub(super) fn shorten(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width || width < 5 {
        return text.to_string();
    }
    let tail = (width - 3).div_ceil(2);
    let head: String = text.chars().take(width - 3 - tail).collect();
    let tail: String = text.chars().skip(length - tail).collect();
    format!("{head}...{tail}")
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number and its noun.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// `sum / count` to one decimal, rounded half up; whole numbers when there is one thing only.
pub(super) fn average(sum: u64, count: u64) -> String {
    if count <= 1 {
        return grouped(sum);
    }
    let tenths = (u128::from(sum) * 10 + u128::from(count) / 2) / u128::from(count);
    format!("{}.{}", grouped((tenths / 10) as u64), tenths % 10)
}

/// A size in units of 1,000 bytes.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..999_950 => tenths(bytes, 1_000, "kB"),
        999_950..999_950_000 => tenths(bytes, 1_000_000, "MB"),
        _ => tenths(bytes, 1_000_000_000, "GB"),
    }
}

fn tenths(bytes: u64, unit: u64, name: &str) -> String {
    let tenths = bytes / (unit / 10) + u64::from(bytes % (unit / 10) >= unit / 20);
    format!("{}.{} {name}", grouped(tenths / 10), tenths % 10)
}

/// The change from `before` to `after`: `-12.3 %`, `+0.4 %`, `same`.
pub(super) fn change(before: u64, after: u64) -> String {
    if before == after {
        return "same".to_string();
    }
    if before == 0 {
        return "new".to_string();
    }
    let difference = u128::from(before.abs_diff(after));
    let tenths = (difference * 1000 + u128::from(before) / 2) / u128::from(before);
    let sign = if after < before { '-' } else { '+' };
    format!("{sign}{}.{} %", tenths / 10, tenths % 10)
}
