import { expect, test } from '@jest/globals'
import { findSpenders } from '../../../src/control/policies/spenders.ts'
import { rulesFromRecord } from '../../../src/control/rules/rules.ts'
import type { Sql } from '../../../src/kernel/contract/sql.ts'

const tenant = { ownerId: 'customer_1', mode: 'test' } as const
const codes = Array.from({ length: 1_500 }, (_, n) => String(1_000 + n))

/** A policy as it was made ready for the agent that it governs. */
async function ready(policyId: string, lists: object) {
  const row = {
    id: 'agent_1',
    policyId,
    policyVersion: 1,
    ...rulesFromRecord({ name: 'P', ...lists }),
  }
  const spenders = await findSpenders((async () => [row]) as unknown as Sql, tenant, ['agent_1'])
  return spenders.get('agent_1')?.policy
}

test('a policy is made ready once; of many with long lists no more is kept than there is memory for', async () => {
  const small = await ready('policy_small', {})
  for (let n = 0; n < 1_000; n++) await ready(`policy_${n}`, {})
  expect(await ready('policy_small', {})).toBe(small)
  for (let n = 0; n < 40; n++) await ready(`policy_long_${n}`, { allowedMccs: codes, blockedMccs: codes })
  expect(await ready('policy_small', {})).not.toBe(small)
})
