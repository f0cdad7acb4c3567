import { oldestDoubtSeconds } from '../commerce/doubtful-money/index.ts'
import { countLateFiles } from '../commerce/rails/index.ts'
import { sealingBehindSeconds } from '../compliance/audit/index.ts'
import { oldestPushSeconds } from '../delivery/push/index.ts'
import {
  countPausedWebhooks,
  countWebhooksBehind,
  deliveryCounts,
  deliveryOverdueSeconds,
} from '../delivery/webhooks/index.ts'
import { countingBehindSeconds } from '../insight/spend/index.ts'
import type { Row, Sql } from '../kernel/contract/sql.ts'
import { batcher } from '../kernel/database/batcher.ts'
import { paymentsOverdueSeconds } from '../kernel/database/deadline-rows.ts'
import { type Database, sqlOn } from '../kernel/database/prepared-sql.ts'
import { replicaBehindSeconds } from '../kernel/journal/journal-position.ts'
import { oldestOutboxSeconds } from '../kernel/journal/outbox.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { OutboundAnswer, OutboundHttp } from '../ports/outbound.ts'

interface Statement {
  readonly text: string
  readonly values: readonly unknown[] | undefined
}

/** Sends all statements of a scrape together, on one connection. A failed one affects no other. */
function scraping({ pool }: Database): Sql {
  const send = batcher<Statement, Row[]>({ size: 100, inFlight: 1 }, async statements => {
    const client = await pool.connect()
    try {
      return await Promise.allSettled(statements.map(({ text, values }) => sqlOn(client)(text, values)))
    } finally {
      client.release()
    }
  })
  return <R extends Row>(text: string, values?: readonly unknown[]) =>
    send('', { text, values }) as Promise<R[]>
}

/** Metrics read from the database, the same in every process. Each reads at most some thousand rows. */
export function registerDatabaseMetrics(
  { watch }: Metrics,
  { database, replica }: { readonly database: Database; readonly replica: Database | undefined },
): void {
  const sql = scraping(database)
  const age = (read: typeof oldestOutboxSeconds) => async () => (await read(sql)) ?? 0
  watch('outbox_oldest_seconds', 'Age of the oldest work that waits for Temporal.', age(oldestOutboxSeconds))
  watch('webhook_overdue_seconds', 'Age of the oldest webhook that is due.', age(deliveryOverdueSeconds))
  watch('push_oldest_seconds', 'Age of the oldest push that waits.', age(oldestPushSeconds))
  watch('webhook_deliveries', 'Waiting webhooks, and dead letters; 10000 means 10000 or more.', () =>
    deliveryCounts(sql),
  )
  watch(
    'webhook_subscriptions_paused',
    'Subscriptions that are paused after failures of their receivers.',
    () => countPausedWebhooks(sql),
  )
  watch('webhook_subscriptions_behind', 'Subscriptions that are paused because of their backlog.', () =>
    countWebhooksBehind(sql),
  )
  watch('sepa_reports_late', 'Files for the bank that it should have reported on.', () => countLateFiles(sql))
  watch(
    'doubtful_money_oldest_seconds',
    'For how long the outcome of live money has been unknown.',
    () => oldestDoubtSeconds(sql),
    'kind',
  )
  const followers = {
    audit: () => sealingBehindSeconds(sql),
    spend: () => countingBehindSeconds(sql),
    deadlines: () => paymentsOverdueSeconds(sql),
    ...(replica && { replica: () => replicaBehindSeconds(sql, replica) }),
  }
  watch(
    'follower_behind_seconds',
    'How far the audit trail, the sums of spending, the ends of payments and the replica are behind.',
    () => readEach(followers),
    'follower',
  )
}

/** One that cannot be read is NaN, and hides no other. */
const readEach = async (
  readings: Readonly<Record<string, () => Promise<number>>>,
): Promise<Record<string, number>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(readings).map(
        async ([name, read]) => [name, await read().catch(() => Number.NaN)] as const,
      ),
    ),
  )

export const withOutboundMetrics = (
  { judge, isAllowed, send }: OutboundHttp,
  metrics: Metrics,
  what: 'webhook' | 'push' | 'channel',
): OutboundHttp => ({
  judge,
  isAllowed,
  async send(request) {
    const answer = await send(request)
    metrics.sent(what, outcomeOf(answer), 'latencyMs' in answer ? answer.latencyMs : 0)
    return answer
  },
})

function outcomeOf(answer: OutboundAnswer): string {
  if (answer.kind === 'answered') return `${Math.floor(answer.status / 100)}xx`
  if (answer.kind === 'refused') return 'address'
  if (answer.kind === 'busy') return 'busy'
  return answer.timedOut ? 'timeout' : 'connection'
}
