import { expect, test } from '@jest/globals'

/** Whether `npm run test:slow` runs this file: a part may be imported by files of both tiers. */
const isSlowTier = (): boolean => expect.getState().testPath?.endsWith('.slow.test.ts') ?? false

/** A value for each commit, and a larger one for the slow tier. */
export const inTier = <T>(eachCommit: T, slow: T): T => (isSlowTier() ? slow : eachCommit)

/** Declares the tests of the kills on one path: the first runs before each commit, and all in `npm run test:slow`. */
export function testKills(kills: Readonly<Record<string, () => Promise<void>>>): void {
  const all = Object.entries(kills)
  test.each(inTier(all.slice(0, 1), all))('%s', (_, kill) => kill())
}
