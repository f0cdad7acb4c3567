import { z } from 'zod'
import { authorizationEvents } from '../../cards/authorizations/index.ts'
import { post } from '../../kernel/contract/operation.ts'
import { withoutCardNumbers } from '../../values/card-number.ts'
import { id } from '../../values/ids.ts'

export const confirmApi = {
  confirm: post('/checkout/confirm', {
    summary: 'Confirm that an intent was paid',
    description:
      'For an agent, or whoever filled in the payment form for it, once the shop has taken the payment. The intent is completed, and what is held for it is captured. The card network tells of the same payment by itself, before or after: both are one transaction. A confirmation that the network never follows is refunded in full after 31 days.',
    callers: ['key', 'agent'],
    scope: 'checkout:write',
    run: 'hot',
    http: { keyRequired: true },
    body: withoutCardNumbers(z.strictObject({ intentId: id('intent') })),
    example: { intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [
      200,
      z
        .object({
          status: z.literal('completed'),
          intentId: id('intent'),
          transactionId: id('txn'),
        })
        .meta({ id: 'CheckoutConfirmation' }),
    ],
    fails: {
      intent_not_found: [404, 'intentId: no such intent.'],
      intent_not_approved: [400, 'intentId: only an approved intent can be paid, and once.'],
      intent_being_paid: [
        400,
        'intentId: a transfer or a machine payment on it is under way, which no checkout confirms.',
      ],
      intent_confirmed: [400, 'intentId: its payment has been confirmed already.'],
      intent_expired: [400, 'intentId: its deadline has passed. Declare it again.'],
      intent_other_payee: [
        400,
        'intentId: its payee is a wallet or a beneficiary. Pay it by POST /checkout/execute or POST /transfers.',
      ],
      intent_other_merchant: [
        400,
        'intentId: the agent pays only the merchant that it has paid first, and the intent is for another one.',
      ],
      agent_not_active: [400, 'The agent is frozen or being deleted: it cannot spend.'],
    },
    emits: authorizationEvents,
  }),
}
