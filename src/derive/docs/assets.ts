import { readFileSync } from 'node:fs'
import { baseStyle, contentVersion, pageIcon } from '../../web/page-assets.ts'

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
  'contents',
  'narrow',
]

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The script loads before the body and is not a module, so the scripts that it imports are inlined before it. */
const script = (): string =>
  read('ranking.js').replaceAll(/^export /gm, '') + read('docs.js').replace(/^import .+\n/m, '')

export function staticAsset(name: string, type: string, content: string | Buffer): StaticAsset {
  const [stem, extension] = name.split('.')
  return { type, content, address: `/docs/assets/${stem}-${contentVersion(content)}.${extension}` }
}

export interface DocsAssets {
  readonly style: StaticAsset
  readonly script: StaticAsset
  readonly icon: StaticAsset
  readonly index: StaticAsset
}

export const docsAssets = (index: unknown): DocsAssets => ({
  style: staticAsset(
    'docs.css',
    'text/css; charset=utf-8',
    [baseStyle(), ...styles.map(name => read(`styles/${name}.css`))].join('\n'),
  ),
  script: staticAsset('docs.js', 'text/javascript; charset=utf-8', script()),
  icon: staticAsset('docs.svg', 'image/svg+xml', pageIcon()),
  index: staticAsset('search.json', 'application/json; charset=utf-8', JSON.stringify(index)),
})
