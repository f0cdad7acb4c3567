// The first payment in plain Node (18 or later): an agent declares a purchase, its owner approves it, and the agent pays.
//
//     node examples/first-payment/pay.mjs      beside npm start, in the same folder
import { readFileSync } from 'node:fs'

const file = `${process.env.DATA_DIR ?? '.data'}/instance.json`
const { url, apiKey } = JSON.parse(readFileSync(file, 'utf8'))

async function call(method, path, body, key = apiKey) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${method} ${path}: ${answer.error}`)
  return answer
}

const post = (path, body, key) => call('POST', path, body, key)
const show = (step, ...fields) => console.log(step.padEnd(9), ...fields)

const limits = { maxTransactionEuros: 50, autoApproveLimitEuros: 2 }
const policy = await post('/policies', { name: 'Research', ...limits })
show('policy', policy.id, policy.maxTransactionEuros, policy.autoApproveLimitEuros)

const agent = await post('/agents', { name: 'Reader', policyId: policy.id })
await post(`/wallets/${agent.walletId}/fund`, { amountEuros: 20 })
await post('/cards', { agentId: agent.id, usage: 'multi' })
const { token } = await post(`/agents/${agent.id}/tokens`, { label: 'first', scopes: ['payer'] })
show('agent', agent.id, agent.status, agent.name)

const merchant = new URL(url).hostname
const intent = await post('/intents', { amountEuros: 2.5, merchant, purpose: 'A report' }, token)
show('intent', intent.id, intent.status, intent.amountEuros)

const approved = await post(`/intents/${intent.id}/approve`, { comment: 'Go ahead' })
show('approved', approved.id, approved.status, approved.comment)

const paid = await post('/v1/mpp/pay', { intentId: intent.id, url: `${url}/simulate/mpp/paid` }, token)
show('paid', paid.credential_id, paid.merchant_status, paid.receipt ? 'receipt' : 'no receipt')

const balance = await call('GET', `/agents/${agent.id}/balance`)
const proof = await post('/ledger/verify', {})
show('balance', balance.availableEuros, balance.heldEuros, proof.ok ? 'ledger verified' : 'ledger broken')
