/** Writes the subset of CBOR (RFC 8949) that authenticators need: whole numbers, texts, bytes and maps. */
export function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map)
    return Buffer.concat([
      head(5, value.size),
      ...[...value].flatMap(([key, member]) => [cbor(key), cbor(member)]),
    ])
  throw new TypeError(`CBOR of ${typeof value}`)
}

function head(kind: number, length: number): Buffer {
  const bytes = length < 24 ? 0 : length < 0x100 ? 1 : length < 0x10000 ? 2 : 4
  const first = (kind << 5) | (bytes === 0 ? length : ([0, 24, 25, 0, 26][bytes] as number))
  const rest = Buffer.alloc(bytes)
  if (bytes > 0) rest.writeUIntBE(length, 0, bytes)
  return Buffer.concat([Buffer.from([first]), rest])
}
