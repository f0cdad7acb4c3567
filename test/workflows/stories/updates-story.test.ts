import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { WorkflowNotFoundError } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import type { TransferActivities } from '../../../activities/transfers.ts'
import type { WebhookActivities } from '../../../activities/webhooks.ts'
import type { UpdateAnswer } from '../../../src/kernel/contract/process.ts'
import { storyStage } from '../../support/temporal/stories.ts'
import { until } from '../../support/until.ts'

const transfers = await storyStage<TransferActivities>('transfer', [
  'readTransfer',
  'decideTransfer',
  'verifyPayee',
  'cancelUnconfirmed',
  'submitPayment',
  'askRail',
])
const deliveries = await storyStage<WebhookActivities>('webhook', [
  'readDelivery',
  'decideDelivery',
  'sendAgain',
])

const AN_HOUR = 3_600_000
const DEADLINE = '28 Nov 2026 09:30 UTC'
const CONFIRMATION = `for a person to confirm the payee, until ${DEADLINE}`
const OUTCOME = `for the rail to report the outcome; the next inquiry is at ${DEADLINE}`
const ADA = { by: 'Ada' }

type State = Awaited<ReturnType<TransferActivities['readTransfer']>>

const state = (members: Pick<State, 'status'> & Partial<State>): State => ({
  summary: `Transfer: ${members.status}`,
  closed: false,
  doubtfulSince: null,
  payee: 'accepted',
  isSubmitted: false,
  isRecalled: false,
  dueInMs: 0,
  deadline: DEADLINE,
  signals: ['confirmPayee', 'cancel'],
  ...members,
})

const doubtful = state({ status: 'verifying', payee: 'doubtful', dueInMs: AN_HOUR })
const verified = state({ status: 'verifying' })
const submitted = (dueInMs: number) => state({ status: 'submitted', isSubmitted: true, dueInMs })
const ended = (status: State['status']) => state({ status, closed: true, dueInMs: null, signals: [] })

const done = (verb: string) => `Update ${verb} by Ada: done.`
const tooLate = 'The update cancel by Ada changed nothing: The transfer has already been submitted.'

/** A transfer whose payee is doubtful, with what becomes of it after a decision. */
async function aDoubtful(script: Parameters<typeof transfers.play>[0]) {
  const story = await transfers.play({ readTransfer: [doubtful, ended('cancelled')], ...script })
  await story.waits(CONFIRMATION)
  return story
}

interface Metadata {
  readonly definition: {
    readonly updateDefinitions: readonly { readonly name: string; readonly description: string }[]
  }
}

/** A decision that ends the transfer, however often it was read before. */
function aCancellation() {
  let isCancelled = false
  return {
    readTransfer: [() => (isCancelled ? ended('cancelled') : doubtful)],
    cancel() {
      isCancelled = true
      return done('cancel')
    },
  }
}

