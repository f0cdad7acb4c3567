import { hash } from 'node:crypto'
import { expect } from '@jest/globals'
import { readSpend, type SpendView } from '../../../src/insight/spend/index.ts'
import { readSpendSnapshot } from '../../../src/insight/spend/tail.ts'
import type { Sql } from '../../../src/kernel/contract/sql.ts'
import type { TestService } from '../harness.ts'
import type { Spender, SpendStep } from './random-spends.ts'
import { fastSums, slowKeptBack, slowLines, slowSums } from './slow-spend.ts'

export const EVER = { from: '2000-01-01', before: '2100-01-01' }
/** A long text is stored in the sums by its beginning and its digest. */
const asStored = (text: string): string =>
  text.length > 150 ? `${text.slice(0, 100)}… ${hash('md5', text)}` : text

/** The key of a slow query's line in each view. */
const views = {
  agent: line => line.agent,
  merchant: line => line.merchant,
  mcc: line => line.mcc,
  wallet: line => line.wallet,
  type: line => line.type,
  run: line => line.run,
  'label:team': line => line.labels.team && asStored(line.labels.team),
} as const satisfies Partial<
  Record<SpendView, (line: Awaited<ReturnType<typeof slowLines>>[number]) => string | undefined>
>

/** Checks every view, by day, agent and value, against the slow query. */
export async function expectExact(
  service: Pick<TestService, 'sql'>,
  sql: Sql,
  { ownerId }: Pick<Spender, 'ownerId'>,
): Promise<void> {
  const tenant = { ownerId, mode: 'test' } as const
  const lines = await slowLines(service, ownerId)
  const spend = await readSpendSnapshot(sql, tenant, {
    views: [...(Object.keys(views) as SpendView[]), 'kept_back'],
  })
  for (const [view, keyOf] of Object.entries(views)) {
    const by = ['day', 'agent', 'run', 'value'] as const
    const sums = await readSpend(spend, { ...EVER, views: [view as SpendView], by })
    const keyOfSum = ({ agentId, runId, value }: (typeof sums)[number]) =>
      view === 'agent' ? agentId : view === 'run' ? runId : value
    expect([view, fastSums(sums, sum => `${sum.day} ${sum.agentId} ${keyOfSum(sum)}`)]).toEqual([
      view,
      slowSums(lines, line => {
        const key = keyOf(line)
        return key === undefined ? undefined : `${line.day} ${line.agent} ${key}`
      }),
    ])
  }
  const kept = await readSpend(spend, { ...EVER, views: ['kept_back'], by: ['day', 'agent', 'value'] })
  const sorted = Map.groupBy(kept, ({ day, agentId, value }) => `${day} ${agentId} ${value.split(' ')[0]}`)
  const found = [...sorted].map(([key, sums]) =>
    [
      key,
      sums.reduce((sum, { payments }) => sum + payments, 0),
      sums.reduce((sum, one) => sum + one.spentCents, 0n),
    ].join(' '),
  )
  expect(found.sort()).toEqual(await slowKeptBack(service, ownerId))
}

/** Every event that changes how a payment counts, in a possible order. */
export const everything: SpendStep[] = [
  ['authorize', 0],
  ['payLabelled', 0],
  ['payLabelled', 2],
  ['authorize', 4],
  ['clear', 0],
  ['count', 0],
  ['comeBack', 1],
  ['killed', 0],
  ['nextDay', 0],
  ['comeBack', 2],
  ['clear', 1],
  ['countSlowly', 0],
  ['dispute', 0],
  ['dispute', 1],
  ['refundAlone', 0],
  ['authorize', 9],
  ['declare', 0],
  ['declare', 17],
  ['declare', 18],
  ['pay', 0],
  ['pay', 1],
  ['pay', 2],
  ['soon', 0],
  ['twoAtOnce', 0],
  ['sendBack', 0],
  ['deny', 3],
  ['reverse', 1],
  ['nextYear', 0],
  ['comeBack', 0],
  ['delete', 0],
  ['later', 0],
  ['expire', 1],
]
