import { readFileSync } from 'node:fs'
import type { Document } from '../openapi/types.ts'
import { Book } from './book.ts'
import { page } from './page.ts'

export interface DocsFile {
  readonly type: string
  readonly content: string
}

/** The style sheet in the order in which one rule may override another. */
const styles = [
  'base',
  'code',
  'parts',
  'members',
  'states',
  'tables',
  'page',
  'quickstart',
  'events',
  'bar',
  'contents',
  'narrow',
]

const asset = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The reference as files: the page under the empty name, and what it is made of. */
export function renderDocs(
  document: Document,
  { baseUrl }: { baseUrl?: string } = {},
): ReadonlyMap<string, DocsFile> {
  const { text } = page(new Book(document), baseUrl?.replace(/\/$/, ''))
  return new Map([
    ['', { type: 'text/html; charset=utf-8', content: text }],
    [
      'docs.css',
      {
        type: 'text/css; charset=utf-8',
        content: styles.map(name => asset(`styles/${name}.css`)).join('\n'),
      },
    ],
    ['docs.js', { type: 'text/javascript; charset=utf-8', content: asset('docs.js') }],
    ['docs.svg', { type: 'image/svg+xml', content: asset('docs.svg') }],
  ])
}
