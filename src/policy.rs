//! Content Security Policy (CSP Level 3), as far as it decides what may be inlined.

/// What the policies of one page allow. Several policies apply together: each must allow a thing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    directives: Vec<Vec<(String, Vec<String>)>>,
}

/// `_headers` of SITE, as static hosts read it: path patterns, each with header lines below it.
#[derive(Debug, Clone, Default)]
pub struct Headers {}

pub fn parse_headers(_text: &str) -> Headers {
    unimplemented!()
}

impl Headers {
    /// The values of `Content-Security-Policy` for this URL path (`/docs/a.html`).
    pub fn policies(&self, _path: &str) -> Vec<String> {
        unimplemented!()
    }
}

impl Policy {
    /// From the values of header or `meta` (each may hold several policies, separated by commas).
    pub fn new(_values: &[String]) -> Policy {
        unimplemented!()
    }
    /// No policy says anything.
    pub fn is_empty(&self) -> bool {
        self.directives.is_empty()
    }
    /// Images from `data:` URLs are allowed (`img-src`, else `default-src`).
    pub fn allows_data_images(&self) -> bool {
        unimplemented!()
    }
    /// Some `style-src`, `style-src-elem` or `style-src-attr` source is a hash: inline styles keep their bytes.
    pub fn hashes_styles(&self) -> bool {
        unimplemented!()
    }
    /// Inline `style` elements may be added without nonce or hash.
    pub fn allows_inline_styles(&self) -> bool {
        unimplemented!()
    }
}
