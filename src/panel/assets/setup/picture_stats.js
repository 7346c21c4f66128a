// Measures a camera picture in the browser: histogram, mean, share of overexposed and dark pixels.

/** @typedef {{ bins: number[], mean: number, saturated: number, dark: number, width: number, height: number }} Stats */

/** Width to which a picture is reduced before it is measured. */
const WIDTH_PX = 160;
const BINS = 32;
/** Level from which a pixel counts as overexposed; a JPEG smears the last few levels. */
const SATURATED = 250;
/** Level below which a pixel counts as dark. */
const DARK = 12;

/** @param {Blob} blob @returns {Promise<Stats | null>} */
export async function measure(blob) {
  const image = await createImageBitmap(blob).catch(() => null);
  if (!image) return null;
  const width = Math.min(WIDTH_PX, image.width);
  const height = Math.max(1, Math.round((image.height * width) / image.width));
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  if (!pen) return null;
  pen.drawImage(image, 0, 0, width, height);
  const size = { width: image.width, height: image.height };
  image.close();
  const data = pen.getImageData(0, 0, width, height).data;
  const bins = new Array(BINS).fill(0);
  let sum = 0;
  let saturated = 0;
  let dark = 0;
  for (let i = 0; i < data.length; i += 4) {
    const level = data[i + 1];
    bins[(level * BINS) >> 8] += 1;
    sum += level;
    if (level >= SATURATED) saturated += 1;
    if (level <= DARK) dark += 1;
  }
  const count = data.length / 4;
  return { bins: bins.map((n) => n / count), mean: sum / count / 255, saturated: saturated / count, dark: dark / count, ...size };
}

/** Says what to change about the exposure. @param {Stats} stats @returns {"lower" | "raise" | "contrast" | "good"} */
export function advice(stats) {
  if (stats.saturated > 0.02 || stats.mean > 0.8) return "lower";
  if (stats.mean < 0.15) return "raise";
  if (stats.dark > 0.3) return "contrast";
  return "good";
}
