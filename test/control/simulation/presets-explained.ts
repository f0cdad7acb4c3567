import { describe, expect, test } from '@jest/globals'
import { encode } from 'zod'
import { type Probed, probeRules } from '../../../src/control/policies/probe.ts'
import { presets } from '../../../src/control/rules/presets.ts'
import { PolicyCreate } from '../../../src/control/rules/rules.ts'
import { formatEuros } from '../../../src/values/money.ts'

type Situation = Probed['situation']
const time = (at: Date | null | undefined) => at?.toISOString().slice(11, 16)
const minutesFrom = (from: Date | null | undefined, to: Date) => (to.getTime() - Number(from)) / 60_000

const NOW = new Date('2026-11-20T12:30:00.000Z')

describe('the presets', () => {
  /** The rule under which a member of the policy is probed. */
  const ruleOf: Readonly<Record<string, string>> = {
    activeHoursEnd: 'activeHoursStart',
    attestationWindowMinutes: 'requireAttestation',
    expirationAction: 'expiresAfterMinutes',
  }

  /** What an explanation must say, by what the probe has found out. */
  const said: Readonly<Record<string, (passes: Situation, preset: (typeof presets)[number]) => string>> = {
    maxTransactionEuros: one => formatEuros(one.amountEuros),
    autoApproveLimitEuros: one => formatEuros(one.amountEuros),
    dailyLimitEuros: one => formatEuros(one.dayEuros + one.amountEuros),
    monthlyLimitEuros: one => formatEuros(one.monthEuros + one.amountEuros),
    maxUsageCount: one => `${one.uses + 1} payments`,
    activeHoursStart: one => String(time(one.at)),
    cooldownMinutes: one => `${minutesFrom(one.lastSpendAt, one.at)} minutes`,
    attestationWindowMinutes: one => `${minutesFrom(one.approval?.attestedAt, one.at)} minutes`,
    expiresAfterMinutes: (_, { policy }) => `${Number(policy.expiresAfterMinutes) / 1_440} days`,
    allowedCountries: (_, { policy }) => `${policy.allowedCountries.length} countries`,
    amountTolerancePercent: ({ chargedEuros, amountEuros }) => {
      const more = Math.round(((Number(chargedEuros) - Number(amountEuros)) * 100) / Number(amountEuros))
      return more === 0 ? 'must be' : `${more} percent`
    },
  }

  test.each(presets.map(preset => [preset.id, preset] as const))('%s explains what it does', (_, preset) => {
    const { rules, warnings } = probeRules(preset.policy, NOW)
    expect(warnings).toEqual([])
    const explained = Object.keys(preset.explanation).map(field => ruleOf[field] ?? field)
    expect([...new Set(explained)].toSorted()).toEqual(
      rules
        .map(({ rule }) => rule)
        .filter(rule => rule !== 'autoApproveLimitEuros' || explained.includes(rule))
        .toSorted(),
    )
    for (const { rule, stops } of rules)
      expect([rule, stops?.outcome]).toEqual([rule, expect.stringMatching(/fail|review/)])
    for (const [field, text] of Object.entries(preset.explanation)) {
      const passes = rules.find(({ rule }) => rule === (ruleOf[field] ?? field))?.passes
      if (passes)
        expect(text.replaceAll(',', '')).toContain(
          (said[field]?.(passes.situation, preset) ?? '').replaceAll(',', ''),
        )
    }
    const someoneCanPay = rules.some(({ passes }) => passes && passes.verdict !== 'denied')
    expect(someoneCanPay).toBe(true)
  })

  test('set every member that they explain', () => {
    const bare = encode(PolicyCreate, PolicyCreate.parse({ name: 'P' }))
    for (const { id, policy: rules, explanation } of presets) {
      const set = encode(PolicyCreate, rules)
      const members = Object.keys(set).filter(
        name =>
          name !== 'name' && JSON.stringify(set[name as 'name']) !== JSON.stringify(bare[name as 'name']),
      )
      const told = Object.keys(explanation).filter(name => name !== 'autoApproveLimitEuros')
      expect([id, told.toSorted()]).toEqual([
        id,
        members.filter(name => name !== 'autoApproveLimitEuros').toSorted(),
      ])
    }
  })
})
