import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  TEMPORAL_PLATFORM,
  TEMPORAL_RELEASE,
  type TemporalRelease,
} from '../../../src/dev/temporal/download.ts'
import { temporaryFolder } from './folders.ts'

/** A separate PATH and cache, with fake programs. */
export interface Tools {
  readonly env: { PATH: string; HOME: string; XDG_CACHE_HOME: string }
  /** The path of the Temporal binary once it is cached. */
  readonly cached: string
  install(name: string, script: string): string
  put(path: string, text: string): string
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
    cached: join(cache, `agentpay/temporal-${TEMPORAL_RELEASE.version}`, TEMPORAL_PLATFORM, 'temporal'),
    install: (name, script) => put(join('path', name), script),
    put,
    goCalls: () => readFileSync(join(folder, 'go-calls'), 'utf8').trim().split('\n'),
  }
}

/** A fake Temporal CLI that only prints its version. */
export const temporalOf = (server: string): string =>
  `#!/bin/sh\necho 'temporal version 1.0.0 (Server ${server}, UI 2.42.1)'\n`

interface FakeGo {
  readonly sum?: string
  /** JavaScript that runs when half of the binary is written. */
  readonly building?: string
  readonly result: string
}

/** A fake `go` that knows one module and builds the given result. It runs in Node, which signals end as they end Go. */
export function fakeGo(
  { put, install }: Tools,
  { sum = TEMPORAL_RELEASE.source.sum, building = '', result }: FakeGo,
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

/** A release without published archives, so that no test uses the network. */
export const unpublished: TemporalRelease = { ...TEMPORAL_RELEASE, archives: {} }
