import { readFileSync } from 'node:fs'
import { assetFinder, pageAsset } from '../../web/page-assets.ts'
import { baseStyle, pageIcon } from '../../web/page-parts.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

const sheets = ['frame', 'parts', 'forms']

export const style = pageAsset(
  'console',
  'css',
  [baseStyle(), ...sheets.map(name => read(`styles/${name}.css`))].join('\n'),
)
export const icon = pageAsset('console', 'svg', pageIcon())

export const assetFile = assetFinder([style, icon])
