import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { ResponseFile } from '../kernel/contract/file.ts'

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

/** Compresses nearly as well as the highest level, in a twentieth of the time. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

export const contentVersion = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 16)

export async function cachedAssetFile(
  type: string,
  text: string,
  isImmutable = false,
): Promise<ResponseFile> {
  const content = Buffer.from(text)
  const [br, gzip] = await Promise.all([toBrotli(content, BROTLI), toGzip(content)])
  return { type, content, cache: { version: contentVersion(text), br, gzip, isImmutable } }
}

/** For pictures, and files too small to gain from compression. */
export const uncompressedAssetFile = (
  type: string,
  content: string | Buffer,
  isImmutable = false,
): ResponseFile => ({
  type,
  content,
  cache: { version: contentVersion(content), isImmutable },
})

/** A file whose name changes with its content, so that browsers cache it without asking again. */
export interface PageAsset {
  readonly name: string
  readonly type: string
  readonly content: string | Buffer
}

const types = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
} as const

export const pageAsset = (
  stem: string,
  extension: keyof typeof types,
  content: string | Buffer,
): PageAsset => ({
  name: `${stem}-${contentVersion(content)}.${extension}`,
  type: types[extension],
  content,
})

export function createAssetFinder(
  assets: readonly PageAsset[],
): (name: string) => Promise<ResponseFile> | undefined {
  const files = new Map<string, Promise<ResponseFile>>()
  return name => {
    const found = assets.find(asset => asset.name === name)
    if (!found) return undefined
    const { type, content } = found
    // A font is compressed as it comes.
    const file =
      files.get(name) ??
      (typeof content === 'string'
        ? cachedAssetFile(type, content, true)
        : Promise.resolve(uncompressedAssetFile(type, content, true)))
    files.set(name, file)
    return file
  }
}

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

export const baseStyle = (): string => read('styles/base.css')

/** For every page on which a person works: the palette, buttons, fields, boxes, states, and times. */
export const pageStyle = (): string =>
  ['base', 'controls', 'times'].map(name => read(`styles/${name}.css`)).join('\n')

export const refusalStyle = (): string => read('styles/refusal.css')

/**
 * Keeps clicks that come before the scripts of a page listen. The head of the page loads this script first,
 * without `defer`.
 */
export const earlyScript = (): string => read('scripts/early.js')

/** Calls operations, asks for passkeys, and shows times in the reader's zone. All other scripts of pages import it. */
export const pageScript = (): string => read('scripts/page.js')

export const pageIcon = (): string => read('icon.svg')
