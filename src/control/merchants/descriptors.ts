import { guessMcc } from './mcc-keywords.ts'
import { findKnown } from './known-merchants.ts'
import { categoryOf } from './mcc.ts'
import { isNoiseOfKnown, noiseAtEnd, withoutNumbers, wordsOf } from './noise.ts'
import { unwrap } from './processors.ts'

export interface Resolved {
  readonly query: string
  readonly name: string
  readonly mcc: string | null
  readonly category: string | null
  readonly processor: string | null
  readonly confidence: number
}

/** How often the name and the category are right where they were found so; the committed descriptors are the measure. */
const CONFIDENCE = { known: 0.95, beginsAsKnown: 0.7, guessed: 0.5, cleaned: 0.3, nothing: 0 }

type Guess = Pick<Resolved, 'name' | 'mcc' | 'confidence'>

function known(words: readonly string[]): Guess | undefined {
  const found = findKnown(words)
  if (!found) return undefined
  const { merchant, rest } = found
  const own = wordsOf(merchant.name)
  // Words of another trade: the Shell Beach Restaurant is no filling station.
  if ((guessMcc(rest.filter(word => !isNoiseOfKnown(word))) ?? merchant.mcc) !== merchant.mcc)
    return undefined
  const isAll = rest.every(word => isNoiseOfKnown(word) || own.includes(word))
  return { ...merchant, confidence: isAll ? CONFIDENCE.known : CONFIDENCE.beginsAsKnown }
}

/** The name of a merchant that is known, where a text says nothing else. */
export function knownName(text: string): string | undefined {
  const found = known(wordsOf(text))
  return found?.confidence === CONFIDENCE.known ? found.name : undefined
}

/** The part of a text in which the name stands: before the padding, the girocard’s place, the reference. */
const partWithName = (text: string): string =>
  text
    .split(/(?<!:)\/\/|\s{3,}|\s-\s|\t/)
    .flatMap(part => part.split('*'))
    .map(part => part.trim())
    .find(part => /\p{L}{2}/u.test(part)) ?? text

const host = /^(?:https?:\/\/)?(?:www\.)?([a-z\d-]{2,})\.(?:[a-z]{2,}\.)?[a-z]{2,}(?:\/\S*)?$/i

/** The words of a name; then the same without the noise at its end, for as long as there is some. */
export function lessAndLess(text: string): string[][] {
  let words = withoutNumbers(partWithName(text))
    .split(/[\s_,;]+/)
    .map(word => word.replace(host, '$1').replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}+!]+$/gu, ''))
    .filter(Boolean)
  const all = [words]
  while (words.length > 1) {
    const noise = noiseAtEnd(words.map(word => wordsOf(word).join('')))
    if (noise === 0) break
    words = words.slice(0, -noise)
    all.push(words)
  }
  return all
}

/** A word in capitals as it is written in a sentence; one that has small letters knows how it is written. */
const inSentence = (word: string): string =>
  /\p{Ll}/u.test(word) || /^[^AEIOUY\P{Lu}]{2,3}$/u.test(word)
    ? word
    : word.toLowerCase().replace(/(?<=^|[-.&+\d])\p{L}/gu, first => first.toUpperCase())

function guessed(text: string): Guess {
  const words = lessAndLess(text).at(-1) ?? []
  const name = words.map(inSentence).join(' ')
  if (!/\p{L}.*\p{L}/u.test(name)) return { name: text.trim(), mcc: null, confidence: CONFIDENCE.nothing }
  const mcc = guessMcc(wordsOf(name))
  return { name, mcc, confidence: mcc ? CONFIDENCE.guessed : CONFIDENCE.cleaned }
}

/** Who is behind the text of a statement. By rules alone: the same text always has the same answer. */
export function resolveDescriptor(query: string): Resolved {
  const { text, processors } = unwrap(query)
  const { name, mcc, confidence } =
    known(wordsOf(text)) ?? known(wordsOf(withoutNumbers(text))) ?? guessed(text || query)
  return {
    query,
    name,
    mcc,
    category: mcc && categoryOf(mcc),
    processor: processors.at(-1) ?? null,
    confidence,
  }
}
