import { escapeLine } from '../values/terminal-text.ts'
import type { CommandOption, CommandOptions } from './arguments/options.ts'
import type { OptionValues } from './arguments/parse.ts'
import type { ServiceAnswer, ServiceCallInput, ServiceClient, ServiceClientOptions } from './calls/caller.ts'
import { resultOrFailure } from './calls/result.ts'
import type { ServiceReply } from './calls/send.ts'
import { findConnection, type ServiceConnection } from './credentials.ts'
import { CommandFailure, type CommandIo, type ExitCode, exitCodes } from './io.ts'
import { printsJson, printValue } from './output/print.ts'
import type { CommandTableFile } from './table.ts'

export type { CommandOption, CommandOptions }
export { resultOrFailure }

export interface CommandContext {
  readonly io: CommandIo
  readonly env: CommandIo['env']
  readonly table: CommandTableFile
  readonly customCommands: readonly CustomCommand[]
  readonly arguments: readonly string[]
  readonly options: OptionValues
  readonly asJson: boolean
  /** The service's address and credential; ends the command with 3 if none is configured. */
  connection(): ServiceConnection
  /** Calls an operation by key: `call('intents.get', { params: { id } })`. A refusal is an answer. */
  call(key: string, input?: ServiceCallInput): Promise<ServiceAnswer>
  /** As `call`, but a refusal ends the command with its sentence. */
  result<T>(key: string, input?: ServiceCallInput): Promise<T>
  open(key: string, input?: ServiceCallInput): Promise<ServiceReply>
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
  readonly options?: CommandOptions
  readonly examples?: readonly string[]
  /**
   * Returns the exit code. Slow imports belong in here. If an operation has the same noun and verb, undefined
   * runs that operation.
   */
  run(context: CommandContext): Promise<ExitCode | undefined>
  /** Adds to what is printed of the operation’s answer. */
  answered?(answer: unknown, context: CommandContext): Promise<void>
  /** Handles a refusal of the operation; undefined ends the command with the refusal. */
  refused?(refusal: CommandFailure, context: CommandContext): Promise<ExitCode | undefined>
}

export interface CommandRuntime {
  readonly io: CommandIo
  readonly table: CommandTableFile
  readonly customCommands: readonly CustomCommand[]
}

interface CommandInput extends CommandRuntime {
  readonly arguments: readonly string[]
  readonly options: OptionValues
}

export function createCommandContext({
  io,
  table,
  customCommands,
  arguments: given,
  options,
}: CommandInput): CommandContext {
  const asJson = printsJson(io, options)
  let caller: Promise<ServiceClient> | undefined
  let found: ServiceConnection | undefined
  const connection = (): ServiceConnection => {
    found ??= connectionOf(io, options)
    return found
  }
  const open = (): Promise<ServiceClient> => {
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
    async result<T>(key: string, input?: ServiceCallInput) {
      return resultOrFailure(await (await open()).call(key, input)) as T
    },
    print: value => printValue(value, { io, asJson }),
    say: line => void io.stdout.write(`${escapeLine(line)}\n`),
    note: line => void io.stderr.write(`${escapeLine(line)}\n`),
    fail(exitCode, sentence) {
      throw new CommandFailure(exitCode, sentence)
    },
  }
}

/** Node's HTTP client takes as long to load as Node itself, so only commands that call load it. */
async function callerFor(means: ServiceClientOptions): Promise<ServiceClient> {
  const { createServiceClient: openCaller } = await import('./calls/caller.ts')
  return openCaller(means)
}

function connectionOf(io: CommandIo, { profile }: OptionValues): ServiceConnection {
  const found = findConnection(io, typeof profile === 'string' ? profile : undefined)
  if (found) return found
  throw new CommandFailure(
    exitCodes.notSignedIn,
    'No service is configured. Start a sandbox with `npm start`, run `agentpay login`, or set AGENTPAY_URL and AGENTPAY_KEY.',
  )
}
