import { expect, test } from '@jest/globals'
import { mustStopAll } from './drill/upgrade.ts'

test.each([
  ['0.5.0', '0.6.0', true],
  ['0.6.0', '0.7.0', true],
  ['0.7.0', '0.7.0', false],
])(
  'the drill reads in docs/how-to/upgrade.md whether all programs stop from %s to %s: %s',
  (from, to, stops) => {
    expect(mustStopAll(from, to)).toBe(stops)
  },
)
