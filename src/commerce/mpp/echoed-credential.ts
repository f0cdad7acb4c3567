import { isUnusableInput, parseCredential } from '../../mpp/index.ts'

interface Answer {
  readonly body: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  readonly headerLists: Readonly<Record<string, readonly string[]>>
}

/**
 * Returns the merchant's answer without the credential that was sent to it and without its token, as text and in Base64. The
 * answer is stored and the credential must not be, even if a merchant echoes it. Card numbers are masked where the answer
 * is read.
 */
export function withoutCredential<A extends Answer>(answer: A, sent: Readonly<Record<string, string>>): A {
  const forms = Object.values(sent)
    .filter(value => /^Payment /i.test(value))
    .flatMap(secretsIn)
    .flatMap(formsOf)
  const clean = (text: string): string => blanked(Buffer.from(text, 'latin1'), forms).toString('latin1')
  const { body, headers, headerLists } = answer
  const type = headers['content-type']
  const receipts = headerLists['payment-receipt']
  return {
    ...answer,
    body: blanked(Buffer.from(body), forms),
    headers: { ...headers, ...(type !== undefined && { 'content-type': clean(type) }) },
    headerLists: { ...headerLists, ...(receipts && { 'payment-receipt': receipts.map(clean) }) },
  }
}

/** The credential, and its token. */
function secretsIn(header: string): string[] {
  const credential = parseCredential(header)
  if (isUnusableInput(credential)) return []
  const { encryptedPayload, spt } = credential.payload
  const whole = header.slice(header.indexOf(' ') + 1)
  return [whole, encryptedPayload, spt].filter(secret => typeof secret === 'string')
}

/** In Base64 of a longer text, a secret is written in one of three ways: it begins at any byte of three. */
function formsOf(secret: string): string[] {
  const encoded = [0, 1, 2].map(before => {
    const text = Buffer.from(' '.repeat(before) + secret).toString('base64')
    return text.slice(Math.ceil((before * 4) / 3), Math.floor(((before + secret.length) * 4) / 3))
  })
  return [secret, ...encoded, ...encoded.map(text => text.replaceAll('+', '-').replaceAll('/', '_'))]
}

const BLANK = '*'.charCodeAt(0)

function blanked(bytes: Buffer, forms: readonly string[]): Buffer {
  for (const form of forms)
    for (let at = bytes.indexOf(form); at >= 0; at = bytes.indexOf(form, at + form.length))
      bytes.fill(BLANK, at, at + form.length)
  return bytes
}
