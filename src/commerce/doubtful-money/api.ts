import { z } from 'zod'
import { list } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { doubtfulMoneyKinds } from './doubt.ts'

const mode = z.enum(['test', 'live'])
const kind = z.enum(doubtfulMoneyKinds)

const VerbRecord = z.object({
  verb: z.string().meta({ examples: ['paid'] }),
  by: z.enum(['owner', 'operator']).meta({ description: '`operator`: with the dashboard secret.' }),
  call: z.string().meta({
    examples: ['POST /v1/mpp/credentials/mppcredential_01jd8x2m4ye7k9v0c3q5r6t8wz/resolve'],
  }),
  isUpdate: z.boolean().meta({
    description: 'Whether the run in Temporal takes it as an Update and a Signal of this name, too.',
  }),
})

const DoubtfulMoneyRecord = z
  .object({
    id: z.string().meta({
      description: 'The record that holds the money.',
      examples: ['mppcredential_01jd8x2m4ye7k9v0c3q5r6t8wz'],
    }),
    ownerId: id('customer').meta({ description: 'Of a file for the bank: the platform.' }),
    mode,
    kind: kind.meta({
      description:
        '`transfer`: submitted by SEPA. `machine_payment`: its outcome is `indeterminate`. `charge`: of a payer’s card, for a payment request. `refund`: requested from a merchant. `request_refund`: of a payment request, to the payer’s card. `dispute`: a call about it is unanswered. `sepa_file`: handed over to the bank, without a report.',
    }),
    amountCents: moneySchema,
    since: instant.meta({ description: 'Since when the outcome is unknown, by the owner’s clock.' }),
    known: z
      .string()
      .meta({ description: 'What is known.', examples: ['The merchant’s answer does not say.'] }),
    verbs: z.array(VerbRecord).max(5).meta({
      description:
        'What a person can do to end it. Empty: only the answer ends it, and the service asks for it.',
    }),
    workflowId: z
      .string()
      .nullable()
      .meta({
        description: 'The run’s ID in the Temporal Web UI.',
        examples: ['mpp/mppcredential_01jd8x2m4ye7k9v0c3q5r6t8wz'],
      }),
  })
  .meta({ id: 'DoubtfulMoney' })

export const doubtfulMoneyApi = {
  list: list('/doubtful-money', {
    summary: 'List money whose outcome is unknown',
    tool: {
      name: 'list_doubtful_money',
      isCommon: true,
      use: 'Use it before you pay or refund again: it lists payments, refunds and disputes whose outcome is unknown, and what a person can do to end each.',
    },
    description:
      'What was sent to a bank, a merchant, an acquirer or a card processor and has no outcome yet, the oldest first: the money is held, or has left the wallet. An entry goes when the outcome arrives, or when a person decides (`verbs`).\n\nWith the dashboard secret, that of all owners and the files for the bank: filter with `ownerId` and `mode`.',
    callers: ['key', 'dash'],
    scope: 'transactions:read',
    filters: { kind: kind.optional(), ownerId: id('customer').optional(), mode: mode.optional() },
    item: DoubtfulMoneyRecord,
  }),
}
