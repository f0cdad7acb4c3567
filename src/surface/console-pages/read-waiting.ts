import { Agent } from '../../control/agents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { viewerOf } from './viewer.ts'
import type { WaitingIntent, WaitingView } from './waiting-page.ts'

const MOST = 50

/** One more than are shown tells whether there are more. */
const WAITING = `
select id, agent_id as "agentId", amount_cents as "amountEuros", merchant as payee, purpose, expires_at as "expiresAt"
from intents where (owner_id, mode) = ($1, $2) and status = 'created' and expires_at > $3
order by id desc limit ${MOST + 1}`

interface WaitingRow extends Row, Omit<WaitingIntent, 'agent'> {
  readonly agentId: string
}

/** The intents that wait for a decision, newest first. */
export async function readWaiting(
  context: Pick<Context, 'sql' | 'tenant' | 'now' | 'records' | 'actor'>,
): Promise<WaitingView> {
  const { sql, tenant, now, records, actor } = context
  const rows = await sql<WaitingRow>(WAITING, [tenant.ownerId, tenant.mode, now])
  const shown = rows.slice(0, MOST)
  const agents = await records.find(Agent, { id: { $in: shown.map(({ agentId }) => agentId) } })
  const names = new Map(agents.map(({ id, name }) => [id, name]))
  return {
    intents: shown.map(row => ({ ...row, agent: names.get(row.agentId) ?? row.agentId })),
    hasMore: rows.length > MOST,
    isTest: tenant.mode === 'test',
    viewer: viewerOf(actor),
  }
}
