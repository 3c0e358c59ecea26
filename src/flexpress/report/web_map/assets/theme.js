// Colours of the page, and of its tours.

const dark = matchMedia("(prefers-color-scheme: dark)");

const page = {}; // colours by name, as the style sheet gives them

function readPageColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "grid", "block", "zone"]) page[name] = style.getPropertyValue(`--${name}`).trim();
}

// Relative luminance of sRGB, 0 black to 1 white.
function luminance(colour) {
  const channels = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const [r, g, b] = channels.map((c) => ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// As in the picture, which has others for dark paper.
const tourColour = (tour) => (dark.matches ? tour.dark : tour.colour);

const inkOn = (colour) => (luminance(colour) > 0.28 ? "#111" : "#fff");
