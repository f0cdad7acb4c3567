import { existsSync, readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { afterAll, describe, expect, test } from '@jest/globals'
import { Reader } from '../../../src/app/reader.ts'
import type { ReaderParts, ServiceSettings } from '../../../src/app/runtime.ts'
import { areas } from '../../../src/areas.ts'
import { allOperations } from '../../../src/kernel/contract/area.ts'
import type { ApiCall } from '../../../src/kernel/contract/call.ts'
import { isStreamedContent } from '../../../src/kernel/contract/file.ts'
import { ClientGone } from '../../../src/kernel/contract/problem.ts'
import { roleScopes } from '../../../src/kernel/contract/scopes.ts'
import { readSettings } from '../../../src/platform/settings/settings.ts'
import { startTestService } from '../../support/harness.ts'
import { withConnection } from '../../support/rows.ts'
import { IN_GERMANY, secretSettings } from '../../support/services/settings.ts'
import { until } from '../../support/until.ts'

const service = await startTestService({ own: true })
const settings: ServiceSettings = {
  ...readSettings({ ...IN_GERMANY, LOG_LEVEL: 'silent', PUBLIC_URL: 'https://pay.example.com' }),
  ...secretSettings,
  databaseUrl: service.databaseUrl,
}
const failures: unknown[] = []
const parts: ReaderParts = {
  settings,
  state: () => ({ listensAt: { address: '127.0.0.1', port: 1_234 }, webUi: null }),
  temporal: async () => false,
  onNote: () => undefined,
  onFailure: error => failures.push(error),
}
const reader = new Reader(parts)
afterAll(() => reader.stop())

const { ownerId, client } = await service.owner()
const { body: agent } = await client.agents.create({ body: { name: 'Ada' } })

const operations = new Map(allOperations(areas).map(one => [one.key, one]))

function callOf(
  key: string,
  { params = {}, query = {}, ...more }: Partial<ApiCall['input']> & object,
): ApiCall {
  const operation = operations.get(key)
  if (!operation) throw new Error(`there is no ${key}`)
  return {
    operation,
    actor: {
      type: 'console',
      id: 'person_1',
      tenant: { ownerId, mode: 'test' },
      agentId: null,
      scopes: roleScopes.owner,
    },
    input: { params, query, body: {} },
    requestId: 'request-1',
    address: null,
    idempotencyKey: null,
    request: { headers: { accept: 'text/html' }, body: new Uint8Array(), host: 'pay.example.com' },
    ...more,
  }
}

const agents = callOf('agents.list', { query: { limit: 100 } })
const csv = callOf('consoleView.table', { params: { section: 'agents' } })

const WAITING = `select count(*)::int as count from pg_locks l join pg_database d on d.oid = l.database
  where datname = current_database() and not granted`

const ASKED_FOR_LOCK = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and query like 'select pg_try_advisory_lock%' and state = 'idle'`

async function advisoryLocks(): Promise<number> {
  const [row] = await service.sql<{ count: number }>(
    `select count(*)::int as count from pg_locks l join pg_database d on d.oid = l.database
      where locktype = 'advisory' and datname = current_database()`,
  )
  return row?.count ?? 0
}

async function textOf(call: ApiCall): Promise<string> {
  const { body } = (await reader.read(call)) ?? { body: null }
  if (body === null || !isStreamedContent(body)) return String(body)
  let text = ''
  for await (const piece of body) text += piece
  return text
}

describe('the thread that reads', () => {
  test('answers a file as soon as it has started, and until then leaves lists to the process', async () => {
    expect(await reader.read(agents)).toBeUndefined()
    expect(await textOf(csv)).toContain(`${agent.id},`)
    const list = await reader.read(agents)
    expect(JSON.parse(String(list?.body)).data).toMatchObject([{ id: agent.id, name: 'Ada' }])
    expect(failures).toEqual([])
  })

  test('shows the state of the process in a page', async () => {
    const page = await reader.read(callOf('consoleView.home', {}))
    expect([page?.status, page?.type]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page?.headers).toMatchObject({ 'Content-Language': 'en' })
    expect(String(page?.body)).toContain('Temporal is unreachable.')
  })

  const onLinux = existsSync('/proc/thread-self') ? test : test.skip
  onLinux('leaves a busy processor to payments', () => {
    const priorities = readdirSync('/proc/self/task').map(id => getPriority(Number(id)))
    expect(Math.max(...priorities)).toBe(10)
    expect(getPriority(process.pid)).toBeLessThan(10)
  })

  test('passes on refusals and problems', async () => {
    const missing = await reader.read(callOf('consoleView.section', { params: { section: 'nothing' } }))
    expect([missing?.status, missing?.errorCode]).toEqual([404, 'page_not_found'])
    const wrong = reader.read(callOf('agents.list', { query: { limit: 100, cursor: 'x' } }))
    await expect(wrong).rejects.toMatchObject({ status: 400, code: 'invalid_cursor' })
  })

  test('keeps a defect apart from what the caller reads', async () => {
    const broken = reader.read(callOf('agents.list', { query: { limit: 'many' } }))
    await expect(broken).rejects.toThrow()
    expect(await textOf(csv)).toContain(String(agent.id))
  })

  test('ends when the client has left and the thread is done, and serves the next one', async () => {
    const gone = new AbortController()
    await withConnection(service.databaseUrl, async blocking => {
      await blocking.query('begin; lock table agents')
      const waiting = reader.read({ ...agents, whenGone: () => gone.signal })
      const left = expect(waiting).rejects.toBeInstanceOf(ClientGone)
      await until('it waits for the table', async () => {
        const [row] = await service.sql<{ count: number }>(WAITING)
        return row?.count === 1
      })
      gone.abort()
      await turnOfLoop()
      expect(await Promise.race([left, turnOfLoop('the thread still works')])).toBe('the thread still works')
      await blocking.query('rollback')
      await left
    })
    await expect(reader.read({ ...agents, whenGone: () => gone.signal })).rejects.toBeInstanceOf(ClientGone)
    expect(await textOf(csv)).toContain(String(agent.id))
  })

  test('keeps no lock of an owner whose client has left before the file begins', async () => {
    const { body: wallet } = await client.wallets.create({ body: { name: 'Main' } })
    const { body: made } = await client.statements.create({ body: { walletId: wallet.id } })
    const gone = new AbortController()
    const statement = callOf('statements.csv', { params: { id: made.id } })
    await withConnection(service.databaseUrl, async blocking => {
      await blocking.query('select pg_advisory_lock(hashtextextended($1, 0))', [`turn ${ownerId}`])
      const left = expect(reader.read({ ...statement, whenGone: () => gone.signal })).rejects.toBeInstanceOf(
        ClientGone,
      )
      await until('it has asked for the lock', async () => {
        const [row] = await service.sql<{ count: number }>(ASKED_FOR_LOCK)
        return row?.count
      })
      gone.abort()
      await blocking.query('select pg_advisory_unlock_all()')
      await left
    })
    await until('the lock is free', async () => (await advisoryLocks()) === 0)
    expect(await textOf(statement)).toContain('bookedAt')
  })

  test('leaves no port open after a refusal', async () => {
    const wrong = callOf('agents.list', { query: { limit: 100, cursor: 'x' } })
    const ports = () => process.getActiveResourcesInfo().filter(name => name === 'MessagePort').length
    const before = ports()
    for (let n = 0; n < 50; n++)
      await expect(reader.read(wrong)).rejects.toMatchObject({ code: 'invalid_cursor' })
    await until('the ports are closed', () => ports() <= before, 5_000)
  })

  test('leaves everything to the process for some seconds after it could not start', async () => {
    const seen: unknown[] = []
    const unable = new Reader({
      ...parts,
      settings: { ...settings, databaseUrl: 'postgresql://absent:x@127.0.0.1:1/none' },
      onFailure: error => seen.push(error),
    })
    expect(await unable.read(csv)).toBeUndefined()
    expect(await unable.read(csv)).toBeUndefined()
    expect(seen).toHaveLength(1)
    await unable.stop()
  })

  test('makes no more of a file whose reader has left', async () => {
    const { body } = (await reader.read(csv)) ?? {}
    if (!body || !isStreamedContent(body)) throw new Error('a file is streamed')
    const pieces = body[Symbol.asyncIterator]()
    expect((await pieces.next()).done).toBe(false)
    await pieces.return?.()
    expect((await pieces.next()).done).toBe(true)
    expect(failures).toEqual([])
  })

  test('starts again after it was ended', async () => {
    await reader.stop()
    expect(await textOf(csv)).toContain(String(agent.id))
  })
})
