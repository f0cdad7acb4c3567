import { z } from 'zod'
import { areas as realAreas } from '../../../src/areas.ts'
import { agentCredentialChargeEvents } from '../../../src/cards/agent-credentials/api.ts'
import {
  mppTokenEvents,
  recordTokenDeletion,
  registerMppToken,
  revokeMppToken,
  tokenToDelete,
} from '../../../src/cards/agent-credentials/mpp-token.ts'
import { writeCardBatch } from '../../../src/cards/authorizations/batch.ts'
import {
  applyTokenPaymentOutcome,
  decideTokenPayment,
  isApprovedByNetwork,
  loadTokenPayments,
  tokenPaymentAuthorization,
  tokenPaymentEvents,
} from '../../../src/cards/authorizations/token-payments.ts'
import { Card, CardNumber } from '../../../src/cards/cards/card.ts'
import { area } from '../../../src/kernel/contract/area.ts'
import { AnswerNow } from '../../../src/kernel/contract/handlers.ts'
import {
  bindHandlers,
  type ContextOf,
  externalCall,
  type HandlerOf,
  type InputOf,
  post,
} from '../../../src/kernel/contract/operation.ts'
import { isProcessorFailure } from '../../../src/ports/card-processor.ts'
import { addMs, days } from '../../../src/values/clock.ts'
import { id, newId } from '../../../src/values/ids.ts'
import { cents, moneySchema } from '../../../src/values/money.ts'
import { aKeyPair } from './encryption-keys.ts'

export const merchantKey = await aKeyPair('RSA-2048')

const Begun = z.object({
  blocker: z.string().nullable(),
  reason: z.string().nullable(),
  checks: z.array(z.string()),
  authorizationId: z.string().nullable(),
  mppCredentialId: z.string(),
  tokenId: z.string(),
  jwe: z.string(),
})

/** Machine payments without a merchant, begun and settled by the production functions. */
const api = {
  begin: post('/test/machine-payments', {
    summary: 'Begin a machine payment',
    callers: ['key'],
    scope: 'policies:write',
    body: z.strictObject({
      intentId: id('intent'),
      cardId: id('card'),
      amountEuros: moneySchema,
      host: z.string(),
    }),
    example: { intentId: 'intent_1', cardId: 'card_1', amountEuros: 1, host: 'shop.example.com' },
    returns: [200, Begun],
    emits: { ...tokenPaymentEvents, ...mppTokenEvents },
  }),
  settle: post('/test/machine-payments/{id}/settle', {
    summary: 'Settle a machine payment',
    callers: ['key'],
    scope: 'policies:write',
    body: z.strictObject({ outcome: z.enum(['paid', 'not_paid']) }),
    example: { outcome: 'paid' },
    returns: [200, z.object({ transactionId: z.string().nullable() })],
    emits: { ...tokenPaymentEvents, ...mppTokenEvents, ...agentCredentialChargeEvents },
  }),
  deleteToken: post('/test/machine-payments/{id}/delete-token', {
    summary: 'Take the step of a process that deletes a token',
    callers: ['key'],
    scope: 'policies:write',
    run: 'external',
    returns: [200, z.object({ done: z.boolean() })],
  }),
  charge: post('/test/charges', {
    summary: 'Charge a token',
    callers: ['key'],
    scope: 'policies:write',
    run: 'external',
    requires: 'acquirer',
    body: z.strictObject({
      ask: z.enum(['charge', 'stateOf', 'refund']),
      plain: z.unknown(),
      handle: z.string().optional(),
      amountEuros: moneySchema,
      reference: z.string(),
      refundReference: z.string().optional(),
    }),
    example: { ask: 'charge', plain: {}, amountEuros: 1, reference: 'challenge-1' },
    returns: [
      200,
      z.object({ outcome: z.string(), code: z.string().nullable(), reason: z.string().nullable() }),
    ],
  }),
}

type Body = Parameters<HandlerOf<typeof api.begin>>[0]['body']

