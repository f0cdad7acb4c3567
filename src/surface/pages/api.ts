import { z } from 'zod'
import { open } from '../../kernel/contract/callers.ts'
import { fileSchema } from '../../kernel/contract/file.ts'

const cachedFile = 'Compressed, with an `ETag`.'

const MARKDOWN_TOO = 'HTML, or Markdown.'

const readsAccept = {
  http: {
    reads: { accept: '`text/markdown` or `text/html`.' },
    headers: { 200: { Vary: 'By `Accept`.' } },
  },
} as const

export const pagesApi = {
  llms: open.get('/llms.txt', {
    limits: { unmetered: true },
    summary: 'Get the index of the documentation for language models',
    description: `In the form of llmstxt.org: every section with its address as Markdown. ${cachedFile}`,
    returns: [200, fileSchema('text/plain')],
  }),
  llmsFull: open.get('/llms-full.txt', {
    limits: { unmetered: true },
    summary: 'Get the whole documentation as one text',
    description: `All operations, records and events as Markdown. ${cachedFile}`,
    returns: [200, fileSchema('text/plain')],
  }),
  openapi: open.get('/openapi.json', {
    limits: { unmetered: true },
    summary: 'Get the OpenAPI 3.1 document',
    description: cachedFile,
    returns: [200, fileSchema('application/json')],
  }),
  docs: open.get('/docs', {
    ...readsAccept,
    limits: { unmetered: true },
    summary: 'Read the documentation: start page',
    description: MARKDOWN_TOO,
    returns: [200, fileSchema('text/html')],
  }),
  docsSection: open.get('/docs/{section}', {
    ...readsAccept,
    limits: { unmetered: 'existing' },
    summary: 'Read a section of the documentation',
    query: z.strictObject({
      q: z.string().max(100).default('').meta({ description: 'For the section `search`.' }),
    }),
    description: MARKDOWN_TOO,
    returns: [200, fileSchema('text/html')],
    fails: { section_not_found: [404, 'No such page. The documentation starts at /docs.'] },
  }),
  docsOperation: open.get('/docs/api/{operation}', {
    ...readsAccept,
    limits: { unmetered: 'existing' },
    summary: 'Read about an operation',
    description: MARKDOWN_TOO,
    returns: [200, fileSchema('text/html')],
    fails: { operation_not_found: [404, 'No such operation. /docs/api lists all operations.'] },
  }),
  docsGuide: open.get('/docs/guides/{guide}', {
    ...readsAccept,
    limits: { unmetered: 'existing' },
    summary: 'Read a guide',
    description: MARKDOWN_TOO,
    returns: [200, fileSchema('text/html')],
    fails: { guide_not_found: [404, 'No such guide. /docs/guides lists all guides.'] },
  }),
  docsRefusal: open.get('/docs/errors/{code}', {
    ...readsAccept,
    limits: { unmetered: 'existing' },
    summary: 'Read about an error code',
    description: MARKDOWN_TOO,
    returns: [200, fileSchema('text/html')],
    fails: { code_not_found: [404, 'No such error code. /docs/errors lists all codes.'] },
  }),
  docsAsset: open.get('/docs/assets/{asset}', {
    limits: { unmetered: true },
    summary: 'Get an asset of the documentation',
    description: 'The name changes with the content, so browsers cache it.',
    returns: [200, fileSchema('application/octet-stream')],
    fails: { asset_not_found: [404, 'No such asset. The documentation starts at /docs.'] },
  }),
}
