import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { list, post } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { euros, positiveEuros } from '../../values/money.ts'
import { recordFails } from '../ledger/index.ts'

const mode = z.enum(['test', 'live'])

const reference = z
  .string()
  .trim()
  .min(1)
  .max(60)
  .meta({ description: 'Under which the bank has paid it.', examples: ['OUT-2026-0003'] })

const members = {
  ownerId: id('customer'),
  mode,
  suspenseEuros: euros.meta({ description: 'What lies on the account.' }),
  creditsEuros: euros.meta({
    description: 'Of it, what incoming credits have brought that wait: they are assigned, or sent back.',
  }),
  freeEuros: euros.meta({
    description:
      'The rest: refunds and returns of payments for which no wallet of the owner was open. It can be paid out.',
  }),
}

const SuspenseRecord = z.object({ id: id('account'), ...members }).meta({ id: 'SuspenseAccount' })

const PaidOutEvent = z.object({
  payoutId: reference,
  amountEuros: euros,
  freeEuros: euros,
})

/** What the operator does with money that has come back to owners who have no wallet any more. */
export const suspenseApi = {
  suspense: list('/billing/suspense', {
    callers: ['dash'],
    summary: 'List suspense accounts with money',
    description:
      'Of all owners. What waits there is nobody’s to keep: incoming credits are assigned or sent back, and the rest belongs to the owner, also to one who was forgotten.',
    item: SuspenseRecord,
  }),
  payOut: post('/billing/suspense/payouts', {
    callers: ['dash'],
    summary: 'Record what was paid out of a suspense account',
    description:
      'A refund, the outcome of a dispute or a returned transfer that came when no wallet of the owner was open. It belongs to the owner: the operator has the bank pay it to them, and this books it. The same reference counts once: with the same owner and amount it is answered again, with others it is refused.',
    body: z.strictObject({
      ownerId: id('customer'),
      mode: mode.default('live'),
      amountEuros: positiveEuros(),
      reference,
    }),
    example: {
      ownerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz',
      mode: 'test',
      amountEuros: 30,
      reference: 'OUT-2026-0003',
    },
    returns: [200, z.object(members).meta({ id: 'SuspenseBalance' })],
    fails: {
      ...recordFails,
      beyond_suspense: [400, 'amountEuros: so much is not there to be paid out.'],
    },
    emits: {
      'suspense.paid_out': event(
        'Money that had come back when no wallet was open was paid out to its owner.',
        PaidOutEvent,
      ),
    },
  }),
}
