// A camera for the calibration test: a program that writes y4m frames of a lit floor, with a dark disc where the test wants it.
// Usage: node camera.js FILE. FILE holds the place of the disc on the floor as "x z" in meters, or nothing, or "lost", "white", "black" or "frozen".

import { readFileSync } from "node:fs";

const [WIDTH, HEIGHT, FPS] = [320, 240, 15];
const [FLOOR_W, FLOOR_H] = [4, 3];
const DISC_M = 0.14;
const file = process.argv[2];

/** Camera pixel of a floor point: a camera that looks down at a slant. */
export function pixelOf([x, z]) {
  const depth = 1 - 0.05 * (z / (FLOOR_H / 2)) + 0.02 * (x / (FLOOR_W / 2));
  return [WIDTH / 2 + (x / FLOOR_W) * WIDTH * 0.86 / depth, HEIGHT / 2 + (z / FLOOR_H) * HEIGHT * 0.84 / depth];
}

function floorOf(px, py) {
  // The inverse of `pixelOf`: two linear equations in x and z.
  const [u, v] = [(px - WIDTH / 2) / (WIDTH * 0.86 / FLOOR_W), (py - HEIGHT / 2) / (HEIGHT * 0.84 / FLOOR_H)];
  const [a, b] = [0.05 / (FLOOR_H / 2), 0.02 / (FLOOR_W / 2)];
  // x = u (1 - a z + b x), z = v (1 - a z + b x)
  const depth = 1 / (1 + a * v - b * u);
  return [u * depth, v * depth];
}

function place() {
  try {
    const [x, z] = readFileSync(file, "utf8").trim().split(/\s+/).map(Number);
    return Number.isFinite(x) && Number.isFinite(z) ? [x, z] : null;
  } catch {
    return null;
  }
}

/** Whether the file says a word: "lost" for a loose cable that sends nothing, "white" for a picture of daylight, "black" for a covered lens. */
function says(word) {
  try {
    return readFileSync(file, "utf8").trim() === word;
  } catch {
    return false;
  }
}

const WHITE = Buffer.alloc(WIDTH * HEIGHT, 255);
const BLACK = Buffer.alloc(WIDTH * HEIGHT, 0);

/** The empty floor, some times with other noise: computed once, because a test shares its processor with the pool. */
const FLOORS = Array.from({ length: 6 }, (_, n) => {
  const luma = Buffer.alloc(WIDTH * HEIGHT);
  let seed = (n + 1) * 2654435761;
  for (let i = 0; i < luma.length; i++) {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
    luma[i] = 150 + 20 * Math.sin((i % WIDTH) / 60) + ((seed >>> 24) / 255 - 0.5) * 4;
  }
  return luma;
});

function frame(n, disc) {
  const luma = Buffer.from(FLOORS[n % FLOORS.length]);
  if (!disc) return luma;
  const [cx, cy] = pixelOf(disc);
  const reach = Math.ceil((DISC_M / FLOOR_W) * WIDTH * 1.3);
  for (let y = Math.max(0, Math.floor(cy - reach)); y < Math.min(HEIGHT, cy + reach); y++) {
    for (let x = Math.max(0, Math.floor(cx - reach)); x < Math.min(WIDTH, cx + reach); x++) {
      // Four samples a pixel, so that the edge of the disc is smooth.
      let dark = 0;
      for (const [dx, dy] of [[-0.25, -0.25], [0.25, -0.25], [-0.25, 0.25], [0.25, 0.25]]) {
        const [fx, fz] = floorOf(x + dx, y + dy);
        if ((fx - disc[0]) ** 2 + (fz - disc[1]) ** 2 < DISC_M ** 2) dark += 0.25;
      }
      luma[y * WIDTH + x] *= 1 - 0.8 * dark;
    }
  }
  return luma;
}

if (process.argv[1]?.endsWith("camera.js")) {
  process.stdout.on("error", () => process.exit(0));
  process.stdout.write(`YUV4MPEG2 W${WIDTH} H${HEIGHT} F${FPS}:1 Ip A1:1 Cmono\n`);
  let n = 0;
  setInterval(() => {
    if (says("lost")) return;
    if (process.stdout.writableLength > WIDTH * HEIGHT * 3) return;
    process.stdout.write("FRAME\n");
    process.stdout.write(says("white") ? WHITE : says("black") ? BLACK : frame(says("frozen") ? n : n++, place()));
  }, 1000 / FPS);
}
