import type { Lanes } from '../../kernel/contract/handlers.ts'
import type { Row } from '../../kernel/contract/sql.ts'

const FREE_AGENTS = `
select id from agents where owner_id = $1 and mode = $2 and id = any($3::text[]) for no key update skip locked`

/** A network waits a second for its answer. */
const OF_NETWORK = { sharedTimeoutMs: 50, ownTimeoutMs: 1_000 }

/** Payments of one agent lock it first: those of an agent that somebody else has locked do not hold up others. */
export const agentLanes = <I>(
  of: Lanes<I>['of'],
  waits: Pick<Lanes<I>, 'sharedTimeoutMs' | 'ownTimeoutMs'> = OF_NETWORK,
): Lanes<I> => ({
  of,
  ...waits,
  async free(ids, { ownerId, mode }, sql) {
    const rows = await sql<Row & { id: string }>(FREE_AGENTS, [ownerId, mode, ids])
    return rows.map(({ id }) => id)
  },
})
