import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Records } from '../../kernel/contract/records.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Cents } from '../../values/money.ts'
import { CardTerms } from '../card-terms/index.ts'
import { hasPayeeRecord, Intent } from './intent.ts'

export interface IntentSearch {
  readonly agentId: string
  readonly cardId: string
  readonly merchantKeys: readonly string[]
  readonly amountCents: Cents
}

/**
 * Finds candidates for each key by index: first intents that name the card, then the smallest hold that is
 * enough, then the earliest expiry. Each search reads as many candidates as there are searches, since these
 * may want the same intents.
 */
const PAYABLE = `
select w.n, found.id
from unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::bigint[]) as w (n, agent, card, key, amount)
cross join lateral (
  (select i.id, false as unnamed, i.hold_cents, i.expires_at from intents i
   where i.owner_id = $1 and i.mode = $2 and i.agent_id = w.agent and i.merchant_key = w.key and i.hold_cents >= w.amount
     and i.status = 'approved' and i.payment_id is null and i.expires_at > $8 and i.card_id = w.card
     and num_nonnulls(i.beneficiary_id, i.wallet_id, i.request_id, i.payment_token_id) = 0
   order by i.hold_cents, i.expires_at limit $9)
  union all
  (select i.id, true, i.hold_cents, i.expires_at from intents i
   where i.owner_id = $1 and i.mode = $2 and i.agent_id = w.agent and i.merchant_key = w.key and i.hold_cents >= w.amount
     and i.status = 'approved' and i.payment_id is null and i.expires_at > $8 and i.card_id is null
     and num_nonnulls(i.beneficiary_id, i.wallet_id, i.request_id, i.payment_token_id) = 0
   order by i.hold_cents, i.expires_at limit $9)
) as found
order by w.n, found.unnamed, found.hold_cents, found.expires_at, found.id`

/** The ids of the intents that could cover each payment, the best first. The caller has locked their agents. */
export async function findPayableIntents(
  sql: Sql,
  { tenant: { ownerId, mode }, now }: TenantNow,
  searches: readonly IntentSearch[],
): Promise<string[][]> {
  const wanted = searches.flatMap(({ merchantKeys, ...search }, n) =>
    merchantKeys.map(key => ({ ...search, n, key })),
  )
  const found: string[][] = searches.map(() => [])
  if (wanted.length === 0) return found
  const rows = await sql<Row & { n: number; id: string }>(PAYABLE, [
    ownerId,
    mode,
    wanted.map(({ n }) => n),
    wanted.map(({ agentId }) => agentId),
    wanted.map(({ cardId }) => cardId),
    wanted.map(({ key }) => key),
    wanted.map(({ amountCents }) => amountCents),
    now,
    searches.length,
  ])
  for (const { n, id } of rows) found[n]?.push(id)
  return found
}

/** Locks an intent for which a card is issued. The caller has locked its agent. */
export const lockIntentForCard = (records: Records, id: string): Promise<Intent | null> =>
  records.lock(Intent, id)

export async function whyNotByCard(
  intent: Intent,
  { records, now }: { readonly records: Records; readonly now: Date },
) {
  const { status, paymentId, transactionId, expiresAt, cardId } = intent
  if (status !== 'approved') return 'intent_not_approved'
  if (paymentId || transactionId) return 'intent_being_paid'
  if (expiresAt <= now) return 'intent_expired'
  if (hasPayeeRecord(intent)) return 'intent_paid_by_transfer'
  const named = cardId ? await records.findOne(CardTerms, { id: cardId }) : null
  return named && named.status !== 'closed' ? 'intent_has_card' : undefined
}

export function nameCard(intent: Intent, cardId: string): void {
  intent.cardId = cardId
}
