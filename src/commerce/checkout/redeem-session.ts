import {
  type DisclosureRequest,
  disclose,
  recordLost,
  recordOutcome,
  redeem,
} from '../../cards/access-events/index.ts'
import { type ContextOf, externalCall, type InputOf } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { hashOf } from '../../kernel/database/credential.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import type { Disclosure, ProcessorFailure } from '../../ports/card-processor.ts'
import { checkoutApi, unusableRefusals } from './api.ts'
import { CheckoutSession, sessionEvent, sessionMachine, unusableReason } from './session.ts'

type Context = ContextOf<typeof checkoutApi.credential>
type Body = InputOf<typeof checkoutApi.credential>['body']

/** Stored before the call, so its members must be JSON. */
type Redemption = DisclosureRequest & { readonly sessionId: string }

async function reserve({ token, ...recipient }: Body, context: Context): Promise<Redemption | Refusal> {
  const { records, now, emit, refuse } = context
  const session = await records.findOne(CheckoutSession, { hash: hashOf(token) }, { lock: true })
  if (!session) return refuse('session_not_found')
  const code = unusableReason(session, now)
  const unusable = code && { code, message: unusableRefusals[code][1] }
  const { id, cardId, intentId, merchantHost } = session
  const request = await redeem(
    { id, way: 'session', cardId, intentId, merchantHost, unusable },
    recipient,
    context,
  )
  if (request instanceof Refusal) return request
  sessionMachine.move(session, 'redeemed')
  Object.assign(session, {
    redeemedAt: now,
    accessEventId: request.accessEventId,
    keyThumbprint: request.key.thumbprint,
  })
  emit('checkout_session.redeemed', sessionEvent(session))
  return { ...request, sessionId: id }
}

async function reopen(id: string, { records, emit }: Context): Promise<void> {
  const session = await records.lock(CheckoutSession, id)
  if (!session || !sessionMachine.move(session, 'open')) return
  Object.assign(session, { redeemedAt: null, accessEventId: null, keyThumbprint: null })
  emit('checkout_session.reopened', sessionEvent(session))
}

async function record(
  answer: Disclosure | ProcessorFailure,
  { sessionId, accessEventId }: Redemption,
  context: Context,
) {
  const given = await recordOutcome(answer, accessEventId, context)
  if (given instanceof Refusal) {
    await reopen(sessionId, context)
    return given
  }
  const session = await context.records.findOneOrFail(CheckoutSession, { id: sessionId })
  return withMembers(session, { jwe: given.jwe })
}

async function recover({ sessionId, accessEventId }: Redemption, context: Context): Promise<Refusal> {
  await reopen(sessionId, context)
  return recordLost(accessEventId, context)
}

/** Uses up the token before it calls the processor, so of two concurrent redemptions only one succeeds. */
export const redeemSession = externalCall(checkoutApi.credential, {
  reserve: ({ body }, context) => reserve(body, context),
  call: disclose,
  record,
  recover,
})
