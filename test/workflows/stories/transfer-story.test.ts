import { describe, expect, test } from '@jest/globals'
import type { TransferActivities } from '../../../activities/transfers.ts'
import { storyStage } from '../../support/temporal/stories.ts'

const { play } = await storyStage<TransferActivities>('transfer', [
  'readTransfer',
  'decideTransfer',
  'verifyPayee',
  'cancelUnconfirmed',
  'submitPayment',
  'askRail',
])

const AN_HOUR = 3_600_000
const DEADLINE = '28 Nov 2026 09:30 UTC'
const VERIFICATION = 'for the payee’s bank to verify the name'
const CONFIRMATION = `for a person to confirm the payee, until ${DEADLINE}`
const OUTCOME = `for the rail to report the outcome; the next inquiry is at ${DEADLINE}`
const ANSWER_TO_RECALL = `for the answer to the recall; the next inquiry is at ${DEADLINE}`
const CONFIRMATION_OR_OUTCOME = `for a person to confirm the payee, and ${OUTCOME}`

type State = Awaited<ReturnType<TransferActivities['readTransfer']>>

const state = (members: Pick<State, 'status' | 'dueInMs'> & Partial<State>): State => ({
  summary: `Transfer: ${members.status}`,
  closed: false,
  doubtfulSince: null,
  payee: 'accepted',
  isSubmitted: false,
  isRecalled: false,
  deadline: DEADLINE,
  signals: [],
  ...members,
})

const created = state({ status: 'created', payee: 'unverified', dueInMs: 0 })
const verified = state({ status: 'verifying', dueInMs: 0 })
const doubtful = (dueInMs: number) => state({ status: 'verifying', payee: 'doubtful', dueInMs })
const submitted = (dueInMs: number, more: Partial<State> = {}) =>
  state({ status: 'submitted', isSubmitted: true, dueInMs, ...more })
const recalled = (dueInMs: number) => submitted(dueInMs, { status: 'completed', isRecalled: true })
const ended = (status: State['status'], more: Partial<State> = {}) =>
  state({ status, closed: true, isSubmitted: true, dueInMs: null, ...more })
const cancelled = ended('cancelled', { isSubmitted: false })

const confirmed = 'Signal confirmPayee by Ada: done.'

