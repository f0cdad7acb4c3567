import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { ExternalCallContext } from '../../../kernel/contract/handlers.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { type PaymentChallenge, parseChallenges } from '../../../mpp/index.ts'
import { isProcessorFailure } from '../../../ports/card-processor.ts'
import { mintRefusals } from '../api.ts'
import type { MppCredential, OrderedToken } from '../credential.ts'
import { type MerchantRequest, merchantRequestDigest } from '../merchant-request.ts'
import { isOffer, readOffer } from '../offers.ts'
import { PROCESSOR_CODES } from './mint.ts'
import type { MachinePaymentProblem, SendablePayment } from './payment.ts'
import type { Shared, Unshared, Waiting } from './share.ts'

/** A payment that has begun, whose shared payment token a person must confirm before it is sent. */
interface WaitingPayment extends Pick<SendablePayment, 'authorizationId' | 'agentId' | 'cardId'> {
  readonly id: string
  readonly intentId: string
  readonly sentBy: MppCredential['sentBy']
  readonly requestDigest: string
  readonly challenge: PaymentChallenge
  readonly sharedToken: OrderedToken
}

const WAITING = `
select c.id, c.intent_id as "intentId", c.agent_id as "agentId", c.card_id as "cardId", c.sent_by as "sentBy",
  c.request_digest as "requestDigest", c.challenge, c.shared_token as "sharedToken", a.id as "authorizationId"
from unnest($3::text[]) as w (intent)
cross join lateral (
  select * from mpp_credentials one where (one.owner_id, one.mode, one.intent_id) = ($1, $2, w.intent)
    and one.status = 'minted' and one.next_action is not null order by one.id desc limit 1) c
cross join lateral (
  select one.id from card_authorizations one
  where (one.owner_id, one.mode, one.intent_id, one.mpp_credential_id) = ($1, $2, c.intent_id, c.id) limit 1) a`

export const findWaitingPayments = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  intentIds: readonly string[],
): Promise<readonly WaitingPayment[]> =>
  sql<WaitingPayment & Row>(WAITING, [ownerId, mode, [...new Set(intentIds)]])

interface Repetition {
  readonly sentBy: MppCredential['sentBy']
  readonly request: MerchantRequest
  readonly challenge: string | null
}

/** Only the same request goes on: another one has not been decided. */
export function isRepetition(waiting: WaitingPayment, { sentBy, request, challenge }: Repetition): boolean {
  if (waiting.sentBy !== sentBy || waiting.requestDigest !== merchantRequestDigest(request)) return false
  const given = challenge === null ? [] : parseChallenges([challenge]).challenges
  return challenge === null || given.some(({ id }) => id === waiting.challenge.id)
}

export interface Confirming {
  readonly waiting: WaitingPayment
  readonly mode: SendablePayment['mode']
  readonly request: MerchantRequest
  readonly askedAt: Date
}

/** Asks the processor whether the person has confirmed the token. */
export async function readConfirmation(
  { waiting, mode, request, askedAt }: Confirming,
  { systems, requestId }: ExternalCallContext,
): Promise<Shared | Waiting | Unshared | MachinePaymentProblem> {
  const { id: credentialId, authorizationId, agentId, cardId, challenge, sharedToken: order } = waiting
  const { sharedTokens } = systems.cardProcessor(mode)
  const offer = readOffer(challenge, 'stripe')
  const { unconfirmed } = order
  if (!sharedTokens || !unconfirmed || !isOffer(offer))
    throw new Error(`${credentialId}: no token is waited for`)
  const state = await sharedTokens.stateOf(unconfirmed.tokenId, {
    reference: `${credentialId}-state`,
    requestId,
    now: askedAt,
  })
  if (isProcessorFailure(state)) {
    const code = PROCESSOR_CODES[state.failure]
    return { code, message: mintRefusals[code][1] }
  }
  const token = { ...unconfirmed, state }
  if (state.status === 'ended') return { kind: 'unshared', credentialId, failure: 'refused' }
  if (state.status === 'requires_action')
    return state.action
      ? { kind: 'waiting', credentialId, order, token, action: state.action }
      : { kind: 'unshared', credentialId, failure: 'requires_action' }
  const payment = { mppCredentialId: credentialId, authorizationId, agentId, cardId, mode, request, askedAt }
  return { kind: 'shared', payment, order, offer, token }
}
