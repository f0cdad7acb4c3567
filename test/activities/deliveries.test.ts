import { describe, expect, test } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { recordActivities } from '../../activities/shared/record-activities.ts'
import { operationRunner } from '../../activities/shared/run-operation.ts'
import { areas } from '../../src/areas.ts'
import { webhookProcess } from '../../src/delivery/webhooks/process.ts'
import { allOperations } from '../../src/kernel/contract/area.ts'
import { createExecutor } from '../../src/kernel/run/execute.ts'
import { SystemTurns } from '../../src/kernel/run/system-turns.ts'
import { newId } from '../../src/values/ids.ts'
import { startEngine } from '../support/engine.ts'

const engine = await startEngine(areas)
const execute = createExecutor(engine.runtime)
const tenant = { ownerId: newId('customer'), mode: 'test' } as const

interface Given {
  readonly dueInSeconds: number
  readonly isLeased?: boolean
  readonly webhookStatus?: 'active' | 'disabled'
}

async function aDelivery({ dueInSeconds, isLeased = false, webhookStatus = 'active' }: Given) {
  const webhookId = newId('webhook')
  const id = newId('delivery')
  const { ownerId, mode } = tenant
  await engine.sql(
    `insert into webhooks (id, owner_id, mode, created_at, updated_at, url, events, status, status_reason,
       secret, hint, failures)
     values ($1, $2, $3, now(), now(), 'https://example.com/', '{*}', $4, case $4 when 'disabled' then 'disabled' end,
       's', 'h', 0)`,
    [webhookId, ownerId, mode, webhookStatus],
  )
  await engine.sql(
    `insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
       leased_until, claims, tries, attempts)
     values ($1, $2, $3, now(), now(), $4, 'event_1', 'agent.created', 'pending', now() + $5 * interval '1 second',
       case when $6 then now() + interval '1 minute' end, 1, 1, '[]')`,
    [id, ownerId, mode, webhookId, dueInSeconds, isLeased],
  )
  return { id, ...tenant, agentId: null, version: 2 } as const
}

/** One attempt of the activity: the operations that it ran, and what it returned or threw. */
async function attemptAt(given: Given) {
  const input = await aDelivery(given)
  const ran: string[] = []
  const run = operationRunner({
    execute: call => {
      ran.push(call.operation.key)
      return execute(call)
    },
    operations: allOperations(areas),
    offsetOf: async () => 0,
    causeOf: async () => undefined,
    onFailure: () => undefined,
    turns: new SystemTurns(),
  })
  const { retryDelivery } = recordActivities(webhookProcess, run, { operatorSignals: false })
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
  const end = await environment.run(retryDelivery, input).catch((error: unknown) => error)
  return { ran, end }
}

const READ = 'webhooks.status'

describe('the activity of a delivery that failed', () => {
  test('has the attempt made that is due, and looks for its outcome within a second', async () => {
    const { ran, end } = await attemptAt({ dueInSeconds: -1 })
    expect(ran).toEqual([READ, 'webhooks.retry', READ])
    expect(end).toMatchObject({ type: 'NotYet', nextRetryDelay: 1_000 })
  })

  test('reads a delivery that deliverers leave overdue once a minute, and writes nothing', async () => {
    const { ran, end } = await attemptAt({ dueInSeconds: -3_600 })
    expect(ran).toEqual([READ])
    expect(end).toMatchObject({ type: 'NotYet', nextRetryDelay: 60_000 })
  })

  test('writes nothing while an attempt is made, and looks for its outcome after five seconds', async () => {
    const { ran, end } = await attemptAt({ dueInSeconds: -3_600, isLeased: true })
    expect(ran).toEqual([READ])
    expect(end).toMatchObject({ type: 'NotYet', nextRetryDelay: 5_000 })
  })

  test('writes nothing before the attempt is due, and comes back then', async () => {
    const { ran, end } = await attemptAt({ dueInSeconds: 600 })
    expect(ran).toEqual([READ])
    const { nextRetryDelay } = end as { nextRetryDelay: number }
    expect(nextRetryDelay).toBeGreaterThan(590_000)
    expect(nextRetryDelay).toBeLessThanOrEqual(600_000)
  })

  test('ends without a write if its subscription is disabled', async () => {
    const { ran, end } = await attemptAt({ dueInSeconds: -1, webhookStatus: 'disabled' })
    expect(ran).toEqual([READ])
    expect(end).toMatchObject({ status: { closed: true } })
  })
})
