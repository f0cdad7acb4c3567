import { z } from 'zod'
import { open, signedIn } from '../../kernel/contract/callers.ts'
import { fileSchema } from '../../kernel/contract/file.ts'
import { notFound } from '../../kernel/contract/operation.ts'

const pageHeaders = {
  'Content-Language': '`de` or `en`.',
  'Content-Security-Policy': 'The page only loads resources of this origin, and has no inline code.',
  Vary: 'The page depends on `Accept`, `Accept-Language` and the requested host.',
}

const page = {
  http: {
    reads: {
      'accept-language': 'German if preferred, otherwise English.',
      host: 'Passkeys only work at one host; at another one the page links to it.',
    },
    headers: { 200: pageHeaders },
  },
  returns: [200, fileSchema('text/html')],
} as const

const to = z.strictObject({
  to: z.string().max(4_000).optional().meta({
    description: 'The next page: an address of this service; others are ignored.',
  }),
})

const loginQuery = to.extend({
  sso: z.string().max(100).optional().meta({
    description: 'The identity provider of a sign-in link: the page offers it, beside the passkey.',
  }),
})

/** A client may send any parameter; the handler decides which mistake is shown and which is sent back. */
const parameter = (longest = 500) => z.string().max(longest).optional()

export const consolePagesApi = {
  login: open.get('/login', {
    ...page,
    summary: 'Open the sign-in page',
    description:
      'Sign-in with a passkey, or with a link from an owner. The token of the link is behind the `#`, so no log has it, and a button redeems it. The page needs JavaScript and loads nothing from third parties.',
    query: loginQuery,
  }),
  ssoCallback: open.get('/sso/{id}/callback', {
    ...page,
    http: {
      reads: {
        ...page.http.reads,
        accept: 'An unknown identity provider is a page for clients that accept `text/html`.',
      },
      headers: { 200: pageHeaders, 404: pageHeaders },
    },
    summary: 'Open the page to which an identity provider returns',
    description:
      'Its script sends `state` and `code` to `POST /sso/{id}/sign-in`, and removes them from the address.',
    query: z.object({
      state: parameter(),
      code: parameter(8_000),
      iss: parameter(),
      error: parameter(),
    }),
    fails: { provider_not_found: [404, 'No such identity provider, or it was removed.'] },
  }),
  join: open.get('/join', {
    ...page,
    summary: 'Open the page to join an account',
    description:
      'The token of the link is behind the `#`. A button redeems it, and the person creates a passkey.',
    query: to,
  }),
  waiting: signedIn.get('/approve', {
    ...page,
    readsClock: true,
    summary: 'Open the page of intents waiting for approval',
    description: 'The page after sign-in. Newest first, fifty at most.',
  }),
  approve: signedIn.get('/approve/{intentId}', {
    ...page,
    readsClock: true,
    http: {
      reads: {
        ...page.http.reads,
        accept: 'An unknown intent is a page for clients that accept `text/html`.',
      },
      headers: { 200: pageHeaders, 404: pageHeaders },
    },
    summary: 'Open the approval page of an intent',
    description:
      'Amount, payee, purpose, agent, run, reasons for approval, remaining limits and expiry; after the decision its outcome and proof. Approving needs a passkey, denying a reason. A person without the scope `intents:approve` can view the page but not decide.',
    fails: { intent_not_found: notFound('intent') },
  }),
  device: signedIn.get('/device', {
    ...page,
    summary: 'Open the page to connect a device',
    description:
      'The person enters the code of the device, sees its name, address and requested scopes, and can remove some. Connecting needs a passkey.',
    query: z.strictObject({
      code: z.string().max(100).optional().meta({ description: 'The code, prefilled.' }),
    }),
  }),
  pairing: signedIn.get('/cli/{code}', {
    ...page,
    http: {
      reads: {
        ...page.http.reads,
        accept: 'An unknown code is a page for clients that accept `text/html`.',
      },
      headers: { 200: pageHeaders, 404: pageHeaders },
    },
    summary: 'Open the page to connect a command line',
    description:
      'Shows the code of the terminal, its device name, address and requested scopes. Connecting needs a passkey.',
    fails: {
      pairing_not_found: [
        404,
        'No terminal is waiting with this code. Compare the address with the one in the terminal.',
      ],
    },
  }),
  authorize: signedIn.get('/oauth/authorize', {
    ...page,
    // It may fetch the client's metadata.
    limits: { inTurn: false },
    readsClock: true,
    summary: 'Open the page to connect an assistant',
    description:
      'The authorization endpoint of OAuth 2.1, with PKCE (S256). The page says who asks, and the person chooses agent, budget and end. A wrong request gets an error page, and never redirects by itself. Without a query the page says how an assistant connects.',
    http: {
      reads: page.http.reads,
      headers: { 200: pageHeaders, 400: pageHeaders },
    },
    query: z.object({
      response_type: parameter(),
      response_mode: parameter(),
      client_id: parameter(),
      redirect_uri: parameter(),
      state: parameter(2_000),
      scope: parameter(2_000),
      code_challenge: parameter(),
      code_challenge_method: parameter(),
      resource: parameter(),
      dpop_jkt: parameter(),
    }),
    fails: {
      client_unknown: [400, 'client_id: no such client, or its metadata document cannot be used.'],
      redirect_unknown: [400, 'redirect_uri: this is not an address of the client.'],
      request_invalid: [
        400,
        'The request is not one of OAuth 2.1 for this server. It needs response_type, code_challenge (S256) and resource.',
      ],
    },
  }),
  asset: open.get('/login/assets/{asset}', {
    limits: { unmetered: true },
    summary: 'Get an asset of the pages for people',
    description: 'The name changes with the content, so browsers cache it.',
    returns: [200, fileSchema('application/octet-stream')],
    fails: { asset_not_found: [404, 'No such asset.'] },
  }),
}
