//! Two pictures of a page: whether they are equal, where they are not, and what that looks like.
//!
//! In: two PNGs. Out: `None` for equal pixels, else how many differ, their box, and small PNGs of it. Equality is
//! exact: no threshold, no anti-aliasing guess.

use std::io::Cursor;

use anyhow::Context as _;
use image::{ImageFormat, RgbaImage};

/// The most pixels that a picture of a difference has on a side; the rest is cut off.
const MOST: u32 = 900;
/// Pixels around a difference that are shown with it.
const MARGIN: u32 = 24;

/// How two pictures differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Width and height of both pictures, CSS pixels.
    pub sizes: [(u32, u32); 2],
    /// Pixels that differ where both pictures are.
    pub count: u64,
    /// Left, top, right and bottom of what differs, the last two exclusive.
    pub area: (u32, u32, u32, u32),
    /// Before, after, and after with what differs in red: PNGs of the area with a margin.
    pub pictures: [Vec<u8>; 3],
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [(_, before), (_, after)] = self.sizes;
        if before != after {
            write!(f, "the page was {before} px high and is {after}; ")?;
        }
        let (left, top, right, bottom) = self.area;
        let s = if self.count == 1 { " differs" } else { "s differ" };
        write!(
            f,
            "{} pixel{s}, in {}x{} at {left},{top}",
            self.count,
            right - left,
            bottom - top
        )
    }
}

/// Compares two PNGs.
pub(super) fn compare(before: &[u8], after: &[u8]) -> anyhow::Result<Option<Difference>> {
    // One encoder wrote both.
    if before == after {
        return Ok(None);
    }
    let (before, after) = (decode(before)?, decode(after)?);
    let width = before.width().min(after.width());
    let height = before.height().min(after.height());
    let mut count = 0;
    let mut area: Option<(u32, u32, u32, u32)> = None;
    let widen = |area: &mut Option<(u32, u32, u32, u32)>, left, top, right, bottom| {
        let (l, t, r, b) = area.unwrap_or((left, top, right, bottom));
        *area = Some((l.min(left), t.min(top), r.max(right), b.max(bottom)));
    };
    for y in 0..height {
        let (old, new) = (row(&before, y, width), row(&after, y, width));
        if old == new {
            continue;
        }
        for (x, (a, b)) in (0u32..).zip(old.chunks_exact(4).zip(new.chunks_exact(4))) {
            if a != b {
                count += 1;
                widen(&mut area, x, y, x + 1, y + 1);
            }
        }
    }
    if before.dimensions() != after.dimensions() {
        // What only one of them has differs as a whole.
        let most = (
            before.width().max(after.width()),
            before.height().max(after.height()),
        );
        if most.1 > height {
            widen(&mut area, 0, height, most.0, most.1);
        }
        if most.0 > width {
            widen(&mut area, width, 0, most.0, most.1);
        }
    }
    let Some(area) = area else { return Ok(None) };
    let (old, new) = (crop(&before, area), crop(&after, area));
    let pictures = [png(&old)?, png(&new)?, png(&marked(&old, &new))?];
    Ok(Some(Difference {
        sizes: [before.dimensions(), after.dimensions()],
        count,
        area,
        pictures,
    }))
}

fn decode(png: &[u8]) -> anyhow::Result<RgbaImage> {
    let picture = image::load_from_memory_with_format(png, ImageFormat::Png);
    Ok(picture.context("the browser took no picture")?.into_rgba8())
}

fn row(picture: &RgbaImage, y: u32, width: u32) -> &[u8] {
    let from = (y as usize) * (picture.width() as usize) * 4;
    &picture.as_raw()[from..from + (width as usize) * 4]
}

/// The later picture, pale, with what differs in red.
fn marked(before: &RgbaImage, after: &RgbaImage) -> RgbaImage {
    let mut marked = after.clone();
    for (x, y, pixel) in marked.enumerate_pixels_mut() {
        let same = before.get_pixel_checked(x, y) == Some(&*pixel);
        *pixel = if same {
            image::Rgba(pixel.0.map(|channel| 255 - (255 - channel) / 4))
        } else {
            image::Rgba([255, 0, 0, 255])
        };
    }
    marked
}

/// The area and its margin, as far as the picture has it.
fn crop(picture: &RgbaImage, (left, top, right, bottom): (u32, u32, u32, u32)) -> RgbaImage {
    // An area behind the end of the shorter picture: its last row.
    let x = left.saturating_sub(MARGIN).min(picture.width().saturating_sub(1));
    let y = top.saturating_sub(MARGIN).min(picture.height().saturating_sub(1));
    let width = (right + MARGIN).min(picture.width()).saturating_sub(x);
    let height = (bottom + MARGIN).min(picture.height()).saturating_sub(y);
    let (width, height) = (width.clamp(1, MOST), height.clamp(1, MOST));
    image::imageops::crop_imm(picture, x, y, width, height).to_image()
}

fn png(picture: &RgbaImage) -> anyhow::Result<Vec<u8>> {
    let mut png = Cursor::new(Vec::new());
    picture.write_to(&mut png, ImageFormat::Png)?;
    Ok(png.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(width: u32, height: u32, paint: impl Fn(&mut RgbaImage)) -> Vec<u8> {
        let mut picture = RgbaImage::from_pixel(width, height, image::Rgba([255; 4]));
        paint(&mut picture);
        png(&picture).unwrap()
    }

    #[test]
    fn one_pixel_is_found_where_it_is() {
        let white = painted(50, 40, |_| ());
        let dot = painted(50, 40, |picture| {
            picture.put_pixel(30, 20, image::Rgba([255, 255, 254, 255]))
        });
        assert_eq!(compare(&white, &white).unwrap(), None);
        let found = compare(&white, &dot).unwrap().unwrap();
        assert_eq!((found.count, found.area), (1, (30, 20, 31, 21)));
        assert_eq!(found.to_string(), "1 pixel differs, in 1x1 at 30,20");
        let marks = decode(&found.pictures[2]).unwrap();
        let red = marks.pixels().filter(|pixel| pixel.0 == [255, 0, 0, 255]).count();
        assert_eq!((marks.dimensions(), red), ((44, 40), 1));
    }

    #[test]
    fn another_height_is_a_difference_even_where_all_common_pixels_agree() {
        let (short, long) = (painted(20, 10, |_| ()), painted(20, 30, |_| ()));
        for (before, after) in [(&short, &long), (&long, &short)] {
            let found = compare(before, after).unwrap().unwrap();
            assert_eq!((found.count, found.area), (0, (0, 10, 20, 30)));
        }
        let grown = compare(&short, &long).unwrap().unwrap();
        assert!(
            grown
                .to_string()
                .starts_with("the page was 10 px high and is 30; ")
        );
    }

    #[test]
    fn pictures_of_a_difference_stay_small() {
        let white = painted(1200, 2000, |_| ());
        let black = painted(1200, 2000, |picture| {
            picture
                .pixels_mut()
                .for_each(|p| *p = image::Rgba([0, 0, 0, 255]))
        });
        let found = compare(&white, &black).unwrap().unwrap();
        assert_eq!(found.count, 2_400_000);
        for picture in &found.pictures {
            assert_eq!(decode(picture).unwrap().dimensions(), (MOST, MOST));
        }
    }

    #[test]
    fn what_is_no_picture_is_an_error() {
        assert!(compare(b"", b"x").is_err());
    }
}
