import { z } from 'zod'
import { list } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import type { JsonOf } from '../../values/json-names.ts'
import { moneySchema } from '../../values/money.ts'
import { AgentRecord } from '../agents/index.ts'

const period = (limits: string) =>
  z.object({
    limitCents: moneySchema
      .nullable()
      .meta({ description: `${limits} of the agent’s policy. Null if it has none.` }),
    heldCents: moneySchema.meta({
      description: 'Amount reserved for approved intents that are not paid yet.',
    }),
    spentCents: moneySchema,
    remainingCents: moneySchema.nullable().meta({ description: 'Amount left. Null if there is no limit.' }),
  })

const AgentUsageRecord = z
  .object({
    id: id('agent'),
    name: z.string(),
    status: z.string(),
    policyId: id('policy').nullable(),
    walletId: id('wallet'),
    availableCents: moneySchema.meta({ description: 'Available balance of the agent’s wallet.' }),
    heldCents: moneySchema.meta({ description: 'Amount held in the agent’s wallet.' }),
    day: period('The daily limit (UTC)'),
    month: period('The monthly limit (UTC)'),
    lastSpendAt: instant.nullable().meta({
      description: 'The time at which money was last held or paid for the agent. Null if never.',
    }),
  })
  .meta({ id: 'AgentUsage' })

export const agentUsageApi = {
  usage: list('/policies/usage', {
    readsClock: true,
    summary: 'List what each agent has used of its limits',
    tool: {
      name: 'get_budgets',
      isCommon: true,
      use: 'Use it to see what is left of each limit for the day, the month and in total.',
    },
    description:
      'For every agent, newest first: what it has spent today and this month, what is reserved, and what its own policy and its wallet leave. Budgets above and below the policy (`GET /budget`, runs, delegations, tokens, mandates, cards) may leave less.',
    callers: ['key', 'agent'],
    scope: 'policies:read',
    filters: { status: AgentRecord.shape.status.optional(), agentId: id('agent').optional() },
    item: AgentUsageRecord,
  }),
}

export type AgentUsage = JsonOf<typeof AgentUsageRecord>
