import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import type { CommandContext } from '../context.ts'
import { type LocalSandbox, readLocalSandbox } from '../credentials.ts'
import { exitCodes } from '../io.ts'

interface Asked {
  readonly workflow: string
  readonly name: string
  readonly payload: string | undefined
}

/** What the Temporal CLI printed, or its message if it failed. */
type Outcome = { readonly out: string } | { readonly failed: string }

/** What the run has answered, why it did not, or that it was sent a signal, which has no answer. */
type RunAnswer = { readonly answer: unknown } | { readonly failed: string } | 'signalled'

/** Longer than a call to a bank or a processor that has to end before the update is decided. */
const PATIENCE = '60s'

/** What the Temporal CLI says when its time is over. */
const IS_LATE = /^program interrupted$|deadline exceeded/

const NO_ANSWER =
  'No answer within a minute. The update may still be carried out: run the line above again for its answer.'

/** What the server says of a run that takes no update of this name. */
const TAKES_NO_UPDATE = /No registered handler for update/

/**
 * Sends an update by the Temporal CLI and waits for its answer; what the run takes as a signal only is sent as one. Prints the
 * equivalent lines. By its id an update that is sent again is carried out once.
 */
export async function askRun(asked: Asked, context: CommandContext): Promise<RunAnswer> {
  const run = runnerOf(context.env.TEMPORAL_ADDRESS ? {} : sandboxOr(context), context)
  const { workflow, name, payload } = asked
  const about = [
    '--workflow-id',
    workflow,
    '--name',
    name,
    ...(payload === undefined ? [] : ['--input', payload]),
  ]
  const waiting = ['--update-id', randomUUID(), '--output', 'json', '--command-timeout', PATIENCE]
  const updated = await run('update', 'execute', ...about, ...waiting)
  if ('out' in updated) return { answer: JSON.parse(updated.out).result }
  if (IS_LATE.test(updated.failed)) return { failed: NO_ANSWER }
  if (!TAKES_NO_UPDATE.test(updated.failed)) return updated
  const described = await run('query', '--workflow-id', workflow, '--type', DESCRIPTION, '--output', 'json')
  if ('failed' in described) return described
  const { signals, updates } = takenBy(described.out)
  if (!signals.includes(name)) return { failed: `The run takes no ${name}: it takes ${listed(updates)}.` }
  const signalled = await run('signal', ...about)
  return 'failed' in signalled ? signalled : 'signalled'
}

/** The query by which Temporal's programs learn what a run takes. */
const DESCRIPTION = '__temporal_workflow_metadata'

interface Definition {
  readonly signalDefinitions?: readonly { readonly name: string }[]
  readonly updateDefinitions?: readonly { readonly name: string }[]
}

function takenBy(out: string): Record<'signals' | 'updates', readonly string[]> {
  const [{ definition = {} as Definition } = {}] = JSON.parse(out).queryResult
  const { signalDefinitions = [], updateDefinitions = [] }: Definition = definition
  return {
    signals: signalDefinitions.map(({ name }) => name),
    updates: updateDefinitions.map(({ name }) => name),
  }
}

const listed = (names: readonly string[]): string =>
  new Intl.ListFormat('en-GB').format(names) || 'no decisions'

type Server = Pick<LocalSandbox, 'temporalAddress' | 'temporalNamespace' | 'temporalCli'>

function sandboxOr({ env, fail }: CommandContext): Partial<Server> {
  const sandbox = readLocalSandbox(env)
  if (sandbox?.temporalAddress) return sandbox
  return fail(
    exitCodes.notReachable,
    'No Temporal server is configured. Start the sandbox with `npm start`, or set TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.',
  )
}

const runnerOf = (
  { temporalAddress, temporalNamespace, temporalCli: found }: Partial<Server>,
  { env, note }: CommandContext,
) => {
  const program = found ?? 'temporal'
  const server = [
    ...(temporalAddress ? ['--address', temporalAddress] : []),
    ...(temporalNamespace ? ['--namespace', temporalNamespace] : []),
  ]
  return async (...words: readonly string[]): Promise<Outcome> => {
    const flags = ['workflow', ...words, ...server]
    note(shellLine([program, ...flags]))
    const child = spawn(program, flags, { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    try {
      const [code, out, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
      if (code === 0) return { out }
      return { failed: messageIn(errors.trim() || out.trim()) || `${program} failed.` }
    } catch {
      return {
        failed: `${program} cannot be run. Install the Temporal CLI (https://docs.temporal.io/cli), or send the update in the Web UI.`,
      }
    }
  }
}

/** Without what the CLI writes around it: the kind of failure, and time and level, which newer ones do not write. */
function messageIn(output: string): string {
  const [line = ''] = output.split('\n')
  const [, quoted] = / msg=("(?:[^"\\]|\\.)*")/.exec(line) ?? []
  const message = quoted === undefined ? line : String(JSON.parse(quoted))
  return message
    .replace(/^(?:Error: )?(?:unable to update workflow: )?/, '')
    .replace(/ \(type: \w+, retryable: false\)$/, '')
}

const shellLine = (words: readonly string[]): string =>
  words.map(word => (/^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
