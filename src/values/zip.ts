import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { crc32, createDeflateRaw } from 'node:zlib'

/** Text is written as UTF-8. */
type Content = AsyncIterable<string | Uint8Array>

/** One file of an archive. Its content must be smaller than 4 GiB. */
export interface ZipEntry {
  readonly name: string
  readonly content: Content
  onWritten?(file: { readonly bytes: number; readonly sha256: string }): void
}

interface Written {
  readonly name: Buffer
  readonly offset: number
  readonly crc: number
  readonly bytes: number
  readonly compressed: number
}

const LARGEST_32 = 0xffffffff
const LARGEST_16 = 0xffff
/** Names are UTF-8. Sizes and checksum follow the content, as they are unknown before. */
const FLAGS = 0x0808
const DEFLATED = 8

/**
 * A ZIP file (APPNOTE 6.3.10) that is created while it is sent, so only some pieces of each file are in
 * memory. ZIP64 records at the end cover offsets beyond 4 GiB and more than 65,535 files.
 */
export async function* zipStream(entries: AsyncIterable<ZipEntry>, at: Date): AsyncGenerator<Uint8Array> {
  const written: Written[] = []
  const time = dosTime(at)
  let offset = 0
  for await (const entry of entries) {
    const begin = offset
    const name = Buffer.from(entry.name)
    const file = { crc: 0, bytes: 0, compressed: 0, hash: createHash('sha256') }
    const head = localHeader(name, time)
    yield head
    for await (const piece of deflated(measured(entry.content, file))) {
      file.compressed += piece.length
      yield piece
    }
    const tail = descriptor(file)
    yield tail
    offset += head.length + file.compressed + tail.length
    written.push({ name, offset: begin, crc: file.crc, bytes: file.bytes, compressed: file.compressed })
    entry.onWritten?.({ bytes: file.bytes, sha256: file.hash.digest('hex') })
  }
  yield* directory(written, offset, time)
}

interface Measure {
  crc: number
  bytes: number
  readonly hash: ReturnType<typeof createHash>
}

async function* measured(content: Content, file: Measure): AsyncGenerator<Uint8Array> {
  for await (const part of content) {
    const piece = typeof part === 'string' ? Buffer.from(part) : part
    file.crc = crc32(piece, file.crc)
    file.bytes += piece.length
    if (file.bytes > LARGEST_32) throw new Error('a file of an archive has more than 4 GiB')
    file.hash.update(piece)
    yield piece
  }
}

/** Compression runs in Node's thread pool. Backpressure of the reader stops it. */
async function* deflated(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const source = Readable.from(content)
  const deflate = createDeflateRaw()
  source.once('error', error => deflate.destroy(error))
  try {
    yield* source.pipe(deflate)
  } finally {
    source.destroy()
    deflate.destroy()
  }
}

function dosTime(at: Date): number {
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  return date * 0x10000 + time
}

function numbers(...fields: readonly (readonly [bytes: 2 | 4 | 8, value: number])[]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0))
  let place = 0
  for (const [bytes, value] of fields) {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value), place)
    else buffer.writeUIntLE(value, place, bytes)
    place += bytes
  }
  return buffer
}

const localHeader = (name: Buffer, time: number): Buffer =>
  Buffer.concat([
    numbers([4, 0x04034b50], [2, 20], [2, FLAGS], [2, DEFLATED], [4, time]),
    numbers([4, 0], [4, 0], [4, 0], [2, name.length], [2, 0]),
    name,
  ])

const descriptor = ({ crc, compressed, bytes }: Pick<Written, 'crc' | 'compressed' | 'bytes'>): Buffer =>
  numbers([4, 0x08074b50], [4, crc], [4, compressed], [4, bytes])

function* directory(written: readonly Written[], start: number, time: number): Generator<Buffer> {
  let size = 0
  for (const file of written) {
    const line = directoryLine(file, time)
    size += line.length
    yield line
  }
  yield endOf({ count: written.length, size, start })
}

function directoryLine({ name, offset, crc, bytes, compressed }: Written, time: number): Buffer {
  const isFar = offset >= LARGEST_32
  const extra = isFar ? numbers([2, 1], [2, 8], [8, offset]) : Buffer.alloc(0)
  return Buffer.concat([
    numbers([4, 0x02014b50], [2, 45], [2, isFar ? 45 : 20], [2, FLAGS], [2, DEFLATED], [4, time]),
    numbers([4, crc], [4, compressed], [4, bytes], [2, name.length], [2, extra.length]),
    numbers([2, 0], [2, 0], [2, 0], [4, 0], [4, isFar ? LARGEST_32 : offset]),
    name,
    extra,
  ])
}

interface Directory {
  readonly count: number
  readonly size: number
  readonly start: number
}

function endOf({ count, size, start }: Directory): Buffer {
  const isLarge = count >= LARGEST_16 || size >= LARGEST_32 || start >= LARGEST_32
  const shortCount = Math.min(count, LARGEST_16)
  const end = numbers(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, shortCount],
    [2, shortCount],
    [4, Math.min(size, LARGEST_32)],
    [4, Math.min(start, LARGEST_32)],
    [2, 0],
  )
  if (!isLarge) return end
  const record = numbers([4, 0x06064b50], [8, 44], [2, 45], [2, 45], [4, 0], [4, 0], [8, count], [8, count])
  const place = numbers([8, size], [8, start])
  const locator = numbers([4, 0x07064b50], [4, 0], [8, start + size], [4, 1])
  return Buffer.concat([record, place, locator, end])
}
