import { generateKeyPairSync } from 'node:crypto'
import { encodeChallengeRequest, type PaymentChallenge } from '../../src/mpp/index.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })

export const merchantPrivateKey = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()

export const merchantJwk = {
  ...publicKey.export({ format: 'jwk' }),
  use: 'enc',
  alg: 'RSA-OAEP-256',
  kid: 'key-1',
} as const

export const methodDetails = {
  acceptedNetworks: ['visa', 'mastercard'],
  merchantName: 'Café Zürich ☕',
  encryptionJwk: merchantJwk,
}

export const chargeRequest = { amount: '1250', currency: 'eur', externalId: 'order-7', methodDetails }

export const sample: PaymentChallenge = {
  id: 'challenge-1',
  realm: 'merchant.example:443',
  method: 'card',
  intent: 'charge',
  request: encodeChallengeRequest(chargeRequest),
  expires: '2026-11-21T12:00:00.000Z',
  digest: 'sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:',
  opaque: encodeChallengeRequest({ nonce: 'Zm9v' }),
}

export const header = (parameters: string): string => `Payment ${parameters}`

export const minimal = 'id="a", realm="r", method="card", intent="charge", request="e30"'
