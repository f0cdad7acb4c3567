import type { Context } from '../../../kernel/contract/context.ts'
import type { chargeEvents } from '../../agent-credentials/index.ts'
import type { AuthorizationRow } from '../authorization-rows.ts'
import type { CardBatch } from '../batch.ts'
import { type Facts, standingOf } from '../standing/facts.ts'

/**
 * Tells of a payment by a network token what the network has said of it just now: that it was authorized or cleared, or
 * that it was declined, also where an approval was taken back.
 */
export function tellOfToken(
  row: AuthorizationRow,
  factsBefore: Facts,
  { credentials }: Pick<CardBatch, 'credentials'>,
  { emit }: Pick<Context<never, typeof chargeEvents>, 'emit'>,
): void {
  if (row.networkTokenId === null) return
  const credential = credentials.find(row.networkTokenId)
  if (!credential) return
  const [before, after] = [standingOf(factsBefore), standingOf(row.facts)]
  const cleared = after.clearedEuros - before.clearedEuros
  const approved = after.approvedEuros - before.approvedEuros
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
  if (cleared > 0n || approved > 0n)
    emit('agent_credential.charged', { ...data, amountEuros: cleared > 0n ? cleared : approved })
  else if (row.amountEuros > 0n && after.approvedEuros === 0n && (isHeard || approved < 0n))
    emit('agent_credential.declined', { ...data, amountEuros: row.amountEuros })
}

/** How many answers to requests are known, ours and the processor's own. */
const heardOf = ({ asks, outcome }: Facts): number => asks.length + outcome.length
