import { crc32, inflateRawSync } from 'node:zlib'

/** The files of a ZIP archive by name, located by its central directory, with verified checksums. */
export function unzipped(archive: Buffer): Map<string, Buffer> {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  const count = archive.readUInt16LE(end + 10)
  let place = archive.readUInt32LE(end + 16)
  const files = new Map<string, Buffer>()
  for (let n = 0; n < count; n++) {
    const [crc, compressed, bytes] = [16, 20, 24].map(offset => archive.readUInt32LE(place + offset))
    const [nameLength = 0, extraLength = 0] = [28, 30].map(offset => archive.readUInt16LE(place + offset))
    const local = archive.readUInt32LE(place + 42)
    const name = archive.toString('utf8', place + 46, place + 46 + nameLength)
    const begin = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const content = inflateRawSync(archive.subarray(begin, begin + (compressed ?? 0)))
    if (crc32(content) !== crc || content.length !== bytes) throw new Error(`${name} is not as listed`)
    files.set(name, content)
    place += 46 + nameLength + extraLength
  }
  return files
}
