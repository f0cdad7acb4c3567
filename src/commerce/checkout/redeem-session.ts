import {
  type DisclosureRequest,
  discloseCardData,
  recordDisclosureOutcome,
  recordLostDisclosure,
  redeemCardAccess,
} from '../../cards/access-events/index.ts'
import { type ContextOf, externalCall, type InputOf } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { hashSecret } from '../../kernel/database/credential.ts'
import { FOR_UPDATE, withMembers } from '../../kernel/database/entity.ts'
import type { EncryptedDisclosure, ProcessorFailure } from '../../ports/card-processor.ts'
import { checkoutApi, unusableSessionRefusals } from './api.ts'
import {
  CheckoutSession,
  checkoutSessionEvent,
  checkoutSessionMachine,
  unusableSessionReason,
} from './session.ts'

type Context = ContextOf<typeof checkoutApi.credential>
type Body = InputOf<typeof checkoutApi.credential>['body']

/** Stored before the call, so its members must be JSON. */
type Redemption = DisclosureRequest & { readonly sessionId: string }

async function reserve({ token, ...recipient }: Body, context: Context): Promise<Redemption | Refusal> {
  const { em, now, emit, refuse } = context
  const session = await em.findOne(CheckoutSession, { hash: hashSecret(token) }, FOR_UPDATE)
  if (!session) return refuse('session_not_found')
  const code = unusableSessionReason(session, now)
  const unusable = code && { code, message: unusableSessionRefusals[code][1] }
  const { id, cardId, intentId, merchantHost } = session
  const request = await redeemCardAccess(
    { id, way: 'session', cardId, intentId, merchantHost, unusable },
    recipient,
    context,
  )
  if (request instanceof Refusal) return request
  checkoutSessionMachine.move(session, 'redeemed')
  Object.assign(session, {
    redeemedAt: now,
    accessEventId: request.accessEventId,
    keyThumbprint: request.key.thumbprint,
  })
  emit('checkout_session.redeemed', checkoutSessionEvent(session))
  return { ...request, sessionId: id }
}

async function reopen(id: string, { em, emit }: Context): Promise<void> {
  const session = await em.findOne(CheckoutSession, { id }, FOR_UPDATE)
  if (!session || !checkoutSessionMachine.move(session, 'open')) return
  Object.assign(session, { redeemedAt: null, accessEventId: null, keyThumbprint: null })
  emit('checkout_session.reopened', checkoutSessionEvent(session))
}

async function record(
  answer: EncryptedDisclosure | ProcessorFailure,
  { sessionId, accessEventId }: Redemption,
  context: Context,
) {
  const given = await recordDisclosureOutcome(answer, accessEventId, context)
  if (given instanceof Refusal) {
    await reopen(sessionId, context)
    return given
  }
  const session = await context.em.findOneOrFail(CheckoutSession, { id: sessionId })
  return withMembers(session, { jwe: given.jwe })
}

async function recover({ sessionId, accessEventId }: Redemption, context: Context): Promise<Refusal> {
  await reopen(sessionId, context)
  return recordLostDisclosure(accessEventId, context)
}

/** Uses up the token before it calls the processor, so of two concurrent redemptions only one succeeds. */
export const redeemCheckoutSession = externalCall(checkoutApi.credential, {
  reserve: ({ body }, context) => reserve(body, context),
  call: discloseCardData,
  record,
  recover,
})
