import { z } from 'zod'
import { id } from '../../values/ids.ts'
import { checkOutcomes } from '../rules/index.ts'

const message = '€ 25.00 is within the limit of € 50.00 up to which no person is asked.'

const CheckRecord = z.object({
  rule: z.string().meta({ examples: ['autoApproveLimitEuros'] }),
  outcome: z.enum(checkOutcomes),
  limit: z.number().nullable(),
  used: z.number().nullable(),
  remaining: z.number().nullable(),
  message: z.string().meta({ examples: [message] }),
})

const left = (what: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `${what} Null: it sets no such limit.` })

const MandateInDecision = z.object({
  id: id('mandate'),
  name: z.string().nullable(),
  expiresAt: z.string().meta({ format: 'date-time' }),
  perTransactionEuros: left('The most for one payment.'),
  dayLeftEuros: left('What it has left today.'),
  monthLeftEuros: left('What it has left this month.'),
  totalLeftEuros: left('What it has left in all.'),
  countLeft: left('How many payments it has left.'),
})

export const DecisionRecord = z
  .object({
    id: id('decision'),
    allowed: z.boolean(),
    requiresApproval: z.boolean(),
    reason: z.string().meta({ examples: [message] }),
    policyId: id('policy').nullable(),
    policyVersion: z.int().nullable(),
    riskScore: z.number().nullable(),
    mandate: MandateInDecision.nullable().optional().meta({
      description:
        'The mandate that approves it in place of a person, with what is left once this intent is counted. Null: none does. Decisions of earlier versions do not have it.',
    }),
    checks: z.array(CheckRecord),
  })
  .meta({ id: 'Decision' })
