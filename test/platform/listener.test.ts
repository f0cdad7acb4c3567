import { afterEach, expect, test } from '@jest/globals'
import pg from 'pg'
import { type Listener, listen } from '../../src/platform/listener.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const databaseUrl = await cloneDatabase()

const listeners: Listener[] = []
afterEach(async () => {
  await Promise.all(listeners.splice(0).map(one => one.stop()))
})

/** How often it has heard of something. */
function hearing(url = databaseUrl): () => number {
  let heard = 0
  listeners.push(
    listen(url, 'outbox', () => {
      heard++
    }),
  )
  return () => heard
}

async function execute(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(statement)
  await client.end()
}

const CUT = `select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen outbox%'`

test('what may have been missed before it listened counts as a notice', async () => {
  const heard = hearing()
  await until('it looks once', () => heard() > 0)
  expect(heard()).toBe(1)
})

test('hears what is announced, and nothing else', async () => {
  const heard = hearing()
  await until('it listens', () => heard() === 1)
  await execute('notify elsewhere')
  await execute('notify outbox')
  await until('it has heard', () => heard() > 1)
  expect(heard()).toBe(2)
})

test('hears again after its connection was lost', async () => {
  const heard = hearing()
  await until('it listens', () => heard() === 1)
  await execute(CUT)
  await until('it listens anew', () => heard() === 2)
  await execute('notify outbox')
  await until('it has heard', () => heard() > 2)
  expect(heard()).toBe(3)
})

test('stops while it listens, and while there is nobody to listen to', async () => {
  const heard = hearing()
  await until('it listens', () => heard() === 1)
  const nobody = new URL(databaseUrl)
  nobody.port = '1'
  hearing(nobody.href)
  await Promise.all(listeners.splice(0).map(one => one.stop()))
  await execute('notify outbox')
  expect(heard()).toBe(1)
})
