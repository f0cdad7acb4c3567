import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { Connection } from '@temporalio/client'
import type { RunningInstance } from '../../../src/dev/instance-file.ts'
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

async function paste(curl: string): Promise<Response> {
  const [, url = ''] = /curl -s (\S+)/.exec(curl) ?? []
  const headers = [...curl.matchAll(/-H '([^:]+): ([^']+)'/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value],
  )
  const [, body = ''] = /-d '([^']+)'/.exec(curl) ?? []
  return fetch(url, { method: 'POST', headers, body })
}

// All tests share one directory, since creating PostgreSQL and Temporal takes longer than starting them.
const dataDir = temporaryFolder()
let service: Launched | undefined
let first: RunningInstance | undefined

async function ensureRunning(): Promise<Launched> {
  service ??= await startService(dataDir)
  first ??= instanceOf(dataDir)
  return service
}

async function ensureStopped(): Promise<void> {
  if (!first) await ensureRunning()
  if (service) await stopService(service)
  service = undefined
}

const postmasterPid = () =>
  Number.parseInt(readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8'), 10)

/** Every server process that works on the data directory. */
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
    await ensureRunning()
    const instance = instanceOf(dataDir)
    expect(instance).toEqual({
      url: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      docs: `${instance.url}/docs`,
      signIn: expect.stringMatching(/^http:\/\/localhost:\d+\/login#lnk_/),
      webUi: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      ownerId: expect.any(String),
      apiKey: expect.any(String),
      dashboardSecret: expect.stringMatching(/^.{32,}$/),
      databaseUrl: expect.stringMatching(/^postgres:\/\/agentpay:/),
      temporalAddress: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      temporalNamespace: 'default',
      temporalCli: expect.stringMatching(/temporal$/),
    })
    expect(statSync(instanceFile(dataDir)).mode & 0o777).toBe(0o600)
    expect(statSync(join(dataDir, 'secrets.json')).mode & 0o777).toBe(0o600)
  })

  test('prints its addresses, its key and a first request that works', async () => {
    const { output } = await ensureRunning()
    const { url, docs, webUi, apiKey, signIn } = instanceOf(dataDir)
    const waiting = `${docs}/guides/temporal#find-a-run`
    for (const shown of [url, docs, `Web UI       ${webUi}\n`, waiting, apiKey, String(signIn)])
      expect(output()).toContain(shown)
    const answer = await paste(output())
    expect(answer.status).toBe(201)
    expect(await answer.json()).toMatchObject({ name: 'First policy' })
    expect(output()).toContain(`Next: pay something in three minutes, ${docs}#quickstart`)
  })

  test('prints a line of the Temporal CLI that works with the port that was chosen', async () => {
    const { output } = await ensureRunning()
    const [, program = '', ...flags] =
      / {2}Temporal +(\S+) (.*)/
        .exec(output())
        ?.flatMap((part, index) => (index === 2 ? part.split(' ') : part)) ?? []
    const listed = launch(program, flags)
    expect([await listed.exit, flags]).toEqual([
      0,
      expect.arrayContaining([
        '--address',
        instanceOf(dataDir).temporalAddress?.replace('127.0.0.1', 'localhost'),
      ]),
    ])
  })

  test('answers at both addresses of localhost, and allows a thousand requests a minute', async () => {
    await ensureRunning()
    const { port } = new URL(instanceOf(dataDir).url)
    for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
      const answer = await fetch(`http://${host}:${port}/v1/agents`)
      expect([answer.status, answer.headers.get('x-ratelimit-limit')]).toEqual([401, '1000'])
    }
  })

  test('lets an agent make the first payment of the README', async () => {
    await ensureRunning()
    const example = launch(process.execPath, ['examples/first-payment/pay.mjs'], { DATA_DIR: dataDir })
    expect(await example.exit).toBe(0)
    expect(example.output().trimEnd().split('\n').slice(-2)).toEqual([
      expect.stringMatching(/^paid {6}mppcredential_\w+ 200 receipt$/),
      'balance   17.5 0 ledger verified',
    ])
  })

  test('has a Temporal server and its Web UI', async () => {
    await ensureRunning()
    const { webUi, temporalAddress } = instanceOf(dataDir)
    expect((await fetch(String(webUi))).status).toBe(200)
    const connection = await Connection.connect({ address: String(temporalAddress) })
    await connection.workflowService.describeNamespace({ namespace: 'default' })
    await connection.close()
  })

  test('is not started a second time on its data directory; the second start prints its address', async () => {
    await ensureRunning()
    const second = command('start', dataDir)
    expect(await second.exit).toBe(1)
    expect(second.output()).toBe(
      `The service is already running on this data directory: ${instanceOf(dataDir).url}\n`,
    )
  })

  test('prevents a reset of its data', async () => {
    await ensureRunning()
    const reset = command('reset', dataDir)
    expect(await reset.exit).toBe(1)
    expect(reset.output()).toContain('already running')
    expect(existsSync(join(dataDir, 'postgres/data'))).toBe(true)
  })

  test('that is killed leaves no server behind and restarts at once with the same owner and key', async () => {
    const killed = await ensureRunning()
    const processes = servers()
    killed.kill('SIGKILL')
    service = await startService(dataDir)
    expect(processes.filter(isRunning)).toEqual([])
    expectSame()
  })

  test('in which a viewer was invited before any owner starts again, and shows the page to sign in', async () => {
    await ensureRunning()
    const { url, apiKey } = instanceOf(dataDir)
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'Grace', role: 'viewer' })
    expect((await fetch(`${url}/v1/people`, { method: 'POST', headers, body })).status).toBe(201)
    await ensureStopped()
    await ensureRunning()
    expect(instanceOf(dataDir).signIn).toMatch(/^http:\/\/localhost:\d+\/login$/)
  })

  /** npm and the terminal both pass on a Ctrl-C. */
  test('ends with 0 and with its servers at two SIGTERM, and removes its instance file', async () => {
    const runningService = await ensureRunning()
    const processes = servers()
    service = undefined
    runningService.kill('SIGTERM')
    runningService.kill('SIGTERM')
    expect(await runningService.exit).toBe(0)
    expect(processes.filter(isRunning)).toEqual([])
    expect(existsSync(instanceFile(dataDir))).toBe(false)
  })

  test('keeps owner, key and what Node compiles over a restart, and ends when npm is killed', async () => {
    await ensureStopped()
    const compiled = temporaryFolder()
    const npm = launch('npm', ['start'], { DATA_DIR: dataDir, PORT: '0', NODE_COMPILE_CACHE: compiled })
    await npm.untilOutput(/The service is ready/)
    expectSame()
    await until('it is on the disk', () => readdirSync(compiled, { recursive: true }).length > 1_000)
    const guard = parentOf(postmasterPid())
    const processes = [parentOf(guard), guard, ...servers()]
    npm.kill('SIGKILL')
    await until('the end of service and servers', () => !processes.some(isRunning))
    expect(existsSync(instanceFile(dataDir))).toBe(false)
  })
})

test('a reset removes the data of the service, and no other file', async () => {
  await ensureStopped()
  writeFileSync(join(dataDir, 'letter.txt'), 'Dear Sir')
  expect(await command('reset', dataDir).exit).toBe(0)
  expect(readdirSync(dataDir)).toEqual(['letter.txt'])
  first = undefined
})
