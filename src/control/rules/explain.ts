import { ruleTable } from './decide.ts'
import type { Check } from './decision.ts'

/** One rule in words, whether it had anything to say or not. */
export interface RuleExplanation {
  readonly rule: string
  readonly outcome: Check['outcome']
  readonly message: string
  /** The change that would lead to a yes; null if none is needed. */
  readonly remedy: string | null
}

/** Explains every rule of the table, in its order, by the checks of a decision. */
export const explainChecks = (checks: readonly Check[], isWaiting: boolean): RuleExplanation[] =>
  ruleTable.map(({ name, alias, skipMessage, remedy }) => {
    const check = checks.find(({ rule }) => rule === name || rule === alias)
    if (!check) return { rule: name, outcome: 'skip', message: skipMessage, remedy: null }
    const { rule, outcome, message } = check
    const isObstacle = outcome === 'fail' || (outcome === 'review' && isWaiting)
    return { rule, outcome, message, remedy: isObstacle ? remedy : null }
  })
