import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import v8 from 'node:v8'
import { describe, expect, test } from '@jest/globals'
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkflowBundleOption,
} from '@temporalio/worker'
import { DeterminismViolationError } from '@temporalio/workflow'
import { workflowBundle } from '../../src/app/workflow-bundle.ts'
import { legible } from '../../src/platform/temporal/payloads.ts'
import { textOf } from '../support/temporal/history-text.ts'
import './replay/bundle.ts'

// A replay runs in this thread, and the SDK never takes its hook of promises away: promises of Web Crypto, in the files that
// this process tests next, would break on it.
v8.promiseHooks.createHook = () => () => undefined

const logger = new DefaultLogger('ERROR')
// A history that does not fit is no news to this file.
Runtime.install({ shutdownSignals: [], logger, telemetryOptions: { logging: { filter: 'OFF' } } })

const folder = join(import.meta.dirname, 'histories')
const histories = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.json'))
  .map(file => file.replace('.json', ''))

/** `steps-are-named/intent-waits` is of the process `intent`. */
/** The workflows that are exported, under the names of their processes. */
const workflows = [
  ...readFileSync(join(import.meta.dirname, '../../workflows/index.ts'), 'utf8').matchAll(
    /export \{ (?:\w+ as ')?([\w-]+)'? \}/g,
  ),
].map(([, name]) => String(name))

/** A history begins with the name of its process: the longest, as one may begin as another one does. */
const processOf = (name: string): string | undefined =>
  workflows
    .filter(process => name.split('/').at(-1)?.startsWith(`${process}-`))
    .toSorted((one, other) => other.length - one.length)[0]

const changedWorkflows = join(import.meta.dirname, '../support/changed-workflows/index.ts')

interface History {
  readonly events: readonly { readonly eventType: string }[]
}

const historyOf = (name: string): History => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))

/** As it was when its last workflow task but so many had been done: it is open. */
function openAt(name: string, tasks: number): History {
  const { events } = historyOf(name)
  const ends = events.flatMap(({ eventType }, index) =>
    eventType.includes('WORKFLOW_TASK_COMPLETED') ? [index] : [],
  )
  return { events: events.slice(0, Number(ends.at(-1 - tasks)) + 1) }
}

/** The whole of it, and what it was after each but the first of its workflow tasks. */
function momentsOf(name: string): History[] {
  const complete = historyOf(name)
  const tasks = complete.events.filter(({ eventType }) =>
    eventType.includes('WORKFLOW_TASK_COMPLETED'),
  ).length
  return [complete, ...Array.from({ length: tasks - 1 }, (_, back) => openAt(name, back + 1))]
}

/** What was wrong with each history, by its name: all are replayed by one worker, which loads the bundle once. */
async function replayed(
  workflowBundle: WorkflowBundleOption,
  namedHistories: readonly (readonly [name: string, history: unknown])[],
): Promise<ReadonlyMap<string, unknown[]>> {
  const errors = new Map(namedHistories.map(([name]) => [name, [] as unknown[]]))
  const options = { workflowBundle, dataConverter: { payloadCodecs: [legible] } }
  const replayInput = namedHistories.map(([workflowId, history]) => ({ workflowId, history }))
  let answers = 0
  for await (const { workflowId, error } of Worker.runReplayHistories(options, replayInput)) {
    answers++
    if (error) errors.get(workflowId)?.push(error)
  }
  expect(answers).toBe(namedHistories.length)
  return errors
}

const moments = histories.flatMap(name => momentsOf(name).map(history => [name, history] as const))
const unchanged = await replayed(await workflowBundle(), moments)

describe('a run that began under an earlier version', () => {
  test.each(histories)('continues under this version at every moment until its end: %s', name => {
    expect(moments.filter(([whose]) => whose === name).length).toBeGreaterThan(1)
    expect(unchanged.get(name)).toEqual([])
  })

  test.each(histories.filter(name => /-(?:asked-to-cancel|answered)/.test(name)))(
    'holds ids, and no name of a payee or an agent: %s',
    name => {
      const text = textOf(historyOf(name))
      expect(text).toMatch(/(?:intent|transfer|agent|request|recovery|onboarding|kycsubmission)_\w{26}/)
      for (const secret of [
        'Bookshop',
        'Müller',
        'Reader',
        'caching',
        'DE89',
        'Report',
        'Adler',
        'Hopper',
        'Lovelace',
        'Analytical',
        'Who owns',
      ])
        expect(text).not.toContain(secret)
    },
  )

  test('is recorded for every process', () => {
    const kinds = new Set(histories.map(processOf))
    expect(kinds).toEqual(new Set(workflows))
  })
})

describe('a change that open runs do not survive', () => {
  test('is detected in every recorded history', async () => {
    const intents = histories.filter(name => processOf(name) === 'intent')
    const bundle = await bundleWorkflowCode({ workflowsPath: changedWorkflows, logger })
    const errors = await replayed(
      bundle,
      intents.map(name => [name, historyOf(name)]),
    )
    expect(intents.length).toBeGreaterThan(0)
    for (const name of intents)
      expect([name, errors.get(name)]).toEqual([name, [expect.any(DeterminismViolationError)]])
  })
})
