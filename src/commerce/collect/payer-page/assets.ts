import { readFileSync } from 'node:fs'
import { baseStyle, pageIcon } from '../../../web/page-parts.ts'
import { versionOf } from '../../../web/static-file.ts'

/** A file of the page. Its name changes with its content, so a browser asks for it once. */
export interface Asset {
  readonly name: string
  readonly type: string
  readonly content: string
}

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

function asset(stem: string, extension: string, type: string, content: string): Asset {
  return { name: `${stem}-${versionOf(content)}.${extension}`, type, content }
}

export const style = asset('pay', 'css', 'text/css; charset=utf-8', `${baseStyle()}\n${read('page.css')}`)
export const icon = asset('pay', 'svg', 'image/svg+xml', pageIcon())
export const assets: readonly Asset[] = [style, icon]
