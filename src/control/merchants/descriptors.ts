import { findKnownMerchant } from './known-merchants.ts'
import { mccDescription } from './mcc.ts'
import { guessMcc } from './mcc-keywords.ts'
import {
  countTrailingNoiseWords,
  descriptorWords,
  isCountry,
  isKnownMerchantNoise,
  isNoise,
  legalForms,
  stripProcessorPrefixes,
  withoutReferenceNumbers,
} from './noise.ts'

export interface ResolvedDescriptor {
  readonly query: string
  readonly name: string
  readonly mcc: string | null
  readonly category: string | null
  readonly processor: string | null
  readonly confidence: number
}

/** Confidence per match method, calibrated on the test's descriptors. */
const CONFIDENCE = { known: 0.95, beginsAsKnown: 0.7, guessed: 0.5, cleaned: 0.3, nothing: 0 }

type Resolution = Pick<ResolvedDescriptor, 'name' | 'mcc' | 'confidence'>

/**
 * Finds a known merchant, unless other words name another trade: the Shell Beach Restaurant is not a filling
 * station.
 */
function resolveKnown(words: readonly string[]): Resolution | undefined {
  const match = findKnownMerchant(words)
  if (!match) return undefined
  const { merchant, rest } = match
  const nameWords = descriptorWords(merchant.name)
  if ((guessMcc(rest.filter(word => !isKnownMerchantNoise(word))) ?? merchant.mcc) !== merchant.mcc)
    return undefined
  const isWholeText = rest.every(word => isKnownMerchantNoise(word) || nameWords.includes(word))
  return { ...merchant, confidence: isWholeText ? CONFIDENCE.known : CONFIDENCE.beginsAsKnown }
}

export function knownMerchantName(text: string): string | undefined {
  const resolution = resolveKnown(descriptorWords(text))
  return resolution?.confidence === CONFIDENCE.known ? resolution.name : undefined
}

const hasOnlyAscii = (text: string): boolean => /^[ -~]*$/.test(text)

const isContinuation = (glued: string): boolean =>
  glued === '' || glued === 'COM' || legalForms.has(glued) || /\d/.test(glued)

/**
 * The known merchant whose listed spelling is the whole text, apart from numbers, places, countries and legal
 * forms. What follows an asterisk after a listed spelling is a product: `GITHUB *PRO`. Letters with accents or
 * of other scripts prove nothing, as card networks do not write them.
 */
export function provenKnownName(text: string): string | undefined {
  const match = hasOnlyAscii(text) ? findKnownMerchant(descriptorWords(text)) : undefined
  if (!match || !isContinuation(match.glued)) return undefined
  const { merchant, rest } = match
  const asterisk = text.indexOf('*')
  const before = asterisk > 0 ? findKnownMerchant(descriptorWords(text.slice(0, asterisk))) : undefined
  if (before && isContinuation(before.glued) && before.rest.every(isCountry)) return merchant.name
  const nameWords = descriptorWords(merchant.name)
  return rest.every(word => isNoise(word) || nameWords.includes(word)) ? merchant.name : undefined
}

const partWithName = (text: string): string =>
  text
    .split(/(?<!:)\/\/|\s{3,}|\s-\s|\t/)
    .flatMap(part => part.split('*'))
    .map(part => part.trim())
    .find(part => /\p{L}{2}/u.test(part)) ?? text

const host = /^(?:https?:\/\/)?(?:www\.)?([a-z\d-]{2,})\.(?:[a-z]{2,}\.)?[a-z]{2,}(?:\/\S*)?$/i

export function noiseTrimmingSteps(text: string): string[][] {
  let words = withoutReferenceNumbers(partWithName(text))
    .split(/[\s_,;]+/)
    .map(word => word.replace(host, '$1').replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}+!]+$/gu, ''))
    .filter(Boolean)
  const steps = [words]
  while (words.length > 1) {
    const noise = countTrailingNoiseWords(words.map(word => descriptorWords(word).join('')))
    if (noise === 0) break
    words = words.slice(0, -noise)
    steps.push(words)
  }
  return steps
}

const capitalize = (word: string): string =>
  /\p{Ll}/u.test(word) || /^[^AEIOUY\P{Lu}]{2,3}$/u.test(word)
    ? word
    : word.toLowerCase().replace(/(?<=^|[-.&+\d])\p{L}/gu, first => first.toUpperCase())

function guessName(text: string): Resolution {
  const words = noiseTrimmingSteps(text).at(-1) ?? []
  const name = words.map(capitalize).join(' ')
  if (!/\p{L}.*\p{L}/u.test(name)) return { name: text.trim(), mcc: null, confidence: CONFIDENCE.nothing }
  const mcc = guessMcc(descriptorWords(name))
  return { name, mcc, confidence: mcc ? CONFIDENCE.guessed : CONFIDENCE.cleaned }
}

/** Applies only rules, so the same text always has the same result. */
export function resolveDescriptor(query: string): ResolvedDescriptor {
  const { text, processors } = stripProcessorPrefixes(query)
  const { name, mcc, confidence } =
    resolveKnown(descriptorWords(text)) ??
    resolveKnown(descriptorWords(withoutReferenceNumbers(text))) ??
    guessName(text || query)
  return {
    query,
    name,
    mcc,
    category: mcc && mccDescription(mcc),
    processor: processors.at(-1) ?? null,
    confidence,
  }
}
