// What differs between two texts, line by line.

/** @typedef {{ kind: "same" | "added" | "removed", text: string }} Line */

/** Largest number of lines of a text that are compared; the time grows with its square. */
const LINES_MAX = 2000;

/**
 * Returns the lines of both texts, each marked as equal, added or removed. Removed lines stand before added ones.
 * @param {string} before
 * @param {string} after
 * @returns {Line[]}
 */
export function lineDiff(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  // Equal lines at both ends need no search.
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  /** @type {(kind: Line["kind"]) => (text: string) => Line} */
  const as = (kind) => (text) => ({ kind, text });
  const middle = Math.max(x.length, y.length) > LINES_MAX ? [...x.map(as("removed")), ...y.map(as("added"))] : longestCommon(x, y);
  return [...a.slice(0, head).map(as("same")), ...middle, ...a.slice(a.length - tail).map(as("same"))];
}

/** @param {string[]} a @param {string[]} b @returns {Line[]} */
function longestCommon(a, b) {
  // length[i][j]: number of common lines of the ends that begin at i and j.
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  }
  /** @type {Line[]} */
  const lines = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i] });
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || length[i + 1][j] >= length[i][j + 1])) lines.push({ kind: "removed", text: a[i++] });
    else lines.push({ kind: "added", text: b[j++] });
  }
  return lines;
}
