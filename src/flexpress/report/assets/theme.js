// Colours of the page, and tour colours that can be read on it.

const dark = matchMedia("(prefers-color-scheme: dark)");

const page = {}; // colours by name, as the style sheet gives them

function readPageColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "ink", "grid", "block", "zone"]) page[name] = style.getPropertyValue(`--${name}`).trim();
}

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

// Relative luminance of sRGB, 0 black to 1 white.
function luminance(colour) {
  const [r, g, b] = channels(colour).map((c) => ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function lighter(colour) {
  const mixed = channels(colour).map((c) => Math.round(c + 0.12 * (255 - c)));
  return "#" + mixed.map((c) => c.toString(16).padStart(2, "0")).join("");
}

// As in the picture; on dark paper light enough to be seen.
function tourColour(colour) {
  while (dark.matches && luminance(colour) < 0.14) colour = lighter(colour);
  return colour;
}

const inkOn = (colour) => (luminance(colour) > 0.28 ? "#111" : "#fff");
