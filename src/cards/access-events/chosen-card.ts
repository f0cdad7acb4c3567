import type { Context } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'

interface Candidate extends Row {
  readonly id: string
  /** Whether the intent names the card, or the card the intent. */
  readonly isMeant: boolean
}

const CANDIDATES = `
select c.id, coalesce(c.id = i.card_id or c.intent_id = i.id, false) as "isMeant"
from intents i
join cards c on (c.owner_id, c.mode, c.agent_id) = (i.owner_id, i.mode, i.agent_id)
where (i.owner_id, i.mode, i.id) = ($1, $2, $3)
  and (c.id = i.card_id or c.status = 'active' and (c.intent_id is null or c.intent_id = i.id))
order by "isMeant" desc, c.id desc limit 2`

/** The card that pays an intent: the one named, the one that goes with the intent, or the agent's only active one. */
export async function chosenCard(
  { cardId, intentId }: { readonly cardId?: string | undefined; readonly intentId: string },
  { sql, tenant }: Pick<Context, 'sql' | 'tenant'>,
): Promise<string | null> {
  if (cardId !== undefined) return cardId
  const [first, second] = await sql<Candidate>(CANDIDATES, [tenant.ownerId, tenant.mode, intentId])
  return first && (first.isMeant || !second) ? first.id : null
}