describe('an update', () => {
  test('is offered by the Web UI for each verb of a person, with what it does', async () => {
    const story = await aDoubtful({ decideTransfer: [done('cancel')] })
    const { definition } = await story.run.handle.query<Metadata>('__temporal_workflow_metadata')
    expect(definition.updateDefinitions).toEqual([
      { name: 'confirmPayee', description: expect.stringMatching(/^Pays although .* Payload: \{"by"/) },
      { name: 'cancel', description: expect.stringMatching(/^Cancels .* Payload: \{"by"/) },
    ])
    await story.run.update('cancel', ADA)
    await story.ends()
  })

  test('is carried out and answered with the status after it, and the run goes on', async () => {
    const story = await aDoubtful({
      readTransfer: [doubtful, verified],
      decideTransfer: [done('confirmPayee')],
      submitPayment: [ended('completed')],
    })
    expect(await story.run.update('confirmPayee', ADA)).toEqual({
      status: 'verifying',
      line: done('confirmPayee'),
    })
    expect(await story.ends()).toBe('completed')
    expect(story.calls).toEqual([
      'readTransfer',
      'decideTransfer confirmPayee',
      'readTransfer',
      'submitPayment',
    ])
    expect(await story.run.timeline()).toEqual([])
  })

  test('that ends the record is answered before the run ends, and again from its history', async () => {
    const story = await aDoubtful({ decideTransfer: [done('cancel')] })
    const answer = { status: 'cancelled', line: done('cancel') }
    expect(await story.run.update('cancel', ADA, 'once')).toEqual(answer)
    expect(await story.ends()).toBe('cancelled')
    expect(await story.run.update('cancel', ADA, 'once')).toEqual(answer)
    await expect(story.run.update('cancel', ADA, 'another')).rejects.toThrow(WorkflowNotFoundError)
    expect(await story.run.details()).toContain(done('cancel'))
  })

  test('that is sent twice at once is carried out once, and both callers get its answer', async () => {
    const story = await aDoubtful({
      readTransfer: [doubtful, doubtful, ended('cancelled')],
      decideTransfer: [done('confirmPayee'), done('cancel')],
    })
    const twice = () => story.run.update('confirmPayee', ADA, 'same')
    const [first, second] = await Promise.all([twice(), twice()])
    expect([second, await twice()]).toEqual([first, first])
    await story.run.update('cancel', ADA)
    expect(await story.ends()).toBe('cancelled')
    expect(story.calls.filter(call => call.startsWith('decide'))).toEqual([
      'decideTransfer confirmPayee',
      'decideTransfer cancel',
    ])
  })

  test.each([
    ['no payload', undefined],
    ['a text', 'Ada'],
    ['no name', { reason: 'Yes' }],
    ['more than was asked for', { ...ADA, status: 'approved' }],
    ['two reasons', { ...ADA, comment: 'Yes', reason: 'No' }],
  ])('with %s is refused at once, counted, and leaves no event', async (_, payload) => {
    const story = await aDoubtful({ decideTransfer: [done('cancel')] })
    const before = await story.run.historyLength()
    expect(await story.run.refusal('cancel', payload)).toBe(
      'malformed: Send {"by": "your name", "reason": "why"}.',
    )
    expect(await story.run.historyLength()).toBe(before)
    expect(story.refusals).toEqual(['malformed'])
    await story.run.update('cancel', ADA)
    expect(await story.ends()).toBe('cancelled')
    expect(await story.run.failedTasks()).toBe(0)
  })

  test('of an unknown name is refused at once, and leaves no event', async () => {
    const story = await aDoubtful({ decideTransfer: [done('cancel')] })
    const before = await story.run.historyLength()
    expect(await story.run.refusal('complete', ADA)).toMatch(/No registered handler for update: complete/)
    expect(await story.run.historyLength()).toBe(before)
    await story.run.update('cancel', ADA)
    expect(await story.ends()).toBe('cancelled')
  })

  test('that a rule refuses is refused to its caller, without a line in the timeline, and the run goes on', async () => {
    const story = await transfers.play({
      readTransfer: [submitted(AN_HOUR), submitted(AN_HOUR), ended('completed')],
      decideTransfer: [tooLate],
    })
    await story.waits(OUTCOME)
    expect(await story.run.refusal('cancel', ADA)).toBe(`refused: ${tooLate}`)
    expect(await story.run.details()).toContain('already been submitted')
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('completed')
    expect([await story.run.timeline(), story.refusals]).toEqual([[], []])
    expect(await story.run.failedTasks()).toBe(0)
  })

  test('that cannot be carried out at all fails by itself: the run goes on', async () => {
    const broken = ApplicationFailure.nonRetryable('there is no operation transfers.cancel')
    const story = await aDoubtful({
      readTransfer: [doubtful, doubtful, ended('cancelled')],
      decideTransfer: [broken, done('cancel')],
    })
    expect(await story.run.refusal('cancel', ADA)).toBe(
      'refused: The update cancel failed. See the worker’s log.',
    )
    await story.run.update('cancel', ADA)
    expect(await story.ends()).toBe('cancelled')
  })

  test('waits while a call is at work, and comes before the next one', async () => {
    const asking = Promise.withResolvers<void>()
    const story = await transfers.play({
      readTransfer: [submitted(0), ended('completed')],
      askRail: [() => asking.promise.then(() => submitted(AN_HOUR))],
      decideTransfer: [tooLate],
    })
    await until('the rail is asked', () => story.calls.includes('askRail'))
    const accepted = await story.run.handle.startUpdate('cancel', { args: [ADA], waitForStage: 'ACCEPTED' })
    expect(story.calls).toEqual(['readTransfer', 'askRail'])
    asking.resolve()
    await expect(accepted.result()).rejects.toMatchObject({ cause: { message: tooLate } })
    expect(await story.ends()).toBe('completed')
    expect(story.calls).toEqual(['readTransfer', 'askRail', 'decideTransfer cancel', 'readTransfer'])
  })

  test('comes before the next try of a call that failed', async () => {
    const busy = ApplicationFailure.create({ message: 'Others come first', nextRetryDelay: AN_HOUR })
    const story = await transfers.play({
      readTransfer: [submitted(0), ended('completed')],
      askRail: [busy],
      decideTransfer: [tooLate],
    })
    await story.run.untilPending(/Others come first/)
    expect(await story.run.refusal('cancel', ADA)).toBe(`refused: ${tooLate}`)
    expect(await story.ends()).toBe('completed')
  })

  test('is carried out in turn with signals and other updates, each answered with the status after it', async () => {
    const deciding = Promise.withResolvers<string>()
    const story = await aDoubtful({
      readTransfer: [doubtful, verified, ended('cancelled')],
      decideTransfer: [() => deciding.promise, tooLate, done('cancel'), tooLate],
    })
    const ask = (verb: string) =>
      story.run.handle.startUpdate<UpdateAnswer, [unknown]>(verb, { args: [ADA], waitForStage: 'ACCEPTED' })
    const first = await ask('confirmPayee')
    await story.run.signal('cancel', ADA)
    const [second, third] = [await ask('cancel'), await ask('cancel')]
    deciding.resolve(done('confirmPayee'))
    expect(await first.result()).toEqual({ status: 'verifying', line: done('confirmPayee') })
    expect(await second.result()).toEqual({ status: 'cancelled', line: done('cancel') })
    await expect(third.result()).rejects.toMatchObject({ cause: { message: tooLate, type: 'refused' } })
    expect(await story.ends()).toBe('cancelled')
    expect(await story.run.timeline()).toEqual([tooLate])
    expect(await story.run.failedTasks()).toBe(0)
  })

  test('of a record that has ended is refused at once, counted, and leaves no event', async () => {
    const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const story = await aDoubtful({ decideTransfer: [() => first.promise, () => second.promise] })
    const decisions = (count: number) =>
      until(
        `${count} decisions`,
        () => story.calls.filter(call => call.startsWith('decide')).length === count,
      )
    const answered = story.run.update('cancel', ADA)
    await decisions(1)
    await story.run.signal('cancel', ADA)
    first.resolve(done('cancel'))
    expect(await answered).toMatchObject({ status: 'cancelled' })
    await decisions(2)
    const before = await story.run.historyLength()
    expect(await story.run.refusal('cancel', ADA)).toBe('ended: The transfer is already cancelled.')
    expect([await story.run.historyLength(), story.refusals]).toEqual([before, ['ended']])
    second.resolve(tooLate)
    expect(await story.ends()).toBe('cancelled')
  })

  test('that comes while the record ends is refused, and the run ends', async () => {
    const story = await transfers.play({
      readTransfer: [
        submitted(AN_HOUR),
        async () => {
          sent.resolve(story.run.refusal('cancel', ADA).catch((error: Error) => error.name))
          // The server has it most of the time before the run has ended.
          await sleep(100)
          return ended('completed')
        },
        ended('completed'),
      ],
    })
    const sent = Promise.withResolvers<string>()
    await story.waits(OUTCOME)
    await story.run.signal('recordChanged')
    expect(['ended: The transfer is already completed.', 'WorkflowNotFoundError']).toContain(
      await sent.promise,
    )
    expect(await story.ends()).toBe('completed')
    expect(await story.run.failedTasks()).toBe(0)
  })

  test('is not disturbed by Request Cancellation', async () => {
    const { cancel, ...reading } = aCancellation()
    const story = await aDoubtful({ ...reading, decideTransfer: [tooLate, done('confirmPayee'), cancel] })
    await story.run.handle.cancel()
    await story.run.untilTimeline(1)
    expect(await story.run.update('confirmPayee', ADA)).toMatchObject({ status: 'verifying' })
    expect(await story.run.update('cancel', ADA)).toMatchObject({ status: 'cancelled' })
    expect(await story.ends()).toBe('cancelled')
  })

  test('that is sent before the record was read waits for its turn', async () => {
    const { cancel, ...reading } = aCancellation()
    const story = await transfers.play({ ...reading, decideTransfer: [cancel] })
    expect(await story.run.update('cancel', ADA)).toEqual({ status: 'cancelled', line: done('cancel') })
    expect(await story.ends()).toBe('cancelled')
  })
})

describe('an update without a payload', () => {
  const waiting = (dueInMs: number) => ({
    status: 'pending',
    summary: 'agent.created to webhook_1 in test mode: attempt 2',
    closed: false,
    isUnderWay: false,
    isPaused: false,
    attempt: 2,
    maxAttempts: 5,
    receiver: 'hooks.example.com',
    dueInMs,
    deadline: DEADLINE,
    signals: ['retryNow'],
  })
  const delivered = { ...waiting(0), status: 'delivered', dueInMs: null, closed: true, signals: [] }

  test.each([[undefined], [{}]])('takes %j, and makes the next attempt at once', async payload => {
    const story = await deliveries.play({
      readDelivery: [waiting(AN_HOUR), waiting(0)],
      decideDelivery: ['Update retryNow: done.'],
      sendAgain: [delivered],
    })
    await story.waits(`for attempt 2 of 5 to hooks.example.com at ${DEADLINE}`)
    expect(await story.run.update('retryNow', payload)).toEqual({
      status: 'pending',
      line: 'Update retryNow: done.',
    })
    expect(await story.ends()).toBe('delivered')
    expect(story.calls).toEqual(['readDelivery', 'decideDelivery retryNow', 'readDelivery', 'sendAgain'])
  })

  test('refuses one', async () => {
    const story = await deliveries.play({ readDelivery: [waiting(AN_HOUR), delivered] })
    await story.waits(`for attempt 2 of 5 to hooks.example.com at ${DEADLINE}`)
    expect(await story.run.refusal('retryNow', { by: 'Ada' })).toBe('malformed: Send no payload.')
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('delivered')
    expect(story.refusals).toEqual(['malformed'])
  })
})
