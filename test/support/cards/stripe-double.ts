import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll } from '@jest/globals'
import { formTree, listOf } from './form.ts'
import type { StripeAnswer, StripeObject, StripeParams, StripeRequest } from './stripe-exchange.ts'
import { fundingRoutes } from './stripe-fundings.ts'
import { identityRoutes } from './stripe-identities.ts'
import {
  type HolderOfDouble,
  type NetworkOfDouble,
  type StripeSeller,
  sharedPaymentRoutes,
} from './stripe-shared-payments.ts'

type Params = StripeParams
type Body = StripeObject
type Answer = StripeAnswer

type Fault = (request: StripeRequest, response: ServerResponse) => void

export interface StripeDouble {
  readonly url: string
  readonly requests: readonly StripeRequest[]
  readonly cards: Map<string, Body>
  readonly cardholders: Map<string, Body>
  readonly disputes: Map<string, Body>
  readonly tokens: Map<string, Body>
  readonly intents: Map<string, Body>
  readonly refunds: Map<string, Body>
  readonly chargebacks: Map<string, Body>
  /** Whom the account's own secret key sells as, and the network that asks the issuer of a shared card. */
  readonly seller: StripeSeller
  readonly network: NetworkOfDouble
  readonly holder: HolderOfDouble
  readonly fundings: ReturnType<typeof fundingRoutes>
  readonly identities: ReturnType<typeof identityRoutes>
  readonly number: string
  readonly cvc: string
  readonly secret: string
  /** Answers requests of this method and path differently, until `heal`. */
  break(route: RegExp, fault: Fault): void
  /** Acts on requests of this method and path, and answers them differently, until `heal`. */
  afterwards(route: RegExp, fault: (response: ServerResponse) => unknown): void
  heal(): void
  forgetKeys(): void
  to(route: RegExp): StripeRequest[]
}

export const refusal =
  (status: number, error: Body): Fault =>
  (_, response) =>
    send(response, { status, body: { error: { type: 'invalid_request_error', ...error } } })

function send(response: ServerResponse, { status, body }: Answer, isReplayed = false): void {
  const replayed = isReplayed ? { 'idempotent-replayed': 'true' } : {}
  response.writeHead(status, { 'content-type': 'application/json', ...replayed }).end(JSON.stringify(body))
}

/**
 * A stand-in for Stripe on the loopback: it stores what it creates, replays an answer under its idempotency
 * key, and refuses the key with other parameters.
 */
export async function startStripeDouble(): Promise<StripeDouble> {
  const requests: StripeRequest[] = []
  const faults: [RegExp, Fault][] = []
  const lateFaults: [RegExp, (response: ServerResponse) => unknown][] = []
  const kept = new Map<string, { readonly sent: string; readonly answer: Answer }>()
  const account = accountOf()
  const matches = (route: RegExp, { method, path }: StripeRequest) => route.test(`${method} ${path}`)

  async function answerTo(request: StripeRequest, sent: string): Promise<Answer> {
    const earlier = request.key === undefined ? undefined : kept.get(request.key)
    if (earlier && earlier.sent !== sent)
      return {
        status: 400,
        body: { error: { type: 'idempotency_error', message: 'Another request used it.' } },
      }
    const answer = earlier?.answer ?? (await account.answer(request))
    if (request.key !== undefined) kept.set(request.key, { sent, answer })
    return answer
  }

  const server = createServer(async (incoming, response) => {
    const { pathname, search } = new URL(incoming.url ?? '/', 'http://double')
    const { method = '', headers } = incoming
    const sent = method === 'GET' ? search.slice(1) : await text(incoming)
    const key = headers['idempotency-key'] as string | undefined
    const request = { method, path: pathname.replace('/v1/', ''), params: formTree(sent), key, headers }
    requests.push(request)
    const fault = faults.find(([route]) => matches(route, request))?.[1]
    if (fault) return fault(request, response)
    const isReplayed = key !== undefined && kept.has(key)
    const answer = await answerTo(request, `${method} ${pathname} ${sent}`)
    const lateFault = lateFaults.find(([route]) => matches(route, request))?.[1]
    if (lateFault) return lateFault(response)
    send(response, answer, isReplayed)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => server.close().closeAllConnections())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    ...account,
    break: (route, fault) => void faults.push([route, fault]),
    afterwards: (route, fault) => void lateFaults.push([route, fault]),
    heal() {
      faults.splice(0)
      lateFaults.splice(0)
    },
    forgetKeys: () => kept.clear(),
    to: route => requests.filter(request => matches(route, request)),
  }
}

const SECRETS = { number: '4000009990000018', cvc: '731', secret: 'ek_live_shown_to_nobody' }

