import { PAYMENTS_TO_CONFIRM_SQL } from '../../commerce/mpp/index.ts'
import { TRANSFERS_TO_CONFIRM_SQL } from '../../commerce/transfers/index.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'

const MOST_COUNTED = 100

const atMost = (rows: string): string =>
  `(select count(*) from (select 1 from ${rows} limit ${MOST_COUNTED}) counted)`

/**
 * One statement for every page, bounded for each kind of decision: the same ones as `readWaitingDecisions`.
 * People of the account in the other mode sign in there with a passkey of their own.
 */
const FACTS = `select (
  ${atMost("intents where (owner_id, mode) = ($1, $2) and status = 'created' and expires_at > $3")}
  + ${atMost("card_requests where (owner_id, mode) = ($1, $2) and status = 'pending' and expires_at > $3")}
  + ${atMost(TRANSFERS_TO_CONFIRM_SQL)}
  + ${atMost("proposals where (owner_id, mode) = ($1, $2) and status = 'open' and expires_at > $3")}
  + ${atMost("disputes where (owner_id, mode) = ($1, $2) and status = 'open'")}
  + ${atMost(PAYMENTS_TO_CONFIRM_SQL)}
  + ${atMost("change_requests where (owner_id, mode) = ($1, $2) and status = 'waiting' and expires_at > $3")}
)::int as waiting,
exists (select from people where owner_id = $1 and mode <> $2 and status = 'active') as "hasOtherMode"`

interface FrameFacts extends Row {
  readonly waiting: number
  readonly hasOtherMode: boolean
}

export async function readFrameFacts({ sql, tenant, now }: ReadContext): Promise<FrameFacts> {
  const [facts] = await sql<FrameFacts>(FACTS, [tenant.ownerId, tenant.mode, now])
  return facts ?? { waiting: 0, hasOtherMode: false }
}

export const waitingCountText = (count: number): string =>
  count < MOST_COUNTED ? String(count) : `${MOST_COUNTED - 1}+`
