import { describe, expect, test } from '@jest/globals'
import type { MppActivities } from '../../../activities/mpp.ts'
import { storyStage } from '../../support/temporal/stories.ts'

const { play } = await storyStage<MppActivities>('mpp', [
  'readMachinePayment',
  'mintCredential',
  'createSharedToken',
  'sendCredential',
  'resolveMachinePayment',
  'leaveOutcomeOpen',
  'endUnpaid',
  'deleteNetworkToken',
])

const AN_HOUR = 3_600_000
const UNTIL = 'until 28 Nov 2026 09:30 UTC'
const ANSWER = `for the merchant’s answer, ${UNTIL}`
const REPORT = `for a report of whether it was paid, ${UNTIL}`
const PROCESSOR = 'for the processor to delete the token'

const open = (status: string, dueInMs: number, more: object = {}) => ({
  status,
  summary: `Machine payment: ${status}`,
  closed: false,
  next: status === 'sent' ? 'wait' : 'none',
  awaitsPerson: false,
  dueInMs,
  deadline: '28 Nov 2026 09:30 UTC',
  signals: ['paid', 'notPaid'],
  steps: ['sent at 09:28:00, once'],
  ...more,
})
const ended = (status: string) => ({ ...open(status, 0), closed: true, dueInMs: null, signals: [] })

const done = 'Signal paid by Ada: done.'

