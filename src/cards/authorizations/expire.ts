import { evidenceOf } from '../../control/payments/index.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { applyCardFact } from './apply-fact.ts'
import { type CardBatch, writeCardBatch } from './batch.ts'
import { loadCardBatch } from './load-batch.ts'
import type { messagesApi } from './messages-api.ts'
import { tellOfToken } from './network/token-events.ts'

type Expire = HandlerOf<typeof messagesApi.expire>
type ExpireItem = Parameters<Expire['decide']>[0]

const AGENTS = `
select agent_id as "agentId", card_id as "cardId" from card_authorizations
where owner_id = $1 and mode = $2 and id = any($3::text[])`

async function loadBatch(items: readonly ExpireItem[], sql: Sql): Promise<CardBatch> {
  const { tenant, now } = items[0] as ExpireItem
  const ids = items.map(({ input }) => input.params.id)
  // The agent of an authorization never changes; it is locked before all else.
  const owners = await sql<Row & { agentId: string; cardId: string | null }>(AGENTS, [
    tenant.ownerId,
    tenant.mode,
    ids,
  ])
  return loadCardBatch(
    sql,
    { tenant, now },
    {
      agentIds: owners.map(({ agentId }) => agentId),
      cardIds: owners.flatMap(({ cardId }) => cardId ?? []),
      numberIds: [],
      messageIds: [],
      processorRefs: [],
      authorizationIds: ids,
      intentIds: [],
      searches: [],
      tokenIds: [],
      spends: [],
      movesMoney: true,
    },
  )
}

/**
 * Gives back what was held and never collected, or confirmed and never seen by the network. A payment that the network
 * clears later is booked all the same.
 */
export const expire: Expire = {
  load: loadBatch,
  decide({ input: { params }, now }, batch: CardBatch, context) {
    const row = [...batch.authorizations].find(({ id }) => id === params.id)
    if (!row?.expiresAt || row.expiresAt > now) return { expired: false }
    const isUnconfirmed = row.facts.confirmed !== null && row.facts.clearings.length === 0
    const type = isUnconfirmed ? 'unconfirmed' : 'expired'
    const evidence = evidenceOf(type, row.id, row.id, `${row.id}/expiry/${row.expiresAt.getTime()}`)
    const before = row.facts
    applyCardFact(row, { type: 'expired' }, evidence, batch, context)
    tellOfToken(row, before, batch, context)
    return { expired: true }
  },
  write: (batch: CardBatch, sql) => writeCardBatch(batch, sql),
}
