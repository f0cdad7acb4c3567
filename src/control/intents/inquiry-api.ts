import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { get, notFound, post } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { labelSchema } from '../../values/schemas.ts'
import { ruleOutcomes } from '../rules/index.ts'
import { IntentEvent, intentUseRefusals } from './schemas.ts'

const intent_not_found = notFound('intent')

const VerificationEvent = IntentEvent.extend({
  actualAmountCents: moneySchema,
  actualMerchant: z.string().max(200),
  mismatches: z.array(z.enum(['amount', 'merchant'])),
})

export const intentInquiryApi = {
  verify: post('/intents/{id}/verify', {
    summary: 'Compare a charge with its approval',
    tool: {
      name: 'verify_payment',
      isCommon: true,
      use: 'Use it after paying: send the amount that was charged and the merchant. It says whether that matches the approval.',
    },
    description:
      'The amount may be lower than declared, or higher by the policy’s tolerance at the approval. Merchants are compared as in policy lists: URLs by their host, names in any case. A mismatch is returned and emitted as `verification.mismatch`; the intent does not change.',
    callers: ['key', 'agent'],
    scope: 'intents:write',
    body: z.strictObject({ actualAmountCents: moneySchema, actualMerchant: labelSchema }),
    example: { actualAmountEuros: 30, actualMerchant: 'Bookshop' },
    returns: [
      200,
      z.object({
        verified: z.boolean(),
        mismatches: z.array(
          z.object({
            field: z.enum(['amount', 'merchant']),
            message: z
              .string()
              .meta({ examples: ['€ 30.00 was charged, but at most € 26.25 was approved.'] }),
          }),
        ),
      }),
    ],
    fails: {
      intent_not_found,
      ...intentUseRefusals,
      intent_not_approved: [400, 'Only an approved intent can be compared with a charge.'],
    },
    emits: {
      'verification.mismatch': declareEvent(
        'The charge differs from the approved intent.',
        VerificationEvent,
      ),
    },
  }),
  explanation: get('/intents/{id}/explanation', {
    summary: 'Explain the decision about an intent',
    tool: {
      name: 'explain_refusal',
      isCommon: true,
      use: 'Use it when an intent was denied or waits: each rule with its result, and the change that would lead to an approval. Tell the person; do not try to bypass a rule.',
    },
    description:
      'Explains every rule: its result in the latest decision, and the change that would lead to an approval.',
    callers: ['key', 'agent'],
    scope: 'intents:read',
    returns: [
      200,
      z.object({
        intentId: id('intent'),
        decisionId: id('decision'),
        decidedAt: instant,
        summary: z.string().meta({
          examples: ['The intent waits for a person: € 25.00 is above the auto-approve limit of € 10.00.'],
        }),
        policy: z
          .object({
            policyId: id('policy'),
            version: z.int(),
            changedSince: z.boolean(),
          })
          .nullable(),
        note: z.string().nullable().meta({
          description:
            'Whether the policy has changed since the decision, or had changed before a person approved.',
        }),
        rules: z.array(
          z.object({
            rule: z.string().meta({ examples: ['dailyLimitEuros'] }),
            outcome: z.enum(ruleOutcomes),
            message: z.string(),
            remedy: z.string().nullable(),
          }),
        ),
      }),
    ],
    fails: { intent_not_found },
  }),
}
