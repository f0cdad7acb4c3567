import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Connection } from '@temporalio/client'
import { openSecrets } from '../../src/bin/secrets.ts'
import { encryptionKey } from '../../src/kernel/vault.ts'
import { temporalAtHand } from '../../src/platform/temporal-binary.ts'
import { cloneDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folders.ts'
import type { Launched } from '../support/launched.ts'
import { command, instanceFile, instanceOf, startService, stopService } from '../support/service-process.ts'
import { addressOfRun } from '../support/temporal.ts'
import { fakeGo, tools } from '../support/tools.ts'
import { until } from '../support/until.ts'

/** Does what a shell would with the `curl` that the service prints. */
async function paste(curl: string): Promise<Response> {
  const [, url = ''] = /curl -s (\S+)/.exec(curl) ?? []
  const headers = [...curl.matchAll(/-H '([^:]+): ([^']+)'/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value],
  )
  const [, body = ''] = /-d '([^']+)'/.exec(curl) ?? []
  return fetch(url, { method: 'POST', headers, body })
}

describe('a running service', () => {
  const dataDir = temporaryFolder()
  let service: Launched
  beforeAll(async () => {
    service = await startService(dataDir)
  })
  afterAll(() => stopService(service))

  test('tells programs where it is, and nobody else', () => {
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

  test('tells people its addresses, its key and a first request that works', async () => {
    const { url, docs, webUi, apiKey } = instanceOf(dataDir)
    for (const shown of [url, docs, String(webUi), apiKey]) expect(service.output()).toContain(shown)
    const answer = await paste(service.output())
    expect(answer.status).toBe(201)
    expect(await answer.json()).toMatchObject({ name: 'First policy' })
  })

  test('has Temporal at its side, and its Web UI', async () => {
    const { webUi, temporalAddress } = instanceOf(dataDir)
    expect((await fetch(String(webUi))).status).toBe(200)
    const connection = await Connection.connect({ address: String(temporalAddress) })
    await connection.workflowService.describeNamespace({ namespace: 'default' })
    await connection.close()
  })

  test('is not started a second time on its data, but shown', async () => {
    const second = command('start', dataDir)
    expect(await second.exit).toBe(1)
    expect(second.output()).toBe(
      `The service already runs on this data directory: ${instanceOf(dataDir).url}\n`,
    )
  })

  test('keeps its data from being reset', async () => {
    const reset = command('reset', dataDir)
    expect(await reset.exit).toBe(1)
    expect(reset.output()).toContain('already runs')
    expect(existsSync(join(dataDir, 'postgres/data'))).toBe(true)
  })
})

describe('a start', () => {
  test('uses the database, the Temporal server and the secret it is given, and the next port when its own is taken', async () => {
    const other = createServer()
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const dataDir = temporaryFolder()
    const given = {
      PORT: String(port),
      DATABASE_URL: await cloneDatabase(),
      TEMPORAL_ADDRESS: addressOfRun(),
      DASHBOARD_SECRET: 'one secret of my own',
    }
    const service = await startService(dataDir, given)
    const instance = instanceOf(dataDir)
    expect(instance).toMatchObject({
      databaseUrl: given.DATABASE_URL,
      temporalAddress: given.TEMPORAL_ADDRESS,
      webUi: null,
      dashboardSecret: given.DASHBOARD_SECRET,
    })
    expect(service.output()).toContain(`Port ${port} is taken`)
    expect(Number(new URL(instance.url).port)).toBeGreaterThan(port)
    expect(readdirSync(dataDir).filter(name => /^(postgres|temporal)/.test(name))).toEqual([])
    expect(await stopService(service)).toBe(0)
    other.close()
  })

  test('does not wait for a Temporal that must be built first', async () => {
    const dataDir = temporaryFolder()
    const machine = tools()
    const result = String(await temporalAtHand({ env: process.env, tell: () => undefined }))
    const goOn = join(machine.env.HOME, 'go-on')
    fakeGo(machine, { result, building: `while (!existsSync(${JSON.stringify(goOn)})) await sleep(50)` })
    const PATH = `${machine.env.PATH}:/usr/bin:/bin`
    const service = await startService(dataDir, { ...machine.env, PATH, DATABASE_URL: await cloneDatabase() })
    await service.says(/no Temporal server yet/)
    expect(instanceOf(dataDir)).toMatchObject({ webUi: null, temporalAddress: null, temporalNamespace: null })

    machine.put('go-on', '')
    const [, webUi] = await service.says(/Temporal is ready\. Web UI (\S+)/)
    const late = await until('its address', () => instanceOf(dataDir).temporalAddress && instanceOf(dataDir))
    expect(late).toMatchObject({ webUi, temporalNamespace: 'default' })
    expect(await stopService(service)).toBe(0)
  })

  test('goes on without Temporal, says what to do, and takes one that appears', async () => {
    const dataDir = temporaryFolder()
    const machine = tools()
    const PATH = `${machine.env.PATH}:/usr/bin:/bin`
    const service = await startService(dataDir, { ...machine.env, PATH, DATABASE_URL: await cloneDatabase() })
    const [line] = await service.says(/Temporal cannot be had\. .*\n/)
    expect(line).toMatch(/build: Go is not installed\. Install .* or set TEMPORAL_ADDRESS\.$/m)
    expect((await fetch(`${instanceOf(dataDir).url}/health`)).status).toBe(200)

    const binary = String(await temporalAtHand({ env: process.env, tell: () => undefined }))
    machine.install('temporal', `#!/bin/sh\nexec '${binary}' "$@"\n`)
    await service.says(/Temporal is ready/)
    expect(await stopService(service)).toBe(0)
  })

  test('ends at a wrong setting with one line that does not hold its value', async () => {
    const service = command('start', temporaryFolder(), { DASHBOARD_SECRET: 'hunter2' })
    expect(await service.exit).toBe(1)
    expect(service.output()).toBe('DASHBOARD_SECRET is not valid. Allowed: at least 16 characters.\n')
  })
})

test('secrets of an earlier version stay, and those it had none of are made up once', () => {
  const dataDir = temporaryFolder()
  const earlier = { dashboardSecret: 'as it was', secretKey: 'this too', sandbox: null }
  writeFileSync(join(dataDir, 'secrets.json'), JSON.stringify(earlier))
  const secrets = openSecrets(dataDir)
  expect(secrets).toEqual({ ...earlier, encryptionKey: expect.any(String) })
  expect(encryptionKey.safeParse(secrets.encryptionKey).success).toBe(true)
  expect(openSecrets(dataDir)).toEqual(secrets)
})
