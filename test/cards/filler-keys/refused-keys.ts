import { createECDH, generateKeyPairSync } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { startTestService } from '../../support/harness.ts'
import { tablesWith } from '../../support/trace.ts'

const service = await startTestService()
const { key, client } = await service.owner()

type Jwk = Readonly<Record<string, unknown>>

const register = (publicKeyJwk: unknown, label = 'Filler') =>
  service.http('POST', '/checkout/filler-keys', { token: key, body: { label, publicKeyJwk } })

const pairOf = (kind: 'ec' | 'rsa', options: object) =>
  kind === 'ec'
    ? generateKeyPairSync('ec', options as { namedCurve: string })
    : generateKeyPairSync('rsa', options as { modulusLength: number })

const p256 = pairOf('ec', { namedCurve: 'P-256' })
const rsa = pairOf('rsa', { modulusLength: 2_048 })
const x25519 = generateKeyPairSync('x25519')
const publicOf = (pair: { publicKey: typeof p256.publicKey }): Jwk => pair.publicKey.export({ format: 'jwk' })
const privateOf = (pair: { privateKey: typeof p256.privateKey }): Jwk =>
  pair.privateKey.export({ format: 'jwk' })

const EC = publicOf(p256)
const RSA = publicOf(rsa)
const OKP = publicOf(x25519)
const bytes = (length: number, value: number): string => Buffer.alloc(length, value).toString('base64url')
const secret = bytes(32, 7)

/** A coordinate of a point on another curve, with the length of one on P-256. */
const strangePoint = createECDH('secp256k1').generateKeys().subarray(1, 33).toString('base64url')

const evenModulus = Buffer.from(String(RSA.n), 'base64url')
evenModulus[evenModulus.length - 1] = 0xfe

