import type { Context } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'

interface Candidate extends Row {
  readonly intentId: string
  readonly id: string
  /** Whether the intent names the card, or the card the intent. */
  readonly isMeant: boolean
}

const CANDIDATES = `
select w.id as "intentId", found.* from unnest($3::text[]) as w (id)
cross join lateral (
  select c.id, coalesce(c.id = i.card_id or c.intent_id = i.id, false) as "isMeant"
  from intents i
  join cards c on (c.owner_id, c.mode, c.agent_id) = (i.owner_id, i.mode, i.agent_id)
  where (i.owner_id, i.mode, i.id) = ($1, $2, w.id)
    and (c.id = i.card_id or c.status = 'active' and (c.intent_id is null or c.intent_id = i.id))
  order by "isMeant" desc, c.id desc limit 2) as found
order by "isMeant" desc, id desc`

/** What is to be paid, and by which card, where that is named. */
export interface Payable {
  readonly cardId?: string | undefined
  readonly intentId: string
}

type ReadContext = Pick<Context, 'sql' | 'tenant'>

/** The card that pays an intent: the one named, the one that goes with the intent, or the agent's only active one. */
export const chosenCard = async (payable: Payable, context: ReadContext): Promise<string | null> =>
  (await chosenCards([payable], context))[0] ?? null

/** The cards that pay these intents, in their order. */
export async function chosenCards(
  payables: readonly Payable[],
  { sql, tenant: { ownerId, mode } }: ReadContext,
): Promise<readonly (string | null)[]> {
  const open = payables.flatMap(({ cardId, intentId }) => (cardId === undefined ? [intentId] : []))
  const rows = open.length === 0 ? [] : await sql<Candidate>(CANDIDATES, [ownerId, mode, [...new Set(open)]])
  return payables.map(({ cardId, intentId }) => {
    if (cardId !== undefined) return cardId
    const [first, second] = rows.filter(row => row.intentId === intentId)
    return first && (first.isMeant || !second) ? first.id : null
  })
}
