//! Colours for terminals and SVG, and the abilities of a terminal.

use owo_colors::{Style, XtermColors};

/// A colour in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// How many colours the terminal supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// No colours: a pipe, `NO_COLOR`, or a terminal without colours.
    None,
    /// The 256 colours of xterm.
    Xterm,
    /// 24 bits.
    True,
}

/// The size and colours of a terminal, which the program that prints finds out.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Columns that a line may take.
    pub columns: usize,
    /// Colours that a cell may have.
    pub depth: Depth,
}

impl Screen {
    /// Columns assumed where there is no terminal: wide enough for numbers of 32 threads.
    pub const COLUMNS_OF_A_PIPE: usize = 200;

    /// No colours and the width that is assumed for a pipe.
    pub const PLAIN: Self = Self {
        columns: Self::COLUMNS_OF_A_PIPE,
        depth: Depth::None,
    };

    /// Black or white text, whichever reads better, on `back`.
    pub fn on(self, back: Rgb) -> Style {
        let ink = back.ink();
        match self.depth {
            Depth::None => Style::new(),
            Depth::Xterm => Style::new().on_color(back.xterm()).color(ink.xterm()),
            Depth::True => Style::new()
                .on_truecolor(back.0, back.1, back.2)
                .truecolor(ink.0, ink.1, ink.2),
        }
    }

    /// Text in the colour that stands for NUMA node `numa`.
    pub fn numa(self, numa: u32) -> Style {
        let c = category(numa);
        match self.depth {
            Depth::None => Style::new(),
            Depth::Xterm => Style::new().color(c.xterm()),
            Depth::True => Style::new().truecolor(c.0, c.1, c.2),
        }
    }

    /// Dimmed text, for units and hints.
    pub fn dim(self) -> Style {
        if self.depth == Depth::None {
            Style::new()
        } else {
            Style::new().dimmed()
        }
    }

    /// Bold text, for headings and the chosen plan.
    pub fn bold(self) -> Style {
        if self.depth == Depth::None {
            Style::new()
        } else {
            Style::new().bold()
        }
    }
}

impl Rgb {
    /// The colour in the form `#rrggbb`.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// The colour of text on this one: black on light colours, white on dark ones.
    pub fn ink(self) -> Rgb {
        let luma =
            0.299 * f64::from(self.0) + 0.587 * f64::from(self.1) + 0.114 * f64::from(self.2);
        if luma > 140.0 {
            Rgb(0, 0, 0)
        } else {
            Rgb(255, 255, 255)
        }
    }

    /// The nearest of xterm's 6 × 6 × 6 cube and its 24 greys.
    fn xterm(self) -> XtermColors {
        const LEVELS: [i32; 6] = [0, 95, 135, 175, 215, 255];
        let channels = [self.0, self.1, self.2].map(i32::from);
        let nearest = channels.map(|c| (0..6).min_by_key(|&k| (LEVELS[k] - c).abs()).unwrap_or(0));
        let distance = |to: [i32; 3]| (0..3).map(|k| (to[k] - channels[k]).pow(2)).sum::<i32>();
        let cube = distance(nearest.map(|k| LEVELS[k]));
        let step = ((channels.iter().sum::<i32>() / 3 - 8) / 10).clamp(0, 23);
        let index = if distance([8 + 10 * step; 3]) < cube {
            232 + step as usize
        } else {
            16 + 36 * nearest[0] + 6 * nearest[1] + nearest[2]
        };
        XtermColors::from(index as u8)
    }
}

/// The colour of `x` in 0..=1 on a scale that stays readable in grey and for the colour-blind
/// (matplotlib's viridis): dark is cheap, bright is expensive.
pub fn heat(x: f64) -> Rgb {
    const STOPS: [(f64, f64, f64); 9] = [
        (68.0, 1.0, 84.0),
        (71.0, 44.0, 122.0),
        (59.0, 81.0, 139.0),
        (44.0, 113.0, 142.0),
        (33.0, 144.0, 141.0),
        (39.0, 173.0, 129.0),
        (92.0, 200.0, 99.0),
        (170.0, 220.0, 50.0),
        (253.0, 231.0, 37.0),
    ];
    let at = x.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let k = (at as usize).min(STOPS.len() - 2);
    let f = at - k as f64;
    let mix = |a: f64, b: f64| (a + (b - a) * f).round() as u8;
    let (a, b) = (STOPS[k], STOPS[k + 1]);
    Rgb(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// Colours that tell NUMA nodes apart on dark and on light backgrounds; they repeat after eight.
pub fn category(index: u32) -> Rgb {
    const COLOURS: [Rgb; 8] = [
        Rgb(31, 119, 180),
        Rgb(220, 110, 10),
        Rgb(44, 150, 44),
        Rgb(205, 60, 60),
        Rgb(140, 100, 190),
        Rgb(150, 95, 80),
        Rgb(210, 100, 175),
        Rgb(20, 160, 175),
    ];
    COLOURS[index as usize % COLOURS.len()]
}

/// Colours of Corecast's own curves in plots of races. The colour-blind can tell these, [`REFERENCE`] and
/// [`OTHERS`] apart (Okabe and Ito).
pub const OURS: [Rgb; 2] = [Rgb(0, 114, 178), Rgb(86, 180, 233)];

/// The colour of floors and other references, and of undecided comparisons.
pub const REFERENCE: Rgb = Rgb(140, 140, 140);

/// Colours of peers, in turn.
pub const OTHERS: [Rgb; 6] = [
    Rgb(213, 94, 0),
    Rgb(0, 158, 115),
    Rgb(204, 121, 167),
    Rgb(230, 159, 0),
    Rgb(128, 60, 20),
    Rgb(90, 70, 160),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heat_scale_runs_from_dark_to_bright() {
        assert_eq!(heat(-1.0), heat(0.0));
        assert_eq!(heat(2.0), heat(1.0));
        assert_eq!(heat(0.0).ink(), Rgb(255, 255, 255));
        assert_eq!(heat(1.0).ink(), Rgb(0, 0, 0));
    }

    #[test]
    fn xterm_takes_the_nearest_colour() {
        assert_eq!(Rgb(255, 0, 0).xterm(), XtermColors::from(196));
        assert_eq!(Rgb(128, 128, 128).xterm(), XtermColors::from(244));
    }
}
