import { area } from '../../../kernel/contract/area.ts'
import { implement } from '../../../kernel/contract/operation.ts'
import { assetFinder } from '../../../web/page-assets.ts'
import { icon } from '../../console-pages/index.ts'
import { consoleBrowserApi } from './api.ts'
import { pushWorker, scriptAssets } from './scripts.ts'

const scriptFile = assetFinder(scriptAssets)

/** Addresses are relative, so that the console works below a path, too. */
const MANIFEST = JSON.stringify({
  name: 'Agent Payments',
  short_name: 'Payments',
  start_url: './',
  scope: '../',
  display: 'standalone',
  background_color: '#ffffff',
  theme_color: '#0a6c5c',
  icons: [{ src: `../login/assets/${icon.name}`, sizes: 'any', type: 'image/svg+xml', purpose: 'any' }],
})

const browser = implement(consoleBrowserApi, {
  script: async ({ params }, { refuse }) => (await scriptFile(params.script)) ?? refuse('script_not_found'),
  pushWorker: () => ({ type: 'text/javascript; charset=utf-8', content: pushWorker }),
  manifest: () => ({ type: 'application/manifest+json', content: MANIFEST }),
})

export const consoleBrowserArea = area(
  'Console scripts',
  'What makes the pages of the console live, and shows pushes on a phone.',
  browser,
)
