import { readFileSync } from 'node:fs'
import { assetFinder, pageAsset } from '../../web/page-assets.ts'
import { baseStyle, pageIcon, timeStyle } from '../../web/page-parts.ts'
import { plainStyle } from '../../web/refusal-page.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

const sheets = ['frame', 'parts', 'forms', 'decide', 'money', 'charts', 'scripts', 'touch']

export const style = pageAsset(
  'console',
  'css',
  [baseStyle(), timeStyle(), ...sheets.map(name => read(`styles/${name}.css`))].join('\n'),
)
export const icon = pageAsset('console', 'svg', pageIcon())

/** The style of refusals is served from here: those who refuse have no operation of their own. */
export const assetFile = assetFinder([style, icon, plainStyle])
