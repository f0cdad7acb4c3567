import { createReadStream, existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isRecord } from '../../values/members.ts'
import type { CommandContext, CustomCommand } from '../context.ts'
import { exitCodes, usageError } from '../io.ts'

const KEYS = 'jwks.json'

export const verifyAuditCommand: CustomCommand = {
  noun: 'audit',
  name: 'verify',
  summary: 'Verify the audit trail, or an export of it offline',
  description:
    'With a file, the export is verified on this machine without any network: every entry against its leaf, and all leaves against the signed checkpoints and against an older checkpoint that you kept. Without a file the service verifies its stored trail. Exits with 1 if something was changed, and names the first position.',
  hasOwnArguments: true,
  arguments: { '[file]': 'The output of `agentpay audit export`; `-` is standard input.' },
  options: {
    since: {
      type: 'string',
      value: '<file>',
      description: 'A checkpoint that you kept: the output of `agentpay audit checkpoint`, or its note.',
    },
    keys: {
      type: 'string',
      value: '<file>',
      description: `Your copy of the installation’s keys. Default: ${KEYS} beside the export, else the keys in the export.`,
    },
  },
  examples: [
    'agentpay audit checkpoint -o morning.json',
    'agentpay signing-keys jwks -o jwks.json',
    'agentpay audit export -o audit.ndjson',
    'agentpay audit verify audit.ndjson --since morning.json',
  ],
  async run(context) {
    const [name] = context.arguments
    if (name === undefined) return undefined
    const { AuditRejected, verifyAudit } = await import('../../derive/verify-audit.ts')
    const options = await optionsOf(name, context)
    try {
      const { checkpoint: _, since: __, ...verified } = await verifyAudit(contentOf(name, context), options)
      context.print({ ok: true, ...verified, comparedWith: options.since === undefined ? null : 'since' })
      if (!verified.isWithOwnKeys)
        context.note(
          `The keys were taken from the export. Keep your own copy and trust only that: agentpay signing-keys jwks -o ${KEYS}`,
        )
      return exitCodes.done
    } catch (error) {
      if (!(error instanceof AuditRejected)) throw error
      const where = error.position === null ? '' : `First wrong position: ${error.position}. `
      return context.fail(exitCodes.refused, `The trail is not valid. ${where}${error.message}`)
    }
  },
}

type Options = NonNullable<Parameters<typeof import('../../derive/verify-audit.ts').verifyAudit>[1]>

async function* contentOf(name: string, { io }: CommandContext): AsyncGenerator<Uint8Array | string> {
  const { fileError } = await import('../io.ts')
  try {
    yield* name === '-' ? io.stdin : createReadStream(resolve(io.cwd, name), { highWaterMark: 1_048_576 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === undefined ? error : usageError(fileError(name, 'read', code))
  }
}

async function optionsOf(name: string, context: CommandContext): Promise<Options> {
  const { since, keys } = context.options
  const beside = join(name === '-' ? '.' : dirname(name), KEYS)
  const file =
    typeof keys === 'string' ? keys : existsSync(resolve(context.io.cwd, beside)) ? beside : undefined
  return {
    ...(file === undefined ? {} : { keys: keySetIn(file, await readText(file, context)) }),
    ...(typeof since === 'string' ? { since: noteIn(await readText(since, context)) } : {}),
  }
}

async function readText(name: string, { io }: CommandContext): Promise<string> {
  const { readNamedFile } = await import('../arguments/files.ts')
  return (await readNamedFile(name, io)).toString('utf8')
}

function keySetIn(name: string, text: string): NonNullable<Options['keys']> {
  const set = jsonIn(text)
  if (isRecord(set) && Array.isArray(set.keys)) return set as never
  throw usageError(`${name} is not a JSON Web Key Set. Create it: agentpay signing-keys jwks -o ${KEYS}`)
}

function noteIn(text: string): string {
  const record = jsonIn(text)
  return isRecord(record) && typeof record.note === 'string' ? record.note : text
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
