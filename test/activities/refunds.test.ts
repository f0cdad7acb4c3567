import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { endOverdueRecords } from '../../src/kernel/background/deadlines.ts'
import { createExecutor } from '../../src/kernel/run/execute.ts'
import type { CardProcessor } from '../../src/ports/card-processor.ts'
import { activitiesOf, pausedPastItsClaim } from '../support/activities.ts'
import { recordingCardProcessor } from '../support/cards/processor.ts'
import { aPaidCard } from '../support/commerce/disputes.ts'
import { payByCard, recordingAcquirer, refund, refundsOf } from '../support/commerce/refunds.ts'
import { aRequest } from '../support/commerce/requests.ts'
import { openEngine } from '../support/engine.ts'
import { aWallet, bodyOf } from '../support/factories.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { startTestService } from '../support/harness.ts'
import { until } from '../support/until.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const merchant = recordingCardProcessor().processor
const acquirer = recordingAcquirer()
const service = await startTestService({ own: true, outside: { acquirer: () => acquirer.acquirer } })

/** The run's worker, which asks the merchant and the acquirer. */
const proxy = await flakyProxy(service.databaseUrl)
const worker = openEngine(areas, proxy.url)
afterAll(() => worker.close())
const run = activitiesOf(worker.runtime)({ requestIdOf: ({ id }) => `workflow of ${id}` })
type Run = typeof run

let isAway = false
/** Both answer after this. */
let beforeAnswer: () => Promise<void>
const pushed: string[] = []
const sent: string[] = []

Object.assign(worker.runtime.ports.systems, {
  cardProcessor: (): CardProcessor => ({
    ...merchant,
    async pushRefund(_, { reference }) {
      pushed.push(reference)
      await beforeAnswer()
      return { status: 'asked' }
    },
  }),
  acquirer: () => ({
    ...acquirer.acquirer,
    async refund(...asked: Parameters<typeof acquirer.acquirer.refund>) {
      sent.push(asked[0].refundReference)
      await beforeAnswer()
      return acquirer.acquirer.refund(...asked)
    },
  }),
})

beforeEach(() => {
  beforeAnswer = async () => undefined
  for (const calls of [pushed, sent]) calls.splice(0)
})
afterEach(async () => {
  if (isAway) await proxy.open()
  isAway = false
})

/** As if the time had come to ask again. */
const isDue = (id: string, secondsAgo = 60) =>
  service.sql(
    `update refunds set ask_due_at = now() - $2 * interval '1 second', updated_at = now() - interval '1 hour'
     where id = $1`,
    [id, secondsAgo],
  )

/** A refund of a payment by card, whose processor did not answer. */
async function ofMerchant() {
  const { client, ownerId, transactionId } = await aPaidCard(service, 95)
  const body = { transactionId, amountEuros: 93.03, reason: 'requested' as const }
  const { id } = await bodyOf(client.refunds.create({ body }))
  await isDue(id)
  return {
    ...{ client, refundId: id, ref: { id, ownerId, mode: 'test' as const } },
    ask: ({ askMerchantForRefund }: Run) => askMerchantForRefund,
    calls: pushed,
    isAnswered: async () => (await bodyOf(client.refunds.get({ params: { id } }))).merchantAskedAt !== null,
  }
}

/** A refund of a payment request that was paid by card, whose acquirer did not answer. */
async function ofAcquirer() {
  const { client, ownerId } = await service.owner()
  const request = await aRequest(client, (await aWallet(client)).id)
  await payByCard(service, client, request)
  acquirer.answerWith({ outcome: 'late' })
  await bodyOf(refund(client, request.id))
  acquirer.answerWith()
  const of = async () => (await refundsOf(client, request.id))[0]
  const refundId = String((await of())?.id).replace('requestrefund_', 'refund_')
  await isDue(refundId)
  return {
    ...{ client, refundId, ref: { id: request.id, ownerId, mode: 'test' as const } },
    ask: ({ followRefunds }: Run) => followRefunds,
    calls: sent,
    isAnswered: async () => (await of())?.status === 'completed',
  }
}

