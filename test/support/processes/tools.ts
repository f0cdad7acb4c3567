import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PLATFORM, RELEASE, type Release } from '../../../src/dev/temporal/release.ts'
import { temporaryFolder } from './folders.ts'

/** A PATH and a cache of their own, with programs that only pretend. */
export interface Tools {
  readonly env: { PATH: string; HOME: string; XDG_CACHE_HOME: string }
  /** Where the binary lies once somebody has got it. */
  readonly cached: string
  install(name: string, script: string): string
  put(path: string, text: string): string
  /** What `go` has been called with. */
  goCalls(): string[]
}

export function tools(): Tools {
  const folder = temporaryFolder()
  const cache = join(folder, 'cache')
  function put(path: string, text: string): string {
    const file = join(folder, path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, 0o755)
    return file
  }
  return {
    env: { PATH: join(folder, 'path'), HOME: folder, XDG_CACHE_HOME: cache },
    cached: join(cache, `agentpay/temporal-${RELEASE.version}`, PLATFORM, 'temporal'),
    install: (name, script) => put(join('path', name), script),
    put,
    goCalls: () => readFileSync(join(folder, 'go-calls'), 'utf8').trim().split('\n'),
  }
}

/** The command-line interface, as far as it tells its version. */
export const temporalOf = (server: string): string =>
  `#!/bin/sh\necho 'temporal version 1.0.0 (Server ${server}, UI 2.42.1)'\n`

interface FakeGo {
  readonly sum?: string
  /** What happens between half of the binary and all of it, in JavaScript. */
  readonly building?: string
  /** What is built: another file. */
  readonly result: string
}

/** A `go` that knows one module and builds what it is told to. It is Node, which a signal ends as it does Go. */
export function fakeGo(
  { put, install }: Tools,
  { sum = RELEASE.source.sum, building = '', result }: FakeGo,
): void {
  const calls = put('go-calls', '')
  const source = join(put('source/go.mod', ''), '..')
  const answer = JSON.stringify({ Dir: source, Sum: sum })
  install(
    'go',
    `#!${process.execPath}
const { appendFileSync, rmSync, symlinkSync, writeFileSync, existsSync } = require('node:fs')
const { setTimeout: sleep } = require('node:timers/promises')
const [verb, ...rest] = process.argv.slice(2)
appendFileSync(${JSON.stringify(calls)}, process.argv.slice(2).join(' ') + '\\n')
async function build(file) {
  writeFileSync(file + '.part', 'half of a binary')
  ${building}
  rmSync(file + '.part')
  symlinkSync(${JSON.stringify(result)}, file)
}
if (verb === 'mod') process.stdout.write(${JSON.stringify(answer)})
else void build(rest[rest.indexOf('-o') + 1])
`,
  )
}

/** A release that nobody publishes anywhere, so that no test asks the network. */
export const unpublished: Release = { ...RELEASE, archives: {} }
