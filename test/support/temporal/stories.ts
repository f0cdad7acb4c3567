import { afterAll } from '@jest/globals'
import { type InjectedSinks, NativeConnection } from '@temporalio/worker'
import { runWorkers } from '../../../src/app/worker-group.ts'
import { workflowBundle } from '../../../src/app/workflow-bundle.ts'
import { callsQueueOf, type ProcessStatus, webhooksQueueOf } from '../../../src/kernel/contract/process.ts'
import type { RecordRef } from '../../../src/kernel/contract/step.ts'
import { newId } from '../../../src/values/ids.ts'
import type { UpdateSinks } from '../../../workflows/shared/updates.ts'
import { until } from '../until.ts'
import { temporalOfRun } from './access.ts'
import { type RunView, runViewer } from './runs.ts'

type Answer = ProcessStatus | string | Error
type Scripted = Answer | (() => Answer | Promise<Answer>)

/** What each activity answers at its first call, its second, and so on; the last answer is repeated. */
export type Script<A> = { readonly [Name in keyof A]?: readonly Scripted[] }

export interface Story {
  readonly run: RunView
  /** The activities so far, in order; a decision with its signal: `decideIntent approve`. */
  readonly calls: readonly string[]
  /** Why the run refused updates at once, as its worker counts them. */
  readonly refusals: readonly string[]
  /** Resolves when the run waits for this. */
  waits(what: string): Promise<void>
  ends(): Promise<unknown>
}

export interface StoryStage<A> {
  /** Starts the workflow, whose activities answer as the script says. */
  play(script: Script<A>): Promise<Story>
}

/** Plays a workflow on the real server, with activities that read and change no database. */
export async function storyStage<A extends object>(
  workflow: string,
  names: readonly (keyof A & string)[],
): Promise<StoryStage<A>> {
  const { taskQueue, namespace, worker } = temporalOfRun()
  const connection = await NativeConnection.connect(worker)
  const scripts = new Map<string, { readonly script: Script<A>; readonly calls: string[] }>()
  const refusals = new Map<string, string[]>()
  const sinks: InjectedSinks<UpdateSinks> = {
    updates: { refused: { fn: ({ workflowId }, reason) => void refusals.get(workflowId)?.push(reason) } },
  }
  const activities = Object.fromEntries(
    names.map(name => [name, (input: RecordRef & { readonly verb?: string }) => answer(name, input)]),
  )

  async function answer(name: keyof A & string, { id, verb }: RecordRef & { readonly verb?: string }) {
    const { script, calls } = scripts.get(id) ?? { script: {} as Script<A>, calls: [] }
    const answers = script[name] ?? []
    const before = calls.filter(call => call.split(' ', 1)[0] === name).length
    calls.push(verb === undefined ? name : `${name} ${verb}`)
    const next = answers[Math.min(before, answers.length - 1)]
    const given = typeof next === 'function' ? await next() : next
    if (given === undefined) throw new Error(`the script of ${id} says nothing about ${name}`)
    if (given instanceof Error) throw given
    return given
  }

  const common = { connection, namespace, activities, sinks }
  const queues = [
    { taskQueue, workflowBundle: await workflowBundle() },
    { taskQueue: callsQueueOf(taskQueue) },
    { taskQueue: webhooksQueueOf(taskQueue) },
  ]
  const workers = await runWorkers(queues.map(queue => ({ ...common, ...queue })))
  const { client, of } = await runViewer()
  afterAll(async () => {
    await workers.stop()
    await connection.close()
  })
  return {
    async play(script) {
      const ref = { id: newId('story'), ownerId: newId('customer'), mode: 'test', agentId: null }
      const workflowId = `story/${ref.id}`
      const calls: string[] = []
      scripts.set(ref.id, { script, calls })
      refusals.set(workflowId, [])
      await client.workflow.start(workflow, { workflowId, taskQueue, args: [ref] })
      const run = of({ workflowId })
      return {
        run,
        calls,
        refusals: refusals.get(workflowId) ?? [],
        async waits(what) {
          await until(`it waits ${what}`, async () => (await run.timerSummaries()).at(-1) === what)
        },
        ends: () => run.untilEnded(),
      }
    },
  }
}
