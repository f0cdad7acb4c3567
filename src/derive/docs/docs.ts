import { readFileSync } from 'node:fs'
import type { Document } from '../openapi/types.ts'
import { Book } from './book.ts'
import { page } from './page.ts'

export interface DocsFile {
  readonly type: string
  readonly content: string
}

const asset = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The reference as files: the page under the empty name, and what it is made of. */
export function renderDocs(
  document: Document,
  { baseUrl = 'http://127.0.0.1:8080' }: { baseUrl?: string } = {},
): ReadonlyMap<string, DocsFile> {
  return new Map([
    [
      '',
      {
        type: 'text/html; charset=utf-8',
        content: page(new Book(document), baseUrl.replace(/\/$/, '')).text,
      },
    ],
    ['docs.css', { type: 'text/css; charset=utf-8', content: asset('./docs.css') }],
    ['docs.js', { type: 'text/javascript; charset=utf-8', content: asset('./docs.js') }],
    ['docs.svg', { type: 'image/svg+xml', content: asset('./docs.svg') }],
  ])
}
