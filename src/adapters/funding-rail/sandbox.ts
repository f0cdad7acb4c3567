import type { ChargeState, FundingCharge, FundingInstrument, FundingRail } from '../../ports/funding-rail.ts'
import { addMs, clock, days } from '../../values/clock.ts'

const instruments: ReadonlyMap<string, Omit<FundingInstrument, 'token'>> = new Map([
  ['tok_visa', { kind: 'card', brand: 'visa', last4: '4242' }],
  ['tok_mastercard', { kind: 'card', brand: 'mastercard', last4: '4444' }],
  ['tok_declined', { kind: 'card', brand: 'visa', last4: '0002' }],
  ['tok_sepa_debit', { kind: 'sepa_debit', brand: null, last4: '3000' }],
])

const failed = (code: string, message: string): ChargeState => ({
  status: 'failed',
  reason: { code, message },
})

const SETTLED: ChargeState = { status: 'settled' }
const DECLINED = failed('declined', 'The payer’s bank declined.')

interface Seen {
  readonly madeAt: Date
  readonly now: Date
  readonly reference: string
}

const within =
  (count: number, before: (seen: Seen, end: Date) => ChargeState, then: ChargeState) =>
  (seen: Seen): ChargeState => {
    const end = addMs(seen.madeAt, days(count))
    return seen.now < end ? before(seen, end) : then
  }

const pending = (_: Seen, askAgainAt: Date): ChargeState => ({ status: 'pending', askAgainAt })

const redirect = ({ reference }: Seen, askAgainAt: Date): ChargeState => ({
  status: 'requires_action',
  nextAction: { type: 'redirect', url: `https://processor.example/authenticate/${reference}` },
  askAgainAt,
})

/** By the amount in cents. Documented at the funding operation. */
const magic: ReadonlyMap<bigint, (seen: Seen) => ChargeState> = new Map([
  [1301n, () => failed('insufficient_funds', 'The payer’s account has insufficient funds.')],
  [1302n, () => failed('expired_card', 'The card has expired.')],
  [1303n, within(1, redirect, failed('action_not_completed', 'The payer did not confirm in time.'))],
  [1304n, within(2, pending, SETTLED)],
  [1305n, within(2, pending, failed('debit_refused', 'The payer’s bank refused the debit.'))],
  [1306n, ({ now, madeAt }) => (now > madeAt ? SETTLED : { status: 'unknown' })],
  [1307n, () => ({ status: 'unknown' })],
])

function stateAt({ token, amountCents, madeAt }: FundingCharge, reference: string, now: Date): ChargeState {
  if (token === 'tok_declined') return DECLINED
  return magic.get(amountCents)?.({ madeAt, now, reference }) ?? SETTLED
}

/** A simulated processor. It stores nothing: a charge's state follows from its amount and the time. */
export const sandboxFundingRail = (): FundingRail => ({
  name: 'sandbox',
  setUp: async (_, { reference }) => ({
    url: `https://processor.example/setup/${reference}`,
    token: 'tok_visa',
    expiresAt: addMs(clock.real(), days(1)),
  }),
  async instrumentOf(token) {
    const instrument = instruments.get(token)
    return instrument ? { ...instrument, token } : 'unknown'
  },
  forget: async () => 'forgotten',
  erase: async () => 'erased',
  charge: async (charge, { reference }) => stateAt(charge, reference, charge.madeAt),
  stateOf: async (charge, { reference, now }) => stateAt(charge, reference, now),
  returnsSince: async () => [],
  recognizes: () => false,
  read: async () => ({ kind: 'unsigned', reason: 'The sandbox sends no notices.' }),
})
