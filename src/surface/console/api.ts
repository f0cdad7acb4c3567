import { z } from 'zod'
import { fileSchema } from '../../kernel/contract/file.ts'
import { get } from '../../kernel/contract/operation.ts'

const pageHeaders = {
  'Content-Language': '`en`.',
  'Content-Security-Policy': 'The page only loads resources of this origin, and has no inline code.',
  Vary: 'Refusals are pages for clients that accept `text/html`.',
}

/** Filters of the lists on the page. The operation of each list validates its own. */
const address = z.record(z.string().min(1).max(40), z.string().max(400)).meta({
  maxProperties: 30,
  description:
    'Filters, `cursor` and `limit` of the list on the page; `part`: only these parts of the page, separated by commas.',
})

const fails = {
  page_not_found: [404, 'The console has no such page. It starts at /console.'],
  page_not_allowed: [403, 'Your role does not allow this page. Ask an owner.'],
  invalid_filter: [400, 'The address of the page has an invalid filter.'],
} as const

const page = {
  query: address,
  callers: ['console'],
  readsClock: true,
  http: {
    reads: { accept: 'Refusals are pages for clients that accept `text/html`.' },
    headers: { 200: pageHeaders, 400: pageHeaders, 403: pageHeaders, 404: pageHeaders },
  },
  fails,
  returns: [200, fileSchema('text/html')],
} as const

export const consoleViewApi = {
  home: get('/console', {
    ...page,
    summary: 'Open the console',
    description:
      'Pages for people, rendered by the service. They show answers of this API with the person’s rights; changes are ordinary API calls by the browser.',
  }),
  section: get('/console/{section}', {
    ...page,
    http: {
      ...page.http,
      headers: { ...page.http.headers, 308: { Location: 'The address of the page, relative to this one.' } },
    },
    fails: { ...fails, page_moved: [308, 'This page of the console has a new address.'] },
    summary: 'Open a section of the console',
    description: 'A list, such as agents or payments, with the filters of its operation.',
  }),
  record: get('/console/{section}/{id}', {
    ...page,
    summary: 'Open a record in the console',
    description: 'The record with its actions.',
  }),
  table: get('/console/csv/{section}', {
    query: address,
    callers: ['console'],
    fails,
    summary: 'Download a list or report of the console as CSV',
    description:
      'For links, which cannot ask for a media type. The same filters as the page; up to 10,000 records.',
    returns: [200, fileSchema('text/csv')],
  }),
  asset: get('/console/assets/{asset}', {
    limits: { unmetered: true },
    summary: 'Get an asset of the console',
    description: 'The name changes with the content, so browsers cache it.',
    callers: ['public'],
    returns: [200, fileSchema('application/octet-stream')],
    fails: { asset_not_found: [404, 'No such asset. The console starts at /console.'] },
  }),
}
