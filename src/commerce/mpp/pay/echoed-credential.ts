import { isUnusable, parseCredential } from '../../../mpp/index.ts'

const BLANK = '*'.charCodeAt(0)

/** The texts in which a credential could be recognized: itself, and the encrypted token inside. */
function secretsOf(header: string): string[] {
  const credential = parseCredential(header)
  if (isUnusable(credential)) return []
  const { encryptedPayload } = credential.payload
  const token = typeof encryptedPayload === 'string' ? [encryptedPayload] : []
  return [header.slice(header.indexOf(' ') + 1), ...token]
}

/**
 * The body of a merchant without the credential that it was sent. No credential is kept, and the body is: a merchant that
 * sends it back must not make it stay.
 */
export function withoutCredential(body: Uint8Array, headers: Readonly<Record<string, string>>): Uint8Array {
  const given = Buffer.from(body)
  const secrets = Object.values(headers).flatMap(value => (/^Payment /i.test(value) ? secretsOf(value) : []))
  for (const secret of secrets)
    for (let at = given.indexOf(secret); at >= 0; at = given.indexOf(secret, at + secret.length))
      given.fill(BLANK, at, at + secret.length)
  return given
}
