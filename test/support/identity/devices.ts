import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { bodyOf, type TestClient } from '../factories.ts'
import type { Authenticator } from './authenticator.ts'
import { signed } from './people.ts'

type Begin = Parameters<TestClient['sessions']['begin']>[0]['body']

export interface Device {
  readonly deviceCode: string
  readonly userCode: string
}

export async function aDevice(client: TestClient, members: Partial<Begin> = {}): Promise<Device> {
  const body = { deviceId: randomUUID(), deviceName: 'Ada’s laptop', clientType: 'cli', ...members } as Begin
  const { deviceCode, userCode } = await bodyOf(client.sessions.begin({ body }))
  return { deviceCode: String(deviceCode), userCode: String(userCode) }
}

type Chosen = { readonly scopes?: NonNullable<Begin['scopes']> }

export async function consentTo(
  client: TestClient,
  device: Authenticator,
  userCode: string,
  chosen: Chosen = {},
) {
  const challenge = await bodyOf(client.sessions.challenge({ body: { userCode, ...chosen } }))
  return signed(challenge, device)
}

export async function letIn(
  client: TestClient,
  device: Authenticator,
  userCode: string,
  chosen: Chosen = {},
) {
  const webauthnAssertion = await consentTo(client, device, userCode, chosen)
  return client.sessions.verify({ body: { userCode, ...chosen, webauthnAssertion } })
}

export interface ProofKeys {
  readonly publicKeyJwk: Record<string, string>
  readonly privateKey: KeyObject
  readonly alg: 'ES256' | 'EdDSA'
}

export function proofKeys(alg: ProofKeys['alg'] = 'ES256'): ProofKeys {
  const { publicKey, privateKey } =
    alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519')
  return { publicKeyJwk: publicKey.export({ format: 'jwk' }) as Record<string, string>, privateKey, alg }
}

const b64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A DPoP proof (RFC 9449) for a request with this key; `others` are the claims that differ. */
export function proof(
  { publicKeyJwk, privateKey, alg }: ProofKeys,
  { method, url, secret }: { readonly method: string; readonly url: string; readonly secret: string },
  others: Readonly<Record<string, unknown>> = {},
  head: Readonly<Record<string, unknown>> = {},
): string {
  const header = { typ: 'dpop+jwt', alg, jwk: publicKeyJwk, ...head }
  const claims = {
    jti: randomUUID(),
    htm: method,
    htu: url,
    iat: Math.floor(Date.now() / 1_000),
    ath: createHash('sha256').update(secret).digest('base64url'),
    ...others,
  }
  const signedText = `${b64(header)}.${b64(claims)}`
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
  const signature = sign(alg === 'ES256' ? 'sha256' : null, Buffer.from(signedText), key)
  return `${signedText}.${signature.toString('base64url')}`
}
