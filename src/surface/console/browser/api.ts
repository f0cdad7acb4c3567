import { fileSchema } from '../../../kernel/contract/file.ts'
import { get } from '../../../kernel/contract/operation.ts'

const open = { limits: { unmetered: true }, callers: ['public'] } as const

export const consoleBrowserApi = {
  script: get('/console/scripts/{script}', {
    ...open,
    summary: 'A script of the console',
    description: 'The name changes with the content, so browsers cache it.',
    returns: [200, fileSchema('text/javascript')],
    fails: { script_not_found: [404, 'There is nothing here.'] },
  }),
  pushWorker: get('/console/push-worker.js', {
    ...open,
    summary: 'What shows pushes in a browser',
    description:
      'A service worker that does nothing else. It is registered for the pages of the console, and keeps no page and no answer.',
    returns: [200, fileSchema('text/javascript')],
  }),
  manifest: get('/console/manifest.webmanifest', {
    ...open,
    summary: 'How a phone keeps the console among its programs',
    returns: [200, fileSchema('application/manifest+json')],
  }),
}
