// A camera in the network: the program that reads its stream. Shoal accepts this program, word for word, from every administrator.

/**
 * Returns the source of a camera in the network: a program that reads its stream as gray pictures.
 * @param {string} address @param {{ user: string, password: string }} login
 */
export function networkSource(address, { user, password }) {
  const names = user === "" ? "" : `${encodeQuoted(user)}:${encodeQuoted(password)}@`;
  const whole = names === "" ? address : address.replace(/^(rtsps?:\/\/)([^@/]*@)?/i, `$1${names}`);
  return `command:ffmpeg -nostdin -loglevel error -rtsp_transport tcp -i '${whole}' -an -vf scale=640:-2,format=gray -strict -1 -f yuv4mpegpipe -`;
}

/** Encodes a part of an address; also the quotation mark, which would end the word of the command. @param {string} text */
function encodeQuoted(text) {
  return encodeURIComponent(text).replaceAll("'", "%27");
}

/** Returns the source without the password of an address in it. @param {string} source */
export function withoutPassword(source) {
  return source.replace(/(:\/\/[^:@/\s]+:)[^@\s]*@/g, "$1•••@");
}