function accountOf() {
  const cards = new Map<string, Body>()
  const cardholders = new Map<string, Body>()
  const disputes = new Map<string, Body>()
  const made = (prefix: string, store: Map<string, Body>, body: Body): Answer => {
    const id = `${prefix}_${store.size + 1}`
    store.set(id, { id, ...body })
    return found(store.get(id))
  }
  const shared = sharedPaymentRoutes(cards)
  const fundings = fundingRoutes(shared)
  const identities = identityRoutes()
  type Act = (params: Params, id: string, request: StripeRequest) => Answer | undefined | Promise<Answer>
  const routes: [RegExp, Act][] = [
    ...fundings.routes,
    ...identities.routes,
    ...shared.routes,
    [/^GET issuing\/cardholders$/, ({ email }) => found({ data: ofEmail(cardholders, email) })],
    [/^POST issuing\/cardholders$/, params => made('ich', cardholders, { metadata: {}, ...params })],
    [/^POST issuing\/cardholders\/(\w+)$/, (params, id) => changed(cardholders, id, params)],
    [
      /^GET issuing\/cards$/,
      ({ cardholder }) => found({ data: ofHolder(cards, cardholder), has_more: false }),
    ],
    [/^POST issuing\/cards$/, params => made('ic', cards, cardOf(params))],
    [/^POST issuing\/cards\/(\w+)$/, (params, id) => changed(cards, id, withControls(cards.get(id), params))],
    [/^GET issuing\/cards\/(\w+)$/, ({ expand }, id) => found(expanded(cards.get(id), listOf(expand)))],
    [/^GET issuing\/disputes$/, () => found({ data: [...disputes.values()], has_more: false })],
    [
      /^POST issuing\/disputes$/,
      params => made('idp', disputes, { metadata: {}, ...params, amount: 2_000, status: 'unsubmitted' }),
    ],
    [/^GET issuing\/disputes\/(\w+)$/, (_, id) => found(disputes.get(id))],
    [
      /^POST issuing\/disputes\/(\w+)\/submit$/,
      (_, id) => changed(disputes, id, { ...disputes.get(id), status: 'submitted' }),
    ],
    [
      /^POST ephemeral_keys$/,
      () => found({ id: 'ephkey_1', secret: SECRETS.secret, expires: 1_800_000_000 }),
    ],
  ]
  function answer(request: StripeRequest): Answer | Promise<Answer> {
    const { method, path, params } = request
    for (const [route, act] of routes) {
      const match = route.exec(`${method} ${path}`)
      const answered = match && act(params, match[1] ?? '', request)
      if (answered) return answered
    }
    return { status: 404, body: { error: { type: 'invalid_request_error', message: `No ${path}` } } }
  }
  return { cards, cardholders, disputes, ...shared, fundings, identities, answer, ...SECRETS }
}

const found = (body: Body | undefined): Answer =>
  body
    ? { status: 200, body }
    : {
        status: 404,
        body: {
          error: { code: 'resource_missing', message: 'No such object', type: 'invalid_request_error' },
        },
      }

const ofEmail = (cardholders: Map<string, Body>, email: unknown): Body[] =>
  [...cardholders.values()].filter(holder => holder.email === email)

const ofHolder = (cards: Map<string, Body>, cardholder: unknown): Body[] =>
  [...cards.values()].filter(card => card.cardholder === cardholder)

const cardOf = (params: Params): Body => ({
  brand: 'Visa',
  last4: SECRETS.number.slice(-4),
  exp_month: 8,
  exp_year: 2030,
  cancellation_reason: null,
  ...params,
  spending_controls: controlsOf(params.spending_controls),
})

const controlsOf = (controls: Params | string | undefined): Body => {
  const { spending_limits, allowed_merchant_countries } = typeof controls === 'object' ? controls : {}
  return {
    spending_limits: listOf(spending_limits),
    allowed_merchant_countries: listOf(allowed_merchant_countries),
  }
}

/** An unnamed list stays; an empty text removes it. */
function withControls(card: Body | undefined, params: Params): Body {
  const { spending_controls: given } = params
  if (typeof given !== 'object') return params
  const named = Object.keys(given)
  const all = Object.entries(controlsOf(given)).filter(([name]) => named.includes(name))
  return {
    ...params,
    spending_controls: { ...(card?.spending_controls as Body), ...Object.fromEntries(all) },
  }
}

function changed(store: Map<string, Body>, id: string, params: Body): Answer {
  const before = store.get(id)
  if (before?.status === 'canceled')
    return {
      status: 400,
      body: { error: { type: 'invalid_request_error', message: 'This card is canceled.' } },
    }
  if (before) store.set(id, { ...before, ...params })
  return found(store.get(id))
}

/** Number and CVC are returned only if expanded by name. */
function expanded(card: Body | undefined, names: unknown[]): Body | undefined {
  const { number, cvc } = SECRETS
  const all = Object.entries({ number, cvc }).filter(([name]) => names.includes(name))
  return card && { ...card, ...Object.fromEntries(all) }
}
