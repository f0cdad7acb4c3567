import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { CommandContext } from '../context.ts'
import { type LocalSandbox, readLocalSandbox } from '../credentials.ts'
import { exitCodes } from '../io.ts'

export interface WorkflowSignal {
  readonly workflow: string
  readonly name: string
  readonly payload: string | undefined
}

/** Runs the Temporal CLI and prints the equivalent command. Returns the CLI's message if it failed. */
export async function sendWorkflowSignal(
  signal: WorkflowSignal,
  context: CommandContext,
): Promise<string | undefined> {
  const { env, note } = context
  const [program, ...flags] = lineOf(signal, env.TEMPORAL_ADDRESS ? {} : sandboxOr(context))
  note(shellLine([program, ...flags]))
  const child = spawn(program, flags, { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  try {
    const [code, out, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
    return code === 0 ? undefined : (errors.trim() || out.trim()).split('\n')[0] || `${program} failed.`
  } catch {
    return `${program} cannot be run. Install the Temporal CLI (https://docs.temporal.io/cli), or send the signal in the Web UI.`
  }
}

type Server = Pick<LocalSandbox, 'temporalAddress' | 'temporalNamespace' | 'temporalCli'>

function sandboxOr({ env, fail }: CommandContext): Partial<Server> {
  const sandbox = readLocalSandbox(env)
  if (sandbox?.temporalAddress) return sandbox
  return fail(
    exitCodes.notReachable,
    'No Temporal server is configured. Start the sandbox with `npm start`, or set TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.',
  )
}

function lineOf(
  { workflow, name, payload }: WorkflowSignal,
  { temporalAddress, temporalNamespace, temporalCli }: Partial<Server>,
): [string, ...string[]] {
  return [
    temporalCli ?? 'temporal',
    ...['workflow', 'signal', '--workflow-id', workflow, '--name', name],
    ...(payload === undefined ? [] : ['--input', payload]),
    ...(temporalAddress ? ['--address', temporalAddress] : []),
    ...(temporalNamespace ? ['--namespace', temporalNamespace] : []),
  ]
}

const shellLine = (words: readonly string[]): string =>
  words.map(word => (/^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
