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

/** A merchant that always asks for the same amount and accepts every credential. At `/silent` it never answers. */
const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const { n, e } = publicKey.export({ format: 'jwk' })
const request = encodeChallengeRequest({
  amount: String(CARD_CENTS),
  currency: 'eur',
  methodDetails: {
    acceptedNetworks: ['visa'],
    merchantName: 'Bench',
    encryptionJwk: { kty: 'RSA', n, e, use: 'enc', alg: 'RSA-OAEP-256', kid: 'bench' },
  },
})
const goods = JSON.stringify({ report: 'of the bench' })

const server = createServer(({ url, headers }, response) => {
  if (url === '/silent') return
  const given = headers.authorization
  const credential = given?.startsWith('Payment ') ? parseCredential(given) : undefined
  if (credential && !isUnusableInput(credential)) {
    const { id: challengeId } = credential.challenge
    const timestamp = new Date().toISOString()
    const receipt = {
      status: 'success' as const,
      method: 'card',
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
  const challenge = { id: randomUUID(), realm, method: 'card', intent: 'charge', request, expires }
  response.writeHead(402, { 'www-authenticate': serializeChallenge(challenge) }).end()
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () =>
  printLine(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
