import { z } from 'zod'
import { missing, post } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { outcomes, verdicts } from '../rules/index.ts'

const policy_not_found = missing('policy')

const reading = { scope: 'policies:read', readOnly: true } as const

const Sum = z.object({ count: z.int(), amountEuros: euros }).meta({ id: 'BacktestSum' })

const verdict = z
  .enum(verdicts)
  .meta({ description: 'Let through, left to a person, or refused.', examples: ['allowed'] })

const Backtest = z
  .object({
    policyId: id('policy'),
    version: z.int(),
    from: instant,
    to: instant,
    agentId: id('agent').nullable(),
    decisions: z.int().meta({ description: 'How many were replayed: the sum of the five that follow.' }),
    same: Sum,
    newlyDenied: Sum,
    newlyAllowed: Sum,
    newlyToPerson: Sum,
    decidedBefore: Sum.meta({
      description:
        'Approvals by persons of what this policy had denied, or let through, when it was declared.',
    }),
    byRule: z
      .array(
        z.object({
          rule: z.string().meta({ examples: ['dailyLimitEuros'] }),
          newlyDenied: Sum,
          newlyAllowed: Sum,
          newlyToPerson: Sum,
        }),
      )
      .meta({ description: 'The rule that is against it now, or was against it then.' }),
    examples: z
      .array(
        z.object({
          decisionId: id('decision'),
          agentId: id('agent'),
          subjectType: z.string().meta({ examples: ['intent'] }),
          subjectId: z.string(),
          at: instant,
          amountEuros: euros,
          merchant: z.string(),
          was: verdict,
          now: verdict,
          rule: z.string(),
          wasReason: z.string(),
          reason: z.string(),
        }),
      )
      .max(100)
      .meta({ description: 'The first hundred of what differs, agent by agent.' }),
  })
  .meta({ id: 'Backtest' })

const Situation = z
  .object({
    kind: z.enum(['intent', 'card', 'payment']),
    at: instant,
    amountEuros: euros,
    chargedEuros: euros.nullable().meta({ description: 'What a merchant charges in the end.' }),
    merchant: z.string(),
    payeeIban: z
      .string()
      .nullable()
      .meta({ description: 'The account that is paid, where a list names one.' }),
    mcc: z.string().nullable(),
    country: z.string().nullable(),
    intentId: z.string().nullable(),
    attestedAt: instant.nullable().meta({ description: 'When a passkey has approved it.' }),
    policyEndsAt: instant.nullable(),
    dayEuros: euros.meta({ description: 'Held and spent on that day before.' }),
    monthEuros: euros.meta({ description: 'Held and spent in that month before.' }),
    uses: z.int(),
    lastSpendAt: instant.nullable(),
    firstMerchant: z.string().nullable(),
  })
  .meta({ id: 'ProbedSituation' })

const Probed = z
  .object({
    situation: Situation,
    outcome: z.enum(outcomes).meta({ description: 'What this rule says.' }),
    message: z.string(),
    verdict: verdict.meta({ description: 'What all rules together say.' }),
    reason: z.string(),
  })
  .meta({ id: 'Probe' })

export const whatIfApi = {
  backtest: post('/policies/{id}/backtest', {
    summary: 'Replay past decisions under a policy',
    description:
      'What would have been decided otherwise, had agents been under this policy. The decisions of each agent are replayed in order with what they were made by: the request, the funds, the risk and the agent’s state are as they were recorded. Counters begin as they were recorded, and part from the record with each spend that is decided otherwise: what this policy denies leaves room for what comes later, what it lets through takes room. What went through then and would be left to a person now is taken as approved; what a person turned down stays so. The first merchant, the policy’s end, and what other agents took of the owner’s budget are as recorded.',
    callers: ['key'],
    ...reading,
    body: z
      .strictObject({
        from: instant.meta({ description: 'Decisions of this instant or later …' }),
        to: instant.meta({ description: '… and before this one.' }),
        agentId: id('agent').optional().meta({ description: 'Only those of this agent.' }),
      })
      .refine(({ from, to }) => from < to, { path: ['to'], error: 'must be later than from' }),
    example: { from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' },
    returns: [200, Backtest],
    fails: {
      policy_not_found,
      agent_not_found: missing('agent'),
      backtest_too_long: [
        400,
        'These are too many decisions for one answer: name a shorter span or an agent.',
      ],
    },
  }),
  probe: post('/policies/{id}/probe', {
    summary: 'Show where each rule of a policy begins',
    description:
      'For each rule that is set, something that it stops and the nearest that it lets through, to the cent, the minute, the code: both are put to the same decision that spending goes through. What contradicts itself is told as a warning.',
    callers: ['key', 'agent'],
    ...reading,
    returns: [
      200,
      z
        .object({
          policyId: id('policy'),
          version: z.int(),
          rules: z.array(
            z.object({
              rule: z.string().meta({ examples: ['maxTransactionEuros'] }),
              stops: Probed.nullable().meta({ description: 'Null where it stops nothing.' }),
              passes: Probed.nullable().meta({ description: 'Null where it lets nothing through.' }),
            }),
          ),
          warnings: z.array(
            z.object({
              fields: z.array(z.string()),
              message: z.string().meta({
                examples: [
                  'The daily limit of € 50.00 has no effect: the monthly limit of € 20.00 is reached before.',
                ],
              }),
            }),
          ),
        })
        .meta({ id: 'PolicyProbe' }),
    ],
    fails: { policy_not_found },
  }),
}
