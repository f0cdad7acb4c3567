import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  createAssetFinder,
  earlyScript,
  type PageAsset,
  pageAsset,
  pageIcon,
  pageScript,
  pageStyle,
} from '../../web/page-assets.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

function webauthnBundle(): string {
  const main = createRequire(import.meta.url).resolve('@simplewebauthn/browser')
  return readFileSync(new URL('../dist/bundle/index.umd.min.js', `file://${main}`), 'utf8')
}

export const consolePagesStyle = pageAsset('console', 'css', `${pageStyle()}\n${read('page.css')}`)
export const consolePagesIcon = pageAsset('console', 'svg', pageIcon())
export const webauthnScript = pageAsset('webauthn', 'js', webauthnBundle())

/** Loads first in the head, so that clicks before the other scripts are kept. */
export const firstScript = pageAsset('early', 'js', earlyScript())

export const sharedPageScript = pageAsset(
  'page',
  'js',
  pageScript().replace('./webauthn.js', `./${webauthnScript.name}`),
)

const script = (name: string): PageAsset =>
  pageAsset(name, 'js', read(`scripts/${name}.js`).replace('./page.js', `./${sharedPageScript.name}`))

export const consolePageScripts = {
  login: script('login'),
  callback: script('callback'),
  join: script('join'),
  approve: script('approve'),
  waiting: script('waiting'),
  pairing: script('pairing'),
  device: script('device'),
  authorize: script('authorize'),
  elsewhere: script('elsewhere'),
}

export const consolePageAsset = createAssetFinder([
  consolePagesStyle,
  consolePagesIcon,
  webauthnScript,
  firstScript,
  sharedPageScript,
  ...Object.values(consolePageScripts),
])
