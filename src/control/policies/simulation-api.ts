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
  .meta({ description: 'Allowed, sent to a person, or denied.', examples: ['allowed'] })

const Backtest = z
  .object({
    policyId: id('policy'),
    version: z.int(),
    from: instant,
    to: instant,
    agentId: id('agent').nullable(),
    decisions: z
      .int()
      .meta({ description: 'How many decisions were replayed: the sum of the five counts that follow.' }),
    same: Sum,
    newlyDenied: Sum,
    newlyAllowed: Sum,
    newlyToPerson: Sum,
    decidedBefore: Sum.meta({
      description:
        'Approvals by persons of spends that this policy would have denied, or allowed, when they were declared.',
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
          'The differences by the rule that makes them: it stops the spend now, or stopped it then.',
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
      .meta({ description: 'The amount that the merchant charges in the end.' }),
    merchant: z.string(),
    payeeIban: z
      .string()
      .nullable()
      .meta({ description: 'The account that is paid, if a list of the policy names one.' }),
    mcc: z.string().nullable(),
    country: z.string().nullable(),
    intentId: z.string().nullable(),
    attestedAt: instant.nullable().meta({ description: 'When a passkey approved it.' }),
    policyEndsAt: instant.nullable(),
    dayCents: moneySchema.meta({ description: 'Held and spent on that day so far.' }),
    monthCents: moneySchema.meta({ description: 'Held and spent in that month so far.' }),
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
      'Tells which decisions would have been different if agents had been under this policy. The decisions of each agent are replayed in order with the recorded request, funds, risk and state of the agent.\n\nCounters begin as recorded, and diverge from the record with each decision that differs: a spend that this policy denies leaves budget for later ones, a spend that it allows uses budget. A spend that was allowed and would be sent to a person counts as approved; a spend that a person denied stays denied. The first merchant, the policy’s end, the mandate that would allow it, and what other agents took of the owner’s budget are as recorded.',
    callers: ['key'],
    ...readAccess,
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
      agent_not_found: notFound('agent'),
      backtest_too_long: [400, 'Too many decisions for one answer: choose a shorter span, or one agent.'],
    },
  }),
  probe: post('/policies/{id}/probe', {
    limits: { oneAtATime: true },
    readsClock: true,
    summary: 'Show where each rule of a policy begins',
    description:
      'For each rule that is set, a spend that it stops and the nearest spend that it lets through, to the cent, the minute, the code. Both are decided by the code that decides real spends. Rules that contradict each other are listed as warnings.',
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
              stops: Probed.nullable().meta({ description: 'Null if it stops nothing.' }),
              passes: Probed.nullable().meta({ description: 'Null if it lets nothing through.' }),
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
