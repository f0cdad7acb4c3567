import type { IntentSearch } from '../../../control/intents/index.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { CardFact, CardReply } from '../../../ports/card-processor.ts'
import type { chargeEvents } from '../../agent-credentials/index.ts'
import type { AuthorizationRow } from '../authorization-rows.ts'
import type { CardBatch } from '../batch.ts'
import { blankAuthorization, isUnplaced, type PaidFrom, place } from '../blank-authorization.ts'
import { TOO_LATE } from '../blockers.ts'
import { type ApplyContext, applyFacts } from '../standing/apply.ts'
import { type Facts, withClearing, withFact, withOutcome } from '../standing/facts.ts'
import { postingsOf } from '../standing/payment.ts'
import type { IncomingMessage } from './incoming-message.ts'
import { processorRefOf } from './needs.ts'
import { tellOfToken } from './token-events.ts'

export type FactContext = ApplyContext & Pick<Context<never, typeof chargeEvents>, 'emit'>

export interface IncomingFact {
  readonly incoming: IncomingMessage
  readonly content: CardFact
  readonly existing: AuthorizationRow | undefined
  readonly search: IntentSearch | undefined
}

const UNKNOWN_MERCHANT = { descriptor: 'unknown merchant', mcc: null, country: null }

/** Books a fact: the end is the same in whatever order facts come, and however often. */
export function takeFact(fact: IncomingFact, batch: CardBatch, context: FactContext): CardReply {
  const { incoming, content, existing, search } = fact
  const row = existing ?? addPayment(fact, batch)
  if (existing && 'merchant' in content && isUnplaced(existing))
    place(existing, content.merchant, placeOf(incoming, search, batch))
  row.cardId ??= incoming.cardId
  row.processorRef ??= refToKeep(row, content)
  const evidence = { type: `card_${content.kind}`, id: incoming.message.id }
  const before = row.facts
  const facts = withMessage(before, content, incoming.message.id)
  applyFacts(row, facts, evidence, batch, postingsOf(incoming.message.id), context)
  tellOfToken(row, before, batch, context)
  return { kind: 'noted' }
}

/** A machine payment is found by its token, and keeps the network's name of its authorization, which may still come. */
const refToKeep = ({ mppCredentialId }: AuthorizationRow, content: CardFact): string | null =>
  mppCredentialId === null ? processorRefOf(content) : content.authorizationId

/** A payment of which no request was ever seen: an intent may cover it, else the card's purse or the wallet pays. */
function addPayment({ incoming, content, search }: IncomingFact, batch: CardBatch): AuthorizationRow {
  const merchant = 'merchant' in content ? content.merchant : UNKNOWN_MERCHANT
  const place = placeOf(incoming, search, batch)
  const { agentId, cardId } = incoming
  const { descriptor, mcc, country } = merchant
  const named = { agentId, cardId, processorRef: processorRefOf(content), descriptor, mcc, country }
  const row = blankAuthorization(named, place, batch)
  batch.authorizations.add(row)
  batch.changed.newAuthorizations.add(row)
  return row
}

function placeOf(
  { agentId, numberId }: IncomingMessage,
  search: IntentSearch | undefined,
  { agents, cards, candidates, payments }: CardBatch,
): PaidFrom {
  const wallet = agents.get(agentId)?.walletId ?? ''
  const found = ((search && candidates.get(search)) ?? []).map(id => payments.find(id))
  const intent = found.find(one => one && payments.blockerOf(one) === undefined)
  if (intent) return { intent, source: 'intent', walletId: wallet }
  const purse = cards.get(numberId)?.walletId
  return purse
    ? { intent: undefined, source: 'purse', walletId: purse }
    : { intent: undefined, source: 'wallet', walletId: wallet }
}

/** Adds a message to what is known. */
function withMessage(facts: Facts, content: CardFact, messageId: string): Facts {
  switch (content.kind) {
    case 'reversal': {
      const amount = content.amountEuros === null ? null : String(content.amountEuros)
      return { ...facts, reversals: withFact(facts.reversals, { id: messageId, amount }) }
    }
    case 'expiry':
      return { ...facts, expired: true }
    case 'clearing': {
      const { clearingId: id, amountEuros, final, authorizationId } = content
      const clearing = { id, amount: String(amountEuros), final: final || authorizationId === null }
      return { ...facts, clearings: withClearing(facts.clearings, clearing) }
    }
    case 'refund': {
      const refund = { id: content.refundId, amount: String(content.amountEuros) }
      return { ...facts, refunds: withFact(facts.refunds, refund) }
    }
    case 'outcome':
      return withOutcome(
        facts,
        content.asks.map(({ amountEuros, approved }) => ({ amount: String(amountEuros), approved })),
      )
  }
}

/** Undoes the approval of a request that was answered too late. */
export function withdrawAsk(
  row: AuthorizationRow,
  ask: number,
  messageId: string,
  batch: CardBatch,
  context: FactContext,
): void {
  if (row.facts.asks.some(one => one.ask === ask && one.approved === '0')) return
  const asks = row.facts.asks.map(one => (one.ask === ask ? { ...one, approved: '0' } : one))
  row.declineReason ??= TOO_LATE
  const evidence = { type: 'card_authorization', id: messageId }
  const before = row.facts
  applyFacts(row, { ...before, asks }, evidence, batch, postingsOf(`${messageId}/late`), context)
  tellOfToken(row, before, batch, context)
}
