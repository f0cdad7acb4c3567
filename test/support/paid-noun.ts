import { z } from 'zod'
import { area } from '../../src/kernel/contract/area.ts'
import type { Context } from '../../src/kernel/contract/context.ts'
import { HotCall } from '../../src/kernel/contract/handlers.ts'
import {
  bindHandlers,
  emptyBody,
  get,
  type HandlerOf,
  notFound,
  post,
} from '../../src/kernel/contract/operation.ts'
import { withHeaders } from '../../src/kernel/contract/problem.ts'
import type { RawRequest } from '../../src/kernel/contract/raw-request.ts'
import { id } from '../../src/values/ids.ts'

/** A test noun that sells one thing: its answers have headers, its refusals are problems, its GET writes. */
export const PAID_TABLES = `
create table sales (meter_id text not null, credential text not null, body bytea not null, asked_at text not null);`

const Sold = z.object({ meterId: id('meter'), credential: z.string() })

const paid = {
  callers: ['public'],
  run: 'hot-external',
  http: {
    reads: {
      authorization: 'The payment.',
      'payment-authorization': 'The payment, where `Authorization` is taken.',
      'accept-payment': 'How the client can pay.',
    },
    headers: {
      200: { 'Payment-Receipt': 'What was paid.', 'Cache-Control': '`private`.' },
      402: { 'WWW-Authenticate': 'How to pay.' },
    },
  },
  returns: [200, Sold],
  fails: {
    meter_not_found: notFound('meter'),
    payment_required: [
      402,
      'Pay first.',
      {
        problem: ['payment-required', 'Payment required'],
        asks: { amount: '100', currency: 'eur', method: 'card', intent: 'charge' },
      },
    ],
    payment_declined: [
      402,
      'The payment was declined. Pay by another card.',
      { problem: ['verification-failed', 'Payment declined'] },
    ],
  },
  emits: { 'meter.sold': Sold },
} as const

export const paidApi = {
  show: get('/meters/{id}', { ...paid, summary: 'Read a meter for money' }),
  use: post('/meters/{id}', { ...paid, summary: 'Use a meter for money', limits: { bodyKiB: 256 } }),
  echo: post('/meters/{id}/echo', {
    summary: 'Answer with a header that the caller chooses',
    callers: ['public'],
    body: z.strictObject({ name: z.string().max(40), value: z.string().max(40), refuse: z.boolean() }),
    returns: [200, z.object({ answered: z.boolean() })],
    http: { headers: { 200: { 'Payment-Receipt': 'What was paid.' } } },
    fails: { meter_not_found: notFound('meter'), payment_declined: [402, 'Declined.'] },
    emits: { 'meter.sold': Sold },
  }),
  curious: post('/meters/{id}/curious', {
    summary: 'Read what the contract does not say',
    callers: ['public'],
    returns: [204, emptyBody],
    fails: { meter_not_found: notFound('meter') },
    emits: { 'meter.sold': Sold },
  }),
}

type Sale = z.output<typeof Sold>

const CHALLENGE = { 'WWW-Authenticate': 'Payment id="c1"' }
const credentialIn = ({ headers }: Pick<RawRequest, 'headers'>): string | undefined =>
  headers['payment-authorization'] ?? headers.authorization

const sold = (sale: Sale) =>
  withHeaders(sale, { 'Payment-Receipt': sale.credential, 'Cache-Control': 'private' })

/** An anonymous seller has no owner, so its events are written for the first one. */
async function actForSomebody({ sql, switchTenant }: Context): Promise<void> {
  const [owner] = await sql<{ id: string }>('select id from customers limit 1')
  switchTenant({ ownerId: String(owner?.id), mode: 'test' })
}

type Charge = 'charged' | 'declined'

/** A sale is two calls: each `record` names its call, as the handler has no batched step. */
const handler: HandlerOf<typeof paidApi.show, Sale, Charge> = {
  begin: {
    by: 'reading',
    async read({ params }, context) {
      const credential = credentialIn(context)
      if (!credential) return withHeaders(context.refuse('payment_required'), CHALLENGE)
      const sale = { meterId: params.id, credential }
      if (credential.endsWith('settled')) return sold(sale)
      await actForSomebody(context)
      return new HotCall(sale, async () => (credential.endsWith('declined') ? 'declined' : 'charged'))
    },
  },
  async record(charge, sale, context) {
    if (charge === 'declined') return withHeaders(context.refuse('payment_declined'), CHALLENGE)
    const { sql, host, headers, rawBody, emit } = context
    const { meterId, credential } = sale
    const [known] = await sql('select from sales where (meter_id, credential) = ($1, $2)', [
      meterId,
      credential,
    ])
    if (known) return sold(sale)
    const asked = `${host} ${headers['accept-payment'] ?? ''}`.trim()
    await sql('insert into sales values ($1, $2, $3, $4)', [meterId, credential, rawBody, asked])
    emit('meter.sold', sale)
    return new HotCall(sale, async (): Promise<Charge> => 'charged')
  },
  recover: async sale => sale,
}

export const paidArea = area(
  'Meters',
  'Paid records of the tests.',
  bindHandlers(paidApi, {
    show: handler,
    use: handler,
    async echo({ params, body }, context) {
      await actForSomebody(context)
      context.emit('meter.sold', { meterId: params.id, credential: body.value })
      return withHeaders(body.refuse ? context.refuse('payment_declined') : { answered: true }, {
        [body.name]: body.value,
      })
    },
    async curious(_, context) {
      if (context.rawBody.length > 0) throw new Error('this handler saw a body')
    },
  }),
)
