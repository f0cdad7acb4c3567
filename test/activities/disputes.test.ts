import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { bundlePdf } from '../../src/commerce/disputes/thread.ts'
import type { CardDisputes, CardProcessor } from '../../src/ports/card-processor.ts'
import { activitiesOf, pausedPastItsClaim } from '../support/activities.ts'
import { recordingCardProcessor } from '../support/cards/processor.ts'
import { aDispute, aPaidCard, getDispute } from '../support/commerce/disputes.ts'
import { openEngine } from '../support/engine.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { startTestService } from '../support/harness.ts'
import { until } from '../support/until.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const { processor: sandbox } = recordingCardProcessor()
const service = await startTestService({ own: true, outside: { cardProcessor: () => sandbox } })

/** The run's worker, whose processor is at hand. */
const proxy = await flakyProxy(service.databaseUrl)
const worker = openEngine(areas, proxy.url)
afterAll(() => worker.close())

/** The references of the calls; the processor answers each after this. */
const called: string[] = []
let beforeAnswer: (reference: string) => Promise<void>

const steps: readonly (keyof CardDisputes)[] = ['open', 'addEvidence', 'submit', 'withdraw', 'inquire']
const recorded = (step: keyof CardDisputes) => {
  const act = sandbox.disputes[step] as (...given: unknown[]) => Promise<object>
  return async (...given: unknown[]) => {
    const { reference } = given.at(-1) as { reference: string }
    called.push(reference)
    await beforeAnswer(reference)
    return act(...given)
  }
}
const disputes = Object.fromEntries(steps.map(step => [step, recorded(step)])) as unknown as CardDisputes
const processor: CardProcessor = { ...sandbox, disputes }
Object.assign(worker.runtime.ports.systems, {
  cardProcessor: () => processor,
  threads: { run: (_: object, ...input: Parameters<typeof bundlePdf>) => bundlePdf(...input) },
})
const run = activitiesOf(worker.runtime)({ requestIdOf: ({ id }) => `workflow:dispute/${id}` })

let isAway = false

beforeEach(() => {
  called.splice(0)
  beforeAnswer = async () => undefined
})
afterEach(async () => {
  if (isAway) await proxy.open()
  isAway = false
})

const isDue = (id: string, column: 'call_due_at' | 'evidence_due_at') =>
  service.sql(`update disputes set ${column} = created_at, due_at = created_at where id = $1`, [id])

/** A dispute that is not yet opened at the processor. */
async function aNewDispute() {
  const { client, ownerId, transactionId } = await aPaidCard(service, 92.01)
  const { id } = await aDispute(client, transactionId, { reason: 'fraud' })
  return { client, id, ref: { id, ownerId, mode: 'test' as const } }
}

describe('the calls about a dispute', () => {
  test('are made once each, also where the activity is repeated, or taken twice at the same time', async () => {
    const { client, id, ref } = await aNewDispute()
    const both = await Promise.all([run.callAboutDispute(ref), run.callAboutDispute(ref)])
    expect(both.map(({ pendingCall }) => pendingCall)).toContain(null)
    expect(await run.callAboutDispute(ref)).toMatchObject({ status: 'open', pendingCall: null })
    expect(called).toEqual([`${id}/open`])
    await isDue(id, 'evidence_due_at')
    expect(await run.followDisputeDeadlines(ref)).toMatchObject({
      ...{ status: 'submitted', pendingCall: 'document', isCallNext: true },
    })
    expect(await run.callAboutDispute(ref)).toMatchObject({ pendingCall: 'inquire', closed: false })
    expect(called).toEqual(['open', 'document', 'file', 'inquire'].map(kind => `${id}/${kind}`))
    await run.callAboutDispute(ref)
    expect(called).toHaveLength(4)
    await expectVerifiedLedger(client)
  })

  test('go on under the same reference where the worker dies between them', async () => {
    const { client, id, ref } = await aNewDispute()
    await run.callAboutDispute(ref)
    await isDue(id, 'evidence_due_at')
    await run.followDisputeDeadlines(ref)
    beforeAnswer = async reference => {
      if (reference.endsWith('/file')) throw new Error('the line died')
    }
    await expect(run.callAboutDispute(ref)).rejects.toThrow('the line died')
    beforeAnswer = async () => undefined
    expect(await run.callAboutDispute(ref)).toMatchObject({ pendingCall: 'file' })
    expect(called.filter(reference => reference.endsWith('/file'))).toHaveLength(1)
    await isDue(id, 'call_due_at')
    expect(await run.callAboutDispute(ref)).toMatchObject({ pendingCall: 'inquire' })
    const all = ['open', 'document', 'file', 'file', 'inquire']
    expect(called).toEqual(all.map(kind => `${id}/${kind}`))
    expect(await getDispute(client, id)).toMatchObject({ status: 'submitted', creditedEuros: 92.01 })
  })

  test('are recorded once the database is back, where it was away when the processor answered', async () => {
    const { id, ref } = await aNewDispute()
    beforeAnswer = async () => {
      isAway = true
      await proxy.close()
    }
    const calling = run.callAboutDispute(ref)
    await until('the answer is kept', () => worker.runtime.unrecordedAnswers.count === 1)
    await proxy.open()
    isAway = false
    expect(await calling).toMatchObject({ status: 'open', pendingCall: null })
    expect(called).toEqual([`${id}/open`])
  })

  test('are not made by a process that was paused past its claim, and are made later', async () => {
    const { id, ref } = await aNewDispute()
    const row = { table: 'disputes', id }
    const refusal = await pausedPastItsClaim(worker.runtime, row, paused => paused.callAboutDispute(ref))
    expect(refusal).toMatchObject({ code: 'outcome_unknown' })
    expect(called).toEqual([])
    await isDue(id, 'call_due_at')
    expect(await run.callAboutDispute(ref)).toMatchObject({ pendingCall: null })
    expect(called).toEqual([`${id}/open`])
  })
})

describe('the deadlines of a dispute', () => {
  test('change nothing before their time', async () => {
    const { id, ref } = await aNewDispute()
    await run.callAboutDispute(ref)
    const read = () => service.sql('select * from disputes where id = $1', [id])
    const before = await read()
    expect(await run.followDisputeDeadlines(ref)).toMatchObject({ status: 'open', pendingCall: null })
    expect(await read()).toEqual(before)
  })
})
