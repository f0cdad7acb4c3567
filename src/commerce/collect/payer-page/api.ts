import { file } from '../../../kernel/contract/file.ts'
import { get, missing } from '../../../kernel/contract/operation.ts'

const fails = { request_not_found: missing('payment request') } as const

const shortCache = 'For ten seconds, so that reloading it tells the truth.'

const pageHeaders = {
  'Content-Language': '`de` or `en`.',
  'Content-Security-Policy': 'Nothing but the page’s own style and pictures is loaded.',
  Vary: 'The page depends on `Accept` and `Accept-Language`.',
}

export const payerPageApi = {
  page: get('/pay/{id}', {
    summary: 'The page for a person who is to pay a request',
    description:
      'Who asks for how much and what for; by bank transfer: account, reference and a QR code for banking apps; and how a program pays. Where nothing is to be paid any more, it says so. It never tells for whom the request is meant. In German or English, as `Accept-Language` prefers; it needs no JavaScript, and loads nothing from others. A browser that follows a wrong address gets a page, too.',
    callers: ['public'],
    http: {
      reads: {
        accept: 'A refusal is a page for those who accept `text/html`.',
        'accept-language': 'The page is in German for those who prefer it, else in English.',
      },
      headers: { 200: { ...pageHeaders, 'Cache-Control': shortCache }, 404: pageHeaders },
    },
    returns: [200, file('text/html')],
    fails,
  }),
  qrCode: get('/pay/{id}/qr.svg', {
    summary: 'The QR code by which banking apps fill in a transfer for a request',
    description:
      'EPC069-12, version 002, error correction M: account, what is still due, and the reference. A name of the account holder that does not fit is cut.',
    callers: ['public'],
    http: { headers: { 200: { 'Cache-Control': shortCache } } },
    returns: [200, file('image/svg+xml')],
    fails: {
      ...fails,
      request_not_open: [410, 'The request waits for no money any more.'],
      payment_under_way: [409, 'A payment is under way. Try again once its outcome is known.'],
      no_account: [503, 'There is no account to which money for this request could be sent.'],
    },
  }),
  asset: get('/pay/assets/{asset}', {
    limits: { unmetered: true },
    summary: 'What the page is made of',
    description: 'Its name changes with its content, so a browser asks for it once.',
    callers: ['public'],
    returns: [200, file('application/octet-stream')],
    fails: { asset_not_found: [404, 'There is nothing here.'] },
  }),
}
