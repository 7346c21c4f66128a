// Topics that parts of the page watch: `status`, `events`, `documents`, `language`, `session` and more. `camera_frame` comes before each
// picture of the camera, with the lowest byte of the number of its frame.

/** @type {Map<string, Set<(data?: any) => void>>} */
const watchers = new Map();

/**
 * Calls `callback` whenever the topic changes. Returns a function that ends this.
 * @param {string} topic
 * @param {(data?: any) => void} callback
 * @returns {() => void}
 */
export function on(topic, callback) {
  const set = watchers.get(topic) ?? new Set();
  watchers.set(topic, set);
  set.add(callback);
  return () => set.delete(callback);
}

/** @param {string} topic @param {any} [data] */
export function emit(topic, data) {
  for (const callback of [...(watchers.get(topic) ?? [])]) callback(data);
}
