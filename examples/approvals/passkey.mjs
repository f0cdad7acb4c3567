// A passkey in a file, for trying out approvals in test mode without a browser. Anyone with the file can
// sign: for real money use a device. It needs Node 18; `ORIGIN` is that of the service's pages,
// `http://localhost:8080` by default.
//
//     node passkey.mjs enrol options.json   the answer of POST /passkeys/register/options → the registration
//     node passkey.mjs sign challenge.json  the answer of a challenge → the assertion
import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const [task, file] = process.argv.slice(2)
const { ORIGIN = 'http://localhost:8080', PASSKEY_FILE = 'passkey.json' } = process.env
if (!['enrol', 'sign'].includes(task) || !file) {
  console.error('node passkey.mjs enrol options.json, or node passkey.mjs sign challenge.json')
  process.exit(1)
}
const { options } = JSON.parse(readFileSync(file, 'utf8'))
const sha256 = data => createHash('sha256').update(data).digest()
const encoded = data => Buffer.from(data).toString('base64url')

function passkey() {
  if (existsSync(PASSKEY_FILE)) return JSON.parse(readFileSync(PASSKEY_FILE, 'utf8'))
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const made = {
    id: encoded(randomBytes(16)),
    userHandle: options.user.id,
    key: privateKey.export({ format: 'jwk' }),
  }
  writeFileSync(PASSKEY_FILE, JSON.stringify(made), { mode: 0o600 })
  return made
}

/** The hash of the site, the flags, and a counter that stays zero, as a synced passkey's does. */
const authenticatorData = (site, flags, rest = Buffer.alloc(0)) =>
  Buffer.concat([sha256(site), Buffer.from([flags, 0, 0, 0, 0]), rest])

const clientData = type =>
  Buffer.from(JSON.stringify({ type, challenge: options.challenge, origin: ORIGIN, crossOrigin: false }))

/** The public key in COSE format (CBOR): EC2, ES256, P-256, x, y. */
const coseKey = ({ x, y }) =>
  Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])

function enrol({ id, key }) {
  const credential = Buffer.from(id, 'base64url')
  const attested = Buffer.concat([
    Buffer.alloc(16),
    Buffer.from([0, credential.length]),
    credential,
    coseKey(key),
  ])
  // Flags: user present and verified, with attested credential data.
  const data = authenticatorData(options.rp.id, 0x45, attested)
  const attestationObject = Buffer.concat([
    Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
    Buffer.from([data.length]),
    data,
  ])
  return {
    clientDataJSON: encoded(clientData('webauthn.create')),
    attestationObject: encoded(attestationObject),
  }
}

function assertion({ userHandle, key }) {
  const said = clientData('webauthn.get')
  // Flags: user present and verified.
  const data = authenticatorData(options.rpId, 0x05)
  const signature = sign(
    'sha256',
    Buffer.concat([data, sha256(said)]),
    createPrivateKey({ key, format: 'jwk' }),
  )
  return {
    clientDataJSON: encoded(said),
    authenticatorData: encoded(data),
    signature: encoded(signature),
    userHandle,
  }
}

const one = passkey()
const response = task === 'enrol' ? enrol(one) : assertion(one)
console.log(
  JSON.stringify({ id: one.id, rawId: one.id, type: 'public-key', clientExtensionResults: {}, response }),
)
