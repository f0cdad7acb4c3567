import { z } from 'zod'
import { notFound, post } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { ruleOutcomes, spendVerdicts } from '../rules/index.ts'

const policy_not_found = notFound('policy')

const readAccess = { scope: 'policies:read', run: 'read' } as const

const Sum = z.object({ count: z.int(), amountCents: moneySchema }).meta({ id: 'BacktestSum' })

const verdict = z
  .enum(spendVerdicts)
  .meta({ description: 'Whether the spend is allowed, sent to a person, or denied.', examples: ['allowed'] })

const Backtest = z
  .object({
    policyId: id('policy'),
    version: z.int(),
    from: instant,
    to: instant,
    agentId: id('agent').nullable(),
    decisions: z
      .int()
      .meta({ description: 'Number of replayed decisions: the sum of the five counts that follow.' }),
    same: Sum,
    newlyDenied: Sum,
    newlyAllowed: Sum,
    newlyToPerson: Sum,
    decidedBefore: Sum.meta({
      description:
        'Spends that a person approved and this policy would have denied, or allowed, at declaration.',
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
      .meta({
        description:
          'The differences by the rule that causes them: it stops the spend now, or stopped it then.',
      }),
    examples: z
      .array(
        z.object({
          decisionId: id('decision'),
          agentId: id('agent'),
          subjectType: z.string().meta({ examples: ['intent'] }),
          subjectId: z.string(),
          at: instant,
          amountCents: moneySchema,
          merchant: z.string(),
          was: verdict,
          now: verdict,
          rule: z.string(),
          wasReason: z.string(),
          reason: z.string(),
        }),
      )
      .max(100)
      .meta({ description: 'The first hundred differences, agent by agent.' }),
  })
  .meta({ id: 'Backtest' })

const Situation = z
  .object({
    kind: z.enum(['intent', 'card', 'payment']),
    at: instant,
    amountCents: moneySchema,
    chargedCents: moneySchema
      .nullable()
      .meta({ description: 'The amount that the merchant finally charges.' }),
    merchant: z.string(),
    payeeIban: z
      .string()
      .nullable()
      .meta({ description: 'The paid account, if a list of the policy names one.' }),
    mcc: z.string().nullable(),
    country: z.string().nullable(),
    intentId: z.string().nullable(),
    attestedAt: instant.nullable().meta({ description: 'The time at which a passkey approved the spend.' }),
    policyEndsAt: instant.nullable(),
    dayCents: moneySchema.meta({ description: 'Amount held and spent on that day so far.' }),
    monthCents: moneySchema.meta({ description: 'Amount held and spent in that month so far.' }),
    uses: z.int(),
    lastSpendAt: instant.nullable(),
    firstMerchant: z.string().nullable(),
  })
  .meta({ id: 'ProbedSituation' })

const Probed = z
  .object({
    situation: Situation,
    outcome: z.enum(ruleOutcomes).meta({ description: 'The outcome of this rule.' }),
    message: z.string(),
    verdict: verdict.meta({ description: 'The verdict of all rules together.' }),
    reason: z.string(),
  })
  .meta({ id: 'Probe' })

export const policySimulationApi = {
  backtest: post('/policies/{id}/backtest', {
    limits: { oneAtATime: true },
    summary: 'Replay past decisions under a policy',
    description:
      'Shows which decisions would have been different under this policy. Each agent’s decisions are replayed in order, with the recorded request, funds, risk and state.\n\nCounters begin as recorded, and diverge with each decision that differs. A spend that would now be sent to a person counts as approved; one that a person denied stays denied. The first merchant, the policy’s expiry, mandates and other agents’ use of the budget are as recorded.',
    callers: ['key'],
    ...readAccess,
    body: z
      .strictObject({
        from: instant.meta({ description: 'Only decisions at or after this time.' }),
        to: instant.meta({ description: 'Only decisions before this time.' }),
        agentId: id('agent').optional().meta({ description: 'Only decisions about this agent.' }),
      })
      .refine(({ from, to }) => from < to, { path: ['to'], error: 'must be later than from' }),
    example: { from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' },
    returns: [200, Backtest],
    fails: {
      policy_not_found,
      agent_not_found: notFound('agent'),
      backtest_too_long: [400, 'Too many decisions for one answer: choose a shorter span, or one agent.'],
    },
  }),
  probe: post('/policies/{id}/probe', {
    limits: { oneAtATime: true },
    readsClock: true,
    summary: 'Show the boundary of each rule of a policy',
    description:
      'Returns, for each rule that is set, a spend that it stops and the nearest spend that it lets through, to the cent, the minute or the code. The code that decides real spends decides both. Rules that contradict each other are listed as warnings.',
    callers: ['key', 'agent'],
    ...readAccess,
    returns: [
      200,
      z
        .object({
          policyId: id('policy'),
          version: z.int(),
          rules: z.array(
            z.object({
              rule: z.string().meta({ examples: ['maxTransactionEuros'] }),
              stops: Probed.nullable().meta({
                description: 'A spend that the rule stops. Null if there is none.',
              }),
              passes: Probed.nullable().meta({
                description: 'The nearest spend that the rule lets through. Null if there is none.',
              }),
            }),
          ),
          warnings: z.array(
            z.object({
              fields: z.array(z.string()),
              message: z.string().meta({
                examples: [
                  'The daily limit of € 50.00 has no effect: the monthly limit of € 20.00 is lower.',
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