async function begin(body: Body, context: ContextOf<typeof api.begin>) {
  const { em, sql, tenant, now, systems, requestId } = context
  const card = await em.findOneOrFail(Card, { id: body.cardId })
  const number = await em.findOneOrFail(CardNumber, { cardId: card.id, status: 'current' })
  const mppCredentialId = newId('mppcredential')
  const { intentId, cardId, amountEuros, host } = body
  const expiresAt = addMs(now, days(1))
  const binding = { challengeId: mppCredentialId, intentId, cardId }
  const issued = await systems.cardProcessor(tenant.mode).networkToken?.(
    {
      processorCardId: number.processorCardId,
      expiresAt,
      form: { kind: 'mpp', kid: 'merchant-1', binding },
    },
    { key: merchantKey.key, intentId, merchantHost: host },
    { reference: mppCredentialId, requestId, now },
  )
  if (!issued || isProcessorFailure(issued)) throw new Error('the sandbox gives network tokens')
  const payment = {
    mppCredentialId,
    tokenId: issued.tokenId,
    agentId: card.agentId,
    intentId,
    cardId,
    numberId: number.id,
    amountCents: cents(amountEuros),
    conversion: null,
    host,
    url: `https://${host}/paid`,
  }
  const batch = await loadTokenPayments(sql, { tenant, now }, { payments: [payment] })
  const decided = decideTokenPayment(payment, batch, context)
  await writeCardBatch(batch, sql)
  const answer = { mppCredentialId, tokenId: issued.tokenId, jwe: issued.jwe }
  if (decided.blocker !== null)
    return {
      ...answer,
      blocker: decided.blocker,
      reason: decided.message ?? null,
      checks: [],
      authorizationId: null,
    }
  const { decision, authorizationId } = decided
  if (authorizationId) {
    const thumbprint = merchantKey.key.thumbprint
    const named = {
      ...payment,
      amountEuros,
      delegationId: null,
      merchantHost: host,
      keyThumbprint: thumbprint,
    }
    registerMppToken({ ...named, expiresAt, processor: 'sandbox', issued }, context)
  }
  const failed = decision.checks.filter(({ outcome }) => outcome === 'fail').map(({ rule }) => rule)
  return { ...answer, blocker: null, reason: decision.reason, checks: failed, authorizationId }
}

async function settle(
  mppCredentialId: string,
  outcome: 'paid' | 'not_paid',
  context: ContextOf<typeof api.settle>,
) {
  const { sql, tenant, now } = context
  const batch = await loadTokenPayments(sql, { tenant, now }, { mppCredentialIds: [mppCredentialId] })
  const authorization = tokenPaymentAuthorization(mppCredentialId, batch)
  if (outcome === 'paid' || !isApprovedByNetwork(authorization))
    applyTokenPaymentOutcome(authorization, outcome, batch, context)
  const { transactionId } = authorization
  await writeCardBatch(batch, sql)
  if (outcome === 'not_paid' && transactionId === null) await revokeMppToken(mppCredentialId, context)
  return { transactionId }
}

type Charging = InputOf<typeof api.charge>['body'] & { readonly now: string }

const charge: HandlerOf<typeof api.charge> = {
  reserve: async ({ body }, { now }) => ({
    ...body,
    amountEuros: Number(body.amountEuros),
    now: now.toISOString(),
  }),
  call(reservation, { systems, requestId }) {
    const { ask, plain, handle, reference, refundReference = '', ...rest } = reservation as Charging
    const acquirer = systems.acquirer('test')
    const accepted = acquirer.accept(plain)
    const known = handle ?? ('handle' in accepted ? accepted.handle : '')
    const asked = {
      handle: known,
      amountCents: cents(rest.amountEuros),
      reference,
      descriptor: 'AGENTPAY *SHOP',
      token: plain,
      refundReference,
      ownerId: 'owner-1',
      mode: 'test',
    } as const
    return acquirer[ask](asked, { requestId, now: new Date(rest.now) })
  },
  record: async answer => ({ code: null, reason: null, ...(answer as { outcome: string }) }),
  recover: async () => ({ outcome: 'lost', code: null, reason: null }),
}

const deleteToken = externalCall(api.deleteToken, {
  async reserve({ params }, context) {
    const tokenId = (await tokenToDelete(params.id, context))?.tokenId ?? null
    if (tokenId === null) return new AnswerNow({ done: true })
    return { mppCredentialId: params.id, tokenId, now: context.now.toISOString() }
  },
  async call({ mppCredentialId, tokenId, now }, { systems, requestId }) {
    const call = { reference: `${mppCredentialId}-deleted`, requestId, now: new Date(now) }
    const answer = await systems.cardProcessor('test').setNetworkToken?.(tokenId, 'deleted', call)
    if (!answer) throw new Error('the sandbox deletes network tokens')
    return answer
  },
  record: async (answer, { mppCredentialId }, context) => ({
    done: await recordTokenDeletion(mppCredentialId, answer, context),
  }),
  recover: async () => ({ done: false }),
})

const machinePayments = area(
  'Machine payments of the tests',
  'Begun and settled without a merchant.',
  bindHandlers(api, {
    begin: ({ body }, context) => begin(body, context),
    charge,
    deleteToken,
    settle: ({ params, body }, context) => settle(params.id, body.outcome, context),
  }),
)

type Areas = typeof realAreas & { readonly machinePayments: typeof machinePayments }

/** All areas except the one that makes real machine payments, which does not know these. */
export const areasWithPayments = Object.fromEntries(
  Object.entries({ ...realAreas, machinePayments }).filter(([name]) => name !== 'mpp'),
) as Areas
