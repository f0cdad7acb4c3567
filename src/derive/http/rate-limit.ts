import type { Actor } from '../../kernel/contract/actor.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { batcher } from '../../kernel/database/batcher.ts'
import { type Database, sqlOn } from '../../kernel/database/prepared-sql.ts'
import { clock } from '../../values/clock.ts'

const WINDOW = 60_000

export interface RateAllowance {
  readonly limit: number
  readonly used: number
  readonly resetsAt: Date
}

/** Counts a request of a client address or of a credential. */
export type RequestCounter = (client: string) => Promise<{ used: number; resetsAt: Date }>

/** `shares`: how many times the limit of one client those who count together have. */
export type RateLimit = (client: string, shares?: number) => Promise<RateAllowance>

export const createRateLimit =
  (limit: number, count: RequestCounter): RateLimit =>
  async (client, shares = 1) => ({ limit: shares * limit, ...(await count(client)) })

export function rateLimitHeaders({ limit, used, resetsAt }: RateAllowance): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(Math.max(0, limit - used)),
    'X-RateLimit-Reset': String(Math.ceil(resetsAt.getTime() / 1000)),
  }
}

const WHOSE = {
  address: 'from this address',
  credential: 'with this credential',
  assistants: 'by the assistants of this account',
} as const

type Counted = keyof typeof WHOSE

export function requireWithinRateLimit(allowance: RateAllowance, of: Counted = 'address'): void {
  if (allowance.used <= allowance.limit) return
  const wait = Math.max(1, Math.ceil((allowance.resetsAt.getTime() - clock.milliseconds()) / 1000))
  const words = `Too many requests ${WHOSE[of]}: ${allowance.limit} a minute. Wait ${inSeconds(wait)}.`
  throw new Problem('rate_limited', words, { 'Retry-After': String(wait) })
}

export interface CountedClient {
  readonly name: string
  readonly of: Counted
  readonly shares?: number
}

/** One assistant that loops uses up a quarter of what its owner's assistants have together. */
const SHARES_OF_ASSISTANTS = 4

/**
 * What a credential counts for. None for a request without one, and for the operator's. The assistants of an owner also
 * count together: no address limits them, and an owner may connect many.
 */
export function countedFor({ type, id, sessionId, tenant, onlyAt }: Actor): CountedClient[] {
  if (!tenant || !id) return []
  const own: CountedClient = { name: `${type} ${sessionId ?? id}`, of: 'credential' }
  if (onlyAt === undefined) return [own]
  const name = `assistants ${tenant.ownerId} ${tenant.mode}`
  return [own, { name, of: 'assistants', shares: SHARES_OF_ASSISTANTS }]
}

const inSeconds = (seconds: number): string => (seconds === 1 ? 'one second' : `${seconds} seconds`)

export function inMemoryRequestCounter(): RequestCounter {
  const windows = new Map<string, { used: number; resetsAt: Date }>()
  let sweepAt = 0
  return async client => {
    const now = clock.milliseconds()
    if (now >= sweepAt) {
      sweepAt = now + WINDOW
      for (const [name, { resetsAt }] of windows) if (resetsAt.getTime() <= now) windows.delete(name)
    }
    const open = windows.get(client)
    const current =
      open && open.resetsAt.getTime() > now ? open : { used: 0, resetsAt: new Date(now + WINDOW) }
    current.used++
    windows.set(client, current)
    return { ...current }
  }
}

const COUNT = `
insert into rate_limits as kept (client, used, resets_at)
select client, count(*)::int, clock_timestamp() + interval '1 minute'
from unnest($1::text[]) as arrived(client) group by client order by client
on conflict (client) do update set
  used = case when kept.resets_at > clock_timestamp() then kept.used else 0 end + excluded.used,
  resets_at = case when kept.resets_at > clock_timestamp() then kept.resets_at else excluded.resets_at end
returning client, used, resets_at`

/**
 * Counts for several processes on one database, all concurrent requests in one statement. If the database is
 * lost, each process counts by itself, since a limit is no reason to refuse every client.
 */
export function databaseRequestCounter({ pool }: Database): RequestCounter {
  const sql = sqlOn(pool)
  const alone = inMemoryRequestCounter()
  const count = batcher<string, { used: number; resetsAt: Date }>(
    { size: 256, inFlight: 2 },
    async clients => {
      const rows = await sql<{ client: string; used: number; resets_at: Date }>(COUNT, [clients])
      const byClient = new Map(rows.map(row => [row.client, row]))
      const arrived = new Map<string, number>()
      for (const client of clients) arrived.set(client, (arrived.get(client) ?? 0) + 1)
      return clients.map(client => {
        const row = byClient.get(client)
        if (!row) return { status: 'rejected', reason: new Error('not counted') }
        const left = (arrived.get(client) ?? 1) - 1
        arrived.set(client, left)
        return { status: 'fulfilled', value: { used: row.used - left, resetsAt: row.resets_at } }
      })
    },
  )
  return client => count('', client).catch(() => alone(client))
}
