import { sandboxSignatureHeaders } from '../../../src/adapters/card-processor/sandbox-signature.ts'
import { deriveSecrets } from '../../../src/ports/vault.ts'

/** Messages of the sandbox's card processor, each with its own number. */
export interface MessageLoad {
  /** The installation's key, from which the signing secret is derived. */
  readonly encryptionKey: string
  /** The message, with `{n}` for its number and `{card}` for the processor's id of the card. */
  readonly body: string
  /** The numbers of the cards that the messages name in turn. */
  readonly cards: readonly string[]
  readonly from: number
  readonly to: number
}

/**
 * Signs all messages before the load, so that a message costs the generator no more than any other request.
 * Returns the end of each request after the common first line.
 */
export function signedRequests({ encryptionKey, body, cards, from, to }: MessageLoad): string[] {
  const secrets = deriveSecrets('sandbox card messages', encryptionKey)
  return Array.from({ length: to - from + 1 }, (_, n) => {
    const number = from + n
    const text = body
      .replaceAll('{n}', String(number))
      .replace('{card}', cards[number % cards.length] as string)
    const headers = Object.entries(sandboxSignatureHeaders(secrets, text)).map(
      ([name, value]) => `${name}: ${value}`,
    )
    return [
      ...headers,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
      '',
      text,
    ].join('\r\n')
  })
}
