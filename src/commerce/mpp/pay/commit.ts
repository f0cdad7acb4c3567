import { mppTokenEvents, registerMppToken } from '../../../cards/agent-credentials/index.ts'
import {
  agentLanes,
  type CardBatch,
  decideTokenPayment,
  loadTokenPayments,
  tokenPaymentEvents,
  writeCardBatch,
} from '../../../cards/authorizations/index.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { type BatchedStep, CallExternal, chainExternalCall } from '../../../kernel/contract/handlers.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { workflowIdOf } from '../../../kernel/contract/process.ts'
import type { Records } from '../../../kernel/contract/records.ts'
import { withMembers } from '../../../kernel/database/entity.ts'
import { tenantRecords } from '../../../kernel/database/record-store.ts'
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
import { merchantRequestDigest, merchantRequestHeaders } from '../merchant-request.ts'
import { mppProcess } from '../process.ts'
import { protectRulesForIntents } from '../protect.ts'
import type { ProtectRule } from '../protect-rule.ts'
import { payableHostProblem } from './address.ts'
import type { MintedCredential } from './mint.ts'
import type {
  MachinePaymentProblem,
  MachinePaymentProblemCode,
  MachinePaymentStage,
  MintedPayment,
  ReturnTokenStage,
  SentPayment,
} from './payment.ts'
import { AGENT_LOCK_TIMEOUTS, isMachinePaymentPaid, recordPaidStep, sendCredential } from './send.ts'

const mintingEvents = { ...tokenPaymentEvents, ...mppTokenEvents, ...credentialMintEvents }

interface State {
  readonly batch: CardBatch
  readonly rules: readonly ProtectRule[]
  readonly records: Records
  readonly ports: Ports
}

type Decided = ShownCredential | CallExternal<MachinePaymentStage>
type ShownCredential = MppCredential & { readonly header: string; readonly credential: string }

export type MintCredentialStep = BatchedStep<
  MintedCredential,
  Decided,
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

  async load(items, sql, ports) {
    const { tenant, now } = items[0]
    const records = tenantRecords(sql, { tenant, now })
    const payments = items.map(({ input }) => input.payment)
    const intentIds = payments.map(({ intentId }) => intentId)
    const [batch, rules] = await Promise.all([
      loadTokenPayments(sql, { tenant, now }, { payments }),
      protectRulesForIntents(intentIds, { records, tenant }),
    ])
    return { batch, rules, records, ports }
  },

  decide(item, { batch, rules, records, ports }, verdict) {
    const { payment, issued, keyThumbprint, expiresAt, header, credential: value } = item.input
    const context = { ...item, ...verdict, records, ports }
    const problem = changedSince(item.input, rules)
    if (problem) return new CallExternal(givingBack(payment, problem))
    const decided = decideTokenPayment(payment, batch, context)
    if (decided.blocker !== null)
      return new CallExternal(givingBack(payment, blocked(decided.blocker, decided.message)))
    const { authorizationId, decision } = decided
    if (authorizationId === null)
      return new CallExternal(givingBack(payment, blocked('payment_denied', decision.reason)))
    const { mppCredentialId, agentId, delegationId, intentId, cardId, amountCents, host, request } = payment
    const members = { agentId, delegationId, intentId, cardId, amountCents }
    const processor = ports.cardProcessor(payment.mode).name
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
    if (sentBy === 'caller')
      return withMembers(credential, { header: shownHeader(header), credential: value })
    const headers = { ...merchantRequestHeaders(request.headers, header), [header]: value }
    const sent: SentPayment = { ...payment, authorizationId, request: { ...request, headers } }
    return chainExternalCall(
      { stage: 'send', credentialId: mppCredentialId },
      { value: sent, call: sendCredential, step: recordPaidStep, accepts: isMachinePaymentPaid },
    )
  },

  async write({ batch, records }, sql) {
    await Promise.all([writeCardBatch(batch, sql), records.flush()])
  },
})

const givingBack = (payment: MintedPayment, problem: MachinePaymentProblem): ReturnTokenStage => ({
  stage: 'give back',
  credentialId: payment.mppCredentialId,
  mode: payment.mode,
  tokenId: payment.tokenId,
  now: payment.askedAt.toISOString(),
  problem,
})

const shownHeader = (header: string): string =>
  header === 'authorization' ? 'Authorization' : 'Payment-Authorization'

function changedSince(
  { payment, offer, issued }: MintedCredential,
  rules: readonly ProtectRule[],
): MachinePaymentProblem | undefined {
  const { agentId, intentMerchant: merchant, request } = payment
  const changed = payableHostProblem(new URL(request.url), { agentId, merchant }, rules)
  if (changed) return changed
  return offer.card.acceptedNetworks.includes(issued.network) ? undefined : blocked('network_not_accepted')
}

const all = { ...mintRefusals, ...merchantOfferRefusals }

const blocked = (code: keyof typeof all, message: string = all[code][1]): MachinePaymentProblem => ({
  code,
  message,
})

function tracesOf({
  offer,
  issued,
  digest,
  payment: { request, url, conversion, askedAt },
}: MintedCredential) {
  return {
    merchant: merchantHost(new URL(request.url)),
    merchantName: hasCardNumber(offer.card.merchantName) ? null : truncateText(offer.card.merchantName),
    url,
    method: request.method,
    conversion,
    network: issued.network,
    challengeId: offer.challenge.id,
    challenge: offer.challenge,
    requestDigest: merchantRequestDigest(request),
    credentialDigest: digest,
    askedAt,
  }
}

/**
 * Starts the process that follows a credential. A credential that the service sends counts as sent from here
 * on, since after a crash its fate is unknown.
 */
function follow(
  credential: MppCredential,
  { now, wake, ports }: Pick<Context, 'now' | 'wake' | 'ports'>,
): void {
  const isSent = credential.sentBy === 'service'
  if (isSent) mppCredentialMachine.move(credential, 'sent')
  credential.sentAt = isSent ? now : null
  credential.dueAt = addMs(now, isSent ? SENT_CREDENTIAL_GRACE_MS : INDETERMINATE_TTL_MS)
  if (isSent && ports.mppWorkflows === 'open') return
  credential.workflowId = workflowIdOf(mppProcess, credential.id)
  wake(mppProcess, credential)
}
