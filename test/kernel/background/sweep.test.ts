import { expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { deleteExpiredRows } from '../../../src/kernel/background/sweep.ts'
import { startEngine } from '../../support/engine.ts'

const engine = await startEngine(areas)

/** Sweeps, and returns how many statements that took. */
async function statementsOfSweep(): Promise<number> {
  let statements = 0
  const query = (statement: { readonly text: string }) => {
    statements++
    return engine.sql(statement)
  }
  await deleteExpiredRows({ pool: { query } as never }, areas)
  return statements
}

const rateLimits = async (): Promise<string[]> =>
  (await engine.sql('select client from rate_limits order by client')).rows.map(({ client }) => client)

test('a sweep deletes the expired rows of all tables in one statement, and keeps the others', async () => {
  await engine.sql(
    `insert into rate_limits values ('old', 1, now() - interval '1 minute'), ('new', 1, now() + interval '1 hour')`,
  )
  await engine.sql(
    `insert into used_proofs values ('old', now() - interval '1 minute'), ('new', now() + interval '1 hour')`,
  )
  expect(await statementsOfSweep()).toBe(2)
  expect(await rateLimits()).toEqual(['new'])
  expect((await engine.sql('select digest from used_proofs')).rows).toEqual([{ digest: 'new' }])
})

test('a sweep repeats the statement for a table with more expired rows than a batch', async () => {
  await engine.sql(
    `insert into rate_limits select 'client_' || n, 1, now() - interval '1 minute' from generate_series(1, 2500) n`,
  )
  expect(await statementsOfSweep()).toBe(4)
  expect(await rateLimits()).toEqual(['new'])
})
