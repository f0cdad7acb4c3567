// Verifies the evidence of a payment offline, with a saved copy of `/.well-known/jwks.json`.
// It needs Node 18 and no network: `node check-evidence.mjs evidence.jws jwks.json`.
import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'

const [evidenceFile = 'evidence.jws', keysFile = 'jwks.json'] = process.argv.slice(2)
const [header, claims, signature] = readFileSync(evidenceFile, 'utf8').trim().split('.')
const decode = part => JSON.parse(Buffer.from(part, 'base64url').toString())

const { alg, kid, typ } = decode(header)
const jwk = JSON.parse(readFileSync(keysFile, 'utf8')).keys.find(key => key.kid === kid)
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

if (isGenuine) console.log(decode(claims))
else console.error('This is no evidence of the installation whose keys these are.')
process.exitCode = isGenuine ? 0 : 1
