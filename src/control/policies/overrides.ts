import { isDeepStrictEqual } from 'node:util'
import { type Rules, ruleNames, rulesOnRecord } from '../rules/index.ts'

/** Of each rule that was set for one agent alone, what its template says of it; as the contract writes it. */
export type Overridden = Readonly<Partial<Record<keyof Rules, unknown>>>

/** The rules that can be switched by themselves. */
export const switches = ['lockToFirstMerchant', 'requireIntent', 'requireAttestation'] as const
type Switch = (typeof switches)[number]

const isSwitch = (rule: string): rule is Switch => switches.includes(rule as Switch)

/** What is set for an agent alone once its rules are these: what says again what the template says is none of it. */
export function overriddenAfter(overridden: Overridden, before: Rules, after: Rules): Overridden {
  const [was, is] = [rulesOnRecord(before), rulesOnRecord(after)]
  const next = { ...overridden }
  for (const rule of ruleNames) {
    if (rule === 'name' || isDeepStrictEqual(was[rule], is[rule])) continue
    const fromTemplate = rule in overridden ? overridden[rule] : was[rule]
    if (isDeepStrictEqual(is[rule], fromTemplate)) delete next[rule]
    else next[rule] = fromTemplate
  }
  return next
}

/** What was set for an agent alone and stays: all of it under its own template, under another one what is switched on. */
export const keptUnder = (overridden: Overridden, rules: Rules, isOther: boolean): (keyof Rules)[] =>
  ruleNames.filter(rule => rule in overridden && !(isOther && !(isSwitch(rule) && rules[rule])))
