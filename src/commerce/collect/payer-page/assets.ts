import { readFileSync } from 'node:fs'
import type { File } from '../../../kernel/contract/file.ts'
import { baseStyle, pageIcon } from '../../../web/page-parts.ts'
import { cachedFile, versionOf } from '../../../web/static-file.ts'

/** A file of the page. Its name changes with its content, so a browser asks for it once. */
interface Asset {
  readonly name: string
  readonly type: string
  readonly content: string
}

function asset(extension: string, type: string, content: string): Asset {
  return { name: `pay-${versionOf(content)}.${extension}`, type, content }
}

const ownStyle = readFileSync(new URL('page.css', import.meta.url), 'utf8')

export const style = asset('css', 'text/css; charset=utf-8', `${baseStyle()}\n${ownStyle}`)
export const icon = asset('svg', 'image/svg+xml', pageIcon())

const files = new Map<string, Promise<File>>()

/** The file of this name, compressed at its first request. */
export async function assetFile(name: string): Promise<File | undefined> {
  const found = [style, icon].find(asset => asset.name === name)
  if (!found) return undefined
  const file = files.get(name) ?? cachedFile(found.type, found.content, true)
  files.set(name, file)
  return file
}
