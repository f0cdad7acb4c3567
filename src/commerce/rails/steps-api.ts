import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { get, post } from '../../kernel/contract/operation.ts'
import { schemes } from '../../ports/sepa-rail.ts'
import { iban } from '../../values/iban.ts'
import { id } from '../../values/ids.ts'
import { positiveEuros } from '../../values/money.ts'
import { sepaTransferEvents } from '../transfers/index.ts'

/** Where a payment is that may wait for its file; null if it was never queued. */
const standing = [
  200,
  z.object({ standing: z.enum(['waiting', 'ordered', 'taken_out']).nullable() }),
] as const

/** Whether the next step may follow. */
const done = [200, z.object({ done: z.boolean() })] as const

const FileEvent = z.object({ fileId: id('sepafile'), messageId: z.string(), payments: z.int() })
const PaymentEvent = z.object({ transferId: id('transfer'), fileId: id('sepafile') })

/** The steps of the rail by files. Each may be repeated: a step that is not due changes nothing. */
export const stepsApi = {
  enqueue: post('/rails/sepa/queue/{ownerId}/{id}', {
    summary: 'Put a payment into the next file',
    callers: [],
    requires: 'sepaRail',
    body: z.strictObject({
      scheme: z.enum(schemes),
      endToEndId: z.string().max(35),
      amountEuros: positiveEuros(),
      payee: z.object({ name: z.string().max(140), iban, bic: z.string().max(11).nullable() }),
      reference: z.string().max(140).nullable(),
    }),
    example: {
      scheme: 'sct',
      endToEndId: '01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 12.5,
      payee: { name: 'Adler GmbH', iban: 'DE89 3704 0044 0532 0130 00', bic: null },
      reference: 'Invoice 4711',
    },
    returns: standing,
    emits: { 'sepa.payment_queued': event('A payment waits for the next file to the bank.', PaymentEvent) },
  }),
  standing: get('/rails/sepa/queue/{ownerId}/{id}', {
    summary: 'How a payment stands in the files',
    callers: [],
    returns: standing,
  }),
  takeOut: post('/rails/sepa/queue/{ownerId}/{id}/take-out', {
    summary: 'Take a payment out of its file as long as that takes more',
    callers: [],
    returns: standing,
    emits: {
      'sepa.payment_taken_out': event(
        'A payment has been taken out of a file that has not left.',
        PaymentEvent,
      ),
    },
  }),
  /** Makes the file at its cut-off; from then on its content never changes. */
  make: post('/rails/sepa/files/{id}/make', {
    summary: 'Make a file',
    callers: [],
    requires: 'sepaRail',
    returns: done,
    emits: {
      'sepa.file_made': event('A file for the bank has been made.', FileEvent),
      'sepa.file_empty': event(
        'The cut-off of a file for the bank has passed with nothing in it.',
        FileEvent,
      ),
    },
  }),
  stage: post('/rails/sepa/files/{id}/stage', {
    summary: 'Lay a file down for the bank',
    callers: [],
    run: 'outside',
    requires: 'sepaRail',
    returns: done,
    emits: {
      'sepa.file_staged': event(
        'A file for the bank has been laid down, and is not given out yet.',
        FileEvent,
      ),
    },
  }),
  release: post('/rails/sepa/files/{id}/release', {
    summary: 'Let the bank have a file',
    callers: [],
    run: 'outside',
    requires: 'sepaRail',
    returns: done,
    emits: { 'sepa.file_handed_over': event('A file is where the bank’s client fetches it.', FileEvent) },
  }),
  tell: post('/rails/sepa/notices/{id}/tell', {
    summary: 'Let a transfer follow what the bank has told of it',
    callers: [],
    returns: done,
    emits: sepaTransferEvents,
  }),
}
