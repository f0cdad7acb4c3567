import './server/web-ui.ts'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common'
import { commandOf, isRunning, processesIn } from '../../../src/dev/processes/process-table.ts'
import { installedTemporal } from '../../../src/dev/temporal/binary.ts'
import { removeTemporal, temporalPaths } from '../../../src/dev/temporal/data.ts'
import { type EmbeddedTemporal, startTemporal } from '../../../src/dev/temporal/server.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { type Launched, launch } from '../../support/processes/launched.ts'
import { listeningSockets } from '../../support/processes/listening.ts'
import { parentOf } from '../../support/processes/parent-of.ts'
import { tools } from '../../support/processes/tools.ts'
import { until } from '../../support/until.ts'

const ports = { grpc: 0, ui: 0 }
const binary = (await installedTemporal({ env: process.env, tell: () => undefined })) ?? ''
const start = (dataDir: string) => startTemporal({ binary, dataDir, ports })

async function using<T>(dataDir: string, work: (temporal: EmbeddedTemporal) => Promise<T>): Promise<T> {
  const temporal = await start(dataDir)
  try {
    return await work(temporal)
  } finally {
    await temporal.stop()
  }
}

const connections: Connection[] = []
afterAll(() => Promise.all(connections.map(connection => connection.close())))

async function clientOf(address: string): Promise<Client> {
  const connection = await Connection.connect({ address })
  connections.push(connection)
  return new Client({ connection })
}

const owner = defineSearchAttributeKey('AgentPayOwner', 'KEYWORD')

async function beginRun(address: string, workflowId: string): Promise<void> {
  const client = await clientOf(address)
  const typedSearchAttributes = new TypedSearchAttributes([{ key: owner, value: 'owner_1' }])
  await client.workflow.start('idle', { workflowId, taskQueue: 'nobody', typedSearchAttributes })
}

async function statusOf(address: string, workflowId: string): Promise<string> {
  const client = await clientOf(address)
  return (await client.workflow.getHandle(workflowId).describe()).status.name
}

/** The status of a new run: only a server with all tables and our search attributes accepts it. */
async function statusOfNewRun({ address }: EmbeddedTemporal): Promise<string> {
  await beginRun(address, 'begun')
  return statusOf(address, 'begun')
}

const serversOf = (dataDir: string) => processesIn(dataDir, 'start-dev')

/** The server itself, without its guard. */
const serverOf = (dataDir: string): number =>
  serversOf(dataDir).find(pid => commandOf(pid)?.program === 'temporal') ?? 0

