import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { POSTGRES_SESSION_OPTIONS } from '../../src/platform/database.ts'
import type { cases } from '../support/contract/contract.ts'
import type { WorldOwner } from '../support/contract/world.ts'
import { bodyOf } from '../support/factories.ts'
import type { TestService } from '../support/harness.ts'
import { BELIEFS } from '../support/planner-beliefs.ts'
import type { SqlRecorder } from '../support/sql-recorder.ts'

/** A timeline merges the history of a record and its parts; anomalies are searched in sums of days. */
const WITHOUT_INDEX = new Set(['intents.timeline', 'disputes.timeline', 'analytics.anomalies'])

const isList = ([key, { operation }]: (typeof cases)[number]): boolean =>
  operation.query?.shape?.limit !== undefined && !WITHOUT_INDEX.has(key)

/** For an account with few entries, reading and sorting is faster than its index. */
async function fundOften({ client }: WorldOwner): Promise<void> {
  const { body } = await client.wallets.list({ query: { limit: 1 } })
  const params = { id: String(body.data[0]?.id) }
  for (let n = 0; n < 200; n++) await bodyOf(client.fund.wallet({ params, body: { amountEuros: 1 } }))
}

/**
 * A plan is kept while its table changes. So each list must walk an index in its order, even if
 * PostgreSQL believes that reading and sorting all rows costs nothing. The lists were called without filters.
 */
export function testListPlans(
  called: typeof cases,
  { databaseUrl, owner }: Pick<TestService, 'databaseUrl'> & { readonly owner: WorldOwner },
  recorder: SqlRecorder,
): void {
  describe('the page of a list is read in the order of an index', () => {
    const client = new pg.Client({ connectionString: databaseUrl, ...POSTGRES_SESSION_OPTIONS })
    beforeAll(async () => {
      if (called.some(([key]) => key === 'ledger.entries')) await fundOften(owner)
      await client.connect()
      await client.query('begin')
      await client.query('set local role none')
    })
    afterAll(() => client.end())

    const planOf = async (text: string): Promise<string> => {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `explain (generic_plan, costs off) ${text}`,
      )
      return rows.map(row => row['QUERY PLAN']).join('\n')
    }

    test.each(Object.entries(BELIEFS))('of %s', async (_, believe) => {
      await client.query(believe)
      const sorted: string[] = []
      let pages = 0
      for (const [key] of called.filter(isList))
        for (const text of recorder.statements.get(key) ?? []) {
          if (!text.includes('limit $')) continue
          pages++
          const plan = await planOf(text)
          if (/\bSort\b|Seq Scan/.test(plan)) sorted.push(`${key}: ${text}\n${plan}`)
        }
      expect(sorted).toEqual([])
      expect(pages).toBeGreaterThan(5)
    })
  })
}
