import { describe, expect, test } from '@jest/globals'
import type { CollectActivities } from '../../../activities/collect.ts'
import { storyStage } from '../../support/temporal/stories.ts'

const { play } = await storyStage<CollectActivities>('collect', [
  'readPaymentRequest',
  'answerPaymentRequest',
  'expirePaymentRequest',
  'followRefunds',
])

const AN_HOUR = 3_600_000
const AT = '28 Nov 2026 09:30 UTC'
const PAYMENT = `for the payment, until ${AT}`
const UNDER_WAY = 'for the outcome of the payment that is under way'
const REFUND = 'for the refund to arrive'
const REFUND_BY_CARD = `${REFUND}; the next check is at ${AT}`

type State = Awaited<ReturnType<CollectActivities['readPaymentRequest']>>

const state = (members: Pick<State, 'status' | 'dueInMs'> & Partial<State>): State => ({
  summary: `Request: ${members.status}`,
  closed: false,
  doubtfulSince: null,
  isBeingPaid: false,
  deadline: AT,
  signals: [],
  ...members,
})
const open = (dueInMs: number) => state({ status: 'open', dueInMs, signals: ['cancel'] })
const beingPaid = state({ status: 'open', dueInMs: null, isBeingPaid: true })
const refunding = (dueInMs: number | null) =>
  state({ status: 'paid', dueInMs, deadline: dueInMs === null ? null : AT })
const ended = (status: State['status']) => state({ status, closed: true, dueInMs: null, deadline: null })

const done = 'Signal cancel by Ada: done.'

describe('the run of a payment request', () => {
  test('expires a request that is not paid in time', async () => {
    const story = await play({ readPaymentRequest: [open(20)], expirePaymentRequest: [ended('expired')] })
    expect(await story.ends()).toBe('expired')
    expect(story.calls).toEqual(['readPaymentRequest', 'expirePaymentRequest'])
    expect(await story.run.timerSummaries()).toEqual([PAYMENT])
  })

  test('waits for a payment that is under way, without a deadline, and ends once it is paid', async () => {
    const story = await play({ readPaymentRequest: [open(AN_HOUR), beingPaid, ended('paid')] })
    await story.waits(PAYMENT)
    await story.run.signal('recordChanged')
    await story.waits(UNDER_WAY)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('paid')
    expect(story.calls).toEqual(Array(3).fill('readPaymentRequest'))
  })

  test('expires the request at once where the payment under way fails after the deadline', async () => {
    const story = await play({
      readPaymentRequest: [beingPaid, open(-AN_HOUR)],
      expirePaymentRequest: [ended('expired')],
    })
    await story.waits(UNDER_WAY)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('expired')
    expect(await story.run.timerSummaries()).toEqual([UNDER_WAY])
  })

  test.each(['the signal cancel', 'Request Cancellation'])('is cancelled by %s', async how => {
    const story = await play({
      readPaymentRequest: [open(AN_HOUR), ended('cancelled')],
      answerPaymentRequest: [done],
    })
    await story.waits(PAYMENT)
    if (how === 'Request Cancellation') await story.run.handle.cancel()
    else await story.run.signal('cancel', { by: 'Ada' })
    expect(await story.ends()).toBe('cancelled')
    expect(story.calls).toEqual(['readPaymentRequest', 'answerPaymentRequest cancel', 'readPaymentRequest'])
  })

  test('says in its timeline that a cancellation changed nothing, and goes on waiting', async () => {
    const refused = 'The signal cancel by Ada changed nothing: A payment is under way.'
    const story = await play({
      readPaymentRequest: [beingPaid, beingPaid, ended('paid')],
      answerPaymentRequest: [refused],
    })
    await story.waits(UNDER_WAY)
    await story.run.signal('cancel', { by: 'Ada' })
    expect(await story.run.untilTimeline(1)).toEqual([refused])
    await story.waits(UNDER_WAY)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('paid')
  })
})

describe('the run of a request whose payer is refunded', () => {
  test('asks the acquirer about a refund by card, again and again, until it has arrived', async () => {
    const story = await play({
      readPaymentRequest: [refunding(20)],
      followRefunds: [refunding(30), ended('refunded')],
    })
    expect(await story.ends()).toBe('refunded')
    expect(story.calls).toEqual(['readPaymentRequest', 'followRefunds', 'followRefunds'])
    expect(await story.run.timerSummaries()).toEqual([REFUND_BY_CARD, REFUND_BY_CARD])
  })

  test('asks at once where that is overdue, as a run that is rebuilt from its record', async () => {
    const story = await play({ readPaymentRequest: [refunding(-AN_HOUR)], followRefunds: [ended('paid')] })
    expect(await story.ends()).toBe('paid')
    expect(await story.run.timerSummaries()).toEqual([])
  })

  test('repeats a question whose worker died', async () => {
    const died = new Error('the worker was killed')
    const story = await play({
      readPaymentRequest: [refunding(0)],
      followRefunds: [died, ended('refunded')],
    })
    expect(await story.ends()).toBe('refunded')
    expect(story.calls).toEqual(['readPaymentRequest', 'followRefunds', 'followRefunds'])
  })

  test('waits for a refund by SEPA until the bank has reported, and asks nothing', async () => {
    const story = await play({ readPaymentRequest: [refunding(null), ended('refunded')] })
    await story.waits(REFUND)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('refunded')
    expect(story.calls).toEqual(['readPaymentRequest', 'readPaymentRequest'])
  })
})
