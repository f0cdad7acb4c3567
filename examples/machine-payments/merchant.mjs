// A merchant that sells a report to programs for 2.50 euros, by the Machine Payments Protocol (method
// `card`). It needs Node 18 and nothing else: `PORT=4020 node merchant.mjs`.
import * as crypto from 'node:crypto'
import { createServer } from 'node:http'

const PROBLEMS = 'https://paymentauth.org/problems/'
const PRICE_CENTS = '250'
const VALID_FOR_MS = 5 * 60_000

const secret = crypto.randomBytes(32)
const { publicKey, privateKey } = crypto.generateKeyPairSync('rsa', { modulusLength: 2048 })
const key = { ...publicKey.export({ format: 'jwk' }), alg: 'RSA-OAEP-256', kid: 'merchant-1', use: 'enc' }
/** The answers to paid credentials, by challenge id. */
const sold = new Map()

const encode = value => Buffer.from(JSON.stringify(sorted(value))).toString('base64url')
const decode = text => JSON.parse(Buffer.from(text, 'base64url').toString())
const sha256 = text => crypto.createHash('sha256').update(text).digest('base64url')

/** Members sorted by name, as canonical JSON requires (RFC 8785). */
function sorted(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map(name => [name, sorted(value[name])]),
  )
}

/** The id authenticates the whole offer, so no challenge has to be stored. */
const idOf = ({ realm, method, intent, request, expires }) =>
  crypto
    .createHmac('sha256', secret)
    .update([realm, method, intent, request, expires, '', ''].join('|'))
    .digest('base64url')

/** A new challenge. The order number makes each one unique and returns in the receipt. */
function challengeFor(realm) {
  const request = encode({
    amount: PRICE_CENTS,
    currency: 'eur',
    externalId: `order-${crypto.randomUUID()}`,
    methodDetails: {
      acceptedNetworks: ['mastercard', 'visa'],
      billingRequired: false,
      encryptionJwk: key,
      merchantName: 'Report Shop',
    },
  })
  const expires = new Date(Date.now() + VALID_FOR_MS).toISOString()
  const challenge = { realm, method: 'card', intent: 'charge', request, expires }
  return { id: idOf(challenge), ...challenge }
}

/** Decrypts the network token, a compact JWE encrypted to our key. */
function decrypt(jwe) {
  const [header, encryptedKey, iv, text, tag] = jwe.split('.')
  const { alg, enc, kid, zip } = decode(header)
  if (alg !== key.alg || enc !== 'A256GCM' || kid !== key.kid || zip) throw new Error('not for our key')
  const bytes = part => Buffer.from(part, 'base64url')
  const padding = crypto.constants.RSA_PKCS1_OAEP_PADDING
  const contentKey = crypto.privateDecrypt(
    { key: privateKey, padding, oaepHash: 'sha256' },
    bytes(encryptedKey),
  )
  const decipher = crypto.createDecipheriv('aes-256-gcm', contentKey, bytes(iv), { authTagLength: 16 })
  decipher.setAAD(Buffer.from(header)).setAuthTag(bytes(tag))
  return JSON.parse(Buffer.concat([decipher.update(bytes(text)), decipher.final()]).toString())
}

/** Verifies a credential: returns the token, or the problem if it does not pay. */
function check(challenge, payload, realm) {
  const isOurs = challenge.realm === realm && challenge.id === idOf(challenge)
  if (!isOurs || Date.parse(challenge.expires) <= Date.now()) return { problem: 'invalid-challenge' }
  try {
    const { token } = decrypt(payload.encryptedPayload)
    return token?.paymentToken ? { token } : { problem: 'verification-failed' }
  } catch {
    return { problem: 'verification-failed' }
  }
}

/** The credential as an object; an empty one if it is unreadable. */
function read(credential) {
  try {
    return decode(credential) ?? {}
  } catch {
    return {}
  }
}

function answer(credential, realm) {
  if (!credential) return refuse(402, 'payment-required', realm)
  const { challenge, payload } = read(credential)
  if (!challenge || !payload) return refuse(402, 'malformed-credential', realm)
  const earlier = sold.get(challenge.id)
  if (earlier)
    return earlier.digest === sha256(credential) ? earlier.answer : refuse(402, 'invalid-challenge', realm)
  const { token, problem } = check(challenge, payload, realm)
  if (problem) return refuse(402, problem, realm)
  // Here a merchant charges the token through its acquirer, once per challenge id.
  console.log(`paid with a token that ends in ${String(token.paymentToken).slice(-4)}`)
  const receipt = {
    status: 'success',
    method: 'card',
    timestamp: new Date().toISOString(),
    reference: crypto.randomUUID(),
    challengeId: challenge.id,
    externalId: decode(challenge.request).externalId,
  }
  const headers = { 'Payment-Receipt': encode(receipt), 'Cache-Control': 'private' }
  const paid = { status: 200, headers, body: { report: 'Paper is 3 % dearer than a year ago.' } }
  sold.set(challenge.id, { digest: sha256(credential), answer: paid })
  return paid
}

/** A refusal with its problem; a 402 includes a new challenge. */
function refuse(status, problem, realm) {
  const parameters = Object.entries(challengeFor(realm)).map(([name, value]) => `${name}="${value}"`)
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Type': 'application/problem+json',
    'WWW-Authenticate': `Payment ${parameters.join(', ')}`,
  }
  return { status, headers, body: { type: `${PROBLEMS}${problem}`, title: problem, status } }
}

const server = createServer((request, response) => {
  const realm = `127.0.0.1:${server.address().port}`
  const credential = /^payment +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const { status, headers, body } = answer(credential, realm)
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
})
server.listen(Number(process.env.PORT ?? 4020), '127.0.0.1', () =>
  console.log(`The report is sold at http://127.0.0.1:${server.address().port}/report`),
)
