import { readFileSync } from 'node:fs'
import { baseStyle, pageIcon, versionOf } from '../../web/page-assets.ts'

export interface Asset {
  readonly type: string
  readonly content: string | Buffer
  /** With the version of its content in the name. */
  readonly address: string
}

/** The style sheet in the order in which one rule may override another, after what every page has. */
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

/** Loaded before the body, it is no module: what it imports stands before it. */
const script = (): string =>
  read('ranking.js').replaceAll(/^export /gm, '') + read('docs.js').replace(/^import .+\n/m, '')

export function asset(name: string, type: string, content: string | Buffer): Asset {
  const [stem, extension] = name.split('.')
  return { type, content, address: `/docs/assets/${stem}-${versionOf(content)}.${extension}` }
}

/** The style sheet, script and icon of every page. */
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
