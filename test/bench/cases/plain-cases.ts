import type { Case, Request } from '../case.ts'
import { cancellingAlone } from '../database/cancel-alone.ts'
import { AGENTS, addApproved } from '../database/intent-rows.ts'
import { FREEZABLE, fillPlain, removeWebhooks, thawAgents } from '../database/plain-rows.ts'
import { policyCreatedAlone, policyReadAlone } from '../database/policy-alone.ts'
import { note } from '../echo.ts'
import type { Ask } from '../load.ts'
import { newOwner, type Stage } from '../stage.ts'

/** More than are cancelled in one measurement. */
const APPROVED = 6_000
/** Each may have a thousand subscriptions. */
const SUBSCRIBERS = 16

const anyAgent = { from: 1, to: AGENTS }

export const policy = {
  name: 'Research budget',
  maxTransactionEuros: 250,
  dailyLimitEuros: 500,
  mccCategories: ['software', 'publishing'],
  allowedCountries: ['DE', 'FR'],
  requireIntent: true,
}

type PlainRequest = Omit<Request, 'token'>

interface PlainCase extends Pick<Case, 'name' | 'title' | 'alone'> {
  request(): Promise<PlainRequest> | PlainRequest
}

/** The pipeline without a database, then ten operations that are like most others. */
export async function plainCases(stage: Stage): Promise<Case[]> {
  await fillPlain(stage)
  const { api: server, token } = stage
  const cases = [...readingCases, ...writingCases, ...consumingCases(stage), await webhookCase(stage)]
  return cases.map(plainCase => ({
    ...plainCase,
    server,
    manners: ['statements'],
    request: async () => ({ token, ...(await plainCase.request()) }),
  }))
}

const readingCases: readonly PlainCase[] = [
  {
    name: 'echo',
    title: 'the pipeline, no database',
    request: () => ({ method: 'POST', path: '/echo', body: note }),
  },
  {
    name: 'get',
    title: 'GET /policies/{id}',
    request: () => ({ method: 'GET', path: '/policies/policy_bench_{n}', numbers: anyAgent }),
    alone: () => policyReadAlone,
  },
  {
    name: 'list',
    title: 'GET /agents?limit=20',
    request: () => ({ method: 'GET', path: '/agents?limit=20' }),
  },
]

/** Each can be sent again and again to the same records. */
const writingCases: readonly PlainCase[] = [
  {
    name: 'create',
    title: 'POST /policies',
    request: () => ({ method: 'POST', path: '/policies', body: policy }),
    alone: () => policyCreatedAlone,
  },
  {
    name: 'patch',
    title: 'PATCH /agents/{id}',
    request: () => ({
      method: 'PATCH',
      path: '/agents/agent_bench_{n}',
      body: { description: 'Reads papers {each}' },
      numbers: anyAgent,
    }),
  },
  {
    name: 'assign',
    title: 'PUT /policies/agent/{agentId}',
    request: () => ({
      method: 'PUT',
      path: '/policies/agent/agent_bench_{n}',
      body: { policyId: 'policy_template_{n}' },
      numbers: anyAgent,
    }),
  },
  {
    name: 'fund',
    title: 'POST /wallets/{id}/fund',
    request: () => ({
      method: 'POST',
      path: '/wallets/wallet_bench_{n}/fund',
      body: { amountEuros: 1 },
      numbers: anyAgent,
    }),
  },
  {
    name: 'beneficiary',
    title: 'POST /beneficiaries',
    request: () => ({
      method: 'POST',
      path: '/beneficiaries',
      body: { name: 'Bäckerei Müller', iban: '{iban}' },
    }),
  },
]

/** Each uses up its records, so every measurement gets new ones. */
const consumingCases = (stage: Stage): PlainCase[] => [
  {
    name: 'freeze',
    title: 'POST /agents/{id}/freeze',
    async request() {
      await thawAgents(stage)
      return {
        method: 'POST',
        path: '/agents/agent_freezable_{n}/freeze',
        body: { reason: 'Unusual spending' },
        numbers: { from: 1, to: FREEZABLE, inOrder: true },
      }
    },
  },
  {
    name: 'cancel',
    title: 'POST /intents/{id}/cancel, approved ones',
    request: async () => ({
      method: 'POST',
      path: '/intents/intent_bench_{n}/cancel',
      body: { comment: 'Not needed' },
      numbers: { ...(await addApproved(stage, APPROVED)), inOrder: true },
    }),
    alone: async () => cancellingAlone((await addApproved(stage, APPROVED)).from),
  },
]

/** Subscriptions of owners of their own: events of the other operations have no deliveries to make. */
async function webhookCase({ api, databaseUrl }: Stage): Promise<PlainCase> {
  const body = { url: 'http://127.0.0.1:59999/', events: ['run.created'] }
  const asks: Ask[] = []
  for (let number = 1; number <= SUBSCRIBERS; number++) {
    const { token } = await newOwner(api, number)
    asks.push({ token, body })
  }
  return {
    name: 'webhook',
    title: 'POST /webhooks',
    async request() {
      await removeWebhooks({ databaseUrl })
      return { method: 'POST', path: '/webhooks', asks }
    },
  }
}
