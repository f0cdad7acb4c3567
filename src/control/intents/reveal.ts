import type { Records } from '../../kernel/contract/records.ts'
import { Intent } from './intent.ts'

/** An intent that card data is asked for. Nothing is paid by that, so nothing is locked. */
export const findIntent = (records: Records, id: string): Promise<Intent | null> =>
  records.findOne(Intent, { id })

/** Those among many intents that there are, by their ids. */
export async function findIntentsById(
  records: Records,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Intent>> {
  const intents = await records.find(Intent, { id: { $in: [...new Set(ids)] } })
  return new Map(intents.map(intent => [intent.id, intent]))
}

/** Why nothing can be paid on the intent now, by its own state; undefined if it can. */
export function unpayableBecause(
  { status, paymentId, transactionId, expiresAt }: Intent,
  now: Date,
): 'intent_not_approved' | 'intent_being_paid' | 'intent_expired' | undefined {
  if (status !== 'approved') return 'intent_not_approved'
  if (paymentId || transactionId) return 'intent_being_paid'
  return expiresAt <= now ? 'intent_expired' : undefined
}
