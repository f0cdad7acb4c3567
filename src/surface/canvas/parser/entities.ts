import type { LimitPeriod, NamedAgent, ParsedPeriod, Vocabulary } from './parsed-intent.ts'
import { extractPeriod } from './periods.ts'

export interface SentenceEntities {
  readonly text: string
  readonly agents: readonly (readonly NamedAgent[])[]
  readonly numbers: readonly { readonly value: number | null; readonly as: string }[]
  readonly merchants: readonly string[]
  readonly intents: readonly string[]
  readonly per?: LimitPeriod
  readonly period?: ParsedPeriod
}

const PER: readonly (readonly [RegExp, LimitPeriod])[] = [
  [/\b(?:an?|per|each|every) day\b|\bdaily\b/, 'day'],
  [/\b(?:an?|per|each|every) month\b|\bmonthly\b/, 'month'],
  [
    /\b(?:per|for one|for each|for every|in one) (?:payment|transaction|purchase|intent)\b|\bat (?:once|a time)\b/,
    'payment',
  ],
]

/** Words of the grammar. An agent with one of these names is found only in quotes, or by its id. */
const WORDS = new Set(
  'a an and agent agents all at balance block budget card cards day freeze help i in is it last let limit me month my of on payment payments show spend spent the this to today up was what who why'.split(
    ' ',
  ),
)

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function plain(sentence: string): string {
  const small = sentence
    .normalize('NFC')
    .replace(/[‹›]/g, '')
    .replace(/[“”„«»"]/g, '"')
    .replace(/[’‘`´]/g, "'")
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\s.!?]+$/, '')
  return small
    .replace(/^(?:(?:hey|hi|hello|ok|okay|so|and|now|please|kindly)\b[, ]*)+(?=\S)/, '')
    .replace(
      /^(?:(?:can|could|would|will) (?:you|i)|i(?:'d| would) like(?: you)? to|i want(?: you)? to)\s+(?:please )?/,
      '',
    )
    .replace(/,? (?:please|thanks|thank you)$/, '')
    .replace(/\bwhat's\b/g, 'what is')
    .replace(/\bwho's\b/g, 'who is')
    .replace(/\bdon't\b/g, 'do not')
}

export function extractEntities(sentence: string, { agents, now }: Vocabulary): SentenceEntities {
  const found: NamedAgent[][] = []
  let text = plain(sentence)
  const intents: string[] = []
  text = text.replace(/\bintent_[0-9a-z]{1,100}\b/g, id => `‹intent${intents.push(id) - 1}›`)
  text = text.replace(/\bagent_[0-9a-z]{1,100}\b/g, id => {
    const agent = agents.find(one => one.id === id)
    return agent ? `‹agent${found.push([agent]) - 1}›` : id
  })
  for (const [name, same] of namesOf(agents)) {
    const quoted = new RegExp(`"${escaped(name)}"`, 'gu')
    const bare = new RegExp(`(?<![\\p{L}\\p{N}‹.-])${escaped(name)}(?![\\p{L}\\p{N}›]|\\.\\p{L})`, 'gu')
    for (const pattern of WORDS.has(name) ? [quoted] : [quoted, bare])
      if (pattern.test(text)) text = text.replace(pattern, `‹agent${found.push(same) - 1}›`)
  }
  text = text.replace(/(‹agent\d+›)'s?(?= |$)/g, '$1')
  const timed = extractPeriod(text, now)
  const merchants: string[] = []
  text = timed.text
    .replace(/"([^"]{1,100})"/g, (_, name: string) => `‹merchant${merchants.push(name) - 1}›`)
    .replace(
      /(?<![\p{L}\d@])(?:[\p{L}\d-]+\.)+\p{L}{2,}(?![\p{L}\d])/gu,
      host => `‹merchant${merchants.push(host) - 1}›`,
    )
  const per = PER.find(([pattern]) => pattern.test(text))
  if (per) text = text.replace(per[0], '‹per›')
  const numbers: { value: number | null; as: string }[] = []
  text = text.replace(
    /(€|eur |euros? )?(?<![\p{L}\d])(\d[\d.,]*\d|\d)(?![\p{L}\d])( ?(?:€|eur|euros?)(?![\p{L}]))?/gu,
    (all, _, digits: string) => {
      const value = numberIn(digits)
      return value === undefined ? all : `‹number${numbers.push({ value, as: digits }) - 1}›`
    },
  )
  return {
    text: text.replace(/\s+/g, ' ').trim(),
    agents: found,
    numbers,
    merchants,
    intents,
    ...(per ? { per: per[1] } : {}),
    ...(timed.period ? { period: timed.period } : {}),
  }
}

function namesOf(agents: readonly NamedAgent[]): [name: string, agents: NamedAgent[]][] {
  const byName = Map.groupBy(agents, ({ name }) => plainName(name))
  return [...byName].filter(([name]) => name !== '').sort(([one], [other]) => other.length - one.length)
}

const plainName = (name: string): string => name.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim()

function numberIn(text: string): number | null | undefined {
  if (/^\d+$/.test(text)) return Number(text)
  // One separator before exactly three digits may separate thousands or decimals.
  if (/^\d{1,3}[.,]\d{3}$/.test(text)) return null
  if (/^\d+[.,]\d{1,2}$/.test(text)) return Number(text.replace(',', '.'))
  const [, whole, , , rest] = /^(\d{1,3}(([.,])\d{3})+)(?!\3)[.,](\d{1,2})$/.exec(text) ?? []
  if (whole !== undefined) return Number(`${whole.replace(/[.,]/g, '')}.${rest}`)
  const isGrouped = /^\d{1,3}(?:\.\d{3}){2,}$|^\d{1,3}(?:,\d{3}){2,}$/.test(text)
  return isGrouped ? Number(text.replace(/[.,]/g, '')) : undefined
}
