//! How deep the syntax tree of a script can get, before a parser that recurses sees the text.
//!
//! One pass over the tokens gives an upper bound for the height of the tree. A bracket is a level; so is, for all
//! we know, every token of an expression (`!!!a`, `a+b+c`, `a=b=c`) and every statement that holds one without
//! braces (`if(a)if(b)c`). A comma ends the expressions before it, a semicolon the statements; `else` and its like
//! continue them. Whatever can be read in two ways (a slash after `}`) is refused: a wrong guess there would hide
//! brackets.

/// Brackets inside one another.
const BRACKETS: usize = 200;

/// Levels of the tree: the parser and its checker need about 1 KiB of stack for each, optimised.
const HEIGHT: u32 = 4000;

/// Commas directly inside one pair of `()`: the parser's checker is quadratic in the parameters of a function.
const COMMAS: u32 = 2000;

/// Groups and classes of one regular expression.
const GROUPS: usize = 500;

const DEEP: &str = "it is nested too deeply";

/// `Err` where the text is too deep for a recursive parser, or where its brackets cannot be told for certain.
pub(super) fn check(source: &str) -> Result<(), &'static str> {
    let mut reader = Reader {
        source,
        bytes: source.as_bytes(),
        at: 0,
        newline: true,
        prev: Prev::Start,
        before: "",
        word: "",
        ended: Ended::No,
        label: Label::Begin,
        levels: vec![Level::new(b'{', false)],
    };
    reader.read()?;
    reader.pop().map(|_| ())
}

/// What the token before allows next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prev {
    Start,
    /// A value ended: a slash divides.
    Operand,
    /// An operator or opening bracket: a slash begins a regular expression.
    Operator,
    /// A word that stands before a value or statement.
    Keyword,
    /// The `)` of `if (...)` and the like.
    Header,
    /// `}`: of a block or of a value.
    Brace,
    /// Words and operators that may stand before or after a value.
    Doubt,
    /// `.`: a name comes next, whatever it says.
    Dot,
}

/// A statement may have ended with the token before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    No,
    Semicolon,
    Brace,
}

/// Where in `name:` the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    No,
    /// A statement may begin here.
    Begin,
    Name,
}

#[derive(Debug)]
struct Level {
    open: u8,
    /// `(` of a statement's header.
    header: bool,
    /// Of the statements that have ended.
    height: u32,
    /// Statements that hold what follows: commas do not end them.
    held: u32,
    /// The highest of the expressions of this statement.
    highest: u32,
    /// Tokens of this expression.
    tokens: u32,
    /// The highest bracket in it.
    inner: u32,
    commas: u32,
}

impl Level {
    fn new(open: u8, header: bool) -> Level {
        Level {
            open,
            header,
            height: 0,
            held: 0,
            highest: 0,
            tokens: 0,
            inner: 0,
            commas: 0,
        }
    }

    fn end_expression(&mut self) {
        self.highest = self.highest.max(self.tokens.saturating_add(self.inner));
        self.tokens = 0;
        self.inner = 0;
    }

    fn end_statement(&mut self) {
        self.end_expression();
        self.height = self.height.max(self.held.saturating_add(self.highest));
        self.held = 0;
        self.highest = 0;
    }
}

struct Reader<'a> {
    source: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// A line ended since the token before.
    newline: bool,
    prev: Prev,
    /// The last two words, empty where the token was none.
    before: &'a str,
    word: &'a str,
    ended: Ended,
    label: Label,
    levels: Vec<Level>,
}

