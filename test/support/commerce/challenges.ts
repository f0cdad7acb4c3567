import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { encodeChallengeRequest, type PaymentChallenge } from '../../../src/mpp/index.ts'

const rsaKey = (bits: number, kid: string) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: bits })
  const { n, e } = publicKey.export({ format: 'jwk' })
  return { privateKey, jwk: { kty: 'RSA', n, e, use: 'enc', alg: 'RSA-OAEP-256', kid } as const }
}

/** The merchants' key in tests. Generating one takes a tenth of a second. */
export const merchantKey = rsaKey(2_048, 'merchant-key-1')

let weak: ReturnType<typeof rsaKey> | undefined
export const weakKey = () => {
  weak ??= rsaKey(1_024, 'weak-key')
  return weak
}

export interface ChallengeOptions {
  readonly realm?: string
  readonly amount?: string
  readonly currency?: string
  readonly externalId?: string
  readonly details?: object
  readonly expires?: string | null
  readonly parameters?: Partial<PaymentChallenge>
}

const inMinutes = (count: number): string => new Date(Date.now() + count * 60_000).toISOString()

export function aChallenge({
  realm = 'shop.example.com',
  amount = '2000',
  currency = 'eur',
  externalId = 'order-1',
  details = {},
  expires = inMinutes(5),
  parameters = {},
}: ChallengeOptions = {}): PaymentChallenge {
  const methodDetails = {
    acceptedNetworks: ['mastercard', 'visa'],
    merchantName: 'Loopback Shop',
    encryptionJwk: merchantKey.jwk,
    ...details,
  }
  return {
    id: randomUUID(),
    realm,
    method: 'card',
    intent: 'charge',
    request: encodeChallengeRequest({ amount, currency, externalId, methodDetails }),
    ...(expires === null ? {} : { expires }),
    ...parameters,
  }
}
