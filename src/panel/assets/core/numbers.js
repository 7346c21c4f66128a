// Reads numbers as people type them: with a decimal point or a decimal comma, and with the minus of a keyboard or of a text.

/** Returns the number, or `NaN` if the text is none. @param {string} text */
export function parseNumber(text) {
  const plain = text.trim().replace(/[\u2212\u2013]/, "-");
  // A point and a comma together would be a thousands separator, which nobody needs here and which can be read in two ways.
  if (!/^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i.test(plain)) return Number.NaN;
  return Number(plain.replace(",", "."));
}
