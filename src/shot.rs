//! Pictures of the window without a display: the same painting functions, drawn by a small rasteriser on the CPU.
//!
//! Deterministic: time is the state's, fonts are bundled, and nothing of the machine is read, but for letters that no
//! bundled font has where a picture of somebody's own answer is made ([`Shot::use_system_fonts`]). Screenshots, the README's
//! picture and the picture tests all come from here.

mod picture;
mod screens;

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use egui::epaint::{ImageData, ImageDelta, Mesh, Primitive, Vertex};
use egui::{
    Color32, Context, FullOutput, Pos2, RawInput, Rect, TextureId, TexturesDelta, Theme, vec2,
};
use egui_system_font_provider::SystemFontProvider;
use image::RgbaImage;

use crate::state::{Action, State};
use crate::ui;
use loupe_core::problem::{Problem, ProblemKind};
pub use picture::{draw, pane};
pub use screens::{SCREENS, screen};

/// More passes than any layout needs to settle.
const PASSES: usize = 8;

/// A window that exists only as a picture.
pub struct Shot {
    ctx: Context,
    raster: Raster,
    size: [u32; 2],
    pixels_per_point: f32,
    output: Option<FullOutput>,
    /// What paints: the whole window, or a part of it alone.
    paint: fn(&mut egui::Ui, &ui::Cx<'_>),
}

impl Shot {
    /// `size` is in points; the picture is `pixels_per_point` times as large.
    pub fn new(size: [u32; 2], theme: Theme, pixels_per_point: f32) -> Self {
        let ctx = Context::default();
        ui::theme::install_for_picture(&ctx);
        ctx.set_theme(theme);
        Self {
            ctx,
            raster: Raster::default(),
            size,
            pixels_per_point,
            output: None,
            paint: ui::window,
        }
    }

    /// Shows characters that Loupe brings no letters for with the fonts of this machine, as the window does. For pictures of
    /// what a server answered: the sample's are the same without.
    pub fn use_system_fonts(&self) {
        self.ctx
            .add_font_provider(Arc::new(SystemFontProvider::new()));
    }

    /// One pass of the window over a state: what it asks for. The picture of the pass is drawn by [`Shot::picture`].
    pub fn frame(&mut self, state: &State) -> Vec<Action> {
        self.frame_with(state, Vec::new())
    }

    /// The same with what the user did since the pass before.
    pub fn frame_with(&mut self, state: &State, events: Vec<egui::Event>) -> Vec<Action> {
        let cx = ui::Cx::new(state);
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(
                Pos2::ZERO,
                vec2(self.size[0] as f32, self.size[1] as f32),
            )),
            time: Some(state.now.as_secs_f64()),
            events,
            ..RawInput::default()
        };
        if let Some(viewport) = input.viewports.get_mut(&egui::ViewportId::ROOT) {
            viewport.native_pixels_per_point = Some(self.pixels_per_point);
        }
        let mut output = self.ctx.run_ui(input, |ui| (self.paint)(ui, &cx));
        self.raster.apply(&mut output.textures_delta);
        self.output = Some(output);
        cx.into_actions()
    }

    /// Whether the last pass asked to be followed by another at once, since its layout had not settled.
    pub fn is_settling(&self) -> bool {
        self.output.as_ref().is_none_or(|output| {
            output
                .viewport_output
                .values()
                .any(|viewport| viewport.repaint_delay.is_zero())
        })
    }

    /// A picture of a state that is complete: as many passes as the layout needs to settle, at one moment.
    pub fn settled(&mut self, state: &State) -> RgbaImage {
        for pass in 0..PASSES {
            self.frame(state);
            // The first pass has no sizes to go by.
            if pass > 1 && !self.is_settling() {
                break;
            }
        }
        self.picture()
    }

    /// The last pass before it is drawn; `None` before the first.
    pub fn output(&self) -> Option<&FullOutput> {
        self.output.as_ref()
    }

    /// Draws the last pass.
    pub fn picture(&self) -> RgbaImage {
        self.output.as_ref().map_or_else(
            || RgbaImage::new(1, 1),
            |output| self.raster.paint(&self.ctx, output),
        )
    }
}

/// A picture as a PNG file.
///
/// # Errors
/// Where it cannot be encoded.
pub fn png(picture: &RgbaImage) -> Result<Vec<u8>, Problem> {
    let mut png = Cursor::new(Vec::new());
    picture
        .write_to(&mut png, image::ImageFormat::Png)
        .map_err(|error| {
            Problem::new(
                ProblemKind::Internal,
                format!("cannot encode the picture: {error}"),
            )
        })?;
    Ok(png.into_inner())
}

/// Textures, and triangles drawn with them.
#[derive(Default)]
pub struct Raster {
    textures: HashMap<TextureId, Texture>,
}

