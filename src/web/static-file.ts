import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { File } from '../kernel/contract/file.ts'

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

/** Nearly as small as at the highest level, in a twentieth of the time. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

export const versionOf = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 16)

/** A cacheable file, compressed once, off the event loop. */
export async function cachedFile(type: string, text: string, isImmutable = false): Promise<File> {
  const content = Buffer.from(text)
  const [br, gzip] = await Promise.all([toBrotli(content, BROTLI), toGzip(content)])
  return { type, content, cache: { version: versionOf(text), br, gzip, isImmutable } }
}

/** A cacheable file that is sent as it is: a picture, or what is too small to gain anything. */
export const uncompressedFile = (type: string, content: string | Buffer, isImmutable = false): File => ({
  type,
  content,
  cache: { version: versionOf(content), isImmutable },
})
