import { randomUUID } from 'node:crypto'
import { expect, jest, test } from '@jest/globals'
import searchAttributes from '../../temporal-config/search-attributes.json' with { type: 'json' }
import { program } from '../support/processes/processes.ts'
import { addressOfRun, temporalClient } from '../support/temporal/temporal.ts'

jest.setTimeout(60_000)

const { connection } = await temporalClient()

/** As an operator would run it before the first worker, and before every new one. */
const make = (namespace: string) =>
  program('namespace', { TEMPORAL_ADDRESS: addressOfRun(), TEMPORAL_NAMESPACE: namespace })

test('a namespace is made with our attributes, and a second time nothing happens', async () => {
  const namespace = `made-${randomUUID()}`
  for (const job of [make(namespace), make(namespace)]) {
    expect([await job.exit, job.output()]).toEqual([0, `The namespace ${namespace} is ready.\n`])
  }
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
  expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(searchAttributes)))
  const { config } = await connection.workflowService.describeNamespace({ namespace })
  expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 86_400)
})

test('without the address of a server it says so', async () => {
  const job = program('namespace', {})
  expect([await job.exit, job.output()]).toEqual([1, 'Not set: TEMPORAL_ADDRESS.\n'])
})