struct Texture {
    width: usize,
    height: usize,
    pixels: Vec<Color32>,
}

impl Raster {
    /// Takes over what changed in the textures.
    pub fn apply(&mut self, delta: &mut TexturesDelta) {
        for (id, deltas) in delta.set.drain() {
            for delta in deltas {
                self.set(id, &delta);
            }
        }
        for id in delta.free.drain() {
            self.textures.remove(&id);
        }
    }

    fn set(&mut self, id: TextureId, delta: &ImageDelta) {
        let ImageData::Color(image) = &delta.image;
        let [width, height] = image.size;
        match delta.pos {
            None => {
                self.textures.insert(
                    id,
                    Texture {
                        width,
                        height,
                        pixels: image.pixels.clone(),
                    },
                );
            }
            Some([x, y]) => {
                let Some(texture) = self.textures.get_mut(&id) else {
                    return;
                };
                for (row, source) in image.pixels.chunks_exact(width.max(1)).enumerate() {
                    let start = (y + row) * texture.width + x;
                    if let Some(target) = texture.pixels.get_mut(start..start + width) {
                        target.copy_from_slice(source);
                    }
                }
            }
        }
    }

    /// Draws one frame.
    pub fn paint(&self, ctx: &Context, output: &FullOutput) -> RgbaImage {
        let scale = output.pixels_per_point;
        let size = ctx.content_rect().size() * scale;
        let mut canvas = Canvas::new(size.x.round() as u32, size.y.round() as u32);
        for primitive in ctx.tessellate(output.shapes.clone(), scale) {
            if let Primitive::Mesh(mesh) = &primitive.primitive
                && let Some(texture) = self.textures.get(&mesh.texture_id)
            {
                canvas.mesh(mesh, texture, primitive.clip_rect, scale);
            }
        }
        canvas.finish()
    }
}

impl Texture {
    fn texel(&self, x: i32, y: i32) -> [f32; 4] {
        let x = x.clamp(0, self.width as i32 - 1) as usize;
        let y = y.clamp(0, self.height as i32 - 1) as usize;
        let [red, green, blue, alpha] = self
            .pixels
            .get(y * self.width + x)
            .copied()
            .unwrap_or_default()
            .to_array();
        [
            f32::from(red),
            f32::from(green),
            f32::from(blue),
            f32::from(alpha),
        ]
    }

    /// Bilinear, as a graphics card does it.
    fn sample(&self, u: f32, v: f32) -> [f32; 4] {
        let x = u * self.width as f32 - 0.5;
        let y = v * self.height as f32 - 0.5;
        let (left, top) = (x.floor(), y.floor());
        let (fx, fy) = (x - left, y - top);
        let (left, top) = (left as i32, top as i32);
        if fx == 0.0 && fy == 0.0 {
            return self.texel(left, top);
        }
        let [a, b, c, d] = [
            self.texel(left, top),
            self.texel(left + 1, top),
            self.texel(left, top + 1),
            self.texel(left + 1, top + 1),
        ];
        let of = |channel: usize| {
            let upper = a[channel] + (b[channel] - a[channel]) * fx;
            let lower = c[channel] + (d[channel] - c[channel]) * fx;
            upper + (lower - upper) * fy
        };
        [of(0), of(1), of(2), of(3)]
    }
}

/// The picture while it is drawn: premultiplied, in gamma space, as egui blends.
struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 4]>,
}

/// Pixel bounds of what may be drawn.
struct Clip {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Canvas {
    fn new(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            pixels: vec![[0, 0, 0, 255]; width as usize * height as usize],
        }
    }

    fn mesh(&mut self, mesh: &Mesh, texture: &Texture, clip: Rect, scale: f32) {
        let bound = |value: f32, most: u32| (value * scale).round().clamp(0.0, most as f32) as i32;
        let clip = Clip {
            left: bound(clip.min.x, self.width),
            top: bound(clip.min.y, self.height),
            right: bound(clip.max.x, self.width),
            bottom: bound(clip.max.y, self.height),
        };
        for triangle in mesh.indices.chunks_exact(3) {
            let corner = |at: usize| mesh.vertices.get(triangle[at] as usize).copied();
            if let (Some(a), Some(b), Some(c)) = (corner(0), corner(1), corner(2)) {
                self.triangle([a, b, c], texture, &clip, scale);
            }
        }
    }

