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
