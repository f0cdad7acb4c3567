import { describe, expect, test } from '@jest/globals'
import { workflowBundle } from '../../../src/app/workflow-bundle.ts'
import { textOf } from '../../support/temporal/history-text.ts'
import { workflows } from '../../support/temporal/workflow-names.ts'
import { inTier } from '../../support/tier.ts'
import { histories, historyOf, momentsOf, processOf, replayed } from './histories.ts'

/** A whole replay passes each of its moments; continuing from each, as an open run does, takes many replays. */
const momentsTried = inTier((name: string) => [historyOf(name)], momentsOf)
const moments = histories.flatMap(name => momentsTried(name).map(history => [name, history] as const))
const unchanged = await replayed(await workflowBundle(), moments)

describe('a run that began under an earlier version', () => {
  test.each(histories)('continues under this version until its end: %s', name => {
    expect(moments.filter(([whose]) => whose === name).length).toBeGreaterThan(0)
    expect(unchanged.get(name)).toEqual([])
  })

  test.each(histories.filter(name => /-(?:asked-to-cancel|answered)/.test(name)))(
    'holds ids, and no name of a payee or an agent: %s',
    name => {
      const text = textOf(historyOf(name))
      expect(text).toMatch(/(?:intent|transfer|agent|request|recovery|onboarding|kycsubmission)_\w{26}/)
      for (const secret of [
        'Bookshop',
        'Müller',
        'Reader',
        'caching',
        'DE89',
        'Report',
        'Adler',
        'Hopper',
        'Lovelace',
        'Analytical',
        'Who owns',
      ])
        expect(text).not.toContain(secret)
    },
  )

  test('is replayed whole, and in the slow tier also from moments at which it was open', () => {
    expect(moments.length).toBeGreaterThanOrEqual(histories.length * inTier(1, 3))
  })

  test('is recorded for every process', () => {
    const kinds = new Set(histories.map(processOf))
    expect(kinds).toEqual(new Set(workflows))
  })
})
