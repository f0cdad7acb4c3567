import { readFileSync } from 'node:fs'
import type { File } from '../kernel/contract/file.ts'
import { cachedFile, versionOf } from './static-file.ts'

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
