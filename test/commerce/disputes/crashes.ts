import { beforeEach, describe, expect, test } from '@jest/globals'
import type { CardDisputes, CardProcessor } from '../../../src/ports/card-processor.ts'
import { recordingCardProcessor } from '../../support/cards/processor.ts'
import { aDispute, aPaidCard, getDispute } from '../../support/commerce/disputes.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

type Call = keyof CardDisputes

const { processor: sandbox } = recordingCardProcessor()
/** The references of calls to the processor, and the kinds of calls whose answers get lost. */
const called: string[] = []
const lost = new Set<Call>()

const steps: readonly Call[] = ['open', 'addEvidence', 'submit', 'withdraw', 'inquire']

/** The processor acts; then the service ends before it records the answer. */
function recorded(call: Call) {
  const act = sandbox.disputes[call] as (...given: unknown[]) => Promise<object>
  return async (...given: unknown[]) => {
    const { reference } = given.at(-1) as { reference: string }
    called.push(reference)
    const answer = await act(...given)
    if (lost.delete(call)) throw new Error('the service has ended')
    return answer
  }
}

const disputes = Object.fromEntries(steps.map(call => [call, recorded(call)])) as unknown as CardDisputes
const processor: CardProcessor = { ...sandbox, disputes }
const service = await startTestService({ outside: { cardProcessor: () => processor } })

beforeEach(() => {
  called.splice(0)
  lost.clear()
})

const minutesLater = (client: TestClient, minutes: number) =>
  bodyOf(client.sandbox.advance({ body: { minutes } }))

describe('a service that ends between a call of the processor and its record', () => {
  test.each(['open', 'addEvidence', 'submit'] as const)(
    'after a crash in %s, the dispute continues and submits once',
    async step => {
      lost.add(step)
      const { client, transactionId } = await aPaidCard(service, 92.01)
      const { id } = await aDispute(client, transactionId)
      expect((await client.disputes.submit({ params: { id } })).status).toBe(500)
      for (let time = 0; time < 4; time++) await client.sandbox.advance({ body: { minutes: 30 } })
      const ofDispute = called.filter(reference => reference.startsWith(id))
      const steps = ['open', 'document', 'file', 'inquire'].map(kind => `${id}/${kind}`)
      expect(new Set(ofDispute)).toEqual(new Set(steps))
      expect(ofDispute).toHaveLength(5)
      await minutesLater(client, 3 * 24 * 60)
      expect(await getDispute(client, id)).toMatchObject({ status: 'won', creditedEuros: 92.01 })
      await expectVerifiedLedger(client)
    },
  )

  test('after a crash in withdraw, the withdrawal is sent again under the same reference', async () => {
    const { client, transactionId } = await aPaidCard(service, 30)
    const { id } = await aDispute(client, transactionId, { reason: 'fraud' })
    await minutesLater(client, 1)
    lost.add('withdraw')
    await bodyOf(client.disputes.withdraw({ params: { id } }))
    for (let time = 0; time < 3; time++) await client.sandbox.advance({ body: { minutes: 30 } })
    expect(called.filter(reference => reference === `${id}/withdraw`)).toHaveLength(2)
    expect(await getDispute(client, id)).toMatchObject({ status: 'withdrawn', creditedEuros: 0 })
  })
})
