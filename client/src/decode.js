// Bytes of a drawing back to a drawing; the format is that of taction/drawing/encode.py.

const KINDS = {
  f4: Float32Array, f8: Float64Array, u1: Uint8Array, i2: Int16Array, u4: Uint32Array, i4: Int32Array,
};

const GZIP = 0x1f; // first byte of what is compressed; odd, where that of frames is even

/** A drawing from compressed bytes, or at once frames from plain ones. Arrays become typed arrays with a `shape`. */
export function decode(bytes) {
  if (bytes[0] !== GZIP) return unpack(bytes.buffer);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer().then(unpack);
}

function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return resolve(head, buffer, 4 + length);
}

/** The bytes that stand in a page as base64. */
export function fromBase64(text) {
  const raw = atob(text.trim());
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

function resolve(value, buffer, start) {
  if (Array.isArray(value)) return value.map((item) => resolve(item, buffer, start));
  if (value === null || typeof value !== "object") return value;
  if (!("at" in value && "type" in value)) {
    return Object.fromEntries(Object.entries(value).map(([k, item]) => [k, resolve(item, buffer, start)]));
  }
  const size = value.shape.reduce((a, b) => a * b, 1);
  let array = new KINDS[value.type](buffer, start + value.at, size);
  if ("scale" in value) array = Float32Array.from(array, (x) => value.shift + value.scale * x);
  array.shape = value.shape;
  return array;
}
