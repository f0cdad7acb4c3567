import type { Mode } from '../../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'

/** Whose a processor's card is. It never changes. */
export interface KnownNumber extends Row {
  readonly ownerId: string
  readonly mode: Mode
  readonly agentId: string
  readonly cardId: string
  readonly numberId: string
}

const FIND = `
select owner_id as "ownerId", mode, agent_id as "agentId", card_id as "cardId", id as "numberId"
from card_numbers where processor_card_id = $1 and processor = $2`

const MOST_KNOWN = 100_000
const known = new Map<string, KnownNumber>()

/** Messages name no owner: the processor's id of the card tells whose they are. Asked once a card and process. */
export async function findNumber(
  sql: Sql,
  processor: string,
  processorCardId: string,
): Promise<KnownNumber | undefined> {
  const key = `${processor} ${processorCardId}`
  const found = known.get(key)
  if (found) return found
  const [number] = await sql<KnownNumber>(FIND, [processorCardId, processor])
  if (!number) return undefined
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(key, number)
  return number
}
