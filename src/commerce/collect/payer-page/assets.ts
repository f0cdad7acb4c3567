import { readFileSync } from 'node:fs'
import { assetFinder, baseStyle, pageAsset, pageIcon } from '../../../web/page-assets.ts'

const ownStyle = readFileSync(new URL('page.css', import.meta.url), 'utf8')

export const style = pageAsset('pay', 'css', `${baseStyle()}\n${ownStyle}`)
export const icon = pageAsset('pay', 'svg', pageIcon())

export const assetFile = assetFinder([style, icon])
