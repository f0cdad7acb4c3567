import type { ApprovalProgress } from '../../identity/approvals/index.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { Cents } from '../../values/money.ts'

interface WaitingIntent {
  readonly agentId: string
  readonly amountCents: Cents
  readonly merchant: string
  readonly purpose: string
}

const WAITING = `
select agent_id as "agentId", amount_cents as "amountCents", merchant, purpose from intents
where (owner_id, mode, id) = ($1, $2, $3) and status = 'created'`

/** Undefined once it has been decided, or has expired. */
export async function readWaitingIntent(
  id: string,
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<WaitingIntent | undefined> {
  return (await sql<WaitingIntent & Row>(WAITING, [ownerId, mode, id]))[0]
}

const WAITING_FOR_SEVERAL = `
select approval from intents where (owner_id, mode, id) = ($1, $2, $3) and status = 'created' and approval is not null`

/** Undefined where one person approves. */
export async function readIntentApproval(
  id: string,
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<ApprovalProgress | undefined> {
  return (await sql<{ approval: ApprovalProgress } & Row>(WAITING_FOR_SEVERAL, [ownerId, mode, id]))[0]
    ?.approval
}
