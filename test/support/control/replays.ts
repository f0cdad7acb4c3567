import { expect } from '@jest/globals'
import { replay } from '../../../src/control/decisions/stored-decision.ts'
import type { TestService } from '../harness.ts'

type StoredInputs = Parameters<typeof replay>[0] & {
  readonly rules: Record<string, unknown>
  readonly result: object
}

/** Replays every stored decision, expects the result that is stored with it, and returns them all. */
export async function replayDecisions({ sql }: Pick<TestService, 'sql'>): Promise<readonly StoredInputs[]> {
  const decisions = await sql<StoredInputs>(
    `select v.rules, d.request, d.counters, d.result from decisions d
     left join policy_versions v on (v.policy_id, v.version) = (d.policy_id, d.policy_version)`,
  )
  for (const { rules, result, ...inputs } of decisions) {
    const { holdEuros, ...ruling } = replay(inputs, rules)
    expect({ ...ruling, holdEuros: String(holdEuros) }).toEqual(result)
  }
  return decisions
}
