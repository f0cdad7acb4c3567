import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { Connection } from '@temporalio/client'
import type { Instance } from '../../../src/dev/instance-file.ts'
import { isRunning, processesIn } from '../../../src/dev/processes/process-table.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { type Launched, launch } from '../../support/processes/launched.ts'
import { parentOf } from '../../support/processes/parent-of.ts'
import {
  command,
  instanceFile,
  instanceOf,
  startService,
  stopService,
} from '../../support/processes/service-process.ts'
import { until } from '../../support/until.ts'

/** Does what a shell would with the `curl` that the service prints. */
async function paste(curl: string): Promise<Response> {
  const [, url = ''] = /curl -s (\S+)/.exec(curl) ?? []
  const headers = [...curl.matchAll(/-H '([^:]+): ([^']+)'/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value],
  )
  const [, body = ''] = /-d '([^']+)'/.exec(curl) ?? []
  return fetch(url, { method: 'POST', headers, body })
}

// One directory for all: to make its PostgreSQL and its Temporal costs more than to start them.
const dataDir = temporaryFolder()
let service: Launched | undefined
/** As it told of itself at its first start. */
let first: Instance | undefined

async function running(): Promise<Launched> {
  service ??= await startService(dataDir)
  first ??= instanceOf(dataDir)
  return service
}

/** With data, and nobody at work on it. */
async function ended(): Promise<void> {
  if (!first) await running()
  if (service) await stopService(service)
  service = undefined
}

const postmasterPid = () =>
  Number.parseInt(readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8'), 10)

/** Every process of the servers that work on the data directory. */
function servers(): number[] {
  const temporal = processesIn(dataDir, 'start-dev')
  expect(temporal).not.toEqual([])
  return [postmasterPid(), ...temporal]
}

function expectSame(): void {
  const { ownerId, apiKey, dashboardSecret } = instanceOf(dataDir)
  expect(first).toMatchObject({ ownerId, apiKey, dashboardSecret })
}

describe('a running service', () => {
  test('writes its addresses and secrets into files that only its user can read', async () => {
    await running()
    const instance = instanceOf(dataDir)
    expect(instance).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      docs: `${instance.url}/docs`,
      webUi: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      ownerId: expect.any(String),
      apiKey: expect.any(String),
      dashboardSecret: expect.stringMatching(/^.{32,}$/),
      databaseUrl: expect.stringMatching(/^postgres:\/\/agentpay:/),
      temporalAddress: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      temporalNamespace: 'default',
    })
    expect(statSync(instanceFile(dataDir)).mode & 0o777).toBe(0o600)
    expect(statSync(join(dataDir, 'secrets.json')).mode & 0o777).toBe(0o600)
  })

  test('prints its addresses, its key and a first request that works', async () => {
    const { output } = await running()
    const { url, docs, webUi, apiKey } = instanceOf(dataDir)
    for (const shown of [url, docs, String(webUi), apiKey]) expect(output()).toContain(shown)
    const answer = await paste(output())
    expect(answer.status).toBe(201)
    expect(await answer.json()).toMatchObject({ name: 'First policy' })
  })

  test('has a Temporal server and its Web UI', async () => {
    await running()
    const { webUi, temporalAddress } = instanceOf(dataDir)
    expect((await fetch(String(webUi))).status).toBe(200)
    const connection = await Connection.connect({ address: String(temporalAddress) })
    await connection.workflowService.describeNamespace({ namespace: 'default' })
    await connection.close()
  })

  test('is not started a second time on its data directory; the second start prints its address', async () => {
    await running()
    const second = command('start', dataDir)
    expect(await second.exit).toBe(1)
    expect(second.output()).toBe(
      `The service already runs on this data directory: ${instanceOf(dataDir).url}\n`,
    )
  })

  test('prevents a reset of its data', async () => {
    await running()
    const reset = command('reset', dataDir)
    expect(await reset.exit).toBe(1)
    expect(reset.output()).toContain('already runs')
    expect(existsSync(join(dataDir, 'postgres/data'))).toBe(true)
  })

  test('that is killed leaves no server behind and restarts at once with the same owner and key', async () => {
    const killed = await running()
    const left = servers()
    killed.kill('SIGKILL')
    service = await startService(dataDir)
    expect(left.filter(isRunning)).toEqual([])
    expectSame()
  })

  /** npm and the terminal both pass on a Ctrl-C. */
  test('ends with 0 and with its servers at two SIGTERM, and removes its instance file', async () => {
    const runningService = await running()
    const left = servers()
    service = undefined
    runningService.kill('SIGTERM')
    runningService.kill('SIGTERM')
    expect(await runningService.exit).toBe(0)
    expect(left.filter(isRunning)).toEqual([])
    expect(existsSync(instanceFile(dataDir))).toBe(false)
  })

  test('keeps its owner and key over a restart, and ends when npm is killed', async () => {
    await ended()
    const npm = launch('npm', ['start'], { DATA_DIR: dataDir, PORT: '0' })
    await npm.untilOutput(/The service is ready/)
    expectSame()
    const guard = parentOf(postmasterPid())
    const left = [parentOf(guard), guard, ...servers()]
    npm.kill('SIGKILL')
    await until('the end of service and servers', () => !left.some(isRunning))
    expect(existsSync(instanceFile(dataDir))).toBe(false)
  })
})

test('a reset removes the data of the service, and no other file', async () => {
  await ended()
  writeFileSync(join(dataDir, 'letter.txt'), 'Dear Sir')
  expect(await command('reset', dataDir).exit).toBe(0)
  expect(readdirSync(dataDir)).toEqual(['letter.txt'])
  first = undefined
})
