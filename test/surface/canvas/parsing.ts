import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parseSentence } from '../../../src/surface/canvas/parser/parse.ts'
import type { ParsedIntent } from '../../../src/surface/canvas/parser/parsed-intent.ts'
import { sentences, unclear, unknown } from '../../support/canvas/sentences.ts'

const vocabulary = {
  agents: [
    { id: 'agent_1', name: 'Reader' },
    { id: 'agent_2', name: 'Scout' },
    { id: 'agent_3', name: 'Twin' },
    { id: 'agent_4', name: 'Twin' },
  ],
  now: new Date('2026-11-22T09:30:00.000Z'),
}

function inWords(parsed: ParsedIntent): string {
  if (parsed.kind === 'unclear') return `unclear: ${parsed.question}`
  if (parsed.kind === 'unknown') return 'unknown'
  const { agent, euros, per, merchant, period, count, intentId } = parsed.slots
  const named = {
    agent: agent?.name,
    euros,
    per,
    merchant,
    intent: intentId,
    period: period?.label,
    count,
  }
  return [
    parsed.name,
    ...Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])),
  ].join(' ')
}

const TABLE = sentences.flatMap(([meaning, ...all]) => all.map(sentence => [sentence, meaning] as const))

describe('the grammar', () => {
  test.each(TABLE)('understands: %s', (sentence, meaning) => {
    expect(inWords(parseSentence(sentence, vocabulary))).toBe(meaning)
  })

  test.each(unclear)('asks back: %s', (sentence, words) => {
    expect(inWords(parseSentence(sentence, vocabulary))).toMatch(words)
  })

  test.each(unknown)('does not know: %s', sentence => {
    expect(inWords(parseSentence(sentence, vocabulary))).toBe('unknown')
  })

  test('has days of its own: a month is the last one of its name, a week begins on Monday', () => {
    const spanOf = (sentence: string) => {
      const parsed = parseSentence(sentence, vocabulary)
      const period = parsed.kind === 'request' ? parsed.slots.period : undefined
      return [period?.from.toISOString().slice(0, 10), period?.to.toISOString().slice(0, 10)]
    }
    expect(spanOf('what was spent in December')).toEqual(['2025-12-01', '2026-01-01'])
    expect(spanOf('what was spent in November')).toEqual(['2026-11-01', '2026-12-01'])
    expect(spanOf('what was spent this week')).toEqual(['2026-11-16', '2026-11-23'])
    expect(spanOf('what was spent in the last 7 days')).toEqual(['2026-11-16', '2026-11-23'])
    expect(spanOf('what was spent yesterday')).toEqual(['2026-11-21', '2026-11-22'])
  })

  test('answers any text, for any names of agents', () => {
    const name = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom('a', 'what', '.*', '(', '‹', '"'),
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 500 }),
      fc.constantFrom(...TABLE.map(([sentence]) => sentence)),
    )
    fc.assert(
      fc.property(text, fc.array(name, { maxLength: 4 }), (sentence, names) => {
        const agents = names.map((one, n) => ({ id: `agent_${n}`, name: one }))
        expect(['request', 'unclear', 'unknown']).toContain(
          parseSentence(sentence, { ...vocabulary, agents }).kind,
        )
      }),
    )
  })
})
