// The picture of the pool seen straight from above, put together from the pictures of the outputs: what lies below the map.
//
// The corners of each output are taken into account, a mesh inside of them is not: it moves the picture by a few centimeters.

/** Pixels per meter of the picture below the map. */
const PX_PER_M = 90;

/** @typedef {{ x: number, y: number }} Point */

/**
 * Returns where the corners of the crop are in the picture of an output, as shares of its width and height, from the upper left one
 * clockwise.
 * @param {any} output @param {number[]} size of the surface @param {number} proportions of the picture, width by height
 * @returns {Point[]}
 */
export function shownCorners(output, [width, height], proportions) {
  const { crop, corners } = output;
  const found = [corners.top_left, corners.top_right, corners.bottom_right, corners.bottom_left];
  const isDefault = found.every(({ x, y }, index) => x === [0, 1, 1, 0][index] && y === [0, 0, 1, 1][index]);
  if (!isDefault) return found;
  // The crop is shown as large as possible with its proportions kept.
  const own = ((crop.right - crop.left) * width) / ((crop.bottom - crop.top) * height);
  const [x, y] = own > proportions ? [0, (1 - proportions / own) / 2] : [(1 - own / proportions) / 2, 0];
  return [{ x, y }, { x: 1 - x, y }, { x: 1 - x, y: 1 - y }, { x, y: 1 - y }];
}

/**
 * Returns the projective map from the unit square to four corners.
 * @param {Point[]} corners clockwise from that of (0, 0)
 * @returns {(u: number, v: number) => Point}
 */
export function fromUnitSquare([a, b, c, d]) {
  const [dx1, dx2, sx] = [b.x - c.x, d.x - c.x, a.x - b.x + c.x - d.x];
  const [dy1, dy2, sy] = [b.y - c.y, d.y - c.y, a.y - b.y + c.y - d.y];
  const area = dx1 * dy2 - dx2 * dy1 || 1e-9;
  const [g, h] = [(sx * dy2 - dx2 * sy) / area, (dx1 * sy - sx * dy1) / area];
  return (u, v) => {
    const w = g * u + h * v + 1;
    return { x: ((b.x - a.x + g * b.x) * u + (d.x - a.x + h * d.x) * v + a.x) / w, y: ((b.y - a.y + g * b.y) * u + (d.y - a.y + h * d.y) * v + a.y) / w };
  };
}

/**
 * Returns the address of a picture of the whole surface; empty if no output has one.
 * @param {any[]} outputs as in the site file @param {number[]} size of the surface
 */
export async function floorPicture(outputs, size) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = size.map((length) => Math.max(1, Math.round(length * PX_PER_M)));
  const pen = canvas.getContext("2d");
  if (!pen) return "";
  const target = pen.createImageData(canvas.width, canvas.height);
  let isEmpty = true;
  for (const [index, output] of outputs.entries()) {
    const answer = await fetch(`/api/v1/output/${index}.jpg`, { cache: "no-store" }).catch(() => null);
    if (!answer?.ok) continue;
    const image = await createImageBitmap(await answer.blob());
    put(target, image, output, size);
    isEmpty = false;
  }
  if (isEmpty) return "";
  pen.putImageData(target, 0, 0);
  const blob = await new Promise((/** @type {(blob: Blob | null) => void} */ done) => canvas.toBlob(done, "image/jpeg", 0.85));
  return blob ? URL.createObjectURL(blob) : "";
}

/** @param {ImageData} target @param {ImageBitmap} image @param {any} output @param {number[]} size */
function put(target, image, output, size) {
  const source = new OffscreenCanvas(image.width, image.height).getContext("2d");
  if (!source) return;
  source.drawImage(image, 0, 0);
  const from = source.getImageData(0, 0, image.width, image.height).data;
  const shown = fromUnitSquare(shownCorners(output, size, image.width / image.height));
  const { left, right, top, bottom } = output.crop;
  for (let y = Math.floor(top * target.height); y < bottom * target.height; y++) {
    for (let x = Math.floor(left * target.width); x < right * target.width; x++) {
      const at = shown(((x + 0.5) / target.width - left) / (right - left), ((y + 0.5) / target.height - top) / (bottom - top));
      const [px, py] = [Math.floor(at.x * image.width), Math.floor(at.y * image.height)];
      if (px < 0 || py < 0 || px >= image.width || py >= image.height) continue;
      const [to, of] = [4 * (y * target.width + x), 4 * (py * image.width + px)];
      for (let channel = 0; channel < 4; channel++) target.data[to + channel] = from[of + channel];
    }
  }
}
