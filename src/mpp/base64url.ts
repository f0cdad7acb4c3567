/**
 * Returned for input from outside that cannot be used. It is a class, so that no JSON from outside can look
 * like it.
 */
export class UnusableInput {
  /** Says why, and repeats no secret. */
  readonly problem: string

  constructor(problem: string) {
    this.problem = problem
  }
}

export const unusableInput = (sentence: string): UnusableInput => new UnusableInput(sentence)

export const isUnusableInput = (value: unknown): value is UnusableInput => value instanceof UnusableInput

/** PostgreSQL stores neither U+0000 nor lone surrogates, which a quoted string and JSON can escape. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Without padding (RFC 4648, section 5). */
export const toBase64url = (content: string | Uint8Array): string =>
  Buffer.from(content).toString('base64url')

/**
 * Reads base64url without padding; undefined for anything else. Only the canonical form is accepted, so that
 * no two texts mean the same bytes.
 */
export function fromBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export type JsonObject = Readonly<Record<string, unknown>>

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function decodeBase64urlObject(name: string, text: string): JsonObject | UnusableInput {
  const bytes = fromBase64url(text)
  if (!bytes) return unusableInput(`${name} is not base64url without padding.`)
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes))
    return isJsonObject(value) ? value : unusableInput(`${name} is not a JSON object.`)
  } catch {
    return unusableInput(`${name} is not JSON in UTF-8.`)
  }
}
