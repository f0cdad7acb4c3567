import { readFileSync } from 'node:fs'
import { assetFinder, pageAsset } from '../../../web/page-assets.ts'
import { baseStyle, pageIcon } from '../../../web/page-parts.ts'

const ownStyle = readFileSync(new URL('page.css', import.meta.url), 'utf8')

export const style = pageAsset('pay', 'css', `${baseStyle()}\n${ownStyle}`)
export const icon = pageAsset('pay', 'svg', pageIcon())

export const assetFile = assetFinder([style, icon])