describe('the run of a machine payment', () => {
  test.each([
    ['its request has finished', 'sent', ANSWER],
    ['the network reports', 'indeterminate', REPORT],
  ])('ends with a payment that %s, with few events', async (_, status, what) => {
    const story = await play({ readMachinePayment: [open(status, AN_HOUR), ended('consumed')] })
    await story.waits(what)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('consumed')
    expect(story.calls).toEqual(['readMachinePayment', 'readMachinePayment'])
    expect(await story.run.historyLength()).toBeLessThanOrEqual(16)
  })

  test('asks the merchant, mints and sends, and ends with the outcome', async () => {
    const story = await play({
      readMachinePayment: [open('ordering', AN_HOUR, { next: 'order' }), ended('consumed')],
      mintCredential: ['send'],
      sendCredential: ['none'],
    })
    expect(await story.ends()).toBe('consumed')
    expect(story.calls).toEqual([
      'readMachinePayment',
      'mintCredential',
      'sendCredential',
      'readMachinePayment',
    ])
    expect(await story.run.historyLength()).toBeLessThanOrEqual(28)
  })

  test('waits for a person to approve the intent, and pays at once', async () => {
    const story = await play({
      readMachinePayment: [
        open('waiting', AN_HOUR, { awaitsPerson: true, signals: [] }),
        open('waiting', 0, { next: 'order', awaitsPerson: true, signals: [] }),
        ended('consumed'),
      ],
      mintCredential: ['send'],
      sendCredential: ['none'],
    })
    await story.waits(`for a person to approve the intent, ${UNTIL}`)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('consumed')
    expect(story.calls).toEqual([
      'readMachinePayment',
      'readMachinePayment',
      'mintCredential',
      'sendCredential',
      'readMachinePayment',
    ])
  })

  test('asks a merchant that is away again when its time has come', async () => {
    const story = await play({
      readMachinePayment: [
        open('ordering', AN_HOUR, { next: 'order' }),
        open('waiting', 20, { next: 'wait' }),
        open('waiting', 0, { next: 'order' }),
        ended('ended'),
      ],
      mintCredential: ['wait', 'none'],
    })
    expect(await story.ends()).toBe('ended')
    expect(await story.run.timerSummaries()).toEqual([
      'for the merchant, which is away: it is asked again at 28 Nov 2026 09:30 UTC',
    ])
  })

  test('pays by a shared payment token, from where it was left', async () => {
    const story = await play({
      readMachinePayment: [open('minted', AN_HOUR, { next: 'token' }), ended('consumed')],
      createSharedToken: ['send'],
      sendCredential: ['none'],
    })
    expect(await story.ends()).toBe('consumed')
    expect(story.calls).toEqual([
      'readMachinePayment',
      'createSharedToken',
      'sendCredential',
      'readMachinePayment',
    ])
  })

  test('asks the merchant again after an attempt that failed', async () => {
    const story = await play({
      readMachinePayment: [open('ordering', AN_HOUR, { next: 'order' }), ended('ended')],
      mintCredential: [new Error('the database was away'), 'none'],
    })
    expect(await story.ends()).toBe('ended')
    expect(story.calls.filter(call => call === 'mintCredential')).toHaveLength(2)
  })

  test('never sends a second time: what came of an attempt that failed is read', async () => {
    const story = await play({
      readMachinePayment: [
        open('minted', AN_HOUR, { next: 'send' }),
        open('sent', 20),
        open('indeterminate', AN_HOUR),
      ],
      sendCredential: [new Error('the connection broke')],
      leaveOutcomeOpen: [open('indeterminate', AN_HOUR)],
    })
    await story.waits(REPORT)
    expect(story.calls.filter(call => call === 'sendCredential')).toHaveLength(1)
  })

  test('waits for the request that is at it, and takes the payment over once its time has passed', async () => {
    const story = await play({
      readMachinePayment: [
        open('ordering', 20, { next: 'wait' }),
        open('ordering', AN_HOUR, { next: 'order' }),
        ended('ended'),
      ],
      mintCredential: ['none'],
    })
    expect(await story.ends()).toBe('ended')
    expect(await story.run.timerSummaries()).toContain(`for the request that carries it out, ${UNTIL}`)
  })

  test('leaves the outcome open where the merchant is silent, and counts it as not paid at its deadline', async () => {
    const story = await play({
      readMachinePayment: [open('sent', 20)],
      leaveOutcomeOpen: [open('indeterminate', 30)],
      endUnpaid: [open('void', 0)],
      deleteNetworkToken: [ended('void')],
    })
    expect(await story.ends()).toBe('void')
    expect(story.calls).toEqual(['readMachinePayment', 'leaveOutcomeOpen', 'endUnpaid', 'deleteNetworkToken'])
    expect(await story.run.timerSummaries()).toEqual([ANSWER, REPORT])
  })

  test('goes on from any state, as after an outage: the token alone is left', async () => {
    const story = await play({
      readMachinePayment: [open('void', -AN_HOUR)],
      deleteNetworkToken: [ended('void')],
    })
    expect(await story.ends()).toBe('void')
    expect(story.calls).toEqual(['readMachinePayment', 'deleteNetworkToken'])
    expect(await story.run.timerSummaries()).toEqual([])
  })

  test('asks a processor again that does not delete the token, when the claim has ended', async () => {
    const story = await play({
      readMachinePayment: [open('void', 0)],
      deleteNetworkToken: [open('void', 20), ended('void')],
    })
    expect(await story.ends()).toBe('void')
    expect(story.calls).toEqual(['readMachinePayment', 'deleteNetworkToken', 'deleteNetworkToken'])
    expect(await story.run.timerSummaries()).toEqual([PROCESSOR])
  })

  test.each([
    ['a person to confirm it with the card’s issuer', { awaitsPerson: true }],
    ['a report of whether it was paid', {}],
  ])('waits for %s, and ends the payment as not paid at its deadline', async (what, more) => {
    const story = await play({
      readMachinePayment: [open('minted', 20, more)],
      endUnpaid: [ended('void')],
    })
    expect(await story.ends()).toBe('void')
    expect(story.calls).toEqual(['readMachinePayment', 'endUnpaid'])
    expect(await story.run.timerSummaries()).toEqual([`for ${what}, ${UNTIL}`])
  })

  test('carries out the signal paid, and ends', async () => {
    const story = await play({
      readMachinePayment: [open('indeterminate', AN_HOUR), ended('consumed')],
      resolveMachinePayment: [done],
    })
    await story.waits(REPORT)
    await story.run.signal('paid', { by: 'Ada' })
    expect(await story.ends()).toBe('consumed')
    expect(story.calls).toEqual(['readMachinePayment', 'resolveMachinePayment paid', 'readMachinePayment'])
  })

  test('carries out the signal notPaid, and deletes the token at once', async () => {
    const story = await play({
      readMachinePayment: [open('indeterminate', AN_HOUR), open('void', 0)],
      resolveMachinePayment: [done],
      deleteNetworkToken: [ended('void')],
    })
    await story.waits(REPORT)
    await story.run.signal('notPaid', { by: 'Ada' })
    expect(await story.ends()).toBe('void')
    expect(story.calls).toEqual([
      'readMachinePayment',
      'resolveMachinePayment notPaid',
      'readMachinePayment',
      'deleteNetworkToken',
    ])
    expect(await story.run.timerSummaries()).toEqual([REPORT])
  })

  test('goes on after Request Cancellation, and says so in its timeline', async () => {
    const story = await play({
      readMachinePayment: [open('indeterminate', AN_HOUR), ended('consumed')],
      resolveMachinePayment: [done],
    })
    await story.waits(REPORT)
    await story.run.handle.cancel()
    expect((await story.run.untilTimeline(1))[0]).toMatch(/^Request Cancellation changed nothing/)
    await story.run.signal('paid', { by: 'Ada' })
    expect(await story.ends()).toBe('consumed')
  })

  test('tries again after a second where an overdue outcome stayed as it was', async () => {
    const overdue = open('indeterminate', 0)
    const story = await play({ readMachinePayment: [overdue], endUnpaid: [overdue, ended('void')] })
    expect(await story.ends()).toBe('void')
    expect(story.calls).toEqual(['readMachinePayment', 'endUnpaid', 'endUnpaid'])
    expect(await story.run.timerSummaries()).toEqual(['for a moment, then it tries again'])
  })

  test('repeats an activity that fails until it succeeds', async () => {
    const away = new Error('the database is away')
    const story = await play({
      readMachinePayment: [away, away, open('void', 0)],
      deleteNetworkToken: [away, ended('void')],
    })
    expect(await story.ends()).toBe('void')
    expect(story.calls.filter(call => call === 'deleteNetworkToken')).toHaveLength(2)
  })
})
