import { isDeepStrictEqual } from 'node:util'
import { encodeRules, type Rules, ruleNames } from '../rules/index.ts'

/** The rules that were set for one agent alone, with the template's value of each, as the contract writes it. */
export type OverriddenRules = Readonly<Partial<Record<keyof Rules, unknown>>>

/** The rules that can be switched on and off by themselves. */
export const toggles = ['lockToFirstMerchant', 'requireIntent', 'requireAttestation'] as const
export type Toggle = (typeof toggles)[number]

const isToggle = (rule: string): rule is Toggle => toggles.includes(rule as Toggle)

/** The overridden rules after a change. A rule that is set back to the template's value is overridden no more. */
export function overriddenAfter(overridden: OverriddenRules, before: Rules, after: Rules): OverriddenRules {
  const oldValues = encodeRules(before)
  const newValues = encodeRules(after)
  const next = { ...overridden }
  for (const rule of ruleNames) {
    if (rule === 'name' || isDeepStrictEqual(oldValues[rule], newValues[rule])) continue
    const templateValue = rule in overridden ? overridden[rule] : oldValues[rule]
    if (isDeepStrictEqual(newValues[rule], templateValue)) delete next[rule]
    else next[rule] = templateValue
  }
  return next
}

/** The overridden rules that outlive a copy: all under the same template, under another one the toggles that are on. */
export const keptOverrides = (
  overridden: OverriddenRules,
  rules: Rules,
  isSameTemplate: boolean,
): (keyof Rules)[] =>
  ruleNames.filter(rule => rule in overridden && (isSameTemplate || (isToggle(rule) && rules[rule])))
