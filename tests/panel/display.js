// An X server without a monitor, on which the real program shows its projection, and screenshots of it.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import jsQR from "jsqr";

const [WIDTH, HEIGHT] = [640, 480];
const DRIVERS = "/usr/share/vulkan/icd.d";
/** Level, 0 to 255, above which a pixel belongs to the projected picture. Outside the keystone, an output is black. */
const LIT = 10;

/** Returns which programs are missing for a display; an empty list if none is. */
export function missingForDisplay() {
  const missing = [["Xvfb", "-help"], ["import", "-version"]].filter(([name, argument]) => spawnSync(name, [argument]).error).map(([name]) => name);
  if (!process.env.VK_DRIVER_FILES && !existsSync(DRIVERS)) missing.push("a Vulkan driver");
  return missing;
}

/** A running X server. */
export class Display {
  static start() {
    const display = new Display();
    const screen = ["-screen", "0", `${WIDTH}x${HEIGHT}x24`];
    // Without `-noreset`, the server resets when its last client leaves, and disconnects a client that connects at that moment.
    display.server = spawn("Xvfb", [...screen, "-displayfd", "1", "-noreset", "-nolisten", "tcp"], { stdio: ["ignore", "pipe", "ignore"] });
    return new Promise((resolve, reject) => {
      display.server.on("exit", (code) => reject(new Error(`Xvfb ended with ${code}`)));
      display.server.stdout.once("data", (number) => {
        display.name = `:${String(number).trim()}`;
        resolve(display);
      });
    });
  }

  stop() {
    this.server.removeAllListeners("exit");
    this.server.kill();
  }

  /** Takes a screenshot. */
  picture() {
    const pixels = execFileSync("import", ["-display", this.name, "-window", "root", "-depth", "8", "rgba:-"], { maxBuffer: 4 * WIDTH * HEIGHT + 4096 });
    return new Picture(new Uint8ClampedArray(pixels.buffer, pixels.byteOffset, 4 * WIDTH * HEIGHT));
  }
}

/** A screenshot of the projection. */
class Picture {
  width = WIDTH;
  height = HEIGHT;

  /** @param {Uint8ClampedArray} rgba */
  constructor(rgba) {
    this.rgba = rgba;
  }

  /** Returns the text of the QR code in the picture; `null` if there is none. */
  qrText() {
    return jsQR(this.rgba, this.width, this.height)?.data ?? null;
  }

  /** Returns the share of pixels for which `test` of red, green and blue is true, in a part of the picture. */
  share(test, [x0, y0, x1, y1] = [0, 0, this.width, this.height]) {
    let count = 0;
    for (let y = y0; y < y1; y++) {
      for (let x = x0; x < x1; x++) {
        const at = 4 * (y * this.width + x);
        if (test(this.rgba[at], this.rgba[at + 1], this.rgba[at + 2])) count += 1;
      }
    }
    return count / ((x1 - x0) * (y1 - y0));
  }

  /** Whether the projected picture covers the pixel. */
  isLit(x, y) {
    const at = 4 * (Math.round(y) * this.width + Math.round(x));
    return Math.max(this.rgba[at], this.rgba[at + 1], this.rgba[at + 2]) > LIT;
  }

  /** Returns how far from `from` the projected picture begins on the way to `to`, in pixels; `null` if it does not begin there. */
  firstLit([x0, y0], [x1, y1]) {
    const length = Math.hypot(x1 - x0, y1 - y0);
    for (let along = 0; along <= length; along += 0.5) {
      const [x, y] = [x0 + ((x1 - x0) * along) / length, y0 + ((y1 - y0) * along) / length];
      if (this.isLit(x, y)) return along;
    }
    return null;
  }
}
