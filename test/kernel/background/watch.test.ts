import { afterEach, describe, expect, test } from '@jest/globals'
import { DueWorkWatch } from '../../../src/kernel/background/watch.ts'
import type { Sql } from '../../../src/kernel/contract/sql.ts'
import { until } from '../../support/until.ts'

const nothing = (): void => undefined

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(stops.splice(0).map(stop => stop()))
})

/** A database that answers with the milliseconds until the next lease ends and until each part has work. */
function answering(...answers: (readonly (number | null)[] | Error)[]) {
  const statements: string[] = []
  const sql = async (text: string) => {
    statements.push(text)
    if (text.includes('free_leases')) return [{ freed: 1 }]
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    if (answer instanceof Error) throw answer
    return [{ waits: answer }]
  }
  return { statements, sql: sql as unknown as Sql }
}

const NEVER_MS = 3_600_000

describe('the watch', () => {
  test('asks for all parts in one statement, and wakes only those that have work', async () => {
    const { sql, statements } = answering([null, -5, 60_000])
    const watch = new DueWorkWatch({ sql, pollMs: NEVER_MS, onFailure: nothing })
    const woken: string[] = []
    stops.push(watch.add({ dueAt: 'select one', wake: () => woken.push('one') }))
    stops.push(watch.add({ dueAt: 'select two', wake: () => woken.push('two') }))
    await until('one is woken', () => woken.length > 0)
    expect([woken, statements.length]).toEqual([['one'], 1])
  })

  test('sleeps until the next instant that it knows, and no longer', async () => {
    const { sql, statements } = answering([null, 30], [null, -1], [null, null])
    const watch = new DueWorkWatch({ sql, pollMs: NEVER_MS, onFailure: nothing })
    let woken = 0
    stops.push(watch.add({ dueAt: 'select one', wake: () => woken++ }))
    await until('it is woken', () => woken === 1)
    expect(statements).toHaveLength(2)
  })

  test('asks nothing without a part', async () => {
    const { sql, statements } = answering([null, null])
    const watch = new DueWorkWatch({ sql, pollMs: 1, onFailure: nothing })
    const stop = watch.add({ dueAt: 'select one', wake: nothing })
    await until('it asks', () => statements.length > 2)
    await stop()
    const before = statements.length
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(statements).toHaveLength(before)
  })

  test('frees the claims of a dead process only after it was steady for as long as a lease lasts', async () => {
    const { sql, statements } = answering([-1, null])
    const watch = new DueWorkWatch({ sql, pollMs: 5, leaseMs: 60, onFailure: nothing })
    let freed = 0
    stops.push(watch.add({ dueAt: 'select one', wake: nothing, onFreed: () => freed++ }))
    await until('they are freed', () => freed > 0)
    expect(statements.findIndex(text => text.includes('free_leases'))).toBeGreaterThan(1)
  })

  test('waits as long again after a failure, in which other processes may have lost the database, too', async () => {
    const failures: unknown[] = []
    const { sql, statements } = answering([-1, null], new Error('away'), [-1, null])
    const watch = new DueWorkWatch({
      sql,
      pollMs: 5,
      leaseMs: NEVER_MS,
      onFailure: error => failures.push(error),
    })
    stops.push(watch.add({ dueAt: 'select one', wake: nothing }))
    await until('it asks again', () => statements.length > 3)
    expect(failures).toEqual([new Error('away')])
    expect(statements.filter(text => text.includes('free_leases'))).toEqual([])
  })
})
