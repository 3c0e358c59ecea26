// Which part of the plane is seen: scale in pixels per metre, and the metres at the centre.

const ROOM = { side: 44, top: 34, bottom: 66 }; // pixels around what is drawn, for names and buttons
const CLOSEST = 400; // times the scale that shows all

function boxOf(plan) {
  const corners = plan.transporters.flatMap((tour) => tour.corners.flat());
  const blocks = plan.blocks.flatMap(([west, south, east, north]) => [[west, south], [east, north]]);
  const box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity };
  const server = plan.server ? [plan.server] : [];
  for (const [x, y] of [...server, ...plan.clients, ...corners, ...blocks, ...plan.zones.flat()]) {
    box.west = Math.min(box.west, x);
    box.east = Math.max(box.east, x);
    box.south = Math.min(box.south, y);
    box.north = Math.max(box.north, y);
  }
  return box;
}

const within = (low, value, high) => Math.min(Math.max(value, low), high);

class View {
  // `beyond`: how far it may move past the box, as a share of its larger side.
  constructor(box, beyond = 0) {
    this.box = box;
    this.beyond = beyond;
    [this.width, this.height] = [1, 1];
    this.fit();
  }

  get fittingScale() {
    const across = this.box.east - this.box.west;
    const up = this.box.north - this.box.south;
    const free = [this.width - 2 * ROOM.side, this.height - ROOM.top - ROOM.bottom];
    const room = free.map((side) => Math.max(side, 20));
    return Math.min(room[0] / (across || up || 1), room[1] / (up || across || 1));
  }

  // Show all.
  fit() {
    this.fitted = true;
    this.scale = this.fittingScale;
    this.x = (this.box.west + this.box.east) / 2;
    this.y = (this.box.south + this.box.north) / 2 - (ROOM.bottom - ROOM.top) / 2 / this.scale;
  }

  resize(width, height) {
    [this.width, this.height] = [width, height];
    if (this.fitted) this.fit();
  }

  toScreen([x, y]) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  toPlane([px, py]) {
    return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale];
  }

  // Move what is seen by so many pixels.
  pan(dx, dy) {
    this.moveTo(this.x - dx / this.scale, this.y + dy / this.scale);
  }

  moveTo(x, y) {
    this.fitted = false;
    const { west, south, east, north } = this.box;
    const margin = this.beyond * Math.max(east - west, north - south);
    this.x = within(west - margin, x, east + margin);
    this.y = within(south - margin, y, north + margin);
  }

  // Zoom so that what is below the pixel stays there.
  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const fit = this.fittingScale;
    const scale = within(fit / (2 + 8 * this.beyond), this.scale * factor, fit * CLOSEST);
    const metres = 1 / this.scale - 1 / scale;
    this.scale = scale;
    this.moveTo(this.x + (px - this.width / 2) * metres, this.y - (py - this.height / 2) * metres);
  }

  sees([px, py], beyond = 20) {
    return px > -beyond && py > -beyond && px < this.width + beyond && py < this.height + beyond;
  }
}

// The largest of 1, 2, 5, 10, 20, … that is not above the number.
function niceBelow(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return power * [5, 2, 1].find((step) => step * power <= number * (1 + 1e-9));
}

const lengthText = (metres) =>
  metres >= 1000 ? `${metres / 1000} km` : metres >= 1 ? `${metres} m` : `${+metres.toPrecision(1)} m`;
