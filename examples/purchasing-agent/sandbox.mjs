// What the owner sets up once, before an agent can buy: an agent under a policy, money, a card, and a token;
// and the requests of both.
import { readFileSync } from 'node:fs'

/** Sends a request, and repeats it after the wait of a rate limit. */
export async function ask(address, request) {
  const response = await fetch(address, request)
  if (response.status !== 429) return response
  const seconds = Number(response.headers.get('retry-after'))
  console.error(`Rate limit reached: waiting ${seconds} s.`)
  await new Promise(resolve => setTimeout(resolve, 1_000 * seconds))
  return ask(address, request)
}

/** The address and key of the service that `npm start` runs in this folder. */
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

/** The token of a new agent that may spend 2 euros on its own, and up to 50 with an approval. */
export async function tokenOfAnExample() {
  const { url, apiKey } = ownApi()
  const post = async (path, body) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const response = await ask(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
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