describe('an embedded Temporal', () => {
  test('listens on this machine only, and serves its Web UI', async () => {
    const dataDir = temporaryFolder()
    await using(dataDir, async ({ webUi }) => {
      const elsewhere = listeningSockets(serverOf(dataDir)).filter(({ host }) => !host.startsWith('127.'))
      expect(elsewhere).toEqual([])
      const page = await fetch(webUi)
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<html')])
    })
  })

  test('keeps its data and ports over a restart, in a folder of any name', async () => {
    const dataDir = join(temporaryFolder(), "50 % of the agent's data? #1")
    mkdirSync(dataDir)
    const first = await using(dataDir, async temporal => {
      await beginRun(temporal.address, 'kept')
      return temporal
    })
    await using(dataDir, async ({ address, webUi }) => {
      expect([address, webUi]).toEqual([first.address, first.webUi])
      expect(await statusOf(address, 'kept')).toBe('RUNNING')
    })
  })

  test('has our search attributes, and adds those that older data lacks', async () => {
    const dataDir = temporaryFolder()
    const query = `AgentPayOwner = 'owner_1' and AgentPayAgent is null and AgentPayStatus is null`
    await using(dataDir, async ({ address }) => {
      await beginRun(address, 'found')
      const client = await clientOf(address)
      const removed = { namespace: 'default', searchAttributes: ['AgentPayStatus'] }
      await client.connection.operatorService.removeSearchAttributes(removed)
    })
    const runCount = await using(dataDir, async ({ address }) => {
      const client = await clientOf(address)
      return until('the run in the list', async () => (await client.workflow.count(query)).count)
    })
    expect(runCount).toBe(1)
  })

  test('has the given namespace', async () => {
    const temporal = await startTemporal({ binary, dataDir: temporaryFolder(), ports, namespace: 'payments' })
    const { connection } = await clientOf(temporal.address)
    const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: 'payments' })
    expect(namespaceInfo?.name).toBe('payments')
    await temporal.stop()
  })

  test('takes ports of its own beside another one', async () => {
    const [first, second] = await Promise.all([start(temporaryFolder()), start(temporaryFolder())])
    expect(new Set([first.address, first.webUi, second.address, second.webUi]).size).toBe(4)
    await Promise.all([first.stop(), second.stop()])
  })

  test('is restarted on the same port when its server is killed', async () => {
    const dataDir = temporaryFolder()
    await using(dataDir, async ({ address }) => {
      await beginRun(address, 'kept')
      const killed = serverOf(dataDir)
      process.kill(killed, 'SIGKILL')
      const status = await until('a new server', () => statusOf(address, 'kept').catch(() => null))
      expect(status).toBe('RUNNING')
      expect(serverOf(dataDir)).not.toBe(killed)
    })
  })

  test('puts aside the data of our earlier versions, which do not name their server', async () => {
    const dataDir = temporaryFolder()
    await using(dataDir, async ({ address, notes }) => {
      await beginRun(address, 'kept')
      expect(notes.filter(note => note.includes('temporal-older.db'))).toEqual([])
    })
    const { ports: file } = temporalPaths(dataDir)
    const { grpc, ui } = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ grpc, ui }))
    await using(dataDir, async temporal => {
      expect(temporal.notes.join()).toContain('made by another server and now lies in temporal-older.db')
      expect(temporal.address).toBe(`127.0.0.1:${grpc}`)
      await expect(statusOf(temporal.address, 'kept')).rejects.toThrow('not found')
      expect(await statusOfNewRun(temporal)).toBe('RUNNING')
    })
  })

  test('leaves no file when it is removed', async () => {
    const dataDir = temporaryFolder()
    await using(dataDir, async () => undefined)
    renameSync(join(dataDir, 'temporal.db'), join(dataDir, 'temporal-older.db'))
    await removeTemporal(dataDir)
    expect(readdirSync(dataDir)).toEqual([])
  })
})

/** A process for tests to kill, with its own Temporal. */
const parentWith = (dataDir: string): Launched =>
  launch(process.execPath, ['test/support/processes/temporal-process.ts', binary, dataDir])

describe('an embedded Temporal after a crash', () => {
  test('ends with its killed parent, and the next start finds the data', async () => {
    const dataDir = temporaryFolder()
    const parent = parentWith(dataDir)
    const [, address = ''] = await parent.untilOutput(/ready (\S+)/)
    await beginRun(address, 'kept')
    const oldServers = serversOf(dataDir)
    parent.kill('SIGKILL')
    await using(dataDir, async next => {
      expect(next.address).toBe(address)
      expect(oldServers.filter(isRunning)).toEqual([])
      expect(await statusOf(address, 'kept')).toBe('RUNNING')
    })
    expect(serversOf(dataDir)).toEqual([])
  })

  test('is restarted with its guard when the guard is killed', async () => {
    const dataDir = temporaryFolder()
    await using(dataDir, async ({ address }) => {
      await beginRun(address, 'kept')
      const server = serverOf(dataDir)
      process.kill(parentOf(server), 'SIGKILL')
      await until('the end of the old server', () => !isRunning(server))
      const status = await until('a new server', () => statusOf(address, 'kept').catch(() => null))
      expect(status).toBe('RUNNING')
    })
  })

  test('killed while creating its tables starts anew with complete tables', async () => {
    const dataDir = temporaryFolder()
    const parent = parentWith(dataDir)
    await until('the first table', () => existsSync(join(dataDir, 'temporal.db')))
    parent.kill('SIGKILL')
    expect(await using(dataDir, statusOfNewRun)).toBe('RUNNING')
  })

  test('starts anew if its data file is corrupt', async () => {
    const dataDir = temporaryFolder()
    writeFileSync(join(dataDir, 'temporal.db'), 'half of a file')
    expect(await using(dataDir, statusOfNewRun)).toBe('RUNNING')
  })

  test('that does not start reports why', async () => {
    const failingBinary = tools().install(
      'temporal',
      '#!/bin/sh\necho "no space left on device" >&2\nexit 1\n',
    )
    const starts = startTemporal({ binary: failingBinary, dataDir: temporaryFolder(), ports })
    await expect(starts).rejects.toThrow('Temporal did not start: no space left on device')
  })
})