test.each<[string, string, unknown]>([
  ['a private key of EC', 'd', privateOf(p256)],
  ['a private key of OKP', 'd', privateOf(x25519)],
  ['a private key of RSA', 'd', privateOf(rsa)],
  ['one prime of an RSA key', 'p', { ...RSA, p: secret }],
  ['a private exponent that is no text', 'd', { ...EC, d: { inner: secret } }],
  ['the primes of a multi-prime key', 'oth', { ...RSA, oth: [{ r: secret }] }],
  ['a symmetric key', 'k', { kty: 'oct', k: secret }],
  ['a symmetric kty alone', 'kty', { kty: 'oct' }],
  ['an RSA key of 1024 bits', 'n', publicOf(pairOf('rsa', { modulusLength: 1_024 }))],
  ['an RSA key of 2047 bits', 'n', { ...RSA, n: bytes(256, 0x7f) }],
  ['an RSA key of 8200 bits', 'n', { ...RSA, n: bytes(1_025, 0xff) }],
  ['an RSA key that begins with a zero byte', 'n', { ...RSA, n: `AA${String(RSA.n)}` }],
  ['an RSA key with an even modulus', 'n', { ...RSA, n: evenModulus.toString('base64url') }],
  ['an RSA key without a modulus', 'n', { kty: 'RSA', e: 'AQAB' }],
  ['an RSA key in base64', 'n', { ...RSA, n: `${String(RSA.n).slice(0, -2)}+/` }],
  ['an RSA key with padding', 'n', { ...RSA, n: `${String(RSA.n)}==` }],
  ['the exponent 1', 'e', { ...RSA, e: 'AQ' }],
  ['the exponent 3', 'e', { ...RSA, e: 'Aw' }],
  ['an even exponent', 'e', { ...RSA, e: 'AQAA' }],
  ['an exponent of 40 bits', 'e', { ...RSA, e: bytes(5, 0xff) }],
  ['no exponent', 'e', { kty: 'RSA', n: RSA.n }],
  ['an RSA key with a curve', 'crv', { ...RSA, crv: 'P-256' }],
  ['the curve P-521', 'crv', publicOf(pairOf('ec', { namedCurve: 'P-521' }))],
  ['the curve secp256k1', 'crv', publicOf(pairOf('ec', { namedCurve: 'secp256k1' }))],
  ['a key for signatures by Ed25519', 'crv', publicOf(generateKeyPairSync('ed25519'))],
  ['the curve X448', 'crv', publicOf(generateKeyPairSync('x448'))],
  ['a curve of another kty', 'crv', { ...EC, crv: 'X25519' }],
  ['no curve', 'crv', { kty: 'EC', x: EC.x, y: EC.y }],
  ['a point of another curve', 'x', { ...EC, x: strangePoint }],
  ['the point zero', 'x', { ...EC, x: bytes(32, 0), y: bytes(32, 0) }],
  ['a point without its second half', 'y', { kty: 'EC', crv: 'P-256', x: EC.x }],
  ['a point that is too short', 'y', { ...EC, y: bytes(31, 1) }],
  ['a point of low order', 'x', { ...OKP, x: bytes(32, 0) }],
  ['an OKP key with a second half', 'y', { ...OKP, y: bytes(32, 1) }],
  ['a key for signatures', 'use', { ...RSA, use: 'sig' }],
  ['a key that may only verify', 'key_ops', { ...RSA, key_ops: ['verify'] }],
  ['an RSA key that may do nothing', 'key_ops', { ...RSA, key_ops: [] }],
  ['an EC key that may only verify', 'key_ops', { ...EC, key_ops: ['verify'] }],
  ['RSA with SHA-1', 'alg', { ...RSA, alg: 'RSA-OAEP' }],
  ['RSA by PKCS #1 1.5', 'alg', { ...RSA, alg: 'RSA1_5' }],
  ['an algorithm of another kty', 'alg', { ...EC, alg: 'RSA-OAEP-256' }],
  ['a key type that nobody knows', 'kty', { ...EC, kty: 'AKP' }],
  ['no key type', 'kty', { crv: 'P-256', x: EC.x, y: EC.y }],
  ['a certificate', 'x5u', { ...RSA, x5u: 'https://example.com/chain.pem' }],
  ['a member that is a list', 'x', { ...EC, x: [secret] }],
  ['a member of 100 KB', 'n', { ...RSA, n: 'A'.repeat(102_400) }],
  ['a member of 100 KB that no key has', 'padding', { ...RSA, padding: 'A'.repeat(102_400) }],
  ['a list of 5,000 operations', 'key_ops', { ...RSA, key_ops: Array(5_000).fill('encrypt') }],
])('%s is a 400 that names %s and shows no value', async (_, member, jwk) => {
  const { status, headers, body } = await register(jwk)
  expect([status, headers.get('x-error-code')]).toEqual([400, 'invalid_request'])
  expect(body.error).toMatch(new RegExp(`^publicKeyJwk\\.${member}: |; publicKeyJwk\\.${member}: `))
  for (const value of Object.values(jwk as Jwk))
    if (typeof value === 'string' && value.length > 12) expect(body.error).not.toContain(value.slice(0, 12))
  expect(body.error).not.toContain(secret.slice(0, 12))
})

test.each([
  ['a key in PEM', p256.privateKey.export({ type: 'pkcs8', format: 'pem' })],
  ['a list', [EC]],
  ['a number', 5],
  ['nothing', null],
])('%s in place of a JWK is a 400 that shows no value', async (_, wrong) => {
  const { status, body } = await register(wrong)
  expect(status).toBe(400)
  expect(body.error).toBe('publicKeyJwk: must be a JSON Web Key: an object')
})

test('a card number beside a key refuses the whole body', async () => {
  const { status, body } = await register(EC, 'Card 4242 4242 4242 4242')
  expect(status).toBe(400)
  expect(body.error).toMatch('looks like the number of a card')
  expect(body.error).not.toContain('4242')
})

test('a refused key is not registered, and no table has anything of it', async () => {
  expect(await tablesWith(service, secret.slice(0, 20))).toEqual([])
  expect(await tablesWith(service, String(privateOf(rsa).d).slice(0, 20))).toEqual([])
  expect((await client.fillerKeys.list({ query: {} })).body?.data).toEqual([])
})
