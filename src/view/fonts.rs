//! The font files that the text of a page requests.

use super::Request;
use super::cascade::Styles;

pub(super) fn fonts(_styles: &mut Styles<'_>, _requests: &mut Vec<Request>) {}
