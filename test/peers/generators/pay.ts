/** Pays by `openapi-fetch`, with the types that openapi-typescript generates from openapi.json. */
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

const { AGENTPAY_URL: baseUrl = '', AGENTPAY_KEY: key = '' } = process.env
const as = (token: string) => createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
const owner = as(key)

function must<T>({ data, error }: { data?: T; error?: components['schemas']['Error'] }): T {
  if (data === undefined) throw new Error(error?.error ?? 'no answer')
  return data
}

const wallet = must(await owner.POST('/wallets', { body: { name: 'Research' } }))
must(
  await owner.POST('/wallets/{id}/fund', {
    params: { path: { id: wallet.id } },
    body: { amountEuros: 100 },
  }),
)
const policy = must(
  await owner.POST('/policies', {
    body: { name: 'Research', maxTransactionEuros: 50, autoApproveLimitEuros: 2 },
  }),
)
const agent = must(await owner.POST('/agents', { body: { name: 'Reader', policyId: policy.id } }))
const path = { id: agent.id }
must(
  await owner.POST('/agents/{id}/fund', {
    params: { path },
    body: { amountEuros: 20, fromWalletId: wallet.id },
  }),
)
must(await owner.POST('/cards', { body: { agentId: agent.id, usage: 'multi' } }))
const { token } = must(
  await owner.POST('/agents/{id}/tokens', { params: { path }, body: { label: 'first', scopes: ['payer'] } }),
)
const self = as(token ?? '')

const intent = must(
  await self.POST('/intents', {
    params: { header: { 'Idempotency-Key': 'report-1' } },
    body: { amountEuros: 2.5, merchant: new URL(baseUrl).hostname, purpose: 'A report' },
  }),
)
const purchase = { url: `${baseUrl}/simulate/mpp/paid`, intentId: intent.id }

const { error: refusal, response } = await self.POST('/v1/mpp/pay', { body: purchase })
if (!refusal) throw new Error('an intent that no one has approved is paid')

must(await owner.POST('/intents/{id}/approve', { params: { path: { id: intent.id } }, body: {} }))
const payment = must(await self.POST('/v1/mpp/pay', { body: purchase }))
if (!('merchant_status' in payment)) throw new Error('it goes on, although its answer is waited for')
const paid = must(await self.GET('/intents/{id}', { params: { path: { id: intent.id } } }))
must(await owner.POST('/agents', { body: { name: 'Writer' } }))

const agents: string[] = []
let cursor: string | null = null
do {
  const query: { limit: number; cursor?: string } = cursor === null ? { limit: 1 } : { limit: 1, cursor }
  const page: components['schemas']['AgentPage'] = must(await owner.GET('/agents', { params: { query } }))
  agents.push(...page.data.map(one => one.name))
  cursor = page.nextCursor
} while (cursor !== null)

process.stdout.write(
  JSON.stringify({
    declared: intent.status,
    refused: [response.status, response.headers.get('x-error-code'), refusal.error],
    merchantStatus: payment.merchant_status,
    status: paid.status,
    agents,
  }),
)
