import { afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { disputeReasons } from '../../../src/ports/card-disputes.ts'
import type {
  CardProcessor,
  NewNetworkDispute,
  OpenNetworkDispute,
} from '../../../src/ports/card-processor.ts'
import { addMs, minutes } from '../../../src/values/clock.ts'
import { cents } from '../../../src/values/money.ts'
import { callOf, requestedAt } from '../../support/cards/sandbox.ts'
import { messageOf, readEvent, stripeAt } from '../../support/cards/stripe.ts'
import { startStripeDouble } from '../../support/cards/stripe-double.ts'
import { type StripeMock, startStripeMock } from '../../support/cards/stripe-mock.ts'

const newDispute = (more: Partial<NewNetworkDispute> = {}): NewNetworkDispute => ({
  disputeId: 'dispute_1',
  processorCardId: 'ic_1',
  openedAt: requestedAt,
  clearings: [{ id: 'ipi_1', amountCents: cents(2_500n) }],
  amountCents: cents(2_000n),
  reason: 'not_received',
  description: 'It never came.',
  ...more,
})

const known: OpenNetworkDispute = {
  processorDisputeId: 'idp_1',
  amountCents: cents(2_000n),
  submittedAt: requestedAt,
}
const evidence = {
  amountCents: cents(2_000n),
  reason: 'not_received',
  description: 'It never came.',
  bundle: Buffer.from('%PDF-1.7 the bundle'),
  sha256: 'a'.repeat(64),
} as const

describe('Stripe’s own stand-in', () => {
  let mock: StripeMock
  let processor: CardProcessor
  beforeAll(async () => {
    mock = await startStripeMock()
    processor = stripeAt(mock.url, 'sk_test_123')
  })

  test.each(disputeReasons)('accepts a dispute for the reason %s, with its evidence', async reason => {
    const call = callOf(`dispute_${reason}`)
    expect(await processor.disputes.open(newDispute({ reason }), call)).toEqual({
      processorDisputeId: expect.stringMatching(/^idp_\w+$/),
      evidenceDueAt: null,
    })
    expect(await processor.disputes.addEvidence(known, { ...evidence, reason }, call)).toEqual({ done: true })
  })

  test('accepts the submission and the inquiry', async () => {
    expect(await processor.disputes.submit(known, callOf('submit'))).toEqual({ done: true })
    expect(await processor.disputes.inquire(known, callOf('inquire'))).toMatchObject({
      status: expect.any(String),
    })
  })
})

const stripe = await startStripeDouble()
const { disputes } = stripeAt(stripe.url)
afterEach(() => {
  stripe.disputes.clear()
  stripe.forgetKeys()
})

describe('a dispute at Stripe', () => {
  test('is opened once, also where its amount has changed since or the key is forgotten', async () => {
    const call = callOf('dispute_1/open')
    const first = await disputes.open(newDispute(), call)
    expect(await disputes.open(newDispute({ amountCents: cents(1_000n) }), call)).toEqual(first)
    stripe.forgetKeys()
    const nextDay = { ...call, now: addMs(requestedAt, minutes(25 * 60)) }
    expect(await disputes.open(newDispute(), nextDay)).toEqual(first)
    expect(stripe.disputes.size).toBe(1)
  })

  test('is submitted once under any key, and cannot be withdrawn by the API', async () => {
    await disputes.open(newDispute(), callOf('dispute_1/open'))
    expect(await disputes.withdraw(known, callOf('dispute_1/withdraw'))).toEqual({ done: true })
    await disputes.submit(known, callOf('dispute_1/file'))
    stripe.forgetKeys()
    expect(await disputes.submit(known, callOf('dispute_1/file'))).toEqual({ done: true })
    expect(stripe.to(/^POST issuing\/disputes\/idp_1\/submit$/)).toHaveLength(1)
    expect(await disputes.withdraw(known, callOf('dispute_1/withdraw'))).toMatchObject({
      failure: 'refused',
      message: expect.stringContaining('idp_1'),
    })
  })

  test('a dispute of an uncleared payment is refused with a reason', async () => {
    expect(await disputes.open(newDispute({ clearings: [] }), callOf('none'))).toMatchObject({
      failure: 'refused',
      code: 'not_settled',
    })
  })
})

const event = (status: string, metadata: object = { card: 'ic_1', dispute_id: 'dispute_1' }) => ({
  id: 'idp_1',
  object: 'issuing.dispute',
  status,
  amount: 2_000,
  currency: 'eur',
  metadata,
})

describe('an event of Stripe about a dispute', () => {
  test.each([
    ['issuing_dispute.closed', 'won', 'won', 2_000n],
    ['issuing_dispute.closed', 'lost', 'lost', null],
    ['issuing_dispute.closed', 'expired', 'lost', null],
    ['issuing_dispute.funds_reinstated', 'submitted', 'credited', 2_000n],
    ['issuing_dispute.funds_reinstated', 'won', 'won', 2_000n],
    ['issuing_dispute.funds_rescinded', 'lost', 'lost', null],
  ] as const)('%s while it is %s says %s', (type, status, says, amountCents) => {
    expect(messageOf(type, event(status))).toMatchObject({
      processorCardId: 'ic_1',
      content: { kind: 'dispute', disputeId: 'dispute_1', says, amountCents },
    })
  })

  test('that was not opened here is ignored', () => {
    expect(readEvent('issuing_dispute.closed', event('won', {}))).toEqual({ kind: 'ignored' })
  })
})