describe.each([
  ['the merchant', ofMerchant],
  ['the acquirer', ofAcquirer],
] as const)('the refund for which %s is asked', (_, aRefund) => {
  test('is asked for once, also where the activity is repeated, or taken twice at the same time', async () => {
    const { client, ref, ask, calls, isAnswered } = await aRefund()
    const act = ask(run)
    await Promise.all([act(ref), act(ref)])
    await act(ref)
    expect(calls).toHaveLength(1)
    expect(await isAnswered()).toBe(true)
    await expectVerifiedLedger(client)
  })

  test('is asked for under the same reference once its answer counts as lost', async () => {
    const { ref, refundId, ask, calls, isAnswered } = await aRefund()
    beforeAnswer = async () => {
      throw new Error('the line died')
    }
    await expect(ask(run)(ref)).rejects.toThrow('the line died')
    beforeAnswer = async () => undefined
    await ask(run)(ref)
    expect([calls.length, await isAnswered()]).toEqual([1, false])
    await isDue(refundId)
    await ask(run)(ref)
    expect([new Set(calls).size, calls.length, await isAnswered()]).toEqual([1, 2, true])
  })

  test('ends once the database is back, where it was away when the answer came', async () => {
    const { ref, ask, calls, isAnswered } = await aRefund()
    beforeAnswer = async () => {
      isAway = true
      await proxy.close()
    }
    const asking = ask(run)(ref)
    await until('the answer is kept', () => worker.runtime.unrecordedAnswers.count === 1)
    expect(await isAnswered()).toBe(false)
    await proxy.open()
    isAway = false
    await asking
    expect([calls.length, await isAnswered()]).toEqual([1, true])
  })

  test('is not asked for by a process that was paused past its claim, and is asked for later', async () => {
    const { ref, refundId, ask, calls, isAnswered } = await aRefund()
    const row = { table: 'refunds', id: refundId }
    const refusal = await pausedPastItsClaim(worker.runtime, row, paused => ask(paused)(ref))
    expect(refusal).toMatchObject({ code: 'outcome_unknown' })
    expect([calls.length, await isAnswered()]).toEqual([0, false])
    await isDue(refundId)
    await ask(run)(ref)
    expect(await isAnswered()).toBe(true)
  })

  test('is left to its run for 30 seconds; then the sweep asks in its place, once', async () => {
    const { ref, refundId, calls, isAnswered } = await aRefund()
    const rescues: string[] = []
    const sweep = () =>
      endOverdueRecords({
        database: worker.runtime.database,
        areas,
        execute: createExecutor(worker.runtime),
        activities: activitiesOf(worker.runtime),
        rescueAfterMs: 30_000,
        onRescue: ({ id, operation }) => void (id === ref.id && rescues.push(operation)),
      })
    await isDue(refundId, 10)
    await sweep()
    expect([calls.length, await isAnswered()]).toEqual([0, false])
    await isDue(refundId, 31)
    await sweep()
    expect([calls.length, await isAnswered()]).toEqual([1, true])
    expect(rescues).toEqual([aRefund === ofMerchant ? 'refunds.ask' : 'collect.followRefunds'])
  })
})

describe('the activity that asks a merchant', () => {
  test('leaves the refund of a payment request to the acquirer', async () => {
    const { refundId, ref, calls, isAnswered } = await ofAcquirer()
    expect(await run.askMerchantForRefund({ ...ref, id: refundId })).toMatchObject({ status: 'pending' })
    expect([pushed.length, calls.length, await isAnswered()]).toEqual([0, 0, false])
    expect(await run.followRefunds(ref)).toMatchObject({ status: 'refunded', closed: true })
    expect(await isAnswered()).toBe(true)
  })
})
