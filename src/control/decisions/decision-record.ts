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

export const DecisionRecord = z
  .object({
    id: id('decision'),
    allowed: z.boolean(),
    requiresApproval: z.boolean(),
    reason: z.string().meta({ examples: [message] }),
    policyId: id('policy').nullable(),
    policyVersion: z.int().nullable(),
    riskScore: z.number().nullable(),
    checks: z.array(CheckRecord),
  })
  .meta({ id: 'Decision' })
