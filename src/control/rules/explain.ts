import { ruleTable } from './decide.ts'
import type { Check } from './decision.ts'

/** One rule in words, whether it had anything to say or not. */
export interface Explained {
  readonly rule: string
  readonly outcome: Check['outcome']
  readonly message: string
  /** What would have to change for a yes; null where nothing must. */
  readonly remedy: string | null
}

/** Every rule of the table, in its order: what it said, or that it had nothing against it. */
export const explain = (checks: readonly Check[], waits: boolean): Explained[] =>
  ruleTable.map(({ name, also, silent, remedy }) => {
    const check = checks.find(({ rule }) => rule === name || rule === also)
    if (!check) return { rule: name, outcome: 'skip', message: silent, remedy: null }
    const { rule, outcome, message } = check
    const isAgainst = outcome === 'fail' || (outcome === 'review' && waits)
    return { rule, outcome, message, remedy: isAgainst ? remedy : null }
  })
