import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  encodeChallengeRequest,
  isUnusableInput,
  parseCredential,
  serializeChallenge,
  serializeReceipt,
} from '../../../src/mpp/index.ts'
import { printLine } from '../../../src/platform/output.ts'
import { CARD_CENTS } from '../database/card-rows.ts'

/**
 * A merchant that always asks for the same amount and accepts every credential: by `card`, or at `/shared` by `stripe`. At
 * `/silent` it never answers.
 */
const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const { n, e } = publicKey.export({ format: 'jwk' })
const price = { amount: String(CARD_CENTS), currency: 'eur' }
const byCard = encodeChallengeRequest({
  ...price,
  methodDetails: {
    acceptedNetworks: ['visa'],
    merchantName: 'Bench',
    encryptionJwk: { kty: 'RSA', n, e, use: 'enc', alg: 'RSA-OAEP-256', kid: 'bench' },
  },
})
const byStripe = encodeChallengeRequest({
  ...price,
  methodDetails: { networkId: 'profile_bench', paymentMethodTypes: ['card'] },
})
const goods = JSON.stringify({ report: 'of the bench' })

const server = createServer(({ url, headers }, response) => {
  if (url === '/silent') return
  const given = headers.authorization
  const credential = given?.startsWith('Payment ') ? parseCredential(given) : undefined
  if (credential && !isUnusableInput(credential)) {
    const { id: challengeId, method } = credential.challenge
    const timestamp = new Date().toISOString()
    const receipt = {
      status: 'success' as const,
      method,
      timestamp,
      reference: challengeId,
      challengeId,
    }
    const answer = { 'content-type': 'application/json', 'payment-receipt': serializeReceipt(receipt) }
    response.writeHead(200, answer).end(goods)
    return
  }
  const expires = new Date(Date.now() + 300_000).toISOString()
  const realm = String(headers.host)
  const offer =
    url === '/shared' ? { method: 'stripe', request: byStripe } : { method: 'card', request: byCard }
  const challenge = { id: randomUUID(), realm, intent: 'charge', ...offer, expires }
  response.writeHead(402, { 'www-authenticate': serializeChallenge(challenge) }).end()
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () =>
  printLine(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
