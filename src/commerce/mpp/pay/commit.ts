import { mppTokenEvents, registerMppToken } from '../../../cards/agent-credentials/index.ts'
import {
  type CardBatch,
  decideTokenPayment,
  loadTokenPayments,
  tokenPaymentEvents,
  writeCardBatch,
} from '../../../cards/authorizations/index.ts'
import { agentLanes } from '../../../control/intents/index.ts'
import type { EmitContext } from '../../../kernel/contract/context.ts'
import { type BatchedStep, HotCall } from '../../../kernel/contract/handlers.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { workflowIdOf } from '../../../kernel/contract/process.ts'
import type { Records } from '../../../kernel/contract/records.ts'
import { tenantRecords } from '../../../kernel/database/entity-records.ts'
import { hasCardNumber } from '../../../values/card-number.ts'
import { addMs } from '../../../values/clock.ts'
import { truncateText } from '../../../values/schemas.ts'
import { credentialMintEvents, merchantOfferRefusals, mintRefusals } from '../api.ts'
import {
  type credentialSenders,
  INDETERMINATE_TTL_MS,
  MppCredential,
  mppCredentialEvent,
  mppCredentialMachine,
  SENT_CREDENTIAL_GRACE_MS,
} from '../credential.ts'
import { merchantHost } from '../hosts.ts'
import { merchantRequestDigest } from '../merchant-request.ts'
import { mppProcess } from '../process.ts'
import { protectRulesForIntents } from '../protect.ts'
import type { ProtectRule } from '../protect-rule.ts'
import { payableHostProblem } from './address.ts'
import { type HandedOver, handOver } from './hand-over.ts'
import type { PayableOffer } from './mint.ts'
import type {
  BegunPayment,
  ChosenPayment,
  MachinePaymentProblem,
  MachinePaymentProblemCode,
  ReturnTokenStage,
  ShareStage,
} from './payment.ts'
import { AGENT_LOCK_TIMEOUTS } from './send.ts'
import { createSharedToken, type NotShared, recordShared } from './share.ts'

const mintingEvents = { ...tokenPaymentEvents, ...mppTokenEvents, ...credentialMintEvents }

interface State extends Pick<Ports, 'systems' | 'settings'> {
  readonly batch: CardBatch
  readonly rules: readonly ProtectRule[]
  readonly records: Records
}

export type MintCredentialStep = BatchedStep<
  PayableOffer,
  HandedOver | HotCall<ShareStage | ReturnTokenStage, NotShared>,
  MachinePaymentProblemCode,
  typeof mintingEvents,
  State
>

/**
 * Decides with all rows locked, begins the intent's payment and records the credential, before a byte of it
 * leaves. If a fact has changed since the merchant was asked, the token is returned.
 */
export const mintCredentialStep = (sentBy: (typeof credentialSenders)[number]): MintCredentialStep => ({
  name: 'mint',
  lanes: agentLanes(({ payment }) => payment.agentId, AGENT_LOCK_TIMEOUTS),

  async load(items, sql, { systems, settings }) {
    const { tenant, now } = items[0]
    const records = tenantRecords(sql, { tenant, now })
    const payments = items.map(({ input }) => input.payment)
    const intentIds = payments.map(({ intentId }) => intentId)
    const [batch, rules] = await Promise.all([
      loadTokenPayments(sql, { tenant, now }, { payments }),
      protectRulesForIntents(intentIds, { records, tenant }),
    ])
    return { batch, rules, records, systems, settings }
  },

  decide(item, { batch, rules, records, systems, settings }, verdict) {
    const { payment, minted, order, keyThumbprint, expiresAt } = item.input
    const context = { ...item, ...verdict, records, systems, settings }
    const refuse = ({ code, message }: MachinePaymentProblem) =>
      minted ? returnToken(payment, minted.issued.tokenId, { code, message }) : verdict.refuse(code, message)
    const problem = changedSince(item.input, rules)
    if (problem) return refuse(problem)
    const decided = decideTokenPayment(payment, batch, context)
    if (decided.blocker !== null) return refuse(blocked(decided.blocker, decided.message))
    const { authorizationId, decision } = decided
    if (authorizationId === null) return refuse(blocked('payment_denied', decision.reason))
    const { mppCredentialId, agentId, delegationId, intentId, cardId, amountCents, host } = payment
    const members = { agentId, delegationId, intentId, cardId, amountCents }
    const processor = systems.cardProcessor(payment.mode).name
    const issued = minted?.issued ?? null
    const token = registerMppToken(
      { ...members, mppCredentialId, merchantHost: host, keyThumbprint, expiresAt, processor, issued },
      context,
    )
    const credential = records.create(MppCredential, {
      ...members,
      ...tracesOf(item.input),
      id: mppCredentialId,
      agentCredentialId: token.id,
      sentBy,
    })
    verdict.emit('mpp.credential.minted', mppCredentialEvent(credential))
    follow(credential, context)
    const begun: BegunPayment = { ...payment, authorizationId }
    if (minted) return handOver(credential, { ...begun, sharedTokenId: null }, minted)
    if (!order) throw new Error('an offer that neither was minted for nor orders a token')
    const sharing = { payment: begun, order, offer: item.input.offer }
    return new HotCall({ stage: 'share', credentialId: mppCredentialId }, async outside =>
      recordShared(await createSharedToken(sharing, outside)),
    )
  },

  async write({ batch, records }, sql) {
    await Promise.all([writeCardBatch(batch, sql), records.flush()])
  },
})

