import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { SESSION } from '../../src/platform/database.ts'
import { casesWhere } from '../support/contract/contract.ts'
import type { TestService } from '../support/harness.ts'
import { BELIEFS } from '../support/planner-beliefs.ts'
import type { SqlRecorder } from '../support/sql-recorder.ts'

/** A timeline merges what happened to a record and to its parts; what is unusual is sought in sums of days. */
const WITHOUT_INDEX = new Set([
  'intents.timeline',
  'disputes.timeline',
  'analytics.anomalies',
  'analytics.anomaliesTable',
])

const lists = casesWhere(
  ({ key, operation }) => operation.query?.shape?.limit !== undefined && !WITHOUT_INDEX.has(key),
)

/**
 * A plan is kept, whatever becomes of its table: so each list must walk an index in its order, even where PostgreSQL
 * thinks that reading and sorting all rows costs nothing. The lists were called without filters.
 */
export function testListPlans(
  { databaseUrl }: Pick<TestService, 'databaseUrl'>,
  recorder: SqlRecorder,
): void {
  describe('the page of a list is read in the order of an index', () => {
    const client = new pg.Client({ connectionString: databaseUrl, ...SESSION })
    beforeAll(async () => {
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
      for (const [key] of lists)
        for (const text of recorder.statements.get(key) ?? []) {
          if (!text.includes('limit $')) continue
          pages++
          const plan = await planOf(text)
          if (/\bSort\b|Seq Scan/.test(plan)) sorted.push(`${key}: ${text}\n${plan}`)
        }
      expect(sorted).toEqual([])
      expect(pages).toBeGreaterThan(25)
    })
  })
}
