import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
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

/** A file that pages are made of. Its name changes with its content, so a browser asks for it once. */
export interface PageAsset {
  readonly name: string
  readonly type: string
  readonly content: string
}

const types = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
} as const

export const pageAsset = (stem: string, extension: keyof typeof types, content: string): PageAsset => ({
  name: `${stem}-${versionOf(content)}.${extension}`,
  type: types[extension],
  content,
})

/** Finds the file of a name, compressed at its first request. */
export function assetFinder(assets: readonly PageAsset[]): (name: string) => Promise<File> | undefined {
  const files = new Map<string, Promise<File>>()
  return name => {
    const found = assets.find(asset => asset.name === name)
    if (!found) return undefined
    const file = files.get(name) ?? cachedFile(found.type, found.content, true)
    files.set(name, file)
    return file
  }
}

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The palette, light and dark, and the plain elements: the style sheet of every page begins with it. */
export const baseStyle = (): string => read('styles/base.css')

/** How pages show UTC beside an instant: those whose script puts it into the zone of the reader. */
export const timeStyle = (): string => read('styles/times.css')

/** What a page adds that is shown where nothing else can be. */
export const refusalStyle = (): string => read('styles/refusal.css')

/** What keeps what is pressed before the scripts of a page listen: the head of a page loads it before them, and at once. */
export const earlyScript = (): string => read('scripts/early.js')

export const pageIcon = (): string => read('icon.svg')
