import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import searchAttributes from '../../temporal-config/search-attributes.json' with { type: 'json' }
import { startProgram } from '../support/processes/processes.ts'
import { addressOfRun } from '../support/temporal/access.ts'
import { temporalClient } from '../support/temporal/temporal.ts'

const { connection } = await temporalClient()

/** Runs the program as an operator does before each new version. */
const make = (namespace: string) =>
  startProgram('namespace', { TEMPORAL_ADDRESS: addressOfRun(), TEMPORAL_NAMESPACE: namespace })

test('the namespace program creates a namespace with our search attributes, and changes nothing the second time', async () => {
  const namespace = `made-${randomUUID()}`
  for (const job of [make(namespace), make(namespace)]) {
    expect([await job.exit, job.output()]).toEqual([0, `The namespace ${namespace} is ready.\n`])
  }
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
  expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(searchAttributes)))
  const { config } = await connection.workflowService.describeNamespace({ namespace })
  expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 86_400)
})

test('the namespace program names TEMPORAL_ADDRESS if it is not set', async () => {
  const job = startProgram('namespace', {})
  expect([await job.exit, job.output()]).toEqual([1, 'Not set: TEMPORAL_ADDRESS.\n'])
})
