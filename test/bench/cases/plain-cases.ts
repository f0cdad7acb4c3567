import type { Case, Request } from '../case.ts'
import { cancelInSql } from '../database/cancel-sql.ts'
import { AGENTS, addApproved } from '../database/intent-rows.ts'
import { FREEZABLE, fillPlain, removeWebhooks, thawAgents } from '../database/plain-rows.ts'
import { createPolicyInSql, readPolicyInSql } from '../database/policy-sql.ts'
import { note } from '../echo.ts'
import type { LoadRequest } from '../load/load.ts'
import { newOwner, type Stage } from '../stage.ts'

/** More intents than one measurement cancels. */
const APPROVED = 6_000
/** The owners of the subscriptions of one measurement: each may have a thousand. */
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

interface PlainCase extends Pick<Case, 'name' | 'title' | 'sqlEquivalent'> {
  request(): Promise<PlainRequest> | PlainRequest
}

export async function plainCases(stage: Stage): Promise<Case[]> {
  await fillPlain(stage)
  const { api: server, token } = stage
  const cases = [...readingCases, ...writingCases, ...consumingCases(stage), await webhookCase(stage)]
  return cases.map(plainCase => ({
    ...plainCase,
    server,
    variants: ['statements'],
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
    sqlEquivalent: () => readPolicyInSql,
  },
  {
    name: 'list',
    title: 'GET /agents?limit=20',
    request: () => ({ method: 'GET', path: '/agents?limit=20' }),
  },
]

/** Requests that the same records accept repeatedly. */
const writingCases: readonly PlainCase[] = [
  {
    name: 'create',
    title: 'POST /policies',
    request: () => ({ method: 'POST', path: '/policies', body: policy }),
    sqlEquivalent: () => createPolicyInSql,
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

/** Requests that use up their records: each measurement first creates new ones. */
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
    sqlEquivalent: async () => cancelInSql((await addApproved(stage, APPROVED)).from),
  },
]

/** The subscriptions belong to other owners, so that the events of the other cases create no deliveries. */
async function webhookCase({ api, databaseUrl }: Stage): Promise<PlainCase> {
  const body = { url: 'http://127.0.0.1:59999/', events: ['run.created'] }
  const requests: LoadRequest[] = []
  for (let number = 1; number <= SUBSCRIBERS; number++) {
    const { token } = await newOwner(api, number)
    requests.push({ token, body })
  }
  return {
    name: 'webhook',
    title: 'POST /webhooks',
    async request() {
      await removeWebhooks({ databaseUrl })
      return { method: 'POST', path: '/webhooks', requests }
    },
  }
}
