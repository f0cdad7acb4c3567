import { file } from '../../kernel/contract/file.ts'
import { get } from '../../kernel/contract/operation.ts'

const cachedFile =
  'Compressed with Brotli or gzip for those who accept it. The answer has an `ETag`; sent back in `If-None-Match`, it is answered with a 304 while nothing has changed.'

const asMarkdown = ' With `Accept: text/markdown` it is Markdown, for readers that are not people.'

const readsAccept = {
  http: {
    reads: { accept: '`text/markdown` or `text/html`.' },
    headers: { 200: { Vary: 'The page depends on `Accept`.' } },
  },
} as const

export const pagesApi = {
  llms: get('/llms.txt', {
    limits: { unmetered: true },
    summary: 'What there is to read, for language models',
    description: `In the form of llmstxt.org: every section with its address as Markdown. ${cachedFile}`,
    callers: ['public'],
    returns: [200, file('text/plain')],
  }),
  llmsFull: get('/llms-full.txt', {
    limits: { unmetered: true },
    summary: 'The whole documentation in one text',
    description: `All operations, records and events as Markdown. ${cachedFile}`,
    callers: ['public'],
    returns: [200, file('text/plain')],
  }),
  openapi: get('/openapi.json', {
    limits: { unmetered: true },
    summary: 'This interface as an OpenAPI 3.1 document',
    description: cachedFile,
    callers: ['public'],
    returns: [200, file('application/json')],
  }),
  docs: get('/docs', {
    ...readsAccept,
    limits: { unmetered: true },
    summary: 'This interface to read: how to begin, and what holds everywhere',
    description: cachedFile + asMarkdown,
    callers: ['public'],
    returns: [200, file('text/html')],
  }),
  docsSection: get('/docs/{section}', {
    ...readsAccept,
    limits: { unmetered: true },
    summary: 'One section of it: operations and records, or all events',
    description: cachedFile + asMarkdown,
    callers: ['public'],
    returns: [200, file('text/html')],
    fails: { section_not_found: [404, 'There is no such page. The documentation begins at /docs.'] },
  }),
  docsGuide: get('/docs/guides/{guide}', {
    ...readsAccept,
    limits: { unmetered: true },
    summary: 'One guide: how something is done',
    description: cachedFile + asMarkdown,
    callers: ['public'],
    returns: [200, file('text/html')],
    fails: { guide_not_found: [404, 'There is no such guide. /docs/guides lists them.'] },
  }),
  docsRefusal: get('/docs/errors/{code}', {
    limits: { unmetered: true },
    summary: 'One code of a refusal: why, and what to do',
    description: cachedFile,
    callers: ['public'],
    returns: [200, file('text/html')],
    fails: { code_not_found: [404, 'There is no such code. /docs/errors lists them.'] },
  }),
  docsAsset: get('/docs/assets/{asset}', {
    limits: { unmetered: true },
    summary: 'What the pages are made of',
    description: 'Its name changes with its content, so a browser asks for it once.',
    callers: ['public'],
    returns: [200, file('application/octet-stream')],
    fails: { asset_not_found: [404, 'There is nothing here. The documentation begins at /docs.'] },
  }),
}
