import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { isRunning } from '../../../src/dev/processes/process-table.ts'
import { findTemporal, temporalAtHand } from '../../../src/dev/temporal/binary.ts'
import { PLATFORM, RELEASE, type Release } from '../../../src/dev/temporal/release.ts'
import { type Launched, launch } from '../../support/processes/launched.ts'
import { fakeGo, type Tools, temporalOf, tools, unpublished } from '../../support/processes/tools.ts'
import { until } from '../../support/until.ts'

let machine: Tools
let told: string[]
beforeEach(() => {
  machine = tools()
  told = []
})

const tell = (line: string) => void told.push(line)
const search = (release: Release) => ({ env: machine.env, tell, release })
const atHand = () => temporalAtHand(search(unpublished))
const find = (release = unpublished) => findTemporal(search(release))

/** What is in the folder of the cache. */
const inCache = () => readdirSync(dirname(machine.cached))

function fillCache(text = 'cached'): void {
  mkdirSync(dirname(machine.cached), { recursive: true })
  writeFileSync(machine.cached, text)
}

describe('at hand is', () => {
  test('what is on the PATH, before what is in the cache', async () => {
    const installed = machine.install('temporal', temporalOf('1.30.0'))
    fillCache()
    expect(await atHand()).toBe(installed)
  })

  test('what is in the cache, when the one on the PATH is too old or something else', async () => {
    fillCache()
    machine.install('temporal', temporalOf('1.9.1'))
    expect(await atHand()).toBe(machine.cached)
    machine.install('temporal', '#!/bin/sh\necho TEMPORAL 7\n')
    expect(await atHand()).toBe(machine.cached)
  })

  test('nothing on a new machine', async () => {
    expect(await atHand()).toBeNull()
  })

  test('for this run, the server that it is tested with', async () => {
    const binary = await temporalAtHand({ env: process.env, tell })
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

/** An archive as it is published, and a release that knows its sum. */
function archiveOf(binary: string) {
  const folder = dirname(machine.put('archive/temporal', binary))
  const file = join(folder, 'archive.tar.gz')
  execFileSync('tar', ['-czf', file, '-C', folder, 'temporal'])
  const bytes = readFileSync(file)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const publishedAt = (...urls: string[]): Release => ({
    ...RELEASE,
    archives: { [PLATFORM]: { urls, sha256 } },
  })
  return { bytes, publishedAt }
}

describe('the published binary', () => {
  test('is downloaded once', async () => {
    const { bytes, publishedAt } = archiveOf(temporalOf('1.29.1'))
    let asked = 0
    const url = await serve((_, response) => {
      asked++
      response.end(bytes)
    })
    expect(await find(publishedAt(url))).toEqual({ binary: machine.cached })
    expect(await find(publishedAt(url))).toEqual({ binary: machine.cached })
    expect(asked).toBe(1)
    expect(execFileSync(machine.cached, { encoding: 'utf8' })).toContain('Server 1.29.1')
    expect(inCache()).toEqual(['temporal'])
    expect(told).toEqual([expect.stringMatching(/^Downloading Temporal .* once for all checkouts/)])
  })

  test('is asked for elsewhere when the first place has none, or another', async () => {
    const { bytes, publishedAt } = archiveOf(temporalOf('1.29.1'))
    const none = await serve((_, response) => response.writeHead(404).end())
    const other = await serve((_, response) => response.end('something else'))
    const right = await serve((_, response) => response.end(bytes))
    expect(await find(publishedAt(none, other, right))).toEqual({ binary: machine.cached })
  })

  test('error: without any way the reason comes within seconds that are shown, and what to do', async () => {
    const { publishedAt } = archiveOf('')
    const stalling = await serve((_, response) => response.write('the first bytes'))
    const began = performance.now()
    const found = await find(publishedAt(stalling))
    expect(performance.now() - began).toBeLessThan(10_000)
    expect(found).toEqual({
      binary: null,
      reason: expect.stringMatching(
        /^download: \S+ was silent for 5 s; build: Go is not installed\. Install .* set TEMPORAL_ADDRESS\.$/,
      ),
    })
    expect(told.at(-1)).toBe('  still at it after 5 s')
    expect(inCache()).toEqual([])
  })

  test('error: a file that is not the expected one is never run', async () => {
    const { publishedAt } = archiveOf(temporalOf('1.29.1'))
    const url = await serve((_, response) => response.end('something else'))
    const { binary, reason = '' } = { reason: '', ...(await find(publishedAt(url))) }
    expect(binary).toBeNull()
    expect(reason).toContain('sent another file than expected')
  })
})

test('error: a cache that cannot be is a reason too', async () => {
  writeFileSync(machine.env.XDG_CACHE_HOME, 'a file, not a folder')
  expect(await find()).toMatchObject({ reason: expect.stringMatching(/^ENOTDIR.* set TEMPORAL_ADDRESS\.$/) })
})

/** A process of its own, on this machine of ours. */
const finder = (): Launched =>
  launch(process.execPath, ['test/support/processes/temporal-find-process.ts'], machine.env)

describe('the build', () => {
  let result: string
  beforeEach(() => {
    result = machine.put('result', temporalOf('1.29.1'))
  })

  test('is of the pinned version, whose sum holds the sums of the rest', async () => {
    fakeGo(machine, { result })
    expect(await find()).toEqual({ binary: machine.cached })
    const [download, build] = machine.goCalls()
    const { module, version } = RELEASE.source
    expect(download).toBe(`mod download -json ${module}@${version}`)
    expect(build).toMatch(/^build -mod=readonly .* -o \S+ \.\/cmd\/temporal$/)
    expect(told).toEqual([expect.stringMatching(/^Building Temporal .* once .* about three minutes/)])
    expect(inCache()).toEqual(['temporal'])
  })

  test('error: source with another sum is not built', async () => {
    fakeGo(machine, { result, sum: 'h1:0000' })
    expect(await find()).toMatchObject({ reason: expect.stringContaining('another sum than expected') })
    expect(machine.goCalls()).toHaveLength(1)
    expect(inCache()).toEqual([])
  })

  test('error: says why it failed', async () => {
    fakeGo(machine, {
      result,
      building: `process.stderr.write('no space left on device\\n'); process.exit(1)`,
    })
    expect(await find()).toMatchObject({ reason: expect.stringContaining('no space left on device') })
  })

  test('is done once when two start at once, and the second says that it waits', async () => {
    fakeGo(machine, { result, building: 'await sleep(1_500)' })
    const both = [finder(), finder()]
    for (const { says } of both) await says(/found (.+)/)
    for (const { output } of both) expect(output()).toContain(`found ${machine.cached}`)
    expect(both.map(({ output }) => output()).join()).toContain('waiting for it')
    expect(machine.goCalls()).toHaveLength(2)
  })

  test('that is killed leaves nothing half, and the next one makes it whole', async () => {
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
