import { hash, randomUUID } from 'node:crypto'
import type { Context } from '../../kernel/contract/context.ts'
import { canonicalJson } from '../../values/canonical-json.ts'
import { clock } from '../../values/clock.ts'

/** The same call keeps its key for ten minutes after the last one: a model that repeats itself acts once. */
const KEY_OF_CALL = `
insert into tool_calls as t (owner_id, mode, caller_id, hash, key, last_called_at)
values ($1, $2, $3, $4, $5, $6)
on conflict (owner_id, mode, caller_id, hash) do update set
  key = case when t.last_called_at > excluded.last_called_at - interval '10 minutes' then t.key else excluded.key end,
  last_called_at = greatest(t.last_called_at, excluded.last_called_at)
returning key`

const FORGET = `
delete from tool_calls where (owner_id, mode, caller_id, hash) = ($1, $2, $3, $4) and key = $5`

const nameOf = ({ tenant, actor }: Context, operation: string, given: object): string[] => [
  tenant.ownerId,
  tenant.mode,
  String(actor.id),
  hash('sha256', canonicalJson([operation, given]), 'base64url'),
]

/** The idempotency key of a call that names none. */
export async function keyOfCall(context: Context, operation: string, given: object): Promise<string> {
  const values = [...nameOf(context, operation, given), `tool-${randomUUID()}`, clock.real()]
  const [row] = await context.sql<{ key: string }>(KEY_OF_CALL, values)
  if (!row) throw new Error('the statement returns its row')
  return row.key
}

/** After a refusal the same call is a new attempt: what was in its way may be gone by then. */
export const forgetCall = (
  context: Context,
  operation: string,
  given: object,
  key: string,
): Promise<unknown> => context.sql(FORGET, [...nameOf(context, operation, given), key])