    fn triangle(
        &mut self,
        [a, mut b, mut c]: [Vertex; 3],
        texture: &Texture,
        clip: &Clip,
        scale: f32,
    ) {
        let at = |vertex: &Vertex| {
            (
                f64::from(vertex.pos.x * scale),
                f64::from(vertex.pos.y * scale),
            )
        };
        let edge = |(ax, ay): (f64, f64), (bx, by): (f64, f64), (px, py): (f64, f64)| {
            (bx - ax) * (py - ay) - (by - ay) * (px - ax)
        };
        let mut area = edge(at(&a), at(&b), at(&c));
        if area == 0.0 {
            return;
        }
        if area < 0.0 {
            std::mem::swap(&mut b, &mut c);
            area = -area;
        }
        let (pa, pb, pc) = (at(&a), at(&b), at(&c));
        // A pixel on an edge belongs to the triangle whose top or left edge it is, so that neighbours never share one.
        let is_top_left =
            |(ax, ay): (f64, f64), (bx, by): (f64, f64)| (ay == by && bx > ax) || by < ay;
        let includes = [
            is_top_left(pb, pc),
            is_top_left(pc, pa),
            is_top_left(pa, pb),
        ];
        let low = |x: f64, y: f64, z: f64| x.min(y).min(z).floor() as i32;
        let high = |x: f64, y: f64, z: f64| x.max(y).max(z).ceil() as i32;
        let (left, right) = (
            low(pa.0, pb.0, pc.0).max(clip.left),
            high(pa.0, pb.0, pc.0).min(clip.right),
        );
        let (top, bottom) = (
            low(pa.1, pb.1, pc.1).max(clip.top),
            high(pa.1, pb.1, pc.1).min(clip.bottom),
        );
        let edges = [
            (pb, pc, includes[0]),
            (pc, pa, includes[1]),
            (pa, pb, includes[2]),
        ];
        let colors = [a, b, c].map(|corner| corner.color.to_array().map(f32::from));
        let is_flat = a.color == b.color && b.color == c.color;
        let is_plain = a.uv == b.uv && b.uv == c.uv;
        let plain = texture.sample(a.uv.x, a.uv.y);
        for y in top..bottom {
            let center = f64::from(y) + 0.5;
            // Along a row the weight of an edge grows or falls, so that what is inside is one stretch.
            let (mut start, mut end) = (left, right);
            for (from, to, includes) in edges {
                let is_in = |x: i32| {
                    let weight = edge(from, to, (f64::from(x) + 0.5, center));
                    weight > 0.0 || (weight == 0.0 && includes)
                };
                match to.1 < from.1 {
                    true => start = first(start, end, is_in),
                    false => end = first(start, end, |x| !is_in(x)),
                }
            }
            let row = y as usize * self.width as usize;
            let Some(pixels) = self
                .pixels
                .get_mut(row + start as usize..row + end as usize)
            else {
                continue;
            };
            if is_flat && is_plain {
                blend(pixels, product(plain, colors[0]));
                continue;
            }
            for (x, pixel) in (start..end).zip(pixels) {
                let p = (f64::from(x) + 0.5, center);
                let weight = |from, to| (edge(from, to, p) / area) as f32;
                let (of_a, of_b, of_c) = (weight(pb, pc), weight(pc, pa), weight(pa, pb));
                let mix = |a: f32, b: f32, c: f32| a * of_a + b * of_b + c * of_c;
                let texel = if is_plain {
                    plain
                } else {
                    texture.sample(mix(a.uv.x, b.uv.x, c.uv.x), mix(a.uv.y, b.uv.y, c.uv.y))
                };
                let color = match (is_flat, colors) {
                    (true, [color, ..]) => color,
                    (false, [a, b, c]) => [
                        mix(a[0], b[0], c[0]),
                        mix(a[1], b[1], c[1]),
                        mix(a[2], b[2], c[2]),
                        mix(a[3], b[3], c[3]),
                    ],
                };
                blend(std::slice::from_mut(pixel), product(texel, color));
            }
        }
    }

    fn finish(self) -> RgbaImage {
        RgbaImage::from_raw(self.width, self.height, self.pixels.into_flattened())
            .unwrap_or_default()
    }
}

