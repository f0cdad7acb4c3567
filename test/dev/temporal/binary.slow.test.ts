import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { isRunning } from '../../../src/dev/processes/process-table.ts'
import { findTemporal, installedTemporal } from '../../../src/dev/temporal/binary.ts'
import {
  TEMPORAL_PLATFORM,
  TEMPORAL_RELEASE,
  type TemporalRelease,
} from '../../../src/dev/temporal/download.ts'
import { type Launched, launch } from '../../support/processes/launched.ts'
import { fakeGo, type Tools, temporalOf, tools, unpublished } from '../../support/processes/tools.ts'
import { until } from '../../support/until.ts'

let machine: Tools
let printed: string[]
beforeEach(() => {
  machine = tools()
  printed = []
})

const tell = (line: string) => void printed.push(line)
const search = (release: TemporalRelease) => ({ env: machine.env, tell, release })
const binaryAtHand = () => installedTemporal(search(unpublished))
const find = (release = unpublished) => findTemporal(search(release))

const inCache = () => readdirSync(dirname(machine.cached))

function fillCache(text = 'cached'): void {
  mkdirSync(dirname(machine.cached), { recursive: true })
  writeFileSync(machine.cached, text)
}

describe('the Temporal binary at hand', () => {
  test('is the one on the PATH rather than the one in the cache', async () => {
    const installed = machine.install('temporal', temporalOf('1.30.0'))
    fillCache()
    expect(await binaryAtHand()).toBe(installed)
  })

  test('is the cached one if the one on the PATH is too old or something else', async () => {
    fillCache()
    machine.install('temporal', temporalOf('1.9.1'))
    expect(await binaryAtHand()).toBe(machine.cached)
    machine.install('temporal', '#!/bin/sh\necho TEMPORAL 7\n')
    expect(await binaryAtHand()).toBe(machine.cached)
  })

  test('does not exist on a new machine', async () => {
    expect(await binaryAtHand()).toBeNull()
  })

  test('exists for this test run', async () => {
    const binary = await installedTemporal({ env: process.env, tell })
    const version = execFileSync(String(binary), ['--version'], { encoding: 'utf8' })
    expect(version).toMatch(/Server \d+\.\d+/)
  })
})

