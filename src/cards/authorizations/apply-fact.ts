import {
  type ApplyContext,
  applyFact,
  type Evidence,
  type PaymentFact,
} from '../../control/payments/index.ts'
import { cardProcess } from '../cards/index.ts'
import type { AuthorizationRow } from './authorization-rows.ts'
import type { CardBatch } from './batch.ts'
import { cardChannel } from './channel.ts'

/** Applies a fact about a payment by card. A single-use card closes after the last clearing of its payment. */
export function applyCardFact(
  row: AuthorizationRow,
  fact: PaymentFact,
  evidence: Evidence,
  batch: CardBatch,
  context: ApplyContext,
): void {
  const { isOver, clearedCents } = applyFact(row, fact, cardChannel, evidence, batch, context)
  const { cardId, agentId } = row
  if (!isOver || clearedCents === 0n || cardId === null || !batch.singleUse.has(cardId)) return
  batch.spent.add(cardId)
  context.wake(cardProcess, { id: cardId, agentId })
}
