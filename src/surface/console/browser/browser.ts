import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { area } from '../../../kernel/contract/area.ts'
import { bindHandlers } from '../../../kernel/contract/operation.ts'
import { type Html, html } from '../../../web/html.ts'
import { createAssetFinder, type PageAsset, pageAsset } from '../../../web/page-assets.ts'
import { consolePagesIcon, sharedScript } from '../../console-pages/index.ts'
import type { PageRequest } from '../page.ts'
import { consoleBrowserApi } from './api.ts'

const folder = new URL('../scripts/', import.meta.url)

const sources = new Map(
  readdirSync(folder)
    .filter(name => name.endsWith('.js'))
    .map(name => [name.slice(0, -3), readFileSync(new URL(name, folder), 'utf8')]),
)

const chartLibrary = createRequire(import.meta.url).resolve('uplot/dist/uPlot.iife.min.js')
sources.set('uplot', `${readFileSync(chartLibrary, 'utf8')}\nexport default uPlot`)
const chartStyle = pageAsset(
  'uplot',
  'css',
  readFileSync(new URL('uPlot.min.css', `file://${chartLibrary}`), 'utf8'),
)

const bare = (source: string): string => source.replace(/^\s*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)\n|^\s+/gm, '')

const IMPORT = /'\.\/([\w-]+)\.js'/g

const assets = new Map<string, PageAsset>()

function assetOf(name: string): PageAsset {
  const known = assets.get(name)
  if (known) return known
  const source = sources.get(name)
  if (source === undefined) throw new Error(`There is no script ${name}.js in the console.`)
  const content = bare(source).replace(IMPORT, (_, other: string) =>
    other === 'page' ? `'../../login/assets/${sharedScript.name}'` : `'./${assetOf(other).name}'`,
  )
  const asset = pageAsset(name, 'js', content)
  assets.set(name, asset)
  return asset
}

export const consoleScript = assetOf('console')

const ownScripts = {
  ask: assetOf('ask'),
  charts: assetOf('charts'),
  inbox: assetOf('inbox'),
  lists: assetOf('lists'),
  policyForm: assetOf('policy-form'),
  push: assetOf('push'),
} as const

/** A script that only this page needs. The browser runs it after the page is parsed. */
export const pageScriptTag = ({ to }: Pick<PageRequest, 'to'>, name: keyof typeof ownScripts): Html =>
  html`<script type="module" src="${to('console/scripts/')}${ownScripts[name].name}"></script>`

/** The script of charts with its library and style, for pages that have one. */
export const chartTags = (request: Pick<PageRequest, 'to'>): Html =>
  html`<link rel="stylesheet" href="${request.to('console/scripts/')}${chartStyle.name}">${pageScriptTag(request, 'charts')}`

const STATIC = /(?:from|import) '\.\/([\w-]+)\.js'/g

const importsOf = (name: string): string[] =>
  [...(sources.get(name) ?? '').matchAll(STATIC)]
    .map(([, other = '']) => other)
    .filter(other => other !== 'page')
    .flatMap(other => [other, ...importsOf(other)])

/** Preloaded by every page, so that the browser does not discover the imports one after the other. */
export const preloadedScripts: readonly PageAsset[] = [...new Set(importsOf('console'))].map(assetOf)

const scriptAssets: readonly PageAsset[] = [...assets.values(), chartStyle]

const pushWorker = bare(sources.get('push-worker') ?? '')

const scriptFile = createAssetFinder(scriptAssets)

const MANIFEST = JSON.stringify({
  name: 'Agent Payments',
  short_name: 'Payments',
  start_url: '../console',
  scope: '../',
  display: 'standalone',
  background_color: '#ffffff',
  theme_color: '#0a6c5c',
  icons: [
    { src: `../login/assets/${consolePagesIcon.name}`, sizes: 'any', type: 'image/svg+xml', purpose: 'any' },
  ],
})

const browser = bindHandlers(consoleBrowserApi, {
  script: async ({ params }, { refuse }) => (await scriptFile(params.script)) ?? refuse('script_not_found'),
  pushWorker: () => ({ type: 'text/javascript; charset=utf-8', content: pushWorker }),
  manifest: () => ({ type: 'application/manifest+json', content: MANIFEST }),
})

export const consoleBrowserArea = area(
  'Console scripts',
  'What makes the pages of the console live, and shows pushes on a phone.',
  browser,
)
