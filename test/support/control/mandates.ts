import { areas } from '../../../src/areas.ts'
import { client as clientOf } from '../../../src/derive/client.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

type Constraints = Partial<Record<'perTransactionEuros' | 'perDayEuros' | 'perMonthEuros' | 'totalEuros' | 'count', number>> &
  Partial<Record<'merchants' | 'mccs' | 'countries', string[]>>

interface Members {
  readonly name?: string | null
  readonly expiresAt?: string
}

type Rules = Parameters<typeof anAgentUnder>[1]

/** By itself the policy approves a euro and no more: whatever else is approved without a person is by a mandate. */
const ASKS: Rules = { autoApproveLimitEuros: 1 }

let n = 0
/** Helpers for tests of mandates, with clients of two processes. */
export function mandatesIn(service: TestService, secondUrl: string) {
  async function anOwnerWithAgent(rules: Rules = {}) {
    const owner = await service.owner()
    const agent = await anAgentUnder(owner.client, { ...ASKS, ...rules })
    const clients = [owner.client, clientOf(areas, { url: secondUrl, token: owner.key })] as const
    let shops = 0
    const buy = (amountEuros: number, members = {}, by: TestClient = owner.client) =>
      anIntent(by, agent.id, { amountEuros, merchant: `Shop ${++shops}`, ...members })
    const simulate = (amountEuros: number, members = {}) =>
      bodyOf(owner.client.intents.simulate({ body: { agentId: agent.id, amountEuros, merchant: 'Shop', ...members } }))
    return { ...owner, agent, id: agent.id, buy, simulate, anyClient: (n: number) => clients[n % 2] as TestClient }
  }
  type Subject = Awaited<ReturnType<typeof anOwnerWithAgent>>

  async function aMandate({ ownerId, id: agentId, client }: Pick<Subject, 'ownerId' | 'id' | 'client'>, constraints: Constraints, { name = 'Books', expiresAt = new Date(Date.now() + 30 * 86_400_000).toISOString() }: Members = {}) {
    const id = `mandate_01jd8x2m4ye7k9v0c3q5r6t${String(n++).padStart(3, '0')}`
    const v = { totalEuros: null, count: null, perDayEuros: null, perMonthEuros: null, perTransactionEuros: null, merchants: [], mccs: [], countries: [], ...constraints } as any
    const c = (x: number | null) => (x === null ? null : Math.round(x * 100))
    await service.sql(`insert into mandates (owner_id, mode, id, created_at, updated_at, agent_id, name, per_transaction_cents, per_day_cents, per_month_cents, total_cents, count, merchants, mccs, countries, expires_at, status, person_id, passkey_id, jws, workflow_id)
     values ($1,'test',$2,now(),now(),$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,'active','person_1','passkey_1','x.y.z',$14)`,
     [ownerId, id, agentId, name, c(v.perTransactionEuros), c(v.perDayEuros), c(v.perMonthEuros), c(v.totalEuros), v.count, v.merchants, v.mccs, v.countries, expiresAt, `mandate/${id}`])
    return bodyOf(client.mandates.get({ params: { id } }))
  }

  const countersOf = (id: string) =>
    service.sql<{ period: string; reserved: string; spent: string; uses: number; waiting: number }>(
      `select split_part(period, ':', 1) as period, reserved_cents as reserved, spent_cents as spent, uses,
        reserved_uses as waiting from counters where subject = $1 order by period, counters.period`,
      [id],
    )

  const eventsOf = async (id: string): Promise<string[]> => {
    const rows = await service.sql<{ event: string }>(
      `select event from events where data ->> 'mandateId' = $1 order by id`,
      [id],
    )
    return rows.map(({ event }) => event)
  }

  return { anOwnerWithAgent, aMandate, countersOf, eventsOf }
}

/** Who has decided an intent; `nobody` while it waits. */
export const deciderOf = ({ decidedBy }: { readonly decidedBy: { readonly type: string; readonly id: string | null } | null }) =>
  decidedBy ? (decidedBy.type === 'mandate' ? decidedBy.id : decidedBy.type) : 'nobody'
