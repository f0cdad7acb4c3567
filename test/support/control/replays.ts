import { expect } from '@jest/globals'
import { replay } from '../../../src/control/decisions/stored-decision.ts'
import type { TestService } from '../harness.ts'

type Stored = Parameters<typeof replay>[0] & {
  readonly rules: Record<string, unknown>
  readonly result: object
}

/** Every decision that is stored, when it has said the same on being asked again. */
export async function replayed({ sql }: Pick<TestService, 'sql'>): Promise<readonly Stored[]> {
  const stored = await sql<Stored>(
    `select v.rules, d.request, d.counters, d.result from decisions d
     left join policy_versions v on (v.policy_id, v.version) = (d.policy_id, d.policy_version)`,
  )
  for (const { rules, result, ...inputs } of stored) {
    const { holdEuros, ...said } = replay(inputs, rules)
    expect({ ...said, holdEuros: String(holdEuros) }).toEqual(result)
  }
  return stored
}
