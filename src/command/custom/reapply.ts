import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { isRecord } from '../../values/members.ts'
import type { CommandContext, CustomCommand } from '../context.ts'
import { exitCodes, usageError } from '../io.ts'

export const reapplyDeletionsCommand: CustomCommand = {
  noun: 'gdpr',
  name: 'reapply',
  summary: 'Repeat deletions after a backup was restored',
  description:
    'Writes to the database at DATABASE_URL directly, as the role that owns its tables, because the service itself waits seven days before each deletion. The service repeats the deletions once it runs; `agentpay gdpr list-erasures --status waiting` lists what must end first. It is safe to repeat. Exits with 1 if a deletion cannot be repeated.',
  arguments: {
    '<file>': 'The output of `agentpay gdpr list-erasures --all --json`; `-` is standard input.',
  },
  examples: [
    'agentpay gdpr list-erasures --all --json -o erasures.json',
    'DATABASE_URL=postgres://… agentpay gdpr reapply erasures.json',
  ],
  async run(context) {
    const [name = '-'] = context.arguments
    const { readInput, readNamedFile } = await import('../arguments/files.ts')
    const bytes = await (name === '-' ? readInput(context.io) : readNamedFile(name, context.io))
    const erasures = erasuresIn(name, bytes.toString('utf8'))
    const data = await apply(erasures, context)
    context.print({ data, hasMore: false, nextCursor: null })
    const isFailed = data.some(one => isRecord(one) && one.outcome === 'failed')
    return isFailed ? exitCodes.refused : exitCodes.done
  },
}

function erasuresIn(name: string, content: string): unknown[] {
  const whole = jsonIn(content)
  const listed = isRecord(whole) && Array.isArray(whole.data) ? whole.data : whole
  const all = Array.isArray(listed) ? listed : content.split('\n').filter(Boolean).map(jsonIn)
  const wrong = all.findIndex(one => !isErasure(one))
  if (wrong < 0) return all
  throw usageError(
    `${name}: record ${wrong + 1} is not a deletion. Create the list with agentpay gdpr list-erasures --all --json.`,
  )
}

const isErasure = (one: unknown): boolean =>
  isRecord(one) &&
  isRecord(one.subject) &&
  [one.id, one.ownerId, one.mode, one.beginsAt, one.subject.type, one.subject.id].every(
    member => typeof member === 'string',
  ) &&
  (one.completedAt === null || typeof one.completedAt === 'string')

function jsonIn(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}

/** A separate program, as the command line has no database driver. */
const PROGRAM = fileURLToPath(new URL('../../bin/reapply.ts', import.meta.url))

/** The npm package has the command line without this program. */
export const hasReapplyProgram = (): boolean => existsSync(PROGRAM)

async function apply(erasures: readonly unknown[], context: CommandContext): Promise<unknown[]> {
  const { DATABASE_URL } = context.env
  if (!DATABASE_URL)
    throw usageError(
      'DATABASE_URL is not set. Set it to the restored database, with the role that owns its tables.',
    )
  const { env } = context
  const child = spawn(process.execPath, [PROGRAM], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(JSON.stringify(erasures))
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise(ended => child.once('close', ended)),
  ])
  if (code === 0) return JSON.parse(out)
  return context.fail(exitCodes.notReachable, err.trim() || 'The program that writes to the database failed.')
}
