import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import v8 from 'node:v8'
import { expect } from '@jest/globals'
import { DefaultLogger, Runtime, Worker, type WorkflowBundleOption } from '@temporalio/worker'
import { lenientPayloadCodec } from '../../../src/platform/temporal/runtime.ts'
import { workflows } from '../../support/temporal/workflow-names.ts'

// A replay runs in this thread, and the SDK never removes its promise hook: promises of Web Crypto, in later
// files of this process, would break on it.
v8.promiseHooks.createHook = () => () => undefined

export const logger = new DefaultLogger('ERROR')
// A history that does not match is expected in this file.
Runtime.install({ shutdownSignals: [], logger, telemetryOptions: { logging: { filter: 'OFF' } } })

const folder = join(import.meta.dirname, '../histories')
export const histories = readdirSync(folder)
  .filter(file => file.endsWith('.json'))
  .map(file => file.replace('.json', ''))

/** The longest match, as one process name may begin with another. */
export const processOf = (name: string): string | undefined =>
  workflows
    .filter(process => name.startsWith(`${process}-`))
    .toSorted((one, other) => other.length - one.length)[0]

interface History {
  readonly events: readonly { readonly eventType: string }[]
}

export const historyOf = (name: string): History =>
  JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))

function openAt(name: string, tasks: number): History {
  const { events } = historyOf(name)
  const ends = events.flatMap(({ eventType }, index) =>
    eventType.includes('WORKFLOW_TASK_COMPLETED') ? [index] : [],
  )
  return { events: events.slice(0, Number(ends.at(-1 - tasks)) + 1) }
}

export function momentsOf(name: string): History[] {
  const complete = historyOf(name)
  const tasks = complete.events.filter(({ eventType }) =>
    eventType.includes('WORKFLOW_TASK_COMPLETED'),
  ).length
  return [complete, ...Array.from({ length: tasks - 1 }, (_, back) => openAt(name, back + 1))]
}

/** Returns the errors by history name. One worker replays all, so that the bundle loads once. */
export async function replayed(
  workflowBundle: WorkflowBundleOption,
  namedHistories: readonly (readonly [name: string, history: unknown])[],
): Promise<ReadonlyMap<string, unknown[]>> {
  const errors = new Map(namedHistories.map(([name]) => [name, [] as unknown[]]))
  const options = { workflowBundle, dataConverter: { payloadCodecs: [lenientPayloadCodec] } }
  const replayInput = namedHistories.map(([workflowId, history]) => ({ workflowId, history }))
  let answers = 0
  for await (const { workflowId, error } of Worker.runReplayHistories(options, replayInput)) {
    answers++
    if (error) errors.get(workflowId)?.push(error)
  }
  expect(answers).toBe(namedHistories.length)
  return errors
}
