import { registerMppToken } from '../../../cards/agent-credentials/index.ts'
import {
  decideTokenPayment,
  loadTokenPayments,
  type TokenPayment,
  writeCardBatch,
} from '../../../cards/authorizations/index.ts'
import { workflowIdOf } from '../../../kernel/contract/process.ts'
import { hasCardNumber } from '../../../values/card-number.ts'
import { after } from '../../../values/clock.ts'
import { excerpt } from '../../../values/schemas.ts'
import {
  MppCredential,
  mppCredentialMachine,
  OPEN_FOR_MS,
  SENT_GRACE_MS,
  type senders,
} from '../credential.ts'
import { credentialEvent } from '../events.ts'
import { merchantOf, plainHost } from '../hosts.ts'
import { requestDigest, shownUrl } from '../merchant-request.ts'
import { mppProcess } from '../process.ts'
import { rulesOnIntent } from '../protect.ts'
import { mintRefusals, offerRefusals } from '../refusals.ts'
import { payeeProblem } from './address.ts'
import type { Minted } from './ask.ts'
import type { Asking, GivingBack, PayProblem } from './reservation.ts'
import type { PayContext } from './reserve.ts'

type Sender = (typeof senders)[number]

/**
 * Decides with everything locked, begins the intent's payment, and puts the credential on record: all before a byte of it
 * leaves. Where something has changed since the merchant was asked, the token is given back.
 */
export async function commitMint(
  minted: Minted,
  asking: Asking,
  sentBy: Sender,
  context: PayContext,
): Promise<MppCredential | GivingBack> {
  const problem = await decide(minted, asking, context)
  return problem ? givenBack(minted, asking, problem) : put(minted, asking, sentBy, context)
}

async function decide(minted: Minted, asking: Asking, context: PayContext): Promise<PayProblem | undefined> {
  const { sql } = context
  const payment = paymentOf(minted, asking)
  const { agentId, intentId, intentMerchant } = asking.subject
  const [batch, rules] = await Promise.all([
    loadTokenPayments(sql, context, { payments: [payment] }),
    rulesOnIntent(intentId, context),
  ])
  const url = new URL(asking.request.url)
  const changed = payeeProblem(url, { agentId, merchant: intentMerchant }, rules)
  if (changed) return changed
  if (!minted.offer.card.acceptedNetworks.includes(minted.issued.network))
    return { code: 'network_not_accepted', message: offerRefusals.network_not_accepted[1] }
  const decided = decideTokenPayment(payment, batch, context)
  if (decided.blocker !== null) return blocked(decided.blocker, decided.message)
  context.sendAlong(writeCardBatch(batch, sql))
  return decided.decision.allowed
    ? undefined
    : { code: 'payment_denied', message: decided.decision.reason ?? mintRefusals.payment_denied[1] }
}

const all = { ...mintRefusals, ...offerRefusals }

const blocked = (code: keyof typeof all, message: string = all[code][1]): PayProblem => ({ code, message })

function paymentOf({ offer, issued }: Minted, { subject, request }: Asking): TokenPayment {
  const url = new URL(request.url)
  return {
    mppCredentialId: subject.credentialId,
    tokenId: issued.tokenId,
    agentId: subject.agentId,
    intentId: subject.intentId,
    cardId: subject.cardId,
    numberId: subject.numberId,
    amountEuros: offer.charge.amount,
    host: plainHost(url),
    url: shownUrl(url),
  }
}

const givenBack = ({ issued }: Minted, { subject }: Asking, problem: PayProblem): GivingBack => ({
  stage: 'give back',
  credentialId: subject.credentialId,
  mode: subject.mode,
  tokenId: issued.tokenId,
  now: subject.now,
  problem,
})

/** Puts token and credential on record, and starts the process that looks after what is left of them. */
function put(minted: Minted, asking: Asking, sentBy: Sender, context: PayContext): MppCredential {
  const { records, emit } = context
  const { offer, issued } = minted
  const { subject } = asking
  const { credentialId, agentId, delegationId, intentId, cardId } = subject
  const amountEuros = offer.charge.amount
  const token = registerMppToken(
    {
      mppCredentialId: credentialId,
      agentId,
      delegationId,
      intentId,
      cardId,
      amountEuros,
      merchantHost: plainHost(new URL(asking.request.url)),
      keyThumbprint: minted.keyThumbprint,
      expiresAt: minted.expiresAt,
      processor: context.ports.cardProcessor(subject.mode).name,
      issued,
    },
    context,
  )
  const credential = records.create(MppCredential, {
    id: credentialId,
    agentId,
    delegationId,
    intentId,
    cardId,
    amountEuros,
    agentCredentialId: token.id,
    sentBy,
    ...tracesOf(minted, asking),
  })
  emit('mpp.credential.minted', credentialEvent(credential))
  begin(credential, context)
  return credential
}

function tracesOf({ offer, issued, digest }: Minted, { request, subject }: Asking) {
  const url = new URL(request.url)
  return {
    merchant: merchantOf(url),
    merchantName: hasCardNumber(offer.card.merchantName) ? null : excerpt(offer.card.merchantName),
    url: shownUrl(url),
    method: request.method,
    network: issued.network,
    challengeId: offer.challenge.id,
    challenge: offer.challenge,
    requestDigest: requestDigest(request),
    credentialDigest: digest,
    askedAt: new Date(subject.now),
  }
}

/** A credential that the service sends counts as sent from here on: whoever comes after a crash cannot know better. */
function begin(credential: MppCredential, { now, wake, ports }: PayContext): void {
  const isSent = credential.sentBy === 'service'
  if (isSent) mppCredentialMachine.move(credential, 'sent')
  credential.sentAt = isSent ? now : null
  credential.dueAt = after(now, isSent ? SENT_GRACE_MS : OPEN_FOR_MS)
  if (isSent && ports.mppRuns === 'open') return
  credential.workflowId = workflowIdOf(mppProcess, credential.id)
  wake(mppProcess, credential)
}

export const isGivenBack = (committed: MppCredential | GivingBack): committed is GivingBack =>
  !(committed instanceof MppCredential)
