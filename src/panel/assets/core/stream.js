// One WebSocket for the whole page. It reconnects by itself, with growing pauses. Where none is possible (a proxy, a firewall, a browser
// that refuses the certificate for it), the page asks for status and events over HTTP.
//
// Only news counts as a connection: a network that swallows everything and a program that stands still close no socket.

import { get, loadSession, session, setReachable } from "./api.js";
import { emit, on } from "./topics.js";

/** Pauses before the next attempts to connect. */
const PAUSES_MS = [300, 1000, 2000, 5000, 10_000];
/** Time after which a stream without a message is opened again. The status comes four times a second. */
const SILENT_MS = 6_000;
/** Age of the newest status from which there is no connection. */
const STALE_MS = 5_000;
/** Time without a message of the stream after which the page asks over HTTP. */
const ASK_AFTER_MS = 2_500;
/** Longest wait for such an answer. */
const ASK_WAIT_MS = 4_000;
/** Time after which the page says that it gets no live pictures: a start and a short loss need no text. */
const SAY_AFTER_MS = 8_000;
const TICK_MS = 500;

/** How often each topic is wanted. @type {Map<string, number>} */
const wanted = new Map();
/** @type {WebSocket | null} */
let socket = null;
let attempts = 0;
let newestEvent = 0;
let heardAt = 0;
/** When the newest socket was made. */
let openedAt = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let isWanted = false;

/** @typedef {"open" | "http" | "connecting" | "lost"} Connection */

/** State of the connection; `http`: only requests, no stream. @type {Connection} */
export let connection = "connecting";
/** When the newest status arrived that was not known yet. */
export let newsAt = 0;
/** Time at the pool of the newest status; it tells new from old. */
let uptime = -1;
/** Since when the stream brings nothing. */
let silentSince = 0;
/** Since when news comes, but not by the stream. */
let httpSince = 0;
/** Whether the newest socket has brought anything. */
let hasSpoken = false;
let isAsking = false;
/** Whether something may have been missed, such as a restart of Shoal. */
let hasGap = false;

/** @param {Connection} next */
function setConnection(next) {
  if (connection === next) return;
  connection = next;
  setReachable(next !== "lost");
  emit("connection");
}

on("status", (status) => {
  if (hasGap || status.uptime_secs < uptime) {
    hasGap = false;
    attempts = Math.min(attempts, 1);
    // The way is open again, so the stream need not wait.
    if (!socket) retry();
    // After a restart of Shoal the session has another secret, or is over.
    loadSession().catch(() => { hasGap = true; });
  }
  if (status.uptime_secs === uptime) return;
  uptime = status.uptime_secs;
  newsAt = Date.now();
});

/** Compares the age of the newest status with what a connection would bring. */
function judge() {
  if (!isWanted) return;
  const now = Date.now();
  const isStream = socket?.readyState === WebSocket.OPEN && now - heardAt < ASK_AFTER_MS;
  if (isStream) silentSince = 0;
  else if (silentSince === 0) silentSince = now;
  const isLost = now - newsAt > STALE_MS;
  // After a loss of everything, the stream needs some time to come back.
  if (isLost || isStream || uptime < 0) httpSince = 0;
  else if (httpSince === 0) httpSince = now;
  if (isLost) setConnection("lost");
  else if (isStream) setConnection("open");
  else if (httpSince > 0 && now - httpSince > SAY_AFTER_MS) setConnection("http");
  else if (connection === "lost") setConnection("connecting");
  if (!isStream && now - silentSince > 300 && session.user !== null) ask();
  const isStuck = socket?.readyState === WebSocket.CONNECTING && now - openedAt > SILENT_MS;
  if (isStuck || (socket?.readyState === WebSocket.OPEN && now - heardAt > SILENT_MS)) drop();
}

/** Asks for what the stream would bring. */
async function ask() {
  if (isAsking) return;
  isAsking = true;
  try {
    emit("status", await get("/status", ASK_WAIT_MS));
    const page = await get(`/events?after=${newestEvent > 0 ? newestEvent : "18446744073709551615"}`, ASK_WAIT_MS);
    newestEvent = page.newest;
    for (const event of page.events) emit("event", event);
  } catch {
    // The age of the newest status says it.
    hasGap = true;
  } finally {
    setTimeout(() => { isAsking = false; }, 2 * TICK_MS);
  }
}

/** Gives up a socket that brings nothing; its close may never be answered. */
function drop() {
  const old = socket;
  socket = null;
  hasGap ||= hasSpoken;
  old?.close();
  retry();
}

function retry() {
  if (!isWanted) return;
  const pause = PAUSES_MS[Math.min(attempts, PAUSES_MS.length - 1)];
  attempts += 1;
  clearTimeout(timer);
  timer = setTimeout(() => isWanted && session.user !== null && !socket && connect(), pause);
}

/** Connects, and stays connected while a user is logged in. */
export function openStream() {
  if (!isWanted) {
    newsAt = Date.now();
    uptime = -1;
    silentSince = 0;
    hasGap = false;
  }
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
  openedAt = Date.now();
  hasSpoken = false;
  next.onopen = () => {
    heardAt = Date.now();
    announce();
  };
  next.onmessage = (message) => {
    if (socket !== next) return;
    heardAt = Date.now();
    hasSpoken = true;
    attempts = 0;
    if (typeof message.data === "string") receive(JSON.parse(message.data));
    else receivePicture(message.data);
  };
  next.onclose = (event) => {
    if (socket !== next) return;
    socket = null;
    if (!isWanted) return;
    hasGap ||= hasSpoken;
    // 4401: the session ended. A refused stream does not say why.
    if (event.code === 4401 || attempts > 0) loadSession().catch(() => {});
    retry();
  };
}

/** @param {any} message */
function receive(message) {
  if (message.type === "event") {
    newestEvent = message.event.number;
    emit("event", message.event);
  } else if (message.type === "status") emit("status", message.status);
  else if (message.type === "agents") emit("agents", message);
  else if (message.type === "mind") emit(`mind/${message.id}`, message);
  else if (message.type === "tracks") emit("tracks", message);
  else if (message.type === "outlines") emit("outlines", message);
}

// Another run of the program counts its events from one again.
on("restarted", () => { newestEvent = 0; });

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

setInterval(judge, TICK_MS);
