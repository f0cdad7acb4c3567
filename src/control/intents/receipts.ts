import type { Context } from '../../kernel/contract/context.ts'
import type { receiptStates } from './intent.ts'

type Status = (typeof receiptStates)[number] | null

const LOCK = 'select 1 from intents where owner_id = $1 and mode = $2 and id = $3 for update'
const NOTE = 'update intents set receipt_status = $4 where owner_id = $1 and mode = $2 and id = $3'

/** Shows on the intent how the receipts of its payment stand, read once nobody else can note it. */
export async function noteReceipts(
  intentId: string,
  read: () => Promise<Status>,
  { sql, tenant }: Pick<Context, 'sql' | 'tenant'>,
): Promise<void> {
  const key = [tenant.ownerId, tenant.mode, intentId]
  await sql(LOCK, key)
  await sql(NOTE, [...key, await read()])
}
