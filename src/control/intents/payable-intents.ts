import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Cents } from '../../values/money.ts'
import { CardTerms } from '../card-terms/index.ts'
import { hasPayeeRecord, type Intent } from './intent.ts'

export interface PayableIntentSearch {
  readonly agentId: string
  readonly cardId: string
  readonly merchantKeys: readonly string[]
  /** The beginning of the merchant's name, in lower case, where its field was too short; otherwise null. */
  readonly truncatedName: string | null
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

/** Reads all payable intents of the agent, as an index of merchants does not find the beginning of a name. */
const PAYABLE_BY_BEGINNING = `
select w.n, found.id
from unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::bigint[]) as w (n, agent, card, beginning, amount)
cross join lateral (
  select i.id, i.card_id is null as unnamed, i.hold_cents, i.expires_at from intents i
  where i.owner_id = $1 and i.mode = $2 and i.agent_id = w.agent and i.hold_cents >= w.amount
    and i.status = 'approved' and i.payment_id is null and i.expires_at > $8 and coalesce(i.card_id, w.card) = w.card
    and num_nonnulls(i.beneficiary_id, i.wallet_id, i.request_id, i.payment_token_id) = 0
    and lower(left(i.merchant, length(w.beginning))) = w.beginning and length(i.merchant) > length(w.beginning)
  order by unnamed, i.hold_cents, i.expires_at limit $9
) as found
order by w.n, found.unnamed, found.hold_cents, found.expires_at, found.id`

/** An SQL expression: the most that the payment of the intent whose id `named` gives may take. */
export const mostOfIntentSql = (named: string): string =>
  `(select i.hold_cents from intents i where (i.owner_id, i.mode, i.id) = ($1, $2, ${named}))`

interface NamedSearch extends PayableIntentSearch {
  readonly n: number
  readonly name: string
}

/** A row for each name that a payee may have been declared by, and for the beginning of one that was cut off. */
export function searchesByName(searches: readonly PayableIntentSearch[]) {
  const named = (namesOf: (search: PayableIntentSearch) => readonly string[]): NamedSearch[] =>
    searches.flatMap((search, n) => namesOf(search).map(name => ({ ...search, n, name })))
  return {
    byKey: named(({ merchantKeys }) => merchantKeys),
    byBeginning: named(({ truncatedName }) => (truncatedName === null ? [] : [truncatedName])),
  }
}

interface FoundIntent extends Row {
  n: number
  id: string
}

/** The ids of the intents that could cover each payment, the best first. The caller has locked their agents. */
export async function findPayableIntents(
  sql: Sql,
  { tenant: { ownerId, mode }, now }: TenantNow,
  searches: readonly PayableIntentSearch[],
): Promise<string[][]> {
  const { byKey, byBeginning } = searchesByName(searches)
  const find = async (query: string, wanted: readonly NamedSearch[]): Promise<readonly FoundIntent[]> =>
    wanted.length === 0
      ? []
      : sql<FoundIntent>(query, [
          ownerId,
          mode,
          wanted.map(({ n }) => n),
          wanted.map(({ agentId }) => agentId),
          wanted.map(({ cardId }) => cardId),
          wanted.map(({ name }) => name),
          wanted.map(({ amountCents }) => amountCents),
          now,
          searches.length,
        ])
  const [exact, begun] = await Promise.all([find(PAYABLE, byKey), find(PAYABLE_BY_BEGINNING, byBeginning)])
  const found: string[][] = searches.map(() => [])
  for (const { n, id } of [...exact, ...begun]) found[n]?.push(id)
  return found
}

export async function notPayableByCardReason(
  intent: Intent,
  { em, now }: { readonly em: EntityManager; readonly now: Date },
) {
  const { status, paymentId, transactionId, expiresAt, cardId } = intent
  if (status !== 'approved') return 'intent_not_approved'
  if (paymentId || transactionId) return 'intent_being_paid'
  if (expiresAt <= now) return 'intent_expired'
  if (hasPayeeRecord(intent)) return 'intent_paid_by_transfer'
  const named = cardId ? await em.findOne(CardTerms, { id: cardId }) : null
  return named && named.status !== 'closed' ? 'intent_has_card' : undefined
}

export function assignCardToIntent(intent: Intent, cardId: string): void {
  intent.cardId = cardId
}
