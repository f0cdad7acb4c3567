import './start/running-service.ts'
import './start/reset.ts'
import './start/terminal.ts'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { isRunning, processesIn } from '../../src/dev/processes/process-table.ts'
import { openLocalSecrets } from '../../src/dev/secrets.ts'
import { installedTemporal } from '../../src/dev/temporal/binary.ts'
import { vaultKeySchema } from '../../src/ports/vault.ts'
import { cloneDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/processes/folders.ts'
import { offline } from '../support/processes/releases.ts'
import {
  command,
  instanceFile,
  instanceOf,
  startService,
  stopService,
} from '../support/processes/service-process.ts'
import { fakeGo, tools } from '../support/processes/tools.ts'
import { addressOfRun } from '../support/temporal/access.ts'
import { until } from '../support/until.ts'

describe('npm start', () => {
  test('uses the given database, Temporal server and secret, takes the next port after 8080, and begins to make the documentation', async () => {
    const other = createServer()
    // Whether or not it was free, it is taken then.
    const isOurs = await new Promise<boolean>(resolve => {
      other.once('error', () => resolve(false)).listen(8_080, '127.0.0.1', () => resolve(true))
    })
    const dataDir = temporaryFolder()
    const env = {
      PORT: '',
      DATABASE_URL: await cloneDatabase(),
      TEMPORAL_ADDRESS: addressOfRun(),
      DASHBOARD_SECRET: 'one secret of my own',
      LOG_LEVEL: 'debug',
    }
    const service = await startService(dataDir, env)
    const instance = instanceOf(dataDir)
    expect(instance).toMatchObject({
      databaseUrl: env.DATABASE_URL,
      temporalAddress: env.TEMPORAL_ADDRESS,
      webUi: null,
      dashboardSecret: env.DASHBOARD_SECRET,
    })
    expect(service.output()).toContain('Port 8080 is taken')
    expect(Number(new URL(instance.url).port)).toBeGreaterThan(8_080)
    expect(readdirSync(dataDir).filter(name => /^(postgres|temporal)/.test(name))).toEqual([])
    // The test does not wait for the documentation: on a busy machine it takes long.
    await service.untilOutput(/^\d\d:\d\d:\d\d debug the documentation is being made$/m)
    expect(await stopService(service)).toBe(0)
    if (isOurs) other.close()
  })

  test('refuses a port that was named and is taken', async () => {
    const other = createServer()
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const env = { PORT: String(port), DATABASE_URL: await cloneDatabase(), TEMPORAL_ADDRESS: addressOfRun() }
    const service = command('start', temporaryFolder(), env)
    expect(await service.exit).toBe(1)
    expect(service.output()).toContain(`Port ${port} of PORT is taken. Name another one`)
    other.close()
  })

  test('does not wait for a Temporal that must be built first', async () => {
    const dataDir = temporaryFolder()
    const machine = tools()
    const result = String(await installedTemporal({ env: process.env, tell: () => undefined }))
    const goOn = join(machine.env.HOME, 'go-on')
    fakeGo(machine, { result, building: `while (!existsSync(${JSON.stringify(goOn)})) await sleep(50)` })
    const PATH = `${machine.env.PATH}:/usr/bin:/bin`
    const service = await startService(dataDir, {
      ...machine.env,
      ...offline,
      PATH,
      DATABASE_URL: await cloneDatabase(),
    })
    await service.untilOutput(/no Temporal server yet/)
    expect(instanceOf(dataDir)).toMatchObject({ webUi: null, temporalAddress: null, temporalNamespace: null })

    machine.put('go-on', '')
    const [, webUi] = await service.untilOutput(
      /Temporal is ready\. Web UI (\S+)\n\nRuns that wait for people[^\n]*find-a-run\n/,
    )
    const late = await until('its address', () => instanceOf(dataDir).temporalAddress && instanceOf(dataDir))
    expect(late).toMatchObject({ webUi, temporalNamespace: 'default' })
    expect(await stopService(service)).toBe(0)
  })

  test('continues without Temporal, says what to do, starts it once it appears, and ends it at Ctrl-C', async () => {
    const dataDir = temporaryFolder()
    const machine = tools()
    const PATH = `${machine.env.PATH}:/usr/bin:/bin`
    const service = await startService(dataDir, {
      ...machine.env,
      ...offline,
      PATH,
      DATABASE_URL: await cloneDatabase(),
    })
    const [line] = await service.untilOutput(/Temporal is not available\. .*\n/)
    expect(line).toMatch(/build: Go is not installed\. Install .* or set TEMPORAL_ADDRESS\.$/m)
    expect((await fetch(`${instanceOf(dataDir).url}/health`)).status).toBe(200)

    const binary = String(await installedTemporal({ env: process.env, tell: () => undefined }))
    machine.install('temporal', `#!/bin/sh\nexec '${binary}' "$@"\n`)
    await service.untilOutput(/Temporal is ready/)
    const servers = processesIn(dataDir, 'start-dev')
    expect(servers).not.toEqual([])
    service.kill('SIGINT')
    service.kill('SIGINT')
    expect(await service.exit).toBe(0)
    expect(servers.filter(isRunning)).toEqual([])
    expect(existsSync(instanceFile(dataDir))).toBe(false)
  })

  test('ends in order when it is interrupted while starting', async () => {
    const dataDir = temporaryFolder()
    const service = command('start', dataDir)
    await service.untilOutput(/Starting PostgreSQL/)
    service.kill('SIGINT')
    expect(await service.exit).toBe(0)
    expect(existsSync(instanceFile(dataDir))).toBe(false)
    expect(existsSync(join(dataDir, 'postgres/data/postmaster.pid'))).toBe(false)
  })

  test('ends at an invalid setting with one line that does not contain its value', async () => {
    const service = command('start', temporaryFolder(), { DASHBOARD_SECRET: 'hunter2' })
    expect(await service.exit).toBe(1)
    expect(service.output()).toBe('DASHBOARD_SECRET is not valid. Allowed: at least 16 characters.\n')
  })
})

test('the secrets of an earlier version are kept, and missing ones are generated once', () => {
  const dataDir = temporaryFolder()
  const earlier = { dashboardSecret: 'as it was', secretKey: 'this too', sandbox: null }
  writeFileSync(join(dataDir, 'secrets.json'), JSON.stringify(earlier))
  const secrets = openLocalSecrets(dataDir)
  expect(secrets).toEqual({ ...earlier, encryptionKey: expect.any(String) })
  expect(vaultKeySchema.safeParse(secrets.encryptionKey).success).toBe(true)
  expect(openLocalSecrets(dataDir)).toEqual(secrets)
})
