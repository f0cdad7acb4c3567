import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { bundleWorkflowCode } from '@temporalio/worker'
import { DeterminismViolationError } from '@temporalio/workflow'
import { histories, historyOf, logger, processOf, replayed } from './replay/histories.ts'
import './replay/continued.ts'

const changedWorkflows = join(import.meta.dirname, '../support/changed-workflows/index.ts')

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