/// The first of `start..end` that something holds for, as for all after it; `end` where it holds for none.
fn first(start: i32, end: i32, holds: impl Fn(i32) -> bool) -> i32 {
    let (mut low, mut high) = (start, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// A texel in a colour.
fn product(texel: [f32; 4], color: [f32; 4]) -> [f32; 4] {
    let of = |channel: usize| texel[channel] * color[channel] / 255.0;
    [of(0), of(1), of(2), of(3)]
}

/// Puts one colour over opaque pixels, which stay opaque.
fn blend(pixels: &mut [[u8; 4]], [red, green, blue, alpha]: [f32; 4]) {
    if [red, green, blue, alpha] == [0.0; 4] {
        return;
    }
    let keep = 1.0 - alpha / 255.0;
    let over = |source: f32, target: u8| {
        (source + f32::from(target) * keep)
            .round()
            .clamp(0.0, 255.0) as u8
    };
    let of = |pixel: [u8; 4]| {
        [
            over(red, pixel[0]),
            over(green, pixel[1]),
            over(blue, pixel[2]),
            255,
        ]
    };
    if keep == 0.0 {
        return pixels.fill(of([0; 4]));
    }
    for pixel in pixels {
        *pixel = of(*pixel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pictures_of_one_state_are_the_same() {
        let state = State::default();
        let render = |theme, scale| Shot::new([640, 520], theme, scale).settled(&state);
        let picture = render(Theme::Dark, 1.0);
        assert_eq!(picture.dimensions(), (640, 520));
        assert_eq!(picture, render(Theme::Dark, 1.0));
        assert_ne!(picture, render(Theme::Light, 1.0));
        assert_eq!(render(Theme::Dark, 2.0).dimensions(), (1_280, 1_040));
    }

    /// The columns and rows that have ink between two places.
    fn ink(picture: &RgbaImage, from: u32, to: u32) -> (u32, u32) {
        let ground = picture.get_pixel(0, 0);
        let is_ink = |pixel: &image::Rgba<u8>| {
            pixel
                .0
                .iter()
                .zip(ground.0)
                .any(|(own, other)| own.abs_diff(other) > 60)
        };
        let inked: Vec<(u32, u32)> = picture
            .enumerate_pixels()
            .filter(|(x, _, pixel)| (from..to).contains(x) && is_ink(pixel))
            .map(|(x, y, _)| (x, y))
            .collect();
        let columns = inked.iter().map(|(x, _)| x);
        let width = columns.clone().max().unwrap_or(&0) - columns.min().unwrap_or(&0) + 1;
        (width, inked.iter().map(|(_, y)| *y).max().unwrap_or(0))
    }

    #[test]
    fn a_minus_is_no_hyphen_and_a_unit_stands_on_the_line_of_its_number() {
        // The number and its unit have flat feet; the sign stands alone.
        let paint = |ui: &mut egui::Ui, _: &ui::Cx<'_>| {
            let (ground, strong) = (ui::theme::of(ui).bg, ui::theme::of(ui).strong);
            ui.painter().rect_filled(ui.content_rect(), 0.0, ground);
            for (x, text) in [(100.0, "−"), (200.0, "-")] {
                ui.painter().text(
                    Pos2::new(x, 20.0),
                    egui::Align2::LEFT_CENTER,
                    text,
                    ui::theme::mono_semibold(22.0),
                    strong,
                );
            }
            for (x, size) in [(300.0, 22.0), (400.0, 14.0), (500.0, 12.0)] {
                ui::number_at(
                    ui,
                    Pos2::new(x, 20.0),
                    "1",
                    ui::theme::mono_semibold(size),
                    strong,
                    "k",
                );
            }
        };
        for theme in [Theme::Dark, Theme::Light] {
            let mut shot = Shot {
                paint,
                ..Shot::new([600, 40], theme, 1.0)
            };
            let picture = shot.settled(&State::default());
            let (minus, hyphen) = (ink(&picture, 100, 140).0, ink(&picture, 200, 240).0);
            assert!(
                minus * 4 > hyphen * 5,
                "{theme:?}: the minus has {minus} pixels, a hyphen {hyphen}"
            );
            for (x, digit) in [(300, 15), (400, 10), (500, 9)] {
                let (number, unit) = (
                    ink(&picture, x, x + digit),
                    ink(&picture, x + digit, x + 60),
                );
                assert!(unit.0 > 2, "{theme:?}: the unit at {x} is painted");
                assert_eq!(
                    number.1, unit.1,
                    "{theme:?}: the lowest row of the number at {x}, and of its unit"
                );
            }
        }
    }

    #[test]
    fn neighbouring_triangles_cover_each_pixel_once() {
        let mut canvas = Canvas::new(8, 8);
        let texture = Texture {
            width: 1,
            height: 1,
            pixels: vec![Color32::WHITE],
        };
        let half = Color32::from_rgba_premultiplied(64, 64, 64, 128);
        let vertex = |x, y| Vertex {
            pos: Pos2::new(x, y),
            uv: Pos2::ZERO,
            color: half,
        };
        let mut mesh = Mesh {
            vertices: vec![
                vertex(0.0, 0.0),
                vertex(8.0, 0.0),
                vertex(8.0, 8.0),
                vertex(0.0, 8.0),
            ],
            ..Mesh::default()
        };
        mesh.indices = vec![0, 1, 2, 0, 2, 3];
        canvas.mesh(&mesh, &texture, Rect::EVERYTHING, 1.0);
        let first = canvas.pixels[0];
        assert!(
            canvas.pixels.iter().all(|pixel| *pixel == first),
            "a pixel was drawn twice or not at all"
        );
        assert_eq!(first[0], 64);
    }
}
