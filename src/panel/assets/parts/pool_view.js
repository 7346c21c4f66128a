// The pool from above: every fish, every visitor. A tap chooses the nearest fish.

import { t } from "../core/i18n.js";
import { subscribe } from "../core/stream.js";
import { on } from "../core/topics.js";

/** @typedef {{ id: number, species: string, position_m: number[], velocity_mps: number[], radius_m: number, need: string, actions: string[], boost: number, has_other_mind?: boolean, forces?: Record<string, number[]> }} Agent */
/** @typedef {{ id: number, foot_m: number[], contour_m?: number[][] }} Shadow */

/** Colours of the species, told apart also with colour blindness (Okabe and Ito 2008). */
const COLOURS = ["#e69f00", "#56b4e9", "#f0e442", "#00c49a", "#ff8a5c", "#d79bd0", "#b8c4c8", "#8fb3ff"];
/** A tap this far from a fish, in screen pixels, still chooses it. */
const TAP_PX = 32;

export class PoolView extends HTMLElement {
  /** Width and height of the surface. */
  #size = [4, 3];
  /** @type {Agent[]} */
  agents = [];
  /** @type {Shadow[]} */
  #shadows = [];
  /** @type {number | null} */
  #chosen = null;
  /** Neighbours that count for the chosen fish. @type {number[]} */
  #neighbors = [];
  /** @type {(() => void)[]} */
  #stops = [];
  #canvas = document.createElement("canvas");
  /** @type {string[]} */
  #species = [];

