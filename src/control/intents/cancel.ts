import { reaction } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { openBook } from '../../money/ledger/index.ts'
import { type Agent, findAgent } from '../agents/index.ts'
import { openCounters } from '../budgets/index.ts'
import { DelegationRevoked } from '../delegations/index.ts'
import type { intentsApi } from './api.ts'
import { intentEvent } from './events.ts'
import { causeOf, intentMachine } from './intent.ts'
import { type IntentRow, lockIntents, updateIntents } from './intent-rows.ts'
import { intentProcess } from './process.ts'
import { IntentEvent } from './schemas.ts'

/** The condition, written exactly as in the partial indexes over open intents: with parameters they would not be used. */
export const OPEN = "status in ('created', 'approved')"

/** Cancels an open intent; a comment replaces the one that it has. */
export function cancelIntent(
  intent: IntentRow,
  comment: string | null,
  { emit, wake }: Pick<ContextOf<typeof intentsApi.cancel>, 'emit' | 'wake'>,
): void {
  if (!intentMachine.move(intent, 'cancelled')) return
  intent.comment = comment || intent.comment
  emit('intent.cancelled', intentEvent(intent, comment ?? undefined))
  if (intent.workflowId) wake(intentProcess, intent)
}

/** Locks the counters and the account in which intents of an agent have reserved: before the intents themselves. */
export async function openReservations(
  ids: readonly string[],
  agent: Agent,
  { sql, tenant, now }: Pick<Context, 'sql' | 'tenant' | 'now'>,
) {
  const causes = ids.map(id => causeOf({ id }))
  const [counters, book] = await Promise.all([
    openCounters(sql, { tenant, now }, { causes, agents: [agent.id] }),
    openBook(sql, { tenant, now }, { wallets: [agent.walletId], holds: causes }),
  ])
  return {
    release(intent: IntentRow): void {
      counters.release(causeOf(intent))
      book.release(causeOf(intent))
    },
    async write(): Promise<void> {
      await Promise.all([counters.write(sql), book.post(sql)])
    },
  }
}

const OPEN_UNDER_DELEGATION = `
select id from intents where (owner_id, mode, delegation_id) = ($1, $2, $3) and ${OPEN} order by id`

/**
 * Cancels the open intents of a revoked delegation in the same transaction: a lost token buys nothing more, and the
 * money is free again. The revocation has locked the agent, so no intent can be added.
 */
export const onDelegationRevoked = reaction(
  DelegationRevoked['delegation.revoked'],
  { 'intent.cancelled': IntentEvent },
  async ({ delegationId, agentId }, context) => {
    const { records, sql, tenant, now, sendAlong } = context
    const values = [tenant.ownerId, tenant.mode, delegationId]
    const ids = (await sql<{ id: string } & Row>(OPEN_UNDER_DELEGATION, values)).map(({ id }) => id)
    const agent = ids.length > 0 ? await findAgent(records, agentId) : null
    if (!agent) return
    const [reservations, intents] = await Promise.all([
      openReservations(ids, agent, context),
      lockIntents(sql, tenant, ids),
    ])
    const open = [...intents.values()].filter(({ status }) => !intentMachine.isFinal(status))
    for (const intent of open) {
      intent.updatedAt = now
      // A payment that a bank may know of is not stopped. If it fails, the intent has expired and pays nothing else.
      if (intent.paymentId) intent.expiresAt = now
      else {
        cancelIntent(intent, 'Its delegation has been revoked.', context)
        reservations.release(intent)
      }
    }
    sendAlong(updateIntents(sql, tenant, open))
    sendAlong(reservations.write())
  },
)
