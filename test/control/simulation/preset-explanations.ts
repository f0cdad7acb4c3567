import { describe, expect, test } from '@jest/globals'
import { type ProbedSituation, probeRules } from '../../../src/control/policies/probe.ts'
import { policyPresets } from '../../../src/control/rules/presets.ts'
import { PolicyCreate } from '../../../src/control/rules/rules.ts'
import { encodeJson } from '../../../src/values/json-names.ts'
import { addCents, formatMoney } from '../../../src/values/money.ts'

type Situation = ProbedSituation['situation']
const time = (at: Date | null | undefined) => at?.toISOString().slice(11, 16)
const minutesFrom = (from: Date | null | undefined, to: Date) => (to.getTime() - Number(from)) / 60_000

const NOW = new Date('2026-11-20T12:30:00.000Z')

describe('a preset', () => {
  /** The rule under which a member of the policy is probed. */
  const ruleOf: Readonly<Record<string, string>> = {
    activeHoursEnd: 'activeHoursStart',
    attestationWindowMinutes: 'requireAttestation',
    expirationAction: 'expiresAfterMinutes',
  }

  /** The words that an explanation must contain, by what the probe lets pass. */
  const expectedWords: Readonly<
    Record<string, (passes: Situation, preset: (typeof policyPresets)[number]) => string>
  > = {
    maxTransactionEuros: situation => formatMoney(situation.amountCents),
    autoApproveLimitEuros: situation => formatMoney(situation.amountCents),
    dailyLimitEuros: situation => formatMoney(addCents(situation.dayCents, situation.amountCents)),
    monthlyLimitEuros: situation => formatMoney(addCents(situation.monthCents, situation.amountCents)),
    maxUsageCount: situation => `${situation.uses + 1} payments`,
    activeHoursStart: situation => String(time(situation.at)),
    cooldownMinutes: situation => `${minutesFrom(situation.lastSpendAt, situation.at)} minutes`,
    attestationWindowMinutes: situation =>
      `${minutesFrom(situation.approval?.attestedAt, situation.at)} minutes`,
    expiresAfterMinutes: (_, { policy }) => `${Number(policy.expiresAfterMinutes) / 1_440} days`,
    allowedCountries: (_, { policy }) => `${policy.allowedCountries.length} countries`,
    amountTolerancePercent: ({ chargedCents, amountCents }) => {
      const percent = Math.round(((Number(chargedCents) - Number(amountCents)) * 100) / Number(amountCents))
      return percent === 0 ? 'must be' : `${percent} percent`
    },
  }

  test.each(policyPresets.map(preset => [preset.id, preset] as const))(
    'explains what it does: %s',
    (_, preset) => {
      const { rules, warnings } = probeRules(preset.policy, NOW)
      expect(warnings).toEqual([])
      const explainedRules = Object.keys(preset.explanation).map(field => ruleOf[field] ?? field)
      expect([...new Set(explainedRules)].toSorted()).toEqual(
        rules
          .map(({ rule }) => rule)
          .filter(rule => rule !== 'autoApproveLimitEuros' || explainedRules.includes(rule))
          .toSorted(),
      )
      for (const { rule, stops } of rules)
        expect([rule, stops?.outcome]).toEqual([rule, expect.stringMatching(/fail|review/)])
      for (const [field, text] of Object.entries(preset.explanation)) {
        const passes = rules.find(({ rule }) => rule === (ruleOf[field] ?? field))?.passes
        if (passes)
          expect(text.replaceAll(',', '')).toContain(
            (expectedWords[field]?.(passes.situation, preset) ?? '').replaceAll(',', ''),
          )
      }
      const canPay = rules.some(({ passes }) => passes && passes.verdict !== 'denied')
      expect(canPay).toBe(true)
    },
  )

  test('sets every member that it explains', () => {
    const defaults = encodeJson(PolicyCreate, PolicyCreate.parse({ name: 'P' }))
    for (const { id, policy: rules, explanation } of policyPresets) {
      const values = encodeJson(PolicyCreate, rules)
      const members = Object.keys(values).filter(
        name =>
          name !== 'name' &&
          JSON.stringify(values[name as 'name']) !== JSON.stringify(defaults[name as 'name']),
      )
      const explained = Object.keys(explanation).filter(name => name !== 'autoApproveLimitEuros')
      expect([id, explained.toSorted()]).toEqual([
        id,
        members.filter(name => name !== 'autoApproveLimitEuros').toSorted(),
      ])
    }
  })
})
