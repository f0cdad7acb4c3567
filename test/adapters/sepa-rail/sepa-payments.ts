import { describe, expect, test } from '@jest/globals'
import { sandboxSepaRail } from '../../../src/adapters/sepa-rail/sandbox.ts'
import { isoReasonOf, REASON_CODE_PATTERN, reasonCodes } from '../../../src/iso20022/reason-codes.ts'
import type { SepaPayment } from '../../../src/ports/sepa-rail.ts'
import { type Cents, cents } from '../../../src/values/money.ts'

const rail = sandboxSepaRail()
const call = { reference: 'transfer_1', requestId: 'request-1' }
const submittedAt = new Date('2026-11-20T09:30:00.000Z')

const payment = (amountCents: Cents, afterSeconds = 0): SepaPayment => ({
  ownerId: 'customer_1',
  endToEndId: 'e2e',
  scheme: 'sct',
  amountCents,
  payerIban: null,
  reference: null,
  submittedAt,
  payee: { name: 'Ada', iban: 'DE89370400440532013000', bic: null },
  until: null,
  at: new Date(submittedAt.getTime() + afterSeconds * 1_000),
})

const settled = { status: 'settled', reasonCode: null }
const pending = { status: 'pending', reasonCode: null }
const rejected = (code: string) => ({ status: 'rejected', reasonCode: code })

describe('the sandbox’s SEPA rail', () => {
  test.each([
    ['any amount', 12_50n, settled, settled],
    ['€ 666.01', 666_01n, rejected('AC04'), rejected('AC04')],
    ['€ 666.02', 666_02n, rejected('AM04'), rejected('AM04')],
    ['€ 666.03', 666_03n, rejected('RC01'), rejected('RC01')],
    ['€ 666.04', 666_04n, rejected('MS03'), rejected('MS03')],
    ['€ 666.05', 666_05n, rejected('AG01'), rejected('AG01')],
    ['€ 666.06', 666_06n, rejected('AC06'), rejected('AC06')],
    ['€ 666.07', 666_07n, pending, rejected('AB09')],
    ['€ 777.01', 777_01n, pending, settled],
    ['€ 777.02', 777_02n, 'late', 'late'],
    ['€ 777.03', 777_03n, 'late', settled],
    ['€ 777.04', 777_04n, 'late', rejected('AB05')],
    ['€ 777.05', 777_05n, 'unusable', settled],
    ['€ 777.06', 777_06n, pending, pending],
  ])('gives the same answers for %s however often it is asked', async (_, amount, first, anHourLater) => {
    for (let count = 0; count < 2; count++)
      expect(await rail.submit(payment(cents(amount)), call)).toEqual(first)
    expect(await rail.statusOf(payment(cents(amount), 3_600), call)).toEqual(anHourLater)
    expect(await rail.submit(payment(cents(amount), 3_600), call)).toEqual(first)
  })

  test.each([
    ['any amount', 12_50n, { status: 'accepted', reasonCode: 'FOCR' }],
    ['€ 888.01', 888_01n, { status: 'refused', reasonCode: 'CUST' }],
    ['€ 888.02', 888_02n, { status: 'refused', reasonCode: 'AC04' }],
    ['€ 888.03', 888_03n, pending],
    ['€ 888.04', 888_04n, 'late'],
  ])('answers a recall of %s', async (_, amount, answer) => {
    expect(await rail.recall(payment(cents(amount)), call)).toEqual(answer)
  })
})

describe('the reason code', () => {
  test.each(reasonCodes)('%s has a sentence', code => {
    expect(code).toMatch(REASON_CODE_PATTERN)
    expect(isoReasonOf(code)).toEqual({
      code,
      message: expect.stringMatching(/^(The|A|It|There|Required|Payments) .*\.$/),
    })
  })

  test('of an unknown kind has a sentence too, and a missing one is MS03', () => {
    expect(isoReasonOf('ZZ01')).toEqual({ code: 'ZZ01', message: 'The bank gives the reason ZZ01.' })
    expect(isoReasonOf(null).code).toBe('MS03')
    expect(reasonCodes.length).toBeGreaterThan(30)
  })
})
