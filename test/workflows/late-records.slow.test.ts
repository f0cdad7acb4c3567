import { beforeEach, describe, expect, test } from '@jest/globals'
import type { CardProcessor } from '../../src/ports/card-processor.ts'
import { recordingCardProcessor } from '../support/cards/processor.ts'
import { aPaidCard } from '../support/commerce/disputes.ts'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { withConnection } from '../support/rows.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

type Push = NonNullable<CardProcessor['pushRefund']>
const { processor } = recordingCardProcessor()
let answer: () => ReturnType<Push>
const service = await startTestService({
  temporal: true,
  outside: { cardProcessor: () => ({ ...processor, pushRefund: () => answer() }) },
})
const temporal = await runViewer()

beforeEach(() => {
  answer = async () => ({ failure: 'late' })
})

describe('an answer that the database takes only after the step was given up', () => {
  test('reaches the run, which has read the record before', async () => {
    const { client, transactionId } = await aPaidCard(service, 50)
    const refund = await bodyOf(
      client.refunds.create({ body: { transactionId, amountEuros: 20, reason: 'requested' } }),
    )
    const run = temporal.of(refund)
    await run.untilDetails('for the processor of the card to ask the merchant')
    const hasRead = async () =>
      (await run.handle.fetchHistory()).events?.some(event => event.activityTaskCompletedEventAttributes)
    await withConnection(service.databaseUrl, async holder => {
      answer = async () => {
        await holder.query('begin')
        await holder.query('select from agents where id = $1 for update', [refund.agentId])
        return { status: 'declined', message: 'No' } as Awaited<ReturnType<Push>>
      }
      await service.sql('update refunds set ask_due_at = now() where id = $1', [refund.id])
      await run.signal('recordChanged')
      await until('its step was given up, and taken again', hasRead)
      await holder.query('commit')
    })
    expect(await run.untilEnded()).toBe('failed')
    expect(await run.activityNames()).toEqual(['askMerchantForRefund'])
  })
})
