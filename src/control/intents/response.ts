import type { Context } from '../../kernel/contract/context.ts'
import type { IntentPayment } from '../../kernel/contract/intent-payments.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import type { Intent } from './intent.ts'

type Reading = Pick<Context, 'sql' | 'tenant' | 'ports'>

/** What is paid is approved before. */
const canBePaid = ({ status }: Intent): boolean => status !== 'created' && status !== 'denied'

/** All payments on an intent, the newest first: some may have come to nothing. */
export async function paymentsOf(
  intents: readonly Intent[],
  { sql, tenant, ports }: Reading,
): Promise<readonly IntentPayment[]> {
  const ids = intents.filter(canBePaid).map(({ id }) => id)
  return ids.length > 0 ? ports.paymentsOn(ids, tenant, sql) : []
}

/** The intents with how the latest payment on each stands, read together. */
export async function withPayments(intents: readonly Intent[], context: Reading) {
  const payments = await paymentsOf(intents, context)
  const latest = new Map(payments.toReversed().map(payment => [payment.intentId, payment]))
  return intents.map(intent => withMembers(intent, { payment: latest.get(intent.id) ?? null }))
}

export async function shown(intent: Intent, context: Reading) {
  const [record] = await withPayments([intent], context)
  return record as NonNullable<typeof record>
}

/** An intent on which nothing can have been paid yet. */
export const unpaid = <T extends object>(intent: T) => withMembers(intent, { payment: null })

/** What is to be said of a payment besides that it is there; null where it goes its way. */
export function wordsOn({ status, reason }: IntentPayment): string | null {
  const why = reason ? ` ${reason.message}` : ''
  if (status === 'rejected') return `Its payment was rejected, and the money is back.${why}`
  if (status === 'returned') return `Its payment came back.${why}`
  if (status === 'cancelled') return `A payment on it was cancelled before it had left.${why}`
  if (status === 'completed') return null
  return reason ? `Its payment is under way and waits.${why}` : 'Its payment is under way.'
}
