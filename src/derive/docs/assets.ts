import { readFileSync } from 'node:fs'
import { baseStyle, pageIcon, versionOf } from '../../web/page-assets.ts'

export interface Asset {
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

export function asset(name: string, type: string, content: string | Buffer): Asset {
  const [stem, extension] = name.split('.')
  return { type, content, address: `/docs/assets/${stem}-${versionOf(content)}.${extension}` }
}

export interface Assets {
  readonly style: Asset
  readonly script: Asset
  readonly icon: Asset
  readonly index: Asset
}

export const assetsWith = (index: unknown): Assets => ({
  style: asset(
    'docs.css',
    'text/css; charset=utf-8',
    [baseStyle(), ...styles.map(name => read(`styles/${name}.css`))].join('\n'),
  ),
  script: asset('docs.js', 'text/javascript; charset=utf-8', script()),
  icon: asset('docs.svg', 'image/svg+xml', pageIcon()),
  index: asset('search.json', 'application/json; charset=utf-8', JSON.stringify(index)),
})
