import { z } from 'zod'
import { file } from '../../kernel/contract/file.ts'
import { get } from '../../kernel/contract/operation.ts'

const pageHeaders = {
  'Content-Language': '`en`.',
  'Content-Security-Policy': 'Only what is ours is loaded, and no code stands in the page.',
  Vary: 'What is not there is told in a page to those who accept `text/html`.',
}

/** Filters of the lists on the page; the operations of the lists validate them. */
const address = z.record(z.string().min(1).max(40), z.string().max(400)).meta({
  maxProperties: 30,
  description:
    'The filters, `cursor` and `limit` of the list that the page shows; `part`: only these parts of the page, separated by commas.',
})

const fails = {
  page_not_found: [404, 'The console has no such page. It begins at /console.'],
  page_not_allowed: [403, 'Your role in the console does not show this page: ask an owner.'],
  invalid_filter: [400, 'What stands in the address of the page is not valid.'],
} as const

const page = {
  query: address,
  callers: ['console'],
  readsClock: true,
  http: {
    reads: { accept: 'What is not there is told in a page to those who accept `text/html`.' },
    headers: { 200: pageHeaders, 400: pageHeaders, 403: pageHeaders, 404: pageHeaders },
  },
  fails,
  returns: [200, file('text/html')],
} as const

export const consoleViewApi = {
  home: get('/console', {
    ...page,
    summary: 'The console: what waits for a person, and what has been spent',
    description:
      'Pages for people, written by the service. Each shows what the operations of this interface answer to the person who looks, and what changes something is an ordinary call by the browser.',
  }),
  section: get('/console/{section}', {
    ...page,
    summary: 'A section of the console: agents, intents, payments, …',
    description: 'Its list, with the filters of the operation behind it.',
  }),
  record: get('/console/{section}/{id}', {
    ...page,
    summary: 'A record in the console',
    description: 'What is known of it, and what may be done about it.',
  }),
  table: get('/console/csv/{section}', {
    query: address,
    callers: ['console'],
    fails,
    summary: 'A list of the console as CSV',
    description: 'The same filters as the page; up to 10,000 records.',
    returns: [200, file('text/csv')],
  }),
  asset: get('/console/assets/{asset}', {
    limits: { unmetered: true },
    summary: 'What the console is made of',
    description: 'Its name changes with its content, so a browser asks for it once.',
    callers: ['public'],
    returns: [200, file('application/octet-stream')],
    fails: { asset_not_found: [404, 'There is nothing here. The console begins at /console.'] },
  }),
}
