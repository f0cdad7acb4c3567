import { expect, test } from '@jest/globals'
import { recordWorkflows } from '../support/temporal/workflow-names.ts'
import { kinds } from './drill/open-processes.ts'
import { mustStopAll } from './drill/upgrade.ts'

test.each([
  ['0.5.0', '0.6.0', true],
  ['0.6.0', '0.7.0', true],
  ['0.7.0', '0.8.0', true],
  ['0.8.0', '0.8.0', false],
])(
  'the drill reads in docs/how-to/upgrade.md whether all programs stop from %s to %s: %s',
  (from, to, stops) => {
    expect(mustStopAll(from, to)).toBe(stops)
  },
)

const NOT_OPENED = {
  statements: 'It goes through its pages to the end, and waits for nothing.',
  'sepa-file': 'It needs the folder of a bank: test/workflows/sepa-file.test.ts has one.',
}

test('the drill opens a process of every workflow', () => {
  const opened = Object.values(kinds).map(({ workflow }) => workflow)
  expect(new Set([...opened, ...Object.keys(NOT_OPENED)])).toEqual(new Set(recordWorkflows))
})
