import type { z } from 'zod'
import { chargeEvents, mppTokenEvents } from '../../cards/agent-credentials/index.ts'
import { tokenPaymentEvents } from '../../cards/authorizations/index.ts'
import { reactionToAll } from '../../kernel/contract/area.ts'
import { MppCredential } from './credential.ts'
import { consume, lockPayment, type OutcomeContext } from './outcome.ts'
import { outcomeEvents } from './schemas.ts'

type Charge = z.output<(typeof chargeEvents)['agent_credential.charged']>

const emits = { ...tokenPaymentEvents, ...mppTokenEvents, ...outcomeEvents }

/** The machine payments among payments by network tokens, each with what was said of it last. */
const machinePayments = (events: readonly Charge[]): [string, Charge][] =>
  [
    ...new Map(
      events.flatMap(event => (event.mppCredentialId ? [[event.mppCredentialId, event] as const] : [])),
    ),
  ]
    .map(([id, event]): [string, Charge] => [id, event])
    .sort(([one], [other]) => (one < other ? -1 : 1))

/**
 * The card network has authorized or cleared a payment: an open outcome is known then. While the merchant is still to answer
 * it is only noted, for the authorization may be taken back before that.
 */
async function noteCharge(id: string, { transactionId }: Charge, context: OutcomeContext): Promise<void> {
  const credential = await context.records.lock(MppCredential, id)
  if (!credential || transactionId === null) return
  Object.assign(credential, { transactionId, declinedAt: null })
  if (credential.status !== 'sent') consume(credential, transactionId, 'network', context)
}

/**
 * The network has declined, or taken back what it authorized. Where a receipt or the owner has said that it was paid, it
 * stays so: its transaction tells the rest.
 */
async function noteDecline(id: string, context: OutcomeContext): Promise<void> {
  const payment = await lockPayment(id, context)
  if (!payment || payment.isConfirmed() || payment.credential.status === 'void') return
  const { credential } = payment
  Object.assign(credential, { transactionId: null, declinedAt: context.now })
  if (credential.status !== 'sent') await payment.giveUp('network')
}

export const networkReactions = {
  'agent_credential.charged': reactionToAll(
    chargeEvents['agent_credential.charged'],
    emits,
    async (events, context) => {
      for (const [id, event] of machinePayments(events)) await noteCharge(id, event, context)
    },
  ),
  'agent_credential.declined': reactionToAll(
    chargeEvents['agent_credential.declined'],
    emits,
    async (events, context) => {
      for (const [id] of machinePayments(events)) await noteDecline(id, context)
    },
  ),
}
