import type { Option, Options } from './arguments/options.ts'
import type { OptionValues } from './arguments/parse.ts'
import type { Called, Caller, CallerMeans, Input } from './calls/caller.ts'
import { resultOf } from './calls/result.ts'
import type { Reply } from './calls/send.ts'
import { type Connection, findConnection } from './credentials.ts'
import { CommandFailure, type ExitCode, exitCodes, type Io } from './io.ts'
import { printsJson, printValue } from './output/print.ts'
import { safeLine } from './output/terminal.ts'
import type { Table } from './table.ts'

export type { Option, Options }
export { resultOf }

/** What a command of our own is given. */
export interface Context {
  readonly io: Io
  readonly env: Io['env']
  readonly table: Table
  /** The commands beside those of the table. */
  readonly ownCommands: readonly OwnCommand[]
  readonly arguments: readonly string[]
  readonly options: OptionValues
  /** Whether JSON is wanted in place of tables. */
  readonly asJson: boolean
  /** Where the service is, and with what it is called; ends the command with 3 where nothing is known of it. */
  connection(): Connection
  /** Makes a call by the key of its operation: `call('intents.get', { params: { id } })`. A refusal is an answer. */
  call(key: string, input?: Input): Promise<Called>
  /** As `call`, and ends the command with the sentence of the refusal if it is one. */
  result<T>(key: string, input?: Input): Promise<T>
  /** The answer while it comes: for files and streams. */
  open(key: string, input?: Input): Promise<Reply>
  /** Prints a record, a list or a page: as a table for people, as JSON for pipes. */
  print(value: unknown): void
  /** A line on standard output, in which nothing can move the terminal. */
  say(line: string): void
  /** A line for people beside the output, on standard error. */
  note(line: string): void
  /** Ends the command with this code and sentence. */
  fail(exitCode: ExitCode, sentence: string): never
}

/** A command of our own, beside those of the table. */
export interface OwnCommand {
  /** The noun it belongs to; none for one such as `login`. */
  readonly noun?: string
  readonly name: string
  readonly summary: string
  readonly description?: string
  /** Left out of lists: people do not type it. */
  readonly isHidden?: true
  /** An operation has the same noun and verb, and takes no argument: this command takes its own. */
  readonly hasOwnArguments?: true
  /** The arguments after the name, `<id>` or `[shell]`, each with a sentence. */
  readonly arguments?: Readonly<Record<string, string>>
  readonly options?: Options
  readonly examples?: readonly string[]
  /**
   * Runs it and gives the exit code. What takes time to load is imported in here. Where an operation has the same noun
   * and verb, undefined leaves the call to the operation.
   */
  run(context: Context): Promise<ExitCode | undefined>
  /** Where the call was left to the operation and is refused: what to do then, or undefined to end with the refusal. */
  refused?(refusal: CommandFailure, context: Context): Promise<ExitCode | undefined>
}

/** What every command of one command line shares. */
export interface Means {
  readonly io: Io
  readonly table: Table
  readonly ownCommands: readonly OwnCommand[]
}

interface Given extends Means {
  readonly arguments: readonly string[]
  readonly options: OptionValues
}

export function openContext({ io, table, ownCommands, arguments: given, options }: Given): Context {
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
    ownCommands,
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

/** Node's client of HTTP takes as long to load as Node itself: only a call pays for it. */
async function callerFor(means: CallerMeans): Promise<Caller> {
  const { openCaller } = await import('./calls/caller.ts')
  return openCaller(means)
}

function connectionOf(io: Io, { profile }: OptionValues): Connection {
  const found = findConnection(io, typeof profile === 'string' ? profile : undefined)
  if (found) return found
  throw new CommandFailure(
    exitCodes.notSignedIn,
    'No service is known: start a sandbox with `npm start`, use `agentpay login`, or set AGENTPAY_URL and AGENTPAY_KEY.',
  )
}
