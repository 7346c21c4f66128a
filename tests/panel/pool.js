// Starts the real program with a site of its own, for one test.

import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const PROGRAM = process.env.SHOAL_PROGRAM ?? join(HERE, "../../target/debug/shoal");
/** Longest wait for the program to start; it is built without optimisation. */
const START_MS = 60_000;

export const PASSWORD = "a pool of living fish";

const SITE = `# The pool of the browser test. This comment must survive every save.
scene = "pool"

[surface]
width_m = 4.0      # measured with a tape
height_m = 3.0

[camera]
source = "synthetic:1"

[[outputs]]
width_px = 640
height_px = 480
`;

/** A running program. */
export class Pool {
  /**
   * Starts the program on a display, or without a picture.
   * `more` is added to the site file.
   * @param {{ camera?: string, folder?: string, display?: string, listen?: string, more?: string }} [options]
   */
  static async start(options = {}) {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} does not exist: cargo build --bin shoal, or set SHOAL_PROGRAM`);
    const pool = new Pool();
    pool.folder = options.folder ?? mkdtempSync(join(tmpdir(), "shoal-panel-"));
    pool.site = join(pool.folder, "pool.toml");
    if (!existsSync(pool.site)) writeFileSync(pool.site, SITE + (options.more ?? ""));
    const camera = options.camera ? ["--camera", options.camera] : [];
    pool.state = join(pool.folder, "state");
    const state = pool.state;
    const env = { ...process.env, XDG_STATE_HOME: state, STATE_DIRECTORY: state, XDG_RUNTIME_DIR: pool.folder };
    if (options.display) env.DISPLAY = options.display;
    const picture = options.display ? [] : ["--headless"];
    const panel = ["--panel", options.listen ?? "127.0.0.1:0"];
    pool.process = spawn(PROGRAM, ["run", pool.site, ...picture, ...panel, ...camera], { stdio: ["ignore", "pipe", "pipe"], env });
    await pool.#listen();
    return pool;
  }

  /** Reads what the program prints until the panel's address is known. */
  #listen() {
    this.output = "";
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the program did not start:\n${this.output}`)), START_MS);
      const read = (chunk) => {
        this.output += chunk;
        this.url ??= /^panel: (\S+)/m.exec(this.output)?.[1];
        this.code = /^setup code: (\S+)/m.exec(this.output)?.[1] ?? this.code;
        if (this.url) {
          clearTimeout(timer);
          // The code is printed after the address.
          setTimeout(resolve, 300);
        }
      };
      this.process.stdout.on("data", read);
      this.process.stderr.on("data", read);
      this.process.on("exit", (code) => reject(new Error(`the program ended with ${code}:\n${this.output}`)));
    });
  }

  /** Ends the program, and removes its folder unless it is needed again. */
  async stop({ keep = false } = {}) {
    const ended = new Promise((resolve) => this.process.on("exit", resolve));
    this.process.kill("SIGTERM");
    const timer = setTimeout(() => this.process.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(timer);
    if (!keep) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Returns a port that nothing listens on. */
export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
