import { foldFacts, type PaymentFacts, type PaymentState } from '../../../control/payments/index.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { Euros } from '../../../values/money.ts'
import type { chargeEvents } from '../../agent-credentials/index.ts'
import type { AuthorizationRow } from '../authorization-rows.ts'
import type { CardBatch } from '../batch.ts'

/**
 * Tells of a payment by a network token what has become known of it just now: that it was authorized or cleared, or that
 * it was declined, also where all that was authorized was taken back, reversed or has run out uncleared.
 */
export function tellOfToken(
  row: AuthorizationRow,
  factsBefore: PaymentFacts,
  { credentials }: Pick<CardBatch, 'credentials'>,
  { emit }: Pick<Context<never, typeof chargeEvents>, 'emit'>,
): void {
  if (row.networkTokenId === null) return
  const credential = credentials.find(row.networkTokenId)
  if (!credential) return
  const [before, after] = [foldFacts(factsBefore), foldFacts(row.facts)]
  const cleared = after.clearedCents - before.clearedCents
  const authorized = authorizedOf(after) - authorizedOf(before)
  const { agentId, cardId, intentId, status } = credential
  const { mppCredentialId, transactionId } = row
  const data = {
    agentCredentialId: credential.id,
    mppCredentialId,
    agentId,
    intentId,
    cardId,
    status,
    transactionId,
  }
  const isHeard = row.facts !== factsBefore && heardOf(row.facts) > heardOf(factsBefore)
  if (cleared > 0n || authorized > 0n)
    emit('agent_credential.charged', { ...data, amountEuros: cleared > 0n ? cleared : authorized })
  else if (row.amountEuros > 0n && !isPaying(after) && (isHeard || authorized < 0n))
    emit('agent_credential.declined', { ...data, amountEuros: row.amountEuros })
}

/** What is authorized: nothing any more where the payment is over, and the merchant has collected nothing of it. */
const authorizedOf = ({ approvedCents, clearedCents, isOver }: PaymentState): Euros =>
  isOver && clearedCents === 0n ? 0n : approvedCents

const isPaying = (state: PaymentState): boolean => authorizedOf(state) + state.clearedCents > 0n

/** How many answers to requests are known, ours and the processor's own. */
const heardOf = ({ asks, outcome }: PaymentFacts): number => asks.length + outcome.length
