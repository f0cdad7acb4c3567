import { readFileSync } from 'node:fs'
import { baseStyle, contentVersion, pageIcon } from '../../web/page-assets.ts'
import type { SearchDocument } from './search.js'

export interface StaticAsset {
  readonly type: string
  readonly content: string | Buffer
  readonly address: string
}

/** In the order in which rules may override each other, after the rules that every page has. */
const styles = [
  'code',
  'parts',
  'members',
  'states',
  'tables',
  'page',
  'overview',
  'quickstart',
  'manual',
  'events',
  'bar',
  'search',
  'contents',
  'narrow',
]

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The search and its library, as one module that the script imports when a reader searches. */
function searchModule(): string {
  const library = readFileSync(new URL(import.meta.resolve('minisearch')), 'utf8')
  return [
    library.replace(/^export \{ MiniSearch as default \};$/m, '').replace(/^\/\/# sourceMappingURL.*$/m, ''),
    read('search.js').replace(/^import .+$/m, ''),
  ].join('\n')
}

export function staticAsset(name: string, type: string, content: string | Buffer): StaticAsset {
  const [stem, extension] = name.split('.')
  return { type, content, address: `/docs/assets/${stem}-${contentVersion(content)}.${extension}` }
}

export interface DocsAssets {
  readonly style: StaticAsset
  readonly script: StaticAsset
  readonly icon: StaticAsset
  readonly search: StaticAsset
  readonly documents: StaticAsset
}

export const docsAssets = (documents: readonly SearchDocument[]): DocsAssets => ({
  style: staticAsset(
    'docs.css',
    'text/css; charset=utf-8',
    [baseStyle(), ...styles.map(name => read(`styles/${name}.css`))].join('\n'),
  ),
  script: staticAsset('docs.js', 'text/javascript; charset=utf-8', read('docs.js')),
  icon: staticAsset('docs.svg', 'image/svg+xml', pageIcon()),
  search: staticAsset('search.js', 'text/javascript; charset=utf-8', searchModule()),
  documents: staticAsset('search.json', 'application/json; charset=utf-8', JSON.stringify(documents)),
})
