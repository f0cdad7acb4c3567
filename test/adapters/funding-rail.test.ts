import { describe, expect, test } from '@jest/globals'
import { sandboxFundingRail } from '../../src/adapters/funding-rail/sandbox.ts'
import { Problem } from '../../src/kernel/contract/problem.ts'
import type { FundingCharge } from '../../src/ports/funding-rail.ts'
import { days, minutes } from '../../src/values/clock.ts'
import { type Cents, cents } from '../../src/values/money.ts'
import { externalSystemsFor } from '../support/commerce/rail.ts'

const rail = sandboxFundingRail()
const call = {
  reference: 'funding_1',
  requestId: 'request-1',
  ownerId: 'customer_1',
  returnUrl: 'https://pay.example/console/fundings/funding_1',
}
const madeAt = new Date('2026-11-20T09:30:00.000Z')
const since = (milliseconds: number) => new Date(madeAt.getTime() + milliseconds)

const of = (amountCents: Cents, token = 'tok_visa'): FundingCharge => ({ token, amountCents, madeAt })
const later = (charge: FundingCharge, milliseconds: number) =>
  rail.stateOf(charge, { ...call, now: since(milliseconds) })

describe('the sandbox’s payment processor', () => {
  test.each([
    ['tok_visa', { kind: 'card', brand: 'visa', last4: '4242' }],
    ['tok_mastercard', { kind: 'card', brand: 'mastercard', last4: '4444' }],
    ['tok_declined', { kind: 'card', brand: 'visa', last4: '0002' }],
    ['tok_sepa_debit', { kind: 'sepa_debit', brand: null, last4: '3000' }],
    ['tok_of_nothing', 'unknown'],
    ['__proto__', 'unknown'],
  ])('resolves the token %s to %j', async (token, instrument) => {
    const expected = typeof instrument === 'string' ? instrument : { ...instrument, token }
    expect(await rail.instrumentOf(token, call)).toEqual(expected)
  })

  test.each([
    [100n, 'settled', 'settled', 'settled'],
    [1300n, 'settled', 'settled', 'settled'],
    [1301n, 'failed', 'failed', 'failed'],
    [1302n, 'failed', 'failed', 'failed'],
    [1303n, 'requires_action', 'requires_action', 'failed'],
    [1304n, 'pending', 'pending', 'settled'],
    [1305n, 'pending', 'pending', 'failed'],
    [1306n, 'unknown', 'settled', 'settled'],
    [1307n, 'unknown', 'unknown', 'unknown'],
  ])(
    'charges %d cents with the status %s, after a minute %s, after two days %s',
    async (amount, ...expected) => {
      const charge = of(cents(amount))
      const states = [
        await rail.charge(charge, call),
        await later(charge, minutes(1)),
        await later(charge, days(2)),
      ]
      expect(states.map(({ status }) => status)).toEqual(expected)
      expect(await rail.charge(charge, call)).toEqual(states[0])
    },
  )

  test('declines every charge of the token tok_declined', async () => {
    expect(await rail.charge(of(cents(100n), 'tok_declined'), call)).toMatchObject({
      status: 'failed',
      reason: { code: 'declined' },
    })
  })

  test('returns the payer’s next step and the time of the next inquiry', async () => {
    expect(await rail.charge(of(cents(1303n)), call)).toEqual({
      status: 'requires_action',
      nextAction: { type: 'redirect', url: 'https://processor.example/authenticate/funding_1' },
      askAgainAt: since(days(1)),
    })
    expect(await rail.charge(of(cents(1304n)), call)).toMatchObject({ askAgainAt: since(days(2)) })
  })
})

describe('the payment processor of a mode', () => {
  test('is the sandbox in test mode and the configured one in live mode', () => {
    expect(externalSystemsFor({}).fundingRail('test')).toHaveProperty('charge')
    expect(externalSystemsFor({ FUNDING_RAIL: 'sandbox' }).fundingRail('live')).toHaveProperty('charge')
  })

  test('is refused with the name of the setting if none is configured', () => {
    expect(() => externalSystemsFor({}).fundingRail('live')).toThrow(Problem)
    expect(() => externalSystemsFor({ SEPA_RAIL: 'sandbox' }).fundingRail('live')).toThrow(/FUNDING_RAIL/)
  })
})