impl<'a> Reader<'a> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn read(&mut self) -> Result<(), &'static str> {
        while self.skip_space()? {
            let byte = self.bytes[self.at];
            match byte {
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_ascii_digit() => self.number(),
                b'\'' | b'"' => self.string(byte)?,
                b'`' => {
                    self.begin(Prev::Operand, false);
                    self.at += 1;
                    self.template()?;
                }
                b'/' => self.slash()?,
                b'(' | b'[' | b'{' => self.open(byte)?,
                b')' | b']' | b'}' => self.close(byte)?,
                b'\\' => return Err("it has an escaped name"),
                b'@' => return Err("it has decorators"),
                _ if is_name(byte) => self.name(),
                _ => self.operator(byte),
            }
        }
        if self.levels.len() == 1 {
            Ok(())
        } else {
            Err("it leaves a bracket open")
        }
    }

    /// Skips white space and comments; false at the end.
    fn skip_space(&mut self) -> Result<bool, &'static str> {
        loop {
            let rest = &self.bytes[self.at.min(self.bytes.len())..];
            match rest {
                [] => return Ok(false),
                [b'\n' | b'\r', ..] => {
                    self.newline = true;
                    self.at += 1;
                }
                [b' ' | b'\t' | 0x0B | 0x0C, ..] => self.at += 1,
                [b'/', b'/', ..] => self.skip_line(),
                [b'/', b'*', ..] => {
                    let text = &self.source[self.at + 2..];
                    let end = text.find("*/").ok_or("it leaves a comment open")?;
                    self.newline |= text[..end].contains(['\n', '\r', '\u{2028}', '\u{2029}']);
                    self.at += end + 4;
                }
                [b'<', b'!', b'-', b'-', ..] => return Err("it has an HTML comment"),
                [b'-', b'-', b'>', ..] if self.newline => return Err("it has an HTML comment"),
                [0x80..=0xFF, ..] => match self.source[self.at..].chars().next() {
                    Some(c @ ('\u{2028}' | '\u{2029}')) => {
                        self.newline = true;
                        self.at += c.len_utf8();
                    }
                    Some(c) if c.is_whitespace() || c == '\u{FEFF}' => self.at += c.len_utf8(),
                    _ => return Ok(true),
                },
                _ => return Ok(true),
            }
        }
    }

    fn skip_line(&mut self) {
        let text = &self.source[self.at..];
        self.at += text
            .find(['\n', '\r', '\u{2028}', '\u{2029}'])
            .unwrap_or(text.len());
    }

    /// Counts a token. `begins`: it can stand at the start of a statement and continues none.
    fn begin(&mut self, prev: Prev, begins: bool) {
        // A line that ends between two values ends a statement (ECMAScript, section 12.10).
        let ends = match self.ended {
            Ended::No => self.newline && self.prev == Prev::Operand,
            Ended::Semicolon | Ended::Brace => true,
        };
        let semicolon = self.ended == Ended::Semicolon;
        let level = self.level();
        if ends && (begins || semicolon) {
            level.end_statement();
        }
        level.tokens = level.tokens.saturating_add(1);
        if ends || self.label == Label::Begin {
            self.label = Label::Begin;
        } else {
            self.label = Label::No;
        }
        self.ended = Ended::No;
        self.newline = false;
        self.prev = prev;
        self.before = self.word;
        self.word = "";
    }

    fn level(&mut self) -> &mut Level {
        // The root is popped only at the end.
        self.levels.last_mut().expect("the root level is open")
    }

    fn after(&mut self, label: Label) {
        self.label = label;
    }

    fn name(&mut self) {
        let start = self.at;
        let end = self.bytes[start..]
            .iter()
            .position(|b| !is_name(*b) && !b.is_ascii_digit());
        let mut end = end.map_or(self.bytes.len(), |n| start + n);
        if !self.source[start..end].is_ascii() {
            // White space outside ASCII ends a name, too.
            let text = &self.source[start..end];
            end = start
                + text
                    .find(|c: char| c.is_whitespace() || c == '\u{FEFF}')
                    .unwrap_or(text.len());
        }
        self.at = end;
        let word = &self.source[start..end];
        if self.prev == Prev::Dot {
            self.begin(Prev::Operand, false);
            self.after(Label::No);
            return;
        }
        let (prev, begins) = match word {
            // These continue what seems to have ended.
            "else" | "while" | "catch" | "finally" | "in" | "instanceof" | "extends" => {
                (Prev::Keyword, false)
            }
            "of" => (Prev::Doubt, false),
            "yield" | "await" | "async" | "break" | "continue" | "debugger" => (Prev::Doubt, true),
            "return" | "typeof" | "new" | "delete" | "void" | "throw" | "case" | "do" | "default" | "if"
            | "for" | "with" | "var" | "const" | "function" | "class" | "import" | "export" | "try"
            | "switch" | "enum" => (Prev::Keyword, true),
            _ => (Prev::Operand, true),
        };
        if !begins && self.ended == Ended::Semicolon {
            self.ended = Ended::No;
        }
        if matches!(word, "case" | "default") && self.level().open == b'{' {
            self.level().end_statement();
        }
        self.begin(prev, begins);
        self.word = word;
        if matches!(word, "if" | "else" | "for" | "while" | "do" | "with") {
            let level = self.level();
            level.held = level.held.saturating_add(2);
        }
        let label = match (word, self.label) {
            ("else" | "do", _) => Label::Begin,
            (_, Label::Begin) if prev != Prev::Keyword => Label::Name,
            _ => Label::No,
        };
        self.after(label);
    }

    fn number(&mut self) {
        self.begin(Prev::Operand, true);
        let digits = |from: usize| {
            let rest = self.bytes[from..].iter();
            from + rest
                .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
                .count()
        };
        self.at = digits(self.at);
        if self.peek(0) == b'.' {
            self.at = digits(self.at + 1);
        }
        self.after(Label::No);
    }

    fn string(&mut self, quote: u8) -> Result<(), &'static str> {
        self.begin(Prev::Operand, true);
        self.after(Label::No);
        self.at += 1;
        loop {
            match self.peek(0) {
                b'\\' => {
                    self.at += if self.peek(1) == b'\r' && self.peek(2) == b'\n' {
                        3
                    } else {
                        2
                    }
                }
                b if b == quote => break,
                b'\n' | b'\r' => return Err("it leaves a string open"),
                _ => self.at += 1,
            }
            if self.at >= self.bytes.len() {
                return Err("it leaves a string open");
            }
        }
        self.at += 1;
        Ok(())
    }

    /// The text of a template up to its end or to the next `${`.
    fn template(&mut self) -> Result<(), &'static str> {
        loop {
            match (self.peek(0), self.peek(1)) {
                _ if self.at >= self.bytes.len() => return Err("it leaves a template open"),
                (b'\\', _) => self.at += 2,
                (b'`', _) => {
                    self.at += 1;
                    self.prev = Prev::Operand;
                    self.after(Label::No);
                    return Ok(());
                }
                (b'$', b'{') => {
                    self.at += 2;
                    self.after(Label::No);
                    return self.push(b'$', false);
                }
                _ => self.at += 1,
            }
        }
    }

    fn slash(&mut self) -> Result<(), &'static str> {
        match self.prev {
            Prev::Operand => {
                self.operator(b'/');
                Ok(())
            }
            Prev::Start | Prev::Operator | Prev::Keyword | Prev::Header => self.expression(),
            Prev::Brace | Prev::Doubt | Prev::Dot => Err("it has a slash that can be read in two ways"),
        }
    }

    /// A regular expression (ECMAScript, section 12.9.5).
    fn expression(&mut self) -> Result<(), &'static str> {
        self.begin(Prev::Operand, true);
        self.after(Label::No);
        let (mut class, mut groups) = (false, 0);
        loop {
            self.at += 1;
            match self.peek(0) {
                b'\n' | b'\r' => return Err("it leaves a regular expression open"),
                _ if self.at >= self.bytes.len() => return Err("it leaves a regular expression open"),
                b'/' if !class => break,
                b'\\' if !matches!(self.peek(1), b'\n' | b'\r') => self.at += 1,
                b'[' => {
                    class = true;
                    groups += 1;
                }
                b']' => class = false,
                b'(' => groups += 1,
                _ => {}
            }
        }
        self.at += 1;
        while is_name(self.peek(0)) || self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
        if groups > GROUPS { Err(DEEP) } else { Ok(()) }
    }

    fn push(&mut self, open: u8, header: bool) -> Result<(), &'static str> {
        if self.levels.len() > BRACKETS {
            return Err(DEEP);
        }
        self.levels.push(Level::new(open, header));
        self.prev = Prev::Operator;
        self.label = if open == b'{' { Label::Begin } else { Label::No };
        self.ended = Ended::No;
        Ok(())
    }

    fn open(&mut self, byte: u8) -> Result<(), &'static str> {
        let header = self.prev != Prev::Dot
            && byte == b'('
            && (matches!(self.word, "if" | "while" | "for" | "with")
                || (self.word == "await" && self.before == "for"));
        self.begin(Prev::Operator, false);
        self.at += 1;
        self.push(byte, header)
    }

    fn close(&mut self, byte: u8) -> Result<(), &'static str> {
        let level = self.level();
        let (open, header) = (level.open, level.header);
        if open == b'(' && level.commas > COMMAS {
            return Err("it has a list that is too long");
        }
        let expected = match open {
            b'(' => b')',
            b'[' => b']',
            _ => b'}',
        };
        if byte != expected || self.levels.len() == 1 {
            return Err("its brackets do not match");
        }
        let height = self.pop()?;
        let level = self.level();
        level.inner = level.inner.max(height);
        self.at += 1;
        self.newline = false;
        (self.before, self.word) = ("", "");
        self.label = Label::No;
        self.ended = Ended::No;
        match byte {
            b'}' if open == b'$' => return self.template(),
            b'}' => {
                self.prev = Prev::Brace;
                self.ended = Ended::Brace;
            }
            _ if header => {
                self.prev = Prev::Header;
                self.label = Label::Begin;
            }
            _ => self.prev = Prev::Operand,
        }
        Ok(())
    }

    /// Ends the innermost level; its height with the few nodes that hold its statements.
    fn pop(&mut self) -> Result<u32, &'static str> {
        let Some(mut level) = self.levels.pop() else {
            return Ok(0);
        };
        level.end_statement();
        if level.height > HEIGHT {
            Err(DEEP)
        } else {
            Ok(level.height.saturating_add(5))
        }
    }

    fn operator(&mut self, byte: u8) {
        let label = self.label;
        let next = self.peek(1);
        // `!` and `~` stand before a value only: after `}` they begin a statement.
        let begins = (byte == b'!' && next != b'=') || byte == b'~';
        self.begin(Prev::Operator, begins);
        self.at += 1;
        self.after(Label::No);
        match byte {
            b';' => self.ended = Ended::Semicolon,
            b',' => {
                let level = self.level();
                level.end_expression();
                level.commas = level.commas.saturating_add(1);
            }
            b'.' => self.prev = Prev::Dot,
            b'+' | b'-' if next == byte => {
                self.at += 1;
                self.prev = Prev::Doubt;
            }
            b':' if label == Label::Name => {
                let level = self.level();
                level.held = level.held.saturating_add(1);
                self.after(Label::Begin);
            }
            b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'?' => {
                // One token, as the longest one is taken.
                if matches!(byte, b'&' | b'|' | b'?' | b'*' | b'<' | b'>') && next == byte {
                    self.at += 1;
                }
                while self.peek(0) == b'=' || (matches!(byte, b'=' | b'>') && self.peek(0) == b'>') {
                    self.at += 1;
                }
            }
            _ => {}
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'$' | b'_' | b'#' | 0x80..)
}
