import { z } from 'zod'
import { creditSources, unmatchedReasons } from '../../iso20022/credit.ts'
import { post } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { positiveEuros } from '../../values/money.ts'
import { payableMembers } from '../references/index.ts'
import { arrivalEvents } from './events.ts'

const text = z.string().max(140).nullable()

const ArrivingCredit = z.object({
  id: id('credit'),
  walletId: id('wallet'),
  amountEuros: positiveEuros(),
  reason: z.enum(unmatchedReasons).nullable(),
  source: z.enum(creditSources),
  origin: z.string().max(140),
  bankReference: z.string().max(140),
  part: z.int(),
  iban: text,
  reference: text,
  senderName: text,
  senderIban: text,
  endToEndId: text,
  valueDate: z.iso.date().max(10),
  fromOwnerId: text,
  fromWalletId: text,
  ...payableMembers,
})

const done = [200, z.object({ done: z.boolean() })] as const

const exampleCredit: z.input<typeof ArrivingCredit> = {
  id: 'credit_01jd8x2m4ye7k9v0c3q5r6t8wz',
  walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
  amountEuros: 250,
  reason: null,
  source: 'bank',
  origin: 'DE89370400440532013000',
  bankReference: '2026112000017',
  part: 0,
  iban: null,
  reference: 'RF54 0000 0000 42',
  senderName: 'Adler GmbH',
  senderIban: null,
  endToEndId: null,
  valueDate: '2026-11-20',
  fromOwnerId: null,
  fromWalletId: null,
  payableType: null,
  payableId: null,
}

/** What was handed over to an owner, as an operation that books it takes it. */
export const arrivals = {
  callers: [] as const,
  returns: done,
  body: z.strictObject({ credits: z.array(ArrivingCredit).min(1).max(10_000) }),
  example: { credits: [exampleCredit] },
}

/**
 * The steps by which money of the platform, or of another owner, comes to an owner. Each may be repeated: what is booked is
 * not booked again.
 */
export const incomingSteps = {
  arrive: post('/billing/incoming/arrivals', {
    summary: 'Book what the platform or another owner has handed over',
    ...arrivals,
    emits: arrivalEvents,
  }),
  finish: post('/billing/incoming/{id}/finish', {
    summary: 'Book a credit whose hand-over was interrupted',
    callers: [],
    returns: done,
  }),
}
