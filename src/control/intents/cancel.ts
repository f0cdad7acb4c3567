import type { Tenant } from '../../kernel/contract/actor.ts'
import { reaction } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { openBook } from '../../money/ledger/index.ts'
import { type Agent, findAgent } from '../agents/index.ts'
import { openTally } from '../budgets/index.ts'
import { DelegationRevoked } from '../delegations/index.ts'
import type { intentsApi } from './api.ts'
import { intentEvent } from './events.ts'
import { heldFor, intentMachine } from './intent.ts'
import { type IntentRow, lockIntents, updateIntents } from './intent-rows.ts'
import { intentProcess } from './process.ts'
import { IntentEvent } from './schemas.ts'

/** In the words of the indexes over what is open: with parameters PostgreSQL would not know them again. */
export const OPEN = "status in ('created', 'approved')"

/** What is open is cancelled; words about it replace those that were said before. */
export function letGo(
  intent: IntentRow,
  comment: string | null,
  { emit, wake }: Pick<ContextOf<typeof intentsApi.cancel>, 'emit' | 'wake'>,
): void {
  if (!intentMachine.move(intent, 'cancelled')) return
  intent.comment = comment || intent.comment
  emit('intent.cancelled', intentEvent(intent, comment ?? undefined))
  if (intent.workflowId) wake(intentProcess, intent)
}

/** What is kept for intents of an agent: their share of the limits, and its account, held before the intents are. */
export async function keptFor(
  ids: readonly string[],
  agent: Agent,
  { sql, tenant, now }: Pick<Context, 'sql' | 'tenant' | 'now'>,
) {
  const causes = ids.map(id => heldFor({ id }))
  const tally = await openTally(sql, { tenant, now }, { causes, agents: [agent.id] })
  const book = await openBook(sql, { tenant, now }, { wallets: [agent.walletId], holds: causes })
  return {
    giveBack(intent: IntentRow): void {
      tally.giveBack(heldFor(intent))
      book.release(heldFor(intent))
    },
    async write(): Promise<void> {
      await tally.write(sql)
      await book.post(sql)
    },
  }
}

const UNDER = `
select id from intents where (owner_id, mode, delegation_id) = ($1, $2, $3) and ${OPEN} order by id`

const openUnder = async (sql: Sql, { ownerId, mode }: Tenant, delegationId: string): Promise<string[]> =>
  (await sql<{ id: string } & Row>(UNDER, [ownerId, mode, delegationId])).map(({ id }) => id)

/**
 * What is open under it is cancelled in the same transaction: a token that was lost buys nothing more, and the money
 * is free. Its agent is held, so no more of them come.
 */
export const onDelegationRevoked = reaction(
  DelegationRevoked['delegation.revoked'],
  { 'intent.cancelled': IntentEvent },
  async ({ delegationId, agentId }, context) => {
    const { em, sql, tenant, now } = context
    const ids = await openUnder(sql, tenant, delegationId)
    const agent = ids.length > 0 ? await findAgent(em, agentId) : null
    if (!agent) return
    const kept = await keptFor(ids, agent, context)
    const intents = [...(await lockIntents(sql, tenant, ids)).values()]
    const open = intents.filter(({ status }) => !intentMachine.isFinal(status))
    for (const intent of open) {
      intent.updatedAt = now
      // What a bank may have been told goes its way; where it comes to nothing, nothing else is paid.
      if (intent.paymentId) intent.expiresAt = now
      else {
        letGo(intent, 'Its delegation has been revoked.', context)
        kept.giveBack(intent)
      }
    }
    await updateIntents(sql, open)
    await kept.write()
  },
)
