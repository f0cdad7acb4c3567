import { gzipSync } from 'node:zlib'

/** A file of a package: its name with `/`, and its content. */
export interface PackedFile {
  readonly name: string
  readonly content: Buffer
}

const BLOCK = 512

/** A `.tar.gz` (POSIX ustar) in which every file is of the same moment, so that the same files give the same archive. */
export function tarGz(files: readonly PackedFile[], at: Date): Buffer {
  const seconds = Math.floor(at.getTime() / 1_000)
  const blocks = files.flatMap(({ name, content }) => [
    header(name, content.length, seconds),
    content,
    Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK),
  ])
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]))
}

function header(name: string, size: number, seconds: number): Buffer {
  const block = Buffer.alloc(BLOCK)
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long for an archive.`)
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`
  block.write(name, 0)
  block.write(octal(0o644, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(size, 11), 124)
  block.write(octal(seconds, 11), 136)
  block.write('        ', 148)
  block.write('0', 156)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}
