// What the owner does once, before an agent can buy: an agent under a policy, money, a card, and a token.
import { readFileSync } from 'node:fs'

/** Address and key of the service that `npm start` runs in this folder. */
export function ownApi() {
  const file = `${process.env.DATA_DIR ?? '.data'}/instance.json`
  try {
    const { url, apiKey } = JSON.parse(readFileSync(file, 'utf8'))
    return { url, apiKey }
  } catch {
    console.error(`There is no ${file}: run npm start first, or set API_URL and AGENT_TOKEN.`)
    process.exit(1)
  }
}

/** The token of a new agent that may spend 2 euros by itself, and up to 50 where somebody says yes. */
export async function tokenOfAnExample() {
  const { url, apiKey } = ownApi()
  const post = async (path, body) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const answer = await response.json()
    if (!response.ok) throw new Error(`POST ${path}: ${answer.error}`)
    return answer
  }
  const limits = { maxTransactionEuros: 50, autoApproveLimitEuros: 2 }
  const policy = await post('/policies', { name: 'Reports', ...limits })
  const agent = await post('/agents', { name: 'Buyer', policyId: policy.id })
  await post(`/wallets/${agent.walletId}/fund`, { amountEuros: 20 })
  await post('/cards', { agentId: agent.id, usage: 'multi' })
  const { token } = await post(`/agents/${agent.id}/tokens`, { label: 'Example', scopes: ['payer'] })
  return token
}
