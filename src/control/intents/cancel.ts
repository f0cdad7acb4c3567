import { reactionToAll } from '../../kernel/contract/area.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { EmitContext, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { findAgent } from '../agents/index.ts'
import { delegationRevokedEvent } from '../delegations/index.ts'
import type { intentSteps } from './api.ts'
import { Intent, type IntentRow, intentCause, intentMachine, updateIntents } from './intent.ts'
import { intentProcess } from './process.ts'
import { intentEvent } from './response.ts'
import { IntentEvent } from './schemas.ts'
import { SpendLocks } from './spend-locks.ts'

/**
 * Repeats the condition of the partial indexes over open intents exactly, since PostgreSQL would not use them
 * for parameters.
 */
export const OPEN_INTENT_SQL = "status in ('created', 'approved')"

export function cancelIntent(
  intent: IntentRow,
  comment: string | null,
  { emit, wake }: EmitContext<{ 'intent.cancelled': typeof IntentEvent }>,
): void {
  if (!intentMachine.move(intent, 'cancelled')) return
  intent.comment = comment || intent.comment
  emit('intent.cancelled', intentEvent(intent, comment ?? undefined))
  if (intent.workflowId) wake(intentProcess, intent)
}

const openIntentsOf = (column: 'delegation_id' | 'token_id'): string => `
select id from intents where owner_id = $1 and mode = $2 and ${column} = any($3::text[]) and ${OPEN_INTENT_SQL} order by id`

const OPEN_UNDER_DELEGATIONS = openIntentsOf('delegation_id')
const OPEN_BY_TOKENS = openIntentsOf('token_id')

/**
 * Cancels the open intents of revoked delegations in the same transaction: a stolen token can no longer pay,
 * and the held money is released. The revocation has locked the agent, so no intent can be added.
 */
export const onDelegationsRevoked = reactionToAll(
  delegationRevokedEvent['delegation.revoked'],
  { 'intent.cancelled': IntentEvent },
  async (revoked, context) => {
    for (const [agentId, delegations] of Map.groupBy(revoked, ({ agentId }) => agentId)) {
      const ids = delegations.map(({ delegationId }) => delegationId)
      const comment = 'The delegation of the intent has been revoked.'
      await cancelAll({ select: OPEN_UNDER_DELEGATIONS, ids, agentId, comment }, context)
    }
  },
)

/** The caller has locked the agent, so that no intent is added, and ends the token. */
export const cancelIntentsOfToken = (
  {
    tokenId,
    agentId,
    comment,
  }: { readonly tokenId: string; readonly agentId: string; readonly comment: string },
  context: WriteContext<{ 'intent.cancelled': typeof IntentEvent }>,
): Promise<void> => cancelAll({ select: OPEN_BY_TOKENS, ids: [tokenId], agentId, comment }, context)

interface OpenIntents {
  readonly select: string
  readonly ids: readonly string[]
  readonly agentId: string
  readonly comment: string
}

async function cancelAll(
  { select, ids: parents, agentId, comment }: OpenIntents,
  context: WriteContext<{ 'intent.cancelled': typeof IntentEvent }>,
): Promise<void> {
  const { em, sql, tenant, now, queueStatement } = context
  const values = [tenant.ownerId, tenant.mode, parents]
  const ids = (await sql<{ id: string } & Row>(select, values)).map(({ id }) => id)
  const agent = ids.length > 0 ? await findAgent(em, agentId) : null
  if (!agent) return
  const causes = ids.map(id => intentCause({ id }))
  const { counters, book, intents } = await new SpendLocks(sql, context).take({
    ...{ reservationAgents: [agentId], reservations: causes },
    ...{ wallets: [agent.walletId], holds: causes, intents: ids },
  })
  const open = [...intents.values()].filter(({ status }) => !intentMachine.isFinal(status))
  for (const intent of open) {
    intent.updatedAt = now
    // A payment that a bank may have received continues. If it fails, the intent has expired and allows no
    // other payment.
    if (intent.paymentId) intent.expiresAt = now
    else {
      cancelIntent(intent, comment, context)
      counters.release(intentCause(intent))
      book.release(intentCause(intent))
    }
  }
  queueStatement(updateIntents(sql, tenant, open))
  queueStatement(counters.write(sql))
  queueStatement(book.post(sql))
}

const CANCEL_BATCH = 500

/** Each status of intents has an index of its own. */
const firstIntent = (status: string): string => `(
  select id from intents where owner_id = $1 and mode = $2 and agent_id = $3 and status = '${status}' order by id limit 1)`

const FIRST_OPEN = `select coalesce(${firstIntent('created')}, ${firstIntent('approved')}) as id`

export async function firstOpenIntent(agentId: string, { sql, tenant }: SqlContext): Promise<string | null> {
  const [intent] = await sql<{ id: string | null } & Row>(FIRST_OPEN, [tenant.ownerId, tenant.mode, agentId])
  return intent?.id ?? null
}

/** A step in the deletion of an agent: cancels a batch of its intents, and is repeated until none is open. */
export async function cancelIntentsOfAgent(
  agentId: string,
  context: WriteContext<(typeof intentSteps.cancelForAgent)['emits']>,
): Promise<void> {
  const { em } = context
  // Each status has an index of its own.
  const found = ["status = 'created'", "status = 'approved'"].map(status =>
    em.find(Intent, { agentId, ...sqlCondition(status) }, { ...FOR_UPDATE_BY_ID, limit: CANCEL_BATCH }),
  )
  for (const intent of (await Promise.all(found)).flat())
    cancelIntent(intent, 'The agent is being deleted.', context)
}
