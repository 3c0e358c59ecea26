// A background of map tiles, only if the user named a server of them and asks to see it.

const loaded = new Map(); // images by address

const showsTiles = () => byId("show-tiles").checked && topics.settings?.tiles && topics.document?.origin;

function paintTiles(pen, { view }) {
  byId("tiles").hidden = !showsTiles();
  if (!showsTiles()) return;
  const [lat] = topics.document.origin;
  const metres = (40075016.7 * Math.cos((lat * Math.PI) / 180)) / 256; // of a pixel at zoom 0
  const zoom = within(0, Math.round(Math.log2(metres * view.scale)), 19);
  const [west, north] = tileAt(view.toPlane([0, 0]), zoom).map(Math.floor);
  const [east, south] = tileAt(view.toPlane([view.width, view.height]), zoom).map(Math.floor);
  if ((east - west + 1) * (south - north + 1) > 200) return;
  pen.globalAlpha = 0.6;
  for (let x = west; x <= east; x++) for (let y = north; y <= south; y++) paintTile(pen, view, zoom, x, y);
}

// In numbers of tiles, Web Mercator.
function tileAt(point, zoom) {
  const [lat, lon] = coordinatesAt(point);
  const angle = (lat * Math.PI) / 180;
  const y = (1 - Math.asinh(Math.tan(angle)) / Math.PI) / 2;
  return [((lon + 180) / 360) * 2 ** zoom, y * 2 ** zoom];
}

// The pixel of a tile's corner.
function pixelOfTile(view, zoom, x, y) {
  const [lat0, lon0] = topics.document.origin;
  const lat = (Math.atan(Math.sinh(Math.PI * (1 - (2 * y) / 2 ** zoom))) * 180) / Math.PI;
  const lon = (x / 2 ** zoom) * 360 - 180;
  const [perNorth, perEast] = coordinatesAt([1, 1]).map((value, axis) => value - [lat0, lon0][axis]);
  return view.toScreen([(lon - lon0) / perEast, (lat - lat0) / perNorth]);
}

function paintTile(pen, view, zoom, x, y) {
  const address = topics.settings.tiles.replace("{z}", zoom).replace("{x}", x).replace("{y}", y);
  const image = loaded.get(address) ?? new Image();
  if (!loaded.has(address)) {
    loaded.set(address, image);
    image.addEventListener("load", () => scene.redraw("tiles"));
    image.referrerPolicy = "no-referrer";
    image.src = address;
  }
  if (!image.complete || !image.naturalWidth) return;
  const [left, top] = pixelOfTile(view, zoom, x, y);
  const [right, bottom] = pixelOfTile(view, zoom, x + 1, y + 1);
  pen.drawImage(image, left, top, right - left, bottom - top);
}
