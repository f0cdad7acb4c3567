// Verifies an approval offline: the saved answer of `GET /intents/{id}/approval`, with a saved copy of
// `/.well-known/jwks.json`. It needs Node 18 and no network: `node check-approval.mjs approval.json jwks.json`.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'

const [proofFile = 'approval.json', keysFile = 'jwks.json'] = process.argv.slice(2)
const read = file => JSON.parse(readFileSync(file, 'utf8'))
const bytes = text => Buffer.from(text, 'base64url')
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()
const fail = why => {
  throw new Error(why)
}

/** RFC 8785, for the values of a statement: texts, whole numbers, null, lists and objects. */
const canonical = value =>
  Array.isArray(value)
    ? `[${value.map(canonical).join(',')}]`
    : value === null || typeof value !== 'object'
      ? JSON.stringify(value)
      : `{${Object.keys(value)
          .sort()
          .map(name => `${JSON.stringify(name)}:${canonical(value[name])}`)
          .join(',')}}`

/** The claims of the proof, if this installation's keys signed it. */
function claimsOf(jws, { keys }) {
  const [header, claims, signature] = jws.split('.')
  const { alg, kid, typ } = JSON.parse(bytes(header).toString())
  const jwk = keys.find(key => key.kid === kid)
  if (alg !== 'EdDSA' || typ !== 'intent-approval' || jwk?.crv !== 'Ed25519')
    fail('It is no proof of the installation whose keys these are.')
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  if (!verify(null, Buffer.from(`${header}.${claims}`), key, bytes(signature)))
    fail('Our signature is not over this.')
  return JSON.parse(bytes(claims).toString())
}

/** Verifies the signature of the person's device, as WebAuthn (7.2) defines. */
function checkDevice({ statement, assertion, publicKey, relyingParty }) {
  const [data, clientData] = [bytes(assertion.authenticatorData), bytes(assertion.clientDataJSON)]
  const said = JSON.parse(clientData.toString())
  if (said.type !== 'webauthn.get' || said.challenge !== sha256(canonical(statement)).toString('base64url'))
    fail('The device has signed another statement.')
  if (!relyingParty.origins.includes(said.origin) || said.crossOrigin === true)
    fail('The device has signed for another site.')
  if (!data.subarray(0, 32).equals(sha256(relyingParty.id))) fail('The device has signed for another site.')
  if ((data[32] & 0b101) !== 0b101) fail('The device did not verify the person.')
  const key = createPublicKey({ key: publicKey, format: 'jwk' })
  const signed = Buffer.concat([data, sha256(clientData)])
  if (!verify(publicKey.kty === 'OKP' ? null : 'sha256', signed, key, bytes(assertion.signature)))
    fail('The signature of the device is not over this.')
}

/** The names behind the commitments, if the proof contains their openings. */
function namesIn({ statement: { subject }, person }, openings) {
  const committed = { 'payee.name': subject.payee.name, 'payee.iban': subject.payee.iban }
  const places = { ...committed, 'person.id': person.id, 'person.name': person.name }
  return Object.fromEntries(
    Object.entries(places).map(([place, commitment]) => {
      const opening = openings[place]
      if (!opening) return [place, null]
      const digest = sha256(opening.salt, opening.value).toString('base64url')
      if (commitment?.sha256 !== digest) fail(`The opening ${place} is of something else.`)
      return [place, opening.value]
    }),
  )
}

try {
  const { jws, openings } = read(proofFile)
  const claims = claimsOf(jws, read(keysFile))
  checkDevice(claims)
  const { intentId, amountEuros, largestEuros } = claims.statement.subject
  const { approvedAt } = claims
  console.log({ intentId, amountEuros, largestEuros, approvedAt, ...namesIn(claims, openings) })
} catch (error) {
  console.error(`This proves nothing. ${error.message}`)
  process.exitCode = 1
}
