import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import type { Instance } from '../../src/bin/instance-file.ts'
import { isRunning, processesIn } from '../../src/platform/process-table.ts'
import { temporaryFolder } from '../support/folders.ts'
import { type Launched, launch } from '../support/launched.ts'
import { command, instanceFile, instanceOf, startService, stopService } from '../support/service-process.ts'
import { until } from '../support/until.ts'

/** Every process of the servers that work on a data directory. */
const servers = (dataDir: string): number[] => [postmasterPid(dataDir), ...processesIn(dataDir, 'start-dev')]

const postmasterPid = (dataDir: string) =>
  Number.parseInt(readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8'), 10)

describe('a service on the data of the one before', () => {
  const dataDir = temporaryFolder()
  let service: Launched
  let running: number[]
  let first: Instance

  beforeAll(async () => {
    service = await startService(dataDir)
    running = servers(dataDir)
    first = instanceOf(dataDir)
  })

  /** npm and the terminal both pass on a Ctrl-C. */
  async function expectToEnd(signal: 'SIGTERM' | 'SIGINT'): Promise<void> {
    expect(running.length).toBeGreaterThan(1)
    service.kill(signal)
    service.kill(signal)
    expect(await service.exit).toBe(0)
    expect(running.filter(isRunning)).toEqual([])
    expect(existsSync(instanceFile(dataDir))).toBe(false)
  }

  test('SIGTERM ends it and its servers with 0', () => expectToEnd('SIGTERM'))

  test('it is the same service when it starts again', async () => {
    service = await startService(dataDir)
    running = servers(dataDir)
    const { ownerId, apiKey, dashboardSecret } = instanceOf(dataDir)
    expect(first).toMatchObject({ ownerId, apiKey, dashboardSecret })
  })

  test('one that is killed leaves no server behind, and starts again at once', async () => {
    service.kill('SIGKILL')
    service = await startService(dataDir)
    expect(running.filter(isRunning)).toEqual([])
    running = servers(dataDir)
    expect(instanceOf(dataDir).url).toMatch(/^http/)
  })

  test('SIGINT ends it and its servers with 0', () => expectToEnd('SIGINT'))
})

test('a service that is told to stop while it starts ends in order as well', async () => {
  const dataDir = temporaryFolder()
  const service = command('start', dataDir)
  await service.says(/Starting PostgreSQL/)
  expect(await stopService(service)).toBe(0)
  expect(existsSync(instanceFile(dataDir))).toBe(false)
  expect(existsSync(join(dataDir, 'postgres/data/postmaster.pid'))).toBe(false)
})

test('together with npm, when it is killed, ends what npm started', async () => {
  const dataDir = temporaryFolder()
  const npm = launch('npm', ['start'], { DATA_DIR: dataDir, PORT: '0' })
  await npm.says(/The service is ready/)
  const running = servers(dataDir)
  npm.kill('SIGKILL')
  await until('the end of the servers', () => !running.some(isRunning))
  await until('the end of the service', () => !existsSync(instanceFile(dataDir)))
  expect(running).not.toEqual([])
})
