import { z } from 'zod'
import { file } from '../../kernel/contract/file.ts'
import { get, missing } from '../../kernel/contract/operation.ts'

const pageHeaders = {
  'Content-Language': '`de` or `en`.',
  'Content-Security-Policy': 'Only what is ours is loaded, and no code stands in the page.',
  Vary: 'The page depends on `Accept`, `Accept-Language` and the host that was asked.',
}

const page = {
  http: {
    reads: {
      'accept-language': 'The page is in German for those who prefer it, else in English.',
      host: 'Passkeys belong to one host: under another one the page says so, and links to the right one.',
    },
    headers: { 200: pageHeaders },
  },
  returns: [200, file('text/html')],
} as const

const to = z.strictObject({
  to: z.string().max(1_000).optional().meta({
    description: 'Where to go on afterwards: an address of this service, any other one is ignored.',
  }),
})

export const consolePagesApi = {
  login: get('/login', {
    ...page,
    summary: 'The page where a person signs in',
    description:
      'With a passkey; or with a link that an owner has made: its token stands behind the `#`, so no log knows it, and a press of a button redeems it. It needs JavaScript, as passkeys do, and loads nothing from others.',
    callers: ['public'],
    query: to,
  }),
  join: get('/join', {
    ...page,
    summary: 'The page where an invited person joins',
    description:
      'The token of the link stands behind the `#`. A press of a button redeems it, and the person makes the first passkey.',
    callers: ['public'],
    query: to,
  }),
  waiting: get('/approve', {
    ...page,
    readsClock: true,
    summary: 'The page with the intents that wait for a decision',
    description: 'Where a person is after signing in. The newest come first, fifty at most.',
    callers: ['console'],
  }),
  approve: get('/approve/{intentId}', {
    ...page,
    readsClock: true,
    http: {
      reads: {
        ...page.http.reads,
        accept: 'An intent that is not there is told in a page to those who accept `text/html`.',
      },
      headers: { 200: pageHeaders, 404: pageHeaders },
    },
    summary: 'The page where a person decides about an intent',
    description:
      'How much goes to whom, why, by which agent and run, which rules ask and what every limit leaves, until when it waits; and how it ended, by whom, and where the proof is. Approving takes a passkey, denying a reason. A person without the scope `intents:approve` sees all of it and decides nothing.',
    callers: ['console'],
    fails: { intent_not_found: missing('intent') },
  }),
  device: get('/device', {
    ...page,
    summary: 'The page where a person lets a device in',
    description:
      'Here the code is typed that the device shows. The page says which device asks, from which address, and what its key will be allowed, and lets the person take away some of it. Letting it in takes a passkey.',
    callers: ['console'],
    query: z.strictObject({
      code: z.string().max(100).optional().meta({ description: 'The code, in place of typing it.' }),
    }),
  }),
  pairing: get('/cli/{code}', {
    ...page,
    http: {
      reads: {
        ...page.http.reads,
        accept: 'A code that is not there is told in a page to those who accept `text/html`.',
      },
      headers: { 200: pageHeaders, 404: pageHeaders },
    },
    summary: 'The page where a person lets a command line in',
    description:
      'It shows the code that the terminal shows too, which device asks, from which address, and what its key will be allowed. Letting it in takes a passkey.',
    callers: ['console'],
    fails: {
      pairing_not_found: [
        404,
        'No terminal waits under this code. Compare the address with the one that it shows.',
      ],
    },
  }),
  asset: get('/login/assets/{asset}', {
    limits: { unmetered: true },
    summary: 'What the pages for people are made of',
    description: 'Its name changes with its content, so a browser asks for it once.',
    callers: ['public'],
    returns: [200, file('application/octet-stream')],
    fails: { asset_not_found: [404, 'There is nothing here.'] },
  }),
}
