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

/** The claims of the proof, of one approval or of several, if this installation's keys signed it. */
function claimsOf(jws, { keys }) {
  const [header, claims, signature] = jws.split('.')
  const { alg, kid, typ } = JSON.parse(bytes(header).toString())
  const jwk = keys.find(key => key.kid === kid)
  if (alg !== 'EdDSA' || !/^intent-approvals?$/.test(typ) || jwk?.crv !== 'Ed25519')
    fail('It is no proof of the installation whose keys these are.')
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  if (!verify(null, Buffer.from(`${header}.${claims}`), key, bytes(signature)))
    fail('Our signature is not over this.')
  const { approvals, ...shared } = JSON.parse(bytes(claims).toString())
  if (typ === 'intent-approval') return { ...shared, approvals: [{ ...shared, place: '' }] }
  return { ...shared, approvals: approvals.map((one, n) => ({ ...one, place: `approvals.${n}.` })) }
}

/** Verifies the signature of a person's device, as WebAuthn (7.2) defines. */
function checkDevice({ statement, assertion, publicKey }, { mode, relyingParty }) {
  if (statement.kind !== 'intent' || statement.mode !== mode) fail('The device has signed something else.')
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

const areDistinct = values =>
  values.every(value => typeof value === 'string') && new Set(values).size === values.length

/** The key itself: JSON writes one key in many ways. */
const keyOf = ({ publicKey }) =>
  createPublicKey({ key: publicKey, format: 'jwk' })
    .export({ type: 'spki', format: 'der' })
    .toString('base64')

/** Several approvals count only if different passkeys have signed the same, and in this order. */
function checkTogether({ approvals, approvedAt }) {
  if (approvals.length < 2 || approvals.length > 40) fail('A proof of several approvals has 2 to 40 of them.')
  const subjects = approvals.map(({ statement }) => canonical({ ...statement.subject, person: null }))
  if (new Set(subjects).size > 1) fail('The devices have signed different payments.')
  const credentialIds = approvals.map(({ assertion }) => assertion.credentialId)
  if (!areDistinct(approvals.map(keyOf)) || !areDistinct(credentialIds))
    fail('One passkey has signed two of the approvals.')
  const times = [...approvals.map(one => one.approvedAt), approvedAt]
  if (!times.every((time, n) => new Date(time).toJSON() === time && (n === 0 || times[n - 1] <= time)))
    fail('The approvals are not in the order of their times.')
}

/** The name behind a commitment; null if the proof does not contain its opening. */
function nameIn(openings, place, commitment) {
  const opening = openings[place]
  if (!opening) return null
  const digest = sha256(opening.salt, opening.value).toString('base64url')
  if (commitment?.sha256 !== digest) fail(`The opening ${place} is of something else.`)
  return opening.value
}

/** The person of each approval, who must be the person of its statement, and approves once. */
function peopleIn({ approvals }, openings) {
  const known = []
  const people = approvals.map(({ statement, person, place, approvedAt }) => {
    const id = nameIn(openings, `${place}person.id`, person.id)
    const signer = nameIn(openings, `${place}person`, statement.subject.person)
    if (id !== null && signer !== null && id !== signer) fail('The passkey is of another person.')
    known.push(id ?? signer)
    return { id, name: nameIn(openings, `${place}person.name`, person.name), approvedAt }
  })
  if (!areDistinct(known.filter(one => one !== null))) fail('One person has given two of the approvals.')
  return people
}

try {
  const { jws, openings } = read(proofFile)
  const claims = claimsOf(jws, read(keysFile))
  const { approvals, approvedAt } = claims
  for (const approval of approvals) checkDevice(approval, claims)
  if (approvals[0]?.place !== '') checkTogether(claims)
  const { intentId, amountEuros, largestEuros, payee } = approvals[0].statement.subject
  const [name, iban] = ['name', 'iban'].map(member => nameIn(openings, `payee.${member}`, payee[member]))
  const people = peopleIn(claims, openings)
  console.log({ intentId, amountEuros, largestEuros, approvedAt, payee: { name, iban }, people })
} catch (error) {
  console.error(`This proves nothing. ${error.message}`)
  process.exitCode = 1
}
