import { describe, expect, test } from '@jest/globals'
import { testsOf } from '../../src/bin/launcher/changed-tests.mjs'

const files = [
  'src/control/runs/runs.ts',
  'src/commerce/mpp/pay/pay.ts',
  'src/commerce/mpp-keys/api.ts',
  'test/control/runs.test.ts',
  'test/control/runs/run-budgets.ts',
  'test/control/agents.test.ts',
  'test/commerce/mpp.test.ts',
  'test/commerce/mpp-rules.test.ts',
  'test/commerce/mpp-keys.test.ts',
  'test/command.slow.test.ts',
  'test/contract-text.test.ts',
  'test/derive/openapi/document.test.ts',
  'test/kernel/run/plain.test.ts',
  'test/kernel/run/turns.test.ts',
  'test/peers/webhooks.test.ts',
  'test/schema.test.ts',
  'test/workflows/intent.test.ts',
  'test/workflows/replay.test.ts',
]

describe('npm run test:changed', () => {
  test.each([
    ['a handler', 'src/control/runs/runs.ts', ['test/control/runs.test.ts']],
    ['a part of a test', 'test/control/runs/run-budgets.ts', ['test/control/runs.test.ts']],
    ['a test', 'test/control/agents.test.ts', ['test/control/agents.test.ts']],
    [
      'a noun whose tests are several',
      'src/commerce/mpp/pay/pay.ts',
      ['test/commerce/mpp-rules.test.ts', 'test/commerce/mpp.test.ts'],
    ],
    [
      'a folder of the kernel',
      'src/kernel/run/plain.ts',
      ['test/kernel/run/plain.test.ts', 'test/kernel/run/turns.test.ts'],
    ],
    ['a workflow', 'workflows/intent.ts', ['test/workflows/intent.test.ts', 'test/workflows/replay.test.ts']],
    ['a migration', 'src/migrations/functions/lock.sql', ['test/schema.test.ts']],
    [
      'a contract',
      'src/commerce/mpp-keys/api.ts',
      [
        'test/commerce/mpp-keys.test.ts',
        'test/contract-text.test.ts',
        'test/derive/openapi/document.test.ts',
      ],
    ],
  ])('runs what %s asks for, and nothing else', (_, path, expected) => {
    expect(testsOf([path], files).tests).toEqual(expected)
  })

  test('names what has no test of its own', () => {
    const changed = ['src/areas.ts', 'src/command/run.ts', 'README.md', 'test/peers/webhooks.test.ts']
    expect(testsOf(changed, files)).toMatchObject({
      tests: [],
      untested: ['src/areas.ts', 'src/command/run.ts', 'test/peers/webhooks.test.ts'],
    })
  })

  test('names nouns as the keys of operations do', () => {
    expect(testsOf(['src/commerce/mpp-keys/api.ts'], files).nouns).toEqual(['mppKeys'])
    expect(
      testsOf(['workflows/intent.ts', 'test/control/runs.test.ts', 'src/areas.ts'], files).nouns,
    ).toEqual([])
  })
})