/** Makes the processor delete a token that was never sent. If it does not answer, the token expires within a day. */
const returnToken = (
  { mppCredentialId, mode, askedAt: now }: ChosenPayment,
  tokenId: string,
  problem: MachinePaymentProblem,
): HotCall<ReturnTokenStage, MachinePaymentProblem> =>
  new HotCall({ stage: 'give back', problem }, async ({ systems, requestId }) => {
    const { setNetworkToken } = systems.cardProcessor(mode)
    await setNetworkToken?.(tokenId, 'deleted', { reference: `${mppCredentialId}-unused`, requestId, now })
    return problem
  })

function changedSince(
  { payment, offer, minted }: PayableOffer,
  rules: readonly ProtectRule[],
): MachinePaymentProblem | undefined {
  const { agentId, intentMerchant: merchant, request } = payment
  const changed = payableHostProblem(new URL(request.url), { agentId, merchant }, rules)
  if (changed) return changed
  const isAccepted =
    offer.method === 'stripe' || (minted && offer.card.acceptedNetworks.includes(minted.issued.network))
  return isAccepted ? undefined : blocked('network_not_accepted')
}

const all = { ...mintRefusals, ...merchantOfferRefusals }

const blocked = (code: keyof typeof all, message: string = all[code][1]): MachinePaymentProblem => ({
  code,
  message,
})

/** The method `stripe` names no merchant, and no card network before the payment. */
function tracesOf({ offer, minted, order, payment: { request, url, conversion, askedAt } }: PayableOffer) {
  const name = offer.method === 'card' ? offer.card.merchantName : ''
  return {
    merchant: merchantHost(new URL(request.url)),
    merchantName: name === '' || hasCardNumber(name) ? null : truncateText(name),
    url,
    method: request.method,
    conversion,
    network: minted?.issued.network ?? offer.method,
    challengeId: offer.challenge.id,
    challenge: offer.challenge,
    requestDigest: merchantRequestDigest(request),
    credentialDigest: minted?.digest ?? '',
    sharedToken: order,
    askedAt,
  }
}

/**
 * Starts the process that follows a credential. A minted one that the service sends counts as sent from here
 * on, since after a crash its fate is unknown.
 */
function follow(
  credential: MppCredential,
  { now, wake, settings }: EmitContext & Pick<Ports, 'settings'>,
): void {
  const isOurs = credential.sentBy === 'service'
  const isMinted = credential.credentialDigest !== ''
  const isSent = isOurs && isMinted
  if (isSent) mppCredentialMachine.move(credential, 'sent')
  credential.sentAt = isSent ? now : null
  credential.dueAt = addMs(now, isOurs || !isMinted ? SENT_CREDENTIAL_GRACE_MS : INDETERMINATE_TTL_MS)
  if (isOurs && settings.mppWorkflows === 'open') return
  credential.workflowId = workflowIdOf(mppProcess, credential.id)
  wake(mppProcess, credential)
}
