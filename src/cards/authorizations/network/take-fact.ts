import type { IntentSearch } from '../../../control/intents/index.ts'
import { type ApplyContext, evidenceOf, type PaymentFact } from '../../../control/payments/index.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { CardFact, CardReply } from '../../../ports/card-processor.ts'
import type { chargeEvents } from '../../agent-credentials/index.ts'
import { applyCardFact } from '../apply-fact.ts'
import type { AuthorizationRow } from '../authorization-rows.ts'
import type { CardBatch } from '../batch.ts'
import { blankAuthorization, isUnplaced, type PaidFrom, place } from '../blank-authorization.ts'
import { TOO_LATE } from '../blockers.ts'
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
  const messageId = incoming.message.id
  const evidence = evidenceOf(`card_${content.kind}`, messageId, row.id, messageId)
  const before = row.facts
  applyCardFact(row, factOf(content, messageId), evidence, batch, context)
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

/** The fact that a message of the network states. */
function factOf(content: CardFact, messageId: string): PaymentFact {
  switch (content.kind) {
    case 'reversal':
      return { type: 'reversed', id: messageId, cents: content.amountEuros }
    case 'expiry':
      return { type: 'expired' }
    case 'clearing': {
      const { clearingId: id, amountEuros: cents, final, authorizationId } = content
      return { type: 'cleared', id, cents, final: final || authorizationId === null }
    }
    case 'refund':
      return { type: 'refunded', id: content.refundId, cents: content.amountEuros }
    case 'outcome':
      return {
        type: 'answered',
        answers: content.asks.map(({ amountEuros: cents, approved }) => ({ cents, approved })),
      }
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
  row.declineReason ??= TOO_LATE
  const evidence = evidenceOf('card_authorization', messageId, row.id, `${messageId}/late`)
  const before = row.facts
  applyCardFact(row, { type: 'answered_late', increment: ask }, evidence, batch, context)
  tellOfToken(row, before, batch, context)
}