const servers: ReturnType<typeof createServer>[] = []
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections()
})

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/archive`
}

/** A published archive, and a release with its checksum. */
function archiveOf(binary: string) {
  const folder = dirname(machine.put('archive/temporal', binary))
  const file = join(folder, 'archive.tar.gz')
  execFileSync('tar', ['-czf', file, '-C', folder, 'temporal'])
  const bytes = readFileSync(file)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const publishedAt = (...urls: string[]): TemporalRelease => ({
    ...TEMPORAL_RELEASE,
    archives: { [TEMPORAL_PLATFORM]: { urls, sha256 } },
  })
  return { bytes, publishedAt }
}

describe('the published binary', () => {
  test('is downloaded once', async () => {
    const { bytes, publishedAt } = archiveOf(temporalOf('1.29.1'))
    let downloads = 0
    const url = await serve((_, response) => {
      downloads++
      response.end(bytes)
    })
    expect(await find(publishedAt(url))).toEqual({ binary: machine.cached })
    expect(await find(publishedAt(url))).toEqual({ binary: machine.cached })
    expect(downloads).toBe(1)
    expect(execFileSync(machine.cached, { encoding: 'utf8' })).toContain('Server 1.29.1')
    expect(inCache()).toEqual(['temporal'])
    expect(printed).toEqual([expect.stringMatching(/^Downloading Temporal .* once for all checkouts/)])
  })

  test('is fetched from the next address if one lacks it or serves another file', async () => {
    const { bytes, publishedAt } = archiveOf(temporalOf('1.29.1'))
    const none = await serve((_, response) => response.writeHead(404).end())
    const other = await serve((_, response) => response.end('something else'))
    const right = await serve((_, response) => response.end(bytes))
    expect(await find(publishedAt(none, other, right))).toEqual({ binary: machine.cached })
  })

  test('that stalls is given up within seconds, with the reason and what to do', async () => {
    const { publishedAt } = archiveOf('')
    const stalling = await serve((_, response) => response.write('the first bytes'))
    const began = performance.now()
    const result = await find(publishedAt(stalling))
    expect(performance.now() - began).toBeLessThan(30_000)
    expect(result).toEqual({
      binary: null,
      reason: expect.stringMatching(
        /^download: \S+ was silent for 5 s; build: Go is not installed\. Install .* set TEMPORAL_ADDRESS\.$/,
      ),
    })
    expect(printed.at(-1)).toBe('  still working after 5 s')
    expect(inCache()).toEqual([])
  })

  test('with another checksum is never run', async () => {
    const { publishedAt } = archiveOf(temporalOf('1.29.1'))
    const url = await serve((_, response) => response.end('something else'))
    const { binary, reason = '' } = { reason: '', ...(await find(publishedAt(url))) }
    expect(binary).toBeNull()
    expect(reason).toContain('sent an unexpected file')
  })
})

test('a cache directory that cannot be created is a reason to have no binary, too', async () => {
  writeFileSync(machine.env.XDG_CACHE_HOME, 'a file, not a folder')
  expect(await find()).toMatchObject({ reason: expect.stringMatching(/^ENOTDIR.* set TEMPORAL_ADDRESS\.$/) })
})

/** A process that finds a Temporal on the fake machine. */
const finder = (): Launched =>
  launch(process.execPath, ['test/support/processes/temporal-find-process.ts'], machine.env)

describe('the build of Temporal', () => {
  let result: string
  beforeEach(() => {
    result = machine.put('result', temporalOf('1.29.1'))
  })

  test('is of the pinned version, whose checksum covers its dependencies', async () => {
    fakeGo(machine, { result })
    expect(await find()).toEqual({ binary: machine.cached })
    const [download, build] = machine.goCalls()
    const { module, version } = TEMPORAL_RELEASE.source
    expect(download).toBe(`mod download -json ${module}@${version}`)
    expect(build).toMatch(/^build -mod=readonly .* -o \S+ \.\/cmd\/temporal$/)
    expect(printed).toEqual([expect.stringMatching(/^Building Temporal .* once .* about three minutes/)])
    expect(inCache()).toEqual(['temporal'])
  })

  test('is refused for source with another checksum', async () => {
    fakeGo(machine, { result, sum: 'h1:0000' })
    expect(await find()).toMatchObject({ reason: expect.stringContaining('an unexpected checksum') })
    expect(machine.goCalls()).toHaveLength(1)
    expect(inCache()).toEqual([])
  })

  test('reports why it failed', async () => {
    fakeGo(machine, {
      result,
      building: `process.stderr.write('no space left on device\\n'); process.exit(1)`,
    })
    expect(await find()).toMatchObject({ reason: expect.stringContaining('no space left on device') })
  })

  test('runs once for two concurrent starts, and the second says that it waits', async () => {
    const goOn = join(machine.env.HOME, 'go-on')
    fakeGo(machine, { result, building: `while (!existsSync(${JSON.stringify(goOn)})) await sleep(50)` })
    const both = [finder(), finder()]
    await until('one waits', () => both.some(({ output }) => output().includes('waiting for it')))
    writeFileSync(goOn, '')
    for (const { untilOutput } of both) await untilOutput(/found (.+)/)
    for (const { output } of both) expect(output()).toContain(`found ${machine.cached}`)
    expect(machine.goCalls()).toHaveLength(2)
  })

  test('that is killed leaves no partial binary, and the next build succeeds', async () => {
    fakeGo(machine, {
      result,
      building: `writeFileSync(${JSON.stringify(join(machine.env.HOME, 'pid'))}, String(process.pid)); await sleep(60_000)`,
    })
    const pidFile = join(machine.env.HOME, 'pid')
    const killed = finder()
    const pid = Number(await until('a build', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8')))
    killed.kill('SIGKILL')
    await until('the end of the build', () => !isRunning(pid))
    expect(existsSync(machine.cached)).toBe(false)

    fakeGo(machine, { result })
    expect(await find()).toEqual({ binary: machine.cached })
    expect(inCache()).toEqual(['temporal'])
  })
})
