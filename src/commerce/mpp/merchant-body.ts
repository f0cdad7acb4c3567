/** What a merchant sold, as the caller gets it. */
export type MerchantBody = Readonly<Record<string, unknown>>

/** How much of an answer is given on. */
export const MOST_BYTES = 1_048_576

/** Deeper than any answer that means well, and flat enough to be written again. */
const DEEPEST = 64
/** As many are read, checked and written again in a few milliseconds: other requests wait for that. */
const MOST_VALUES = 20_000

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i

interface MerchantContent {
  readonly body: Uint8Array
  readonly contentType: string | undefined
  /** Whether there was more of it than was read. */
  readonly cut: boolean
}

/**
 * A JSON object as it is; any other JSON as `value`, text as `text`, and the rest as `base64`. What was cut is marked. JSON of
 * more values or levels than can be given on at once stays text.
 */
export function merchantBody(content: MerchantContent): MerchantBody {
  const given = contentOf(content)
  return content.cut ? { ...given, truncated: true } : given
}

function contentOf({ body, contentType, cut }: MerchantContent): MerchantBody {
  const text = textOf(body, cut)
  if (text === undefined)
    return { base64: Buffer.from(body).toString('base64'), contentType: contentType?.slice(0, 200) ?? null }
  const isJson = contentType === undefined || JSON_TYPE.test(contentType)
  return (isJson && !isExcessive(text) && jsonOf(text)) || { text }
}

function jsonOf(text: string): MerchantBody | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as MerchantBody) : { value }
  } catch {
    return undefined
  }
}

/** What was cut may end inside of a character, which has four bytes at most. */
function textOf(body: Uint8Array, cut: boolean): string | undefined {
  for (let missing = 0; missing <= (cut ? 3 : 0); missing++) {
    try {
      const bytes = body.subarray(0, body.length - missing)
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    } catch {}
  }
  return undefined
}

/** Brackets and commas outside of strings are counted, before anything is parsed. */
function isExcessive(text: string): boolean {
  let [depth, values] = [0, 1]
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at)
    else if (character === ',') values++
    else if (character === '[' || character === '{') {
      depth++
      values++
    } else if (character === ']' || character === '}') depth--
    if (depth > DEEPEST || values > MOST_VALUES) return true
  }
  return false
}

/** The index of the quote that ends the string beginning here. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
