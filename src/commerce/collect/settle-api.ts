import { z } from 'zod'
import { post } from '../../kernel/contract/operation.ts'
import { creditEvents } from '../../money/incoming/index.ts'
import { transactionEvents } from '../../money/transactions/index.ts'
import { id } from '../../values/ids.ts'
import { paymentEvents } from './events.ts'
import { lookupFails, openFails, PaymentRequestRecord } from './schemas.ts'

export const settleApi = {
  settle: post('/collect/requests/{id}/settle', {
    callers: ['key', 'agent'],
    scope: 'collect:write',
    summary: 'Settle a payment request',
    description:
      'Says which SEPA credit pays it, where the payer has left out or mistyped the reference: one that is in the wallet of the request and names nothing else. `incoming.received` told its `creditId`. It counts as if it had named the reference, in part or with a surplus. In test mode, without `creditId`, the sandbox bank sends what is due.',
    body: z.strictObject({
      creditId: id('credit').optional().meta({ description: 'Left out in test mode only.' }),
    }),
    example: {},
    returns: [200, PaymentRequestRecord],
    fails: {
      ...lookupFails,
      ...openFails,
      credit_required: [
        400,
        'creditId: name the credit that has come. Only in test mode the sandbox bank pays.',
      ],
      credit_not_found: [404, 'creditId: no such SEPA credit of yours.'],
      credit_not_in_wallet: [400, 'creditId: the credit is not in the wallet of the request.'],
      credit_pays_already: [400, 'creditId: the credit pays something already, and counts once.'],
    },
    emits: { ...paymentEvents, ...transactionEvents, ...creditEvents },
  }),
}
