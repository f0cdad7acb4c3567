import { expect } from '@jest/globals'
import {
  type DecisionRow,
  decodeDecisionCounters,
  decodeDecisionRequest,
} from '../../../src/control/decisions/stored-decision.ts'
import { compilePolicy, decideSpendByRules } from '../../../src/control/rules/decide.ts'
import type { SpendRuling } from '../../../src/control/rules/decision.ts'
import { decodePolicyRules } from '../../../src/control/rules/rules.ts'
import type { TestService } from '../harness.ts'

export const decideAgain = (
  { request, counters }: Pick<DecisionRow, 'request' | 'counters'>,
  rules: Readonly<Record<string, unknown>> | null,
): SpendRuling =>
  decideSpendByRules(
    compilePolicy(rules && decodePolicyRules(rules)),
    decodeDecisionRequest(request),
    decodeDecisionCounters(counters),
  )

type StoredRow = Parameters<typeof decideAgain>[0] & {
  readonly rules: Record<string, unknown>
  readonly result: object
}

/** Repeats every stored decision, expects the stored result, and returns the decisions. */
export async function expectSameDecisions({ sql }: Pick<TestService, 'sql'>): Promise<readonly StoredRow[]> {
  const stored = await sql<StoredRow>(
    `select v.rules, d.request, d.counters, d.result from decisions d
     left join policy_versions v on (v.policy_id, v.version) = (d.policy_id, d.policy_version)`,
  )
  for (const { rules, result, ...inputs } of stored) {
    const { holdCents, ...ruling } = decideAgain(inputs, rules)
    expect({ ...ruling, holdEuros: String(holdCents) }).toEqual(result)
  }
  return stored
}
