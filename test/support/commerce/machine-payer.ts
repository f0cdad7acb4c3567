import { createCipheriv, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto'
import {
  decodeChargeRequest,
  encodeChallengeRequest,
  isUnusableInput,
  type PaymentChallenge,
  type PaymentReceipt,
  parseChallenges,
  parseReceipt,
  readCardDetails,
  serializeCredential,
} from '../../../src/mpp/index.ts'

export interface Paid {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the body that it received
  readonly body: any
  readonly challenges: readonly PaymentChallenge[]
  readonly receipt: PaymentReceipt | undefined
}

/** Sends a request as a payer of another vendor. */
export async function ask(url: string, init: RequestInit = {}): Promise<Paid> {
  const response = await fetch(url, { redirect: 'manual', ...init })
  const text = await response.text()
  const offered = response.headers.get('www-authenticate')
  const receipt = response.headers.get('payment-receipt')
  const read = receipt === null ? undefined : parseReceipt(receipt)
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
    challenges: offered === null ? [] : parseChallenges([offered]).challenges,
    receipt: isUnusableInput(read) ? undefined : read,
  }
}

/** The challenge of a 402, which must be the only one. */
export async function challengeOf(url: string, init: RequestInit = {}): Promise<PaymentChallenge> {
  const { status, challenges, text } = await ask(url, init)
  const [challenge] = challenges
  if (status !== 402 || !challenge) throw new Error(`${status}: ${text}`)
  return challenge
}

export const offeredIn = (challenge: PaymentChallenge) => {
  const request = decodeChargeRequest(challenge)
  if (isUnusableInput(request)) throw new Error(request.problem)
  return request
}

export const keyIn = (challenge: PaymentChallenge) => {
  const details = readCardDetails(offeredIn(challenge))
  if (isUnusableInput(details) || !('encryptionJwk' in details.key)) throw new Error('no key is embedded')
  return details.key.encryptionJwk
}

interface Token {
  readonly number?: string
  readonly network?: string
  readonly header?: Readonly<Record<string, unknown>>
  readonly plain?: Readonly<Record<string, unknown>>
}

export function tokenFor(
  challenge: PaymentChallenge,
  { number = '4242424242424242', header = {}, plain = {} }: Token = {},
): string {
  const jwk = keyIn(challenge)
  const content = randomBytes(32)
  const iv = randomBytes(12)
  const head = encodeChallengeRequest({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: jwk.kid, ...header })
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  const cipher = createCipheriv('aes-256-gcm', content, iv).setAAD(Buffer.from(head))
  const text = JSON.stringify({
    token: { paymentToken: number, tokenExpirationMonth: '12', tokenExpirationYear: '2039', eci: '05' },
    dynamicData: {
      dynamicDataValue: 'AQIDBA==',
      dynamicDataType: 'CARD_APPLICATION_CRYPTOGRAM_SHORT_FORM',
      dynamicDataExpiration: 0,
    },
    ...plain,
  })
  const encrypted = Buffer.concat([cipher.update(text), cipher.final()])
  const wrapped = publicEncrypt({ key, oaepHash: 'sha256' }, content)
  return [
    head,
    ...[wrapped, iv, encrypted, cipher.getAuthTag()].map(part => part.toString('base64url')),
  ].join('.')
}

export const payloadFor = (challenge: PaymentChallenge, token: Token = {}) => ({
  encryptedPayload: tokenFor(challenge, token),
  network: token.network ?? 'visa',
  panLastFour: '4242',
  panExpirationMonth: '12',
  panExpirationYear: '2039',
})

export const credentialFor = (challenge: PaymentChallenge, token: Token = {}): string =>
  serializeCredential({ challenge, payload: payloadFor(challenge, token) })

export const withCredential = (value: string, init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { ...(init.headers as Record<string, string>), authorization: value },
})

export const present = (url: string, value: string, init: RequestInit = {}): Promise<Paid> =>
  ask(url, withCredential(value, init))

export async function pay(url: string, token: Token = {}, init: RequestInit = {}): Promise<Paid> {
  return present(url, credentialFor(await challengeOf(url, init), token), init)
}
