import { jsonStringEnd } from '../../values/canonical-json.ts'
import { maskCardNumbers, maskCardNumbersIn } from '../../values/mask-card-numbers.ts'
import { parseWholeNumbers } from '../../values/whole-numbers.ts'

export type MerchantBody = Readonly<Record<string, unknown>>

export const MAX_MERCHANT_BODY_BYTES = 1_048_576

/** Deeper than any honest answer, and flat enough to be serialized again. */
const MAX_DEPTH = 64
/** This many values are parsed, checked and serialized in a few milliseconds, during which other requests wait. */
const MAX_VALUES = 20_000

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i

interface MerchantContent {
  readonly body: Uint8Array
  readonly contentType: string | undefined
  readonly cut: boolean
}

interface ParsedContent {
  readonly members: MerchantBody
  readonly isMasked: boolean
}

/**
 * Returns a JSON object as it is, any other JSON as `value`, text as `text`, and the rest as `base64`. Marks
 * a truncated answer. JSON with too many values or levels stays text. Card numbers are masked, and marked,
 * before anything is passed on or stored.
 */
export function encodeMerchantBody(content: MerchantContent): MerchantBody {
  const { members, isMasked } = contentOf(content)
  return { ...members, ...(content.cut && { truncated: true }), ...(isMasked && { masked: true }) }
}

function contentOf({ body, contentType, cut }: MerchantContent): ParsedContent {
  const text = textOf(body, cut)
  if (text === undefined) return bytesOf(body, contentType, cut)
  const isJson = contentType === undefined || JSON_TYPE.test(contentType)
  const masked = maskCardNumbers(text, { isCut: cut })
  return (
    (isJson && !isExcessive(text) && jsonOf(text, masked !== text)) || {
      members: { text: masked },
      isMasked: masked !== text,
    }
  )
}

/** Each character of Latin-1 is one byte, so masking keeps the length in bytes. */
function bytesOf(body: Uint8Array, contentType: string | undefined, isCut: boolean): ParsedContent {
  const bytes = Buffer.from(body).toString('latin1')
  const masked = maskCardNumbers(bytes, { isCut })
  return {
    members: {
      base64: Buffer.from(masked, 'latin1').toString('base64'),
      contentType: contentType === undefined ? null : maskCardNumbers(contentType.slice(0, 200)),
    },
    isMasked: masked !== bytes,
  }
}

/** JSON may write a digit as an escape, or a number with an exponent, and then its text does not show a card number. */
const HIDDEN = /\\u00|\d[eE]\+?\d/

function jsonOf(text: string, isFound: boolean): ParsedContent | undefined {
  try {
    const value = parseWholeNumbers(text)
    const given = isFound || HIDDEN.test(text) ? maskCardNumbersIn(value) : value
    const isMasked = given !== value && JSON.stringify(given) !== JSON.stringify(value)
    return { members: membersOf(given), isMasked }
  } catch {
    return undefined
  }
}

const membersOf = (value: unknown): MerchantBody => {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as MerchantBody) : { value }
}

/** Truncation may split a character, which has at most four bytes. */
function textOf(body: Uint8Array, cut: boolean): string | undefined {
  for (let missing = 0; missing <= (cut ? 3 : 0); missing++) {
    try {
      const bytes = body.subarray(0, body.length - missing)
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    } catch {}
  }
  return undefined
}

function isExcessive(text: string): boolean {
  let [depth, values] = [0, 1]
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') at = jsonStringEnd(text, at)
    else if (character === ',') values++
    else if (character === '[' || character === '{') {
      depth++
      values++
    } else if (character === ']' || character === '}') depth--
    if (depth > MAX_DEPTH || values > MAX_VALUES) return true
  }
  return false
}
