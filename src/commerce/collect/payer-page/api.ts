import { open } from '../../../kernel/contract/callers.ts'
import { fileSchema } from '../../../kernel/contract/file.ts'
import { notFound } from '../../../kernel/contract/operation.ts'

const fails = { request_not_found: notFound('payment request') } as const

const shortCache = 'Ten seconds, so that a reload shows the current state.'

const pageHeaders = {
  'Content-Language': '`de` or `en`.',
  'Content-Security-Policy': 'Only the page’s own style and pictures may load.',
  Vary: 'The page depends on `Accept` and `Accept-Language`.',
}

export const payerPageApi = {
  page: open.get('/pay/{id}', {
    summary: 'The page for a person who pays a request',
    description:
      'Shows payee, amount and purpose; for a bank transfer the account, the reference and a QR code for banking apps; and how a program pays. If the request can no longer be paid, the page says so. It never shows the intended payer.\n\nIt is in German or English, by `Accept-Language`, needs no JavaScript, and loads nothing from other hosts. A wrong address also gets a page.',
    http: {
      reads: {
        accept: 'A refusal is a page for clients that accept `text/html`.',
        'accept-language': 'German if the client prefers it, else English.',
      },
      headers: { 200: { ...pageHeaders, 'Cache-Control': shortCache }, 404: pageHeaders },
    },
    returns: [200, fileSchema('text/html')],
    fails,
  }),
  qrCode: open.get('/pay/{id}/qr.svg', {
    summary: 'The QR code by which banking apps fill in a transfer for a request',
    description:
      'EPC069-12, version 002, error correction M: account, amount due and reference. A name of the account holder that does not fit is cut.',
    http: { headers: { 200: { 'Cache-Control': shortCache } } },
    returns: [200, fileSchema('image/svg+xml')],
    fails: {
      ...fails,
      request_not_open: [410, 'The request is no longer open.'],
      payment_under_way: [409, 'A payment is under way. Try again once its outcome is known.'],
      no_account: [503, 'No bank account can receive money for this request.'],
    },
  }),
  asset: open.get('/pay/assets/{asset}', {
    limits: { unmetered: true },
    summary: 'Get an asset of the page',
    description: 'The name changes with the content, so browsers cache it.',
    returns: [200, fileSchema('application/octet-stream')],
    fails: { asset_not_found: [404, 'There is nothing here.'] },
  }),
}
