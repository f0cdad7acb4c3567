import { afterEach, expect, test } from '@jest/globals'
import pg from 'pg'
import { type ChannelListener, openListener } from '../../src/platform/listener.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const databaseUrl = await cloneDatabase()

const listeners: ChannelListener[] = []
afterEach(async () => {
  await Promise.all(listeners.splice(0).map(listener => listener.stop()))
})

/** Starts a listener; returns a function that counts its notifications. */
function countNotifications(url = databaseUrl): () => number {
  let notifications = 0
  const listener = openListener(url)
  listener.on('outbox', () => {
    notifications++
  })
  listeners.push(listener)
  return () => notifications
}

async function execute(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(statement)
  await client.end()
}

/** Ends those of this database only: other test files have listeners on the same server. */
const TERMINATE = `select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and query ilike 'listen outbox%'`

test('a listener reports once when it begins to listen, as it may have missed notifications', async () => {
  const notifications = countNotifications()
  await until('it looks once', () => notifications() > 0)
  expect(notifications()).toBe(1)
})

test('a listener reports notifications of its channel only', async () => {
  const notifications = countNotifications()
  await until('it listens', () => notifications() === 1)
  await execute('notify elsewhere')
  await execute('notify outbox')
  await until('it has heard', () => notifications() > 1)
  expect(notifications()).toBe(2)
})

test('a listener continues after its connection was lost', async () => {
  const notifications = countNotifications()
  await until('it listens', () => notifications() === 1)
  await execute(TERMINATE)
  await until('it listens anew', () => notifications() === 2)
  await execute('notify outbox')
  await until('it has heard', () => notifications() > 2)
  expect(notifications()).toBe(3)
})

test('a listener stops while it listens, and while it cannot connect', async () => {
  const notifications = countNotifications()
  await until('it listens', () => notifications() === 1)
  const unreachable = new URL(databaseUrl)
  unreachable.port = '1'
  countNotifications(unreachable.href)
  await Promise.all(listeners.splice(0).map(listener => listener.stop()))
  await execute('notify outbox')
  expect(notifications()).toBe(1)
})

test('a listener hears all its channels on one connection, also those that were added late', async () => {
  const heard: string[] = []
  const listener = openListener(databaseUrl)
  listeners.push(listener)
  listener.on('outbox', () => heard.push('outbox'))
  const ignore = listener.on('deliveries', payload => heard.push(`deliveries ${payload ?? ''}`))
  await until('it listens', () => heard.length === 2)
  listener.on('journal', () => heard.push('journal'))
  await until('it listens to the late one', () => heard.length === 3)
  await execute(`select pg_notify('deliveries', 'webhook_1'), pg_notify('journal', '')`)
  await until('both are heard', () => heard.length === 5)
  ignore()
  await execute(`select pg_notify('deliveries', ''), pg_notify('outbox', '')`)
  await until('the one that still listens is heard', () => heard.length === 6)
  expect(heard).toEqual(['outbox', 'deliveries ', 'journal', 'deliveries webhook_1', 'journal', 'outbox'])
})
