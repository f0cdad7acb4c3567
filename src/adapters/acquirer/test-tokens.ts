import { z } from 'zod'
import type { AcceptedToken, ChargeOutcome } from '../../ports/acquirer.ts'

export interface CardToken {
  readonly number: string
  readonly expMonth: number
  readonly expYear: number
  readonly cryptogram: string
}

const Token = z.object({
  token: z.object({
    paymentToken: z.string().regex(/^\d{12,19}$/),
    tokenExpirationMonth: z.string().regex(/^(0?[1-9]|1[0-2])$/),
    tokenExpirationYear: z.string().regex(/^(20)?\d{2}$/),
  }),
  dynamicData: z.object({ dynamicDataValue: z.string().max(1_000) }),
})

/** The problem names the member and never quotes the input. */
export function parseCardToken(plain: unknown): CardToken | { readonly refused: string } {
  const { data, error } = Token.safeParse(plain)
  if (!data) {
    const member = error.issues[0]?.path.join('.') || 'the token'
    return { refused: `The token cannot be read: ${member} is missing or wrong.` }
  }
  const { paymentToken, tokenExpirationMonth, tokenExpirationYear } = data.token
  return {
    number: paymentToken,
    expMonth: Number(tokenExpirationMonth),
    expYear: 2_000 + (Number(tokenExpirationYear) % 100),
    cryptogram: data.dynamicData.dynamicDataValue,
  }
}

interface TestToken {
  readonly name: string
  readonly network: string
  readonly charged: ChargeOutcome
  readonly known: ChargeOutcome
}

const APPROVED: ChargeOutcome = { outcome: 'approved' }
const LATE: ChargeOutcome = { outcome: 'late' }
const UNUSABLE: ChargeOutcome = { outcome: 'unusable' }

const declined = (code: string, reason: string): ChargeOutcome => ({ outcome: 'declined', code, reason })
const CARD_DECLINED = declined('card_declined', 'The card’s issuer declined the payment.')
const NO_FUNDS = declined('insufficient_funds', 'The card has insufficient funds.')
const EXPIRED = declined('expired_token', 'The token has expired.')

const always = (outcome: ChargeOutcome) => ({ charged: outcome, known: outcome })

const byNumber: ReadonlyMap<string, TestToken> = new Map([
  ['4242424242424242', { name: 'approved', network: 'visa', ...always(APPROVED) }],
  ['5555555555554444', { name: 'approved-mastercard', network: 'mastercard', ...always(APPROVED) }],
  ['4000000000000002', { name: 'declined', network: 'visa', ...always(CARD_DECLINED) }],
  ['4000000000009995', { name: 'no-funds', network: 'visa', ...always(NO_FUNDS) }],
  ['4000000000000119', { name: 'late', network: 'visa', charged: LATE, known: APPROVED }],
  ['4000000000000341', { name: 'late-declined', network: 'visa', charged: LATE, known: CARD_DECLINED }],
  ['4000000000000127', { name: 'silent', network: 'visa', ...always(LATE) }],
  ['4000000000000101', { name: 'garbled', network: 'visa', charged: UNUSABLE, known: APPROVED }],
])

const byName = new Map([...byNumber.values()].map(token => [token.name, token]))

const HANDLE = /^test (?<name>[a-z-]+) (?<year>\d{4})-(?<month>\d{2})$/

export function acceptTestToken({ number, expYear, expMonth }: CardToken): AcceptedToken | null {
  const known = byNumber.get(number)
  if (!known) return null
  const handle = `test ${known.name} ${expYear}-${String(expMonth).padStart(2, '0')}`
  return { handle, network: known.network, last4: number.slice(-4) }
}

export function testTokenByHandle(handle: string, now: Date): Pick<TestToken, 'charged' | 'known'> | null {
  const { name = '', year, month } = HANDLE.exec(handle)?.groups ?? {}
  const known = byName.get(name)
  if (!known) return null
  return Date.UTC(Number(year), Number(month)) > now.getTime() ? known : always(EXPIRED)
}
