import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { recordingRail } from '../support/commerce/rail.ts'
import { transferSteps } from '../support/commerce/transfer-steps.ts'
import { cloneDatabase } from '../support/database.ts'
import { openEngine } from '../support/engine.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { until } from '../support/until.ts'

const proxy = await flakyProxy(await cloneDatabase())
const engine = openEngine(areas, proxy.url)
afterAll(() => engine.close())
const rail = recordingRail()
const { takeStep, aTransfer, rowOf, expectEnd } = transferSteps(engine, rail)
Object.assign(engine.runtime.ports.systems, { sepaRail: () => rail.rail })

afterEach(() => rail.restore())

const { unrecordedAnswers } = engine.runtime

/** PostgreSQL goes away while the bank is called. */
async function submittedAway() {
  const transfer = await aTransfer()
  await takeStep('verifyPayee', transfer.input)
  rail.meanwhile('submit', () => proxy.close())
  const submitting = takeStep('submitPayment', transfer.input)
  return { transfer, submitting }
}

describe('an answer of the bank that comes while PostgreSQL is away', () => {
  test('is the state after the activity where PostgreSQL is back in a moment', async () => {
    const { transfer, submitting } = await submittedAway()
    await until('the answer is kept', () => unrecordedAnswers.count === 1)
    await proxy.open()
    expect(await submitting).toMatchObject({ status: 'completed' })
    await expectEnd(transfer, 'completed')
    expect([rail.count('submit', transfer.id), rail.count('statusOf', transfer.id)]).toEqual([1, 0])
  })

  test('is recorded once PostgreSQL is back, after the activity was given up', async () => {
    const { transfer, submitting } = await submittedAway()
    await expect(submitting).rejects.toMatchObject({ code: 'outcome_unknown' })
    expect(unrecordedAnswers.count).toBe(1)
    await proxy.open()
    await until('it is recorded', async () => (await rowOf(transfer)).status === 'completed')
    await until('none is kept', () => unrecordedAnswers.count === 0)
    expect(await takeStep('submitPayment', transfer.input)).toMatchObject({ status: 'completed' })
    await expectEnd(transfer, 'completed')
    expect([rail.count('submit', transfer.id), rail.count('statusOf', transfer.id)]).toEqual([1, 0])
  })
})
