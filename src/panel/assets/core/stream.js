// One WebSocket for the whole page. It reconnects by itself, with growing pauses.

import { loadSession, session } from "./api.js";
import { emit } from "./topics.js";

/** Pauses before the next attempts to connect. */
const PAUSES_MS = [300, 1000, 2000, 5000, 10_000];
/** Time after which a stream without a message counts as lost: the status comes every second. */
const SILENT_MS = 12_000;

/** How often each topic is wanted. @type {Map<string, number>} */
const wanted = new Map();
/** @type {WebSocket | null} */
let socket = null;
let attempts = 0;
let newestEvent = 0;
let heardAt = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let isWanted = false;

/** State of the connection. @type {"open" | "connecting" | "lost"} */
export let connection = "connecting";

/** @param {"open" | "connecting" | "lost"} next */
function setConnection(next) {
  if (connection === next) return;
  connection = next;
  emit("connection");
}

/** Connects, and stays connected while a user is logged in. */
export function openStream() {
  isWanted = true;
  if (!socket) connect();
}

export function closeStream() {
  isWanted = false;
  clearTimeout(timer);
  socket?.close();
  socket = null;
  newestEvent = 0;
}

/**
 * Receives the topics as long as somebody needs them. Returns a function that ends this.
 * @param {...string} topics
 * @returns {() => void}
 */
export function subscribe(...topics) {
  for (const topic of topics) wanted.set(topic, (wanted.get(topic) ?? 0) + 1);
  announce();
  return () => {
    for (const topic of topics) {
      const left = (wanted.get(topic) ?? 1) - 1;
      if (left > 0) wanted.set(topic, left);
      else wanted.delete(topic);
    }
    announce();
  };
}

function announce() {
  if (socket?.readyState !== WebSocket.OPEN) return;
  const after = newestEvent > 0 ? { after: newestEvent } : {};
  socket.send(JSON.stringify({ subscribe: [...wanted.keys()], ...after }));
}

function connect() {
  clearTimeout(timer);
  const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/v1/stream`;
  const next = new WebSocket(address);
  next.binaryType = "arraybuffer";
  socket = next;
  next.onopen = () => {
    heardAt = Date.now();
    announce();
  };
  next.onmessage = (message) => {
    if (socket !== next) return;
    heardAt = Date.now();
    attempts = 0;
    setConnection("open");
    if (typeof message.data === "string") receive(JSON.parse(message.data));
    else receivePicture(message.data);
  };
  next.onclose = (event) => {
    if (socket !== next) return;
    socket = null;
    if (!isWanted) return;
    setConnection(attempts > 0 ? "lost" : "connecting");
    // 4401: the session ended. Any other end may be a restart of Shoal, after which the session is another one too.
    if (event.code === 4401 || attempts > 0) loadSession().catch(() => {});
    const pause = PAUSES_MS[Math.min(attempts, PAUSES_MS.length - 1)];
    attempts += 1;
    timer = setTimeout(() => isWanted && session.user !== null && connect(), pause);
  };
}

/** @param {any} message */
function receive(message) {
  if (message.type === "event") {
    newestEvent = Math.max(newestEvent, message.event.number);
    emit("event", message.event);
  } else if (message.type === "status") emit("status", message.status);
  else if (message.type === "agents") emit("agents", message);
  else if (message.type === "tracks") emit("tracks", message);
  else if (message.type === "outlines") emit("outlines", message);
}

/** @param {ArrayBuffer} data */
function receivePicture(data) {
  const head = new Uint8Array(data, 0, 4);
  const blob = new Blob([new Uint8Array(data, 4)], { type: "image/jpeg" });
  if (head[0] === 1) {
    emit("camera_frame", head[3]);
    emit("camera", blob);
  } else if (head[0] === 3) emit("mask", blob);
  else emit(`output/${head[1]}`, blob);
}

setInterval(() => {
  if (socket?.readyState === WebSocket.OPEN && Date.now() - heardAt > SILENT_MS) socket.close();
}, 2000);
