import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkflowBundleOption,
} from '@temporalio/worker'
import { DeterminismViolationError } from '@temporalio/workflow'
import { bundleWorkflows } from '../../src/bin/workflow-bundle.ts'
import { legible } from '../../src/platform/temporal-payloads.ts'
import { textOf } from '../support/history-text.ts'

const logger = new DefaultLogger('ERROR')
// A history that does not fit is no news to this file.
Runtime.install({ shutdownSignals: [], logger, telemetryOptions: { logging: { filter: 'OFF' } } })

const folder = join(import.meta.dirname, 'histories')
const histories = readdirSync(folder).map(file => file.replace('.json', ''))

const changed = join(import.meta.dirname, '../support/changed-workflows/index.ts')
const [present, incompatible] = [
  await bundleWorkflows(),
  await bundleWorkflowCode({ workflowsPath: changed, logger }),
]

interface History {
  readonly events: readonly { readonly eventType: string }[]
}

const historyOf = (name: string): History => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))

const optionsOf = (workflowBundle: WorkflowBundleOption) => ({
  workflowBundle,
  dataConverter: { payloadCodecs: [legible] },
})

const replay = (bundle: WorkflowBundleOption, history: unknown): Promise<void> =>
  Worker.runReplayHistory(optionsOf(bundle), history)

/** As it was when its last workflow task but so many had been done: it is open. */
function openAt(name: string, tasks: number): History {
  const { events } = historyOf(name)
  const ends = events.flatMap(({ eventType }, index) =>
    eventType.includes('WORKFLOW_TASK_COMPLETED') ? [index] : [],
  )
  return { events: events.slice(0, Number(ends.at(-1 - tasks)) + 1) }
}

describe('a run that began under an earlier version', () => {
  test.each(histories)('goes on under this one: %s', async name => {
    await expect(replay(present, historyOf(name))).resolves.toBeUndefined()
  })

  test.each(histories)('goes on at every moment of its life: %s', async name => {
    const { events } = historyOf(name)
    const tasks = events.filter(({ eventType }) => eventType.includes('WORKFLOW_TASK_COMPLETED')).length
    expect(tasks).toBeGreaterThan(1)
    const moments = Array.from({ length: tasks - 1 }, (_, back) => ({
      workflowId: name,
      history: openAt(name, back + 1),
    }))
    const wrong: unknown[] = []
    for await (const { error } of Worker.runReplayHistories(optionsOf(present), moments))
      if (error) wrong.push(error)
    expect(wrong).toEqual([])
  })

  test.each(histories.filter(name => /-(?:asked-to-cancel|answered)/.test(name)))(
    'holds ids, and no name of a payee or an agent: %s',
    name => {
      const told = textOf(historyOf(name))
      expect(told).toMatch(/(?:intent|transfer|agent)_\w{26}/)
      for (const secret of ['Bookshop', 'Müller', 'Reader', 'caching', 'DE89'])
        expect(told).not.toContain(secret)
    },
  )

  test('is recorded for every process', () => {
    const kinds = new Set(histories.map(name => name.split('-')[0]))
    const exported = [
      ...readFileSync(join(import.meta.dirname, '../../workflows/index.ts'), 'utf8').matchAll(
        /export \{ (\w+) \}/g,
      ),
    ]
    expect(kinds).toEqual(new Set(exported.map(([, name]) => name)))
  })
})

describe('a change that open runs do not survive', () => {
  test.each(histories.filter(name => name.startsWith('intent')))('is found out: %s', async name => {
    await expect(replay(incompatible, historyOf(name))).rejects.toThrow(DeterminismViolationError)
  })
})
