import { expect, test } from '@jest/globals'
import { findSpendingAgents } from '../../../src/control/policies/spenders.ts'
import { decodePolicyRules } from '../../../src/control/rules/rules.ts'
import type { Sql } from '../../../src/kernel/contract/sql.ts'

const tenant = { ownerId: 'customer_1', mode: 'test' } as const
const codes = Array.from({ length: 1_500 }, (_, n) => String(1_000 + n))

async function compiledPolicy(policyId: string, lists: object) {
  const row = {
    id: 'agent_1',
    policyId,
    policyVersion: 1,
    ...decodePolicyRules({ name: 'P', ...lists }),
  }
  const spenders = await findSpendingAgents((async () => [row]) as unknown as Sql, tenant, ['agent_1'])
  return spenders.get('agent_1')?.policy
}

test('a policy is compiled once, and dropped from the cache when others with long lists fill it', async () => {
  const small = await compiledPolicy('policy_small', {})
  for (let n = 0; n < 1_000; n++) await compiledPolicy(`policy_${n}`, {})
  expect(await compiledPolicy('policy_small', {})).toBe(small)
  for (let n = 0; n < 40; n++)
    await compiledPolicy(`policy_long_${n}`, { allowedMccs: codes, blockedMccs: codes })
  expect(await compiledPolicy('policy_small', {})).not.toBe(small)
})
