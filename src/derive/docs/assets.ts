import { readFileSync } from 'node:fs'
import { baseStyle, contentVersion, pageIcon } from '../../web/page-assets.ts'

export interface StaticAsset {
  readonly type: string
  readonly content: string | Buffer
  readonly address: string
}

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

export function staticAsset(name: string, type: string, content: string | Buffer): StaticAsset {
  const [stem, extension] = name.split('.')
  return { type, content, address: `/docs/assets/${stem}-${contentVersion(content)}.${extension}` }
}

export interface DocsAssets {
  readonly style: StaticAsset
  readonly script: StaticAsset
  readonly icon: StaticAsset
}

export const docsAssets = (): DocsAssets => ({
  style: staticAsset(
    'docs.css',
    'text/css; charset=utf-8',
    [baseStyle(), ...['page', 'code', 'frame', 'narrow'].map(name => read(`styles/${name}.css`))].join('\n'),
  ),
  script: staticAsset('docs.js', 'text/javascript; charset=utf-8', read('docs.js')),
  icon: staticAsset('docs.svg', 'image/svg+xml', pageIcon()),
})
