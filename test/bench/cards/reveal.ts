import { aKeyPair, type KindOfKey } from '../../support/cards/encryption-keys.ts'
import { type Case, measure, type Result } from '../case.ts'
import { AGENTS } from '../database/intent-rows.ts'
import { SECONDS } from '../loads.ts'
import { bearer, post, type Stage } from '../stage.ts'

/** The most common key types of fillers, and how many ask at once. */
const KINDS: readonly KindOfKey[] = ['RSA-2048', 'P-256']
const CONNECTIONS = [1, 8]

export async function measureReveal(stage: Stage): Promise<Result[]> {
  const { api: server, token } = stage
  const agentId = `agent_bench_${AGENTS}`
  const { id: cardId } = await post(server, '/cards', { agentId, usage: 'multi' }, bearer(stage))
  const intent = { agentId, amountEuros: 9.5, merchant: 'Bookshop', purpose: 'A paper on caching' }
  const { id: intentId } = await post(server, '/intents', intent, bearer(stage))
  const results: Result[] = []
  for (const kind of KINDS) {
    const { key } = await aKeyPair(kind)
    const body = { intentId, purpose: 'Fill the payment form of the shop', publicKeyJwk: key.jwk }
    const path = `/cards/${cardId}/access`
    const name = `reveal ${kind}`
    const request = () => ({ method: 'POST', path, token, body, keys: true, expects: '"jwe":"ey' }) as const
    const reveal: Case = { name, title: name, server, request }
    for (const connections of CONNECTIONS) results.push(await measure(stage, reveal, connections, SECONDS))
  }
  return results
}
