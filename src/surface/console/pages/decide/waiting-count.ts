import { PAYEE_TO_CONFIRM_SQL } from '../../../../commerce/transfers/index.ts'
import type { Context } from '../../../../kernel/contract/context.ts'
import type { Row } from '../../../../kernel/contract/sql.ts'

const MOST = 100

const atMost = (rows: string): string => `(select count(*) from (select 1 from ${rows} limit ${MOST}) some)`

/** One statement for every page, bounded per kind: the same entries as `readWaitingDecisions`. */
const COUNT = `select (
  ${atMost("intents where (owner_id, mode) = ($1, $2) and status = 'created' and expires_at > $3")}
  + ${atMost("card_requests where (owner_id, mode) = ($1, $2) and status = 'pending' and expires_at > $3")}
  + ${atMost(`transfers where (owner_id, mode) = ($1, $2) and ${PAYEE_TO_CONFIRM_SQL}`)}
  + ${atMost("proposals where (owner_id, mode) = ($1, $2) and status = 'open' and expires_at > $3")}
)::int as count`

interface CountRow extends Row {
  readonly count: number
}

export async function countWaiting({
  sql,
  tenant,
  now,
}: Pick<Context, 'sql' | 'tenant' | 'now'>): Promise<number> {
  const [row] = await sql<CountRow>(COUNT, [tenant.ownerId, tenant.mode, now])
  return Math.min(row?.count ?? 0, MOST)
}

export const waitingCountText = (count: number): string => (count < MOST ? String(count) : `${MOST - 1}+`)
