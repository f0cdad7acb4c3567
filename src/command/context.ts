import type { Option, Options } from './arguments/options.ts'
import type { OptionValues } from './arguments/parse.ts'
import type { Caller, CallerOptions, CallResult, Input } from './calls/caller.ts'
import { resultOf } from './calls/result.ts'
import type { Reply } from './calls/send.ts'
import { type Connection, findConnection } from './credentials.ts'
import { CommandFailure, type ExitCode, exitCodes, type Io } from './io.ts'
import { printsJson, printValue } from './output/print.ts'
import { safeLine } from './output/terminal.ts'
import type { Table } from './table.ts'

export type { Option, Options }
export { resultOf }

export interface Context {
  readonly io: Io
  readonly env: Io['env']
  readonly table: Table
  readonly customCommands: readonly CustomCommand[]
  readonly arguments: readonly string[]
  readonly options: OptionValues
  readonly asJson: boolean
  /** The service's address and credential; ends the command with 3 if none is configured. */
  connection(): Connection
  /** Calls an operation by key: `call('intents.get', { params: { id } })`. A refusal is an answer. */
  call(key: string, input?: Input): Promise<CallResult>
  /** As `call`, but a refusal ends the command with its sentence. */
  result<T>(key: string, input?: Input): Promise<T>
  open(key: string, input?: Input): Promise<Reply>
  print(value: unknown): void
  /** Prints a line to standard output, with terminal control characters escaped. */
  say(line: string): void
  note(line: string): void
  fail(exitCode: ExitCode, sentence: string): never
}

export interface CustomCommand {
  readonly noun?: string
  readonly name: string
  readonly summary: string
  readonly description?: string
  /** Omitted from lists: scripts call it, people do not. */
  readonly isHidden?: true
  /** Defines its own arguments, although an operation without arguments has the same noun and verb. */
  readonly hasOwnArguments?: true
  readonly arguments?: Readonly<Record<string, string>>
  readonly options?: Options
  readonly examples?: readonly string[]
  /**
   * Returns the exit code. Slow imports belong in here. If an operation has the same noun and verb, undefined
   * runs that operation.
   */
  run(context: Context): Promise<ExitCode | undefined>
  /** Handles a refusal of the operation; undefined ends the command with the refusal. */
  refused?(refusal: CommandFailure, context: Context): Promise<ExitCode | undefined>
}

export interface CommandRuntime {
  readonly io: Io
  readonly table: Table
  readonly customCommands: readonly CustomCommand[]
}

interface CommandInput extends CommandRuntime {
  readonly arguments: readonly string[]
  readonly options: OptionValues
}

export function openContext({ io, table, customCommands, arguments: given, options }: CommandInput): Context {
  const asJson = printsJson(io, options)
  let caller: Promise<Caller> | undefined
  let found: Connection | undefined
  const connection = (): Connection => {
    found ??= connectionOf(io, options)
    return found
  }
  const open = (): Promise<Caller> => {
    caller ??= callerFor({ table, connection: connection(), io })
    return caller
  }
  return {
    io,
    env: io.env,
    table,
    customCommands,
    arguments: given,
    options,
    asJson,
    connection,
    call: async (key, input) => (await open()).call(key, input),
    open: async (key, input) => (await open()).open(key, input),
    async result<T>(key: string, input?: Input) {
      return resultOf(await (await open()).call(key, input)) as T
    },
    print: value => printValue(value, { io, asJson }),
    say: line => void io.stdout.write(`${safeLine(line)}\n`),
    note: line => void io.stderr.write(`${safeLine(line)}\n`),
    fail(exitCode, sentence) {
      throw new CommandFailure(exitCode, sentence)
    },
  }
}

/** Node's HTTP client takes as long to load as Node itself, so only commands that call load it. */
async function callerFor(means: CallerOptions): Promise<Caller> {
  const { openCaller } = await import('./calls/caller.ts')
  return openCaller(means)
}

function connectionOf(io: Io, { profile }: OptionValues): Connection {
  const found = findConnection(io, typeof profile === 'string' ? profile : undefined)
  if (found) return found
  throw new CommandFailure(
    exitCodes.notSignedIn,
    'No service is configured. Start a sandbox with `npm start`, run `agentpay login`, or set AGENTPAY_URL and AGENTPAY_KEY.',
  )
}
