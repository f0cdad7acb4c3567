import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { SEALED_UP_TO_SQL } from '../../../src/compliance/audit/unsealed.ts'
import { COUNTED_UP_TO_SQL } from '../../../src/insight/spend/follow.ts'
import { OVERDUE_SECONDS_SQL } from '../../../src/kernel/database/deadline-rows.ts'
import {
  EVENT_POSITION_SQL,
  EVENTS_OF_OWNERS_SQL,
  NEWEST_EVENT_SQL,
  secondsBehindSql,
} from '../../../src/kernel/journal/journal-position.ts'
import { POSTGRES_SESSION_OPTIONS } from '../../../src/platform/database.ts'
import { cloneDatabase } from '../../support/database.ts'
import { BELIEFS } from '../../support/planner-beliefs.ts'

const client = new pg.Client({ connectionString: await cloneDatabase(), ...POSTGRES_SESSION_OPTIONS })
beforeAll(async () => {
  await client.connect()
  await client.query('begin')
  await client.query('set local role none')
})
afterAll(() => client.end())

const planOf = async (text: string): Promise<string> => {
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (generic_plan, costs off) ${text}`)
  return rows.map(row => row['QUERY PLAN']).join('\n')
}

describe('the journal is followed in the order of an index', () => {
  test.each(Object.entries(BELIEFS))('with %s', async (_, believe) => {
    await client.query(believe)
    const ofOwners = await planOf(EVENTS_OF_OWNERS_SQL)
    const place = await planOf(EVENT_POSITION_SQL)
    for (const plan of [ofOwners, place]) expect(plan).not.toMatch(/Sort\n|Sort {2}|Seq Scan on events/)
    expect(ofOwners).toMatch(/Index Cond: \(\(ROW\(written_in, id\) > ROW\(\$2, \$3\)\) AND \(written_in < /)
    for (const position of [SEALED_UP_TO_SQL, COUNTED_UP_TO_SQL, '$1::bigint, $2::text']) {
      const behind = await planOf(secondsBehindSql(position))
      expect(behind).not.toMatch(/Sort\n|Sort {2}|Seq Scan on events/)
      expect(behind).toMatch(/Index Cond: \(.*ROW\(written_in, id\) > ROW\(/)
    }
    expect(await planOf(NEWEST_EVENT_SQL)).not.toMatch(/Sort\n|Sort {2}|Seq Scan on events/)
    expect(await planOf(OVERDUE_SECONDS_SQL)).toMatch(
      /Index Only Scan using deadlines_pkey on deadlines d\n.*Index Cond: \(\(kind = .*\) AND \(mode = /,
    )
    expect(place).toMatch(/Index Cond: \(.*owner_id = \$2\) AND \(.*mode = \$3\) AND \(.*id = \$4\)\)/)
  })
})
