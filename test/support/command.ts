import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { CommandIo } from '../../src/command/io.ts'
import { runAgentpay } from '../../src/command/main.ts'
import type { CommandTableFile } from '../../src/command/table.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly cwd?: string
  /** The width of its terminal; undefined without one. */
  readonly columns?: number
  readonly wait?: CommandIo['wait']
  readonly onOutput?: (text: string) => void
  readonly onError?: (text: string) => void
  readonly signal?: AbortSignal
  readonly table?: CommandTableFile
}

/** No address and no key except a test's own, not even those of a running sandbox. */
const NOTHING = { DATA_DIR: 'no-such-folder', XDG_CONFIG_HOME: '/nowhere', HOME: '/nowhere' }

export async function runCommand(argv: readonly string[], given: Surroundings = {}): Promise<Ran> {
  const written = { out: '', err: '' }
  const { env = {}, input = '', cwd = process.cwd(), columns } = given
  const output = (name: 'out' | 'err') => ({
    ...(columns === undefined ? {} : { isTTY: true, columns }),
    write(piece: string | Uint8Array) {
      const text = Buffer.from(piece).toString()
      written[name] += text
      const seen = name === 'err' ? given.onError : given.onOutput
      seen?.(text)
      return true
    },
  })
  const io = {
    stdin: (async function* () {
      yield input
    })(),
    stdout: output('out'),
    stderr: output('err'),
    env: { ...NOTHING, ...env },
    cwd,
    signal: given.signal ?? new AbortController().signal,
    wait: given.wait ?? (async () => undefined),
  }
  const code = await runAgentpay(argv, io, given.table)
  return { code, ...written }
}

const launcher = join(import.meta.dirname, '../../src/bin/launcher/agentpay.mjs')

export async function runProgram(
  argv: readonly string[],
  { env = {}, cwd = process.cwd(), input = '' }: Surroundings = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [launcher, ...argv], {
    cwd,
    env: { PATH: process.env.PATH, ...NOTHING, ...env },
  })
  child.stdin.end(input)
  const exited = new Promise<number>(resolve => child.once('close', code => resolve(code ?? -1)))
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exited])
  return { code, out, err }
}
