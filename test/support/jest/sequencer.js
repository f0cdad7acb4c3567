import TestSequencer from '@jest/test-sequencer'

/** They wait for other processes, or ask a thousand times: begun last, one of them would keep one core busy alone. */
const LONGEST = [
  'bin/bad-timing',
  'contract',
  'derive/docs/docs',
  'bin/start',
  'bin/bad-luck',
  'workflows/intent',
  'activities/transfers',
  'workflows/outage',
  'workflows/transfer-faults',
  'workflows/transfer',
  'bin/crash',
  'bin/api',
  'commerce/sepa-outcomes',
  'kernel/run/group-commit-lanes',
  'dev/postgres/embedded-postgres',
  'workflows/agent',
]

const rankOf = ({ path }) => {
  const rank = LONGEST.findIndex(name => path.endsWith(`/test/${name}.test.ts`))
  return rank === -1 ? LONGEST.length : rank
}

/** The longest first, in a fresh checkout too, where Jest has yet to learn which they are. */
export default class Sequencer extends TestSequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => rankOf(a) - rankOf(b))
  }

  /** Deals the tests out one by one, so that each machine gets its part of the longest: by path, the same on each. */
  shard(tests, { shardIndex, shardCount }) {
    const byPath = [...tests].sort((a, b) => (a.path < b.path ? -1 : 1))
    return byPath
      .toSorted((a, b) => rankOf(a) - rankOf(b))
      .filter((_, index) => index % shardCount === shardIndex - 1)
  }
}