  connectedCallback() {
    this.append(this.#canvas);
    this.#canvas.setAttribute("role", "img");
    this.#canvas.setAttribute("aria-label", t("live.pool_alt"));
    this.#canvas.addEventListener("pointerdown", (event) => this.#tap(event));
    const observer = new ResizeObserver(() => this.#draw());
    observer.observe(this);
    this.#stops = [() => observer.disconnect(), subscribe("agents", "tracks"),
      on("agents", (message) => this.#take(message.agents, message.shadows)),
      on("tracks", (message) => { if (message.shadows) this.#shadows = message.shadows; })];
  }

  disconnectedCallback() {
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** @param {number[]} size */
  set size(size) {
    this.#size = size;
    this.#draw();
  }

  /** Id of the chosen fish. @param {{ id: number | null }} chosen */
  set chosen(chosen) {
    this.#chosen = chosen.id;
    this.#draw();
  }

  /** Ids of the fish that count for the chosen one. @param {{ ids: number[] }} neighbors */
  set neighbors(neighbors) {
    this.#neighbors = neighbors.ids;
  }

  /** @param {Agent[]} agents @param {Shadow[] | undefined} shadows */
  #take(agents, shadows) {
    this.agents = agents;
    if (shadows) this.#shadows = shadows;
    for (const agent of agents) if (!this.#species.includes(agent.species)) this.#species.push(agent.species);
    this.#draw();
    this.dispatchEvent(new CustomEvent("agents"));
  }

  /** @param {string} species */
  colourOf(species) {
    const index = [...this.#species].sort().indexOf(species);
    return COLOURS[Math.max(0, index) % COLOURS.length];
  }

  /** Scale and middle, in pixels of the canvas. */
  #view() {
    const [width, height] = this.#size;
    const scale = Math.min(this.#canvas.width / (width * 1.06), this.#canvas.height / (height * 1.06));
    return { scale, x: this.#canvas.width / 2, y: this.#canvas.height / 2 };
  }

  #draw() {
    const ratio = Math.min(2, devicePixelRatio);
    const width = Math.round(this.clientWidth * ratio);
    if (width === 0) return;
    const height = Math.round(width * Math.min(1, (this.#size[1] / this.#size[0])));
    if (this.#canvas.width !== width || this.#canvas.height !== height) {
      this.#canvas.width = width;
      this.#canvas.height = height;
    }
    const pen = this.#canvas.getContext("2d");
    if (!pen) return;
    const view = this.#view();
    pen.fillStyle = "#071418";
    pen.fillRect(0, 0, width, height);
    pen.fillStyle = "#0e3d49";
    const [w, h] = this.#size;
    pen.fillRect(view.x - (w / 2) * view.scale, view.y - (h / 2) * view.scale, w * view.scale, h * view.scale);
    this.#drawShadows(pen, view);
    const chosen = this.agents.find((agent) => agent.id === this.#chosen);
    if (chosen) this.#drawNeighbors(pen, view, chosen);
    for (const agent of this.agents) this.#drawFish(pen, view, agent);
    if (chosen) this.#drawForces(pen, view, chosen);
  }

  /** @param {CanvasRenderingContext2D} pen @param {{ scale: number, x: number, y: number }} view */
  #drawShadows(pen, view) {
    pen.font = `600 ${Math.max(12, view.scale * 0.14)}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const shadow of this.#shadows) {
      const outline = shadow.contour_m ?? [];
      pen.fillStyle = "rgb(0 0 0 / 55%)";
      pen.strokeStyle = "#ffffff";
      pen.lineWidth = 2;
      pen.beginPath();
      if (outline.length > 2) outline.forEach(([x, z]) => pen.lineTo(view.x + x * view.scale, view.y + z * view.scale));
      else pen.arc(view.x + shadow.foot_m[0] * view.scale, view.y + shadow.foot_m[1] * view.scale, 0.2 * view.scale, 0, 7);
      pen.closePath();
      pen.fill();
      pen.stroke();
      pen.fillStyle = "#ffffff";
      pen.fillText(String(shadow.id), view.x + shadow.foot_m[0] * view.scale, view.y + shadow.foot_m[1] * view.scale);
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {{ scale: number, x: number, y: number }} view @param {Agent} agent */
  #drawFish(pen, view, agent) {
    const [x, , z] = agent.position_m;
    const [vx, , vz] = agent.velocity_mps;
    const length = Math.max(7, agent.radius_m * 2.6 * view.scale);
    pen.save();
    pen.translate(view.x + x * view.scale, view.y + z * view.scale);
    pen.rotate(Math.atan2(vz, vx));
    pen.fillStyle = this.colourOf(agent.species);
    pen.beginPath();
    pen.moveTo(length, 0);
    pen.quadraticCurveTo(0, length * 0.55, -length * 0.7, 0);
    pen.lineTo(-length * 1.15, length * 0.4);
    pen.lineTo(-length * 1.15, -length * 0.4);
    pen.lineTo(-length * 0.7, 0);
    pen.quadraticCurveTo(0, -length * 0.55, length, 0);
    pen.fill();
    if (agent.id === this.#chosen) {
      pen.strokeStyle = "#ffffff";
      pen.lineWidth = 3;
      pen.beginPath();
      pen.arc(0, 0, length * 1.7, 0, 7);
      pen.stroke();
    }
    pen.restore();
  }

  /** Draws a line to each neighbour that counts. @param {CanvasRenderingContext2D} pen @param {{ scale: number, x: number, y: number }} view @param {Agent} agent */
  #drawNeighbors(pen, view, agent) {
    pen.strokeStyle = "#4df273";
    pen.lineWidth = 1.5;
    for (const other of this.agents) {
      if (!this.#neighbors.includes(other.id)) continue;
      pen.beginPath();
      pen.moveTo(view.x + agent.position_m[0] * view.scale, view.y + agent.position_m[2] * view.scale);
      pen.lineTo(view.x + other.position_m[0] * view.scale, view.y + other.position_m[2] * view.scale);
      pen.stroke();
    }
  }

  /** Draws the steering forces of the chosen fish as arrows. @param {CanvasRenderingContext2D} pen @param {{ scale: number, x: number, y: number }} view @param {Agent} agent */
  #drawForces(pen, view, agent) {
    const [x, y] = [view.x + agent.position_m[0] * view.scale, view.y + agent.position_m[2] * view.scale];
    const forces = Object.entries(agent.forces ?? {});
    const most = Math.max(...forces.map(([, [fx, , fz]]) => Math.hypot(fx, fz)), 1e-6);
    pen.font = `600 ${Math.round(12 * Math.min(2, devicePixelRatio))}px system-ui, sans-serif`;
    pen.textBaseline = "middle";
    pen.strokeStyle = "#ffd27a";
    pen.lineWidth = 3;
    for (const [name, [fx, , fz]] of forces) {
      // The strongest force is as long as half a meter.
      const [dx, dy] = [(fx / most) * 0.5 * view.scale, (fz / most) * 0.5 * view.scale];
      const angle = Math.atan2(dy, dx);
      if (Math.hypot(dx, dy) < 4) continue;
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(x + dx, y + dy);
      for (const side of [-2.6, 2.6]) {
        pen.moveTo(x + dx, y + dy);
        pen.lineTo(x + dx + 10 * Math.cos(angle + side), y + dy + 10 * Math.sin(angle + side));
      }
      pen.stroke();
      pen.fillStyle = "#ffd27a";
      // The name lies beyond the tip, but within the picture.
      const width = pen.measureText(name).width;
      const left = dx < 0 ? x + dx - 8 - width : x + dx + 8;
      pen.textAlign = "left";
      pen.fillText(name, Math.max(4, Math.min(this.#canvas.width - width - 4, left)), y + dy);
    }
  }

  /** @param {PointerEvent} event */
  #tap(event) {
    const box = this.#canvas.getBoundingClientRect();
    const ratio = this.#canvas.width / box.width;
    const [x, y] = [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
    const view = this.#view();
    let best = null;
    let bestPx = TAP_PX * ratio;
    for (const agent of this.agents) {
      const distance = Math.hypot(view.x + agent.position_m[0] * view.scale - x, view.y + agent.position_m[2] * view.scale - y);
      if (distance < bestPx) [best, bestPx] = [agent, distance];
    }
    this.dispatchEvent(new CustomEvent("choose", { detail: { id: best?.id ?? null, at: [(x - view.x) / view.scale, (y - view.y) / view.scale] } }));
  }
}

customElements.define("shoal-pool", PoolView);
