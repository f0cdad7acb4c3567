import { expect, test } from '@jest/globals'
import { sqlCondition } from '../../../src/kernel/contract/conditions.ts'
import { definedOnly } from '../../../src/kernel/database/entity.ts'

test('filters that a request did not send are left out, and a condition in SQL stays', () => {
  const condition = sqlCondition('agent_id = ?', ['agent_1'])
  expect(definedOnly({ status: 'open', from: undefined, ...condition })).toEqual({
    status: 'open',
    ...condition,
  })
  expect(Object.getOwnPropertySymbols(condition)).toHaveLength(1)
})
