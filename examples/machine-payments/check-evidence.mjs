// Verifies the evidence of a payment offline, with a saved copy of `/.well-known/jwks.json`.
// It needs Node 18 and no network: `node check-evidence.mjs evidence.jws jwks.json`.
import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'

const [evidenceFile = 'evidence.jws', keysFile = 'jwks.json'] = process.argv.slice(2)
const decode = part => JSON.parse(Buffer.from(part, 'base64url').toString())

/** What the evidence says, if it is of the installation whose keys these are. */
function claimsOf(evidence, { keys }) {
  const [header, claims, signature] = evidence.trim().split('.')
  const { alg, kid, typ } = decode(header)
  const jwk = keys.find(key => key.kid === kid)
  const isGenuine =
    alg === 'EdDSA' &&
    typ === 'payment-evidence' &&
    jwk?.crv === 'Ed25519' &&
    verify(
      null,
      Buffer.from(`${header}.${claims}`),
      createPublicKey({ key: jwk, format: 'jwk' }),
      Buffer.from(signature, 'base64url'),
    )
  if (!isGenuine) throw new Error('It is no evidence of the installation whose keys these are.')
  return decode(claims)
}

try {
  console.log(claimsOf(readFileSync(evidenceFile, 'utf8'), JSON.parse(readFileSync(keysFile, 'utf8'))))
} catch (error) {
  console.error(`This proves nothing. ${error.message}`)
  process.exitCode = 1
}
