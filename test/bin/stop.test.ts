import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { processesIn } from '../../src/platform/process-table.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isAlive, launch } from '../support/launched.ts'
import { command, instanceFile, instanceOf, startService, stopService } from '../support/service-process.ts'
import { until } from '../support/until.ts'

/** Every process of the servers that work on a data directory. */
const servers = (dataDir: string): number[] => [postmasterPid(dataDir), ...processesIn(dataDir, 'start-dev')]

const postmasterPid = (dataDir: string) =>
  Number.parseInt(readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8'), 10)

describe('a service that is told to stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it and its servers with 0', async signal => {
    const dataDir = temporaryFolder()
    const service = await startService(dataDir)
    const running = servers(dataDir)
    expect(running.length).toBeGreaterThan(1)
    service.kill(signal)
    // npm and the terminal both pass on a Ctrl-C.
    service.kill(signal)
    expect(await service.exit).toBe(0)
    expect(running.filter(isAlive)).toEqual([])
    expect(existsSync(instanceFile(dataDir))).toBe(false)
  })

  test('while it starts, it ends in order as well', async () => {
    const dataDir = temporaryFolder()
    const service = command('start', dataDir)
    await service.says(/Starting PostgreSQL/)
    expect(await stopService(service)).toBe(0)
    expect(existsSync(instanceFile(dataDir))).toBe(false)
    expect(existsSync(join(dataDir, 'postgres/data/postmaster.pid'))).toBe(false)
  })

  test('it is the same service when it starts again', async () => {
    const dataDir = temporaryFolder()
    const service = await startService(dataDir)
    const before = instanceOf(dataDir)
    await stopService(service)
    const again = await startService(dataDir)
    expect(instanceOf(dataDir)).toMatchObject({ ownerId: before.ownerId, apiKey: before.apiKey })
    expect(instanceOf(dataDir).dashboardSecret).toBe(before.dashboardSecret)
    await stopService(again)
  })
})

describe('a service that is killed', () => {
  test('leaves no server behind, and starts again at once', async () => {
    const dataDir = temporaryFolder()
    const service = await startService(dataDir)
    const running = servers(dataDir)
    service.kill('SIGKILL')
    const again = await startService(dataDir)
    expect(running.filter(isAlive)).toEqual([])
    expect(instanceOf(dataDir).url).toMatch(/^http/)
    expect(await stopService(again)).toBe(0)
  })

  test('together with it ends what npm started, when npm is killed', async () => {
    const dataDir = temporaryFolder()
    const npm = launch('npm', ['start'], { DATA_DIR: dataDir, PORT: '0' })
    await npm.says(/The service is ready/)
    const running = servers(dataDir)
    npm.kill('SIGKILL')
    await until('the end of the servers', () => !running.some(isAlive))
    await until('the end of the service', () => !existsSync(instanceFile(dataDir)))
  })
})
