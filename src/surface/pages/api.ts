import { file } from '../../kernel/file.ts'
import { get } from '../../kernel/operation.ts'

export const pagesApi = {
  openapi: get('/openapi.json', {
    unmetered: true,
    summary: 'This interface as an OpenAPI 3.1 document',
    callers: ['public'],
    returns: [200, file('application/json')],
  }),
  docs: get('/docs', {
    unmetered: true,
    summary: 'This interface as a page to read',
    callers: ['public'],
    returns: [200, file('text/html')],
  }),
  docsAsset: get('/docs/{asset}', {
    unmetered: true,
    summary: 'What the page is made of',
    callers: ['public'],
    returns: [200, file('application/octet-stream')],
    fails: { asset_not_found: [404, 'There is nothing here. The documentation begins at /docs.'] },
  }),
}
