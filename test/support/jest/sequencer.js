import TestSequencer from '@jest/test-sequencer'

/** The longest test files: started last, one of them would outlast all others. */
const LONGEST = [
  'surface/console-browser.slow',
  'surface/console-in-browser.slow',
  'derive/docs/docs.slow',
  'surface/pages-in-browser.slow',
  'contract/commerce-and-delivery',
  'contract/control-and-cards',
  'contract/identity-and-money',
  'cards/token-payments',
  'commerce/disputes',
  'bin/start.slow',
  'kills.slow',
  'at-scale.slow',
  'bin/crash',
  'insight/analytics',
  'bin/kills-and-races.slow',
  'commerce/mpp',
  'cards/authorizations',
  'insight/forecast',
  'money/incoming',
  'surface/mcp',
  'commerce/payment-required',
  'identity/kyc',
  'compliance/audit',
]

const rankOf = ({ path }) => {
  const rank = LONGEST.findIndex(name => path.endsWith(`/test/${name}.test.ts`))
  return rank === -1 ? LONGEST.length : rank
}

/** Runs the longest files first, even in a fresh checkout without Jest's durations. */
export default class Sequencer extends TestSequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => rankOf(a) - rankOf(b))
  }

  /** Deals the tests out in turn, so that each machine gets some of the longest; sorted by path, as on each machine. */
  shard(tests, { shardIndex, shardCount }) {
    const byPath = [...tests].sort((a, b) => (a.path < b.path ? -1 : 1))
    return byPath
      .toSorted((a, b) => rankOf(a) - rankOf(b))
      .filter((_, index) => index % shardCount === shardIndex - 1)
  }
}