describe('the run of a transfer', () => {
  test('verifies the payee and submits the payment, which the rail settles at once', async () => {
    const story = await play({
      readTransfer: [created],
      verifyPayee: [verified],
      submitPayment: [ended('completed')],
    })
    expect(await story.ends()).toBe('completed')
    expect(story.calls).toEqual(['readTransfer', 'verifyPayee', 'submitPayment'])
    expect(await story.run.timerSummaries()).toEqual([])
  })

  test('asks the rail that has not answered, again and again, until the payment has ended', async () => {
    const story = await play({
      readTransfer: [created],
      verifyPayee: [verified],
      submitPayment: [submitted(20)],
      askRail: [submitted(30), submitted(40), ended('rejected')],
    })
    expect(await story.ends()).toBe('rejected')
    expect(story.calls).toEqual([
      'readTransfer',
      'verifyPayee',
      'submitPayment',
      'askRail',
      'askRail',
      'askRail',
    ])
    expect(await story.run.timerSummaries()).toEqual([OUTCOME, OUTCOME, OUTCOME])
  })

  test('goes on with asking where a worker died after it submitted', async () => {
    const died = new Error('the worker was killed')
    const story = await play({
      readTransfer: [verified],
      submitPayment: [died, submitted(20)],
      askRail: [ended('completed')],
    })
    expect(await story.ends()).toBe('completed')
    expect(story.calls).toEqual(['readTransfer', 'submitPayment', 'submitPayment', 'askRail'])
  })

  test('begins with what is left to do, as a run that is rebuilt from its record', async () => {
    const story = await play({ readTransfer: [submitted(-AN_HOUR)], askRail: [ended('completed')] })
    expect(await story.ends()).toBe('completed')
    expect(story.calls).toEqual(['readTransfer', 'askRail'])
  })

  test('waits while another worker asks the payee’s bank, and then asks itself', async () => {
    const claimed = state({ status: 'verifying', payee: 'unverified', dueInMs: 20 })
    const story = await play({
      readTransfer: [created],
      verifyPayee: [claimed, verified],
      submitPayment: [ended('completed')],
    })
    expect(await story.ends()).toBe('completed')
    expect(story.calls).toEqual(['readTransfer', 'verifyPayee', 'verifyPayee', 'submitPayment'])
    expect(await story.run.timerSummaries()).toEqual([VERIFICATION])
  })

  test('cancels the transfer where no person confirms a doubtful payee in time', async () => {
    const story = await play({
      readTransfer: [created],
      verifyPayee: [doubtful(20)],
      cancelUnconfirmed: [cancelled],
    })
    expect(await story.ends()).toBe('cancelled')
    expect(story.calls).toEqual(['readTransfer', 'verifyPayee', 'cancelUnconfirmed'])
    expect(await story.run.timerSummaries()).toEqual([CONFIRMATION])
  })

  test('submits the payment once a person has confirmed the payee by a signal', async () => {
    const story = await play({
      readTransfer: [doubtful(AN_HOUR), verified],
      decideTransfer: [confirmed],
      submitPayment: [ended('completed')],
    })
    await story.waits(CONFIRMATION)
    await story.run.signal('confirmPayee', { by: 'Ada' })
    expect(await story.ends()).toBe('completed')
    expect(story.calls).toEqual([
      'readTransfer',
      'decideTransfer confirmPayee',
      'readTransfer',
      'submitPayment',
    ])
  })

  test.each(['the signal cancel', 'Request Cancellation'])('is cancelled by %s', async how => {
    const story = await play({
      readTransfer: [doubtful(AN_HOUR), cancelled],
      decideTransfer: ['Signal cancel by Ada: done.'],
    })
    await story.waits(CONFIRMATION)
    if (how === 'Request Cancellation') await story.run.handle.cancel()
    else await story.run.signal('cancel', { by: 'Ada' })
    expect(await story.ends()).toBe('cancelled')
    expect(story.calls).toEqual(['readTransfer', 'decideTransfer cancel', 'readTransfer'])
  })

  test('says in its timeline that a cancellation came too late, and goes on', async () => {
    const refused = 'The signal cancel by Ada changed nothing: The transfer has already been submitted.'
    const story = await play({
      readTransfer: [submitted(AN_HOUR), submitted(20)],
      decideTransfer: [refused],
      askRail: [ended('completed')],
    })
    await story.waits(OUTCOME)
    await story.run.signal('cancel', { by: 'Ada' })
    expect(await story.run.untilTimeline(1)).toEqual([refused])
    expect(await story.ends()).toBe('completed')
  })

  test('ends when a notice of the bank has ended the transfer', async () => {
    const story = await play({ readTransfer: [submitted(AN_HOUR), ended('returned')] })
    await story.waits(OUTCOME)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('returned')
  })

  test('waits for a person and the rail where the bank doubts the payee of a submitted payment', async () => {
    const story = await play({
      readTransfer: [submitted(20, { payee: 'doubtful' })],
      askRail: [submitted(AN_HOUR), ended('completed')],
    })
    await story.waits(OUTCOME)
    expect(await story.run.timerSummaries()).toEqual([CONFIRMATION_OR_OUTCOME, OUTCOME])
    expect(story.calls).toEqual(['readTransfer', 'askRail'])
    await story.run.handle.terminate()
  })

  test('waits for the answer to the recall of a completed transfer', async () => {
    const story = await play({ readTransfer: [recalled(20)], askRail: [recalled(20), ended('completed')] })
    expect(await story.ends()).toBe('completed')
    expect(story.calls).toEqual(['readTransfer', 'askRail', 'askRail'])
    expect(await story.run.timerSummaries()).toEqual([ANSWER_TO_RECALL, ANSWER_TO_RECALL])
  })

  test('tries again after a second where a due step changed nothing', async () => {
    const story = await play({ readTransfer: [verified], submitPayment: [verified, ended('completed')] })
    expect(await story.ends()).toBe('completed')
    expect(await story.run.timerSummaries()).toEqual(['for a moment, then it tries again'])
  })

  test('repeats each activity that fails until it succeeds', async () => {
    const away = new Error('the database is away')
    const story = await play({
      readTransfer: [away, away, created],
      verifyPayee: [away, verified],
      submitPayment: [away, submitted(20)],
      askRail: [away, ended('completed')],
    })
    expect(await story.ends()).toBe('completed')
    for (const name of ['verifyPayee', 'submitPayment', 'askRail'])
      expect(story.calls.filter(call => call === name)).toHaveLength(2)
  })
})
